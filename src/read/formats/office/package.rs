//! The members of a package: found by their names, and unpacked within limits.

use std::collections::BTreeSet;
use std::io::{Cursor, Read};

use memchr::memmem;
use zip::ZipArchive;
use zip::result::ZipError;

use super::kind::Office;
use crate::limits::MAX_PACKAGE_MEMBERS;
use crate::read::record::Refusal;

/// How names of members end that hold text or say what others are. No other member is unpacked.
const TEXTS: [&str; 8] = [".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", "mimetype"];
/// The members of an OpenDocument text that are unpacked.
const OF_ODT: [&str; 3] = ["content.xml", "meta.xml", "styles.xml"];
/// Folders of a document of Word whose members are not unpacked, whatever it says they are, in lower case.
const UNREAD_FOLDERS: [&str; 5] = ["charts", "customxml", "diagrams", "embeddings", "theme"];
/// Its members that are not unpacked either.
const UNREAD_NAMES: [&str; 6] = [
    "fonttable.xml",
    "numbering.xml",
    "settings.xml",
    "styles.xml",
    "styleswitheffects.xml",
    "websettings.xml",
];

/// The most bytes that a deflated byte may be: four repeated stretches of the greatest length.
const MOST_OF_DEFLATED: u64 = 4 * 258;

/// A package that is open.
pub(super) struct OfficePackage<'a> {
    /// What it is, which says which members may be unpacked.
    kind: Office,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that may be unpacked.
    most: usize,
    /// Bytes that were.
    unpacked: usize,
    /// The members that were, by their places in the directory: none is unpacked twice, or a short package could unpack to a
    /// long text.
    taken: BTreeSet<usize>,
}

/// What the directory of a package ends with.
const END: &[u8] = b"PK\x05\x06";

impl<'a> OfficePackage<'a> {
    /// Opens the package of a kind that bytes are, of which at most `most` bytes are unpacked in all.
    ///
    /// # Errors
    /// [`Refusal::Malformed`].
    pub(super) fn open(kind: Office, bytes: &'a [u8], most: usize) -> Result<OfficePackage<'a>, Refusal> {
        // Each member in the directory takes memory. Their heads are counted before they are believed.
        if memmem::find_iter(bytes, b"PK\x01\x02").nth(MAX_PACKAGE_MEMBERS).is_some() {
            let what = format!("a package of more than {MAX_PACKAGE_MEMBERS} members");
            return Err(Refusal::Malformed(what));
        }
        if memmem::rfind(bytes, END).is_none() {
            let what = "no package, or one that is cut off: its directory stands at its end, and is not there; get the file again";
            return Err(Refusal::Malformed(what.to_owned()));
        }
        let malformed = |error: ZipError| Refusal::Malformed(format!("a package that is damaged: {error}"));
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(malformed)?;
        Ok(OfficePackage { kind, archive, most, unpacked: 0, taken: BTreeSet::new() })
    }

    /// How many bytes all members take that may be unpacked: what the directory says, as far as what is packed can be that.
    pub(super) fn weight(&self) -> u64 {
        let entries = (0..self.archive.len()).filter_map(|at| self.archive.by_index_data(at).ok());
        let read = entries.filter(|entry| {
            std::str::from_utf8(entry.name_raw()).is_ok_and(|name| may_be_unpacked(self.kind, name))
        });
        read.fold(0, |sum, entry| sum.saturating_add(at_most_unpacked(entry.size(), entry.compressed_size())))
    }

    /// The content of a member; `None` if there is none of that name.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] if it cannot be unpacked, [`Refusal::TooLong`] if all is more than is allowed.
    pub(super) fn member(&mut self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(index) = self.archive.index_for_name(name) else { return Ok(None) };
        let malformed = |why: &str| Refusal::Malformed(format!("the part {name} {why}"));
        if !may_be_unpacked(self.kind, name) {
            return Err(malformed("is named like no text"));
        }
        if !self.taken.insert(index) {
            return Err(malformed("is named twice"));
        }
        let left = self.most - self.unpacked;
        let unreadable = |error: &dyn std::fmt::Display| malformed(&format!("cannot be unpacked: {error}"));
        let file = self.archive.by_index(index).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => malformed("is encrypted"),
            error => unreadable(&error),
        })?;
        let size = file.size();
        if size > left as u64 {
            return Err(Refusal::TooLong { limit: self.most });
        }
        let mut content = Vec::new();
        file.take(size + 1).read_to_end(&mut content).map_err(|error| unreadable(&error))?;
        if content.len() as u64 != size {
            return Err(malformed("is not as long as the package says"));
        }
        self.unpacked += content.len();
        Ok(Some(content))
    }

    /// Lets as much be unpacked again as before: what was is gone.
    pub(super) fn start_over(&mut self) {
        self.unpacked = 0;
        self.taken.clear();
    }

    /// The content of a member that no package of its kind lacks.
    ///
    /// # Errors
    /// Those of [`OfficePackage::member`].
    pub(super) fn needed(&mut self, name: &str) -> Result<Vec<u8>, Refusal> {
        let missing = || Refusal::Malformed(format!("the package lacks the part {name}"));
        self.member(name)?.ok_or_else(missing)
    }
}

