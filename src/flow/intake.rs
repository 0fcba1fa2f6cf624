//! What a worker does with its share of the input: read, tokenise, sketch, remember, and send on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashbrown::HashSet;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::Shared;
use super::budget::Share;
use super::catalogue::{Doc, Segment};
use super::collide::Posting;
use super::crew::Crew;
use super::dedup_exact::{Arrival, NO_DOC};
use super::net::{Change, Kind};
use super::noted::Remarks;
use super::stored::Stored;
use crate::config::{Config, Method};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::limits::MAX_RECORD_BYTES;
use crate::metrics::Metric;
use crate::read::{
    Day, Extent, Fields, Record, Refusal, Refused, Sink, Source, Unit, UnitReader, Value, units,
};
use crate::simd::Simd;
use crate::sketch::{Basis, Digest, Rarity, Sketcher};

/// Bytes a remembered digest takes at most, in a table that may just have doubled.
const SEEN: usize = 40;

/// The key that a shingle or feature is posted under. They are the smallest hashes of a set, or those of one residue:
/// multiplied, they spread over all workers and buckets again, and no two become one.
pub fn spread(key: u64) -> u64 {
    key.wrapping_mul(SPREAD)
}

/// Odd, so that multiplying by it loses nothing.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A worker's reading.
pub struct Intake {
    pub(super) sketcher: Sketcher,
    pub(super) exact: bool,
    pub(super) signed: bool,
    dated: bool,
    worker: usize,
    workers: usize,
    base: Doc,
    seen: HashSet<Digest>,
    most_seen: usize,
    /// Rows of the documents read.
    pub segment: Segment,
    /// Arrivals not yet sent.
    pub arrivals: Vec<Arrival>,
    /// Postings not yet sent.
    pub postings: Vec<Posting>,
    /// Changes not yet sent, of a load.
    pub changes: Vec<Change>,
    shared: Option<Arc<Shared>>,
    /// Records refused.
    pub refused: Vec<Refused>,
    /// Documents that a collection has just so.
    pub unchanged: u64,
    /// Documents without a token.
    pub empty: u64,
    /// Documents with too few terms for the method.
    pub poor: u64,
    /// Documents without a date that is understood, where documents are compared by it.
    pub undated: u64,
    /// The first of these.
    pub remarks: Remarks,
    /// Bytes of text in documents.
    pub text_bytes: u64,
    failure: Option<Error>,
}

impl Intake {
    /// The intake of a worker before its first record.
    pub fn new(shared: &Arc<Shared>, worker: usize) -> Intake {
        Intake {
            sketcher: shared.sketcher(),
            exact: shared.config.method == Method::Exact,
            signed: shared.config.method == Method::Join,
            worker,
            workers: shared.crew.all(),
            base: shared.catalogue.base(),
            seen: HashSet::new(),
            most_seen: usize::try_from(shared.budget.part(Share::Seen)).unwrap_or(usize::MAX) / SEEN,
            segment: Segment::new(
                &shared.config.cluster.keep,
                shared.stored().is_some(),
                shared.segments_held(),
                &shared.budget,
                &shared.scratch,
            ),
            arrivals: Vec::new(),
            postings: Vec::new(),
            changes: Vec::new(),
            shared: shared.stored().map(|_| Arc::clone(shared)),
            refused: Vec::new(),
            unchanged: 0,
            empty: 0,
            poor: 0,
            undated: 0,
            remarks: Remarks::default(),
            dated: shared.config.is_dated(),
            text_bytes: 0,
            failure: None,
        }
    }

    /// Reads units until none is left, calling `send` about once a MiB.
    pub fn run(&mut self, shared: &Shared, mut send: impl FnMut(&mut Intake)) -> Result<()> {
        loop {
            let at = shared.take_unit()?;
            let Some(unit) = shared.units.get(at) else { return Ok(()) };
            let metrics = shared.progress.metrics();
            metrics.add(Metric::Units, 1);
            let source = &shared.sources[unit.file as usize];
            let mut reader = UnitReader::open(unit.file, source, unit, Arc::clone(&shared.fields));
            let (mut bytes, mut documents) = (0, self.documents());
            loop {
                let more = reader.advance(self)?;
                shared.progress.advance(reader.bytes() - bytes);
                metrics.add(Metric::ReadBytes, reader.bytes() - bytes);
                shared.progress.add_documents(self.documents() - documents);
                (bytes, documents) = (reader.bytes(), self.documents());
                send(self);
                if let Some(error) = self.failure.take() {
                    return Err(error);
                }
                self.allow_rows(shared)?;
                shared.progress.check()?;
                if shared.failed() {
                    return Ok(());
                }
                if !more {
                    break;
                }
            }
            shared.unit_lines[at].store(reader.lines(), Ordering::Relaxed);
        }
    }

