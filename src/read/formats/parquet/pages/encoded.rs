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

/// Bytes that levels take at the beginning of a page.
fn level_bytes(most: i16, encoding: Encoding, values: u32, page: &[u8]) -> Result<usize> {
    if most == 0 {
        return Ok(0);
    }
    if encoding == Encoding::RLE {
        let length = page.first_chunk::<4>().ok_or_else(too_short)?;
        return Ok(4 + u32::from_le_bytes(*length) as usize);
    }
    let bits = u64::from(16 - most.leading_zeros());
    Ok((bits * u64::from(values)).div_ceil(8) as usize)
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
