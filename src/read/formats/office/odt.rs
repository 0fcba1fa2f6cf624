//! ODT to its text: paragraphs as a reader sees them, with the notes behind the body.

use super::markup::{Markup, OpenTag, each_piece};
use super::package::OfficePackage;
use crate::read::formats::text_parts::{TextPart, TextParts};
use crate::read::record::Refusal;

/// Elements whose content is no text: what was deleted, comments, marks of notes, titles of pictures, and code.
const UNSEEN: [&[u8]; 7] = [
    b"annotation",
    b"binary-data",
    b"desc",
    b"event-listeners",
    b"note-citation",
    b"script",
    b"tracked-changes",
];

/// As many spaces in a row as are text.
const SPACES: &str = "                ";

/// The text of a document.
///
/// # Errors
/// Those of the package and its markup.
pub(super) fn odt_text(package: &mut OfficePackage<'_>, text: &mut String) -> Result<(), Refusal> {
    let mut reader = OpenTextReader::default();
    let content = package.needed("content.xml")?;
    reader.read("content.xml", &content, Some(TextPart::Body))?;
    drop(content);
    // Headers and footers belong to the styles of pages.
    if let Some(styles) = package.member("styles.xml")? {
        reader.read("styles.xml", &styles, None)?;
    }
    reader.parts.join(text);
    Ok(())
}

/// Takes the text out of the markup of a part.
#[derive(Default)]
struct OpenTextReader {
    parts: TextParts,
    /// Where text goes: nowhere, the body, or a header and within that a note.
    into: Vec<TextPart>,
    /// Where the header or footer begins.
    start: usize,
    /// How many elements are open within one that is not seen, itself included.
    unseen: usize,
    /// How many paragraphs are open.
    paragraphs: usize,
}

impl OpenTextReader {
    fn read(&mut self, name: &str, bytes: &[u8], into: Option<TextPart>) -> Result<(), Refusal> {
        self.into = into.into_iter().collect();
        (self.unseen, self.paragraphs) = (0, 0);
        each_piece(name, bytes, &mut |piece| {
            match piece {
                Markup::Open(tag) => self.open(&tag),
                Markup::Close(name) => self.close(name),
                Markup::Text(text) => self.write(text),
            }
            Ok(())
        })
    }

    fn write(&mut self, text: &str) {
        if let Some(part) = self.into.last().filter(|_| self.unseen == 0 && self.paragraphs > 0) {
            self.parts.of(*part).push_str(text);
        }
    }

    fn open(&mut self, tag: &OpenTag<'_>) {
        let name = tag.name();
        if self.unseen > 0 || is_unseen(name, tag) {
            self.unseen += 1;
            return;
        }
        match name {
            b"p" | b"h" => {
                if let Some(part) = self.into.last() {
                    self.parts.begin_line(*part);
                }
                self.paragraphs += 1;
            }
            b"tab" => self.write("\t"),
            b"line-break" => self.write("\n"),
            b"s" => self.spaces(tag),
            b"note" => {
                let end = tag.attribute("note-class").is_some_and(|class| class == "endnote");
                self.into.push(if end { TextPart::Endnote } else { TextPart::Footnote });
            }
            name => {
                if let Some(part) = aside(name).filter(|_| self.into.is_empty()) {
                    self.start = self.parts.of(part).len();
                    self.into.push(part);
                }
            }
        }
    }

    /// Spaces of a number that the document names: it may name any, and no comparison counts them.
    fn spaces(&mut self, tag: &OpenTag<'_>) {
        let said = tag.attribute("c").and_then(|count| count.parse::<usize>().ok());
        self.write(&SPACES[..said.unwrap_or(1).min(SPACES.len())]);
    }

    fn close(&mut self, name: &[u8]) {
        if self.unseen > 0 {
            self.unseen -= 1;
            return;
        }
        match name {
            b"p" | b"h" => {
                self.write("\n");
                self.paragraphs -= 1;
            }
            b"note" => {
                self.into.pop();
            }
            name => {
                // Within a part of the body such an element is none of a page.
                if let Some(part) = aside(name).filter(|part| self.into == [*part]) {
                    self.parts.end_aside(part, self.start);
                    self.into.pop();
                }
            }
        }
    }
}