/// The bytes that a member unpacks to at most: as many as it says, if so few deflated bytes can be that.
fn at_most_unpacked(said: u64, packed: u64) -> u64 {
    said.min(packed.saturating_mul(MOST_OF_DEFLATED))
}

/// Whether a member of a name may be unpacked: nothing else counts, and nothing else is read.
fn may_be_unpacked(kind: Office, name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_text = TEXTS.iter().any(|end| lower.ends_with(end));
    is_text
        && match kind {
            Office::Odt => OF_ODT.contains(&name),
            Office::Docx => {
                let (folders, last) = lower.rsplit_once('/').unwrap_or(("", &lower));
                let unread = folders.split('/').any(|folder| UNREAD_FOLDERS.contains(&folder));
                !unread && !UNREAD_NAMES.contains(&last)
            }
            Office::Epub => true,
        }
}

/// The name of the member that a reference of another one leads to: relative to its folder, or from the root. What reaches
/// out of the package leads nowhere.
pub(super) fn resolved(from: &str, reference: &str) -> Option<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    let (mut folders, path): (Vec<&str>, &str) = match reference.strip_prefix('/') {
        Some(path) => (Vec::new(), path),
        None => (from.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(), reference),
    };
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                folders.pop()?;
            }
            name => folders.push(name),
        }
    }
    Some(folders.join("/")).filter(|name| !name.is_empty())
}

/// A reference without its escapes of the form `%20`.
pub(super) fn unescaped(reference: &str) -> String {
    let bytes = reference.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let escape = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| reference.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_read_is_unpacked() {
        let may = |kind, names: &[&str]| -> Vec<bool> {
            names.iter().map(|name| may_be_unpacked(kind, name)).collect()
        };
        let docx = ["_rels/.rels", "word/document.xml", "word/header1.xml", "docProps/core.xml"];
        assert_eq!(may(Office::Docx, &docx), [true; 4]);
        let unread = ["customXml/item1.xml", "word/theme/theme1.xml", "word/styles.xml", "word/media/a.png"];
        assert_eq!(may(Office::Docx, &unread), [false; 4]);
        assert_eq!(
            may(Office::Odt, &["content.xml", "styles.xml", "Object 1/content.xml", "META-INF/manifest.xml"]),
            [true, true, false, false]
        );
        assert_eq!(may(Office::Epub, &["styles.xml", "OPS/theme/a.xhtml", "a.css"]), [true, true, false]);
    }

    #[test]
    fn a_lying_length_weighs_what_it_can_be() {
        assert_eq!(at_most_unpacked(134_217_517, 500), 516_000);
        assert_eq!(at_most_unpacked(1000, 500), 1000);
        assert_eq!(at_most_unpacked(0, u64::MAX), 0);
        assert_eq!(at_most_unpacked(7, u64::MAX), 7);
    }

    #[test]
    fn references_lead_to_members() {
        for (from, reference, name) in [
            ("word/document.xml", "footnotes.xml", Some("word/footnotes.xml")),
            ("word/document.xml", "/word/header1.xml", Some("word/header1.xml")),
            ("a/b/c.opf", "../t/x.xhtml#p", Some("a/t/x.xhtml")),
            ("content.opf", "./x.html", Some("x.html")),
            ("content.opf", "../x.html", None),
            ("a/c.opf", "", Some("a")),
            ("c.opf", "", None),
        ] {
            assert_eq!(resolved(from, reference).as_deref(), name, "{from} {reference}");
        }
        for (escaped, plain) in
            [("a%20b", "a b"), ("%c3%A9", "\u{e9}"), ("%", "%"), ("%zz%2", "%zz%2"), ("%ff", "%ff")]
        {
            assert_eq!(unescaped(escaped), plain);
        }
    }
}
