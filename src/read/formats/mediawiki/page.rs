//! What a page says: its own elements, and those of its last revision.

use std::borrow::Cow;

use super::tags::{TagKind, XmlTag, attribute_value, next_tag, unescaped};
use crate::read::record::{Refusal, utf8};

/// How a page begins, and how it ends.
pub(super) const PAGE: &[u8] = b"<page>";
pub(super) const END: &[u8] = b"</page>";
/// How deep elements may be within each other. Those of exports are four deep.
const DEPTH: usize = 16;

/// The text of a revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WikiText<'a> {
    /// It was hidden, or the export is one without texts.
    #[default]
    Missing,
    /// As it stands in the file.
    Escaped(&'a str),
}

/// What a page says.
#[derive(Default)]
pub(super) struct WikiPage<'a> {
    /// Names and contents of its own elements, in their order.
    page: Vec<(&'a str, &'a str)>,
    /// Those of its last revision.
    revision: Vec<(&'a str, &'a str)>,
    text: WikiText<'a>,
    /// Where it leads to.
    redirect: Option<Cow<'a, str>>,
}

/// The text that an element without content is: none at all where it was hidden, or stands elsewhere.
fn text_without_content<'a>(tag: &XmlTag<'_>) -> WikiText<'a> {
    let said = |name| attribute_value(tag.attributes, name);
    let stands_elsewhere = said("bytes").is_some_and(|bytes| bytes != "0") || said("deleted").is_some();
    if stands_elsewhere { WikiText::Missing } else { WikiText::Escaped("") }
}

impl<'a> WikiPage<'a> {
    /// The page that bytes are, space around it left aside.
    ///
    /// # Errors
    /// The refusal of what is none.
    pub(super) fn of(raw: &'a [u8]) -> Result<WikiPage<'a>, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(what.to_owned());
        let record = raw.trim_ascii();
        let inner = record.strip_prefix(PAGE).ok_or_else(|| match PAGE.starts_with(record) {
            true => malformed("the file ends within a tag"),
            false => Refusal::no_text_in("what stands outside of pages"),
        })?;
        let inner = inner.strip_suffix(END).ok_or_else(|| malformed("a <page> without its </page>"))?;
        let (text, mut page) = (utf8(inner)?, WikiPage::default());
        page.read(text).map_err(malformed)?;
        Ok(page)
    }

