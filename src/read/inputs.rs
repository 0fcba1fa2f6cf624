//! The inputs of a run, divided into units, and what reads them: all texts of all inputs go through [`RunInputs::read`].

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::field::Fields;
use super::record::Sink;
use super::rejected::{Refused, Rejected};
use super::source::{Extent, Source, Unit};
use super::unit::{UnitReader, units};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::progress::Progress;

/// Which part of the inputs a run reads.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// The part.
    pub extent: Extent,
    /// Lines of its first file that stand before it.
    pub lines: u64,
}

impl Part {
    /// All of the inputs.
    pub const ALL: Part = Part { extent: Extent::ALL, lines: 0 };
}

/// Who takes the records of a worker.
pub trait DocumentSink: Sink {
    /// Documents taken so far.
    fn documents(&self) -> u64;
}

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
    /// Divides a part of the inputs into units of about so many bytes.
    pub fn new(sources: Vec<Source>, fields: Arc<Fields>, part: Part, unit_bytes: u64) -> RunInputs {
        let units = units(&sources, part.extent, unit_bytes);
        let unit_lines = units.iter().map(|_| AtomicU64::new(0)).collect();
        RunInputs { sources, fields, units, part, unit_lines, lines_before: OnceLock::new() }
    }

    /// Hands the records of the units that `next` gives to `sink`, until `next` is behind the last of them. After about
    /// each mebibyte `step` says whether to go on.
    ///
    /// # Errors
    /// What `next` and `step` give, and those of [`UnitReader::advance`].
    pub fn read<S: DocumentSink>(
        &self,
        sink: &mut S,
        progress: &Progress,
        next: impl Fn() -> Result<usize>,
        mut step: impl FnMut(&mut S) -> Result<bool>,
    ) -> Result<()> {
        let mut earlier = None;
        loop {
            let at = next()?;
            if at >= self.units.len() || !self.read_unit(at, &mut earlier, sink, progress, &mut step)? {
                return Ok(());
            }
        }
    }

    /// Hands the records of a unit to `sink`; whether to go on, as `step` says after about each mebibyte. Units that a
    /// worker reads one after the other share what `earlier` holds.
    ///
    /// # Errors
    /// What `step` gives, and those of [`UnitReader::advance`].
    ///
    /// # Panics
    /// If there is no such unit.
    pub fn read_unit<S: DocumentSink>(
        &self,
        at: usize,
        earlier: &mut Option<UnitReader>,
        sink: &mut S,
        progress: &Progress,
        step: &mut impl FnMut(&mut S) -> Result<bool>,
    ) -> Result<bool> {
        let (unit, metrics) = (&self.units[at], progress.metrics());
        metrics.add(Metric::Units, 1);
        let source = &self.sources[unit.file as usize];
        let mut reader = UnitReader::open_after(earlier, source, unit, Arc::clone(&self.fields));
        let (mut bytes, mut documents) = (0, sink.documents());
        loop {
            let more = reader.advance(sink)?;
            progress.advance(reader.bytes() - bytes);
            metrics.add(Metric::ReadBytes, reader.bytes() - bytes);
            progress.add_documents(sink.documents() - documents);
            (bytes, documents) = (reader.bytes(), sink.documents());
            if !step(sink)? {
                return Ok(false);
            }
            if !more {
                break;
            }
        }
        self.set_unit_lines(at, reader.lines());
        *earlier = reader.at_hand();
        Ok(true)
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
    ///
    /// # Errors
    /// [`Error::Input`], which names the first such file.
    pub fn refuse_gaps(&self, refused: &[Refused]) -> Result<()> {
        let divided =
            |refused: &&Refused| refused.refusal.ends_file() && self.is_read_behind(refused.position);
        match refused.iter().find(divided) {
            Some(Refused { position, refusal, .. }) => Err(Error::input(
                Path::new(&self.sources[position.file() as usize].shown),
                format!("at byte {}: {refusal}; nothing was written", position.offset()),
            )),
            None => Ok(()),
        }
    }

    /// Whether anything of a file behind a position is read all the same: by a later unit, or by a later part of a load.
    fn is_read_behind(&self, position: Position) -> bool {
        let (file, offset) = (position.file(), position.offset());
        let source = &self.sources[file as usize];
        self.units.iter().any(|unit| unit.file == file && unit.start > offset)
            || self.part.extent.of(file, source).end < source.length()
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
