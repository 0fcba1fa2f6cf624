//! Pages of wikis to documents.

use std::borrow::Cow;

use super::page::WikiPage;
use crate::document::{DocumentName, Position};
use crate::read::codec::{Describer, Parser};
use crate::read::date::{Day, day};
use crate::read::field::{FieldPath, Fields};
use crate::read::input::MissingText;
use crate::read::record::{Record, Refusal, SHOWN_KEYS, Value, observe};

/// Makes documents of pages.
pub(super) struct WikiParser {
    fields: Fields,
    /// A text whose entities were decoded.
    text: String,
}

impl WikiParser {
    pub(super) fn new(fields: &Fields) -> WikiParser {
        WikiParser { fields: fields.clone(), text: String::new() }
    }

    /// The text of a page; one that is missing may be that of a document without a word.
    fn text<'a>(&'a mut self, page: &WikiPage<'a>) -> Result<&'a str, Refusal> {
        match page.text()? {
            Some(Cow::Borrowed(text)) => Ok(text),
            Some(Cow::Owned(text)) => {
                self.text = text;
                Ok(&self.text)
            }
            None if self.fields.missing_text == MissingText::Keep => Ok(""),
            None => {
                let names = page.names();
                let shown = &names[..names.len().min(SHOWN_KEYS)];
                Err(Refusal::no_text("text", shown, names.len() - shown.len()))
            }
        }
    }
}

impl Parser for WikiParser {
    fn rest(&mut self) {
        self.text = String::new();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let page = WikiPage::of(raw)?;
        let field = |path: &FieldPath| page.field(path.as_str());
        let id = field(&self.fields.id).map(DocumentName::from);
        if self.fields.needs_id() && id.is_none() {
            return Err(Refusal::lacks_id(self.fields.id.as_str(), &["id", "title", "timestamp"]));
        }
        let within = self.fields.within.as_ref().and_then(field);
        let value = self.fields.value.as_ref().and_then(field).as_deref().map(Value::spelt);
        let date = self.fields.date.as_ref().and_then(field);
        let day = date.map_or(Day::None, |date| day(&date).map_or(Day::Unclear, Day::Known));
        let paths = &self.fields.observed;
        let observed = observe(!paths.is_empty(), |at| paths.get(at).and_then(field));
        let text = self.text(&page)?;
        let (header, deleted) = ("", false);
        Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
    }
}

/// Names what pages say of themselves.
pub(super) struct WikiDescriber;

impl Describer for WikiDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let Ok(page) = WikiPage::of(record.raw) else { return };
        for name in ["title", "date"] {
            if let Some(value) = page.field(name) {
                each(name, &value);
            }
        }
    }
}
