//! The pages of a column, read one after the other: none is larger than it may be, before anything is made of it.

mod dictionary;
mod encoded;
mod header;
mod memory;
mod unpack;

use crate::limits::sized;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::{ByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::record::{Field, Row};
use parquet::schema::types::ColumnDescPtr;

pub use self::dictionary::StoredDictionary;
use self::encoded::{check_counts, check_levels, longest_row, nulls};
use self::header::{Contents, PageHeader};
pub(super) use self::memory::{HeldPages, PART, PageUse, ROWS_OF_LISTS, UnitMemory};
use self::memory::{LongestRow, PageSize};
use self::unpack::Unpacker;
use super::footer::{Chunk, read_exact};
use super::thrift::{damaged, too_short};
use crate::read::bytes::InputFile;

/// Bytes read at once for the header of a page, and as many as are read at last: there may be statistics in it.
const HEADER: (usize, usize) = sized((2 << 10, 16 << 20), (16, 16 << 20));
/// Values that are decoded at once where one may be much longer than what it is made of.
pub(super) const FEW: u64 = 8;
/// Bytes of a page for which there is room from page to page.
const KEPT: usize = sized(2 << 20, 64);

/// The pages of a column of a row group.
pub struct ColumnPages {
    file: Arc<InputFile>,
    column: ColumnDescPtr,
    /// What is left of the column in the file.
    at: u64,
    end: u64,
    /// Bytes of the file from `at` on that were read with a header.
    ahead: Vec<u8>,
    /// The header of the next page, which ends at `at`.
    next: Option<PageHeader>,
    /// The header of a dictionary that was passed over, and where its bytes begin.
    late: Option<(PageHeader, u64)>,
    /// Whether a dictionary was handed on.
    has_dictionary: bool,
    /// Whether bytes that were passed over can be read as well as any other.
    is_at_hand: bool,
    /// Room for the bytes of a page as they stand in the file.
    packed: Vec<u8>,
    /// The last two pages, unless they are long. Who asks for another one has done with the earlier of them.
    given: [Bytes; 2],
    unpacker: Unpacker,
    held: Arc<HeldPages>,
    /// Values that the last row of a repeated column has in the pages that were read.
    open: u64,
}

impl ColumnPages {
    /// The pages of a chunk, which somebody reads together with the others that `wanted` has.
    pub(super) fn new(
        file: &Arc<InputFile>,
        chunk: Chunk,
        wanted: Range<u64>,
        column: ColumnDescPtr,
        held: &Arc<HeldPages>,
    ) -> Result<ColumnPages> {
        if chunk.elsewhere {
            return Err(damaged("a column that is in another file"));
        }
        // Where nothing that was fetched is kept, each column would fetch those beside it for itself.
        let again = file.again(if file.keeps_fetched() { wanted } else { chunk.range() });
        let is_at_hand = again.is_none();
        Ok(ColumnPages {
            file: again.map_or_else(|| Arc::clone(file), Arc::new),
            column,
            at: chunk.start,
            end: chunk.end,
            ahead: Vec::new(),
            next: None,
            late: None,
            has_dictionary: false,
            is_at_hand,
            packed: Vec::new(),
            given: <[Bytes; 2]>::default(),
            unpacker: Unpacker::new(chunk.codec),
            held: Arc::clone(held),
            open: 0,
        })
    }

    /// Makes sure that the next header was read, if there is another page of data or a dictionary.
    fn look(&mut self) -> Result<Option<&PageHeader>> {
        while self.next.is_none() && self.at < self.end {
            let header = self.header()?;
            // The crate takes a page without values for the end of its column.
            if matches!(header.contents, Contents::Other) || header.values() == Some(0) {
                self.pass(header.packed);
            } else {
                self.next = Some(header);
            }
        }
        Ok(self.next.as_ref())
    }

    /// Reads a header.
    fn header(&mut self) -> Result<PageHeader> {
        let mut wanted = HEADER.0;
        loop {
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            let most = left.min(wanted);
            if self.ahead.len() < most {
                let read = self.ahead.len();
                self.ahead.resize(most, 0);
                read_exact(&self.file, &mut self.ahead[read..], self.at + read as u64)?;
            }
            match PageHeader::read(&self.ahead) {
                Ok((header, length)) => {
                    self.pass(length);
                    let is_list = self.column.max_rep_level() > 0;
                    header.check((self.end - self.at) as usize, self.held.most(), is_list)?;
                    return Ok(header);
                }
                Err(ParquetError::EOF(_)) if most < left && wanted < HEADER.1 => wanted *= 8,
                Err(error) => return Err(error),
            }
        }
    }

    /// Goes on behind so many bytes of the column.
    fn pass(&mut self, bytes: usize) {
        self.ahead.drain(..bytes.min(self.ahead.len()));
        self.at = self.end.min(self.at + bytes as u64);
    }

    /// The bytes of the page behind a header, as they stand in the file.
    fn body(&mut self, header: &PageHeader) -> Result<Vec<u8>> {
        let ahead = header.packed.min(self.ahead.len());
        let mut packed = self.room(header);
        packed.extend_from_slice(&self.ahead[..ahead]);
        packed.resize(header.packed, 0);
        read_exact(&self.file, &mut packed[ahead..], self.at + ahead as u64)?;
        self.pass(header.packed);
        Ok(packed)
    }

    /// Room for the bytes of a page.
    fn room(&mut self, header: &PageHeader) -> Vec<u8> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        packed.reserve_exact(header.packed);
        packed
    }

    /// What the page behind a header takes.
    fn size(&self, header: &PageHeader) -> PageSize {
        let is_plain = self.unpacker.is_none() || header.plain_bytes().is_none();
        let made = match header.contents {
            // Each of those that are decoded at once may be nearly as long as their page.
            Contents::Data { encoding: Encoding::DELTA_BYTE_ARRAY, .. }
            | Contents::DataV2 { encoding: Encoding::DELTA_BYTE_ARRAY, .. }
                if header.unpacked > KEPT =>
            {
                FEW.saturating_mul(header.unpacked as u64)
            }
            Contents::Dictionary { values, .. } => u64::from(values)
                .min(header.unpacked as u64)
                .saturating_mul(bytes_of_value(self.column.physical_type()) as u64),
            _ => 0,
        };
        let packed = if is_plain { 0 } else { header.packed };
        PageSize { bytes: header.unpacked, packed, values: header.values(), made }
    }

    fn page(&mut self) -> Result<Option<Page>> {
        if self.look()?.is_none() {
            return Ok(None);
        }
        let Some(header) = self.next.take() else { return Ok(None) };
        self.held.take(self.size(&header))?;
        let packed = self.body(&header)?;
        self.opened(&header, packed).map(Some)
    }

    /// The dictionary that was passed over.
    fn late_dictionary(&mut self) -> Result<Option<Page>> {
        let Some((header, at)) = self.late.take() else { return Ok(None) };
        self.held.take(self.size(&header))?;
        let mut packed = self.room(&header);
        packed.resize(header.packed, 0);
        read_exact(&self.file, &mut packed, at)?;
        self.opened(&header, packed).map(Some)
    }

    /// The page that these bytes of the file are.
    fn opened(&mut self, header: &PageHeader, packed: Vec<u8>) -> Result<Page> {
        header.check_sum(&packed)?;
        let page = match header.plain_bytes() {
            None => Bytes::from(packed),
            Some(_) if self.unpacker.is_none() && packed.len() == header.unpacked => Bytes::from(packed),
            Some(plain) => {
                let mut page = self.page_room(header.unpacked);
                let (levels, values) = page.split_at_mut_checked(plain).ok_or_else(too_short)?;
                let (packed_levels, packed_values) = packed.split_at_checked(plain).ok_or_else(too_short)?;
                levels.copy_from_slice(packed_levels);
                self.unpacker.unpack(packed_values, values)?;
                if packed.capacity() <= KEPT {
                    self.packed = packed;
                }
                let page = page.freeze();
                if page.len() <= KEPT && header.values().is_some() {
                    self.given[1] = page.clone();
                }
                page
            }
        };
        if page.len() != header.unpacked {
            return Err(damaged("a page of another size than it says"));
        }
        self.made(header, page)
    }

    /// Room for a page of so many bytes. That of an earlier one is used again, unless somebody holds a part of it: new memory
    /// takes longer to come by than to decompress into.
    fn page_room(&mut self, bytes: usize) -> BytesMut {
        let [earlier, last] = std::mem::take(&mut self.given);
        self.given[0] = last;
        match earlier.try_into_mut() {
            Ok(mut room) if room.capacity() >= bytes => {
                room.resize(bytes, 0);
                room
            }
            _ => BytesMut::zeroed(bytes),
        }
    }

    /// Takes room for the values of the longest row, which are gathered before it is known what they come to: few bytes may be
    /// many of them.
    fn gather(
        &mut self,
        (repetition, bytes): (Encoding, Option<u32>),
        values: u32,
        page: &[u8],
    ) -> Result<()> {
        if self.column.max_rep_level() == 0 {
            return Ok(());
        }
        let all = self.open.saturating_add(values.into());
        let (longest, open) = longest_row(&self.column, repetition, values, bytes, self.open, page)?;
        self.open = open;
        // A value of a struct has its name beside it, in its own block.
        let is_in_list = self.column.path().parts().len() <= 1 + 2 * self.column.max_rep_level() as usize;
        let named = size_of::<(String, Field)>() + size_of::<Row>();
        self.held.gather(LongestRow {
            values: longest,
            all,
            value: bytes_of_value(self.column.physical_type()),
            field: if is_in_list { size_of::<Field>() } else { named },
            is_of_texts: matches!(self.column.physical_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY),
        })
    }

    /// Refuses values of a dictionary that did not come, or made no sense.
    fn check_dictionary(&self, encoding: Encoding) -> Result<()> {
        let is_of_one = matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
        if is_of_one && !self.has_dictionary && self.late.is_none() {
            return Err(damaged("values of a dictionary that is not there"));
        }
        Ok(())
    }

    /// The page as the decoders take it.
    fn made(&mut self, header: &PageHeader, buf: Bytes) -> Result<Page> {
        match header.contents {
            Contents::Dictionary { values, encoding } => {
                let width = match self.column.physical_type() {
                    Type::BYTE_ARRAY | Type::INT32 | Type::FLOAT => 4,
                    Type::INT64 | Type::DOUBLE => 8,
                    Type::INT96 => 12,
                    Type::FIXED_LEN_BYTE_ARRAY => self.column.type_length().max(1) as usize,
                    Type::BOOLEAN => return Err(damaged("a dictionary of truths")),
                };
                if values as usize > buf.len() / width {
                    return Err(damaged("a dictionary of fewer values than it says"));
                }
                self.has_dictionary = true;
                Ok(Page::DictionaryPage { buf, num_values: values, encoding, is_sorted: false })
            }
            Contents::Data { values, encoding, definition, repetition } => {
                self.check_dictionary(encoding)?;
                check_levels(&self.column, (definition, repetition), values, None, &buf)?;
                check_counts(&self.column, encoding, values, (definition, repetition), None, &buf)?;
                self.gather((repetition, None), values, &buf)?;
                Ok(Page::DataPage {
                    buf,
                    num_values: values,
                    encoding,
                    def_level_encoding: definition,
                    rep_level_encoding: repetition,
                    statistics: None,
                })
            }
            Contents::DataV2 { values, rows, encoding, definition, repetition, is_packed, .. } => {
                self.check_dictionary(encoding)?;
                let levels = Some(definition as usize + repetition as usize);
                let bytes = Some((definition, repetition));
                check_levels(&self.column, (Encoding::RLE, Encoding::RLE), values, bytes, &buf)?;
                check_counts(&self.column, encoding, values, (Encoding::RLE, Encoding::RLE), levels, &buf)?;
                self.gather((Encoding::RLE, Some(repetition)), values, &buf)?;
                let levels = buf.get(repetition as usize..).and_then(|rest| rest.get(..definition as usize));
                // A wrong number in the header would be met by who passes over rows, and not by who reads them.
                let num_nulls = nulls(&self.column, values, levels.ok_or_else(too_short)?)?;
                Ok(Page::DataPageV2 {
                    buf,
                    num_values: values,
                    encoding,
                    num_nulls,
                    num_rows: rows,
                    def_levels_byte_len: definition,
                    rep_levels_byte_len: repetition,
                    is_compressed: is_packed,
                    statistics: None,
                })
            }
            Contents::Other => Err(damaged("a page that is none")),
        }
    }
}

