//! Records on their way from their reader to an encoder.

use super::cuts::{is_empty, without};
use super::encoders::{Encoder, Outgoing};
use super::notes::Note;
use super::selection::{Selection, StretchEdit};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::{Record, Refusal, Sink, Source};

/// Takes the records of a source as they are read.
pub(super) struct RecordTaker<'a> {
    source: &'a Source,
    selection: Selection<'a>,
    encoder: &'a mut dyn Encoder,
    name: String,
    /// Records of whose texts nothing is left.
    pub(super) emptied: u64,
    /// What went wrong.
    pub(super) failed: Option<Error>,
}

impl<'a> RecordTaker<'a> {
    /// Takes what is chosen of a source.
    pub(super) fn new(
        source: &'a Source,
        selection: Selection<'a>,
        encoder: &'a mut dyn Encoder,
    ) -> RecordTaker<'a> {
        RecordTaker { source, selection, encoder, name: String::new(), emptied: 0, failed: None }
    }

    fn take(&mut self, record: &Record<'_>) -> Result<()> {
        let offset = record.position.offset();
        if !self.selection.takes(offset) {
            return Ok(());
        }
        self.name.clear();
        match &record.id {
            Some(id) => self.name.push_str(id),
            None => self.name = format!("{}:{}", self.source.shown, record.line),
        }
        let (name, file) = (&*self.name, &*self.source.shown);
        let as_it_is = Outgoing { record, name, file, note: None, left: None };
        match self.selection.change(offset)? {
            Some(StretchEdit::Mark(note)) => self.encoder.record(&Outgoing { note: Some(&note), ..as_it_is }),
            Some(StretchEdit::Unmark) => {
                self.encoder.record(&Outgoing { note: Some(&Note::silence()), ..as_it_is })
            }
            Some(StretchEdit::Cut(stretches)) => {
                let left = without(record.text, stretches, &self.source.path)?;
                if is_empty(&left) {
                    self.emptied += 1;
                    return Ok(());
                }
                self.encoder.record(&Outgoing { left: Some(&left), ..as_it_is })
            }
            None => {
                let note = self.selection.note(offset)?;
                self.encoder.record(&Outgoing { note, ..as_it_is })
            }
        }
    }
}

impl Sink for RecordTaker<'_> {
    fn document(&mut self, record: &Record<'_>) {
        if self.failed.is_none() {
            self.failed = self.take(record).err();
        }
    }

    /// What is no document was refused when it was read first, and is written in no other form.
    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}
