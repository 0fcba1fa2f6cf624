//! The parts of a message: its bodies, as plain text and as pages, and its attachments. What is cut off, or wrongly divided, is read
//! as far as it goes.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr;

use super::media::{ListKind, Media, PartHead};
use super::transfer::Transfer;
use crate::read::payload::looks_like_html;

/// A part that is no list of parts.
#[derive(Debug)]
pub(super) struct Part {
    start: usize,
    end: usize,
    pub(super) media: Media,
    pub(super) transfer: Transfer,
    pub(super) charset: Option<Box<str>>,
    pub(super) is_attachment: bool,
}

impl Part {
    /// What is packed in it.
    pub(super) fn content<'a>(&self, message: &'a [u8]) -> Cow<'a, [u8]> {
        self.transfer.unpacked(&message[self.start..self.end])
    }
}

/// The parts of a message.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// All of them, as they stand.
    pub(super) all: Vec<Part>,
    /// Places of those that are its text for whoever reads plain text, and for whoever reads pages.
    pub(super) texts: Vec<usize>,
    pub(super) pages: Vec<usize>,
}

impl Parts {
    /// The parts of a message that begins with such headers, and whose body begins at `body`.
    pub(super) fn of(message: &[u8], head: PartHead, body: usize) -> Parts {
        let mut walk = Walk {
            message,
            found: Parts::default(),
            open: vec![OpenList::root()],
            delimiters: HashMap::new(),
            place: Place::Between,
        };
        walk.begin(head, body);
        let mut at = body;
        while at < message.len() && !walk.delimiters.is_empty() {
            let end = memchr(b'\n', &message[at..]).map_or(message.len(), |end| at + end + 1);
            walk.line(at, end);
            at = end;
        }
        walk.end_part(message.len(), message.len());
        while walk.open.len() > 1 {
            walk.close(message.len());
        }
        walk.found
    }
}

/// A list whose parts come by.
struct OpenList {
    delimiter: Box<[u8]>,
    /// Which list the same delimiter divided around this one.
    hidden: Option<usize>,
    /// Where the body of it begins.
    start: usize,
    has_begun: bool,
    kind: ListKind,
    in_alternative: bool,
    needs_text: bool,
    needs_page: bool,
    /// How many parts came by, and how many texts and pages there were before.
    parts: usize,
    texts: usize,
    pages: usize,
    /// The first text of another kind.
    other: Option<usize>,
}

impl OpenList {
    /// What a message stands in.
    fn root() -> OpenList {
        OpenList {
            delimiter: Box::default(),
            hidden: None,
            start: 0,
            has_begun: true,
            kind: ListKind::Other,
            in_alternative: false,
            needs_text: true,
            needs_page: true,
            parts: 0,
            texts: 0,
            pages: 0,
            other: None,
        }
    }
}

/// Where in a message a line is.
enum Place {
    /// In the headers of a part, which begin there.
    Head(usize),
    /// In the content of a part, which begins there.
    Content(PartHead, usize),
    /// Before the first part of a list, or behind the last one.
    Between,
}

struct Walk<'a> {
    message: &'a [u8],
    found: Parts,
    open: Vec<OpenList>,
    /// Which open list each delimiter divides.
    delimiters: HashMap<Box<[u8]>, usize>,
    place: Place,
}

