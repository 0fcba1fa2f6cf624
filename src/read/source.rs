//! An input file as found, and parts of it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::SystemTime;

use super::format::{Compression, Format};
use crate::error::{Error, Result};

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Source {
    /// The path as it is opened.
    pub path: PathBuf,
    /// The path as it is shown to people: as it was named, or `stdin`.
    pub shown: String,
    /// Where its kept documents go: a relative path, parts joined by `/`, unique among the sources of a run.
    pub name: String,
    /// How documents stand in it.
    pub format: Format,
    /// How it is compressed.
    pub compression: Compression,
    /// Its size on disk.
    pub bytes: u64,
    /// Bytes of the window that decompressing it takes, as its first frame says; 0 where that is little or not known.
    pub window: u64,
    /// Bytes of the largest window that any of its frames may take.
    pub most_window: u64,
    /// Whether the file is meant to outlast the run; what was made a file for one run only, as standard input is, is not.
    pub lasting: bool,
    /// Offsets at which units may begin, of a file that cannot be cut anywhere; ascending.
    pub(crate) cuts: Vec<u64>,
    /// When it was last written to, as far as the system knows.
    pub(crate) modified: Option<SystemTime>,
}

impl Source {
    /// The same source under a path that does not depend on where a process runs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn from_anywhere(&self) -> Result<Source> {
        let path = std::path::absolute(&self.path).map_err(|e| Error::io(&self.path, "find", e))?;
        Ok(Source { path, ..self.clone() })
    }
}

/// A piece of work: a range of bytes of a file. A record belongs to the unit in which its first byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of the source.
    pub file: u32,
    /// First byte.
    pub start: u64,
    /// The byte after the last; `u64::MAX` for a compressed file, which is one unit.
    pub end: u64,
}

/// A part of the inputs: from a byte of a file on, up to, and without, a byte of the same or a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Extent {
    /// Index of the first source, and its first byte on disk.
    pub from: (u32, u64),
    /// Index of the last source, and the byte after the last.
    pub to: (u32, u64),
}

impl Extent {
    /// All of any inputs.
    pub const ALL: Extent = Extent { from: (0, 0), to: (u32::MAX, 0) };

    /// The bytes of a source that are in it: those that stand on disk.
    pub fn of(&self, file: u32, source: &Source) -> Range<u64> {
        let from = if file == self.from.0 { self.from.1 } else { 0 };
        let to = if file == self.to.0 { self.to.1 } else { source.bytes };
        if file < self.from.0 || file > self.to.0 {
            0..0
        } else {
            from.min(source.bytes)..to.min(source.bytes)
        }
    }
}
