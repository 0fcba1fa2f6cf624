//! Formats that are known, and not read: what to do with such a file instead.

use memchr::memmem;

use crate::read::format::Compression;
use crate::read::head::{FileHead, begins_arrow_stream, behind_prolog, has_too_many_zeros};
use crate::read::payload::PackageKind;

/// A format that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) struct Foreign {
    magic: &'static [u8],
    name: &'static str,
    instead: &'static str,
}

const UNPACK: &str = "decompress it, or pack it as gzip or zstd";
/// As a file is read again that was packed twice.
const UNPACK_ONCE: &str = "decompress it once; what comes of it is read as it is";
const EXTRACT: &str = "extract its text first";
const CONVERT: &str = "convert it to JSON Lines or CSV";
const UNZIP: &str = "unpack it, and name its folder";
const ZIP: &str = "zip";
const ZIP_WITHIN: &str = "decompress it: what is in it stands at its end";
const SAVE: &str = "save it as DOCX or ODT, without a password, or its tables as CSV";
#[cfg(not(feature = "office"))]
const BUILD: &str =
    "this build has no documents of this kind: build alike with --features full, or extract its text first";

#[cfg(not(feature = "pdf"))]
const PDF_INSTEAD: &str =
    "this build has no PDF: build alike with --features full, or extract its text first";

const PARQUET: &[u8] = b"PAR1";
#[cfg(feature = "parquet")]
const PARQUET_INSTEAD: &str = "decompress it: what it is stands at its end";
#[cfg(not(feature = "parquet"))]
const PARQUET_INSTEAD: &str = "this build has no Parquet: build alike with --features full, or convert it to JSON Lines \
                               or CSV";
const ARROW: &[u8] = b"ARROW1\0\0";
#[cfg(feature = "parquet")]
const ARROW_INSTEAD: &str = "decompress it: its parts are read where they stand";
#[cfg(not(feature = "parquet"))]
const ARROW_INSTEAD: &str =
    "this build has no Arrow: build alike with --features full, or convert it to JSON Lines or CSV";

/// Arrow, which is a stream where it does not begin as its files do.
const ARROW_FILE: Foreign = Foreign { magic: ARROW, name: "Arrow", instead: ARROW_INSTEAD };

/// A file of bzip2 in another.
const BZIP2: Foreign = Foreign { magic: b"BZh", name: "bzip2 within another", instead: UNPACK_ONCE };

/// All that are known, by their first bytes; some of these may be text.
static KNOWN: &[Foreign] = &[
    Foreign { magic: b"\x1f\x9d", name: "compress", instead: UNPACK },
    Foreign { magic: b"\x5d\0\0", name: "LZMA of the form before xz", instead: UNPACK },
    Foreign { magic: b"\x02\x21\x4c\x18", name: "LZ4 of the legacy form", instead: UNPACK },
    Foreign { magic: b"\x04\x22\x4d\x18", name: "LZ4 within another", instead: UNPACK_ONCE },
    Foreign { magic: b"\x1f\x8b", name: "gzip within another", instead: UNPACK_ONCE },
    Foreign { magic: b"\x28\xb5\x2f\xfd", name: "zstd within another", instead: UNPACK_ONCE },
    Foreign { magic: b"\xfd7zXZ\0", name: "xz within another", instead: UNPACK_ONCE },
    Foreign { magic: b"PK\x03\x04", name: ZIP, instead: UNZIP },
    Foreign { magic: b"PK\x05\x06", name: ZIP, instead: UNZIP },
    Foreign { magic: b"7z\xbc\xaf\x27\x1c", name: "7z", instead: UNZIP },
    Foreign { magic: PARQUET, name: "Parquet", instead: PARQUET_INSTEAD },
    Foreign { magic: b"PARE", name: "Parquet with an encrypted footer", instead: "decrypt it" },
    ARROW_FILE,
    Foreign { magic: b"FEA1", name: "Feather 1", instead: "write it again as Feather 2" },
    Foreign { magic: b"Obj\x01", name: "Avro", instead: CONVERT },
    #[cfg(not(feature = "pdf"))]
    Foreign { magic: b"%PDF-", name: "PDF", instead: PDF_INSTEAD },
    Foreign { magic: b"\xd0\xcf\x11\xe0", name: "Microsoft Office", instead: SAVE },
    Foreign { magic: b"<?xml", name: "XML", instead: CONVERT },
];

