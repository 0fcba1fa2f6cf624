//! What a package is by its beginning: a zip file that holds one document.

use std::borrow::Cow;
use std::io::Read;

use memchr::memmem;

/// How the head of a member begins.
const MEMBER: &[u8] = b"PK\x03\x04";
/// Bytes of the head of a member without its name.
const HEAD: usize = 30;
/// Most bytes looked at of a list of the types of parts.
const LIST: u64 = 256 << 10;

/// The document that a package is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum PackageKind {
    /// A document of Word.
    Docx,
    /// A text in the OpenDocument format.
    Odt,
    /// A book.
    Epub,
    /// A spreadsheet.
    Sheet,
    /// A presentation.
    Slides,
    /// Any other OpenDocument.
    OpenDocument,
}

/// The types that the member `mimetype` says.
const MIMETYPES: [(&str, PackageKind); 7] = [
    ("application/epub+zip", PackageKind::Epub),
    ("application/vnd.oasis.opendocument.text", PackageKind::Odt),
    ("application/vnd.oasis.opendocument.text-template", PackageKind::Odt),
    ("application/vnd.oasis.opendocument.spreadsheet", PackageKind::Sheet),
    ("application/vnd.oasis.opendocument.spreadsheet-template", PackageKind::Sheet),
    ("application/vnd.oasis.opendocument.presentation", PackageKind::Slides),
    ("application/vnd.oasis.opendocument.presentation-template", PackageKind::Slides),
];
/// The types of the main part, as the list of types has them.
const MAIN_PARTS: [(&[u8], PackageKind); 7] = [
    (b"wordprocessingml.document.main+xml", PackageKind::Docx),
    (b"wordprocessingml.template.main+xml", PackageKind::Docx),
    (b"ms-word.document.macroEnabled.main+xml", PackageKind::Docx),
    (b"ms-word.template.macroEnabledTemplate.main+xml", PackageKind::Docx),
    (b"spreadsheetml.", PackageKind::Sheet),
    (b"ms-excel.", PackageKind::Sheet),
    (b"presentationml.", PackageKind::Slides),
];

/// Whether bytes begin like a package.
pub(in crate::read) fn begins_package(bytes: &[u8]) -> bool {
    bytes.starts_with(MEMBER)
}

/// What a package is whose first bytes these are, if they tell it. The member `mimetype`, or the list of types, says it; where
/// neither is among these bytes, names of members do.
pub(in crate::read) fn package_kind(bytes: &[u8]) -> Option<PackageKind> {
    let mut rest = bytes;
    let mut named = None;
    while let Some(member) = ZipMember::first(rest) {
        let said = match member.name {
            b"mimetype" if member.whole => by_mimetype(&member.content()),
            b"[Content_Types].xml" => by_main_part(&member.content()),
            _ => None,
        };
        if said.is_some() {
            return said;
        }
        named = named.or_else(|| by_name(member.name));
        rest = member.behind;
    }
    named
}

fn is_of_program(name: &[u8]) -> bool {
    matches!(name, b"META-INF/MANIFEST.MF" | b"AndroidManifest.xml")
}

/// Whether a member of this name makes a package of a zip file.
pub(in crate::read) fn is_package_part(name: &[u8]) -> bool {
    by_name(name).is_some() || is_of_program(name)
}

/// Whether a package whose first bytes these are holds a program, as jar and apk do.
pub(in crate::read) fn holds_program(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(member) = ZipMember::first(rest) {
        if is_of_program(member.name) {
            return true;
        }
        rest = member.behind;
    }
    false
}

/// A member, as far as it is there.
struct ZipMember<'a> {
    name: &'a [u8],
    deflated: bool,
    data: &'a [u8],
    /// Whether all of it is there.
    whole: bool,
    /// What follows it.
    behind: &'a [u8],
}

impl<'a> ZipMember<'a> {
    /// The member that bytes begin with.
    fn first(bytes: &'a [u8]) -> Option<ZipMember<'a>> {
        let head = bytes.get(..HEAD).filter(|head| head.starts_with(MEMBER))?;
        let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let (flags, method, name, more) =
            (short(6), short(8), usize::from(short(26)), usize::from(short(28)));
        let size = u32::from_le_bytes([head[18], head[19], head[20], head[21]]) as usize;
        let data = bytes.get(HEAD + name + more..)?;
        // A size that was not known yet stands behind the data: then the next head is looked for.
        let known = flags & 8 == 0 || size > 0;
        let end = if known { size.min(data.len()) } else { memmem::find(data, MEMBER).unwrap_or(data.len()) };
        let whole = !known || size <= data.len();
        let (data, behind) = data.split_at(end);
        Some(ZipMember { name: &bytes[HEAD..HEAD + name], deflated: method == 8, data, whole, behind })
    }

    /// Its content, as far as it is there and is bounded.
    fn content(&self) -> Cow<'a, [u8]> {
        if !self.deflated {
            return Cow::Borrowed(self.data);
        }
        let mut content = Vec::new();
        let decoder = flate2::bufread::DeflateDecoder::new(self.data);
        // What damage leaves of it is enough.
        let _ = decoder.take(LIST).read_to_end(&mut content);
        Cow::Owned(content)
    }
}

