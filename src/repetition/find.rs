//! The inputs read once by all workers, each document measured.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::measures::{MEASURES, RepetitionLimits};
use super::meter::{RepetitionMeter, RepetitionShares};
use crate::document::{DocumentName, Position};
use crate::error::{Error, Result};
use crate::lexicon::{ONLY_SURVEY, Survey, TextReader};
use crate::output::{DocumentFinding, FindingFiles, FindingWriter, LeftOut};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{Input, Record, RecordCost, RecordRoom, Refusal, Refused, Rejected, RunInputs, Source};

/// What a record takes: its line and its text, and for each word itself, its place, and what it is grouped by; as much again
/// where buffers grow.
const RECORD: RecordCost = RecordCost { token: 64, bytes_of_token: 6 };

/// What is measured, and by whom.
#[derive(Clone, Copy)]
pub struct RepetitionRequest<'a> {
    /// The inputs, in document order.
    pub sources: &'a [Source],
    /// Where id and text stand in a record.
    pub input: &'a Input,
    /// What each measure may come to.
    pub limits: &'a RepetitionLimits,
    /// Threads of this process.
    pub workers: usize,
    /// Bytes of memory that this process may use.
    pub memory: Option<u64>,
    /// The other processes of the job, if there are any.
    pub peers: Option<&'a Peers>,
    /// Where what is found is kept, in a folder that all processes see; nothing but counts is kept without it.
    pub folder: Option<&'a Path>,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepetitionTally {
    /// Documents.
    pub documents: u64,
    /// Those without any word.
    pub empty: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Documents of which a measure is over its limit.
    pub above: u64,
    /// Bytes of their texts.
    pub above_bytes: u64,
    /// For each measure the documents of which it is over its limit.
    pub above_each: [u64; MEASURES],
}

impl RepetitionTally {
    fn plus(mut self, other: &RepetitionTally) -> RepetitionTally {
        self.documents += other.documents;
        self.empty += other.empty;
        self.text_bytes += other.text_bytes;
        self.above += other.above;
        self.above_bytes += other.above_bytes;
        self.above_each.iter_mut().zip(other.above_each).for_each(|(sum, more)| *sum += more);
        self
    }
}

/// A document that repeats itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatingDocument {
    /// Where it stands.
    pub position: Position,
    /// Its line, counted from 1 within its unit.
    pub line: u32,
    /// Its id, if it has one.
    pub id: Option<DocumentName<'static>>,
    /// Words of its text.
    pub words: u64,
    /// Its measures.
    pub shares: RepetitionShares,
}

impl DocumentFinding for RepeatingDocument {
    fn position(&self) -> Position {
        self.position
    }
}

/// What was found.
pub struct FoundRepetition {
    /// What was counted.
    pub tally: RepetitionTally,
    /// The documents that repeat themselves, if they are kept.
    pub documents: Option<FindingFiles<RepeatingDocument>>,
    /// Records that could not be used.
    pub refused: Vec<Rejected>,
    /// The same, as they were found.
    pub refusals: Vec<Refused>,
    /// The inputs, whose lines are known now.
    pub inputs: RunInputs,
}

impl FoundRepetition {
    /// What is not kept: the documents that repeat themselves.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn left_out(&self) -> Result<LeftOut> {
        let sources = self.inputs.sources.len();
        let none = || Ok(LeftOut::nothing(sources));
        self.documents.as_ref().map_or_else(none, |found| found.offsets(sources).map(LeftOut::new))
    }
}

