//! Which passages repeat: texts read by all workers of all processes, pieces brought together by what they are, and what
//! occurs more than once put in the order of the input.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::excerpts::{Passage, describe};
use super::exchange::give;
use super::merge::{RowMerge, RowSource};
use super::pieces::PieceCutter;
use super::remote_rows::{RemoteRows, end};
use super::repeats::{RepeatTally, Repeats};
use super::runs::{SortedRun, block};
use super::sorter::RowSorter;
use super::unit::PassageUnit;
use crate::error::{Error, Result};
use crate::lexicon::{ONLY_SURVEY, Survey, TextReader};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY, sized};
use crate::mesh::Mesh;
use crate::output::{CutFile, CutWriter};
use crate::peers::Peers;
use crate::progress::{Progress, Stage};
use crate::read::{Fields, Input, Record, RecordCost, Refusal, Rejected, RunInputs, Source};
use crate::resources::Resources;
use crate::text::Fold;
use crate::threads::{hand_out, in_threads};

/// Ranges of identities that a worker merges, one after the other.
const RANGES: usize = 4;
/// What a record takes: its line and its text, and as it is written, what is left of that and the new line, each twice.
const RECORD: RecordCost = RecordCost { token: 24, bytes_of_token: 6 };
/// Most bytes of rows that a worker holds.
const MOST_ROWS: u64 = sized(1 << 27, 1 << 12);
/// Pieces between two looks whether the run was stopped.
const LOOK: u64 = 1 << 16;

/// What is looked for, and with what.
pub struct PassageRequest {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Where a text stands in a record.
    pub input: Input,
    /// What counts as a passage.
    pub unit: PassageUnit,
    /// Words that a passage has at least.
    pub min_words: u64,
    /// Which spellings are one.
    pub fold: Fold,
    /// What this process may use. What does not fit in its memory goes to disk, but for the text of a single document. The
    /// other processes have the same request, but for what is their machine's.
    pub resources: Resources,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageTally {
    /// Documents.
    pub documents: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Pieces that could be passages, each counted where it occurs.
    pub pieces: u64,
    /// Different ones among them that occur more than once.
    pub repeated: u64,
    /// How often these occur together.
    pub occurrences: u64,
}

impl PassageTally {
    fn plus(self, other: PassageTally) -> PassageTally {
        PassageTally {
            documents: self.documents + other.documents,
            text_bytes: self.text_bytes + other.text_bytes,
            pieces: self.pieces + other.pieces,
            repeated: self.repeated + other.repeated,
            occurrences: self.occurrences + other.occurrences,
        }
    }
}

/// What was found.
pub struct FoundPassages {
    /// What was read.
    pub read: PassageTally,
    /// What of it is repeated.
    pub repeats: RepeatTally,
    /// The passages that are repeated most.
    pub top: Vec<Passage>,
    /// What stands in the texts a second time, if it was asked for.
    pub cuts: Option<CutFile>,
    /// Records refused, in document order.
    pub refused: Vec<Rejected>,
    /// Where a text stands in a record.
    pub fields: Arc<Fields>,
}

/// Finds the passages that are repeated, and the `top` ones among them. Where they stand a second time goes to `cuts`. Of
/// several processes this is for process 0; the others [`assist_passages`]. What is found depends on the inputs only.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Io`] of a spill file, [`Error::Changed`] if an input is written to meanwhile,
/// [`Error::Config`] for a field that is none, and what is wrong with other processes.
pub fn find_passages(
    request: &PassageRequest,
    top: usize,
    cuts: Option<CutWriter>,
    progress: &Arc<Progress>,
) -> Result<FoundPassages> {
    let Resources { workers, simd, peers, .. } = &request.resources;
    let Repeated { read, refused, inputs, runs } = repeated(request, progress)?;
    let block = block(request.memory_of_worker(), runs.len());
    let mut sources: Vec<_> = runs.iter().map(|run| RowSource::Run(run.read(block))).collect();
    let mesh = peers.as_ref().map(|peers| peers.share());
    let others = mesh.as_ref().map_or(1..1, |mesh| 1..mesh.processes());
    for process in others.clone() {
        if let Some(mesh) = &mesh {
            sources.push(RowSource::Remote(RemoteRows::new(mesh, process, 0, None)?));
        }
    }
    let mut merge = RowMerge::new(sources)?;
    let mut repeats = Repeats::new(top, cuts);
    let mut rows = 0;
    while let Some(row) = merge.next()? {
        rows += 1;
        if rows % LOOK == 0 {
            progress.check()?;
        }
        repeats.push(row)?;
    }
    for process in others {
        mesh.as_ref().map_or(Ok(()), |mesh| end(mesh, process))?;
    }
    let (best, tally, cuts) = repeats.finish()?;
    let top = describe(&inputs, &best, (request.fold, *workers, *simd), progress)?;
    let cuts = cuts.map(|cuts| cuts.finish(request.sources.len())).transpose()?;
    Ok(FoundPassages { read, repeats: tally, top, cuts, refused, fields: inputs.fields })
}

/// Takes part in what process 0 finds with [`find_passages`]; returns where a text stands in a record.
///
/// # Errors
/// As [`find_passages`].
pub fn assist_passages(request: &PassageRequest, progress: &Arc<Progress>) -> Result<Arc<Fields>> {
    let Repeated { inputs, runs, .. } = repeated(request, progress)?;
    request.mesh().map_or(Ok(()), |mesh| give(mesh, 0, &runs, request.memory_of_worker()))?;
    Ok(inputs.fields)
}

impl PassageRequest {
    fn mesh(&self) -> Option<&Mesh> {
        self.resources.peers.as_deref().map(Peers::mesh)
    }

