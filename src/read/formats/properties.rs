//! What a document says of itself beside its text.

use std::borrow::Cow;

use crate::document::Position;
use crate::read::codec::Describer;
use crate::read::date::{Day, day};
use crate::read::field::{FieldPath, Fields};
use crate::read::record::{Record, Refusal, Value, observe};

/// Title and date of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileProperties {
    title: Option<String>,
    date: Option<String>,
}

impl FileProperties {
    /// Both, without space around them; empty ones are none.
    pub(super) fn new(title: &str, date: &str) -> FileProperties {
        let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        FileProperties { title: said(title), date: said(date) }
    }

    /// A property by its name.
    fn field(&self, path: &FieldPath) -> Option<&str> {
        match path.as_str() {
            "title" => self.title.as_deref(),
            "date" => self.date.as_deref(),
            _ => None,
        }
    }

    /// The record of a document. It has an id only if one of its properties is asked for as such.
    pub(super) fn record<'a>(
        &'a self,
        fields: &Fields,
        (position, line): (Position, u32),
        raw: &'a [u8],
        text: &'a str,
    ) -> Record<'a> {
        let field = |path: &FieldPath| self.field(path);
        let dated = |date| day(date).map_or(Day::Unclear, Day::Known);
        let value = fields.value.as_ref().and_then(field).map(|value| Value::Text(value.to_owned()));
        let paths = &fields.observed;
        Record {
            position,
            line,
            id: field(&fields.id).map(Into::into),
            text,
            header: "",
            raw,
            value,
            within: fields.within.as_ref().and_then(field).map(Cow::Borrowed),
            day: fields.date.as_ref().and_then(field).map_or(Day::None, dated),
            observed: observe(!paths.is_empty(), |at| paths.get(at).and_then(field).map(Cow::Borrowed)),
            deleted: false,
        }
    }
}

/// Names the properties of documents.
pub(super) struct PropertiesDescriber<F>(pub(super) F);

impl<F: Fn(&[u8]) -> Result<FileProperties, Refusal>> Describer for PropertiesDescriber<F> {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        // It was read before, and is refused now only if it changed since, or if what reads it fails.
        let Ok(found) = (self.0)(record.raw) else { return };
        let said = [("title", found.title), ("date", found.date)];
        said.into_iter().for_each(|(name, value)| value.iter().for_each(|value| each(name, value)));
    }
}
