//! Records of a crawl to documents.

use std::borrow::Cow;
use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_128;

use super::head::{CrawlHead, MOST_HEAD, RecordContent};
use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::date::{Day, day};
use crate::read::field::{FieldPath, Fields};
use crate::read::payload::{self, Response, ShownText};
use crate::read::record::{Record, Refusal, Value, observe};

/// How a head is read, and where it ends.
pub(super) type ReadHead = fn(&[u8]) -> Option<(usize, Result<CrawlHead<'_>, Refusal>)>;

/// Makes documents of records. It owns what a text is unwrapped into.
pub(super) struct CrawlParser {
    read: ReadHead,
    fields: Fields,
    body: Vec<u8>,
    text: String,
    /// The body of the response with this digest, which was asked for its weight and is unpacked already.
    weighed: RefCell<Option<(u128, Vec<u8>)>>,
}

impl CrawlParser {
    pub(super) fn new(read: ReadHead, fields: &Fields) -> CrawlParser {
        let (body, text, weighed) = (Vec::new(), String::new(), RefCell::default());
        CrawlParser { read, fields: fields.clone(), body, text, weighed }
    }

    /// The head of a record, and what stands behind it.
    fn divided<'a>(&self, raw: &'a [u8]) -> Result<(CrawlHead<'a>, &'a [u8]), Refusal> {
        let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let (end, head) = (self.read)(&raw[blank..])
            .filter(|(end, _)| *end <= MOST_HEAD)
            .ok_or_else(|| Refusal::Malformed("a record whose header does not end".to_owned()))?;
        let head = head?;
        let content = &raw[blank + end..];
        let length = usize::try_from(head.bytes).ok().filter(|length| *length <= content.len());
        let content = length.map(|length| &content[..length]).ok_or_else(|| {
            let (there, said) = (content.len(), head.bytes);
            Refusal::Malformed(format!("the record has {there} of the {said} bytes that its header says"))
        })?;
        Ok((head, content))
    }
}

impl Parser for CrawlParser {
    fn rest(&mut self) {
        (self.body, self.text) = (Vec::new(), String::new());
        self.weighed.take();
    }

    fn weight(&self, raw: &[u8]) -> u64 {
        let (least, most) = (raw.len() as u64, self.fields.max_record_bytes);
        // Where the memory has no bound, `record` sees to the longest that is allowed.
        let free = self.fields.room.free();
        if free == usize::MAX {
            return least;
        }
        let Ok((CrawlHead { content: RecordContent::Http, .. }, content)) = self.divided(raw) else {
            return least;
        };
        let Some(response) = Response::of(content).filter(|response| !response.is_plain()) else {
            return least;
        };
        let length = match response.body(free.min(most)) {
            Ok(body) => {
                let length = body.len() as u64;
                self.weighed.replace(Some((xxh3_128(content), body.into_owned())));
                length
            }
            Err(Refusal::TooLong { .. }) => response.body_length(most),
            Err(_) => 0,
        };
        length.max(least)
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let (head, content) = self.divided(raw)?;
        let of = ShownText::wanted(&self.fields);
        let text = match head.content {
            RecordContent::Other => return Err(Refusal::no_text_in("a record about the crawl")),
            RecordContent::Document => payload::text(head.media, content, of, &mut self.text)?,
            // Of a record that does not say what it is.
            RecordContent::Http if head.media.is_none() && !content.starts_with(b"HTTP/") => {
                payload::text(None, content, of, &mut self.text)?
            }
            RecordContent::Http => {
                let response = Response::of(content)
                    .ok_or_else(|| Refusal::Malformed("a response without HTTP headers".to_owned()))?;
                let (media, weighed) = (response.media(), self.weighed.take());
                let body = match weighed.filter(|(of, _)| *of == xxh3_128(content)) {
                    Some((_, body)) => Cow::Owned(body),
                    None => response.body(self.fields.max_record_bytes)?,
                };
                match body {
                    Cow::Borrowed(body) => payload::text(media, body, of, &mut self.text)?,
                    Cow::Owned(body) => {
                        self.body = body;
                        payload::text(media, &self.body, of, &mut self.text)?
                    }
                }
            }
        };
        let field = |path: &FieldPath| field(&head, path.as_str());
        let id = field(&self.fields.id).map(Into::into);
        if self.fields.needs_id() && id.is_none() {
            return Err(Refusal::lacks_id(self.fields.id.as_str(), &["id", "url", "date"]));
        }
        let within = self.fields.within.as_ref().and_then(field).map(Cow::Borrowed);
        let value = self.fields.value.as_ref().and_then(field).map(Value::spelt);
        let day = self.fields.date.as_ref().and_then(field).map_or(Day::None, dated);
        let paths = &self.fields.observed;
        let observed = observe(!paths.is_empty(), |at| paths.get(at).and_then(field).map(Cow::Borrowed));
        let (header, deleted) = ("", false);
        Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
    }
}

/// Names what the heads of records say.
pub(super) struct CrawlDescriber(pub(super) ReadHead);

impl Describer for CrawlDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let Some((_, Ok(head))) = (self.0)(record.raw.trim_ascii_start()) else { return };
        for name in ["url", "date"] {
            if let Some(value) = field(&head, name) {
                each(name, value);
            }
        }
    }
}

/// A field of a record: its id, its address, its time, or what a header of that name says.
fn field<'a>(head: &CrawlHead<'a>, name: &str) -> Option<&'a str> {
    let found = match name {
        "id" => head.id.or(head.url),
        "url" => head.url,
        "date" => head.date,
        name => head.headers.and_then(|headers| headers.get(name)),
    };
    found.filter(|value| !value.is_empty())
}

fn dated(text: &str) -> Day {
    // ARC writes `20141031103200`.
    let digits = text.get(..8).filter(|_| text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()));
    let spelt = digits.map(|day| format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]));
    day(spelt.as_deref().unwrap_or(text)).map_or(Day::Unclear, Day::Known)
}