/// Formats that may begin as a text does, and go on with what is none.
const BINARY: &[Foreign] = &[
    Foreign { magic: b"ORC", name: "ORC", instead: "write it again as Parquet" },
    Foreign { magic: b"GIF8", name: "GIF", instead: EXTRACT },
    Foreign { magic: b"\xff\xd8\xff", name: "JPEG", instead: EXTRACT },
    Foreign { magic: b"\x89PNG\r\n", name: "PNG", instead: EXTRACT },
    Foreign { magic: b"SQLite format 3\0", name: "SQLite", instead: "write its table as CSV or JSON Lines" },
    Foreign { magic: b"\x89HDF\r\n", name: "HDF5", instead: CONVERT },
    Foreign { magic: b"\x93NUMPY", name: "NumPy", instead: CONVERT },
    Foreign { magic: b"Rar!\x1a\x07", name: "RAR", instead: UNZIP },
];
/// What stands before frames of Zstandard that are packed with its help.
const DICTIONARY: &[u8] = b"\x5d\x2a\x4d\x18";
/// A crawl so packed.
pub(super) const WITH_DICTIONARY: Foreign = Foreign {
    magic: DICTIONARY,
    name: "Zstandard with a dictionary before it",
    instead: "decompress it with that, and pack it as gzip or zstd",
};
/// Rows of a table that are in other files.
pub(super) const SUMMARY: Foreign =
    Foreign { magic: PARQUET, name: "summary of other files of Parquet", instead: "name these" };

/// How a pointer to a file begins that git keeps elsewhere.
const POINTER_LINE: &[u8] = b"version https://git-lfs.github.com/spec/v1";
/// Such a pointer.
const POINTER: Foreign = Foreign {
    magic: POINTER_LINE,
    name: "Git LFS pointer",
    instead: "fetch the file itself with git lfs pull",
};
/// A text whose name says that it is something else.
const MISNAMED: Foreign = Foreign {
    magic: b"",
    name: "text",
    instead: "fetch or copy it again, or leave it out; --input-format text reads it as one text",
};
/// What is no text in a set of 8-bit characters, and has no mark that says of which set it is.
const NUL: Foreign = Foreign {
    magic: b"\0",
    name: "binary, or UTF-16 without its mark",
    instead: "make UTF-8 of it, as iconv -f UTF-16LE -t UTF-8 does, or leave it out",
};
/// Pictures and lists of news without the declaration of XML.
const MARKUP: Foreign = Foreign { magic: b"<", name: "XML", instead: CONVERT };
/// How those begin.
const ROOTS: [&[u8]; 4] = [b"<svg", b"<rss", b"<feed", b"<rdf:RDF"];
/// Printed pages.
const POSTSCRIPT: Foreign =
    Foreign { magic: b"%!PS", name: "PostScript", instead: "make a PDF of it, as ps2pdf does" };
/// An array of records.
const ARRAY: Foreign =
    Foreign { magic: b"[", name: "JSON array", instead: "make it JSON Lines, as jq -c '.[]' does" };
/// Records between marks of their own (RFC 7464).
const SEQUENCE: Foreign = Foreign {
    magic: b"\x1e{",
    name: "JSON text sequence",
    instead: "make it JSON Lines, as tr -d '\\036' does",
};
/// A record of several lines.
const OBJECT: Foreign =
    Foreign { magic: b"{", name: "JSON over several lines", instead: "make it JSON Lines, as jq -c . does" };
/// Messages of mail between lines of their own.
const MMDF: Foreign = Foreign {
    magic: b"\x01\x01\x01\x01",
    name: "MMDF",
    instead: "write it as mbox, as mutt and the module mailbox of Python do",
};
/// Messages of mail from an old Macintosh.
const OF_CR: Foreign = Foreign {
    magic: b"From ",
    name: "mbox whose lines end in CR",
    instead: "make these line feeds, as tr '\\r' '\\n' does",
};
/// Messages of mail that begin where no blank line says so.
const UNPARTED: Foreign = Foreign {
    magic: b"From ",
    name: "mbox without blank lines between messages",
    instead: "put them there, as formail -ds does; --input-format mbox divides it at blank lines",
};
/// How names of files end, in lower case, that are no plain text, whoever wrote them.
const NO_TEXT: [&str; 45] = [
    "parquet", "arrow", "arrows", "feather", "ipc", "avro", "orc", "warc", "wet", "wat", "arc", "mbox",
    "docx", "docm", "dotx", "odt", "ott", "epub", "xlsx", "xlsm", "xls", "ods", "pptx", "odp", "zip", "7z",
    "rar", "jar", "exe", "dll", "so", "sqlite", "npy", "npz", "png", "jpg", "jpeg", "gif", "webp", "mp3",
    "mp4", "wav", "pdf", "hdf5", "h5",
];

