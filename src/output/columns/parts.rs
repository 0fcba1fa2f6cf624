//! The Parquet files that lose rows: their row groups, one by one, and all of each.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::groups::{assemble, shrinking, write_group};
use crate::error::{Error, Result};
use crate::output::chosen::{Chosen, ChosenRows};
use crate::progress::Progress;
use crate::read::Source;

/// What is written of such files.
pub(in crate::output) struct KeptColumns<'a> {
    /// The folder of the files. That of row groups that are written on their own is beside it.
    pub(in crate::output) folder: &'a Path,
    pub(in crate::output) sources: &'a [Source],
    pub(in crate::output) chosen: Chosen<'a>,
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

    /// Writes what is left of a row group of so many bytes; it is no file yet.
    pub(in crate::output) fn write_group(&self, source: usize, group: usize, bytes: u64) -> Result<u64> {
        let (of, chosen) = (&self.sources[source], self.rows(source));
        write_group(of, chosen, group, &self.part(source, group), self.progress)?;
        self.progress.advance(bytes / 2);
        Ok(0)
    }

    /// Puts a file together; its length.
    pub(in crate::output) fn assemble(&self, source: usize, target: &Path) -> Result<u64> {
        let (of, chosen) = (&self.sources[source], self.rows(source));
        let bytes = assemble(of, chosen, &|group| self.part(source, group), target, self.progress)?;
        of.unchanged()?;
        // What its groups did not count, which lie where a file says that they do.
        let done = shrinking(of, chosen)?.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(bytes / 2));
        self.progress.advance(of.bytes.saturating_sub(done));
        Ok(bytes)
    }
}
