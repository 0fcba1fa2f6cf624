//! Where the values of a column stand: for each its row, and the levels that say which row of the table and which list it is of.

use std::io;
use std::ops::Range;

use super::super::columns::buffers::BufferBytes;
use super::super::columns::column::truths;
use super::super::metadata::flat::damaged;

/// Bytes between values that are read rather than passed over.
const GAP: u64 = 4 << 10;

/// A place for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelSlot {
    /// The row of the value in its column; `None` where there is none.
    pub(super) row: Option<u64>,
    pub(super) repetition: i16,
    pub(super) definition: i16,
}

/// The first and the last row of some slots, which ascend.
fn bounds(slots: &[LevelSlot]) -> Option<(u64, u64)> {
    let mut rows = slots.iter().filter_map(|slot| slot.row);
    let first = rows.next()?;
    Some((first, rows.next_back().unwrap_or(first)))
}

/// Whether all rows of some slots are in a column of so many.
pub(super) fn are_inside(slots: &[LevelSlot], rows: u64) -> io::Result<()> {
    match bounds(slots) {
        Some((_, last)) if last >= rows => Err(damaged("a column with fewer rows than it should have")),
        _ => Ok(()),
    }
}

/// Stretches of rows that are read at once, where a value has so many bytes: of all rows that are there, and of some between.
pub(super) fn stretches(slots: &[LevelSlot], width: u64) -> Vec<Range<u64>> {
    let gap = GAP / width.max(1);
    let mut stretches: Vec<Range<u64>> = Vec::new();
    for row in slots.iter().filter_map(|slot| slot.row) {
        match stretches.last_mut() {
            Some(last) if row <= last.end.saturating_add(gap) => last.end = last.end.max(row + 1),
            _ => stretches.push(row..row + 1),
        }
    }
    stretches
}

/// Hands the value of each row that is there to `each`: so many bytes.
pub(super) fn each_fixed(
    slots: &[LevelSlot],
    width: usize,
    bytes: &mut BufferBytes,
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut rows = slots.iter().filter_map(|slot| slot.row).peekable();
    for stretch in stretches(slots, width as u64) {
        let start = stretch.start.checked_mul(width as u64);
        let start = start.ok_or_else(|| damaged("a buffer of too many bytes"))?;
        let values = bytes.range(start, (stretch.end - stretch.start) as usize * width)?;
        while let Some(row) = rows.next_if(|row| stretch.contains(row)) {
            let at = (row - stretch.start) as usize * width;
            each(&values[at..at + width])?;
        }
    }
    Ok(())
}

/// Hands the bit of each row that is there to `each`.
pub(super) fn each_bit(
    slots: &[LevelSlot],
    bits: &mut BufferBytes,
    each: &mut dyn FnMut(bool),
) -> io::Result<()> {
    let mut rows = slots.iter().filter_map(|slot| slot.row).peekable();
    for stretch in stretches(slots, 1) {
        let truths = truths(bits, stretch.start, (stretch.end - stretch.start) as usize)?;
        while let Some(row) = rows.next_if(|row| stretch.contains(row)) {
            each(truths[(row - stretch.start) as usize]);
        }
    }
    Ok(())
}

/// Settles which of the slots of a field have a value, whose level is `defined` then.
pub(super) fn settle(
    slots: &mut [LevelSlot],
    validity: Option<&mut BufferBytes>,
    defined: i16,
    optional: bool,
) -> io::Result<()> {
    let mut present = Vec::new();
    if let Some(bits) = validity {
        each_bit(slots, bits, &mut |is_there| present.push(is_there))?;
    }
    let mut present = present.into_iter();
    for slot in slots.iter_mut().filter(|slot| slot.row.is_some()) {
        if present.next().unwrap_or(true) {
            slot.definition = defined;
        } else {
            void(slot, defined, optional)?;
        }
    }
    Ok(())
}

/// Says of a slot that its value is null.
pub(super) fn void(slot: &mut LevelSlot, defined: i16, optional: bool) -> io::Result<()> {
    if !optional {
        return Err(damaged("a null in a column that says that it has none"));
    }
    (slot.row, slot.definition) = (None, defined - 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_close_are_read_at_once() {
        let slots = |rows: &[u64]| -> Vec<LevelSlot> {
            let slot = |row: &u64| LevelSlot { row: Some(*row), repetition: 0, definition: 0 };
            rows.iter().map(slot).collect()
        };
        assert_eq!(stretches(&slots(&[3, 3, 4, 6]), 2 * GAP), [3..5, 6..7]);
        assert_eq!(stretches(&slots(&[3, 4, 6, 9000]), 1), [3..7, 9000..9001]);
        assert_eq!(stretches(&slots(&[0, 5000]), 1), [0..1, 5000..5001]);
        assert!(are_inside(&slots(&[0, 5]), 5).is_err() && are_inside(&slots(&[0, 4]), 5).is_ok());
        assert!(are_inside(&slots(&[5]), 5).is_err() && are_inside(&[], 0).is_ok());
    }
}