    /// Bytes of digests and postings that go to other processes next.
    pub(super) fn bytes_for_others(&self, crew: Crew) -> u64 {
        let abroad = |key: u64| !crew.own().contains(&crew.of_key(key));
        let arrivals = self.arrivals.iter().filter(|arrival| abroad(arrival.digest)).count();
        let postings = self.postings.iter().filter(|posting| abroad(posting.key)).count();
        (arrivals * size_of::<Arrival>() + postings * size_of::<Posting>()) as u64
    }

    /// Refuses rows that do not fit in their share of the memory, with what all of them will come to.
    pub(super) fn allow_rows(&self, shared: &Shared) -> Result<()> {
        let (rows, (_, done, total)) = (self.segment.bytes(), shared.progress.now());
        let expected = (u128::from(rows) * u128::from(total) / u128::from(done.max(1))) as u64;
        shared.budget.allow(Share::Rows, rows, expected, "the documents")
    }

    /// Whether this worker has met the text, as far as it remembers: what it forgets, `dedup_exact` finds.
    pub(super) fn met(&mut self, digest: Digest) -> bool {
        if self.seen.len() < self.most_seen { !self.seen.insert(digest) } else { self.seen.contains(&digest) }
    }

    /// Documents read, those without a token included.
    pub fn documents(&self) -> u64 {
        self.segment.len() as u64 + self.empty + self.unchanged
    }
}

impl Sink for Intake {
    fn document(&mut self, record: &Record<'_>) {
        self.text_bytes += record.text.len() as u64;
        let taken = match self.shared.clone() {
            Some(shared) => self.change(&shared, record),
            None => self.arrive(record),
        };
        if let Err(error) = taken {
            self.failure.get_or_insert(error);
        }
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        self.refused.push(Refused { position, line, refusal });
    }
}

impl Intake {
    /// A document of a run of its own.
    fn arrive(&mut self, record: &Record<'_>) -> Result<()> {
        let Some(digest) = self.sketcher.read(record.text, record.day) else {
            self.empty += 1;
            return Ok(());
        };
        let doc = self.next_doc()?;
        self.remark(record, doc);
        self.segment.push(record)?;
        self.arrivals.push(Arrival::new(digest, doc, record.position.to_bits()));
        // A text this worker has met is not the first of its kind, whatever the others read: it needs no keys.
        if !self.exact && !self.met(digest) {
            self.sketch(doc);
        }
        Ok(())
    }

    /// A record of a load.
    fn change(&mut self, shared: &Shared, record: &Record<'_>) -> Result<()> {
        let keeps = shared.stored().is_some_and(Stored::keeps_records);
        let (id, fingerprint) =
            (id_digest(record.id.as_deref().unwrap_or_default()), fingerprint(record, keeps));
        let position = record.position.to_bits();
        let unchanged = |stored: &dyn Stored| stored.is_unchanged(id, fingerprint);
        if !record.deleted && shared.stored().map_or(Ok(false), unchanged)? {
            self.changes.push(Change { id, fingerprint, position, doc: None, kind: Kind::Unchanged });
            self.unchanged += 1;
            return Ok(());
        }
        let doc = self.next_doc()?;
        self.segment.push(record)?;
        let kind = match self.sketcher.read(record.text, record.day) {
            _ if record.deleted => Kind::Delete,
            Some(digest) => Kind::Text(digest),
            None => Kind::Empty,
        };
        self.changes.push(Change { id, fingerprint, position, doc: Some(doc), kind });
        if kind != Kind::Delete {
            shared.keep(self.worker, |keeper| keeper.record(doc, record.raw))?;
        }
        if let Kind::Text(digest) = kind {
            self.remark(record, doc);
            if !self.exact {
                self.sketch(doc);
            }
            let set = if self.exact { &[] } else { self.sketcher.words() };
            shared.keep(self.worker, |keeper| keeper.text(doc, digest, set))?;
        }
        Ok(())
    }

    /// Counts the text last read as what it is beside a document.
    fn remark(&mut self, record: &Record<'_>, doc: Doc) {
        if self.sketcher.is_poor() {
            self.poor += 1;
            self.remarks.poor.note(record.position, doc);
        }
        if self.dated && !matches!(record.day, Day::Known(_)) {
            self.undated += 1;
            self.remarks.undated.note(record.position, doc);
        }
    }

    pub(super) fn next_doc(&self) -> Result<Doc> {
        let number = self.base as usize + self.segment.len() * self.workers + self.worker;
        let full = || Error::Limit("more than 4,294,967,295 documents; split the input".into());
        Doc::try_from(number).ok().filter(|doc| *doc != NO_DOC).ok_or_else(full)
    }

    /// Sketches the text last read, the last row's.
    fn sketch(&mut self, doc: Doc) {
        let (keys, size) = self.sketcher.keys();
        self.postings.extend(keys.iter().map(|key| Posting { key: spread(*key), size, doc }));
        self.segment.set_last_size(size);
        if self.signed {
            self.segment.sign_last(self.sketcher.own_words());
        }
    }
}

