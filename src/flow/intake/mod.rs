//! What a worker does with its share of the input: read, tokenise, sketch, remember, and send on.

pub mod keepers;
mod replayed;
pub mod sample;
pub mod tables;
pub mod unit_queue;
pub mod within;

use crate::limits::sized;
use std::sync::Arc;

use hashbrown::HashSet;
use xxhash_rust::xxh3::Xxh3Default;

use crate::document::{Doc, NO_DOC, Position};
use crate::error::{Error, Result};
use crate::flow::catalogue::Catalogue;
use crate::flow::catalogue::segment::Segment;
use crate::flow::common_members::slots::SlotCounts;
use crate::flow::context::{RunContext, posts_keys};
use crate::flow::distributed::topology::Topology;
use crate::flow::documents::{RunDocuments, WorkItem};
use crate::flow::intake::keepers::Keepers;
use crate::flow::intake::unit_queue::UnitQueue;
use crate::flow::intake::within::{Within, salted};
use crate::flow::left_out::LeaveOut;
use crate::flow::memory::budget::Share;
use crate::flow::packed::forms::is_short;
use crate::flow::records::{Arrival, Brought, Change, ChangeKind, CutPosting, FirstHalf, Posting, id_digest};
use crate::flow::results::gathered::ReadResults;
use crate::flow::stored::{KeptText, Stored};
use crate::observed::{ObservedRecord, Observer};
use crate::read::{Day, DocumentSink, Record, RecordRoom, Refusal, Refused, Sink, Value};
use crate::sketch::spread;
use crate::sketcher::{Digest, Sketcher};
use crate::system_memory::reserve_apart;

/// Bytes a remembered digest takes at most, in a table that may just have doubled.
const SEEN: usize = 40;

/// Postings for which there is room after a long record: what two or three mebibytes of text have.
const KEPT: usize = sized(1 << 18, 8);

/// A worker's reading.
pub struct Intake {
    context: Arc<RunContext>,
    sketcher: Sketcher,
    has_keys: bool,
    /// Whether keys are posted as texts are read.
    posts_keys: bool,
    /// The bits of keys that are posted.
    posted_bits: u64,
    signed: bool,
    dated: bool,
    /// Whether a value of the records decides which of them is kept.
    valued: bool,
    /// In how many contents members are, at most, where some may be too common.
    member_counts: Option<SlotCounts>,
    within: Within,
    worker: usize,
    workers: usize,
    base: Doc,
    /// Documents of sources below this number are protected.
    protected_files: u32,
    /// Protected documents without a token.
    protected_empty: u64,
    seen: HashSet<Digest>,
    most_seen: usize,
    /// Refused records beyond so many are not kept, and those that the process knows of.
    most_refused: usize,
    noted_refused: usize,
    /// What is stored, and what keeps what this worker adds, of a load.
    load: Option<(Arc<dyn Stored>, Arc<Keepers>)>,
    /// Rows of the documents read.
    pub segment: Segment,
    /// Arrivals not yet sent.
    pub arrivals: Vec<Arrival>,
    /// Postings not yet sent.
    pub postings: Vec<Posting>,
    /// Changes not yet sent, of a load: all but texts.
    pub changes: Vec<Change>,
    /// First halves of ids and of digests of texts not yet sent, of a load.
    pub ids: Vec<FirstHalf>,
    pub digests: Vec<FirstHalf>,
    /// What is noted beside all that, if anything is.
    observer: Option<Observer>,
    results: ReadResults,
    failure: Option<Error>,
    room: RecordRoom,
    /// Whether the part of the inputs that is read can be a smaller one.
    divisible: bool,
    /// Bytes that the records of a load take until the epoch is done, also where others of the same ids take their place.
    held: u64,
}

/// Bytes of a record of a load: on its way, and where all of its id are sorted.
const CHANGE: u64 = 2 * size_of::<Change>() as u64;
/// Bytes of a text of one: what is noted of its set and its signature until all are read. A newcomer is never told of; its row takes as
/// many as both when it is written, once the rest is gone. Arrivals have a share of their own.
const TEXT: u64 = 64;