impl Foreign {
    /// What a file is that is not what it is called, or JSON that is no JSON Lines: `is_plain` says that it is taken for one text.
    pub(in crate::read) fn of_text(head: &FileHead, is_plain: bool) -> Option<Foreign> {
        // Whoever says what a file is has looked at it.
        if head.said().is_some() {
            return None;
        }
        let is_no_text = || head.extension().is_some_and(|end| NO_TEXT.contains(&end));
        match head.content() {
            content if content.starts_with(POINTER_LINE) => Some(POINTER),
            content if is_plain && is_of_zeros(content, head.is_called_text()) => Some(NUL),
            _ if head.is_called_text() => None,
            content if is_plain && is_markup(content, head.extension()) => Some(MARKUP),
            content if is_plain && content.starts_with(POSTSCRIPT.magic) => Some(POSTSCRIPT),
            content if is_plain && content.starts_with(MMDF.magic) => Some(MMDF),
            content if is_plain && content.starts_with(OF_CR.magic) && is_of_cr(content) => Some(OF_CR),
            _ if is_plain && (is_no_text() || head.is_called_compressed_only()) => Some(MISNAMED),
            content if content.starts_with(SEQUENCE.magic) => Some(SEQUENCE),
            _ if head.is_array() => Some(ARRAY),
            _ if head.is_object_of_lines() => Some(OBJECT),
            _ => None,
        }
    }

    /// What an mbox is of which no message but the first can be found.
    pub(in crate::read) fn of_mail(head: &FileHead) -> Option<Foreign> {
        let is_said = head.said().is_some();
        (!is_said && has_unparted(head.content())).then_some(UNPARTED)
    }

    /// The format of a file that begins so. Parquet, Arrow and zip that are compressed as a whole cannot be read at their ends
    /// and their parts, as they have to be; what is zip otherwise and is not read is a package.
    pub(in crate::read) fn of(head: &[u8], is_compressed: bool) -> Option<Foreign> {
        let is_read = |format: &Foreign| {
            cfg!(feature = "parquet") && [PARQUET, ARROW].contains(&format.magic) && !is_compressed
        };
        let known = KNOWN.iter().copied().find(|format| head.starts_with(format.magic));
        // Its first letters alone may be those of a text.
        let bzip2 = || (Compression::of(head) == Compression::Bzip2).then_some(BZIP2);
        let within = |format: Foreign| match format.name == ZIP && is_compressed {
            true => Foreign { instead: ZIP_WITHIN, ..format },
            false => format,
        };
        let stream = || begins_arrow_stream(head).then_some(ARROW_FILE);
        let is_text = || std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
        let binary = || BINARY.iter().copied().find(|format| head.starts_with(format.magic));
        let binary = || binary().filter(|_| head.contains(&0) || !is_text());
        known.or_else(bzip2).or_else(stream).or_else(binary).filter(|format| !is_read(format)).map(within)
    }

    /// How such a file begins.
    pub(super) const fn magic(&self) -> &'static [u8] {
        self.magic
    }

    /// What the format is called.
    pub(in crate::read) fn name(self) -> &'static str {
        self.name
    }

    /// The format of a package that is not read; `None` if it is.
    pub(in crate::read) fn of_package(kind: PackageKind) -> Option<Foreign> {
        let (name, instead) = match kind {
            #[cfg(feature = "office")]
            PackageKind::Docx | PackageKind::Odt | PackageKind::Epub => return None,
            #[cfg(not(feature = "office"))]
            PackageKind::Docx => ("DOCX", BUILD),
            #[cfg(not(feature = "office"))]
            PackageKind::Odt => ("ODT", BUILD),
            #[cfg(not(feature = "office"))]
            PackageKind::Epub => ("EPUB", BUILD),
            PackageKind::Sheet => ("spreadsheet", "save its tables as CSV"),
            PackageKind::Slides => ("presentation", EXTRACT),
            PackageKind::OpenDocument => ("OpenDocument other than a text", EXTRACT),
        };
        Some(Foreign { magic: b"PK\x03\x04", name, instead })
    }

    /// What the format is, and what to do with the file.
    pub(in crate::read) fn reason(self) -> String {
        if self == POINTER {
            return format!("a Git LFS pointer, which stands for a file that is elsewhere; {}", self.instead);
        }
        if self == MISNAMED {
            return format!("text, and not what its name says; {}", self.instead);
        }
        if self == SUMMARY {
            return format!("a {}, which has no rows; {}", self.name, self.instead);
        }
        format!("a file in the format {}, which alike does not read as it is; {}", self.name, self.instead)
    }
}

