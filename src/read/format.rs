//! The formats of input files by name. What each of them knows is in [`formats`](super::formats).

/// How documents stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// The whole file is one document.
    Text,
}

impl Format {
    /// The format as a number: the kind in the lower eight bits, what it takes to read it in the upper ones.
    pub fn code(self) -> u16 {
        match self {
            Format::JsonLines => 0,
            Format::Text => 1,
        }
    }

    /// The format of a number that [`Format::code`] gave; `None` if there is none.
    pub fn of_code(code: u16) -> Option<Format> {
        match code {
            0 => Some(Format::JsonLines),
            1 => Some(Format::Text),
            _ => None,
        }
    }

    /// How names of such files end.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Format::JsonLines => "jsonl",
            Format::Text => "txt",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_stored_collections() {
        for (format, code) in [(Format::JsonLines, 0), (Format::Text, 1)] {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        assert_eq!(Format::of_code(0xff), None);
    }

    #[test]
    fn compression_is_known_by_its_magic() {
        assert_eq!(Compression::of(b"\x1f\x8b\x08"), Compression::Gzip);
        assert_eq!(Compression::of(b"\x28\xb5\x2f\xfd"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x5a\x2a\x4d\x18"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x28\xb5\x2f"), Compression::None);
        assert_eq!(Compression::of(b""), Compression::None);
    }
}
