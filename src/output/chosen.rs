//! Which records of the inputs are written: those that are kept, those that are removed, or all of them.

#[cfg(feature = "parquet")]
use std::ops::Range;

use crate::read::{Refusal, Refused};

/// One of the two halves that the records of the inputs fall into, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Side {
    /// What is kept.
    Kept,
    /// What is not.
    Removed,
    /// Both, with what is to be said of each record; without refused ones.
    Annotated,
}

impl Side {
    /// The folder that it is written to.
    pub fn folder(self) -> &'static str {
        match self {
            Side::Kept => "kept",
            Side::Removed => "removed",
            Side::Annotated => "annotated",
        }
    }
}

/// The records of some sources that are written.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Which half.
    pub side: Side,
    /// For each source the ascending offsets, in its decompressed bytes, at which removed records start, or those that are no
    /// documents where all others are written; rows where a record is a row.
    pub removed: &'a [Vec<u64>],
    /// Where there is an offset, only the decompressed bytes before it are good: the rest of a truncated stream is not.
    pub ends: &'a [Option<u64>],
}

/// What is left out where records are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    removed: Vec<Vec<u64>>,
    ends: Vec<Option<u64>>,
}

impl LeftOut {
    /// Nothing of so many sources.
    pub fn nothing(sources: usize) -> LeftOut {
        LeftOut::new(vec![Vec::new(); sources])
    }

    /// For each source the records at some offsets.
    pub fn new(removed: Vec<Vec<u64>>) -> LeftOut {
        let ends = vec![None; removed.len()];
        LeftOut { removed, ends }
    }

    /// Beside it what is no document, and is not kept either, and what stands behind the end of the good bytes of a source.
    /// What holds no text is no mistake, and what is not unpacked may be anything: both stay. Rows that cannot be read cannot be written to `removed/`,
    /// and neither can texts that are none where `retypes` says of a source that its rows get types of another format. Sources before
    /// the first of those that are written have no place here.
    pub fn and_refused(
        mut self,
        refused: &[Refused],
        first: usize,
        side: Side,
        retypes: impl Fn(usize) -> bool,
    ) -> LeftOut {
        for Refused { position, refusal, .. } in refused {
            let Some(file) = (position.file() as usize).checked_sub(first) else { continue };
            let offset = position.offset();
            match refusal {
                refusal if refusal.stays() => {}
                refusal if refusal.ends_file() => self.ends[file] = Some(offset),
                Refusal::Rows { .. } if side == Side::Removed => {}
                Refusal::NotUtf8 if side == Side::Removed && retypes(file) => {}
                Refusal::Rows { rows, .. } => self.removed[file].extend(offset..offset + rows),
                _ => self.removed[file].push(offset),
            }
        }
        self.removed.iter_mut().for_each(|offsets| offsets.sort_unstable());
        self
    }

    /// The records that are written.
    pub fn chosen(&self, side: Side) -> Chosen<'_> {
        Chosen { side, removed: &self.removed, ends: &self.ends }
    }
}

/// The rows of a file that are written.
#[derive(Clone, Copy, Debug)]
#[cfg(feature = "parquet")]
pub(super) struct ChosenRows<'a> {
    pub(super) side: Side,
    /// The ascending removed rows.
    pub(super) removed: &'a [u64],
}

#[cfg(feature = "parquet")]
impl ChosenRows<'_> {
    /// How many of some rows are written.
    pub(super) fn count(&self, rows: &Range<u64>) -> u64 {
        let removed = self.removed_of(rows).len() as u64;
        match self.side {
            Side::Kept | Side::Annotated => rows.end - rows.start - removed,
            Side::Removed => removed,
        }
    }

    /// The stretches of some rows that are written, by their places among them.
    pub(super) fn stretches(&self, rows: &Range<u64>) -> Vec<Range<u64>> {
        let (removed, at) = (self.removed_of(rows), |row: u64| row - rows.start);
        match self.side {
            Side::Kept | Side::Annotated => {
                let starts = [rows.start].into_iter().chain(removed.iter().map(|row| row + 1));
                let stretches = starts.zip(removed.iter().copied().chain([rows.end]));
                stretches.filter(|(start, end)| start < end).map(|(start, end)| at(start)..at(end)).collect()
            }
            Side::Removed => {
                let runs = removed.chunk_by(|row, next| row + 1 == *next);
                runs.map(|run| at(run[0])..at(run[0]) + run.len() as u64).collect()
            }
        }
    }

    /// Of the removed rows those that are among some.
    fn removed_of(&self, rows: &Range<u64>) -> &[u64] {
        let before = |end: u64| self.removed.partition_point(|row| *row < end);
        &self.removed[before(rows.start)..before(rows.end)]
    }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_stretches() {
        let removed = [9, 10, 13, 14, 19, 20];
        let of = |side| ChosenRows { side, removed: &removed };
        assert_eq!(of(Side::Kept).stretches(&(10..20)), [1..3, 5..9]);
        assert_eq!(of(Side::Removed).stretches(&(10..20)), [0..1, 3..5, 9..10]);
        assert_eq!((of(Side::Kept).count(&(10..20)), of(Side::Removed).count(&(10..20))), (6, 4));
        assert_eq!(of(Side::Kept).stretches(&(9..11)), []);
        assert_eq!(of(Side::Removed).stretches(&(9..11)).first(), Some(&(0..2)));
        assert_eq!(of(Side::Removed).stretches(&(15..19)), []);
        let none = ChosenRows { side: Side::Kept, removed: &[] };
        assert_eq!(none.stretches(&(10..20)).first(), Some(&(0..10)));
        assert_eq!((none.count(&(10..10)), none.stretches(&(10..10)).len()), (0, 0));
    }
}