    /// Bytes that rows may take with each worker.
    fn memory_of_worker(&self) -> usize {
        self.memory_beside(0)
    }

    /// The same while all workers together take so many bytes for something else.
    fn memory_beside(&self, taken: u64) -> usize {
        let Resources { workers, memory, .. } = self.resources;
        let base = BASE_MEMORY + WORKER_MEMORY * workers as u64 + taken;
        // More would not be faster: what is sorted at once should not be much larger than the caches. And nothing stops a sort.
        let each = memory.map_or(MOST_ROWS, |memory| memory.saturating_sub(base) / workers as u64);
        each.min(MOST_ROWS) as usize
    }
}

/// What repeats, as one process has found it.
struct Repeated {
    /// What all processes have read, in process 0.
    read: PassageTally,
    refused: Vec<Rejected>,
    inputs: RunInputs,
    /// Where repeated pieces stand, in document order: place, and of the first of its kind how often it occurs and in how
    /// many documents.
    runs: Vec<SortedRun<4>>,
}

fn repeated(request: &PassageRequest, progress: &Arc<Progress>) -> Result<Repeated> {
    let PassageRequest { sources, input, unit, min_words, fold, resources } = request;
    let Resources { workers, memory, .. } = *resources;
    let survey = Survey { sources, input, workers, memory, mesh: request.mesh(), counter: ONLY_SURVEY };
    let bytes = request.memory_beside(survey.windows()?) / 4 * 3;
    let reader = || PassageReader {
        cutter: PieceCutter::new((*unit, *min_words), *fold, resources.simd),
        rows: RowSorter::new(bytes, &resources.scratch, progress),
        read: PassageTally::default(),
        progress,
    };
    let surveyed = survey.read(survey.room(RECORD, progress)?, reader, progress)?;
    let mut read = PassageTally::default();
    let rows = surveyed.readers.into_iter().map(|reader| {
        read = read.plus(reader.read);
        reader.rows
    });
    let runs: Vec<_> = in_threads(rows, RowSorter::finish)?.into_iter().flatten().collect();
    progress.enter(Stage::Collide, read.pieces);
    let merged = merge_all(request, &runs, progress)?;
    drop(runs);
    let mut found = Vec::new();
    for (tally, runs) in merged {
        read = read.plus(tally);
        found.extend(runs);
    }
    let all = resources.peers.as_ref().map(|peers| peers.gather(&read)).transpose()?;
    let read = all.map_or(read, |all| all.into_iter().fold(PassageTally::default(), PassageTally::plus));
    Ok(Repeated { read, refused: surveyed.refused, inputs: surveyed.inputs, runs: found })
}

/// Takes pieces of texts in.
struct PassageReader<'a> {
    cutter: PieceCutter,
    /// What each piece is, its document, and its place there.
    rows: RowSorter<3>,
    read: PassageTally,
    progress: &'a Progress,
}

impl TextReader for PassageReader<'_> {
    fn read(&mut self, record: &Record<'_>) -> Result<Option<Refusal>> {
        let PassageReader { cutter, rows, read, progress } = self;
        read.documents += 1;
        read.text_bytes += record.text.len() as u64;
        if u32::try_from(record.text.len()).is_err() {
            return Err(Error::Limit(
                "a text of 4 GiB or more; passages are looked for in shorter ones".into(),
            ));
        }
        let document = record.position.to_bits();
        let mut done = Ok(());
        cutter.each(record.text, |identity, place| {
            if done.is_err() {
                return;
            }
            read.pieces += 1;
            let place = (place.start as u64) << 32 | (place.end - place.start) as u64;
            done = rows.push([identity, document, place]);
            if read.pieces % LOOK == 0 && done.is_ok() {
                done = progress.check();
            }
        });
        done.map(|()| None)
    }
}

