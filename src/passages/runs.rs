//! Rows of numbers in order, on disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limits::sized;

/// Bytes of a run that are read at once, at most and at least.
const BLOCK: (usize, usize) = sized((1 << 18, 1 << 12), (200, 100));
/// Bytes that are written at once.
const WRITTEN: usize = sized(1 << 18, 100);

/// Bytes that each of so many runs may read at once, if all may take so many.
pub(crate) fn block(bytes: usize, runs: usize) -> usize {
    (bytes / runs.max(1)).clamp(BLOCK.1, BLOCK.0)
}

/// A file of runs. It has no name, and is gone when nobody uses it any more, however the process ends.
pub(crate) struct RowFile {
    folder: PathBuf,
    file: Arc<File>,
    bytes: u64,
}

impl RowFile {
    pub(crate) fn new(folder: &Path) -> Result<RowFile> {
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|e| Error::io(folder, "create a spill file in", e))?;
        Ok(RowFile { folder: folder.to_path_buf(), file: Arc::new(file), bytes: 0 })
    }

    /// Writes rows as a run.
    pub(crate) fn write<const N: usize>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<[u64; N]>>,
    ) -> Result<SortedRun<N>> {
        let (from, mut block) = (self.bytes, Vec::with_capacity(WRITTEN + 8 * N));
        while let Some(row) = next()? {
            row.iter().for_each(|number| block.extend_from_slice(&number.to_le_bytes()));
            if block.len() >= WRITTEN {
                self.append(&mut block)?;
            }
        }
        self.append(&mut block)?;
        Ok(SortedRun { file: Arc::clone(&self.file), folder: self.folder.clone(), from, to: self.bytes })
    }

    fn append(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let written = self.file.write_all_at(block, self.bytes);
        written.map_err(|e| Error::io(&self.folder, "write a spill file in", e))?;
        self.bytes += block.len() as u64;
        block.clear();
        Ok(())
    }
}

/// Rows on disk, in order.
pub(crate) struct SortedRun<const N: usize> {
    file: Arc<File>,
    folder: PathBuf,
    from: u64,
    to: u64,
}

impl<const N: usize> SortedRun<N> {
    const ROW: u64 = 8 * N as u64;

    /// How many rows there are.
    #[cfg(feature = "serve")]
    pub(crate) fn len(&self) -> u64 {
        (self.to - self.from) / Self::ROW
    }

    /// A row by its place, from 0.
    #[cfg(feature = "serve")]
    pub(crate) fn row(&self, at: u64) -> Result<[u64; N]> {
        let mut bytes = [[0; 8]; N];
        let read = self.file.read_exact_at(bytes.as_flattened_mut(), self.from + at * Self::ROW);
        read.map_err(|e| Error::io(&self.folder, "read a spill file in", e))?;
        Ok(bytes.map(u64::from_le_bytes))
    }

    /// The place of the first row that is not less than `row`.
    #[cfg(feature = "serve")]
    pub(crate) fn first(&self, row: [u64; N]) -> Result<u64> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.row(middle)? < row { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Reads the rows from one place to another.
    #[cfg(feature = "serve")]
    pub(crate) fn read_places(&self, places: std::ops::Range<u64>, block: usize) -> RowReader<N> {
        self.reader(self.from + places.start * Self::ROW, self.from + places.end * Self::ROW, block)
    }

    /// Reads all of it.
    pub(crate) fn read(&self, block: usize) -> RowReader<N> {
        self.reader(self.from, self.to, block)
    }

    /// Reads the rows whose first number is at least `from`, and less than `to` if there is an end.
    pub(crate) fn read_between(&self, from: u64, to: Option<u64>, block: usize) -> Result<RowReader<N>> {
        let end = to.map_or(Ok(self.to), |to| self.place_of(to))?;
        Ok(self.reader(self.place_of(from)?, end, block))
    }

    fn reader(&self, at: u64, end: u64, block: usize) -> RowReader<N> {
        let (file, folder) = (Arc::clone(&self.file), self.folder.clone());
        let most = (block as u64 / Self::ROW).max(1) * Self::ROW;
        RowReader { file, folder, at, end, most, block: Vec::new(), used: 0 }
    }

    /// Where the first row is whose first number is not less than `first`.
    fn place_of(&self, first: u64) -> Result<u64> {
        let (mut low, mut high) = (0, (self.to - self.from) / Self::ROW);
        while low < high {
            let middle = low.midpoint(high);
            let mut number = [0; 8];
            let read = self.file.read_exact_at(&mut number, self.from + middle * Self::ROW);
            read.map_err(|e| Error::io(&self.folder, "read a spill file in", e))?;
            if u64::from_le_bytes(number) < first { low = middle + 1 } else { high = middle }
        }
        Ok(self.from + low * Self::ROW)
    }
}

/// Reads rows of a run.
pub(crate) struct RowReader<const N: usize> {
    file: Arc<File>,
    folder: PathBuf,
    at: u64,
    end: u64,
    /// Bytes that are read at once.
    most: u64,
    block: Vec<u8>,
    used: usize,
}

impl<const N: usize> RowReader<N> {
    pub(crate) fn next(&mut self) -> Result<Option<[u64; N]>> {
        if self.used == self.block.len() {
            if self.at == self.end {
                return Ok(None);
            }
            let more = (self.end - self.at).min(self.most);
            self.block.resize(more as usize, 0);
            let read = self.file.read_exact_at(&mut self.block, self.at);
            read.map_err(|e| Error::io(&self.folder, "read a spill file in", e))?;
            (self.at, self.used) = (self.at + more, 0);
        }
        let row = row_at(&self.block[self.used..]);
        self.used += 8 * N;
        Ok(Some(row))
    }
}

/// The row that some bytes begin with; they are as many or more.
pub(crate) fn row_at<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (numbers, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|at| u64::from_le_bytes(numbers[at]))
}
