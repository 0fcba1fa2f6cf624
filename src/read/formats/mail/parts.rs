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
pub(super) struct MailPart {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) media: Media,
    pub(super) transfer: Transfer,
    pub(super) charset: Option<Box<str>>,
    pub(super) is_attachment: bool,
}

impl MailPart {
    /// What is packed in it.
    pub(super) fn content<'a>(&self, message: &'a [u8]) -> Cow<'a, [u8]> {
        self.transfer.unpacked(&message[self.start..self.end])
    }
}

/// The parts of a message.
#[derive(Debug, Default)]
pub(super) struct MailParts {
    /// All of them, as they stand.
    pub(super) all: Vec<MailPart>,
    /// Places of those that are its text for whoever reads plain text, and for whoever reads pages.
    pub(super) texts: Vec<usize>,
    pub(super) pages: Vec<usize>,
}

impl MailParts {
    /// The parts of a message that begins with such headers, and whose body begins at `body`.
    pub(super) fn of(message: &[u8], head: PartHead, body: usize) -> MailParts {
        let mut walk = Walk {
            message,
            found: MailParts::default(),
            open: vec![OpenList::root()],
            delimiters: HashMap::new(),
            place: LinePlace::Between,
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
enum LinePlace {
    /// In the headers of a part, which begin there.
    Head(usize),
    /// In the content of a part, which begins there.
    Content(PartHead, usize),
    /// Before the first part of a list, or behind the last one.
    Between,
}

struct Walk<'a> {
    message: &'a [u8],
    found: MailParts,
    open: Vec<OpenList>,
    /// Which open list each delimiter divides.
    delimiters: HashMap<Box<[u8]>, usize>,
    place: LinePlace,
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
            self.place = if is_last { LinePlace::Between } else { LinePlace::Head(end) };
            if is_last {
                self.close(end_of_part);
            }
            return;
        }
        let LinePlace::Head(start) = self.place else { return };
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
                self.place = LinePlace::Content(PartHead { media: Media::Plain, ..head }, start);
                return;
            }
            _ => {
                self.place = LinePlace::Content(head, start);
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
        self.place = LinePlace::Between;
    }

    /// Ends the part that was going on: its headers before the line at `at`, its content before the end of the line before.
    fn end_part(&mut self, at: usize, end: usize) {
        if let LinePlace::Head(start) = self.place
            && start < at
        {
            let head = PartHead::read(&self.message[start..at], self.list().kind);
            self.begin(head, end);
        }
        if let LinePlace::Content(head, start) = std::mem::replace(&mut self.place, LinePlace::Between) {
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
        let mut part =
            MailPart { start, end: end.max(start), media, transfer, charset, is_attachment: false };
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
