//! Mail: one message a file, as `.eml` files and Maildir have them, or mbox with one message behind the other.

mod enriched;
mod envelope;
mod mbox;
mod media;
mod message;
mod parts;
#[cfg(test)]
mod parts_tests;
mod quotes;
mod structure;
mod transfer;
mod utf_7;

use std::io;
use std::sync::Arc;

use super::whole::whole;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::payload::HeaderLines;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{StretchSplitter, cuts, next_cut};
use crate::read::windowed::{Numbers, Windowed};
use envelope::{counted_message, with_line_feeds};
use mbox::MessageEnds;
use message::{MessageDescriber, MessageParser};

/// The numbers of the formats on disk.
pub(super) const CODES: [u8; 2] = [7, 8];

/// Headers that mails have, and hardly anything else.
const SIGNS: [&str; 7] = ["from", "to", "subject", "date", "message-id", "received", "return-path"];

/// Headers that mails have, and what is said to have come by HTTP has, too.
const SHARED_SIGNS: [&str; 2] = ["mime-version", "content-type"];

/// Headers that say who sent a mail, or how it came.
const SENDER: [&str; 4] = ["from", "message-id", "received", "return-path"];

/// The header that whatever sends a mail puts there.
const MESSAGE_ID: &str = "message-id";

/// Whether a file is mbox: a line `From`, maybe behind blank ones, and the headers of a message.
pub(super) fn recognise_mbox(head: &FileHead) -> Option<(Certainty, Format)> {
    let rest = head.content().trim_ascii_start().strip_prefix(b"From ")?;
    let line = memchr::memchr(b'\n', rest)?;
    (signs(&rest[line + 1..]) > 0).then_some((Certainty::Certain, Format::Mbox))
}

/// Whether a file is one message.
pub(super) fn recognise_message(head: &FileHead) -> Option<(Certainty, Format)> {
    let counted = counted_message(head.content());
    let content = counted.map_or(head.content(), |(bytes, message)| &message[..bytes.min(message.len())]);
    let certainty = match head.extension() {
        Some("eml" | "emlx") if !head.is_binary() => Certainty::Named,
        _ if head.is_in_maildir() && count_signs(content).is_some() => Certainty::Named,
        // Somebody may write of a mail, with its first headers. This one programs write.
        _ if head.is_called_text() && signs(content) > 2 && is_sent_mail(content) => Certainty::Proven,
        _ if signs(content) > 2 || counted.is_some() && signs(content) > 0 => Certainty::Likely,
        _ => return None,
    };
    Some((certainty, Format::Message))
}

/// The headers with which bytes begin, as far as they are known of the file.
fn known_headers(bytes: &[u8]) -> HeaderLines<'_> {
    HeaderLines::split(bytes).map_or_else(|| HeaderLines::open(bytes), |(headers, _)| headers)
}

/// Whether headers at the front of bytes say that these were sent as a mail.
fn is_sent_mail(bytes: &[u8]) -> bool {
    known_headers(&with_line_feeds(bytes)).get(MESSAGE_ID).is_some()
}

/// How many headers of a mail stand at the front of bytes; 0 if these are no headers.
fn signs(bytes: &[u8]) -> usize {
    count_signs(bytes).unwrap_or_default()
}

/// The same; `None` if bytes do not begin with headers.
fn count_signs(bytes: &[u8]) -> Option<usize> {
    // Of most texts the first word shows that they are no mail.
    let word = bytes.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b':').unwrap_or_default();
    if word > 0 && bytes[word] != b':' {
        return None;
    }
    let bytes = &*with_line_feeds(bytes);
    let named = |line: &&[u8]| {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or_default();
        colon > 0 && line[..colon].iter().all(u8::is_ascii_graphic)
    };
    let (mut lines, mut signs, mut shared, mut is_sent) = (0, 0, 0, false);
    let is_in =
        |name: &[u8], names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
    for line in known_headers(bytes).lines().filter(|line| !line.is_empty()) {
        if matches!(line[0], b' ' | b'\t') && lines > 0 {
            continue;
        }
        if !named(&line) {
            // The last line may be cut off.
            if lines > 8 {
                break;
            }
            return None;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        signs += usize::from(is_in(name, &SIGNS));
        shared += usize::from(is_in(name, &SHARED_SIGNS));
        is_sent |= is_in(name, &SENDER);
        lines += 1;
    }
    (lines > 0).then_some(if is_sent { signs + shared } else { signs })
}

/// Mail in one of its two forms.
pub(super) enum Mail {
    Mbox,
    Message,
}

impl Codec for Mail {
    fn code(&self) -> [u8; 2] {
        match self {
            Mail::Mbox => [CODES[0], 0],
            Mail::Message => [CODES[1], 0],
        }
    }

    fn extension(&self) -> &'static str {
        match self {
            Mail::Mbox => "mbox",
            Mail::Message => "eml",
        }
    }

    fn numbering(&self) -> Numbering {
        match self {
            Mail::Mbox => Numbering::Messages,
            Mail::Message => Numbering::Lines,
        }
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        match self {
            Mail::Mbox => next_cut(source, at),
            Mail::Message if at == 0 => 0,
            Mail::Message => source.bytes,
        }
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        self.boundaries().map_or(Ok(Cuts::default()), |ends| cuts(source, ends))
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let parser = Box::new(MessageParser::new(&fields));
        let Some(ends) = self.boundaries() else { return whole(file, source, unit, &fields, parser) };
        let splitter = StretchSplitter::new(Numbers::new(file, &fields), ends, parser);
        Box::new(Windowed::new(source, unit, splitter))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        match self {
            Mail::Mbox => Some(Box::new(MessageEnds::default())),
            Mail::Message => None,
        }
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(MessageDescriber))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(MessageParser::new(fields)))
    }
}