impl Walk<'_> {
    fn line(&mut self, at: usize, end: usize) {
        let line = &self.message[at..end];
        if let Some((list, is_last)) = self.divided(line) {
            let before = &self.message[..at];
            // The end of the line before belongs to the delimiter.
            let before = before.strip_suffix(b"\n").unwrap_or(before);
            let end_of_part = before.strip_suffix(b"\r").unwrap_or(before).len();
            self.end_part(at, end_of_part);
            while self.open.len() > list + 1 {
                self.close(end_of_part);
            }
            self.open[list].has_begun = true;
            self.place = if is_last { Place::Between } else { Place::Head(end) };
            if is_last {
                self.close(end_of_part);
            }
            return;
        }
        let Place::Head(start) = self.place else { return };
        let is_blank = line.trim_ascii().is_empty();
        if is_blank || !begins_header(line) {
            let list = self.list().kind;
            let head = PartHead::read(&self.message[start..at], list);
            self.begin(head, if is_blank { end } else { at });
        }
    }

    /// Which list a line divides, and whether it ends it.
    fn divided(&self, line: &[u8]) -> Option<(usize, bool)> {
        let named = line.strip_prefix(b"--")?.trim_ascii_end();
        let ended = || Some((*self.delimiters.get(named.strip_suffix(b"--")?)?, true));
        self.delimiters.get(named).map(|list| (*list, false)).or_else(ended)
    }

    fn list(&mut self) -> &mut OpenList {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Takes the headers of a part whose content begins at `start`.
    fn begin(&mut self, head: PartHead, start: usize) {
        let index = self.open.len();
        let (texts, pages) = (self.found.texts.len(), self.found.pages.len());
        let around = self.list();
        around.parts += 1;
        let (kind, delimiter) = match (head.media, &head.delimiter) {
            (Media::List(kind), Some(delimiter)) => (kind, delimiter.clone()),
            (Media::List(_), None) => {
                self.place = Place::Content(PartHead { media: Media::Plain, ..head }, start);
                return;
            }
            _ => {
                self.place = Place::Content(head, start);
                return;
            }
        };
        let inner = OpenList {
            delimiter: delimiter.clone(),
            start,
            has_begun: false,
            kind,
            in_alternative: around.in_alternative || kind == ListKind::Alternative,
            needs_text: around.needs_text,
            needs_page: around.needs_page,
            texts,
            pages,
            ..OpenList::root()
        };
        self.open.push(inner);
        self.open[index].hidden = self.delimiters.insert(delimiter, index);
        self.place = Place::Between;
    }

    /// Ends the part that was going on: its headers before the line at `at`, its content before the end of the line before.
    fn end_part(&mut self, at: usize, end: usize) {
        if let Place::Head(start) = self.place
            && start < at
        {
            let head = PartHead::read(&self.message[start..at], self.list().kind);
            self.begin(head, end);
        }
        if let Place::Content(head, start) = std::mem::replace(&mut self.place, Place::Between) {
            self.add(head, start, end);
        }
    }

    /// Ends the innermost list.
    fn close(&mut self, end: usize) {
        let Some(list) = self.open.pop() else { return };
        match list.hidden {
            Some(around) => self.delimiters.insert(list.delimiter, around),
            None => self.delimiters.remove(&list.delimiter),
        };
        if !list.has_begun {
            // Nothing divides it: it is one text.
            return self.add(PartHead::plain(), list.start, end);
        }
        if list.kind != ListKind::Alternative {
            return;
        }
        let found = &mut self.found;
        let (texts, pages) = (found.texts.len(), found.pages.len());
        match (list.other, texts == list.texts, pages == list.pages) {
            (Some(other), true, true) => {
                found.all[other].is_attachment = false;
                found.texts.extend(list.needs_text.then_some(other));
                found.pages.extend(list.needs_page.then_some(other));
            }
            (_, true, false) if list.needs_text && list.needs_page => {
                found.texts.extend_from_slice(&found.pages[list.pages..]);
            }
            (_, false, true) if list.needs_text && list.needs_page => {
                found.pages.extend_from_slice(&found.texts[list.texts..]);
            }
            _ => {}
        }
    }

    /// Takes a part, and says whether it is a body (RFC 8621, section 4.1.4).
    fn add(&mut self, head: PartHead, start: usize, end: usize) {
        let PartHead { mut media, transfer, charset, is_attachment, has_name, .. } = head;
        let mut part = Part { start, end: end.max(start), media, transfer, charset, is_attachment: false };
        if media == Media::Invalid {
            media = by_content(&part.content(self.message));
            part.media = media;
        }
        let index = self.found.all.len();
        let is_page = media == Media::Html;
        let list = self.list();
        let is_shown = media.is_text()
            && !is_attachment
            && (list.parts == 1 || list.kind != ListKind::Related && !has_name);
        let (is_text, is_page_body) = if list.kind == ListKind::Alternative {
            if is_shown && !matches!(media, Media::Plain | Media::Html) {
                list.other.get_or_insert(index);
            }
            (media == Media::Plain, is_page)
        } else if is_shown {
            if list.in_alternative && (list.needs_text || list.needs_page) {
                *(if is_page { &mut list.needs_text } else { &mut list.needs_page }) = false;
            }
            (list.needs_text, list.needs_page)
        } else {
            (false, false)
        };
        part.is_attachment = !(if is_page { is_page_body } else { is_text });
        self.found.texts.extend(is_text.then_some(index));
        self.found.pages.extend(is_page_body.then_some(index));
        self.found.all.push(part);
    }
}

/// What bytes are of which no valid type is said.
fn by_content(content: &[u8]) -> Media {
    if memchr(0, content).is_some() {
        Media::Other
    } else if looks_like_html(content) {
        Media::Html
    } else {
        Media::Plain
    }
}