impl Intake {
    /// The intake of a worker before its first record.
    pub fn new(
        context: &Arc<RunContext>,
        catalogue: &Catalogue,
        load: Option<(Arc<dyn Stored>, Arc<Keepers>)>,
        worker: usize,
    ) -> Intake {
        let most_seen = usize::try_from(context.memory.budget.part(Share::Seen)).unwrap_or(usize::MAX) / SEEN;
        Intake {
            context: Arc::clone(context),
            sketcher: context.sketcher(),
            has_keys: context.has_keys(),
            posts_keys: posts_keys(context.rule, load.is_some()),
            posted_bits: if context.cuts_keys() && load.is_none() { CutPosting::BITS } else { u64::MAX },
            signed: context.has_signatures(),
            dated: context.config.is_dated(),
            valued: context.config.cluster.keep.field().is_some(),
            member_counts: context.member_counting.map(SlotCounts::new),
            within: Within::of(&context.config.input),
            worker,
            workers: context.topology.all(),
            base: catalogue.base(),
            protected_files: catalogue.protected_files(),
            protected_empty: 0,
            seen: HashSet::new(),
            most_seen,
            most_refused: usize::MAX,
            noted_refused: 0,
            load,
            segment: catalogue.empty_segment(&context.memory),
            arrivals: Vec::new(),
            postings: Vec::new(),
            changes: Vec::new(),
            ids: Vec::new(),
            digests: Vec::new(),
            observer: context
                .observation
                .as_ref()
                .map(|observation| Observer::new(worker, observation.fields.len())),
            results: ReadResults::default(),
            failure: None,
            room: RecordRoom::default(),
            divisible: false,
            held: 0,
        }
    }

