//! Messages to documents: the text of their bodies, and a line for each attachment.

use std::borrow::Cow;
use std::fmt::Write;

use mail_parser::{
    Addr, Address, DateTime, Message, MessageParser as Messages, MessagePart, MimeHeaders, PartType,
};
use xxhash_rust::xxh3::xxh3_128;

use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::date::{Day, day};
use crate::read::field::Fields;
use crate::read::payload::html_text;
use crate::read::record::{Record, Refusal, Value, observe};

use super::structure::{MOST_OF_BYTE, check_parts, structure_weight};

/// Makes documents of messages.
pub(super) struct MessageParser {
    fields: Fields,
    text: String,
    page: String,
}

impl MessageParser {
    pub(super) fn new(fields: &Fields) -> MessageParser {
        MessageParser { fields: fields.clone(), text: String::new(), page: String::new() }
    }

    /// The text of a message. An attachment is told apart from others by its digest, whatever it is called.
    fn take_text(&mut self, message: &Message<'_>) {
        self.text.clear();
        let bodies = if message.text_body.is_empty() { &message.html_body } else { &message.text_body };
        for part in bodies.iter().filter_map(|id| message.part(*id)) {
            self.take_body(part);
        }
        for part in message.attachments() {
            let digest = xxh3_128(part.contents());
            // Writing to a string never fails.
            let _ = writeln!(self.text, "attachment {digest:032x}");
        }
    }

    fn take_body(&mut self, part: &MessagePart<'_>) {
        match &part.body {
            PartType::Html(markup) => {
                html_text(markup, false, &mut self.page);
                self.text.push_str(&self.page);
            }
            PartType::Text(text) if part.is_content_type("text", "html") => {
                html_text(text, false, &mut self.page);
                self.text.push_str(&self.page);
            }
            PartType::Text(text) => self.text.push_str(text),
            _ => return,
        }
        self.text.push('\n');
    }
}

impl Parser for MessageParser {
    fn rest(&mut self) {
        (self.text, self.page) = (String::new(), String::new());
    }

    fn weight(&self, raw: &[u8]) -> u64 {
        let (least, free) = (raw.len() as u64, self.fields.room.free());
        // Most messages are too short for their structure to matter, and without a bound of the memory none does.
        if free == usize::MAX || raw.len() < free / MOST_OF_BYTE {
            return least;
        }
        structure_weight(raw).max(least)
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let no_message = || Refusal::Malformed("this is no message: it has no headers".to_owned());
        check_parts(raw)?;
        let parsed = Parsed(Messages::default().parse(without_from_line(raw)).ok_or_else(no_message)?);
        let message = &parsed.0;
        if message.headers().is_empty() {
            return Err(no_message());
        }
        self.take_text(message);
        let id = field(message, self.fields.id.as_str());
        if self.fields.needs_id() && id.is_none() {
            return Err(Refusal::no_id(self.fields.id.as_str(), &["id", "subject", "date"], 0));
        }
        let within = self.fields.within.as_ref().and_then(|path| field(message, path.as_str()));
        let value = self.fields.value.as_ref().and_then(|path| field(message, path.as_str()));
        let date = self.fields.date.as_ref().map(|path| field(message, path.as_str()));
        let day = match date {
            None | Some(None) => Day::None,
            Some(Some(date)) => day(&date).map_or(Day::Unclear, Day::Known),
        };
        let paths = &self.fields.observed;
        let observed =
            observe(!paths.is_empty(), |at| field(message, paths.get(at)?.as_str()).map(Cow::Owned));
        Ok(Record {
            position,
            line,
            id: id.map(Into::into),
            text: &self.text,
            header: "",
            raw,
            value: value.map(Value::Text),
            within: within.map(Cow::Owned),
            day,
            observed,
            deleted: false,
        })
    }
}

/// Names what the headers of messages say.
pub(super) struct MessageDescriber;

impl Describer for MessageDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let Some(parsed) = Messages::default().parse_headers(without_from_line(record.raw)) else { return };
        let parsed = Parsed(parsed);
        let message = &parsed.0;
        let from = message.from().and_then(address).unwrap_or_default();
        let to = message.to().and_then(address).unwrap_or_default();
        let date = message.date().map(DateTime::to_rfc3339).unwrap_or_default();
        let subject = message.subject().unwrap_or_default();
        let said = [("from", &*from), ("to", &to), ("date", &date), ("subject", subject)];
        said.into_iter().filter(|(_, value)| !value.is_empty()).for_each(|(name, value)| each(name, value));
    }
}

/// Addresses as people write them, one behind the other.
fn address(all: &Address<'_>) -> Option<String> {
    let one = |one: &Addr<'_>| match (one.name(), one.address()) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address).map(str::to_owned),
    };
    Some(all.iter().filter_map(one).collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
}

/// A message that is taken apart level by level: messages within messages may be so deep that to drop one within the other
/// would overflow the stack.
struct Parsed<'x>(Message<'x>);

impl Drop for Parsed<'_> {
    fn drop(&mut self) {
        let mut waiting = vec![std::mem::take(&mut self.0.parts)];
        while let Some(parts) = waiting.pop() {
            for part in parts {
                if let PartType::Message(mut inner) = part.body {
                    waiting.push(std::mem::take(&mut inner.parts));
                }
            }
        }
    }
}

/// A message without the line that an mbox puts before it.
fn without_from_line(raw: &[u8]) -> &[u8] {
    let behind = raw.strip_prefix(b"From ").and_then(|rest| Some(&rest[memchr::memchr(b'\n', rest)? + 1..]));
    behind.unwrap_or(raw)
}

/// A field of a message: its id, its date, or what a header of that name says.
fn field(message: &Message<'_>, name: &str) -> Option<String> {
    let found = match name {
        "id" => message.message_id().map(str::to_owned),
        "date" => message.date().map(|date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)),
        name => {
            let text = message.header(name.to_owned()).and_then(|header| header.as_text());
            // Addresses and lists have no one text: there it is what stands in the header.
            text.or_else(|| message.header_raw(name.to_owned())).map(|text| text.trim().to_owned())
        }
    };
    found.filter(|value| !value.is_empty())
}