/// What came of a range of identities.
type MergedRange = (PassageTally, Vec<SortedRun<4>>);

/// Brings the pieces of all processes together, each range of identities in one of them.
fn merge_all(
    request: &PassageRequest,
    runs: &[SortedRun<3>],
    progress: &Arc<Progress>,
) -> Result<Vec<MergedRange>> {
    let bytes = request.memory_of_worker();
    let Some(peers) = &request.resources.peers else {
        let workers = request.resources.workers;
        let ranges = workers * RANGES;
        let work = |(): &mut (), range: usize| {
            let merge = IdentityMerge { request, runs, mesh: None, range, ranges };
            merge.run(progress)
        };
        return hand_out(ranges, workers, || (), work);
    };
    let mesh = peers.share();
    let (own, processes) = (mesh.process(), mesh.processes());
    let others: Vec<usize> = (0..processes).filter(|process| *process != own).collect();
    let each = bytes / 2 / processes;
    std::thread::scope(|scope| {
        let mesh = &mesh;
        let giving: Vec<_> =
            others.iter().map(|to| scope.spawn(move || give(mesh, *to, runs, each))).collect();
        let merge = IdentityMerge { request, runs, mesh: Some(mesh), range: own, ranges: processes };
        let merged = merge.run(progress);
        // They wait for it, whatever has happened here.
        let ended: Result<Vec<()>> = others.iter().map(|from| end(mesh, *from)).collect();
        for giving in giving {
            let panicked = |_| Err(Error::Worker("a thread that gives rows panicked".into()));
            giving.join().unwrap_or_else(panicked)?;
        }
        let merged = merged?;
        ended.map(|_| vec![merged])
    })
}

/// A range of identities.
struct IdentityMerge<'a> {
    request: &'a PassageRequest,
    runs: &'a [SortedRun<3>],
    mesh: Option<&'a Arc<Mesh>>,
    range: usize,
    ranges: usize,
}

/// Pieces that are the same.
#[derive(Clone, Copy)]
struct SamePieces {
    identity: u64,
    document: u64,
    place: u64,
    count: u64,
    documents: u64,
    last: u64,
}

impl IdentityMerge<'_> {
    /// Where a range begins.
    fn bound(&self, range: usize) -> Option<u64> {
        let start = ((range as u128) << 64).div_ceil(self.ranges as u128);
        u64::try_from(start).ok().filter(|_| range < self.ranges)
    }

    fn sources(&self) -> Result<Vec<RowSource<3>>> {
        let (from, to) = (self.bound(self.range).unwrap_or_default(), self.bound(self.range + 1));
        let block = block(self.request.memory_of_worker() / 4, self.runs.len());
        let mut sources = Vec::new();
        for run in self.runs {
            sources.push(RowSource::Run(run.read_between(from, to, block)?));
        }
        if let Some(mesh) = self.mesh {
            for process in (0..mesh.processes()).filter(|process| *process != mesh.process()) {
                sources.push(RowSource::Remote(RemoteRows::new(mesh, process, from, to)?));
            }
        }
        Ok(sources)
    }

    /// Where the pieces of the range stand that occur more than once.
    fn run(&self, progress: &Arc<Progress>) -> Result<MergedRange> {
        let Resources { scratch, .. } = &self.request.resources;
        let mut places = RowSorter::new(self.request.memory_of_worker() / 4, scratch, progress);
        let mut merge = RowMerge::new(self.sources()?)?;
        let (mut tally, mut same, mut rows) = (PassageTally::default(), None::<SamePieces>, 0);
        let first = |tally: &mut PassageTally, places: &mut RowSorter<4>, same: Option<SamePieces>| {
            let Some(same) = same.filter(|same| same.count > 1) else { return Ok(()) };
            tally.repeated += 1;
            tally.occurrences += same.count;
            places.push([same.document, same.place, same.count, same.documents])
        };
        while let Some([identity, document, place]) = merge.next()? {
            rows += 1;
            if rows % LOOK == 0 {
                progress.check()?;
                progress.advance(LOOK);
            }
            match &mut same {
                Some(same) if same.identity == identity => {
                    same.count += 1;
                    same.documents += u64::from(same.last != document);
                    same.last = document;
                    places.push([document, place, 0, 0])?;
                }
                _ => {
                    let next =
                        SamePieces { identity, document, place, count: 1, documents: 1, last: document };
                    first(&mut tally, &mut places, same.replace(next))?;
                }
            }
        }
        first(&mut tally, &mut places, same)?;
        progress.advance(rows % LOOK);
        Ok((tally, places.finish()?))
    }
}
