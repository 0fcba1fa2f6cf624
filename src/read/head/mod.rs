//! The beginning of a file, by which its format is recognised.

mod beginning;

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memmem};
use serde::de::IgnoredAny;

use super::BOM;
use super::bytes::open_unknown;
use super::format::{Compression, Delimiter, FormatHint, FormatName};
#[cfg(feature = "office")]
use super::payload::begins_package;
use super::payload::{PackageKind, holds_program, package_kind};
use super::source::Source;
use super::windowed::packing_is_damaged;
use crate::limits::MAX_METADATA_BYTES;
use crate::remote::ObjectUrl;
use beginning::first_byte;
pub(super) use beginning::{HEAD_BYTES, behind_prolog, wanted};

/// How names of files end, in lower case, whose content alone tells what they are.
const BY_CONTENT: [&str; 8] = ["arc", "mbox", "sgm", "sgml", "trec", "warc", "wet", "xml"];
/// How names of packages end: documents, programs, and numbers.
const PACKAGES: [&str; 44] = [
    "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xlsb", "xltx", "xltm", "pptx", "pptm", "potx", "ppsx",
    "vsdx", "odt", "ott", "ods", "ots", "odp", "otp", "odg", "odf", "epub", "pages", "numbers", "key", "jar",
    "war", "ear", "aar", "apk", "aab", "ipa", "xpi", "whl", "nupkg", "vsix", "appx", "msix", "npz", "pt",
    "pth", "keras", "kmz",
];

/// In texts no more than one byte of so many is zero: some are what some program left.
const ZEROS: usize = 4;

/// How a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// Someone named it.
    Named,
    /// It stands in a folder that someone named.
    Walked,
}

/// The name of a file, or of what a URL leads to: whoever signs one writes behind it.
fn file_name(path: &Path) -> Option<String> {
    match ObjectUrl::of(path).filter(|url| !url.is_listed()) {
        Some(url) => {
            let name = url.key().split(['?', '#']).next()?;
            Some(name.rsplit('/').next()?.to_owned())
        }
        None => Some(path.file_name()?.to_string_lossy().into_owned()),
    }
}

/// The end of a file's name, in lower case, without that of the compression.
fn extension(path: &Path) -> Option<String> {
    let name = file_name(path)?.to_lowercase();
    let packed =
        Compression::ALL.iter().filter_map(|(_, suffix)| Some(suffix).filter(|suffix| !suffix.is_empty()));
    let name = packed.filter_map(|suffix| name.strip_suffix(suffix)).next().unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_owned())
}

/// Whether a name ends as those of compressed files do.
pub(super) fn says_compressed(path: &Path) -> bool {
    let Some(name) = file_name(path) else { return false };
    let end = name.rsplit_once('.').map(|(_, end)| format!(".{}", end.to_lowercase()));
    end.is_some_and(|end| Compression::ALL.iter().any(|(_, suffix)| *suffix == end))
}

/// Whether some bytes begin like a stream of Arrow. The field of a message that names what it brings stands near its beginning.
pub(super) fn begins_arrow_stream(bytes: &[u8]) -> bool {
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let brings = || {
        let root = 8 + usize::try_from(word(8)?).ok()?;
        let slots = usize::try_from(root as i64 - i64::from(word(root)? as i32)).ok()?;
        let field = bytes.get(slots + 6..slots + 8)?;
        bytes.get(root + usize::from(u16::from_le_bytes([field[0], field[1]]))).copied()
    };
    let length = word(4).map_or(0, u64::from);
    word(0) == Some(u32::MAX) && (1..=MAX_METADATA_BYTES).contains(&length) && brings() == Some(1)
}

/// What a file is recognised by: its decompressed beginning, its name, and how it was found.
pub(super) struct FileHead {
    bytes: Vec<u8>,
    /// Whether that is all of it.
    whole: bool,
    /// Whether there is something, and nothing of it can be decompressed.
    lost: bool,
    /// The end of the name, in lower case, without that of the compression.
    extension: Option<String>,
    found: FoundBy,
    hint: FormatHint,
    /// Whether the file is compressed.
    compressed: bool,
    /// Whether its name says that it is.
    called_compressed: bool,
    /// What it is, if it is a package.
    package: Option<PackageKind>,
    /// Whether it stands where a Maildir has its messages.
    in_maildir: bool,
}

