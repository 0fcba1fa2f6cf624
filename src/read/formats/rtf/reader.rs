//! RTF to its text: which groups are text, and what their control words and bytes mean.

use std::collections::HashMap;

use super::code_pages::CodePage;
use super::tokens::{RtfToken, RtfTokens};
use super::words::{WordMeaning, character, meaning};
use crate::limits::MAX_NESTING;
use crate::read::formats::properties::FileProperties;
use crate::read::formats::text_parts::{TextPart, TextParts};
use crate::read::record::Refusal;

/// Where the text of a group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Part(TextPart),
    Fonts,
    /// What the document says of itself, of which only some is wanted.
    Info,
    Title,
    Created,
    Revised,
}

/// What counts until a group ends.
#[derive(Clone, Copy, Debug)]
struct RtfGroup {
    destination: Destination,
    /// Whether nothing of it is text, whatever the destination.
    skipped: bool,
    /// Whether the alternative in Unicode is text.
    alternative: bool,
    /// Whether the group may be skipped by those who do not know its first word.
    starred: bool,
    font: Option<i32>,
    /// How many characters stand for one of Unicode, for those who do not know it.
    substitutes: usize,
    hidden: bool,
    deleted: bool,
    /// Where the text of the group begins in its part.
    start: usize,
}

/// Reads the text of a document.
struct RtfReader {
    parts: TextParts,
    group: RtfGroup,
    outer: Vec<RtfGroup>,
    page: CodePage,
    /// The pages of fonts that have one of their own.
    fonts: HashMap<i32, CodePage>,
    default_font: Option<i32>,
    /// Bytes that are not decoded yet, and their page: a character may take several.
    pending: Vec<u8>,
    pending_page: CodePage,
    /// Characters to pass over, which stand for one of Unicode.
    passed: usize,
    /// The first half of a character that takes two numbers.
    half: Option<u16>,
    title: String,
    created: [i32; 3],
    revised: [i32; 3],
}

/// The text and the properties of a document.
///
/// # Errors
/// [`Refusal::Malformed`] if it does not begin like one, or is cut off.
pub(super) fn read_rtf(bytes: &[u8], text: &mut String) -> Result<FileProperties, Refusal> {
    let malformed = |what: &str| Refusal::Malformed(what.to_owned());
    if !bytes.trim_ascii_start().starts_with(b"{\\rtf") {
        return Err(malformed("the file does not begin like RTF"));
    }
    let mut reader = RtfReader::new();
    for token in RtfTokens::new(bytes) {
        match token {
            RtfToken::Open if reader.outer.len() >= MAX_NESTING => {
                return Err(Refusal::Malformed(format!("more than {MAX_NESTING} groups within each other")));
            }
            RtfToken::Close if reader.outer.len() <= 1 => {
                reader.close();
                reader.parts.join(text);
                return Ok(reader.properties());
            }
            token => reader.take(token),
        }
    }
    Err(malformed("the file ends within a group: it is cut off"))
}

impl RtfReader {
    fn new() -> RtfReader {
        let group = RtfGroup {
            destination: Destination::Part(TextPart::Body),
            skipped: false,
            alternative: false,
            starred: false,
            font: None,
            substitutes: 1,
            hidden: false,
            deleted: false,
            start: 0,
        };
        RtfReader {
            parts: TextParts::default(),
            group,
            outer: Vec::new(),
            page: CodePage::WESTERN,
            fonts: HashMap::new(),
            default_font: None,
            pending: Vec::new(),
            pending_page: CodePage::WESTERN,
            passed: 0,
            half: None,
            title: String::new(),
            created: [0; 3],
            revised: [0; 3],
        }
    }

    fn take(&mut self, token: RtfToken<'_>) {
        match token {
            RtfToken::Open => {
                self.flush();
                self.outer.push(self.group);
                self.group.starred = false;
            }
            RtfToken::Close => self.close(),
            RtfToken::Word(name, number) => self.word(name, number),
            RtfToken::Symbol(symbol) => self.symbol(symbol),
            RtfToken::Hex(byte) => self.bytes(&[byte]),
            RtfToken::Text(bytes) => self.bytes(bytes),
        }
    }

    fn close(&mut self) {
        self.flush();
        let Some(outer) = self.outer.pop() else { return };
        let RtfGroup { destination, start, .. } = self.group;
        if let Destination::Part(part @ (TextPart::Header | TextPart::Footer)) = destination
            && outer.destination != destination
        {
            self.parts.end_aside(part, start);
        }
        self.group = outer;
    }

