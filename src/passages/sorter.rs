//! Rows of numbers put in order in bounded memory: what does not fit lies in sorted runs on disk, which are merged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::merge::{RowMerge, RowSource};
use super::runs::{RowFile, SortedRun, block};
use crate::error::Result;
use crate::progress::Progress;

/// Runs of one size that are merged into one of the next.
const FAN: usize = 24;
/// Rows that are written between two looks whether the run was stopped.
const WRITTEN: u64 = 1 << 16;

/// Takes rows in any order. Once the run was asked to stop, it writes no more.
pub(crate) struct RowSorter<const N: usize> {
    held: Vec<[u64; N]>,
    /// Rows that may be held.
    most: usize,
    folder: PathBuf,
    progress: Arc<Progress>,
    file: Option<RowFile>,
    /// How often each run was merged, and the run; the former descend.
    runs: Vec<(u32, SortedRun<N>)>,
}

impl<const N: usize> RowSorter<N> {
    /// A sorter that holds about `bytes`, and puts what is more into files in `folder`.
    pub(crate) fn new(bytes: usize, folder: &Path, progress: &Arc<Progress>) -> RowSorter<N> {
        let most = (bytes / (8 * N)).max(1 << 10);
        RowSorter {
            held: Vec::new(),
            most,
            folder: folder.to_path_buf(),
            progress: Arc::clone(progress),
            file: None,
            runs: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: [u64; N]) -> Result<()> {
        if self.held.len() == self.held.capacity() {
            if self.held.len() >= self.most {
                self.spill()?;
            }
            let more = self.held.len().clamp(1 << 10, self.most).min(self.most - self.held.len());
            self.held.reserve_exact(more);
        }
        self.held.push(row);
        Ok(())
    }

    /// Puts what is held on disk.
    fn spill(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.held.sort_unstable();
        let mut rows = std::mem::take(&mut self.held);
        let mut at = 0;
        let run = self.write(|| {
            at += 1;
            Ok(rows.get(at - 1).copied())
        })?;
        rows.clear();
        self.held = rows;
        self.runs.push((0, run));
        while let Some(level) = self.full_level() {
            let from = self.runs.len() - FAN;
            let runs: Vec<SortedRun<N>> = self.runs.drain(from..).map(|(_, run)| run).collect();
            // What was merged is gone from the disk with its file, once no other run lies in it.
            self.file = None;
            let block = block(self.most * 8 * N, FAN);
            let mut merge = RowMerge::new(runs.iter().map(|run| RowSource::Run(run.read(block))).collect())?;
            let run = self.write(|| merge.next())?;
            self.file = None;
            self.runs.push((level + 1, run));
        }
        Ok(())
    }

    /// The level of the last runs if there are enough of it to be merged.
    fn full_level(&self) -> Option<u32> {
        let (level, _) = self.runs.last()?;
        let same = self.runs.iter().rev().take_while(|(other, _)| other == level).count();
        (same >= FAN).then_some(*level)
    }

    fn write(&mut self, mut next: impl FnMut() -> Result<Option<[u64; N]>>) -> Result<SortedRun<N>> {
        let progress = &self.progress;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(RowFile::new(&self.folder)?),
        };
        let mut written = 0;
        file.write(|| {
            if written % WRITTEN == 0 {
                progress.check()?;
            }
            written += 1;
            next()
        })
    }

    /// All rows, in runs.
    pub(crate) fn finish(mut self) -> Result<Vec<SortedRun<N>>> {
        self.spill()?;
        Ok(self.runs.into_iter().map(|(_, run)| run).collect())
    }
}

/// All rows of some runs as one run, which takes about `bytes` of memory while it is made.
#[cfg(feature = "serve")]
pub(crate) fn one_run<const N: usize>(
    runs: &[SortedRun<N>],
    bytes: usize,
    folder: &Path,
    progress: &Progress,
) -> Result<SortedRun<N>> {
    let block = block(bytes, runs.len());
    let mut merge = RowMerge::new(runs.iter().map(|run| RowSource::Run(run.read(block))).collect())?;
    let mut written = 0;
    RowFile::new(folder)?.write(|| {
        if written % WRITTEN == 0 {
            progress.check()?;
        }
        written += 1;
        merge.next()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(runs: &[SortedRun<2>], between: Option<(u64, Option<u64>)>) -> Vec<[u64; 2]> {
        let source = |run: &SortedRun<2>| match between {
            None => run.read(32),
            Some((from, to)) => run.read_between(from, to, 32).expect("found"),
        };
        let mut merge =
            RowMerge::new(runs.iter().map(|run| RowSource::Run(source(run))).collect()).expect("rows");
        std::iter::from_fn(|| merge.next().expect("a row")).collect()
    }

    #[test]
    fn rows_come_back_in_order_however_many_there_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows: Vec<[u64; 2]> =
            (0..60_000u64).map(|at| [at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50, at]).collect();
        let mut sorter = RowSorter::new(0, folder.path(), &Arc::default());
        rows.iter().for_each(|row| sorter.push(*row).expect("taken"));
        let runs = sorter.finish().expect("written");
        assert!(runs.len() > FAN / 2 && runs.len() < 2 * FAN, "{}", runs.len());
        let mut sorted = rows;
        sorted.sort_unstable();
        assert_eq!(all(&runs, None), sorted);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn what_was_stopped_writes_nothing() {
        let (folder, progress) = (tempfile::tempdir().expect("a folder"), Arc::<Progress>::default());
        let mut sorter = RowSorter::new(0, folder.path(), &progress);
        sorter.push([1, 2]).expect("taken");
        progress.stop();
        assert!(matches!(sorter.finish(), Err(crate::error::Error::Interrupted)));
    }

    proptest! {
        #[test]
        fn a_range_has_what_it_should(rows: Vec<(u8, u64)>, from: u8, to: Option<u8>) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut sorter = RowSorter::new(0, folder.path(), &Arc::default());
            let mut rows: Vec<[u64; 2]> = rows.into_iter().map(|(key, row)| [u64::from(key), row]).collect();
            rows.iter().for_each(|row| sorter.push(*row).expect("taken"));
            let runs = sorter.finish().expect("written");
            rows.sort_unstable();
            let (from, to) = (u64::from(from), to.map(u64::from).filter(|to| *to >= u64::from(from)));
            rows.retain(|[key, _]| *key >= from && to.is_none_or(|to| *key < to));
            prop_assert_eq!(all(&runs, Some((from, to))), rows);
        }
    }
}
