//! All texts of the inputs, each read once, by several workers and, if there are any, several processes.

use crate::limits::sized;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::document::Position;
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::metrics::Metric;
use crate::progress::{Progress, Stage};
use crate::read::{
    DocumentSink, Fields, Input, Part, Record, RecordCost, RecordRoom, Refusal, Refused, Rejected, RunInputs,
    Sink, Source, admit_windows, allow_refused,
};
use crate::threads::in_threads;

/// The counter of units of a job that reads its inputs in one survey.
pub const ONLY_SURVEY: u64 = 0;
/// Stretches that an input is cut into, unless these would be too short or too long.
const UNITS: u64 = 256;
/// Least and most bytes of such a stretch.
const UNIT: (u64, u64) = sized((256 << 10, 1 << 20), (100, 1 << 10));

/// What is read, and by whom.
pub struct Survey<'a> {
    /// The inputs, in document order.
    pub sources: &'a [Source],
    /// Where a text stands in a record.
    pub input: &'a Input,
    /// Threads of this process, at least 1.
    pub workers: usize,
    /// Bytes that this process may take, if there is a bound: the windows of Zstandard files have to fit in.
    pub memory: Option<u64>,
    /// The other processes of the job, if there are any: they survey the same inputs.
    pub mesh: Option<&'a Mesh>,
    /// The counter by which these share units: another one for each survey of a job.
    pub counter: u64,
}

/// Who takes texts in.
pub(crate) trait TextReader {
    /// Takes a document in, or tells why it is refused: the memory has no room for what is made of it. After an error it gets
    /// no more.
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>>;
}

/// What came of a survey.
pub(crate) struct Surveyed<R> {
    /// What each worker of this process has taken in.
    pub(crate) readers: Vec<R>,
    /// Records refused, in document order: of all processes in process 0, elsewhere none.
    pub(crate) refused: Vec<Rejected>,
    /// The same, as they were found.
    pub(crate) refusals: Vec<Refused>,
    /// What was read. Process 0 knows the lines of all of it.
    pub(crate) inputs: RunInputs,
}

impl Survey<'_> {
    /// Bytes of the memory that the windows of its files take.
    ///
    /// # Errors
    /// [`Error::Input`] for a file whose window does not fit.
    pub(crate) fn windows(&self) -> Result<u64> {
        admit_windows(&mut self.sources.to_vec(), self.memory, self.workers)
    }

    /// The room for records that cost so much, beside the windows of files.
    ///
    /// # Errors
    /// As [`Survey::windows`].
    pub(crate) fn room(&self, cost: RecordCost, progress: &Arc<Progress>) -> Result<RecordRoom> {
        Ok(RecordRoom::new(self.memory, self.windows()?, self.workers, cost, progress))
    }

    /// Has every text read by one of the readers, a reader for each worker. Records are as long as there is room for.
    pub(crate) fn read<R: TextReader + Send>(
        &self,
        room: RecordRoom,
        reader: impl Fn() -> R + Sync,
        progress: &Progress,
    ) -> Result<Surveyed<R>> {
        let bytes: u64 = self.sources.iter().map(|source| source.bytes).sum();
        let processes = self.mesh.map_or(1, Mesh::processes);
        progress.enter(Stage::Read, bytes / processes as u64);
        // All processes cut alike, whatever their workers.
        let unit_bytes = (bytes / UNITS).clamp(UNIT.0, UNIT.1);
        let fields = Arc::new(Fields { room, ..Fields::of(self.input)? });
        let mut sources = self.sources.to_vec();
        admit_windows(&mut sources, self.memory, self.workers)?;
        sources.iter_mut().for_each(|source| source.stopped_by(progress.stop_flag()));
        let inputs = RunInputs::new(sources, fields, Part::ALL, unit_bytes);
        let shared = SurveyWork {
            shared: self.mesh.map(|mesh| (mesh, self.counter)),
            inputs,
            memory: self.memory,
            progress,
            next: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        };
        let done = in_threads(0..self.workers, |_| {
            shared.work(reader()).inspect_err(|_| shared.failed.store(true, Ordering::Relaxed))
        });
        let (mut readers, mut refused) = (Vec::new(), Vec::new());
        for SurveySink { reader, refused: own, .. } in done? {
            readers.push(reader);
            refused.extend(own);
        }
        progress.check()?;
        let SurveyWork { inputs, .. } = shared;
        let mut refusals = self.gather(refused, &inputs)?;
        refusals.sort_by_key(|refused| refused.position);
        Ok(Surveyed { readers, refused: inputs.rejected(&refusals), refusals, inputs })
    }

    /// The refused records of all processes, in process 0, which then knows the lines of all units.
    fn gather(&self, refused: Vec<Refused>, inputs: &RunInputs) -> Result<Vec<Refused>> {
        let Some(mesh) = self.mesh else { return Ok(refused) };
        let failed =
            |e: serde_json::Error| Error::Worker(format!("what a process has found makes no sense: {e}"));
        let own = SurveyFindings { refused, lines: inputs.units_read().collect() };
        let mut all = Vec::new();
        for bytes in mesh.gather(serde_json::to_vec(&own).map_err(failed)?)? {
            let found: SurveyFindings = serde_json::from_slice(&bytes).map_err(failed)?;
            all.extend(found.refused);
            // Those of all processes are told of by this one.
            allow_refused(all.len(), (self.memory, 0), || None)?;
            found.lines.iter().for_each(|(unit, lines)| inputs.set_unit_lines(*unit as usize, *lines));
        }
        Ok(all)
    }
}

