//! The inputs of a run, divided into units, and the lines that were read of each.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::document::Position;
use crate::error::{Error, Result};
use crate::flow::request::Part;
use crate::read::{Fields, Refused, Rejected, Source, Unit, units};

/// Bytes of an input file that one worker reads at a stretch.
const UNIT: u64 = 1 << 20;

/// The inputs of a run.
pub struct RunInputs {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Where in a record its text and its other fields are.
    pub fields: Arc<Fields>,
    /// What one worker reads at a stretch, in document order.
    pub units: Vec<Unit>,
    part: Part,
    /// Lines read of each unit.
    unit_lines: Vec<AtomicU64>,
    /// Lines of a file before each of its units; known once all is read.
    lines_before: OnceLock<Vec<u64>>,
}

impl RunInputs {
    /// Divides a part of the inputs, of so many bytes, for so many workers.
    pub fn new(
        sources: Vec<Source>,
        fields: Arc<Fields>,
        part: Part,
        bytes: u64,
        workers: usize,
    ) -> RunInputs {
        // Many more units than workers, so that none waits long for another's last one.
        let units = units(&sources, part.extent, (bytes / (workers as u64 * 8)).clamp(256 << 10, UNIT));
        let unit_lines = units.iter().map(|_| AtomicU64::new(0)).collect();
        RunInputs { sources, fields, units, part, unit_lines, lines_before: OnceLock::new() }
    }

    /// Notes how many lines a unit has.
    pub fn set_unit_lines(&self, unit: usize, lines: u64) {
        self.unit_lines[unit].store(lines, Ordering::Relaxed);
    }

    /// The units that have lines, as far as is known here, and how many.
    pub fn units_read(&self) -> impl Iterator<Item = (u64, u64)> {
        let lines = (0..).zip(&self.unit_lines).map(|(unit, lines)| (unit, lines.load(Ordering::Relaxed)));
        lines.filter(|(_, lines)| *lines > 0)
    }

    /// The line in the file of a record that is line `line` of its unit.
    pub fn line_at(&self, position: Position, line: u32) -> u64 {
        let key = |unit: &Unit| (unit.file, unit.start);
        let after = self.units.partition_point(|unit| key(unit) <= (position.file(), position.offset()));
        let before = self.lines_before.get_or_init(|| self.count_lines_before());
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
    pub fn refuse_gaps(&self, refused: &[Refused]) -> Result<()> {
        let divided = |refused: &&Refused| {
            let file = refused.position.file();
            refused.refusal.ends_file() && self.units.iter().filter(|unit| unit.file == file).nth(1).is_some()
        };
        match refused.iter().find(divided) {
            Some(Refused { position, refusal, .. }) => Err(Error::input(
                Path::new(&self.sources[position.file() as usize].shown),
                format!("at byte {}: {refusal}; nothing was written", position.offset()),
            )),
            None => Ok(()),
        }
    }

    /// For each unit the lines of its file that stand before it.
    fn count_lines_before(&self) -> Vec<u64> {
        let (mut file, mut sum) = (self.part.extent.from.0, self.part.lines);
        let before = |(unit, lines): (&Unit, &AtomicU64)| {
            if unit.file != file {
                (file, sum) = (unit.file, 0);
            }
            let before = sum;
            sum += lines.load(Ordering::Relaxed);
            before
        };
        self.units.iter().zip(&self.unit_lines).map(before).collect()
    }
}
