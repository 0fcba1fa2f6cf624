//! Where documents stand, as people are told.

use std::sync::atomic::{AtomicU64, Ordering};

use super::catalogue::Doc;
use super::{Part, Shared};
use crate::error::{Error, Result};
use crate::read::{Refused, Rejected, Unit};

impl Shared {
    /// The document's id, or `FILE:LINE` if its record has none.
    pub fn name(&self, doc: Doc) -> Result<String> {
        Ok(match self.catalogue.label(doc)? {
            Some(label) => label.into_owned(),
            None => format!("{}:{}", self.file(doc), self.line(doc)),
        })
    }

    /// Path of the document's file, as the user named it.
    pub fn file(&self, doc: Doc) -> String {
        if let Some(replay) = self.replay() {
            return replay.place(self.catalogue.position(doc).offset() as usize).0;
        }
        self.sources[self.catalogue.position(doc).file() as usize].shown.clone()
    }

    /// The document's line in its file, counted from 1.
    pub fn line(&self, doc: Doc) -> u64 {
        if let Some(replay) = self.replay() {
            return replay.place(self.catalogue.position(doc).offset() as usize).1;
        }
        self.line_at(self.catalogue.position(doc), self.catalogue.line(doc))
    }

    /// The line in the file of a record that is line `line` of its unit.
    pub fn line_at(&self, position: crate::document::Position, line: u32) -> u64 {
        let key = |unit: &Unit| (unit.file, unit.start);
        let after = self.units.partition_point(|unit| key(unit) <= (position.file(), position.offset()));
        let count = || lines_before(&self.units, &self.unit_lines, self.part);
        let before = self.lines_before.get_or_init(count);
        u64::from(line) + after.checked_sub(1).map_or(0, |unit| before[unit])
    }

    /// Refused records, ready to be shown.
    pub fn rejected(&self, refused: &[Refused]) -> Vec<Rejected> {
        let record = |refused: &Refused| {
            let line = self.line_at(refused.position, refused.line);
            refused.rejected(&self.sources[refused.position.file() as usize], line)
        };
        refused.iter().map(record).collect()
    }

    /// Lines of a file that stand before the end of what was read of it.
    pub fn lines_read(&self, file: u32) -> u64 {
        let lines = self.units.iter().zip(&self.unit_lines).filter(|(unit, _)| unit.file == file);
        let lines: u64 = lines.map(|(_, lines)| lines.load(Ordering::Relaxed)).sum();
        lines + if file == self.part.extent.from.0 { self.part.lines } else { 0 }
    }

    /// Refuses a file that was read in pieces of which one could not be read to its end: what stands behind the gap
    /// was read, so the file can neither be cut there nor be copied.
    pub(super) fn refuse_gaps(&self, refused: &[Refused]) -> Result<()> {
        let divided = |refused: &&Refused| {
            let file = refused.position.file();
            refused.refusal.ends_file() && self.units.iter().filter(|unit| unit.file == file).nth(1).is_some()
        };
        match refused.iter().find(divided) {
            Some(Refused { position, refusal, .. }) => {
                let path = std::path::Path::new(&self.sources[position.file() as usize].shown);
                Err(Error::input(
                    path,
                    format!("at byte {}: {refusal}; nothing was written", position.offset()),
                ))
            }
            None => Ok(()),
        }
    }
}

/// For each unit the lines of its file that stand before it.
fn lines_before(units: &[Unit], lines: &[AtomicU64], part: Part) -> Vec<u64> {
    let (mut file, mut sum) = (part.extent.from.0, part.lines);
    let before = |(unit, lines): (&Unit, &AtomicU64)| {
        if unit.file != file {
            (file, sum) = (unit.file, 0);
        }
        let before = sum;
        sum += lines.load(Ordering::Relaxed);
        before
    };
    units.iter().zip(lines).map(before).collect()
}