fn by_mimetype(content: &[u8]) -> Option<PackageKind> {
    let said = std::str::from_utf8(content).ok()?.trim();
    let known = MIMETYPES.iter().find(|(name, _)| *name == said).map(|(_, kind)| *kind);
    let other = said.starts_with("application/vnd.oasis.opendocument.").then_some(PackageKind::OpenDocument);
    known.or(other)
}

fn by_main_part(content: &[u8]) -> Option<PackageKind> {
    // What is embedded has types without `.main`.
    let main = |part: &&(&[u8], PackageKind)| {
        memmem::find_iter(content, part.0).any(|at| {
            let quote = content[at..].iter().position(|byte| *byte == b'"').unwrap_or(content.len() - at);
            content[at..at + quote].ends_with(b".main+xml")
        })
    };
    MAIN_PARTS.iter().find(main).map(|(_, kind)| *kind)
}

/// What the name of a member says: nobody else calls a part so.
fn by_name(name: &[u8]) -> Option<PackageKind> {
    match name {
        b"word/document.xml" | b"word/styles.xml" | b"word/_rels/document.xml.rels" => {
            Some(PackageKind::Docx)
        }
        b"xl/workbook.xml" | b"xl/styles.xml" | b"xl/_rels/workbook.xml.rels" => Some(PackageKind::Sheet),
        b"ppt/presentation.xml" | b"ppt/_rels/presentation.xml.rels" => Some(PackageKind::Slides),
        b"META-INF/container.xml" => Some(PackageKind::Epub),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A member: as it is, deflated, or deflated with its size behind it.
    fn member(name: &str, content: &[u8], how: u8) -> Vec<u8> {
        let data = match how {
            0 => content.to_vec(),
            _ => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(content).expect("compressed");
                encoder.finish().expect("compressed")
            }
        };
        let size = if how == 2 { 0 } else { u32::try_from(data.len()).expect("short") };
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(MEMBER);
        head[6] = if how == 2 { 8 } else { 0 };
        head[8] = if how == 0 { 0 } else { 8 };
        head[18..22].copy_from_slice(&size.to_le_bytes());
        head[26] = u8::try_from(name.len()).expect("short");
        let behind: &[u8] = if how == 2 { b"PK\x07\x08sizes" } else { b"" };
        [&head[..], name.as_bytes(), &data, behind].concat()
    }

    #[test]
    fn packages_say_what_they_are() {
        let types = |main: &str| {
            format!(
                "<Types><Default ContentType=\"x.spreadsheetml.sheet\"/><Override ContentType=\"vnd.{main}\"/></Types>"
            )
        };
        for how in [0, 1, 2] {
            for (name, content, kind) in [
                ("mimetype", "application/epub+zip".to_owned(), PackageKind::Epub),
                ("mimetype", "application/vnd.oasis.opendocument.text\n".to_owned(), PackageKind::Odt),
                (
                    "mimetype",
                    "application/vnd.oasis.opendocument.graphics".to_owned(),
                    PackageKind::OpenDocument,
                ),
                ("[Content_Types].xml", types("a.wordprocessingml.document.main+xml"), PackageKind::Docx),
                ("[Content_Types].xml", types("ms-word.document.macroEnabled.main+xml"), PackageKind::Docx),
                ("[Content_Types].xml", types("a.spreadsheetml.sheet.main+xml"), PackageKind::Sheet),
                ("[Content_Types].xml", types("a.presentationml.slideshow.main+xml"), PackageKind::Slides),
            ] {
                let alone = member(name, content.as_bytes(), how);
                assert_eq!(package_kind(&alone), Some(kind), "{content} {how}");
                let behind = [member("docProps/thumbnail.jpeg", &[7; 999], how), alone.clone()].concat();
                assert_eq!(package_kind(&behind), Some(kind), "{content} {how}");
                if name == "mimetype" && how < 2 {
                    let cut = (0..alone.len()).map(|length| package_kind(&alone[..length]));
                    assert!(cut.into_iter().all(|kind| kind.is_none()), "{content} {how}");
                }
                let named = [member("xl/workbook.xml", b"x", how), alone].concat();
                assert_eq!(package_kind(&named), Some(kind), "{content} {how}");
            }
        }
        assert_eq!(package_kind(&member("word/document.xml", b"x", 2)), Some(PackageKind::Docx));
    }

    #[test]
    fn other_zip_files_are_no_packages() {
        for (name, content) in
            [("a.txt", "x"), ("mimetype", "text/plain"), ("word/a.txt", "x"), ("[Content_Types].xml", "x")]
        {
            let bytes = member(name, content.as_bytes(), 1);
            assert_eq!((package_kind(&bytes), holds_program(&bytes)), (None, false), "{name}");
            let manifest = [&bytes[..], &member("META-INF/MANIFEST.MF", b"x", 1)].concat();
            assert!(holds_program(&manifest), "{name}");
            assert!((0..bytes.len()).all(|length| package_kind(&bytes[..length]).is_none()), "{name}");
        }
    }
}