/// Whether more of some bytes are zero than of any text: one in so many.
pub(super) fn has_too_many_zeros(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0, bytes).count() > bytes.len() / ZEROS
}

/// Whether a folder is one that mail is delivered to: it has `cur`, `new` and `tmp`.
pub(super) fn is_maildir(folder: &Path) -> bool {
    ["cur", "new", "tmp"].iter().all(|name| folder.join(name).is_dir())
}

/// Whether a file stands where a Maildir has its messages: in `cur` or `new` of it.
fn is_message_of_maildir(path: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let Some(folder) = path.parent() else { return false };
    let is_called = folder.file_name().is_some_and(|name| name == "cur" || name == "new");
    is_called && folder.parent().is_some_and(is_maildir)
}

impl FileHead {
    /// Reads the head. What damage leaves of a compressed one is taken: reading will refuse the rest in its place.
    pub(super) fn read(source: &Source, found: FoundBy, hint: FormatHint) -> io::Result<FileHead> {
        // What is damaged is told when it is read.
        let mut input = open_unknown(source)?;
        let extension = extension(&source.path);
        let compressed = source.compression != Compression::None;
        let (bytes, whole, package) = (Vec::new(), false, None);
        let called_compressed = says_compressed(&source.path);
        let in_maildir = !source.is_remote() && is_message_of_maildir(&source.path);
        let mut head = FileHead {
            bytes,
            whole,
            lost: false,
            extension,
            found,
            hint,
            compressed,
            called_compressed,
            package,
            in_maildir,
        };
        let mut outcome = Ok(());
        while outcome.is_ok() && !head.whole {
            match wanted(&head.bytes) {
                0 => break,
                more => outcome = head.extend(&mut input, more),
            }
        }
        head.package = package_kind(&head.bytes);
        match outcome {
            Err(error) if !packing_is_damaged(source, &error) => return Err(error),
            Err(_) => head.lost = head.is_empty(),
            Ok(()) => {}
        }
        Ok(head)
    }

    /// The head of a file that stands in an archive, as if it was found in a folder: `content` is all of it, or at least as much
    /// as is [`wanted`] of it.
    pub(super) fn of_member(path: &str, content: &[u8], whole: bool) -> FileHead {
        let mut length = 0;
        while length < content.len() {
            match wanted(&content[..length]) {
                0 => break,
                more => length = content.len().min(length + more),
            }
        }
        FileHead {
            bytes: content[..length].to_vec(),
            whole: whole && length == content.len(),
            lost: false,
            extension: extension(Path::new(path)),
            found: FoundBy::Walked,
            hint: FormatHint::default(),
            compressed: false,
            called_compressed: says_compressed(Path::new(path)),
            package: package_kind(&content[..length]),
            in_maildir: false,
        }
    }

    /// The end of the file's name, in lower case, without that of the compression.
    pub(super) fn extension(&self) -> Option<&str> {
        self.extension.as_deref()
    }

    /// What the file is, if it is a package of documents.
    pub(super) fn package(&self) -> Option<PackageKind> {
        self.package
    }

    /// Whether the file begins like a package, as far as it is there, does not say what it is, and has such a name.
    #[cfg(feature = "office")]
    pub(super) fn is_called_package(&self, extensions: &[&str]) -> bool {
        let begins = begins_package(&self.bytes) || !self.is_empty() && b"PK\x03".starts_with(&self.bytes);
        let named = self.extension().is_some_and(|extension| extensions.contains(&extension));
        begins && named && self.package.is_none()
    }