/// Whether it has zero bytes, and no mark that says why: one, or of what is called a text too many.
fn is_of_zeros(content: &[u8], is_called_text: bool) -> bool {
    let is_too_many = if is_called_text { has_too_many_zeros(content) } else { content.contains(&0) };
    !content.starts_with(b"\xff\xfe") && !content.starts_with(b"\xfe\xff") && is_too_many
}

/// Whether it is XML that is no text: called so, or with a type, a namespace, or the root of a kind that is known.
fn is_markup(content: &[u8], extension: Option<&str>) -> bool {
    let begins = content.trim_ascii_start();
    let root = behind_prolog(begins);
    let is_known = ROOTS.iter().any(|known| {
        let behind = root.strip_prefix(*known).and_then(<[u8]>::first);
        behind.is_some_and(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace())
    });
    let is_named = |tag: &&[u8]| matches!(tag, [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':', ..]);
    let tag = memchr::memchr(b'>', root).map(|end| &root[..end]).filter(is_named).unwrap_or_default();
    let has_namespace =
        memmem::find_iter(tag, b" xmlns").any(|at| matches!(tag.get(at + 6), Some(b'=' | b':')));
    let has_type = begins.get(..9).is_some_and(|begins| begins.eq_ignore_ascii_case(b"<!DOCTYPE"));
    is_known || has_namespace || has_type || extension == Some("xml") && begins.starts_with(b"<")
}

/// Whether the lines of an mbox end in CR, by its first ones: its second begins with the name of a header.
fn is_of_cr(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\r');
    memchr::memchr(b'\n', content).is_none() && lines.nth(1).is_some_and(is_header)
}

/// Whether a line is a header.
fn is_header(line: &[u8]) -> bool {
    let colon = line.iter().position(|byte| *byte == b':').unwrap_or_default();
    colon > 0 && line[..colon].iter().all(u8::is_ascii_graphic)
}

/// Whether messages begin behind other lines than blank ones, and none behind a blank one: at lines with a time that headers follow.
fn has_unparted(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut before = lines.next().unwrap_or_default();
    let mut lines = lines.peekable();
    let mut is_any = false;
    while let Some(line) = lines.next() {
        let has_time = || {
            line.windows(5).any(|time| {
                let digits = [time[0], time[1], time[3], time[4]];
                time[2] == b':' && digits.iter().all(u8::is_ascii_digit)
            })
        };
        let has_year = || {
            line.split(u8::is_ascii_whitespace)
                .any(|word| matches!(word, [b'1' | b'2', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9']))
        };
        if line.starts_with(b"From ")
            && has_time()
            && has_year()
            && lines.peek().is_some_and(|next| is_header(next))
        {
            if before.is_empty() {
                return false;
            }
            is_any = true;
        }
        before = line;
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        for (head, name) in [
            (&b"\x1f\x9d\x90"[..], "compress"),
            #[cfg(not(feature = "pdf"))]
            (b"%PDF-1.4", "PDF"),
            (b"PK\x03\x04\x14\0", "zip"),
            (b"PK\x05\x06\0\0", "zip"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"ORC\x08\0", "ORC"),
            (b"\x89PNG\r\n\x1a\n", "PNG"),
        ] {
            let reason = Foreign::of(head, true).expect(name).reason();
            assert!(reason.contains(&format!("format {name},")) && reason.contains("; "), "{reason}");
        }
        assert_eq!(Foreign::of(b"PAR1\x15\x04", false).is_none(), cfg!(feature = "parquet"));
        assert_eq!(Foreign::of(b"ORCHIDS and other flowers", false), None);
        assert_eq!(Foreign::of(b"\0\xff", false), None);
        assert_eq!(Foreign::of(b"", false), None);
    }
}