/// Bytes that a value takes in memory, beside those that it shares with its page.
fn bytes_of_value(physical: Type) -> usize {
    match physical {
        Type::BOOLEAN => size_of::<bool>(),
        Type::INT32 | Type::FLOAT => size_of::<u32>(),
        Type::INT64 | Type::DOUBLE => size_of::<u64>(),
        Type::INT96 => size_of::<Int96>(),
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => size_of::<ByteArray>(),
    }
}

impl Iterator for ColumnPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.page().transpose()
    }
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.page()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let is_list = self.column.max_rep_level() > 0;
        Ok(self.look()?.map(|header| match header.contents {
            Contents::Data { values, .. } => {
                PageMetadata { num_rows: None, num_levels: Some(values as usize), is_dict: false }
            }
            // Of a list the number of rows is believed nowhere: who reads them would never meet a wrong one.
            Contents::DataV2 { values, rows, .. } => PageMetadata {
                num_rows: Some(rows as usize).filter(|_| !is_list),
                num_levels: Some(values as usize),
                is_dict: false,
            },
            Contents::Dictionary { .. } | Contents::Other => {
                PageMetadata { num_rows: None, num_levels: None, is_dict: true }
            }
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.look()?;
        if let Some(header) = self.next.take() {
            self.held.pass(header.values().unwrap_or(0));
            if header.values().is_some() {
                self.open = 0;
            }
            let (at, packed) = (self.at, header.packed);
            if self.is_at_hand && header.values().is_none() {
                self.late = Some((header, at));
            }
            self.pass(packed);
        }
        Ok(())
    }

    fn supports_deferred_dictionary(&self) -> bool {
        // Of an object, it would be a request more.
        self.is_at_hand
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        self.late_dictionary()
    }
}
