//! Places in a dictionary, in runs and bits as pages of data have them.

use parquet::errors::{ParquetError, Result};

/// Most bits of a place.
const MOST_BITS: u8 = 32;

/// How many bits places in a dictionary of so many values have.
pub(super) fn bits_of(count: u32) -> u8 {
    (u32::BITS - count.saturating_sub(1).leading_zeros()) as u8
}

/// Appends the places of a page with others for them, by a table, that have so many bits. Runs stay runs of the same lengths.
///
/// # Errors
/// If they are none, or of more values than the table has.
pub(super) fn renumber(places: &[u8], table: &[u32], bits: u8, into: &mut Vec<u8>) -> Result<()> {
    let (&width, mut rest) = places.split_first().ok_or_else(no_places)?;
    if width > MOST_BITS {
        return Err(no_places());
    }
    into.push(bits);
    while !rest.is_empty() {
        let behind = rest;
        let head = varint(&mut rest).ok_or_else(no_places)?;
        into.extend_from_slice(&behind[..behind.len() - rest.len()]);
        let length = match head & 1 {
            1 => usize::try_from((head >> 1).saturating_mul(width.into())).map_err(|_| no_places())?,
            _ => width.div_ceil(8).into(),
        };
        let (run, behind) = rest.split_at_checked(length).ok_or_else(no_places)?;
        rest = behind;
        let other = |place: u32| table.get(place as usize).copied().ok_or_else(no_places);
        if head & 1 == 1 {
            let (mut from, mut to) =
                (BitSource { bytes: run.iter(), held: 0, count: 0 }, BitTarget::default());
            for _ in 0..(head >> 1) * 8 {
                to.put(other(from.next(width))?, bits, into);
            }
        } else {
            let place = run.iter().rev().fold(0, |place, byte| place << 8 | u32::from(*byte));
            into.extend_from_slice(&other(place)?.to_le_bytes()[..bits.div_ceil(8).into()]);
        }
    }
    Ok(())
}

/// Bits of bytes, from the lowest on.
struct BitSource<'a> {
    bytes: std::slice::Iter<'a, u8>,
    held: u64,
    count: u8,
}

impl BitSource<'_> {
    fn next(&mut self, bits: u8) -> u32 {
        while self.count < bits {
            self.held |= u64::from(self.bytes.next().copied().unwrap_or(0)) << self.count;
            self.count += 8;
        }
        let number = self.held & ((1 << bits) - 1);
        self.held >>= bits;
        self.count -= bits;
        number as u32
    }
}

/// Bits on their way into bytes.
#[derive(Default)]
struct BitTarget {
    held: u64,
    count: u8,
}

impl BitTarget {
    /// Appends a number, as soon as it fills bytes.
    fn put(&mut self, number: u32, bits: u8, into: &mut Vec<u8>) {
        self.held |= u64::from(number) << self.count;
        self.count += bits;
        while self.count >= 8 {
            into.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }
}

/// Takes a number that goes on as long as its bytes say.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

fn no_places() -> ParquetError {
    ParquetError::General("a page of places that are not in its dictionary".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An obvious twin: each place of the runs, bit by bit.
    fn slow(page: &[u8]) -> Vec<u32> {
        let width = usize::from(page[0]);
        let (mut rest, mut places) = (&page[1..], Vec::new());
        while !rest.is_empty() {
            let head = varint(&mut rest).expect("a length");
            let count = (head >> 1) as usize;
            if head & 1 == 1 {
                let bit = |at: usize| u32::from(rest[at / 8] >> (at % 8) & 1);
                let place = |at: usize| (0..width).map(|of| bit(at * width + of) << of).sum::<u32>();
                places.extend((0..8 * count).map(place));
                rest = &rest[count * width..];
            } else {
                let bytes = width.div_ceil(8);
                let place = (0..bytes).map(|at| u32::from(rest[at]) << (8 * at)).sum::<u32>();
                places.extend(std::iter::repeat_n(place, count));
                rest = &rest[bytes..];
            }
        }
        places
    }

    /// A page of places in a dictionary of so many values, made of runs.
    fn page(runs: &[(bool, u8, [u32; 8])], count: u32) -> Vec<u8> {
        let bits = bits_of(count);
        let mut page = vec![bits];
        for (is_run, length, eight) in runs {
            let eight = eight.map(|place| place % count);
            if *is_run {
                page.extend([length << 1 & 0x7f]);
                page.extend_from_slice(&eight[0].to_le_bytes()[..bits.div_ceil(8).into()]);
            } else {
                page.push(1 << 1 | 1);
                let mut packed = BitTarget::default();
                eight.iter().for_each(|place| packed.put(*place, bits, &mut page));
            }
        }
        page
    }

    #[test]
    fn as_many_bits_as_the_last_place_has() {
        let counts = [0, 1, 2, 3, 4, 5, 256, 257, 1 << 31, u32::MAX];
        assert_eq!(counts.map(bits_of), [0, 0, 1, 2, 2, 3, 8, 9, 31, 32]);
    }

    #[test]
    fn places_that_make_no_sense_are_an_error() {
        let mut into = Vec::new();
        let mut is_refused = |page: &[u8]| renumber(page, &[7, 8], 4, &mut into).is_err();
        // None, too many bits, a run without its value, one that is cut off, and a place behind the table.
        assert!(is_refused(&[]) && is_refused(&[33]) && is_refused(&[1, 2]) && is_refused(&[1, 5, 0]));
        assert!(is_refused(&[2, 2, 2]) && is_refused(&[2, 3, 2, 0]) && is_refused(&[0xff; 12]));
        assert!(is_refused(&[32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]));
        assert!(!is_refused(&[0]) && !is_refused(&[1, 5, 0, 0xff]));
    }

    proptest::proptest! {
        #[test]
        fn places_are_those_of_the_table_one_by_one(
            runs in proptest::collection::vec(
                (proptest::bool::ANY, 0_u8..60, proptest::array::uniform8(proptest::num::u32::ANY)), 0..9,
            ),
            table in proptest::collection::vec(proptest::num::u32::ANY, 1..70),
            count in 1_u32..100_000,
        ) {
            let table: Vec<u32> = table.iter().map(|place| place % count).collect();
            let page = page(&runs, table.len() as u32);
            let mut found = Vec::new();
            renumber(&page, &table, bits_of(count), &mut found).expect("places");
            let expected: Vec<u32> = slow(&page).iter().map(|place| table[*place as usize]).collect();
            proptest::prop_assert_eq!(slow(&found), expected);
        }
    }
}