/// What the workers of a process have found beside texts.
#[derive(serde::Serialize, serde::Deserialize)]
struct SurveyFindings {
    /// Refused records.
    refused: Vec<Refused>,
    /// Lines of each unit that was read.
    lines: Vec<(u64, u64)>,
}

/// What the workers of a process share.
struct SurveyWork<'a> {
    /// The other processes, and the counter by which they share units.
    shared: Option<(&'a Mesh, u64)>,
    inputs: RunInputs,
    /// The memory of this process.
    memory: Option<u64>,
    progress: &'a Progress,
    next: AtomicU64,
    failed: AtomicBool,
}

impl SurveyWork<'_> {
    /// Reads units until none is left.
    fn work<R: TextReader>(&self, reader: R) -> Result<SurveySink<R>> {
        let (refused, documents, text_bytes, failure) = (Vec::new(), 0, 0, None);
        let (most_refused, noted_refused) = (self.inputs.most_refused(self.memory), 0);
        let mut taken =
            SurveySink { reader, refused, most_refused, noted_refused, documents, text_bytes, failure };
        let metrics = self.progress.metrics();
        self.inputs.read(
            &mut taken,
            self.progress,
            || self.take(),
            |taken| {
                metrics.add(Metric::TextBytes, std::mem::take(&mut taken.text_bytes));
                taken.failure.take().map_or(Ok(()), Err)?;
                self.inputs.allow_refused(&taken.refused, &mut taken.noted_refused, self.memory)?;
                self.progress.check()?;
                Ok(!self.failed.load(Ordering::Relaxed))
            },
        )?;
        metrics.add(Metric::Refused, taken.refused.iter().map(Refused::records).sum());
        Ok(taken)
    }

    /// The next unit that is to be read: of those of this process, or of all.
    fn take(&self) -> Result<usize> {
        let next = match self.shared {
            None => self.next.fetch_add(1, Ordering::Relaxed),
            Some((mesh, counter)) => mesh.take(counter)?,
        };
        Ok(next as usize)
    }
}

/// A worker's reader, and what it does not take.
struct SurveySink<R> {
    reader: R,
    refused: Vec<Refused>,
    most_refused: usize,
    noted_refused: usize,
    documents: u64,
    /// Not yet told.
    text_bytes: u64,
    failure: Option<Error>,
}

impl<R: TextReader> Sink for SurveySink<R> {
    fn document(&mut self, record: &Record<'_>) {
        if self.failure.is_some() {
            return;
        }
        match self.reader.read(record) {
            Ok(None) => {
                self.documents += 1;
                self.text_bytes += record.text.len() as u64;
            }
            Ok(Some(refusal)) => self.refuse(record.position, record.line, refusal),
            Err(error) => self.failure = Some(error),
        }
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        // One too many ends the survey, with the next step.
        if self.refused.len() <= self.most_refused {
            self.refused.push(Refused { position, line, refusal });
        }
    }
}

impl<R: TextReader> DocumentSink for SurveySink<R> {
    fn documents(&self) -> u64 {
        self.documents
    }
}
