//! Records of TREC to documents.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::ends::{CLOSINGS, begins_doc, ends_roots};
use super::markup::{SgmlElements, attribute};
use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::date::{Day, day};
use crate::read::field::{FieldPath, Fields};
use crate::read::payload::{HeaderLines, ShownText, guessed_text, html_text, page_text};
use crate::read::record::{Record, Refusal, Value, observe};

/// What of a record is its text, if it has a `TEXT`: that, and what stands over it.
const TEXTS: [&str; 9] = ["TEXT", "HEADLINE", "HEAD", "HL", "TITLE", "TI", "TTL", "LP", "LEADPARA"];
/// What of a record is no text, if it has no `TEXT`.
const METADATA: [&str; 10] =
    ["DOCNO", "DOCID", "DOCOLDNO", "DOCHDR", "DOCTYPE", "FILEID", "DATE", "DATE_TIME", "DATETIME", "URL"];
/// What the id is called, and the date.
const IDS: [&str; 2] = ["DOCNO", "DOCID"];
const DATES: [&str; 5] = ["DATE", "DATE_TIME", "DATETIME", "DATE1", "DD"];

/// What stands in a record.
struct DocParts<'a> {
    /// The tag that opens it, up to its `>`.
    tag: Cow<'a, str>,
    /// All that is between its tags, or what stands before the page that it holds.
    head: Cow<'a, str>,
    /// The page.
    page: Option<&'a [u8]>,
}

impl<'a> DocParts<'a> {
    fn of(raw: &'a [u8]) -> Result<DocParts<'a>, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(what.to_owned());
        let record = raw.trim_ascii_start();
        if !record.is_empty() && ends_roots(record) {
            return Err(Refusal::no_text_in("what stands around records"));
        }
        let open = memchr(b'>', record).filter(|_| begins_doc(record));
        let open = open.ok_or_else(|| malformed("a record that does not begin with <DOC>"))?;
        let end = CLOSINGS.iter().filter_map(|closing| memmem::rfind(record, closing)).max();
        let end = end.filter(|end| *end > open).ok_or_else(|| malformed("a <DOC> without its </DOC>"))?;
        let content = &record[open + 1..end];
        let headers = SgmlElements::new(content, &["DOCHDR"]).next().map(|headers| headers.outer.end);
        let (head, page) = content.split_at(headers.unwrap_or(content.len()));
        let tag = guessed_text(&record[..open]);
        Ok(DocParts { tag, head: guessed_text(head), page: headers.map(|_| page) })
    }

    /// The element of a name that stands first, as it is.
    fn element(&self, name: &str) -> Option<&str> {
        SgmlElements::new(self.head.as_bytes(), &[name]).next().map(|element| &self.head[element.inner])
    }

    /// A field: its id, its date, the address of a page, or what an element of that name says, or an attribute.
    fn field(&self, name: &str) -> Option<String> {
        let names = match name {
            "id" => &IDS[..],
            "date" => &DATES,
            _ => &[name],
        };
        let said = names.iter().find_map(|name| self.element(name).and_then(plain));
        let said = said.or_else(|| attribute(&self.tag, name).and_then(plain));
        said.or_else(|| self.address().filter(|_| name == "url").map(str::to_owned))
    }

    /// The address of a page, which is the first word of its headers.
    fn address(&self) -> Option<&str> {
        self.element("DOCHDR")?.split_ascii_whitespace().next().filter(|word| word.contains("://"))
    }

    /// The text of a record that holds no page, into `text`; `piece` is reused.
    fn take_text(&self, text: &mut String, piece: &mut String) {
        let mut take = |markup: &str| {
            html_text(markup, false, piece);
            text.push_str(piece);
            text.push('\n');
        };
        let head = self.head.as_bytes();
        if self.element(TEXTS[0]).is_some() {
            return SgmlElements::new(head, &TEXTS).for_each(|element| take(&self.head[element.inner]));
        }
        let mut from = 0;
        for element in SgmlElements::new(head, &METADATA) {
            take(&self.head[from..element.outer.start]);
            from = element.outer.end;
        }
        take(&self.head[from..]);
    }
}

/// What an element or an attribute says, in a line; `None` if that is nothing.
fn plain(markup: &str) -> Option<String> {
    let mut text = String::new();
    if markup.contains(['<', '&']) {
        html_text(markup, false, &mut text);
    } else {
        text.push_str(markup);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" ")).filter(|line| !line.is_empty())
}

/// Makes documents of records.
pub(super) struct DocParser {
    fields: Fields,
    text: String,
    piece: String,
}

impl DocParser {
    pub(super) fn new(fields: &Fields) -> DocParser {
        DocParser { fields: fields.clone(), text: String::new(), piece: String::new() }
    }
}

