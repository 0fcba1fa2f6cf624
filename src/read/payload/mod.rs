//! What text the bytes of a media type are: character sets, HTML, what HTTP wraps them in, and which document a package is.

mod charset;
mod headers;
mod html;
mod http;
mod main_text;
mod markup_reader;
mod quotation;
mod zip_head;

use std::borrow::Cow;

use super::record::Refusal;
#[cfg(feature = "office")]
use charset::declared_in_xml;
use charset::decode;
pub(super) use charset::utf_16_of_markup;

pub(super) use headers::HeaderLines;
use html::html_title;
pub(super) use html::{ShownText, html_text, looks_like_html};
pub(super) use http::Response;
pub(super) use zip_head::{PackageKind, begins_package, holds_program, is_package_part, package_kind};

/// Whether bytes are HTML, other text, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MediaKind {
    Html,
    Text,
    Other,
}

impl MediaKind {
    /// The kind of a media type, as a Content-Type header has it; without one, what the bytes look like.
    fn of(media: Option<&str>, bytes: &[u8]) -> MediaKind {
        let name = media.map(|media| media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        match name.as_deref() {
            Some("text/html" | "application/xhtml+xml") => MediaKind::Html,
            Some(
                "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/x-javascript",
            ) => MediaKind::Text,
            Some(name) if name.starts_with("text/") => MediaKind::Text,
            Some(name) if name.ends_with("+xml") || name.ends_with("+json") => MediaKind::Text,
            // Servers that do not know say these.
            None | Some("" | "unk" | "no-type" | "application/unknown" | "application/octet-stream") => {
                MediaKind::by_content(bytes)
            }
            Some(_) => MediaKind::Other,
        }
    }

    fn by_content(bytes: &[u8]) -> MediaKind {
        if looks_like_html(bytes) {
            MediaKind::Html
        } else if std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0')) {
            MediaKind::Text
        } else {
            MediaKind::Other
        }
    }
}

/// The text that bytes of a media type are; HTML without its tags. Bytes that are none in their character set become
/// replacement characters.
///
/// # Errors
/// [`Refusal::NoTextIn`].
pub(super) fn text<'a>(
    media: Option<&str>,
    bytes: &'a [u8],
    of: ShownText,
    copy: &'a mut String,
) -> Result<&'a str, Refusal> {
    let kind = MediaKind::of(media, bytes);
    if kind == MediaKind::Other {
        return Err(Refusal::no_text_in(media.map_or("bytes of no known type", shown)));
    }
    let declared = media.and_then(charset_of);
    let decoded = decode(bytes, declared, kind == MediaKind::Html);
    match (kind, decoded) {
        (MediaKind::Html, markup) => {
            of.take(&markup, is_xhtml(media), copy);
            Ok(copy)
        }
        (_, Cow::Borrowed(text)) => Ok(text),
        (_, Cow::Owned(text)) => {
            *copy = text;
            Ok(copy)
        }
    }
}

/// The text of a page that is HTML whatever its media type says, which may still say its character set.
pub(super) fn page_text(media: Option<&str>, bytes: &[u8], of: ShownText, copy: &mut String) {
    of.take(&decode(bytes, media.and_then(charset_of), true), false, copy);
}

/// The text of bytes, or the markup if they are a page, of which something may name the character set.
pub(super) fn text_of_set<'a>(bytes: &'a [u8], charset: Option<&str>, is_page: bool) -> Cow<'a, str> {
    decode(bytes, charset, is_page)
}

/// Bytes of a character set that nothing names, as text.
pub(super) fn guessed_text(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes, None, false)
}

/// The markup that bytes of XML are. What counts is a byte order mark, and the character set that the declaration names.
#[cfg(feature = "office")]
pub(super) fn markup_text(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes, declared_in_xml(bytes), false)
}

/// The text of a page of a book: what stands in its body, since its title is not shown.
#[cfg(feature = "office")]
pub(super) fn book_page(bytes: &[u8], copy: &mut String) {
    let markup = decode(bytes, declared_in_xml(bytes), true);
    let body = markup.find("<body").unwrap_or_default();
    html_text(&markup[body..], true, copy);
}

/// The title of a page that is a file of HTML.
pub(super) fn page_title(bytes: &[u8]) -> Option<String> {
    html_title(&decode(bytes, None, true))
}

/// Whether a media type is XHTML, where tags are those of XML.
fn is_xhtml(media: Option<&str>) -> bool {
    media.is_some_and(|media| shown(media).eq_ignore_ascii_case("application/xhtml+xml"))
}

/// The parameter `charset` of a media type.
fn charset_of(media: &str) -> Option<&str> {
    media.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// A media type as it is shown.
fn shown(media: &str) -> &str {
    media.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(media: Option<&str>, bytes: &[u8]) -> Result<String, Refusal> {
        text(media, bytes, ShownText::All, &mut String::new()).map(str::to_owned)
    }

    #[test]
    fn media_types_say_what_is_text() {
        assert_eq!(read(Some("text/plain"), b"a <b>"), Ok("a <b>".into()));
        assert_eq!(read(Some("Text/HTML; charset=utf-8"), b"a<p>b"), Ok("a\nb".into()));
        assert_eq!(read(Some("application/ld+json"), b"{}"), Ok("{}".into()));
        assert_eq!(read(None, b" <!doctype html><p>a"), Ok(" \na".into()));
        assert_eq!(read(None, b"a"), Ok("a".into()));
        assert!(matches!(read(Some("image/png"), b"a"), Err(Refusal::NoTextIn(what)) if what == "image/png"));
        assert!(matches!(read(None, b"\x89PNG\0"), Err(Refusal::NoTextIn(_))));
    }

    #[test]
    fn character_sets_are_those_of_the_header() {
        assert_eq!(read(Some("text/plain; charset=ISO-8859-1"), b"\xe9"), Ok("\u{e9}".into()));
        assert_eq!(read(Some("text/plain; charset=\"koi8-r\""), b"\xc1"), Ok("\u{430}".into()));
        assert_eq!(read(Some("text/html;charset=Shift_JIS"), b"<b>\x93\xfa</b>"), Ok("\u{65e5}".into()));
    }
}
