//! Notes of any length in files without names, found again by their places.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::limits::sized;

/// Bytes that are written at once.
const WRITTEN: usize = sized(1 << 18, 64);
/// Bits of a place that say where in its file a note begins; the others say in which file.
const OFFSET: u32 = 48;

/// Notes being written, of one thread.
pub(super) struct NoteWriter {
    number: u64,
    folder: PathBuf,
    file: File,
    bytes: u64,
    block: Vec<u8>,
}

impl NoteWriter {
    /// The writer of a number, whose file goes to a folder and has no name there.
    pub(super) fn new(number: usize, folder: &Path) -> Result<NoteWriter> {
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|e| Error::io(folder, "create a spill file in", e))?;
        Ok(NoteWriter {
            number: number as u64,
            folder: folder.to_path_buf(),
            file,
            bytes: 0,
            block: Vec::new(),
        })
    }

    /// Adds a note, and gives its place.
    pub(super) fn add(&mut self, note: &impl Serialize) -> Result<u64> {
        let place = self.number << OFFSET | (self.bytes + self.block.len() as u64);
        let begin = self.block.len();
        self.block.extend_from_slice(&[0; 4]);
        let failed = |e: serde_json::Error| Error::io(&self.folder, "write a spill file in", e.into());
        serde_json::to_writer(&mut self.block, note).map_err(failed)?;
        let length = (self.block.len() - begin - 4) as u32;
        self.block[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
        if self.block.len() >= WRITTEN {
            self.write()?;
        }
        Ok(place)
    }

    fn write(&mut self) -> Result<()> {
        let written = self.file.write_all_at(&self.block, self.bytes);
        written.map_err(|e| Error::io(&self.folder, "write a spill file in", e))?;
        self.bytes += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

/// The notes of all threads.
pub(super) struct NoteFiles {
    folder: PathBuf,
    files: Vec<File>,
}

impl NoteFiles {
    /// What the writers of the numbers 0, 1 and so on have written.
    pub(super) fn new(writers: Vec<NoteWriter>, folder: &Path) -> Result<NoteFiles> {
        let file = |mut writer: NoteWriter| writer.write().map(|()| writer.file);
        let files = writers.into_iter().map(file).collect::<Result<_>>()?;
        Ok(NoteFiles { folder: folder.to_path_buf(), files })
    }

    /// The note at a place.
    pub(super) fn read<T: DeserializeOwned>(&self, place: u64) -> Result<T> {
        let failed = |e| Error::io(&self.folder, "read a spill file in", e);
        let (file, offset) = (&self.files[(place >> OFFSET) as usize], place & ((1 << OFFSET) - 1));
        let mut length = [0; 4];
        file.read_exact_at(&mut length, offset).map_err(failed)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        file.read_exact_at(&mut bytes, offset + 4).map_err(failed)?;
        serde_json::from_slice(&bytes).map_err(|e| failed(e.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_by_their_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writers: Vec<NoteWriter> =
            (0..3).map(|number| NoteWriter::new(number, folder.path()).expect("a file")).collect();
        let note = |at: usize| (at, "x".repeat(at * at * 7 % 5000));
        let places: Vec<u64> = (0..500).map(|at| writers[at % 3].add(&note(at)).expect("added")).collect();
        let files = NoteFiles::new(writers, folder.path()).expect("written");
        for (at, place) in places.into_iter().enumerate().rev() {
            assert_eq!(files.read::<(usize, String)>(place).expect("read"), note(at));
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
