//! The files of rows that lose some: their row groups or batches, one by one, and all of each.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{batches, groups};
use crate::error::{Error, Result};
use crate::output::chosen::{Chosen, ChosenRows};
use crate::progress::Progress;
use crate::read::{Format, RecordRoom, Source};

/// What is written of such files.
pub(in crate::output) struct KeptColumns<'a> {
    /// The folder of the files. That of row groups that are written on their own is beside it.
    pub(in crate::output) folder: &'a Path,
    pub(in crate::output) sources: &'a [Source],
    pub(in crate::output) chosen: Chosen<'a>,
    /// What is decoded has to fit in it.
    pub(in crate::output) room: &'a RecordRoom,
    pub(in crate::output) progress: &'a Progress,
}

impl KeptColumns<'_> {
    /// The row groups of some sources that lose some of their rows, and the bytes of each. They are written first.
    pub(in crate::output) fn divide(&self, assembled: &[usize]) -> Result<Vec<(usize, usize, u64)>> {
        let mut all = Vec::new();
        for &source in assembled {
            self.sources[source].unchanged()?;
            let groups = shrinking(&self.sources[source], self.rows(source))?;
            all.extend(groups.into_iter().map(|(group, bytes)| (source, group, bytes)));
        }
        if !assembled.is_empty() {
            let parts = self.parts();
            fs::create_dir_all(&parts).map_err(|e| Error::io(&parts, "create", e))?;
        }
        Ok(all)
    }

    fn rows(&self, source: usize) -> ChosenRows<'_> {
        ChosenRows { side: self.chosen.side, removed: &self.chosen.removed[source] }
    }

    fn parts(&self) -> PathBuf {
        self.folder.with_extension("parts")
    }

    fn part(&self, source: usize, group: usize) -> PathBuf {
        self.parts().join(format!("{source}-{group}"))
    }

    /// Removes the folder of parts, which is empty when all is put together.
    pub(in crate::output) fn remove_parts(&self) -> Result<()> {
        let parts = self.parts();
        match fs::remove_dir(&parts) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(&parts, "remove", error)),
            _ => Ok(()),
        }
    }

    /// Writes what is left of a row group of so many bytes; it is no file yet. `beside` if a thread is free to decode
    /// meanwhile.
    pub(in crate::output) fn write_group(
        &self,
        source: usize,
        group: usize,
        bytes: u64,
        beside: bool,
    ) -> Result<u64> {
        let (of, chosen) = (&self.sources[source], self.rows(source));
        let (part, room, progress) = (&self.part(source, group), self.room, self.progress);
        match of.format {
            Format::Arrow => batches::write_batch(of, chosen, (group, room), part, progress)?,
            _ => groups::write_group(of, chosen, (group, beside, room), part, progress)?,
        }
        self.progress.advance(bytes / 2);
        Ok(0)
    }

    /// Puts a file together; its length.
    pub(in crate::output) fn assemble(&self, source: usize, target: &Path) -> Result<u64> {
        let (of, chosen) = (&self.sources[source], self.rows(source));
        let part = |group: usize| self.part(source, group);
        let bytes = match of.format {
            Format::Arrow => batches::assemble(of, chosen, &part, target, self.progress)?,
            _ => groups::assemble(of, chosen, &part, target, self.progress)?,
        };
        of.unchanged()?;
        // What its groups did not count, which lie where a file says that they do.
        let done = shrinking(of, chosen)?.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(bytes / 2));
        of.cuts.kept.forget();
        self.progress.advance(of.bytes.saturating_sub(done));
        Ok(bytes)
    }
}

/// The row groups or batches of a source that lose some of their rows, and the bytes of each.
fn shrinking(source: &Source, chosen: ChosenRows<'_>) -> Result<Vec<(usize, u64)>> {
    match source.format {
        Format::Arrow => batches::shrinking(source, chosen),
        _ => groups::shrinking(source, chosen),
    }
}