    /// Whether what stands here is text.
    fn is_text(&self) -> bool {
        let RtfGroup { skipped, hidden, deleted, .. } = self.group;
        !skipped && !hidden && !deleted
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let passed = self.passed.min(bytes.len());
        self.passed -= passed;
        let bytes = &bytes[passed..];
        if bytes.is_empty() || !self.is_text() {
            return;
        }
        self.half = None;
        let page = self.font_page();
        if page != self.pending_page {
            self.flush();
            self.pending_page = page;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// The code page of the font that is chosen.
    fn font_page(&self) -> CodePage {
        let font = self.group.font.or(self.default_font);
        font.and_then(|font| self.fonts.get(&font).copied()).unwrap_or(self.page)
    }

    /// Where text goes, if it goes anywhere.
    fn target(&mut self) -> Option<&mut String> {
        match self.group.destination {
            Destination::Part(part) => Some(self.parts.of(part)),
            Destination::Title => Some(&mut self.title),
            _ => None,
        }
    }

    /// Decodes the bytes that wait for it.
    fn flush(&mut self) {
        self.half = None;
        self.passed = 0;
        self.decode();
    }

    fn decode(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let (bytes, page) = (std::mem::take(&mut self.pending), self.pending_page);
        if let Some(text) = self.target() {
            page.decode(&bytes, text);
        }
        self.pending = bytes;
        self.pending.clear();
    }

    fn character(&mut self, character: char) {
        self.decode();
        if self.is_text()
            && let Some(text) = self.target()
        {
            text.push(character);
        }
    }

    fn symbol(&mut self, symbol: u8) {
        if self.passed > 0 && symbol != b'*' {
            self.passed -= 1;
            return;
        }
        match symbol {
            b'*' => self.group.starred = true,
            b'\\' | b'{' | b'}' => self.character(char::from(symbol)),
            b'~' => self.character('\u{a0}'),
            b'_' => self.character('-'),
            b'\r' | b'\n' => self.character('\n'),
            b'\t' => self.character('\t'),
            _ => {}
        }
    }

    fn word(&mut self, name: &[u8], number: Option<i32>) {
        let starred = std::mem::take(&mut self.group.starred);
        if self.passed > 0 {
            self.passed -= 1;
            return;
        }
        if name != b"u" {
            // Words change what bytes before them do not mean.
            self.decode();
            self.half = None;
        }
        if let Some(found) = character(name) {
            return self.character(found);
        }
        match meaning(name) {
            Some(WordMeaning::Alternative) if self.group.alternative => self.group.skipped = false,
            Some(WordMeaning::Alternatives) => {
                self.group.alternative = !self.group.skipped;
                self.group.skipped = true;
            }
            _ if self.group.skipped => {}
            Some(WordMeaning::Skipped) => self.group.skipped = true,
            Some(WordMeaning::Followed | WordMeaning::Alternative) => {}
            Some(WordMeaning::Part(part)) => self.begin(Destination::Part(part)),
            Some(WordMeaning::RowEnd) => {
                if let Destination::Part(part) = self.group.destination {
                    self.parts.begin_line(part);
                }
            }
            None if starred => self.group.skipped = true,
            None => self.setting(name, number),
        }
    }

    fn begin(&mut self, destination: Destination) {
        self.group.destination = destination;
        if let Destination::Part(part) = destination {
            self.group.start = self.parts.of(part).len();
            self.parts.begin_line(part);
        }
    }

    /// A word that is no text and begins none.
    fn setting(&mut self, name: &[u8], number: Option<i32>) {
        let destination = self.group.destination;
        match (name, number) {
            (b"u", Some(number)) => self.unicode(number),
            (b"uc", Some(number)) => self.group.substitutes = usize::try_from(number).unwrap_or_default(),
            (b"f", Some(_)) => self.group.font = number,
            (b"deff", Some(_)) => self.default_font = number,
            (b"fcharset", Some(number)) if destination == Destination::Fonts => {
                let page = CodePage::of_font(number);
                if let (Some(font), Some(page)) = (self.group.font, page) {
                    self.fonts.insert(font, page);
                }
            }
            (b"cpg", Some(number)) if destination == Destination::Fonts => {
                if let Some(font) = self.group.font {
                    self.fonts.insert(font, CodePage::of(number));
                }
            }
            (b"ansicpg", Some(number)) => self.page = CodePage::of(number),
            (b"mac", _) => self.page = CodePage::MAC,
            (b"pc" | b"pca", _) => self.page = CodePage::Unknown,
            (b"plain", _) => {
                (self.group.hidden, self.group.deleted, self.group.font) = (false, false, None);
            }
            (b"v", number) => self.group.hidden = number != Some(0),
            (b"deleted", number) => self.group.deleted = number != Some(0),
            (b"fonttbl", _) => self.group.destination = Destination::Fonts,
            (b"info", _) => self.group.destination = Destination::Info,
            (b"title", _) if destination == Destination::Info => self.begin(Destination::Title),
            (b"creatim", _) if destination == Destination::Info => self.begin(Destination::Created),
            (b"revtim", _) if destination == Destination::Info => self.begin(Destination::Revised),
            (b"yr", Some(number)) => self.dated(0, number),
            (b"mo", Some(number)) => self.dated(1, number),
            (b"dy", Some(number)) => self.dated(2, number),
            _ => {}
        }
    }

    fn dated(&mut self, at: usize, number: i32) {
        match self.group.destination {
            Destination::Created => self.created[at] = number,
            Destination::Revised => self.revised[at] = number,
            _ => {}
        }
    }

    /// A character of Unicode: its number, or a half of one in UTF-16. Numbers above 32,767 are written as negative ones.
    fn unicode(&mut self, number: i32) {
        let half = self.half.take();
        self.decode();
        let unit = u16::try_from(number).or(i16::try_from(number).map(i16::cast_unsigned));
        match (half, unit) {
            (None, Ok(first @ 0xd800..=0xdbff)) => self.half = Some(first),
            (Some(first), Ok(second)) => {
                let both = char::decode_utf16([first, second]);
                both.for_each(|one| self.character(one.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            (_, unit) => {
                let scalar = unit.map_or(u32::try_from(number).unwrap_or(u32::MAX), u32::from);
                self.character(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.passed = self.group.substitutes;
    }

    fn properties(&self) -> FileProperties {
        let mut dates = [self.revised, self.created].into_iter();
        let date = dates.find(|[year, month, day]| *year > 0 && *month > 0 && *day > 0);
        let date = date.map(|[year, month, day]| format!("{year:04}-{month:02}-{day:02}"));
        FileProperties::new(&self.title, &date.unwrap_or_default())
    }
}
