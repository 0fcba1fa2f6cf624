//! The markup of parts, piece by piece: elements by their local names, and text in which nothing is expanded but characters.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::limits::MAX_NESTING;
use crate::read::payload::markup_text;
use crate::read::record::Refusal;

/// A piece of markup.
pub(super) enum Markup<'a> {
    /// An element begins.
    Open(OpenTag<'a>),
    /// An element of that local name ends.
    Close(&'a [u8]),
    /// Text.
    Text(&'a str),
}

/// The tag that begins an element.
pub(super) struct OpenTag<'a>(&'a BytesStart<'a>);

impl OpenTag<'_> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }

    /// Whether the name has that prefix.
    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        self.0.name().prefix().is_some_and(|found| found.as_ref() == prefix.as_bytes())
    }

    /// The value of the first attribute of a local name.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let mut all = attributes.with_checks(false).filter_map(Result::ok);
        let found = all.find(|attribute| attribute.key.local_name().as_ref() == name.as_bytes())?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
    }

    /// Whether an attribute switches something on that its absence switches on, too.
    pub(super) fn is_on(&self, name: &str) -> bool {
        !matches!(self.attribute(name).as_deref(), Some("0" | "false" | "off"))
    }
}

/// Hands on all pieces of a part.
///
/// # Errors
/// [`Refusal::Malformed`], and what `each` gives.
pub(super) fn each_piece(
    part: &str,
    bytes: &[u8],
    each: &mut dyn FnMut(Markup<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let text = markup_text(bytes);
    let mut reader = Reader::from_str(&text);
    reader.config_mut().expand_empty_elements = true;
    let malformed = |place: u64, what: &dyn std::fmt::Display| {
        Refusal::Malformed(format!("the part {part} is no XML at byte {place}: {what}"))
    };
    let mut depth = 0;
    loop {
        let event = reader.read_event().map_err(|error| malformed(reader.error_position(), &error))?;
        let place = reader.buffer_position();
        let coded = |error: &dyn std::fmt::Display| malformed(place, error);
        match event {
            Event::Start(tag) => {
                depth += 1;
                if depth > MAX_NESTING {
                    return Err(malformed(
                        place,
                        &format!("more than {MAX_NESTING} elements within each other"),
                    ));
                }
                each(Markup::Open(OpenTag(&tag)))?;
            }
            Event::End(tag) => {
                depth -= 1;
                each(Markup::Close(tag.local_name().into_inner()))?;
            }
            Event::Text(text) => each(Markup::Text(&text.decode().map_err(|error| coded(&error))?))?,
            Event::CData(text) => each(Markup::Text(&text.decode().map_err(|error| coded(&error))?))?,
            Event::GeneralRef(name) => {
                let character = match name.resolve_char_ref() {
                    Ok(Some(character)) => character,
                    _ => predefined(&name),
                };
                each(Markup::Text(character.encode_utf8(&mut [0; 4])))?;
            }
            Event::Eof if depth == 0 => return Ok(()),
            Event::Eof => return Err(malformed(place, &"an element does not end")),
            _ => {}
        }
    }
}

/// The character of an entity that all XML has. Others are declared by the document, and nothing that is declared there counts.
fn predefined(name: &[u8]) -> char {
    match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(markup: &str) -> Result<String, Refusal> {
        let mut text = String::new();
        each_piece("a.xml", markup.as_bytes(), &mut |piece| {
            if let Markup::Text(piece) = piece {
                text.push_str(piece);
            }
            Ok(())
        })?;
        Ok(text)
    }

    #[test]
    fn characters_are_resolved_and_nothing_else() {
        assert_eq!(text("<a>&lt;&#65;&#x42;<![CDATA[<&amp;]]>&apos;</a>").as_deref(), Ok("<AB<&amp;'"));
        let bomb =
            "<!DOCTYPE a [<!ENTITY b \"xxxx\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]><a>&b;&c;&#0;</a>";
        assert_eq!(text(bomb).as_deref(), Ok("\u{fffd}\u{fffd}\u{fffd}"));
    }

    #[test]
    fn broken_markup_is_refused() {
        for broken in ["<a>", "<a></b>", "<a", "</a>", "<a>&</a>", "<a><!--", "<a><b></a></b>"] {
            assert!(matches!(text(broken), Err(Refusal::Malformed(_))), "{broken}");
        }
        let nested = |depth: usize| format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(text(&nested(MAX_NESTING)).as_deref(), Ok("x"));
        assert!(text(&nested(MAX_NESTING + 1)).is_err());
    }

    #[test]
    fn attributes_have_local_names() {
        let mut found = Vec::new();
        each_piece("a.xml", b"<x:a y:b='1 &amp; 2' c=\"\"/>", &mut |piece| {
            if let Markup::Open(tag) = piece {
                found.push((tag.attribute("b"), tag.attribute("c"), tag.attribute("d"), tag.is_on("b")));
            }
            Ok(())
        })
        .expect("XML");
        assert_eq!(found, [(Some("1 & 2".to_owned()), Some(String::new()), None, true)]);
    }
}