/// Whether a line is one of headers.
fn begins_header(line: &[u8]) -> bool {
    let name = line.iter().position(|byte| *byte == b':' || !byte.is_ascii_graphic());
    matches!(line.first(), Some(b' ' | b'\t'))
        || line.starts_with(b"From ")
        || name.is_some_and(|end| line[end] == b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail_parser::{Message, MessageParser as Messages};
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// The parts of a message behind its headers.
    fn parts_of(message: &str) -> Parts {
        let (headers, body) = message.split_once("\r\n\r\n").expect("a blank line");
        Parts::of(
            message.as_bytes(),
            PartHead::read(&message.as_bytes()[..headers.len() + 2], ListKind::Other),
            message.len() - body.len(),
        )
    }

    /// What its texts, its pages and its attachments hold.
    fn contents(message: &str) -> [Vec<String>; 3] {
        let parts = parts_of(message);
        let content =
            |part: &Part| String::from_utf8(part.content(message.as_bytes()).into_owned()).expect("text");
        let bodies = |places: &[usize]| places.iter().map(|at| content(&parts.all[*at])).collect();
        let attached = parts.all.iter().filter(|part| part.is_attachment).map(content).collect();
        [bodies(&parts.texts), bodies(&parts.pages), attached]
    }

    /// The same as another parser has it.
    fn contents_elsewhere(message: &Message<'_>) -> [Vec<String>; 3] {
        let content = |id: &u32| {
            String::from_utf8(message.part(*id).expect("a part").contents().to_vec()).expect("text")
        };
        [&message.text_body, &message.html_body, &message.attachments]
            .map(|ids| ids.iter().map(content).collect())
    }

    /// A part, or a list of such.
    fn any_part() -> BoxedStrategy<String> {
        let headers = [
            "",
            "Content-Type: text/plain\r\n",
            "Content-Type: text/plain; name=\"a.txt\"\r\n",
            "Content-Type: text/plain;\r\n charset=utf-8\r\nContent-Disposition: attachment; filename=a\r\n",
            "Content-Type: text/html\r\n",
            "Content-Disposition: inline\r\nContent-Type: text/html; name=b\r\n",
            // Others it has among bodies, too.
            "Content-Type: image/png\r\nContent-Disposition: attachment\r\n",
            "Content-Type: application/pdf\r\n",
            "Content-Type: message/rfc822\r\n",
        ];
        let content = "[a-z-]{0,9}(\r\n[a-z -]{0,9}){0,3}";
        let leaf = (prop::sample::select(headers.to_vec()), content)
            .prop_map(|(headers, content)| format!("{headers}\r\nSubject: s\r\n\r\n{content}"));
        let kinds = ["mixed", "alternative", "related", "digest", "signed"];
        let list = move |part: BoxedStrategy<String>| {
            let parts = prop::collection::vec(part, 1..4);
            (prop::sample::select(kinds.to_vec()), parts).prop_map(|(kind, parts)| {
                // No list within this one has the same.
                let delimiter = format!("=_{:x}_", xxh3_64(parts.concat().as_bytes()));
                let parts: String =
                    parts.iter().map(|part| format!("--{delimiter}\r\n{part}\r\n")).collect();
                format!("Content-Type: multipart/{kind}; boundary=\"{delimiter}\"\r\n\r\n{parts}--{delimiter}--\r\n")
            })
        };
        leaf.prop_recursive(4, 16, 3, list).boxed()
    }

    proptest! {
        #[test]
        fn valid_messages_have_the_parts_of_another_parser(part in any_part()) {
            let message = format!("Subject: s\r\n{part}");
            let parsed = Messages::default().parse(&message).expect("a message");
            prop_assert_eq!(contents(&message), contents_elsewhere(&parsed), "{}", message);
        }

        #[test]
        fn whatever_is_cut_off_has_parts(part in any_part(), at: prop::sample::Index) {
            let message = format!("Subject: s\r\n{part}");
            let body = message.find("\r\n\r\n").expect("a blank line") + 4;
            let cut = body + at.index(message.len() - body + 1);
            for part in parts_of(&message[..cut]).all {
                prop_assert!(part.start <= part.end && part.end <= cut);
            }
        }
    }

    fn list(body: &str) -> String {
        format!("Content-Type: multipart/mixed; boundary=bb\r\n\r\n{body}")
    }

    #[test]
    fn lists_are_read_as_far_as_they_go() {
        let texts = |message: &str| {
            let [texts, _, attached] = contents(message);
            assert_eq!(attached, [""; 0], "{message}");
            texts
        };
        let plain = "Content-Type: text/plain\r\n\r\n";
        assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n"))), ["one\r\n"]);
        assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n--bb\r\n{plain}two"))), ["one", "two"]);
        assert_eq!(texts(&list(&format!("--bb\r\n{plain}one\r\n--bb\r\n"))), ["one"]);
        assert_eq!(texts(&list(&format!("before\r\n--bb \t\r\n{plain}one\r\n--bb-- \r\nbehind"))), ["one"]);
        // Another delimiter, or none, divides nothing.
        let other = format!("--cc\r\n{plain}one\r\n");
        assert_eq!(texts(&list(&other)), [&*other]);
        assert_eq!(texts(&format!("Content-Type: multipart/mixed\r\n\r\n{other}")), [&*other]);
        // One that only begins so, or does not begin the line, is content.
        let longer = "--bbb\r\n >--bb\r\n--bb--b\r\n";
        assert_eq!(texts(&list(&format!("--bb\r\n{plain}{longer}\r\n--bb--"))), [longer]);
        // The list around ends one that nothing else ends.
        let inner = format!(
            "--bb\r\nContent-Type: multipart/mixed; boundary=cc\r\n\r\n{other}\r\n--bb\r\n\r\ntwo\r\n--bb--"
        );
        assert_eq!(texts(&list(&inner)), ["one\r\n", "two"]);
        assert_eq!(
            texts(&list(&inner.replace("--cc", "--dd"))),
            ["--dd\r\nContent-Type: text/plain\r\n\r\none\r\n", "two"]
        );
        // One with the delimiter of the list around it hides that.
        assert_eq!(texts(&list(&inner.replace("cc", "bb"))), ["one\r\n", "two"]);
        // Headers end before a line that is none.
        assert_eq!(texts(&list(&format!("--bb\r\n{}no header\r\n--bb--", &plain[..26]))), ["no header"]);
        assert_eq!(texts(&list("--bb\r\nno header\r\n\r\nat all\r\n--bb--")), ["no header\r\n\r\nat all"]);
        assert_eq!(texts(&list("")), [""]);
    }

    #[test]
    fn types_that_are_none_are_text() {
        let media = |named: &str, content: &str| {
            parts_of(&format!("Content-Type: {named}\r\n\r\n{content}")).all[0].media
        };
        for named in [
            "text",
            "TEXT",
            "text/plain",
            "TEXT/PLAIN charset=US-ASCII",
            "text/plain, charset=utf-8",
            "text/",
            "text / plain",
        ] {
            assert_eq!(media(named, "a"), Media::Plain, "{named}");
        }
        for named in ["plain/text", "unknown", "X-sun-attachment", "*/*", "html/text", "x-a", "application"] {
            assert_eq!(media(named, "a"), Media::Plain, "{named}");
            assert_eq!(media(named, "<html>a"), Media::Html, "{named}");
            assert_eq!(media(named, "a\0b"), Media::Other, "{named}");
        }
        assert_eq!(media("", "a"), Media::Plain);
        assert_eq!(media("text/html, charset=utf-8", "a"), Media::Html);
        assert_eq!(
            (media("text/RichText", "a"), media("text/csv", "a")),
            (Media::Enriched, Media::OtherText)
        );
        for named in ["application/octet-stream", "image/png", "x-a/b", "video/x; a=b"] {
            assert_eq!(media(named, "a"), Media::Other, "{named}");
        }
        let charset =
            |named: &str| parts_of(&format!("Content-Type: {named}\r\n\r\na")).all.remove(0).charset;
        for named in
            ["text/plain charset=koi8-r", "text/plain, charset=\"KOI8-R\"", "text/plain; charset=koi8-r"]
        {
            assert!(charset(named).is_some_and(|name| name.eq_ignore_ascii_case("koi8-r")), "{named}");
        }
    }

    #[test]
    fn texts_of_other_kinds_are_bodies_but_beside_what_says_the_same() {
        let part =
            |named: &str, content: &str| format!("--bb\r\nContent-Type: text/{named}\r\n\r\n{content}\r\n");
        let [texts, pages, attached] =
            contents(&list(&[part("x-patch", "one"), part("csv", "two")].concat()));
        assert_eq!((texts, attached.len()), (vec!["one".to_owned(), "two\r\n".to_owned()], 0));
        assert_eq!(pages, ["one", "two\r\n"]);
        let alternative = |parts: &[String]| contents(&list(&parts.concat()).replace("mixed", "alternative"));
        let [texts, pages, attached] = alternative(&[part("enriched", "one"), part("calendar", "two")]);
        assert_eq!(
            (texts, pages, attached),
            (vec!["one".to_owned()], vec!["one".to_owned()], vec!["two\r\n".to_owned()])
        );
        let [texts, pages, attached] = alternative(&[part("enriched", "one"), part("plain", "two")]);
        assert_eq!(
            (texts, pages, attached),
            (vec!["two\r\n".to_owned()], vec!["two\r\n".to_owned()], vec!["one".to_owned()])
        );
        let attached = "Content-Type: text/csv\r\nContent-Disposition: attachment\r\n\r\none";
        assert_eq!(contents(attached), [vec![], vec![], vec!["one".to_owned()]]);
    }
}
