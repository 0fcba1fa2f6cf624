//! What a file is, by its content first and its name second.

use std::io::{self, Read};
use std::path::Path;

use memchr::memchr;
use serde::de::IgnoredAny;

use super::BOM;
use super::open::{InputFile, open_decompressed};
use super::source::{Compression, Format, Source};

/// Bytes looked at, decompressed.
const HEAD: usize = 8 << 10;
/// Bytes looked at for the end of the first line of a text file that begins like JSON.
const LINE: usize = 4 << 20;

/// How a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Someone named it.
    Named,
    /// It stands in a folder that someone named.
    Walked,
}

/// Finds out format and compression of the file at `path`; `None` if it holds no documents.
pub(super) fn recognise(path: &Path, found: Found) -> io::Result<Option<Source>> {
    let mut file = InputFile::open(path)?;
    let state = file.state()?;
    let mut magic = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut magic)?;
    let mut source = Source {
        path: path.to_path_buf(),
        shown: path.display().to_string(),
        name: String::new(),
        format: Format::JsonLines,
        compression: Compression::of(&magic),
        bytes: state.bytes,
        lasting: true,
        modified: state.modified,
    };
    drop(file);
    let head = Head::read(&source)?;
    let format = match (named_format(path), found) {
        (Some(Format::JsonLines), _) => Some(Format::JsonLines),
        (Some(Format::Text), _) if head.is_json_record() => Some(Format::JsonLines),
        (Some(Format::Text), _) => Some(Format::Text),
        (None, _) if head.has_json_records() => Some(Format::JsonLines),
        (None, Found::Named) if head.bytes.is_empty() => Some(Format::JsonLines),
        (None, Found::Named) if head.is_text() => Some(Format::Text),
        (None, _) => None,
    };
    Ok(format.map(|format| {
        source.format = format;
        source
    }))
}

/// The format that a name promises.
fn named_format(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        "txt" | "text" | "md" | "markdown" => Some(Format::Text),
        _ => None,
    }
}

/// The decompressed beginning of a file.
struct Head {
    bytes: Vec<u8>,
    /// Whether that is all of it.
    whole: bool,
}

impl Head {
    /// Reads the head. What damage leaves of a compressed one is taken: reading will refuse the rest in its place.
    fn read(source: &Source) -> io::Result<Head> {
        let mut input = open_decompressed(source)?;
        let mut head = Head { bytes: Vec::new(), whole: false };
        let mut outcome = head.extend(&mut input, HEAD);
        if outcome.is_ok() && head.first_byte() == Some(b'{') {
            while !head.whole
                && head.bytes.len() < LINE
                && memchr(b'\n', &head.bytes).is_none()
                && outcome.is_ok()
            {
                outcome = head.extend(&mut input, 16 * HEAD);
            }
        }
        match outcome {
            Err(error) if source.compression == Compression::None || error.raw_os_error().is_some() => {
                Err(error)
            }
            _ => Ok(head),
        }
    }

    fn extend(&mut self, input: &mut impl Read, bytes: usize) -> io::Result<()> {
        let read = input.take(bytes as u64).read_to_end(&mut self.bytes)?;
        self.whole = read < bytes;
        Ok(())
    }

    fn content(&self) -> &[u8] {
        self.bytes.strip_prefix(BOM).unwrap_or(&self.bytes)
    }

    /// Whether it begins like JSON, or a later line of it does: one bad line does not make a text of the others.
    fn has_json_records(&self) -> bool {
        let mut lines = self.content().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        self.first_byte() == Some(b'{') || lines.any(|line| line.starts_with(b"{\"") && line.ends_with(b"}"))
    }

    /// The first byte that is not blank.
    fn first_byte(&self) -> Option<u8> {
        self.content().iter().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    /// Whether the first line that is not blank is a JSON object.
    fn is_json_record(&self) -> bool {
        let line = self.content().trim_ascii_start();
        let end = match memchr(b'\n', line) {
            Some(end) => end,
            None if self.whole => line.len(),
            None => return false,
        };
        let Ok(text) = std::str::from_utf8(&line[..end]) else { return false };
        text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    /// Whether it is UTF-8 without NUL; a character that the end of the head cuts is none of its faults.
    fn is_text(&self) -> bool {
        let valid = match std::str::from_utf8(&self.bytes) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none() && !self.whole,
        };
        valid && memchr(0, &self.bytes).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, content: &[u8], found: Found) -> Option<(Format, Compression)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        let source = recognise(&path, found).expect("readable");
        source.map(|source| (source.format, source.compression))
    }

    fn plain(name: &str, content: &[u8], found: Found) -> Option<Format> {
        let (format, compression) = format(name, content, found)?;
        assert_eq!(compression, Compression::None);
        Some(format)
    }

    #[test]
    fn names_count_where_content_does_not_speak() {
        use Format::{JsonLines, Text};
        for found in [Found::Named, Found::Walked] {
            assert_eq!(plain("a.jsonl", b"hello", found), Some(JsonLines));
            assert_eq!(plain("a.JSON", b"", found), Some(JsonLines));
            assert_eq!(plain("a.jsonl.gz", b"{}", found), Some(JsonLines));
            assert_eq!(plain("a.txt", b"hello", found), Some(Text));
            assert_eq!(plain("a.txt", b"", found), Some(Text));
            assert_eq!(plain("a.md", b"{curly} words", found), Some(Text));
            assert_eq!(plain("a.txt", b"\xef\xbb\xbf\n{\"a\": 1}\r\n{}", found), Some(JsonLines));
            assert_eq!(plain("a.txt", b"{\"a\": 1", found), Some(Text));
            assert_eq!(plain("data", b" \n{\"a\": 1}", found), Some(JsonLines));
        }
        assert_eq!(plain("data", b"hello", Found::Named), Some(Text));
        assert_eq!(plain("data", b"hello", Found::Walked), None);
        assert_eq!(plain("data", b"PAR1\0", Found::Named), None);
        assert_eq!(plain("data", b"\xff\xfeh", Found::Named), None);
        assert_eq!(plain("data", b"", Found::Named), Some(JsonLines));
        assert_eq!(plain("data", b"", Found::Walked), None);
    }

    #[test]
    fn a_long_first_line_is_read_to_its_end() {
        let line = format!("{{\"text\": \"{}\"}}", "x".repeat(100_000));
        assert_eq!(plain("a.txt", line.as_bytes(), Found::Walked), Some(Format::JsonLines));
        assert_eq!(plain("a.txt", &line.as_bytes()[..90_000], Found::Walked), Some(Format::Text));
        assert_eq!(plain("data", "\u{e9}".repeat(HEAD).as_bytes(), Found::Named), Some(Format::Text));
        let odd = format!("x{}", "\u{e9}".repeat(HEAD));
        assert_eq!(plain("data", odd.as_bytes(), Found::Named), Some(Format::Text));
    }

    #[test]
    fn compression_is_seen_through() {
        let zst = zstd::encode_all(&b"{\"a\": 1}\n"[..], 1).expect("compressed");
        let expected = Some((Format::JsonLines, Compression::Zstd));
        assert_eq!(format("data", &zst, Found::Walked), expected);
        assert_eq!(format("a.txt.zst", &zst, Found::Walked), expected);
        assert_eq!(format("a.jsonl.zst", &zst[..5], Found::Walked), expected);
        assert_eq!(
            format("a.jsonl.gz", b"\x1f\x8b", Found::Walked),
            Some((Format::JsonLines, Compression::Gzip))
        );
        assert_eq!(format("data.gz", b"\x1f\x8b", Found::Walked), None);
    }
}