/// Whether nothing of an element is seen.
fn is_unseen(name: &[u8], tag: &OpenTag<'_>) -> bool {
    match name {
        b"hidden-text" => tag.attribute("is-hidden").is_some_and(|hidden| hidden == "true"),
        b"section" | b"header" | b"footer" | b"header-left" | b"footer-left" | b"header-first"
        | b"footer-first" => {
            tag.attribute("display").is_some_and(|shown| matches!(&*shown, "none" | "false"))
        }
        // Of a picture, and not the field that shows the title of the document.
        b"title" => !tag.has_prefix("text"),
        name => UNSEEN.contains(&name),
    }
}

/// What an element of the styles of pages is.
fn aside(name: &[u8]) -> Option<TextPart> {
    match name {
        b"header" | b"header-left" | b"header-first" => Some(TextPart::Header),
        b"footer" | b"footer-left" | b"footer-first" => Some(TextPart::Footer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str, styles: &str) -> Result<String, Refusal> {
        let mut reader = OpenTextReader::default();
        let content = format!("<c><a:automatic-styles>x</a:automatic-styles> <o:text>{body}</o:text></c>");
        reader.read("c", content.as_bytes(), Some(TextPart::Body))?;
        reader.read("s", format!("<s><p>x</p>{styles}</s>").as_bytes(), None)?;
        let mut text = String::new();
        reader.parts.join(&mut text);
        Ok(text)
    }

    #[test]
    fn paragraphs_are_lines() {
        assert_eq!(
            text(
                "<t:h>a</t:h>\n<t:p>b<t:span>c</t:span><t:tab/>d<t:s t:c=\"3\"/>e<t:s/><t:line-break/>f</t:p>",
                ""
            ),
            Ok("a\nbc\td   e \nf\n".to_owned())
        );
        assert_eq!(
            text(
                "<table><row><cell><p>a</p></cell><cell><p>b</p></cell></row></table><p>c<frame><p>d</p></frame></p>",
                ""
            ),
            Ok("a\nb\nc\nd\n\n".to_owned())
        );
    }

    #[test]
    fn what_a_reader_does_not_see_is_no_text() {
        let body = "<tracked-changes><deletion><p>x</p></deletion></tracked-changes>\
            <p>a<annotation><creator>x</creator><p>x</p></annotation>b<frame><title>x</title><desc>x</desc></frame>\
            <hidden-text is-hidden=\"true\">x</hidden-text><script>x</script><text:title>c</text:title></p><section display=\"none\"><p>x</p></section>\
            <index-title-template>x</index-title-template>";
        assert_eq!(text(body, ""), Ok("abc\n".to_owned()));
    }

    #[test]
    fn notes_and_headers_have_their_places() {
        let note = |class: &str, text: &str| {
            format!(
                "<note note-class=\"{class}\"><note-citation>1</note-citation><note-body><p>{text}</p></note-body></note>"
            )
        };
        let body = format!("<p>a{}b{}c</p>", note("endnote", "e"), note("footnote", "f"));
        let styles = "<header><p>h</p></header><header-left><p>h</p></header-left><footer><p>g</p></footer>\
            <header display=\"false\"><p>x</p></header><footer-first display=\"false\"><p>x</p></footer-first>";
        assert_eq!(text(&body, styles), Ok("h\nabc\nf\ne\ng\n".to_owned()));
    }

    #[test]
    fn spaces_have_an_end() {
        let long = text("<p>a<s c=\"4000000000\"/>b</p>", "");
        assert_eq!(long, Ok(format!("a{SPACES}b\n")));
        let many = "<s c=\"99999999999999999999\"/>";
        assert_eq!(text(&format!("<p>a{many}b</p>"), ""), Ok("a b\n".to_owned()));
    }
}
