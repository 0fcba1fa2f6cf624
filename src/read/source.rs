//! An input file as found, and its division into pieces of work.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::time::SystemTime;

use super::BLOCK;
use super::checksum::file_digest;
use super::open::{FileState, InputFile};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How documents stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// The whole file is one document.
    Text,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Compression {
    /// Not at all.
    None,
    /// One or more gzip members.
    Gzip,
    /// One or more Zstandard frames.
    Zstd,
}

impl Compression {
    /// Recognises compression by the first bytes of a file.
    pub(super) fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

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
    /// Whether the file is meant to outlast the run; what was made a file for one run only, as standard input is, is not.
    pub lasting: bool,
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

    /// Whether workers can share the file, line by line; any other can only be read whole.
    pub fn is_divided(&self) -> bool {
        self.compression == Compression::None && self.format == Format::JsonLines
    }

    /// Hands the bytes of a range of the file, as it lies on disk, to `each`, block by block.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Changed`] if the file ends before; what `each` gives, which ends it.
    pub fn bytes_of(&self, range: Range<u64>, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let failed = |error| Error::io(&self.path, "read", error);
        let mut file = InputFile::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        let (mut left, mut block) = (range.end - range.start, vec![0; BLOCK]);
        while left > 0 {
            let part = &mut block[..left.min(BLOCK as u64) as usize];
            match file.read_exact(part) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(Error::Changed(self.path.clone()));
                }
                read => read.map_err(failed)?,
            }
            left -= part.len() as u64;
            each(part)?;
        }
        Ok(())
    }

    /// Whether the file is still as it was found.
    ///
    /// # Errors
    /// [`Error::Changed`] if size or time of the last change are no longer those of [`discover`](super::discover());
    /// [`Error::Io`].
    pub fn unchanged(&self) -> Result<()> {
        let now = FileState::of(&self.path).map_err(|error| Error::io(&self.path, "read", error))?;
        if now == (FileState { bytes: self.bytes, modified: self.modified }) {
            Ok(())
        } else {
            Err(Error::Changed(self.path.clone()))
        }
    }

    /// This source, given as an earlier run found it, to be read again: the file must still have its size, and the
    /// digest that [`file_digest`] gave then.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such file any more, [`Error::Changed`] if it is another one, [`Error::Io`] if it
    /// cannot be read, and [`Error::Interrupted`].
    pub fn again(mut self, digest: u128, progress: &Progress) -> Result<Source> {
        let now = FileState::of(&self.path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::input(&self.path, "the file that was loaded is gone; put it back"),
            _ => Error::io(&self.path, "read", error),
        })?;
        self.modified = now.modified;
        if file_digest(&self, progress)? != digest {
            return Err(Error::Changed(self.path));
        }
        Ok(self)
    }
}

/// A piece of work: a range of bytes of a file. A line belongs to the unit in which its first byte lies.
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

/// How much larger a compressed file is taken to be when it is decompressed.
const EXPANDS: u64 = 6;

impl Extent {
    /// All of any inputs.
    pub const ALL: Extent = Extent { from: (0, 0), to: (u32::MAX, 0) };