/// Measures all documents: where this process is alone, or process 0; the others [`assist_repetition`]. What is found depends
/// on the inputs and the limits only.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Io`] of a file of what was found, [`Error::Config`] of a field that is none, and what is
/// wrong with other processes.
pub fn find_repetition(request: &RepetitionRequest<'_>, progress: &Arc<Progress>) -> Result<FoundRepetition> {
    let RepetitionRequest { sources, input, workers, memory, peers, .. } = *request;
    let process = peers.map_or(0, |peers| peers.mesh().process());
    let mesh = peers.map(Peers::mesh);
    let survey = Survey { sources, input, workers, memory, mesh, counter: ONLY_SURVEY };
    let room = survey.room(RECORD, progress)?;
    let next = AtomicUsize::new(0);
    let reader = || RepetitionReader {
        request,
        meter: RepetitionMeter::default(),
        tally: RepetitionTally::default(),
        who: (process, next.fetch_add(1, Ordering::Relaxed)),
        file: None,
        room: &room,
    };
    let surveyed = survey.read(room.clone(), reader, progress)?;
    let mut tally = RepetitionTally::default();
    for reader in surveyed.readers {
        tally = tally.plus(&reader.tally);
        reader.file.map_or(Ok(()), FindingWriter::finish)?;
    }
    let all = peers.map(|peers| peers.gather(&tally)).transpose()?.filter(|_| process == 0);
    let tally = all.map_or(tally, |all| all.iter().fold(RepetitionTally::default(), RepetitionTally::plus));
    let is_there = request.folder.filter(|_| process == 0);
    let documents = is_there.map(FindingFiles::of).transpose()?;
    let (refused, refusals, inputs) = (surveyed.refused, surveyed.refusals, surveyed.inputs);
    Ok(FoundRepetition { tally, documents, refused, refusals, inputs })
}

/// Takes part in what process 0 finds with [`find_repetition`].
///
/// # Errors
/// Those of [`find_repetition`].
pub fn assist_repetition(request: &RepetitionRequest<'_>, progress: &Arc<Progress>) -> Result<RunInputs> {
    find_repetition(request, progress).map(|found| found.inputs)
}

/// A worker that measures documents.
struct RepetitionReader<'a> {
    request: &'a RepetitionRequest<'a>,
    meter: RepetitionMeter,
    tally: RepetitionTally,
    /// The process, and the worker in it.
    who: (usize, usize),
    /// It is created for the first document that it is needed for.
    file: Option<FindingWriter>,
    room: &'a RecordRoom,
}

impl RepetitionReader<'_> {
    /// Counts a document that repeats itself, and keeps it.
    fn keep(&mut self, record: &Record<'_>, words: usize, shares: RepetitionShares) -> Result<()> {
        self.tally.above += 1;
        self.tally.above_bytes += record.text.len() as u64;
        let Some(folder) = self.request.folder else { return Ok(()) };
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(FindingWriter::create(folder, self.who.0, self.who.1)?),
        };
        file.write(&RepeatingDocument {
            position: record.position,
            line: record.line,
            id: record.id.clone().map(DocumentName::into_owned),
            words: words as u64,
            shares,
        })
    }
}

impl TextReader for RepetitionReader<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        if u32::try_from(record.text.len()).is_err() {
            return Err(Error::Limit("a text of 4 GiB or more; shorter ones can be measured".into()));
        }
        let words = self.meter.read(record.text);
        let raw = record.raw.len();
        if let Some(why) = self.room.refuses(raw, record.text.len(), words) {
            self.meter = RepetitionMeter::default();
            return Ok(Some(Refusal::NoRoom(why)));
        }
        self.tally.documents += 1;
        self.tally.text_bytes += record.text.len() as u64;
        self.tally.empty += u64::from(words == 0);
        let shares = self.meter.measure();
        let mut is_above = false;
        let measures = shares.each().zip(&mut self.tally.above_each).zip(self.request.limits.each());
        for (((_, (part, whole)), above), (_, limit)) in measures {
            let exceeds = limit.is_exceeded(part, whole);
            *above += u64::from(exceeds);
            is_above |= exceeds;
        }
        let kept = if is_above { self.keep(record, words, shares) } else { Ok(()) };
        // What a long record took is given back: another worker may read one now.
        if self.room.is_long(raw.max(record.text.len())) {
            self.meter = RepetitionMeter::default();
        }
        kept.map(|()| None)
    }
}
