//! What the headers of a part say of it.

use mail_parser::{ContentType, MessageParser as Messages, MessagePart, MimeHeaders};

use super::transfer::Transfer;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Plain,
    Html,
    Enriched,
    /// Text of any other kind: a table, a patch.
    OtherText,
    /// What no valid type names: text (RFC 2045, section 5.2), if its bytes may be one.
    Invalid,
    /// A message within the message.
    Message,
    /// A list of parts.
    List(ListKind),
    Other,
}

/// What kind of list parts stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Parts that say the same.
    Alternative,
    /// A part, and what it shows.
    Related,
    /// Messages.
    Digest,
    Other,
}

/// The media types that there are; others begin with `x-`.
const TYPES: [&str; 9] =
    ["application", "audio", "chemical", "font", "haptics", "image", "message", "model", "video"];

impl Media {
    /// What a media type names.
    fn named(media: &ContentType<'_>) -> Media {
        let subtype = media.subtype().unwrap_or_default();
        let is_token = |byte: &u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(byte);
        let subtype = &subtype[..subtype.bytes().take_while(|byte| is_token(byte)).count()];
        match (media.ctype(), subtype) {
            ("multipart", kind) => Media::List(match kind {
                "alternative" => ListKind::Alternative,
                "related" => ListKind::Related,
                "digest" => ListKind::Digest,
                _ => ListKind::Other,
            }),
            ("text", "plain" | "") => Media::Plain,
            ("text", "html") => Media::Html,
            ("text", "enriched" | "richtext") => Media::Enriched,
            ("text", _) => Media::OtherText,
            ("message", "rfc822" | "global") => Media::Message,
            (media, kind) if !kind.is_empty() && (TYPES.contains(&media) || media.starts_with("x-")) => {
                Media::Other
            }
            _ => Media::Invalid,
        }
    }

    /// Whether it is text, if its bytes do not say otherwise.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Media::Plain | Media::Html | Media::Enriched | Media::OtherText | Media::Invalid)
    }
}

/// What the headers of a part say of it.
#[derive(Debug)]
pub(super) struct PartHead {
    pub(super) media: Media,
    pub(super) transfer: Transfer,
    /// The name of its character set.
    pub(super) charset: Option<Box<str>>,
    /// What stands between parts, if it is a list of such.
    pub(super) delimiter: Option<Box<[u8]>>,
    pub(super) is_attachment: bool,
    /// Whether it is the content of a file of some name.
    pub(super) has_name: bool,
}

impl PartHead {
    /// What a text without headers is.
    pub(super) fn plain() -> PartHead {
        PartHead::of(None, ListKind::Other)
    }

    /// What headers say of a part of such a list.
    pub(super) fn read(headers: &[u8], list: ListKind) -> PartHead {
        let parsed = Messages::default().parse_headers(headers);
        PartHead::of(parsed.as_ref().and_then(|message| message.parts.first()), list)
    }

    /// The same of headers that were read.
    pub(super) fn of(part: Option<&MessagePart<'_>>, list: ListKind) -> PartHead {
        let media = part.and_then(MimeHeaders::content_type);
        let transfer = part.and_then(MimeHeaders::content_transfer_encoding);
        let disposition = part.and_then(MimeHeaders::content_disposition);
        let unnamed = if list == ListKind::Digest { Media::Message } else { Media::Plain };
        let delimiter = media.and_then(|media| media.attribute("boundary")).map(str::trim_end);
        PartHead {
            media: media.map_or(unnamed, Media::named),
            transfer: transfer.map_or(Transfer::Plain, Transfer::named),
            charset: media.and_then(charset).map(Into::into),
            delimiter: delimiter
                .filter(|delimiter| !delimiter.is_empty())
                .map(|delimiter| delimiter.as_bytes().into()),
            is_attachment: disposition.is_some_and(ContentType::is_attachment),
            has_name: media.is_some_and(|media| media.has_attribute("name")),
        }
    }
}

/// The character set that a media type names, also where another sign than a semicolon stands before it.
fn charset<'a>(media: &'a ContentType<'_>) -> Option<&'a str> {
    let misplaced = || Some(media.subtype()?.split_once("charset=")?.1.trim_matches(['"', '\'', ' ']));
    media.attribute("charset").or_else(misplaced)
}
