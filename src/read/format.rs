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
    /// Columns: a record is a row.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Batches of columns, in a file or a stream: a record is a row.
    #[cfg(feature = "parquet")]
    Arrow,
    /// What a crawler wrote down: WARC and WET.
    Warc,
    /// The same in its earlier form.
    Arc,
    /// The whole file is one page of HTML.
    Html,
    /// Messages of mail, one behind the other.
    Mbox,
    /// The whole file is one message.
    Message,
    /// SGML as TREC hands it out, one `<DOC>` behind the other.
    Trec,
    /// An export of MediaWiki, one page behind the other.
    MediaWiki,
    /// An archive of files, one behind the other.
    Tar,
    /// An archive of files, with a directory at its end.
    Zip,
    /// The whole file is one document of Word.
    #[cfg(feature = "office")]
    Docx,
    /// The whole file is one text in the OpenDocument format.
    #[cfg(feature = "office")]
    Odt,
    /// The whole file is one book.
    #[cfg(feature = "office")]
    Epub,
    /// The whole file is one document of RTF.
    Rtf,
    /// The whole file is one PDF.
    #[cfg(feature = "pdf")]
    Pdf,
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
    /// Whether processes read the inputs that do not see the folder of this one, so that nothing may be copied for them.
    pub shared: bool,
    /// Bytes of memory that the run may take, if they are bounded.
    pub memory: Option<u64>,
}

impl FormatHint {
    /// The same for a run of several processes without a folder that all of them see, or for another one.
    pub fn shared_by(self, several: bool) -> FormatHint {
        FormatHint { shared: several, ..self }
    }

    /// The same for a run that may take so many bytes of memory.
    pub fn within(self, memory: Option<u64>) -> FormatHint {
        FormatHint { memory, ..self }
    }
}

/// A format as it is named by whoever knows it: one of [`format_names`](super::format_names).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatName(pub(super) &'static str);

impl FormatName {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// What numbers of records count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbering {
    /// Lines.
    #[default]
    Lines,
    /// Rows, from the header on where there is one.
    Rows,
    /// Records of a crawl, whatever they are, or what begins with `<DOC>` or `<page>`.
    Records,
    /// Messages of mail.
    Messages,
    /// Members of an archive, whatever they are.
    Members,
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
    /// One or more bzip2 streams.
    Bzip2,
    /// One or more xz streams.
    Xz,
    /// One or more LZ4 frames.
    Lz4,
}

impl Compression {
    /// All of them, each with how names of such files end.
    pub(super) const ALL: [(Compression, &'static str); 6] = [
        (Compression::None, ""),
        (Compression::Gzip, ".gz"),
        (Compression::Zstd, ".zst"),
        (Compression::Bzip2, ".bz2"),
        (Compression::Xz, ".xz"),
        (Compression::Lz4, ".lz4"),
    ];

    /// The compression as a number.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// The compression of a number that [`Compression::code`] gave; `None` if there is none.
    pub fn of_code(code: u32) -> Option<Compression> {
        Compression::ALL.into_iter().map(|(compression, _)| compression).find(|known| known.code() == code)
    }

    /// How names of such files end.
    pub(super) fn suffix(self) -> &'static str {
        Compression::ALL.into_iter().find(|(known, _)| *known == self).map_or("", |(_, suffix)| suffix)
    }

    /// Recognises compression by the first bytes of a file. A frame to skip may be one of Zstandard or of LZ4: what it is shows
    /// behind it.
    pub(super) fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Compression::Bzip2,
            // Without any text there are no blocks.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            [0x04, 0x22, 0x4d, 0x18, ..] => Compression::Lz4,
            _ => Compression::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_stored_collections() {
        let codes = Compression::ALL.map(|(compression, _)| compression.code());
        assert_eq!(codes, [0, 1, 2, 3, 4, 5]);
        for (compression, _) in Compression::ALL {
            assert_eq!(Compression::of_code(compression.code()), Some(compression));
        }
        assert_eq!(Compression::of_code(6), None);
    }

    #[test]
    fn compression_is_known_by_its_magic() {
        assert_eq!(Compression::of(b"\x1f\x8b\x08"), Compression::Gzip);
        assert_eq!(Compression::of(b"\x28\xb5\x2f\xfd"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x5a\x2a\x4d\x18"), Compression::Zstd);
        assert_eq!(Compression::of(b"\x28\xb5\x2f"), Compression::None);
        assert_eq!(Compression::of(b"BZh91AY&SY"), Compression::Bzip2);
        assert_eq!(Compression::of(b"BZh is a text"), Compression::None);
        assert_eq!(Compression::of(b"\xfd7zXZ\0\0"), Compression::Xz);
        assert_eq!(Compression::of(b"\x04\x22\x4d\x18\x64"), Compression::Lz4);
        assert_eq!(Compression::of(b"\x02\x21\x4c\x18"), Compression::None);
        assert_eq!(Compression::of(b""), Compression::None);
    }
}
