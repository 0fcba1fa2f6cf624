//! An input file as found, and its division into pieces of work.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::checksum::file_digest;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How documents stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// The whole file is one document.
    Text,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// [`Error::Changed`] if size or time of the last change are no longer those of [`discover`](super::discover).
    pub fn unchanged(&self) -> Result<()> {
        let now = fs::metadata(&self.path).map_err(|error| Error::io(&self.path, "read", error))?;
        if now.len() == self.bytes && now.modified().ok() == self.modified {
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
        let now = fs::metadata(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::input(
                &self.path,
                "the file that was loaded is gone; put it back, or load its documents again",
            ),
            _ => Error::io(&self.path, "read", error),
        })?;
        self.modified = now.modified().ok();
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

/// Cuts sources into units of about `target_bytes`, in document order. Empty files have none.
pub fn units(sources: &[Source], target_bytes: u64) -> Vec<Unit> {
    let mut units = Vec::new();
    for (file, source) in (0u32..).zip(sources) {
        match (source.compression, source.format) {
            _ if source.bytes == 0 => {}
            (Compression::None, Format::JsonLines) => {
                // Equal pieces rather than full ones and a rest: the last worker to finish finishes sooner.
                let size = source.bytes.div_ceil(source.bytes.div_ceil(target_bytes.max(1)));
                let mut start = 0;
                while start < source.bytes {
                    let end = source.bytes.min(start + size);
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
            let units = units(&sources, target);
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
