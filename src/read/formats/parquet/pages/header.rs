//! Headers of pages, held against the limits.

use parquet::basic::Encoding;
use parquet::errors::Result;

use super::super::thrift::{Compact, FALSE, I32, STRUCT, TRUE, damaged};
use crate::limits::MAX_PAGE_VALUES;

/// What stands before a page.
pub(super) struct PageHeader {
    /// Bytes of the page in the file.
    pub(super) packed: usize,
    /// Bytes of the page when it is decompressed.
    pub(super) unpacked: usize,
    /// The checksum of the bytes in the file.
    sum: Option<u32>,
    pub(super) contents: Contents,
}

/// What a page holds.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    /// Values, which other pages name.
    Dictionary { values: u32, encoding: Encoding },
    /// Values, of which all is compressed.
    Data { values: u32, encoding: Encoding, definition: Encoding, repetition: Encoding },
    /// Values behind levels that are never compressed; so many bytes of each kind.
    DataV2 {
        values: u32,
        nulls: u32,
        rows: u32,
        encoding: Encoding,
        definition: u32,
        repetition: u32,
        is_packed: bool,
    },
    /// Something that is passed over.
    Other,
}

/// Numbers of a part of a header, by the numbers of their fields.
type Numbers = [Option<i64>; 8];

impl PageHeader {
    /// The header that stands at the beginning of `bytes`, and its length.
    pub(super) fn read(bytes: &[u8]) -> Result<(PageHeader, usize)> {
        let (mut compact, mut last) = (Compact::new(bytes), 0);
        let (mut of_page, mut parts): (Numbers, [Option<Numbers>; 3]) = ([None; 8], [None; 3]);
        while let Some((number, kind)) = compact.field(&mut last)? {
            match (number, kind) {
                (1..=4, I32) => of_page[number as usize] = Some(compact.signed()?),
                (5, STRUCT) => parts[0] = Some(numbers(&mut compact)?),
                (7, STRUCT) => parts[1] = Some(numbers(&mut compact)?),
                (8, STRUCT) => parts[2] = Some(numbers(&mut compact)?),
                _ => compact.skip(kind)?,
            }
        }
        let [_, kind, unpacked, packed, sum, ..] = of_page;
        let contents = match (kind, parts) {
            (Some(0), [Some(part), _, _]) => Contents::Data {
                values: count(part[1])?,
                encoding: encoding(part[2])?,
                definition: encoding(part[3])?,
                repetition: encoding(part[4])?,
            },
            (Some(2), [_, Some(part), _]) => {
                Contents::Dictionary { values: count(part[1])?, encoding: encoding(part[2])? }
            }
            (Some(3), [_, _, Some(part)]) => Contents::DataV2 {
                values: count(part[1])?,
                nulls: count(part[2])?,
                rows: count(part[3])?,
                encoding: encoding(part[4])?,
                definition: count(part[5])?,
                repetition: count(part[6])?,
                is_packed: part[7] != Some(0),
            },
            (Some(0 | 2 | 3) | None, _) => return Err(damaged("a page without its header")),
            _ => Contents::Other,
        };
        let header = PageHeader {
            packed: count(packed)? as usize,
            unpacked: count(unpacked)? as usize,
            sum: sum.map(|sum| sum as u32),
            contents,
        };
        Ok((header, compact.position()))
    }

    /// Refuses a page that is larger than what is left of its column, or than `most` bytes, and one that says other numbers of rows and
    /// of values where these are the same: who passes over pages goes by the rows, and who reads them by the values.
    pub(super) fn check(&self, left: usize, most: usize, is_list: bool) -> Result<()> {
        if self.packed > left {
            return Err(damaged("a page that is larger than its column"));
        }
        if self.unpacked > most || self.packed > most.saturating_add(most / 8) {
            let bytes = self.unpacked.max(self.packed);
            return Err(damaged(format!(
                "a page of {bytes} bytes; {most} are allowed (input.max_record_bytes)"
            )));
        }
        let (values, levels) = match self.contents {
            Contents::Data { values, .. } | Contents::Dictionary { values, .. } => (values, 0),
            Contents::DataV2 { values, nulls, rows, definition, repetition, .. } => {
                if nulls > values || rows > values {
                    return Err(damaged("a page of more rows than values"));
                }
                if rows != values && !is_list {
                    return Err(damaged("a page of fewer rows than values"));
                }
                (values, definition as usize + repetition as usize)
            }
            Contents::Other => (0, 0),
        };
        if values > MAX_PAGE_VALUES {
            return Err(damaged(format!("a page of {values} values; {MAX_PAGE_VALUES} are allowed")));
        }
        if levels > self.unpacked || levels > self.packed {
            return Err(damaged("a page smaller than its levels"));
        }
        Ok(())
    }

    /// Holds the bytes of the page against their checksum, if they have one.
    pub(super) fn check_sum(&self, packed: &[u8]) -> Result<()> {
        let Some(sum) = self.sum else { return Ok(()) };
        let mut found = flate2::Crc::new();
        found.update(packed);
        if found.sum() == sum {
            Ok(())
        } else {
            Err(damaged("a page that does not have its checksum any more"))
        }
    }

    /// How many values a page of data has.
    pub(super) fn values(&self) -> Option<u32> {
        match self.contents {
            Contents::Data { values, .. } | Contents::DataV2 { values, .. } => Some(values),
            Contents::Dictionary { .. } | Contents::Other => None,
        }
    }

    /// How many bytes at the beginning are not compressed; `None` if none are.
    pub(super) fn plain_bytes(&self) -> Option<usize> {
        match self.contents {
            Contents::DataV2 { is_packed: false, .. } => None,
            Contents::DataV2 { definition, repetition, .. } => {
                Some(definition as usize + repetition as usize)
            }
            _ => Some(0),
        }
    }
}

/// The numbers and truths of a struct.
fn numbers(compact: &mut Compact<'_>) -> Result<Numbers> {
    let (mut numbers, mut last): (Numbers, _) = ([None; 8], 0);
    while let Some((number, kind)) = compact.field(&mut last)? {
        match (number, kind) {
            (1..=7, I32) => numbers[number as usize] = Some(compact.signed()?),
            (1..=7, TRUE | FALSE) => numbers[number as usize] = Some(i64::from(kind == TRUE)),
            _ => compact.skip(kind)?,
        }
    }
    Ok(numbers)
}

fn count(number: Option<i64>) -> Result<u32> {
    let count =
        number.and_then(|number| i32::try_from(number).ok()).and_then(|number| u32::try_from(number).ok());
    count.ok_or_else(|| damaged("a page without a number that it must have"))
}

fn encoding(number: Option<i64>) -> Result<Encoding> {
    Ok(match number {
        Some(0) => Encoding::PLAIN,
        Some(2) => Encoding::PLAIN_DICTIONARY,
        Some(3) => Encoding::RLE,
        #[expect(deprecated, reason = "old files have levels in it")]
        Some(4) => Encoding::BIT_PACKED,
        Some(5) => Encoding::DELTA_BINARY_PACKED,
        Some(6) => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Some(7) => Encoding::DELTA_BYTE_ARRAY,
        Some(8) => Encoding::RLE_DICTIONARY,
        Some(9) => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err(damaged("a page in an encoding that there is not")),
    })
}
