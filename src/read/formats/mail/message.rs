//! Messages to documents: the text of their bodies, and a line for each attachment.

use std::borrow::Cow;
use std::fmt::Write;

use encoding_rs::Encoding;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{Addr, Address, DateTime, Message, MessageParser as Messages};
use xxhash_rust::xxh3::xxh3_128;

use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::date::{Day, day};
use crate::read::field::Fields;
use crate::read::payload::{ShownText, text_of_set};
use crate::read::record::{Record, Refusal, Value, observe};

use super::enriched::enriched_text;
use super::envelope::{begin_of_body, message_within, with_line_feeds};
use super::media::{ListKind, Media, PartHead};
use super::parts::{MailPart, MailParts};
use super::quotes::without_quotes;
use super::structure::{MOST_OF_BYTE, check_parts, structure_weight};
use super::utf_7::{is_utf_7, utf_7_text};

/// How many times the letters of the plain text those of a page have to be, so that it is taken in its place.
const OF_PAGE: usize = 2;

/// Fewest letters and digits that are what a mail says itself: a footer and a word of thanks are the same in many mails.
const LEAST_LETTERS: usize = 100;

/// Names of a character set that mails beyond ASCII name, too.
const ASCII: [&str; 3] = ["us-ascii", "ascii", "ansi_x3.4-1968"];

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
    fn take_text(&mut self, message: &[u8], parts: &MailParts) {
        let mut bodies = &parts.texts;
        self.take_bodies(message, parts, bodies, ShownText::All);
        if parts.pages != parts.texts {
            let plain = std::mem::take(&mut self.text);
            self.take_bodies(message, parts, &parts.pages, ShownText::All);
            // Programs that make the plain text of a page leave a little out; a mere notice that there is a page is no text of it.
            if letters(&self.text) <= OF_PAGE * letters(&plain) {
                self.text = plain;
            } else {
                bodies = &parts.pages;
            }
        }
        if self.fields.strip_quotes {
            self.take_own(message, parts, bodies);
        }
        for part in parts.all.iter().filter(|part| part.is_attachment) {
            let content = part.content(message);
            let digest = match part.media.is_text() {
                true => xxh3_128(charset_text(&content, part).as_bytes()),
                false => xxh3_128(&content),
            };
            // Writing to a string never fails.
            let _ = writeln!(self.text, "attachment {digest:032x}");
        }
    }

    /// Takes of bodies what they do not quote, if that is enough.
    fn take_own(&mut self, message: &[u8], parts: &MailParts, bodies: &[usize]) {
        let whole = std::mem::take(&mut self.text);
        let mut own = String::new();
        for body in bodies {
            self.take_bodies(message, parts, std::slice::from_ref(body), ShownText::Unquoted);
            own.push_str(&without_quotes(&self.text));
        }
        self.text = if letters(&own) < LEAST_LETTERS { whole } else { own };
    }

    fn take_bodies(&mut self, message: &[u8], parts: &MailParts, bodies: &[usize], of: ShownText) {
        self.text.clear();
        for part in bodies.iter().filter_map(|index| parts.all.get(*index)) {
            let content = part.content(message);
            let text = charset_text(&content, part);
            match part.media {
                Media::Html => {
                    of.take(&text, false, &mut self.page);
                    self.text.push_str(&self.page);
                }
                Media::Enriched => self.text.push_str(&enriched_text(&text)),
                _ => self.text.push_str(&text),
            }
            self.text.push('\n');
        }
    }
}

/// Letters and digits of a text.
fn letters(text: &str) -> usize {
    text.chars().filter(|letter| letter.is_alphanumeric()).count()
}

