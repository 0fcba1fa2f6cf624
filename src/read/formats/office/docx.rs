//! DOCX to its text: runs of text as a reader sees them, with the notes behind the body.

use super::markup::{Markup, OpenTag, each_piece};
use super::package::{OfficePackage, resolved};
use crate::read::formats::text_parts::{TextPart, TextParts};
use crate::read::record::Refusal;

/// Where the parts of a package are said to be that everything else follows from.
const ROOT: &str = "_rels/.rels";

/// The text of a document.
///
/// # Errors
/// Those of the package and its markup.
pub(super) fn docx_text(package: &mut OfficePackage<'_>, text: &mut String) -> Result<(), Refusal> {
    let main = relations(package, "", ROOT)?.into_iter().find(|(kind, _)| kind == "officeDocument");
    let no_main = || Refusal::Malformed("a package without a main document".to_owned());
    let (_, main) = main.ok_or_else(no_main)?;
    let mut parts = TextParts::default();
    read_part(package, &main, TextPart::Body, &mut parts)?;
    let (folder, name) = main.rsplit_once('/').map_or(("", &*main), |(folder, name)| (folder, name));
    let beside = format!("{folder}/_rels/{name}.rels");
    let mut others = relations(package, &main, beside.trim_start_matches('/'))?;
    // Programs list them in any order.
    others.sort_by(|(_, a), (_, b)| a.len().cmp(&b.len()).then(a.cmp(b)));
    others.dedup();
    for (kind, name) in others {
        let part = match &*kind {
            "header" => TextPart::Header,
            "footer" => TextPart::Footer,
            "footnotes" => TextPart::Footnote,
            "endnotes" => TextPart::Endnote,
            _ => continue,
        };
        let start = parts.of(part).len();
        read_part(package, &name, part, &mut parts)?;
        if matches!(part, TextPart::Header | TextPart::Footer) {
            parts.end_aside(part, start);
        }
    }
    parts.join(text);
    Ok(())
}

/// The parts that another one names: what each is to it, and its name. None if it names none.
pub(super) fn relations(
    package: &mut OfficePackage<'_>,
    from: &str,
    list: &str,
) -> Result<Vec<(String, String)>, Refusal> {
    let mut found = Vec::new();
    let Some(bytes) = package.member(list)? else { return Ok(found) };
    each_piece(list, &bytes, &mut |piece| {
        if let Markup::Open(tag) = piece
            && tag.name() == b"Relationship"
            && tag.attribute("TargetMode").is_none_or(|mode| mode != "External")
            && let (Some(kind), Some(target)) = (tag.attribute("Type"), tag.attribute("Target"))
            && let Some(name) = resolved(from, &target)
        {
            found.push((kind.rsplit('/').next().unwrap_or_default().to_owned(), name));
        }
        Ok(())
    })?;
    Ok(found)
}

fn read_part(
    package: &mut OfficePackage<'_>,
    name: &str,
    part: TextPart,
    parts: &mut TextParts,
) -> Result<(), Refusal> {
    let bytes = package.needed(name)?;
    parts.begin_line(part);
    let mut reader = WordReader::new(parts.of(part));
    each_piece(name, &bytes, &mut |piece| {
        match piece {
            Markup::Open(tag) => reader.open(&tag),
            Markup::Close(name) => reader.close(name),
            Markup::Text(text) if reader.within_text => reader.write(text),
            Markup::Text(_) => {}
        }
        Ok(())
    })
}

/// What properties belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PropertiesOf {
    Paragraph,
    Run,
    Other,
}

/// Takes the text out of the markup of a part.
struct WordReader<'a> {
    text: &'a mut String,
    /// How many elements are open within one that is not seen, itself included.
    unseen: usize,
    /// The same within properties, and what these belong to.
    properties: usize,
    properties_of: PropertiesOf,
    /// Whether an element is open whose characters are text.
    within_text: bool,
    /// Whether the run is hidden.
    hidden: bool,
    /// Whether the end of the paragraph was deleted, so that it goes on with the next one.
    joined: bool,
}

