//! Counts within encoded values, held against the page before a decoder makes room for them.

use parquet::basic::Encoding;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescriptor;

use super::super::thrift::{Compact, damaged, too_short};

/// Refuses pages whose values say that there are more of them than the page says. Of the encodings those of differences say
/// it, and their decoders believe it. `levels` are the bytes of levels where the header tells them.
pub(super) fn check_counts(
    column: &ColumnDescriptor,
    encoding: Encoding,
    values: u32,
    (definition, repetition): (Encoding, Encoding),
    levels: Option<usize>,
    page: &[u8],
) -> Result<()> {
    let streams = match encoding {
        Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let levels = match levels {
        Some(levels) => levels,
        None => {
            let first = level_bytes(column.max_rep_level(), repetition, values, page)?;
            first
                + level_bytes(
                    column.max_def_level(),
                    definition,
                    values,
                    page.get(first..).ok_or_else(too_short)?,
                )?
        }
    };
    let mut rest = page.get(levels..).ok_or_else(too_short)?;
    for _ in 0..streams {
        let length = differences(rest, values)?;
        rest = rest.get(length..).ok_or_else(too_short)?;
    }
    Ok(())
}

/// Refuses pages that have fewer levels than values: whoever passes over rows of a repeated column looks for the others without
/// end, and whoever passes over rows of another one does not miss them, as who reads them does. `bytes` are those of definition and
/// repetition levels where the header tells them.
pub(super) fn check_levels(
    column: &ColumnDescriptor,
    (definition, repetition): (Encoding, Encoding),
    values: u32,
    bytes: Option<(u32, u32)>,
    page: &[u8],
) -> Result<()> {
    let mut rest = page;
    let kinds = [
        (column.max_rep_level(), repetition, bytes.map(|(_, repetition)| repetition)),
        (column.max_def_level(), definition, bytes.map(|(definition, _)| definition)),
    ];
    for (most, encoding, bytes) in kinds {
        let (head, length) = match bytes {
            Some(bytes) => (0, bytes as usize),
            None if encoding == Encoding::RLE => (4, level_bytes(most, encoding, values, rest)?),
            None => (0, level_bytes(most, encoding, values, rest)?),
        };
        let (levels, behind) = rest.split_at_checked(length).ok_or_else(too_short)?;
        rest = behind;
        // Of a column without them there may be some all the same, which nobody reads.
        let in_runs = most > 0 && (bytes.is_some() || encoding == Encoding::RLE);
        if in_runs && !has_levels(levels.get(head..).ok_or_else(too_short)?, width(most), u64::from(values))?
        {
            return Err(damaged("a page of fewer levels than values"));
        }
    }
    Ok(())
}

/// The longest row of a repeated column that ends in a page or goes on behind it, in values, and how many of these the last one has
/// so far. `open` are the values that the row before has so far; `bytes` are those of repetition levels where the header tells them.
pub(super) fn longest_row(
    column: &ColumnDescriptor,
    repetition: Encoding,
    values: u32,
    bytes: Option<u32>,
    open: u64,
    page: &[u8],
) -> Result<(u64, u64)> {
    let most = column.max_rep_level();
    let levels = match (bytes, repetition) {
        (Some(bytes), _) => page.get(..bytes as usize),
        (None, Encoding::RLE) => page.get(4..level_bytes(most, repetition, values, page)?),
        // Nobody has written that for ten years: as if all values were one row.
        _ => return Ok((open + u64::from(values), open + u64::from(values))),
    };
    let mut rows = RowLengths { open, longest: open };
    rows.add(levels.ok_or_else(too_short)?, width(most), u64::from(values))?;
    Ok((rows.longest, rows.open))
}

/// Lengths of rows by their repetition levels: one begins with each zero.
struct RowLengths {
    open: u64,
    longest: u64,
}

impl RowLengths {
    /// Adds the first of the levels that stand in runs, each of `bits` bits.
    fn add(&mut self, levels: &[u8], bits: u64, values: u64) -> Result<()> {
        each_run(levels, bits, values, &mut |run| match run {
            LevelRun::Same { level: 0, .. } => self.value(true, 1),
            LevelRun::Same { count, .. } => self.value(false, count),
            LevelRun::Apart { packed, count } => {
                (0..count).for_each(|value| self.value(level(packed, bits, value) == 0, 1));
            }
        })
    }

    /// Adds values, of which each begins a row or none does.
    fn value(&mut self, begins: bool, count: u64) {
        self.open = if begins { count } else { self.open + count };
        self.longest = self.longest.max(self.open);
    }
}

/// The nulls among the values of a page whose levels stand in runs. Its header may tell another number.
pub(super) fn nulls(column: &ColumnDescriptor, values: u32, definition: &[u8]) -> Result<u32> {
    let most = column.max_def_level();
    if most == 0 {
        return Ok(0);
    }
    let there = levels_of(most as u64, definition, width(most), u64::from(values))?;
    Ok(values.saturating_sub(u32::try_from(there).unwrap_or(u32::MAX)))
}

/// How many of the first levels, each of `bits` bits, are a certain one.
fn levels_of(wanted: u64, levels: &[u8], bits: u64, values: u64) -> Result<u64> {
    let mut found = 0;
    each_run(levels, bits, values, &mut |run| {
        found += match run {
            LevelRun::Same { level, count } if level == wanted => count,
            LevelRun::Same { .. } => 0,
            LevelRun::Apart { packed, count } if bits == 1 => {
                let whole = &packed[..(count / 8) as usize];
                let rest = packed.get(whole.len()).map_or(0, |byte| byte & ((1 << (count % 8)) - 1));
                let ones = whole.iter().map(|byte| byte.count_ones()).sum::<u32>() + rest.count_ones();
                if wanted == 1 { u64::from(ones) } else { count - u64::from(ones) }
            }
            LevelRun::Apart { packed, count } => {
                (0..count).filter(|value| level(packed, bits, *value) == wanted).count() as u64
            }
        };
    })?;
    Ok(found)
}

/// Levels that stand together.
enum LevelRun<'a> {
    /// One, so many times.
    Same { level: u64, count: u64 },
    /// So many, side by side.
    Apart { packed: &'a [u8], count: u64 },
}

/// Hands on the first of the levels that stand in runs, each of `bits` bits. A run without a length ends them.
fn each_run(levels: &[u8], bits: u64, values: u64, each: &mut dyn FnMut(LevelRun<'_>)) -> Result<()> {
    let (mut at, mut left) = (0, values);
    while left > 0 && at < levels.len() {
        let mut compact = Compact::new(&levels[at..]);
        let head = compact.unsigned()?;
        at += compact.position();
        if head == 0 {
            break;
        }
        if head & 1 == 1 {
            let bytes = usize::try_from((head >> 1).saturating_mul(bits)).unwrap_or(usize::MAX);
            let packed = &levels[at..levels.len().min(at.saturating_add(bytes))];
            let count = (packed.len() as u64 * 8 / bits).min(left);
            each(LevelRun::Apart { packed, count });
            (at, left) = (at + packed.len(), left - count);
        } else {
            let end = levels.len().min(at + bits.div_ceil(8) as usize);
            let count = left.min(head >> 1);
            let level = levels[at..end].iter().rev().fold(0, |level, byte| level << 8 | u64::from(*byte));
            each(LevelRun::Same { level, count });
            (at, left) = (end, left - count);
        }
    }
    Ok(())
}

/// A level of several that stand side by side, the first in the lowest bits.
fn level(packed: &[u8], bits: u64, number: u64) -> u64 {
    let bit = |at: u64| u64::from(packed[(at / 8) as usize] >> (at % 8) & 1);
    (0..bits).map(|within| bit(number * bits + within) << within).sum()
}

/// Whether so many levels stand in runs, each of `bits` bits. A run without a length ends them.
fn has_levels(levels: &[u8], bits: u64, wanted: u64) -> Result<bool> {
    let (mut at, mut found) = (0, 0u64);
    while found < wanted && at < levels.len() {
        let mut compact = Compact::new(&levels[at..]);
        let head = compact.unsigned()?;
        at += compact.position();
        let left = levels.len() - at;
        match (head, head >> 1) {
            (0, _) => return Ok(false),
            (head, groups) if head & 1 == 1 => {
                let bytes = left.min(usize::try_from(groups.saturating_mul(bits)).unwrap_or(left));
                found += bytes as u64 * 8 / bits;
                at += bytes;
            }
            (_, length) => {
                at += bits.div_ceil(8) as usize;
                if at > levels.len() {
                    return Ok(false);
                }
                found = found.saturating_add(length);
            }
        }
    }
    Ok(found >= wanted)
}

/// Bits of a level of which the greatest is `most`.
fn width(most: i16) -> u64 {
    u64::from(16 - most.leading_zeros())
}

/// Bytes that levels take at the beginning of a page.
fn level_bytes(most: i16, encoding: Encoding, values: u32, page: &[u8]) -> Result<usize> {
    if most == 0 {
        return Ok(0);
    }
    if encoding == Encoding::RLE {
        let length = page.first_chunk::<4>().ok_or_else(too_short)?;
        return Ok(4 + u32::from_le_bytes(*length) as usize);
    }
    Ok((width(most) * u64::from(values)).div_ceil(8) as usize)
}

/// The bytes that differences of at most so many values take.
fn differences(bytes: &[u8], most: u32) -> Result<usize> {
    let mut compact = Compact::new(bytes);
    let (block, minis, values) = (compact.unsigned()?, compact.unsigned()?, compact.unsigned()?);
    compact.unsigned()?;
    if values > u64::from(most) {
        return Err(damaged("more values than the page has"));
    }
    // Larger blocks are no use, and no writer makes them.
    if minis == 0 || block == 0 || block > 1 << 20 || minis > 1 << 10 || block % minis != 0 {
        return Err(damaged("values in blocks of an impossible size"));
    }
    let (in_mini, mut left, mut at) = (block / minis, values.saturating_sub(1), compact.position());
    while left > 0 {
        let mut head = Compact::new(bytes.get(at..).ok_or_else(too_short)?);
        head.unsigned()?;
        at += head.position();
        let widths = bytes.get(at..at + minis as usize).ok_or_else(too_short)?;
        at += minis as usize;
        for width in widths {
            // What no value is in is not written.
            if left == 0 {
                break;
            }
            at += (u64::from(*width) * in_mini).div_ceil(8) as usize;
            left = left.saturating_sub(in_mini);
        }
    }
    if at > bytes.len() { Err(too_short()) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_long_as_their_levels_say() {
        let of = |levels: &[u8], bits, values, open| {
            let mut rows = RowLengths { open, longest: open };
            rows.add(levels, bits, values).expect("numbers");
            (rows.longest, rows.open)
        };
        // A row of one, one of six, and one that goes on.
        let runs = [1 << 1, 0, 1 << 1, 0, 5 << 1, 1, 1 << 1 | 1, 0b1111_1110];
        assert_eq!(of(&runs, 1, 15, 0), (8, 8));
        assert_eq!(of(&runs, 1, 15, 40), (40, 8));
        // One that goes on for ever, and bits of two levels.
        assert_eq!(of(&[200 << 1 & 0x7f | 0x80, 3, 1], 1, 200, 7), (207, 207));
        assert_eq!(of(&[1 << 1 | 1, 0b0110_1100, 0b0100_0001], 2, 8, 0), (5, 2));
        // A number of levels that no page has.
        let endless = [&[0xfe], [0xff; 7].as_slice(), &[0x7e], &[1]].concat();
        assert_eq!(of(&endless, 1, 9, 0), (9, 9));
    }

    /// An obvious twin: the levels one by one.
    fn slow(levels: &[u16], open: u64) -> (u64, u64) {
        levels.iter().fold((open, open), |(longest, open), level| {
            let open = if *level == 0 { 1 } else { open + 1 };
            (longest.max(open), open)
        })
    }

    proptest::proptest! {
        #[test]
        fn lengths_of_rows_are_those_of_the_levels_one_by_one(
            runs in proptest::collection::vec((proptest::bool::ANY, 1_usize..20, proptest::collection::vec(0_u16..4, 8)), 1..9),
            open in 0_u64..30,
        ) {
            let (mut bytes, mut levels) = (Vec::new(), Vec::new());
            for (is_run, count, eight) in runs {
                if is_run {
                    bytes.extend([(count << 1) as u8, eight[0] as u8]);
                    levels.extend(std::iter::repeat_n(eight[0], count));
                } else {
                    bytes.push(1 << 1 | 1);
                    let packed = eight.iter().enumerate().map(|(at, level)| level << (2 * at)).sum::<u16>();
                    bytes.extend(packed.to_le_bytes());
                    levels.extend(eight);
                }
            }
            let mut rows = RowLengths { open, longest: open };
            rows.add(&bytes, 2, levels.len() as u64).expect("numbers");
            proptest::prop_assert_eq!((rows.longest, rows.open), slow(&levels, open));
        }
    }

    proptest::proptest! {
        #[test]
        fn levels_of_a_kind_are_counted_as_one_by_one(
            runs in proptest::collection::vec((proptest::bool::ANY, 1_usize..20, proptest::collection::vec(0_u16..4, 8)), 1..9),
            is_narrow in proptest::bool::ANY,
            short in 0_usize..30,
            wanted in 0_u16..4,
        ) {
            let bits = if is_narrow { 1 } else { 2 };
            let (mut bytes, mut levels) = (Vec::new(), Vec::new());
            for (is_run, count, eight) in runs {
                let eight: Vec<u16> = eight.iter().map(|level| level & ((1 << bits) - 1)).collect();
                if is_run {
                    bytes.extend([(count << 1) as u8, eight[0] as u8]);
                    levels.extend(std::iter::repeat_n(eight[0], count));
                } else {
                    bytes.push(1 << 1 | 1);
                    let packed = eight.iter().enumerate().map(|(at, level)| level << (bits * at)).sum::<u16>();
                    bytes.extend(&packed.to_le_bytes()[..bits]);
                    levels.extend(eight);
                }
            }
            levels.truncate(levels.len().saturating_sub(short));
            let wanted = wanted & ((1 << bits) - 1);
            let found = levels_of(wanted.into(), &bytes, bits as u64, levels.len() as u64).expect("numbers");
            proptest::prop_assert_eq!(found, levels.iter().filter(|level| **level == wanted).count() as u64);
        }
    }

    #[test]
    fn levels_are_counted_by_their_runs() {
        let has = |levels: &[u8], wanted| has_levels(levels, 1, wanted).expect("numbers");
        // Six zeros; eight levels in a byte.
        let runs = [6 << 1, 0, 1 << 1 | 1, 0b1010_1010];
        assert!(has(&runs, 14) && !has(&runs, 15));
        // A run of levels that are cut off, and one without its value.
        assert!(has(&[2 << 1 | 1, 0xff], 8) && !has(&[2 << 1 | 1, 0xff], 9) && !has(&[6 << 1], 1));
        // What is behind a run without a length is not read.
        assert!(!has(&[0, 6 << 1, 0], 1) && has(&[], 0) && !has(&[], 1));
        // A number of levels that no page has.
        let endless = [&[0xfe], [0xff; 7].as_slice(), &[0x7e], &[0]].concat();
        assert!(has_levels(&endless, 2, u64::from(u32::MAX)).expect("a number"));
        assert!(has_levels(&[0xff; 10], 1, 1).is_err());
    }
}