/// The text that bytes of a part are. What no known character set is named of, or one that says nothing beyond ASCII, is guessed.
fn charset_text<'a>(bytes: &'a [u8], part: &MailPart) -> Cow<'a, str> {
    let is_page = part.media == Media::Html;
    let is_ascii = |name: &str| ASCII.iter().any(|ascii| name.eq_ignore_ascii_case(ascii));
    let Some(name) = part.charset.as_deref().filter(|name| !is_ascii(name)) else {
        return text_of_set(bytes, None, is_page);
    };
    if is_utf_7(name) {
        return Cow::Owned(utf_7_text(bytes));
    }
    match (Encoding::for_label(name.as_bytes()), charset_decoder(name.as_bytes())) {
        (None, Some(decoder)) => Cow::Owned(decoder(bytes)),
        _ => text_of_set(bytes, Some(name), is_page),
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
        let bytes = with_line_feeds(raw);
        let bytes = message_within(&bytes)?;
        let message = &Messages::default().parse_headers(bytes).ok_or_else(no_message)?;
        let Some(last) = message.headers().last() else { return Err(no_message()) };
        let head = PartHead::of(message.parts.first(), ListKind::Other);
        let body = begin_of_body(bytes, last.offset_end as usize);
        self.take_text(bytes, &MailParts::of(bytes, head, body));
        let id = field(message, self.fields.id.as_str());
        if self.fields.needs_id() && id.is_none() {
            return Err(Refusal::lacks_id(self.fields.id.as_str(), &["id", "subject", "date"]));
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
        let bytes = with_line_feeds(record.raw);
        let Ok(bytes) = message_within(&bytes) else { return };
        let Some(message) = Messages::default().parse_headers(bytes) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::input::Input;

    fn text(message: &[u8]) -> String {
        text_of(message, &Input::default())
    }

    fn own(message: &[u8]) -> String {
        text_of(message, &Input { strip_quotes: true, ..Input::default() })
    }

    fn text_of(message: &[u8], input: &Input) -> String {
        let fields = Fields::of(input).expect("paths");
        let mut parser = MessageParser::new(&fields);
        let record = parser.record(Position::new(0, 0), 1, message).expect("a message");
        record.text.to_owned()
    }

    fn alternative(plain: &str, page: &str) -> String {
        let part = |kind: &str, body: &str| {
            format!("--x\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n{body}\r\n")
        };
        format!(
            "Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=x\r\n\r\n{}{}--x--\r\n",
            part("plain", plain),
            part("html", page)
        )
    }

    #[test]
    fn a_page_is_taken_where_the_plain_text_is_no_text_of_it() {
        let page = "<p>All that the <b>letter</b> of this month says of many things</p>";
        let shown = "All that the letter of this month says of many things";
        assert_eq!(text(alternative(shown, page).as_bytes()).trim(), shown);
        assert_eq!(
            text(alternative("All that it says of many things", page).as_bytes()).trim(),
            "All that it says of many things"
        );
        for stub in ["", "This is HTML."] {
            assert_eq!(text(alternative(stub, page).as_bytes()).trim(), shown, "{stub:?}");
        }
        // What belongs to both is in either once.
        assert_eq!(text(b"Subject: s\r\n\r\nonly this\r\n").trim(), "only this");
        assert_eq!(text(b"Content-Type: text/html\r\n\r\n<i>only</i> this\r\n").trim(), "only this");
    }

    #[test]
    fn quotations_go_if_enough_else_is_said() {
        let says = "ten letters ".repeat(10);
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = |says: &str| {
            format!("Subject: s\r\n\r\n{says}\r\n\r\nOn 5 Jan, Ann wrote:\r\n> one\r\n> two\r\n")
        };
        assert_eq!(words(own(plain(&says).as_bytes())), says.trim());
        assert_eq!(own(plain("yes").as_bytes()), text(plain("yes").as_bytes()));
        let page = format!(
            "Content-Type: text/html\r\n\r\n<title>t</title><p>{says}<div>On 5 Jan, <b>Ann</b> wrote:<br></div><blockquote type=cite>one\
             <blockquote>two</blockquote>three</blockquote><p>it is\r\n&gt; 3<pre>\r\n&gt; four</pre>\r\n"
        );
        assert_eq!(words(own(page.as_bytes())), format!("{says}it is > 3"));
        // The end of what a quotation stands in ends it.
        let page =
            format!("Content-Type: text/html\r\n\r\n<div><blockquote>one<p>two</div><div>{says}</div>\r\n");
        assert_eq!(words(own(page.as_bytes())), says.trim());
        // Which of plain text and page is taken does not hang on what they quote.
        let quoted = "one two three four five";
        let both = alternative(
            &format!("{says}\r\n> {quoted}"),
            &format!("<p>{says}<blockquote>{quoted}</blockquote>"),
        );
        assert_eq!(words(own(both.as_bytes())), says.trim());
        let stub = alternative("This is HTML.", &format!("<p>{says}<blockquote>{quoted}</blockquote>"));
        assert_eq!(words(own(stub.as_bytes())), says.trim());
    }

    #[test]
    fn what_one_body_quotes_ends_with_it() {
        let says = "ten letters ".repeat(10);
        let part = |body: &str| format!("--x\r\nContent-Type: text/plain\r\n\r\n{body}\r\n");
        let mixed = format!(
            "Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n{}{}--x--\r\n",
            part("mine\r\n-----Original Message-----\r\nFrom: a\r\n\r\nq"),
            part(&says)
        );
        let found = own(mixed.as_bytes());
        assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), format!("mine {}", says.trim()));
    }

    #[test]
    fn bodies_of_no_character_set_are_guessed() {
        let russian = "\u{441}\u{435}\u{433}\u{43e}\u{434}\u{43d}\u{44f} \u{43c}\u{44b} \u{433}\u{43e}\u{432}\u{43e}\u{440}\u{438}\u{43c} \
                       \u{43e} \u{43f}\u{43e}\u{433}\u{43e}\u{434}\u{435} \u{438} \u{43e} \u{434}\u{43e}\u{440}\u{43e}\u{433}\u{435} \u{434}\u{43e}\u{43c}\u{43e}\u{439}";
        let encodings = [encoding_rs::KOI8_R, encoding_rs::WINDOWS_1251, encoding_rs::UTF_8];
        for encoding in encodings {
            let bytes = encoding.encode(russian).0.into_owned();
            for named in ["", "; charset=unknown-8bit", "; charset=us-ascii"] {
                for kind in ["plain", "html"] {
                    let head = format!(
                        "Content-Type: text/{kind}{named}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
                    );
                    let message = [head.as_bytes(), &bytes, b"\r\n"].concat();
                    assert_eq!(text(&message).trim(), russian, "{} {named} {kind}", encoding.name());
                }
            }
            let named = format!("Content-Type: text/plain; charset={}\r\n\r\n", encoding.name());
            assert_eq!(text(&[named.as_bytes(), &bytes, b"\r\n"].concat()).trim(), russian);
        }
        let quoted = b"Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nna=EFve caf=E9\r\n";
        assert_eq!(text(quoted).trim(), "na\u{ef}ve caf\u{e9}");
    }

    #[test]
    fn what_a_body_is_written_in_does_not_matter() {
        let says = "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}, a.";
        for (head, body) in [
            ("text/plain; charset=utf-7", "+BD8EQAQ4BDIENQRC, a."),
            (
                "text/plain, charset=koi8-r\r\nContent-Transfer-Encoding: quoted-printable",
                "=D0=D2=C9=D7=C5=D4, a.",
            ),
            (
                "text/enriched; charset=utf-8\r\nContent-Transfer-Encoding: base64",
                "PGJvbGQ+0L/RgNC40LLQtdGCPC9ib2xkPiwgYS4=\r\n__\r\nlist",
            ),
            ("unknown", says),
            ("unknown", &format!("<html><body><p>{says}</p>")),
        ] {
            let message = format!("Content-Type: {head}\r\n\r\n{body}\r\n");
            assert_eq!(text(message.as_bytes()).trim(), says, "{message}");
        }
        // Sets that the Encoding Standard does not have.
        assert_eq!(text(b"Content-Type: text/plain; charset=cp850\r\n\r\ncaf\x82").trim(), "caf\u{e9}");
        assert_eq!(text(b"Content-Type: text/plain; charset=iso-2022-kr\r\n\r\nabc").trim(), "abc");
        let japanese = b"Content-Type: text/plain; charset=us-ascii\r\n\r\n\x1b$BF|K\\\x1b(B.";
        assert_eq!(text(japanese).trim(), "\u{65e5}\u{672c}.");
    }

    #[test]
    fn a_message_may_begin_and_end_its_lines_in_many_ways() {
        let message = "Message-ID: <1@a>\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b--\n";
        let from = "From a@b Mon Jan  5 10:00:00 2021\n";
        for begin in ["", from, &format!("\n\n{from}"), &format!("\u{feff}\r\n{from}")] {
            for end in ["\n", "\r\n", "\r"] {
                let message = format!("{begin}{message}").replace('\n', end);
                assert_eq!(text(message.as_bytes()), "one\n", "{message:?}");
            }
        }
        let fields = Fields::of(&Input::default()).expect("paths");
        assert!(MessageParser::new(&fields).record(Position::new(0, 0), 1, b"\n\nno headers").is_err());
    }
}
