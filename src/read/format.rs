//! The formats of input files by name. What each of them knows is in [`formats`](super::formats).

use std::str::FromStr;

/// How documents stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// The whole file is one document.
    Text,
    /// A header row, and then one record a row.
    Csv {
        /// What stands between fields.
        delimiter: Delimiter,
    },
}

/// The character between the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delimiter(u8);

impl Delimiter {
    /// That of CSV.
    pub const COMMA: Delimiter = Delimiter(b',');
    /// That of TSV.
    pub const TAB: Delimiter = Delimiter(b'\t');

    /// The delimiter that is this byte; `None` for a quote, a line break, and what is not ASCII.
    pub fn of(byte: u8) -> Option<Delimiter> {
        (byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0)).then_some(Delimiter(byte))
    }

    /// The delimiter as a byte.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// Parses one character, or `tab`.
    fn from_str(text: &str) -> Result<Delimiter, String> {
        let byte = match text.as_bytes() {
            b"tab" | b"\\t" => Some(b'\t'),
            [byte] => Some(*byte),
            _ => None,
        };
        byte.and_then(Delimiter::of).ok_or_else(|| {
            format!("delimiter {text:?}: expected one ASCII character that is neither a quote nor a line break, or tab")
        })
    }
}

impl TryFrom<String> for Delimiter {
    type Error = String;

    fn try_from(text: String) -> Result<Delimiter, String> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(delimiter: Delimiter) -> String {
        match delimiter {
            Delimiter::TAB => "tab".to_owned(),
            Delimiter(byte) => char::from(byte).to_string(),
        }
    }
}

/// What is known of inputs beside their names and contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatHint {
    /// The format of what was named, standard input above all. Files in folders are recognised in any case.
    pub format: Option<FormatName>,
    /// The delimiter of CSV and TSV.
    pub delimiter: Option<Delimiter>,
}

/// A format as it is named by whoever knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatName {
    /// JSON Lines.
    Jsonl,
    /// One document a file.
    Text,
    /// A header row, and then one record a row.
    Csv,
}

impl Format {
    /// The format as a number: the kind in the lower eight bits, what it takes to read it in the upper ones.
    pub fn code(self) -> u16 {
        match self {
            Format::JsonLines => 0,
            Format::Text => 1,
            Format::Csv { delimiter } => 2 | u16::from(delimiter.byte()) << 8,
        }
    }

    /// The format of a number that [`Format::code`] gave; `None` if there is none.
    pub fn of_code(code: u16) -> Option<Format> {
        match code.to_le_bytes() {
            [0, 0] => Some(Format::JsonLines),
            [1, 0] => Some(Format::Text),
            [2, delimiter] => Delimiter::of(delimiter).map(|delimiter| Format::Csv { delimiter }),
            _ => None,
        }
    }

    /// What numbers of records count.
    pub(super) fn counts(self) -> Numbering {
        match self {
            Format::JsonLines | Format::Text => Numbering::Lines,
            Format::Csv { .. } => Numbering::Rows,
        }
    }

    /// How names of such files end.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Format::JsonLines => "jsonl",
            Format::Text => "txt",
            Format::Csv { delimiter: Delimiter::TAB } => "tsv",
            Format::Csv { .. } => "csv",
        }
    }
}

/// What numbers of records count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbering {
    /// Lines.
    #[default]
    Lines,
    /// Rows, from the header on.
    Rows,
}

impl Numbering {
    /// Whether these are lines.
    pub(super) fn is_lines(&self) -> bool {
        *self == Numbering::Lines
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
        let csv = Format::Csv { delimiter: Delimiter::COMMA };
        for (format, code) in [(Format::JsonLines, 0), (Format::Text, 1), (csv, 0x2c02)] {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        assert!([0xff, 0x0100, 0x2202, 2].iter().all(|code| Format::of_code(*code).is_none()));
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
