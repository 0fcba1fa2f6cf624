//! All texts of the inputs, each read once, by several workers and, if there are any, several processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::document::Position;
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::metrics::Metric;
use crate::progress::{Progress, Stage};
use crate::read::{
    Extent, Fields, Input, Record, Refusal, Refused, Rejected, Sink, Source, Unit, UnitReader, units,
};

/// The counter of units: a job that surveys has no other.
const COUNTER: u64 = 0;
/// Stretches that an input is cut into, unless these would be too short or too long.
const UNITS: u64 = 256;
/// Least and most bytes of such a stretch.
const UNIT: (u64, u64) = (256 << 10, 1 << 20);

/// What is read, and by whom.
pub struct Survey<'a> {
    /// The inputs, in document order.
    pub sources: &'a [Source],
    /// Where a text stands in a record.
    pub input: &'a Input,
    /// Threads of this process, at least 1.
    pub workers: usize,
    /// The other processes of the job, if there are any: they survey the same inputs.
    pub mesh: Option<&'a Mesh>,
}

/// Who takes texts in.
pub(crate) trait Reader {
    /// Takes a document in. After an error it gets no more.
    fn read(&mut self, record: &Record<'_>) -> Result<()>;
}

/// What came of a survey.
pub(crate) struct Surveyed<R> {
    /// What each worker of this process has taken in.
    pub(crate) readers: Vec<R>,
    /// Records refused, in document order: of all processes in process 0, elsewhere none.
    pub(crate) refused: Vec<Rejected>,
}

impl Survey<'_> {
    /// Has every text read by one of the readers, a reader for each worker.
    pub(crate) fn read<R: Reader + Send>(
        &self,
        reader: impl Fn() -> R + Sync,
        progress: &Progress,
    ) -> Result<Surveyed<R>> {
        let bytes: u64 = self.sources.iter().map(|source| source.bytes).sum();
        let processes = self.mesh.map_or(1, Mesh::processes);
        progress.enter(Stage::Read, bytes / processes as u64);
        // All processes cut alike, whatever their workers.
        let units = units(self.sources, Extent::ALL, (bytes / UNITS).clamp(UNIT.0, UNIT.1));
        let fields = Arc::new(Fields::of(self.input)?);
        let shared = Shared {
            survey: self,
            units,
            fields,
            progress,
            next: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        };
        let done: Vec<Result<Done<R>>> = std::thread::scope(|scope| {
            let work = || shared.work(reader()).inspect_err(|_| shared.failed.store(true, Ordering::Relaxed));
            let threads: Vec<_> = (0..self.workers).map(|_| scope.spawn(work)).collect();
            let panicked = |_| Err(Error::Worker("a thread that reads the input panicked".into()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let (mut readers, mut found) = (Vec::new(), Found::default());
        for done in done {
            let Done { reader, found: own } = done?;
            readers.push(reader);
            found.refused.extend(own.refused);
            found.lines.extend(own.lines);
        }
        progress.check()?;
        let refused = self.places(&shared.units, self.gather(found)?);
        Ok(Surveyed { readers, refused })
    }

    /// What the workers of all processes have found, in process 0.
    fn gather(&self, own: Found) -> Result<Found> {
        let Some(mesh) = self.mesh else { return Ok(own) };
        let failed =
            |e: serde_json::Error| Error::Worker(format!("what a process has found makes no sense: {e}"));
        let mut all = Found::default();
        for bytes in mesh.gather(serde_json::to_vec(&own).map_err(failed)?)? {
            let found: Found = serde_json::from_slice(&bytes).map_err(failed)?;
            all.refused.extend(found.refused);
            all.lines.extend(found.lines);
        }
        Ok(all)
    }

    /// Where refused records stand in their files, in document order.
    fn places(&self, units: &[Unit], mut found: Found) -> Vec<Rejected> {
        found.lines.sort_unstable();
        found.refused.sort_by_key(|refused| refused.position);
        let (mut before, mut sum, mut file) = (vec![0; units.len()], 0, 0);
        for (unit, lines) in found.lines {
            if units[unit].file != file {
                (file, sum) = (units[unit].file, 0);
            }
            before[unit] = sum;
            sum += lines;
        }
        let place = |refused: Refused| {
            let place = (refused.position.file(), refused.position.offset());
            let after = units.partition_point(|unit| (unit.file, unit.start) <= place);
            let before = after.checked_sub(1).map_or(0, |unit| before[unit]);
            let source = &self.sources[refused.position.file() as usize];
            refused.rejected(source, before + u64::from(refused.line))
        };
        found.refused.into_iter().map(place).collect()
    }
}

/// What workers have found beside texts.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Found {
    /// Refused records.
    refused: Vec<Refused>,
    /// Lines of each unit that was read.
    lines: Vec<(usize, u64)>,
}

/// What a worker leaves.
struct Done<R> {
    reader: R,
    found: Found,
}

/// What the workers of a process share.
struct Shared<'a> {
    survey: &'a Survey<'a>,
    units: Vec<Unit>,
    fields: Arc<Fields>,
    progress: &'a Progress,
    next: AtomicU64,
    failed: AtomicBool,
}

impl Shared<'_> {
    /// Reads units until none is left.
    fn work<R: Reader>(&self, reader: R) -> Result<Done<R>> {
        let mut taken = Taken { reader, found: Found::default(), documents: 0, text_bytes: 0, failure: None };
        while !self.failed.load(Ordering::Relaxed) {
            let number = self.take()?;
            let Some(unit) = self.units.get(number) else { break };
            self.progress.metrics().add(Metric::Units, 1);
            let source = &self.survey.sources[unit.file as usize];
            let mut lines = UnitReader::open(unit.file, source, unit, Arc::clone(&self.fields));
            let mut bytes = 0;
            loop {
                let more = lines.advance(&mut taken)?;
                self.tell(lines.bytes() - bytes, &mut taken)?;
                bytes = lines.bytes();
                if !more {
                    break;
                }
            }
            taken.found.lines.push((number, lines.lines()));
        }
        self.progress.metrics().add(Metric::Refused, taken.found.refused.len() as u64);
        Ok(Done { reader: taken.reader, found: taken.found })
    }

    /// Tells what was read since the last time, and ends the work if there is a reason.
    fn tell<R>(&self, bytes: u64, taken: &mut Taken<R>) -> Result<()> {
        self.progress.advance(bytes);
        self.progress.metrics().add(Metric::ReadBytes, bytes);
        self.progress.add_documents(std::mem::take(&mut taken.documents));
        self.progress.metrics().add(Metric::TextBytes, std::mem::take(&mut taken.text_bytes));
        taken.failure.take().map_or(Ok(()), Err)?;
        self.progress.check()
    }

    /// The next unit that is to be read: of those of this process, or of all.
    fn take(&self) -> Result<usize> {
        let next = match self.survey.mesh {
            None => self.next.fetch_add(1, Ordering::Relaxed),
            Some(mesh) => mesh.take(COUNTER)?,
        };
        Ok(next as usize)
    }
}

/// A worker's reader, and what it does not take.
struct Taken<R> {
    reader: R,
    found: Found,
    /// Not yet told.
    documents: u64,
    text_bytes: u64,
    failure: Option<Error>,
}

impl<R: Reader> Sink for Taken<R> {
    fn document(&mut self, record: &Record<'_>) {
        self.documents += 1;
        self.text_bytes += record.text.len() as u64;
        if self.failure.is_none() {
            self.failure = self.reader.read(record).err();
        }
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        self.found.refused.push(Refused { position, line, refusal });
    }
}