    /// What comes next from `from` on, of about `bytes` when decompressed. Lines may be divided anywhere: each
    /// belongs to where its first byte is. Files that can only be read whole are not divided.
    pub fn next(sources: &[Source], from: (u32, u64), bytes: u64) -> Extent {
        let (mut at, mut left) = (from, bytes.max(1));
        while let Some(source) = sources.get(at.0 as usize) {
            let rest = source.bytes.saturating_sub(at.1);
            let divided = source.is_divided();
            let weight =
                if source.compression == Compression::None { rest } else { rest.saturating_mul(EXPANDS) };
            if divided && rest > left {
                return Extent { from, to: (at.0, at.1 + left) };
            }
            if weight > left && at != from {
                break;
            }
            (at, left) = ((at.0 + 1, 0), left.saturating_sub(weight));
            if left == 0 {
                break;
            }
        }
        Extent { from, to: at }
    }

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

/// Cuts the part `extent` of sources into units of about `target_bytes`, in document order. Empty files have none.
pub fn units(sources: &[Source], extent: Extent, target_bytes: u64) -> Vec<Unit> {
    let mut units = Vec::new();
    for (file, source) in (0u32..).zip(sources) {
        let part = extent.of(file, source);
        match (source.compression, source.format) {
            _ if part.is_empty() => {}
            (Compression::None, Format::JsonLines) => {
                // Equal pieces rather than full ones and a rest: the last worker to finish finishes sooner.
                let bytes = part.end - part.start;
                let size = bytes.div_ceil(bytes.div_ceil(target_bytes.max(1)));
                let mut start = part.start;
                while start < part.end {
                    let end = part.end.min(start + size);
                    units.push(Unit { file, start, end });
                    start = end;
                }
            }
            (Compression::None, Format::Text) => units.push(Unit { file, start: 0, end: source.bytes }),
            (Compression::Gzip | Compression::Zstd, _) => units.push(Unit { file, start: 0, end: u64::MAX }),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn source(bytes: u64, format: Format, compression: Compression) -> Source {
        Source {
            path: "x".into(),
            shown: "x".into(),
            name: "x".into(),
            format,
            compression,
            bytes,
            lasting: true,
            modified: None,
        }
    }

    #[test]
    fn units_cover_files_in_order() {
        let sources = [
            source(1000, Format::JsonLines, Compression::None),
            source(0, Format::JsonLines, Compression::None),
            source(1000, Format::Text, Compression::None),
            source(1000, Format::JsonLines, Compression::Gzip),
            source(1, Format::JsonLines, Compression::None),
        ];
        for target in [0, 1, 7, 333, 999, 1000, 1001, u64::MAX] {
            let units = units(&sources, Extent::ALL, target);
            let of = |file| units.iter().filter(move |unit| unit.file == file).collect::<Vec<_>>();
            assert!(units.is_sorted_by_key(|unit| (unit.file, unit.start)));
            assert!(of(0).windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].start < pair[0].end));
            assert_eq!((of(0)[0].start, of(0).last().map(|unit| unit.end)), (0, Some(1000)));
            assert!(of(0).iter().all(|unit| unit.end - unit.start <= target.max(1)));
            assert!(of(1).is_empty());
            assert_eq!(of(2), [&Unit { file: 2, start: 0, end: 1000 }]);
            assert_eq!(of(3), [&Unit { file: 3, start: 0, end: u64::MAX }]);
            assert_eq!(of(4), [&Unit { file: 4, start: 0, end: 1 }]);
        }
    }

    #[test]
    fn extents_follow_each_other_and_leave_nothing_out() {
        let sources = [
            source(1000, Format::JsonLines, Compression::None),
            source(0, Format::JsonLines, Compression::None),
            source(300, Format::Text, Compression::None),
            source(500, Format::JsonLines, Compression::Gzip),
            source(77, Format::JsonLines, Compression::None),
        ];
        for bytes in [0, 1, 7, 299, 300, 301, 999, 1000, 1500, 4000, u64::MAX] {
            let (mut from, mut all, mut extents) = ((0, 0), Vec::new(), 0);
            while (from.0 as usize) < sources.len() {
                let extent = Extent::next(&sources, from, bytes);
                assert!(extent.from == from && extent.to > from, "{extent:?}");
                all.append(&mut units(&sources, extent, 100));
                (from, extents) = (extent.to, extents + 1);
            }
            assert!(bytes < u64::MAX || extents == 1);
            assert!(all.is_sorted_by_key(|unit| (unit.file, unit.start)));
            let of = |file| all.iter().filter(move |unit: &&Unit| unit.file == file).collect::<Vec<_>>();
            for (file, bytes) in [(0, 1000), (4, 77)] {
                assert!(of(file).windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!((of(file)[0].start, of(file).last().map(|unit| unit.end)), (0, Some(bytes)));
            }
            assert_eq!(of(2), [&Unit { file: 2, start: 0, end: 300 }]);
            assert_eq!(of(3), [&Unit { file: 3, start: 0, end: u64::MAX }]);
        }
    }

    #[test]
    fn compression_is_known_by_its_magic() {
        assert_eq!(Compression::of(b"\x1f\x8b\x08"), Compression::Gzip);
        assert_eq!(Compression::of(b"\x28\xb5\x2f\xfd"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x5a\x2a\x4d\x18"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x28\xb5\x2f"), Compression::None);
        assert_eq!(Compression::of(b""), Compression::None);
    }

    #[test]
    fn a_change_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "one").expect("written");
        let mut source = source(3, Format::JsonLines, Compression::None);
        source.modified = fs::metadata(&path).expect("metadata").modified().ok();
        source.path = path.clone();
        assert!(source.unchanged().is_ok());
        fs::write(&path, "three").expect("written");
        assert!(matches!(source.unchanged(), Err(Error::Changed(_))));
        fs::remove_file(&path).expect("removed");
        assert!(matches!(source.unchanged(), Err(Error::Io { .. })));
    }
}
