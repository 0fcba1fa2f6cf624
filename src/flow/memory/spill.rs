//! A file for what does not fit in the memory a run may use. It has no name, and is gone when the process is, however
//! that ends.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::flow::memory::budget::mapped;
use crate::limits::sized;

/// Values of plain bits on disk, behind one another. The file is created when the first are written.
#[derive(Debug)]
pub struct SpillFile {
    folder: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl SpillFile {
    /// An empty spill; its file will stand in `folder`, which exists.
    pub fn new(folder: &Path) -> SpillFile {
        SpillFile { folder: folder.to_path_buf(), file: None, bytes: 0 }
    }

    /// Bytes up to the end of what was written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes values behind all others; returns the byte at which they start.
    pub fn append<T: Pod>(&mut self, values: &[T]) -> Result<u64> {
        let start = self.bytes;
        self.write(start, values)?;
        Ok(start)
    }

    /// Writes values that start at a byte, which nobody else has.
    pub fn write<T: Pod>(&mut self, start: u64, values: &[T]) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.folder)
                .map_err(|e| Error::io(&self.folder, "create a spill file in", e))?,
        };
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let written = file.write_all_at(bytes, start);
        self.file = Some(file);
        written.map_err(|e| Error::io(&self.folder, "write a spill file in", e))?;
        self.bytes = self.bytes.max(start + bytes.len() as u64);
        Ok(())
    }

    /// Reads the values that start at a byte which [`SpillFile::append`] returned, or a whole number of them further on.
    pub fn read<T: Pod>(&self, start: u64, values: &mut [T]) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| !values.is_empty()) else { return Ok(()) };
        file.read_exact_at(bytemuck::cast_slice_mut(values), start)
            .map_err(|e| Error::io(&self.folder, "read a spill file in", e))
    }
}

/// Values of a pile that are looked at between two others of the run's affairs.
pub const SLICE: usize = sized(16 << 10, 16);

/// A list that only grows and is read from its start to its end: in memory as far as it may, the rest on disk.
#[derive(Debug)]
pub struct Pile<T> {
    held: Vec<T>,
    most: usize,
    spill: SpillFile,
}

impl<T: Pod> Pile<T> {
    /// An empty pile that holds at most `bytes` in memory, give or take one batch.
    pub fn new(bytes: u64, folder: &Path) -> Pile<T> {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
        Pile { held: mapped(most), most, spill: SpillFile::new(folder) }
    }

    /// Values on the pile.
    pub fn len(&self) -> usize {
        self.spilled() + self.held.len()
    }

    fn spilled(&self) -> usize {
        self.spill.bytes() as usize / size_of::<T>()
    }

    /// All values, if they are in memory.
    pub fn held(&self) -> Option<&[T]> {
        (self.spilled() == 0).then_some(&self.held)
    }

    /// All values, copied if they are not all in memory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn all(&self) -> Result<Cow<'_, [T]>> {
        if let Some(held) = self.held() {
            return Ok(Cow::Borrowed(held));
        }
        let mut all = Vec::with_capacity(self.len());
        self.each_slice(|some| {
            all.extend_from_slice(some);
            Ok(())
        })?;
        Ok(Cow::Owned(all))
    }

    /// Brings the values that are in memory into the order of what `key` gives.
    pub fn sort_held<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        self.held.sort_unstable_by_key(key);
    }

    /// Puts a batch on the pile.
    pub fn extend(&mut self, batch: &[T]) -> Result<()> {
        if self.held.len() + batch.len() > self.most && !self.held.is_empty() {
            self.spill.append(&self.held)?;
            self.held.clear();
        }
        self.held.extend_from_slice(batch);
        Ok(())
    }

    /// Some values from number `from` on, at least one and at most `most` where there are any; `buffer` is for those
    /// that lie on disk.
    pub fn some<'a>(&'a self, from: usize, most: usize, buffer: &'a mut Vec<T>) -> Result<&'a [T]> {
        let spilled = self.spilled();
        if from >= spilled {
            let from = (from - spilled).min(self.held.len());
            let until = (from + most).min(self.held.len());
            return Ok(&self.held[from..until]);
        }
        buffer.clear();
        buffer.resize(most.min(spilled - from), T::zeroed());
        self.spill.read((from * size_of::<T>()) as u64, buffer)?;
        Ok(buffer)
    }

    /// Goes through all values, about [`SLICE`] at a time.
    ///
    /// # Errors
    /// [`Error::Io`], and those of `each`.
    pub fn each_slice(&self, mut each: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        let (mut from, mut buffer) = (0, Vec::new());
        while from < self.len() {
            let some = self.some(from, SLICE, &mut buffer)?;
            from += some.len();
            each(some)?;
        }
        Ok(())
    }
}

/// What several workers have piled up, each on a pile of its own.
pub struct Piles<T>(Vec<Pile<T>>);

impl<T: Pod> Piles<T> {
    /// Values on all piles.
    pub fn len(&self) -> usize {
        self.0.iter().map(Pile::len).sum()
    }

    /// The values of each pile, if all are in memory.
    pub fn held(&self) -> Option<Vec<&[T]>> {
        self.0.iter().map(Pile::held).collect()
    }

    /// Goes through all values, pile after pile, about [`SLICE`] at a time.
    ///
    /// # Errors
    /// [`Error::Io`], and those of `each`.
    pub fn each_slice(&self, mut each: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|pile| pile.each_slice(&mut each))
    }

    /// The piles.
    pub fn iter(&self) -> impl Iterator<Item = &Pile<T>> {
        self.0.iter()
    }

    /// Adds a pile.
    pub fn push(&mut self, pile: Pile<T>) {
        self.0.push(pile);
    }

    /// Takes one of the piles, as long as there are any.
    pub fn pop(&mut self) -> Option<Pile<T>> {
        self.0.pop()
    }
}

impl<T> Default for Piles<T> {
    fn default() -> Piles<T> {
        Piles(Vec::new())
    }
}

impl<T> From<Pile<T>> for Piles<T> {
    fn from(pile: Pile<T>) -> Piles<T> {
        Piles(vec![pile])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pile_is_read_as_it_was_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let all: Vec<u64> = (0..1000).collect();
        for (bytes, most) in [(0, 7), (64, 1), (800, 64), (1 << 20, 1000)] {
            let mut pile = Pile::new(bytes, folder.path());
            all.chunks(13).for_each(|batch| pile.extend(batch).expect("put on"));
            assert_eq!(pile.len(), all.len());
            assert_eq!(pile.spill.bytes() > 0, bytes < 1 << 20);
            let (mut back, mut buffer) = (Vec::new(), Vec::new());
            while back.len() < all.len() {
                let some = pile.some(back.len(), most, &mut buffer).expect("read");
                assert!(!some.is_empty() && some.len() <= most);
                back.extend_from_slice(some);
            }
            assert_eq!(back, all);
            assert!(pile.some(back.len(), most, &mut buffer).expect("read").is_empty());
        }
    }
}
