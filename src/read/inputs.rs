//! The inputs of a run, divided into units, and what reads them: all texts of all inputs go through [`RunInputs::read`].

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::bytes::LineStream;
use super::codec::LineReader;
use super::field::Fields;
use super::format::Compression;
use super::formats::codec;
use super::record::Sink;
use super::rejected::{Refused, Rejected, allow_refused, most_refused};
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
    /// Whether whoever asks for it can do with a smaller one: then it need not be read to its end to say that it does not fit.
    pub divisible: bool,
}

impl Part {
    /// All of the inputs.
    pub const ALL: Part = Part { extent: Extent::ALL, lines: 0, divisible: false };
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
    /// The units that workers of this process can read together.
    streams: BTreeMap<usize, (Arc<LineStream>, LineReader)>,
    /// Held by the worker that is being given a unit.
    taking: Mutex<()>,
    /// Records that the workers of this process have refused, as far as they have told.
    refused: AtomicUsize,
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
        let streams = (0..)
            .zip(&units)
            .filter_map(|(at, unit)| Some((at, line_stream(&sources[unit.file as usize], &fields)?)));
        RunInputs {
            streams: streams.collect(),
            taking: Mutex::new(()),
            sources,
            fields,
            units,
            part,
            refused: AtomicUsize::new(0),
            unit_lines,
            lines_before: OnceLock::new(),
        }
    }

    /// What `next` gives a worker of this process to read, of which `unit` says which unit it is. Whoever is given nothing
    /// knows afterwards what the others were given.
    ///
    /// # Errors
    /// What `next` gives.
    pub fn take<T>(
        &self,
        next: impl FnOnce() -> Result<T>,
        unit: impl FnOnce(&T) -> Option<usize>,
    ) -> Result<T> {
        if self.streams.is_empty() {
            return next();
        }
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = next()?;
        if let Some((stream, _)) = unit(&taken).and_then(|at| self.streams.get(&at)) {
            stream.begin();
        }
        Ok(taken)
    }

    /// A unit that another worker of this process reads and this one can read with it; it has read file number `after`
    /// last. A worker takes documents in their order, so it never goes back.
    pub fn unit_to_join(&self, after: Option<u32>) -> Option<usize> {
        let open = |(at, (stream, _)): (&usize, &(Arc<LineStream>, LineReader))| {
            (after.is_none_or(|after| self.units[*at].file > after) && stream.is_open()).then_some(*at)
        };
        self.streams.iter().find_map(open)
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
        let (mut earlier, mut file) = (None, None);
        loop {
            let taken = self.take(&next, |at| Some(*at))?;
            let taken = Some(taken).filter(|at| *at < self.units.len());
            let Some(at) = taken.or_else(|| self.unit_to_join(file)) else { return Ok(()) };
            if !self.read_unit(at, &mut earlier, sink, progress, &mut step)? {
                return Ok(());
            }
            file = Some(self.units[at].file);
        }
    }

    /// Hands the records of a unit to `sink`, or this worker's share of them if it reads the unit together with others; whether to go on, as `step` says after about each mebibyte. Units that a
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
        let (source, fields) = (&self.sources[unit.file as usize], Arc::clone(&self.fields));
        let stream = self.streams.get(&at).filter(|(stream, _)| stream.is_begun());
        let mut reader = match stream {
            Some(lines) => {
                // Whoever reads lines may have to wait for a long one, and may keep nobody else waiting.
                *earlier = None;
                UnitReader::of_lines((unit.file, source), lines, fields)
            }
            None => UnitReader::open_after(earlier, source, unit, fields),
        };
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

    /// Whether the part that is read can be a smaller one.
    pub fn are_divisible(&self) -> bool {
        self.part.divisible
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

    /// Takes down what a worker has refused, of which `noted` were taken down before, and refuses to go on where those of all workers of
    /// the process are more than its memory has room for.
    ///
    /// # Errors
    /// [`Error::Input`], for the file of the last one.
    pub fn allow_refused(&self, refused: &[Refused], noted: &mut usize, memory: Option<u64>) -> Result<()> {
        let more = refused.len() - std::mem::replace(noted, refused.len());
        if more == 0 {
            return Ok(());
        }
        let held = self.refused.fetch_add(more, Ordering::Relaxed) + more;
        allow_refused(held, (memory, self.longest_name()), || {
            let last = refused.last()?;
            Some(last.rejected(&self.sources[last.position.file() as usize], 0))
        })
    }

    /// How many refused records the memory of a process has room to tell of.
    pub fn most_refused(&self, memory: Option<u64>) -> usize {
        most_refused(memory, self.longest_name())
    }

    /// Bytes of the longest name of an input.
    fn longest_name(&self) -> usize {
        self.sources.iter().map(|source| source.shown.len()).max().unwrap_or(0)
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

/// The lines of a compressed file, if records are lines, and workers may share them.
pub(super) fn line_stream(source: &Source, fields: &Fields) -> Option<(Arc<LineStream>, LineReader)> {
    // Workers that share lines read them again each for itself, and windows are counted once a file.
    let is_shared = source.compression != Compression::None && source.has_usual_window();
    let reader = codec(source.format).line_reader().filter(|_| is_shared)?;
    let longest = fields.max_record_bytes.min(fields.room.most());
    Some((Arc::new(LineStream::new(source, &fields.room, longest)), reader))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::mem;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;

    use super::*;
    use crate::read::{BLOCK, Input, Record, Refusal, discover};

    /// What a worker takes of inputs.
    #[derive(Default)]
    struct Worker {
        positions: Vec<Position>,
        refused: Vec<Refused>,
    }

    impl Sink for Worker {
        fn document(&mut self, record: &Record<'_>) {
            self.positions.push(record.position);
        }

        fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
            self.refused.push(Refused { position, line, refusal });
        }
    }

    impl DocumentSink for Worker {
        fn documents(&self) -> u64 {
            self.positions.len() as u64
        }
    }

    #[test]
    fn whoever_has_nothing_to_read_takes_part_of_a_compressed_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (per_file, workers) = (3 * BLOCK / 20, 4);
        let content = |file: usize| {
            let lines = (0..per_file).map(|n| format!("{{\"text\": \"{file} {}\"}}\n", n * 7919 % 10_007));
            let mut content = lines.collect::<String>();
            content.push_str("{oops\n");
            content.into_bytes()
        };
        let write = |(file, name): (usize, &str)| {
            let (path, content) = (folder.path().join(name), content(file));
            let packed = zstd::encode_all(&content[..], 1).expect("compressed");
            fs::write(&path, if name.ends_with("zst") { &packed } else { &content }).expect("written");
            path.to_str().expect("UTF-8").to_owned()
        };
        let names: Vec<String> =
            ["a.jsonl.zst", "b.jsonl", "c.jsonl.zst"].into_iter().enumerate().map(write).collect();
        let sources = discover(&names, folder.path()).expect("found").sources;
        let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
        let inputs = RunInputs::new(
            sources,
            Arc::new(Fields::of(&Input::default()).expect("paths")),
            Part::ALL,
            u64::MAX,
        );
        let (progress, next) = (Progress::default(), AtomicUsize::new(0));
        // All have begun before any is done.
        let barrier = Barrier::new(workers);
        let read = || {
            let mut worker = Worker::default();
            let mut is_first = true;
            let step = |_: &mut Worker| {
                if mem::take(&mut is_first) {
                    barrier.wait();
                }
                Ok(true)
            };
            inputs.read(&mut worker, &progress, || Ok(next.fetch_add(1, Relaxed)), step).expect("read");
            worker
        };
        let done: Vec<Worker> = thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(read)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for worker in &done {
            assert!(!worker.positions.is_empty(), "nothing for one of {workers}");
            assert!(worker.positions.is_sorted_by(|a, b| a < b));
        }
        assert_eq!(done.iter().map(|worker| worker.positions.len()).sum::<usize>(), 3 * per_file);
        let mut refused: Vec<Refused> = done.into_iter().flat_map(|worker| worker.refused).collect();
        refused.sort_by_key(|refused| refused.position);
        let lines: Vec<u64> = inputs.rejected(&refused).iter().map(|rejected| rejected.line).collect();
        assert_eq!(lines, [per_file as u64 + 1; 3]);
        assert_eq!((0..3).map(|file| inputs.lines_read(file)).collect::<Vec<_>>(), [per_file as u64 + 1; 3]);
        assert_eq!(progress.now().1, bytes);
    }
}