/// Digest of an id.
pub fn id_digest(id: &str) -> u128 {
    xxh3_128(id.as_bytes())
}

/// Digest of all that a collection stores of a record: of the record itself, too, if it is kept.
fn fingerprint(record: &Record<'_>, kept: bool) -> u128 {
    let mut state = Xxh3Default::new();
    if kept {
        state.update(record.raw.as_bytes());
        state.update(&(record.raw.len() as u64).to_le_bytes());
    }
    state.update(record.text.as_bytes());
    match &record.value {
        None => {}
        Some(Value::Number(number)) => {
            state.update(&[1]);
            state.update(&number.to_bits().to_le_bytes());
        }
        Some(Value::Text(text)) => {
            state.update(&[2]);
            state.update(text.as_bytes());
        }
    }
    if let Day::Known(day) = record.day {
        state.update(&[3]);
        state.update(&day.to_le_bytes());
    }
    // Without their lengths a text and a value could pass for another text.
    state.update(&(record.text.len() as u64).to_le_bytes());
    state.digest128()
}

/// Bytes of a stretch of the sample.
const STRETCH: u64 = 256 << 10;
/// Least and greatest size of the sample, in bytes, and its share of the input.
const SAMPLE: (u64, u64, u64) = (4 << 20, 64 << 20, 64);

/// The rarity table of an input: stretches at even distances over the files, each text counted once. Threads share
/// the stretches; their findings are put together in document order, so the table does not depend on their number.
pub fn sample_rarity(
    sources: &[Source],
    fields: &Arc<Fields>,
    config: &Config,
    lexicon: Option<&Arc<Lexicon>>,
    simd: Simd,
    threads: usize,
) -> Result<Rarity> {
    let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
    let wanted = (bytes / SAMPLE.2).clamp(SAMPLE.0, SAMPLE.1);
    let stretches = units(sources, Extent::ALL, STRETCH);
    let every = stretches.len().div_ceil((wanted / STRETCH) as usize).max(1);
    let chosen: Vec<&Unit> = stretches.iter().step_by(every).collect();
    let part = chosen.len().div_ceil(threads).max(1);
    let samples: Result<Vec<Sample>> = std::thread::scope(|scope| {
        let read = |units: &[&Unit]| -> Result<Sample> {
            let mut sample = Sample::new(Sketcher::new(
                config,
                Arc::new(Basis { lexicon: lexicon.cloned(), ..Basis::default() }),
                simd,
            ));
            units
                .iter()
                .try_for_each(|unit| read_stretch(&sources[unit.file as usize], unit, fields, &mut sample))?;
            Ok(sample)
        };
        let mut parts = chosen.chunks(part);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|units| scope.spawn(move || read(units))).collect();
        let panicked = |_| Err(Error::Worker("a thread that samples the input panicked".into()));
        let joined = others.into_iter().map(|thread| thread.join().unwrap_or_else(panicked));
        std::iter::once(read(own)).chain(joined.collect::<Vec<_>>()).collect()
    });
    let (mut seen, mut shingles) = (HashSet::new(), Vec::new());
    for sample in samples? {
        let mut rest = sample.shingles.as_slice();
        for (digest, count) in sample.texts {
            let set;
            (set, rest) = rest.split_at(count);
            if seen.insert(digest) {
                shingles.extend_from_slice(set);
            }
        }
    }
    Ok(Rarity::of_sample(shingles))
}

/// Reads one stretch; of a file that can only be read whole, about as much from its start.
fn read_stretch(source: &Source, unit: &Unit, fields: &Arc<Fields>, sample: &mut Sample) -> Result<()> {
    let mut reader = UnitReader::open(unit.file, source, unit, Arc::clone(fields));
    let before = sample.bytes;
    while reader.advance(sample)? && sample.bytes < before + STRETCH {}
    Ok(())
}

/// The shingles of some texts, one text after the other.
struct Sample {
    sketcher: Sketcher,
    /// Digest and number of shingles of each text.
    texts: Vec<(Digest, usize)>,
    shingles: Vec<u64>,
    bytes: u64,
}

impl Sample {
    fn new(sketcher: Sketcher) -> Sample {
        Sample { sketcher, texts: Vec::new(), shingles: Vec::new(), bytes: 0 }
    }
}

impl Sink for Sample {
    fn document(&mut self, record: &Record<'_>) {
        self.bytes += record.text.len() as u64;
        if record.text.len() < MAX_RECORD_BYTES / 16
            && let Some(digest) = self.sketcher.read(record.text, Day::None)
        {
            let set = self.sketcher.distinct();
            self.texts.push((digest, set.len()));
            self.shingles.extend_from_slice(set);
        }
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}