    /// Whether the file begins like a zip archive: with a member, with its end, or as a part of a divided one that is whole.
    pub(super) fn begins_zip(&self) -> bool {
        let begins: [&[u8]; 4] = [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK", b"PK00PK"];
        begins.iter().any(|begin| self.bytes.starts_with(begin))
    }

    /// Whether the file is a package of anything, or is called so: it is no archive to whoever made it.
    pub(super) fn is_package(&self) -> bool {
        let is_called = self.extension().is_some_and(|extension| PACKAGES.contains(&extension));
        self.package.is_some() || is_called && self.begins_zip() || holds_program(&self.bytes)
    }

    /// Whether the file stands where a Maildir has its messages.
    pub(super) fn is_in_maildir(&self) -> bool {
        self.in_maildir
    }

    /// Whether the file is compressed.
    pub(super) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The format that whoever named the file says it has.
    pub(super) fn said(&self) -> Option<FormatName> {
        self.hint.format.filter(|_| self.is_named())
    }

    /// The format that named files have, if this one was found in a folder.
    pub(super) fn said_of_named(&self) -> Option<FormatName> {
        self.hint.format.filter(|_| !self.is_named())
    }

    /// The delimiter that is said to be that of CSV.
    pub(super) fn delimiter(&self) -> Option<Delimiter> {
        self.hint.delimiter
    }

    /// Whether someone named the file.
    pub(super) fn is_named(&self) -> bool {
        self.found == FoundBy::Named
    }

    /// Whether nothing of the file can be decompressed, and its name is that of a format which content alone tells: it is counted, and not
    /// passed over as what is no document.
    pub(super) fn is_lost(&self) -> bool {
        self.lost && self.extension().is_some_and(|extension| BY_CONTENT.contains(&extension))
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn extend(&mut self, input: &mut impl Read, bytes: usize) -> io::Result<()> {
        // Without the room a small file is read by pieces of a few bytes.
        self.bytes.reserve(bytes.min(HEAD_BYTES) + 1);
        let read = input.take(bytes as u64).read_to_end(&mut self.bytes)?;
        self.whole = read < bytes;
        Ok(())
    }

    /// The beginning as it stands.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The beginning without a byte order mark.
    pub(super) fn content(&self) -> &[u8] {
        self.bytes.strip_prefix(BOM).unwrap_or(&self.bytes)
    }

    /// The same behind the declarations and comments with which XML and SGML begin.
    pub(super) fn behind_prolog(&self) -> &[u8] {
        behind_prolog(self.content())
    }

    /// Whether it begins like JSON, or a later line of it does: one bad line does not make a text of the others.
    pub(super) fn has_json_records(&self) -> bool {
        let mut lines = self.content().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut any = || lines.any(|line| line.starts_with(b"{\"") && line.ends_with(b"}"));
        // Most texts have no such bytes anywhere, which is seen at once.
        self.first_byte() == Some(b'{') || memmem::find(self.content(), b"{\"").is_some() && any()
    }

    /// The first byte that is not blank.
    fn first_byte(&self) -> Option<u8> {
        first_byte(self.content())
    }

    /// Whether the first line that is not blank is a JSON object.
    pub(super) fn is_json_record(&self) -> bool {
        let line = self.content().trim_ascii_start();
        let end = match memchr(b'\n', line) {
            Some(end) => end,
            None if self.whole => line.len(),
            None => return false,
        };
        let Ok(text) = std::str::from_utf8(&line[..end]) else { return false };
        text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    /// Whether it is one array of objects or strings, as far as it is known. A text that begins with a bracket soon stops being
    /// JSON; one that goes on with a quotation may not, so of strings the first has to be whole.
    pub(super) fn is_array(&self) -> bool {
        let content = self.content().trim_ascii();
        let within = content.strip_prefix(b"[").unwrap_or_default();
        let may_be = match first_byte(within) {
            Some(b'{') => true,
            Some(b'"') => serde_json::Deserializer::from_slice(within)
                .into_iter::<IgnoredAny>()
                .next()
                .is_some_and(|first| first.is_ok()),
            _ => false,
        };
        may_be && self.first_value().is_some_and(|array| self.ends_or_goes_on(content, array.len()))
    }

    /// Whether content ends behind its first array, or another one follows in another line.
    fn ends_or_goes_on(&self, content: &[u8], end: usize) -> bool {
        let behind = &content[end..];
        let next = behind.trim_ascii_start();
        let mut values = serde_json::Deserializer::from_slice(next).into_iter::<IgnoredAny>();
        next.is_empty()
            || next[0] == b'['
                && behind[..behind.len() - next.len()].contains(&b'\n')
                && values.next().is_some_and(|next| next.map_or_else(|e| e.is_eof() && !self.whole, |_| true))
    }

    /// Whether its first JSON object goes on in a second line.
    pub(super) fn is_object_of_lines(&self) -> bool {
        self.first_byte() == Some(b'{')
            && memchr(b'\n', self.content().trim_ascii()).is_some()
            && self.first_value().is_some_and(|object| memchr(b'\n', object).is_some())
    }

    /// The JSON value that it begins with, as far as it is known.
    fn first_value(&self) -> Option<&[u8]> {
        let content = self.content().trim_ascii();
        let mut values = serde_json::Deserializer::from_slice(content).into_iter::<IgnoredAny>();
        match values.next()? {
            Ok(_) => Some(&content[..values.byte_offset()]),
            Err(error) => (error.is_eof() && !self.whole).then_some(content),
        }
    }

    /// Whether the name says only that the file is compressed, and it is not.
    pub(super) fn is_called_compressed_only(&self) -> bool {
        self.called_compressed && !self.compressed && self.extension.is_none()
    }

    /// Whether that is all of it.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The beginning as text, if it is UTF-8 without NUL, without a character that its end cuts.
    pub(super) fn text_of_head(&self) -> Option<&str> {
        let content = self.content();
        let end = match std::str::from_utf8(content) {
            Ok(_) => content.len(),
            Err(error) => error.valid_up_to(),
        };
        std::str::from_utf8(&content[..end]).ok().filter(|_| self.is_text())
    }

    /// Whether that is all of it, and only one line is not blank.
    pub(super) fn is_one_line(&self) -> bool {
        self.whole && memchr(b'\n', self.content().trim_ascii()).is_none()
    }

    /// Whether it begins like Parquet, uncompressed.
    #[cfg(feature = "parquet")]
    pub(super) fn is_parquet(&self) -> bool {
        !self.compressed && self.bytes.starts_with(b"PAR1") && !self.is_text()
    }

    /// Whether it begins like a file of Arrow.
    #[cfg(feature = "parquet")]
    pub(super) fn is_arrow_file(&self) -> bool {
        self.bytes.starts_with(b"ARROW1\0\0")
    }

    /// Whether it begins like a stream of Arrow: with the length of a message, which says that it brings a schema.
    #[cfg(feature = "parquet")]
    pub(super) fn is_arrow_stream(&self) -> bool {
        begins_arrow_stream(&self.bytes)
    }

    /// Whether its name, or whoever named it, says that it is plain text.
    pub(super) fn is_called_text(&self) -> bool {
        let said = self.said().map(|FormatName(name)| name == "text");
        said.unwrap_or(matches!(self.extension(), Some("txt" | "text" | "md" | "markdown")))
    }

    /// Whether it has bytes that no text in a set of 8-bit characters has.
    pub(super) fn is_binary(&self) -> bool {
        memchr(0, &self.bytes).is_some()
    }

    /// Whether it is UTF-8 without NUL; a character that the end of the head cuts is none of its faults.
    pub(super) fn is_text(&self) -> bool {
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

    #[test]
    fn a_name_is_known_of_a_url_that_was_signed() {
        for (name, end) in [
            ("a/b.CSV", Some("csv")),
            ("a.b/c", None),
            ("https://host/a/b.jsonl.gz?X-Signature=a/b.c", Some("jsonl")),
            ("http://host/b.pdf#page=1", Some("pdf")),
            ("https://host/b?name=c.pdf", None),
            ("s3://bucket/a?b.csv", Some("csv")),
        ] {
            assert_eq!(extension(Path::new(name)).as_deref(), end, "{name}");
        }
        assert!(says_compressed(Path::new("https://host/a.jsonl.gz?sig=1.2")));
    }
}