    /// Takes what stands between the tags of a page.
    fn read(&mut self, text: &'a str) -> Result<(), &'static str> {
        let mut open: Vec<XmlTag<'a>> = Vec::new();
        let mut at = 0;
        while let Some(tag) = next_tag(text, at)? {
            at = tag.end;
            match tag.kind {
                TagKind::Open if open.len() == DEPTH => return Err("elements that are too deep"),
                TagKind::Open => {
                    if open.is_empty() && tag.name == "revision" {
                        (self.revision, self.text) = (Vec::new(), WikiText::Missing);
                    }
                    open.push(tag);
                }
                TagKind::Empty => self.take_empty(&open, tag),
                TagKind::Close => {
                    let from = open.pop().filter(|from| from.name == tag.name);
                    let from = from.ok_or("a tag that closes no element")?;
                    let content = &text[from.end..tag.start];
                    self.take(&open, &from, content)?;
                }
            }
        }
        if open.is_empty() { Ok(()) } else { Err("an element that is not closed") }
    }

    /// Takes an element with content within those that are open.
    fn take(&mut self, open: &[XmlTag<'a>], tag: &XmlTag<'a>, content: &'a str) -> Result<(), &'static str> {
        match (open, tag.name) {
            ([], "revision") => {}
            ([], name) => self.page.push((name, content)),
            ([revision], "text") if revision.name == "revision" && content.is_empty() => {
                self.text = text_without_content(tag);
            }
            ([revision], "text") if revision.name == "revision" => {
                if content.contains('<') {
                    return Err("a text with tags in it");
                }
                self.text = WikiText::Escaped(content);
            }
            // Who it was stands within.
            ([revision], "contributor") if revision.name == "revision" => {}
            ([revision], name) if revision.name == "revision" => self.revision.push((name, content)),
            ([revision, contributor], "username" | "ip")
                if (revision.name, contributor.name) == ("revision", "contributor") =>
            {
                self.revision.push(("contributor", content));
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes an element without content.
    fn take_empty(&mut self, open: &[XmlTag<'a>], tag: XmlTag<'a>) {
        match (open, tag.name) {
            ([], "redirect") => self.redirect = attribute_value(tag.attributes, "title"),
            ([revision], "text") if revision.name == "revision" => self.text = text_without_content(&tag),
            _ => {}
        }
    }

    /// The text of the last revision, if there is one.
    ///
    /// # Errors
    /// The refusal of a text with entities that XML does not have.
    pub(super) fn text(&self) -> Result<Option<Cow<'a, str>>, Refusal> {
        let WikiText::Escaped(text) = self.text else { return Ok(None) };
        let unknown = || Refusal::Malformed("an entity that XML does not have".to_owned());
        unescaped(text).map(Some).ok_or_else(unknown)
    }

    /// A field: an element of the page, or of its last revision.
    pub(super) fn field(&self, name: &str) -> Option<Cow<'a, str>> {
        let said = |all: &[(&str, &'a str)], name: &str| {
            all.iter().rfind(|(key, _)| *key == name).map(|(_, said)| *said)
        };
        let found = match name {
            "redirect" => return self.redirect.clone(),
            "date" => said(&self.revision, "timestamp"),
            name => match name.strip_prefix("revision.") {
                Some(name) => said(&self.revision, name),
                None => said(&self.page, name).or_else(|| said(&self.revision, name)),
            },
        };
        found.filter(|said| !said.is_empty()).and_then(unescaped)
    }

    /// Names of what it says.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.page.iter().chain(&self.revision).map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "<page>\n  <title>A &amp; b</title>\n  <ns>0</ns>\n  <id>12</id>\n  <redirect title=\"C &quot;D&quot;\" />\n  \
        <revision>\n    <id>1</id>\n    <timestamp>2001-01-01T00:00:00Z</timestamp>\n    <text bytes=\"3\">old</text>\n  </revision>\n  \
        <revision>\n    <id>2</id>\n    <parentid>1</parentid>\n    <timestamp>2024-03-10T01:02:03Z</timestamp>\n    <contributor>\n      \
        <username>E</username>\n      <id>5</id>\n    </contributor>\n    <minor />\n    <comment>c</comment>\n    \
        <text bytes=\"20\" sha1=\"x\" xml:space=\"preserve\">''F'' &lt;ref&gt;g&lt;/ref&gt; &amp;nbsp;</text>\n  </revision>\n</page>\n  ";

    #[test]
    fn the_last_revision_is_what_a_page_says() {
        let page = WikiPage::of(LONG.as_bytes()).expect("a page");
        assert_eq!(page.text().expect("a text").as_deref(), Some("''F'' <ref>g</ref> &nbsp;"));
        let said = |name| page.field(name).unwrap_or_default().into_owned();
        let expected = ["A & b", "0", "12", "C \"D\"", "2024-03-10T01:02:03Z", "E", "c", "2", ""];
        let names =
            ["title", "ns", "id", "redirect", "date", "contributor", "comment", "revision.id", "username"];
        assert_eq!(names.map(said), expected);
    }

    #[test]
    fn a_text_may_be_empty_hidden_or_elsewhere() {
        let text = |markup: &str| {
            let page = format!("<page><id>1</id><revision><id>2</id>{markup}</revision></page>");
            let page = WikiPage::of(page.as_bytes()).expect("a page");
            page.text().map(|text| text.map(Cow::into_owned))
        };
        for empty in ["<text />", "<text bytes=\"0\" xml:space=\"preserve\" />", "<text></text>"] {
            assert_eq!(text(empty), Ok(Some(String::new())), "{empty}");
        }
        for missing in [
            "",
            "<text deleted=\"deleted\" />",
            "<text bytes=\"5\" sha1=\"x\" />",
            "<text bytes=\"5\" deleted=\"deleted\"></text>",
        ] {
            assert_eq!(text(missing), Ok(None), "{missing}");
        }
        assert!(matches!(text("<text>&nbsp;</text>"), Err(Refusal::Malformed(_))));
        assert_eq!(WikiPage::of(b"<page></page>").expect("a page").text(), Ok(None));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let deep = "<a>".repeat(100_000);
        for wrong in [
            "",
            "<pag",
            "<page>",
            "<page><id></page>",
            "<page></id></page>",
            "<page><id></ns></page>",
            "<page><!-- --></page>",
            "<page><a b=\"></page>",
            "<page><revision><text>a<b>c</b></text></revision></page>",
        ] {
            assert!(matches!(WikiPage::of(wrong.as_bytes()), Err(Refusal::Malformed(_))), "{wrong}");
        }
        assert!(matches!(
            WikiPage::of(format!("<page>{deep}</page>").as_bytes()),
            Err(Refusal::Malformed(_))
        ));
        assert!(matches!(WikiPage::of(b"<page>\xff</page>"), Err(Refusal::NotUtf8)));
        for outside in ["</mediawiki>\n", "x<page></page>", "<pages>"] {
            assert!(matches!(WikiPage::of(outside.as_bytes()), Err(Refusal::NoTextIn(_))), "{outside}");
        }
        // Whatever it is cut off at.
        for end in 0..LONG.trim_end().len() {
            assert!(WikiPage::of(&LONG.as_bytes()[..end]).is_err(), "{end}");
        }
    }
}