    /// Reads units, and takes stored documents in, until nothing is left, calling `send` about once a MiB.
    pub fn run(
        &mut self,
        documents: &RunDocuments,
        queue: &UnitQueue,
        mut send: impl FnMut(&mut Intake),
    ) -> Result<()> {
        let (context, inputs) = (Arc::clone(&self.context), &documents.inputs);
        let progress = &context.status.progress;
        self.room = inputs.fields.room.clone();
        self.divisible = inputs.are_divisible();
        self.most_refused = inputs.most_refused(context.memory.budget.bytes());
        let (mut earlier, mut last) = (None, None);
        loop {
            let Some(item) = documents.take(queue, last)? else { return Ok(()) };
            let goes_on = match &item {
                WorkItem::Stored(file, some) => {
                    last = Some(*file);
                    // What it holds others may wait for.
                    earlier = None;
                    let replay = &*documents.replays[file];
                    self.replay(replay, *file, some.clone(), &mut send)?;
                    self.stepped(&mut send)?
                }
                WorkItem::Unit(at) => {
                    last = Some(inputs.units[*at].file);
                    inputs.read_unit(*at, &mut earlier, self, progress, &mut |intake: &mut Intake| {
                        let memory = context.memory.budget.bytes();
                        inputs.allow_refused(&intake.results.refused, &mut intake.noted_refused, memory)?;
                        intake.stepped(&mut send)
                    })?
                }
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Hands on what was taken in; whether to go on.
    fn stepped(&mut self, send: &mut impl FnMut(&mut Intake)) -> Result<bool> {
        send(self);
        self.postings.shrink_to(KEPT);
        self.failure.take().map_or(Ok(()), Err)?;
        self.allow_rows()?;
        self.context.status.progress.check()?;
        Ok(!self.context.status.failed())
    }

    /// What was read: the rows, all else, and how often members were met.
    pub fn finish(mut self) -> (Segment, ReadResults, Option<SlotCounts>) {
        self.results.tally.documents = self.documents() - self.results.tally.protected;
        self.results.observed = self.observer.take().map(Observer::finish);
        (self.segment, self.results, self.member_counts)
    }

    /// Bytes that digests and postings at least take which go to other processes next: words are packed as they are, and of keys that
    /// are cut half.
    pub fn bytes_for_others(&self, topology: Topology) -> u64 {
        let remote = |key: &u64| !topology.local_workers().contains(&topology.of_key(*key));
        let arrivals = self.arrivals.iter().map(|arrival| arrival.digest).filter(remote).count();
        let halves = self.ids.iter().chain(&self.digests).map(FirstHalf::half).filter(remote).count();
        let keys = self.postings.iter().map(|posting| posting.key).filter(remote);
        let postings: usize =
            keys.map(|key| if is_short(key) { size_of::<u32>() } else { size_of::<u64>() }).sum();
        ((2 * arrivals + halves) * size_of::<u64>() + postings) as u64
    }

    /// Refuses rows and records of a load that do not fit in their shares of the memory, with what all of them will come to.
    fn allow_rows(&self) -> Result<()> {
        let (_, done, total) = self.context.status.progress.now();
        let allow = |share, bytes, what| {
            let expected = u128::from(bytes) * u128::from(total) / u128::from(done.max(1));
            let expected = u64::try_from(expected).unwrap_or(u64::MAX);
            let budget = &self.context.memory.budget;
            let exceeds = self.divisible && budget.will_exceed(share, bytes, expected);
            budget.allow(share, if exceeds { expected } else { bytes }, expected, what)
        };
        let observed = self.observer.as_ref().map_or(0, Observer::bytes);
        allow(Share::Rows, self.segment.bytes() + observed, "the documents")?;
        allow(Share::Settling, self.held, "the records of a load")
    }

    /// Whether this worker has met the text, as far as it remembers: what it forgets, `exact_duplicates` finds.
    fn has_seen(&mut self, digest: Digest) -> bool {
        if self.seen.len() < self.most_seen { !self.seen.insert(digest) } else { self.seen.contains(&digest) }
    }
}

impl DocumentSink for Intake {
    /// Those without a token included.
    fn documents(&self) -> u64 {
        let tally = &self.results.tally;
        self.segment.len() as u64 + self.protected_empty + tally.empty + tally.unchanged
    }
}

impl Sink for Intake {
    fn document(&mut self, record: &Record<'_>) {
        if self.passes_over(record) {
            return;
        }
        let taken = match self.load.take() {
            Some(load) => {
                let taken = self.change(&*load.0, &load.1, record);
                self.load = Some(load);
                taken
            }
            None => self.arrive(record),
        };
        match taken {
            Ok(None) => self.count(record),
            Ok(Some(refusal)) => self.refuse(record.position, record.line, refusal),
            Err(error) => drop(self.failure.get_or_insert(error)),
        }
        // Of what is packed the text may be longer.
        if self.room.is_long(record.raw.len().max(record.text.len())) {
            self.sketcher.rest();
        }
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        // One too many ends the run, with the next step.
        if self.results.refused.len() <= self.most_refused {
            self.results.refused.push(Refused { position, line, refusal });
        }
    }
}

impl Intake {
    /// Counts a document that was taken in.
    fn count(&mut self, record: &Record<'_>) {
        let is_protected = self.is_protected(record.position);
        let tally = &mut self.results.tally;
        let missing_within = u64::from(self.within == Within::Values && record.within.is_none());
        if is_protected {
            tally.protected += 1;
            tally.protected_missing_within += missing_within;
        } else {
            tally.text_bytes += record.text.len() as u64;
            tally.missing_within += missing_within;
            tally.missing_id += u64::from(record.id.is_none());
            tally.missing_value += u64::from(self.valued && record.value.is_none() && !record.deleted);
        }
    }

    /// A document of a run of its own, or why it is refused.
    fn arrive(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let is_protected = self.is_protected(record.position);
        let Some(digest) = self.sketcher.read(record.text, record.day) else {
            self.protected_empty += u64::from(is_protected);
            self.results.tally.empty += u64::from(!is_protected);
            return Ok(None);
        };
        if let Some(refusal) = self.no_room(record) {
            return Ok(Some(refusal));
        }
        let doc = self.next_doc()?;
        if !is_protected {
            self.warn(record, doc);
        }
        if let Some(observer) = self.observer.as_mut().filter(|_| !is_protected) {
            let row = self.segment.len();
            observer.note(&ObservedRecord { record, doc, row, digest }, &self.context.sampled);
        }
        self.segment.push(record)?;
        let salt = self.within.salt(record);
        let digest = salt.map_or(digest, |salt| {
            self.segment.salt_last(salt);
            salted(digest, salt)
        });
        self.arrivals.push(Arrival::new(digest, doc, record.position.to_bits()));
        // A text this worker has met is not the first of its kind, whatever the others read: it needs no keys.
        if self.has_keys && !self.has_seen(digest) {
            self.sketch(doc, salt.unwrap_or(0));
        }
        Ok(None)
    }

    /// A record of a load, or why it is refused.
    fn change(
        &mut self,
        stored: &dyn Stored,
        keepers: &Keepers,
        record: &Record<'_>,
    ) -> Result<Option<Refusal>> {
        let id = id_digest(record.id.as_deref().unwrap_or_default());
        let fingerprint = fingerprint(record, stored.keeps_records());
        let position = record.position.to_bits();
        if !record.deleted && stored.is_unchanged(id, fingerprint)? {
            self.tell(Change { id, position, doc: None, kind: ChangeKind::Unchanged });
            // Nothing else is held of it.
            self.held += CHANGE / 2;
            self.results.tally.unchanged += 1;
            return Ok(None);
        }
        let salt = self.within.salt(record);
        let kind = match self.sketcher.read(record.text, record.day) {
            _ if record.deleted => ChangeKind::Delete,
            Some(digest) => ChangeKind::Text(salt.map_or(digest, |salt| salted(digest, salt))),
            None => ChangeKind::Empty,
        };
        if let Some(refusal) = self.no_room(record) {
            return Ok(Some(refusal));
        }
        let doc = self.next_doc()?;
        self.segment.push(record)?;
        if let Some(salt) = salt {
            self.segment.salt_last(salt);
        }
        let digest = if let ChangeKind::Text(digest) = kind { digest } else { 0 };
        self.segment.bring_last(Brought { fingerprint, digest });
        self.tell(Change { id, position, doc: Some(doc), kind });
        self.held += CHANGE + TEXT;
        if kind != ChangeKind::Delete {
            keepers.keep(self.worker, |keeper| keeper.record(doc, &record.stored()))?;
        }
        if let ChangeKind::Text(digest) = kind {
            self.warn(record, doc);
            if self.has_keys {
                self.sketch(doc, salt.unwrap_or(0));
            }
            let (set, tokens) =
                if self.has_keys { self.sketcher.words_and_tokens() } else { (&[][..], &[][..]) };
            keepers.keep(self.worker, |keeper| keeper.text(doc, &KeptText { digest, salt, set, tokens }))?;
        }
        Ok(None)
    }

    /// Sends what others have to know of a change: of a text the first halves of its id and its digest, as long as nobody asks.
    fn tell(&mut self, change: Change) {
        let half = |digest: Digest, doc| FirstHalf::new((digest >> 64) as u64, doc);
        match (change.kind, change.doc) {
            (ChangeKind::Text(digest), Some(doc)) => {
                self.ids.push(half(change.id, doc));
                self.digests.push(half(digest, doc));
            }
            _ => {
                self.ids.push(half(change.id, NO_DOC));
                self.changes.push(change);
            }
        }
    }

    /// Whether a record is none of this run: a load has left it out, or what comes before one has no use for it.
    fn passes_over(&self, record: &Record<'_>) -> bool {
        match &self.context.leave_out {
            LeaveOut::Nothing => false,
            LeaveOut::Find => record.deleted || record.id.is_none() && !self.is_protected(record.position),
            LeaveOut::Known(left_out) => left_out.contains(record.position),
        }
    }

    fn is_protected(&self, position: Position) -> bool {
        position.file() < self.protected_files
    }

    /// Why the memory has no room for what is made of the text last read, if it has none.
    fn no_room(&self, record: &Record<'_>) -> Option<Refusal> {
        let (bytes, text) = (record.raw.len(), record.text.len());
        self.room.refuses(bytes, text, self.sketcher.tokens().len()).map(Refusal::NoRoom)
    }

    /// Notes what a user is warned about of the text last read.
    fn warn(&mut self, record: &Record<'_>, doc: Doc) {
        let ReadResults { tally, warnings, .. } = &mut self.results;
        if self.sketcher.has_too_few_terms() {
            tally.too_few_terms += 1;
            warnings.too_few_terms.note(record.position, doc);
        }
        if self.dated && !matches!(record.day, Day::Known(_)) {
            tally.missing_date += 1;
            warnings.missing_date.note(record.position, doc);
        }
    }

    fn next_doc(&self) -> Result<Doc> {
        let number = self.base as usize + self.segment.len() * self.workers + self.worker;
        let full = || Error::Limit("more than 4,294,967,295 documents; split the input".into());
        Doc::try_from(number).ok().filter(|doc| *doc != NO_DOC).ok_or_else(full)
    }

    /// Sketches the text last read, the last row's. Keys of different salts are different.
    fn sketch(&mut self, doc: Doc, salt: u64) {
        let size = if self.posts_keys {
            post(&mut self.postings, self.sketcher.keys(), (doc, salt), self.posted_bits)
        } else {
            self.sketcher.posted()
        };
        self.segment.set_last_size(size);
        if self.signed {
            self.segment.sign_last(self.sketcher.own_words());
        }
        if let Some(counts) = &mut self.member_counts {
            counts.add(self.sketcher.own_words());
        }
    }
}

/// Appends the postings of a document, as many `bits` of each key as are posted; the size that they have.
fn post(postings: &mut Vec<Posting>, (keys, size): (&[u64], u32), (doc, salt): (Doc, u64), bits: u64) -> u32 {
    if keys.len() > KEPT {
        reserve_apart(postings, keys.len());
    }
    postings.extend(keys.iter().map(|key| Posting { key: (spread(*key) ^ salt) & bits, size, doc }));
    size
}

/// Digest of all that a collection stores of a record: of the record itself, too, if it is kept.
fn fingerprint(record: &Record<'_>, kept: bool) -> u128 {
    let mut state = Xxh3Default::new();
    if kept {
        let stored = record.stored();
        state.update(&stored);
        state.update(&(stored.len() as u64).to_le_bytes());
    }
    state.update(record.text.as_bytes());
    match &record.value {
        None => {}
        Some(Value::Number(floor, above)) => {
            state.update(&[1]);
            state.update(&floor.to_bits().to_le_bytes());
            if *above > 0 {
                state.update(&[5]);
                state.update(&above.to_le_bytes());
            }
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
    if let Some(within) = &record.within {
        state.update(&[4]);
        state.update(within.as_bytes());
        state.update(&(within.len() as u64).to_le_bytes());
    }
    // With its length a text and a value cannot pass for another text. The length of the value is left out, as it is in
    // stored fingerprints: a value that ends in the bytes of a day could pass for a shorter one with that day.
    state.update(&(record.text.len() as u64).to_le_bytes());
    state.digest128()
}