impl WordReader<'_> {
    fn new(text: &mut String) -> WordReader<'_> {
        let properties_of = PropertiesOf::Other;
        let (within_text, hidden, joined) = (false, false, false);
        WordReader { text, unseen: 0, properties: 0, properties_of, within_text, hidden, joined }
    }

    fn write(&mut self, text: &str) {
        if self.unseen == 0 && self.properties == 0 && !self.hidden {
            self.text.push_str(text);
        }
    }

    fn open(&mut self, tag: &OpenTag<'_>) {
        let name = tag.name();
        if self.unseen > 0 {
            self.unseen += 1;
            return;
        }
        if self.properties > 0 {
            self.properties += 1;
            self.property(name, tag);
            return;
        }
        match name {
            // What was deleted or moved away, and the older form of what stands there in a newer one.
            b"del" | b"moveFrom" | b"Fallback" => self.unseen = 1,
            b"pPr" => (self.properties, self.properties_of) = (1, PropertiesOf::Paragraph),
            b"rPr" => (self.properties, self.properties_of) = (1, PropertiesOf::Run),
            name if name.ends_with(b"Pr") => (self.properties, self.properties_of) = (1, PropertiesOf::Other),
            b"p" => self.begin_paragraph(),
            b"r" => self.hidden = false,
            b"t" => self.within_text = true,
            b"tab" | b"ptab" => self.write("\t"),
            b"br" | b"cr" => self.write("\n"),
            b"noBreakHyphen" => self.write("-"),
            b"sym" => self.symbol(tag),
            _ => {}
        }
    }

    /// Begins a line, unless one begins anyway or the paragraph before goes on.
    fn begin_paragraph(&mut self) {
        let goes_on = std::mem::take(&mut self.joined);
        if !goes_on && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn property(&mut self, name: &[u8], tag: &OpenTag<'_>) {
        match (self.properties_of, self.properties, name) {
            // Deeper down stand properties of before a change.
            (PropertiesOf::Run, 2, b"vanish") if tag.is_on("val") => self.hidden = true,
            (PropertiesOf::Paragraph, 3, b"del" | b"moveFrom") => self.joined = true,
            _ => {}
        }
    }

    /// A character of a font. Fonts of symbols have theirs where Unicode has none.
    fn symbol(&mut self, tag: &OpenTag<'_>) {
        let number = tag.attribute("char").and_then(|number| u32::from_str_radix(&number, 16).ok());
        let symbol = number.filter(|number| !(0xe000..0xf900).contains(number)).and_then(char::from_u32);
        if let Some(symbol) = symbol {
            self.write(symbol.encode_utf8(&mut [0; 4]));
        }
    }

    fn close(&mut self, name: &[u8]) {
        if self.unseen > 0 {
            self.unseen -= 1;
            return;
        }
        if self.properties > 0 {
            self.properties -= 1;
            return;
        }
        match name {
            b"t" => self.within_text = false,
            b"r" => self.hidden = false,
            b"p" if !self.joined => self.text.push('\n'),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> String {
        let mut text = String::new();
        let mut reader = WordReader::new(&mut text);
        each_piece("x", format!("<w:document>{body}</w:document>").as_bytes(), &mut |piece| {
            match piece {
                Markup::Open(tag) => reader.open(&tag),
                Markup::Close(name) => reader.close(name),
                Markup::Text(text) if reader.within_text => reader.write(text),
                Markup::Text(_) => {}
            }
            Ok(())
        })
        .expect("XML");
        text
    }

    #[test]
    fn runs_are_joined_and_paragraphs_are_lines() {
        assert_eq!(
            text(
                "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t></w:r><w:r><w:t>b &amp;</w:t><w:tab/>\
                 <w:t>c</w:t><w:br/><w:noBreakHyphen/><w:sym w:char=\"F0B7\"/><w:sym w:char=\"3b1\"/></w:r></w:p>\
                 <w:tbl><w:tr><w:tc><w:p><w:r><w:t>d</w:t></w:r></w:p></w:tc>\
                 <w:tc><w:p><w:r><w:t>e</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
            ),
            "ab &\tc\n-\u{3b1}\nd\ne\n"
        );
        assert_eq!(
            text(
                "<w:p><w:r><w:t>a</w:t><w:txbxContent><w:p><w:r><w:t>b</w:t></w:r></w:p></w:txbxContent></w:r></w:p>"
            ),
            "a\nb\n\n"
        );
    }

    #[test]
    fn what_was_deleted_is_no_text() {
        let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
        assert_eq!(
            text(&format!(
                "<w:p>{}<w:del><w:r><w:delText>x</w:delText></w:r>{}</w:del><w:ins>{}</w:ins><w:moveFrom>{}</w:moveFrom>\
                 <w:moveTo>{}</w:moveTo></w:p>",
                run("a"),
                run("x"),
                run("b"),
                run("x"),
                run("c")
            )),
            "abc\n"
        );
        let joined = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>";
        assert_eq!(
            text(&format!("<w:p>{joined}{}</w:p><w:p>{}</w:p><w:p>{}</w:p>", run("a"), run("b"), run("c"))),
            "ab\nc\n"
        );
        assert_eq!(
            text(&format!("<w:p>{joined}</w:p><w:p>{}</w:p><w:p>{}</w:p>", run("a"), run("b"))),
            "a\nb\n"
        );
    }

    #[test]
    fn what_is_hidden_or_stands_twice_is_no_text() {
        assert_eq!(
            text(
                "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t><w:tab/></w:r><w:r><w:rPr><w:vanish w:val=\"0\"/></w:rPr>\
                 <w:t>a</w:t></w:r><w:r><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr><w:t>b</w:t></w:r>\
                 <w:r><w:instrText>x</w:instrText><mc:AlternateContent><mc:Choice><w:t>c</w:t></mc:Choice>\
                 <mc:Fallback><w:t>x</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
            ),
            "abc\n"
        );
    }
}