impl Parser for DocParser {
    fn rest(&mut self) {
        (self.text, self.piece) = (String::new(), String::new());
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let doc = DocParts::of(raw)?;
        let field = |path: &FieldPath| doc.field(path.as_str());
        let id = field(&self.fields.id);
        if self.fields.needs_id() && id.is_none() {
            return Err(Refusal::lacks_id(self.fields.id.as_str(), &["DOCNO", "DOCID", "DATE"]));
        }
        self.text.clear();
        match doc.page {
            None => doc.take_text(&mut self.text, &mut self.piece),
            Some(page) => {
                let headers = doc.element("DOCHDR").unwrap_or_default();
                let media = HeaderLines::open(headers.as_bytes()).get("Content-Type");
                page_text(media, page, ShownText::wanted(&self.fields), &mut self.text);
            }
        }
        let within = self.fields.within.as_ref().and_then(field);
        let value = self.fields.value.as_ref().and_then(field);
        let date = self.fields.date.as_ref().and_then(field);
        let day = date.map_or(Day::None, |date| day(&date).map_or(Day::Unclear, Day::Known));
        let paths = &self.fields.observed;
        let observed = observe(!paths.is_empty(), |at| paths.get(at).and_then(field).map(Cow::Owned));
        Ok(Record {
            position,
            line,
            id: id.map(Into::into),
            text: &self.text,
            header: "",
            raw,
            value: value.as_deref().map(Value::spelt),
            within: within.map(Cow::Owned),
            day,
            observed,
            deleted: false,
        })
    }
}

/// Names what records say of themselves.
pub(super) struct DocDescriber;

impl Describer for DocDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let Ok(doc) = DocParts::of(record.raw) else { return };
        let title = ["title", "headline", "head", "hl", "ti", "ttl"].iter().find_map(|name| doc.field(name));
        let said = [("title", title), ("date", doc.field("date")), ("url", doc.field("url"))];
        said.iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)))
            .for_each(|(n, value)| each(n, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::input::Input;

    fn read(raw: &str) -> Result<(Option<String>, Vec<String>), Refusal> {
        let fields = Fields::of(&Input::default()).expect("paths");
        let mut parser = DocParser::new(&fields);
        let record = parser.record(Position::new(0, 0), 1, raw.as_bytes())?;
        let words = record.text.split_whitespace().map(str::to_owned).collect();
        Ok((record.id.map(String::from), words))
    }

    fn words(raw: &str) -> Vec<String> {
        read(raw).expect("a record").1
    }

    #[test]
    fn news_is_its_text_and_what_stands_over_it() {
        let (id, words) = read(
            "<DOC>\n<DOCNO> AP1 </DOCNO>\n<FILEID>x</FILEID>\n<HEAD>One &amp; two</HEAD>\n<DATELINE>y</DATELINE>\n\
             <TEXT>\n   <P>three<P>four</TEXT>\n<NOTE>z</NOTE><TEXT>five</TEXT></DOC>\n",
        )
        .expect("a record");
        assert_eq!((id.as_deref(), words.join(" ")), (Some("AP1"), "One & two three four five".to_owned()));
    }

    #[test]
    fn a_page_is_what_stands_behind_its_headers() {
        let page = "<DOC>\n<DOCNO>W1</DOCNO>\n<DOCHDR>\nhttp://a.example/ 1.2.3.4\nHTTP/1.0 200 OK\n\
                    Content-Type: application/pdf\n</DOCHDR>\n<title>One</title><TEXT>two</TEXT><script>x</script></DOC>";
        assert_eq!(words(page).join(" "), "One two");
        let doc = DocParts::of(page.as_bytes()).expect("a record");
        assert_eq!((doc.field("url").as_deref(), doc.field("title")), (Some("http://a.example/"), None));
    }

    #[test]
    fn records_without_a_text_are_all_that_is_no_metadata() {
        let doc = "<doc id=\"12\" url=\"http://a/?b\" title=\"A &amp; B\">\nA\n\n<b>c</b>d\n<URL>x</URL>e\n</doc>\n";
        assert_eq!(read(doc).expect("a record").0.as_deref(), Some("12"));
        assert_eq!(words(doc), ["A", "cd", "e"]);
        let parts = DocParts::of(doc.as_bytes()).expect("a record");
        assert_eq!(
            [parts.field("title"), parts.field("URL")],
            ["A & B", "x"].map(|said| Some(said.to_owned()))
        );
        assert_eq!(words("<DOC></DOC>"), [""; 0]);
    }

    #[test]
    fn fields_are_elements_by_their_names() {
        let doc = "<DOC><DOCID>1</DOCID><DATE>\n<P>\nJanuary 1,\n1989 </P>\n</DATE><Pub>p</Pub><Empty> </Empty></DOC>";
        let parts = DocParts::of(doc.as_bytes()).expect("a record");
        let of = |name| parts.field(name);
        assert_eq!([of("id"), of("date"), of("pub")].map(Option::unwrap), ["1", "January 1, 1989", "p"]);
        assert_eq!([of("empty"), of("docno"), of("")], [None, None, None]);
    }

    #[test]
    fn a_record_ends_with_its_last_closing_tag() {
        assert_eq!(words("<DOC>one </DOC> two</DOC>\n<junk>"), ["one", "two"]);
        assert_eq!(read("</docs>\n"), Err(Refusal::no_text_in("what stands around records")));
        for (raw, says) in
            [("<DOC>one", "without its </DOC>"), ("<DOC a", "begin"), ("</DOC>", "begin"), ("x", "begin")]
        {
            assert!(matches!(read(raw), Err(Refusal::Malformed(what)) if what.contains(says)), "{raw}");
        }
    }
}
