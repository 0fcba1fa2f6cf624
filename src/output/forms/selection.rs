//! Which records of a source are taken, and what was found out about each.

use std::ops::Range;

use super::cuts::{SourceCuts, mark};
use super::form::TextChange;
use super::notes::{Note, SourceNotes};
use crate::error::Result;
use crate::output::chosen::Side;

/// What becomes of a text.
pub(super) enum StretchEdit<'a> {
    Cut(&'a [Range<usize>]),
    Mark(Note),
    /// What an earlier run has marked goes.
    Unmark,
}

/// Which records of a source are taken, and what is said of them.
pub(super) struct Selection<'a> {
    pub(super) side: Side,
    /// The ascending offsets of removed records behind those asked for before.
    pub(super) removed: &'a [u64],
    pub(super) notes: Option<SourceNotes>,
    pub(super) cuts: Option<SourceCuts>,
    pub(super) texts: TextChange,
}

impl Selection<'_> {
    /// Whether the record at an offset is taken, which is behind those asked for before.
    pub(super) fn takes(&mut self, offset: u64) -> bool {
        while let [first, rest @ ..] = self.removed
            && *first < offset
        {
            self.removed = rest;
        }
        (self.removed.first() == Some(&offset)) == (self.side == Side::Removed)
    }

    /// What was found out about the record at an offset, which is behind those asked for before.
    pub(super) fn note(&mut self, offset: u64) -> Result<Option<&Note>> {
        self.notes.as_mut().map(|notes| notes.at(offset)).transpose()
    }

    /// What becomes of the text of such a record: nothing, if it has no stretches and is not marked, either.
    pub(super) fn change(&mut self, offset: u64) -> Result<Option<StretchEdit<'_>>> {
        let Some(cuts) = &mut self.cuts else { return Ok(None) };
        let stretches = cuts.at(offset)?;
        Ok(match self.texts {
            TextChange::Mark if !stretches.is_empty() => {
                Some(StretchEdit::Mark(Note::saying(mark(stretches))))
            }
            TextChange::Mark => Some(StretchEdit::Unmark),
            TextChange::Cut if !stretches.is_empty() => Some(StretchEdit::Cut(stretches)),
            _ => None,
        })
    }
}
