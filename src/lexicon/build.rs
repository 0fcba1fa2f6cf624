//! A lexicon from texts: counted by the workers of all processes, put together in the order of terms.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::count::Counter;
use super::exchange::{Remote, give};
use super::file::{Frozen, freeze};
use super::sorted::{CountMerge, Sorted};
use super::survey::{ONLY_SURVEY, Survey};
use super::terms::{Header, Terms};
use crate::error::{Error, Result};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY};
use crate::mesh::Mesh;
use crate::peers::Peers;
use crate::progress::{Progress, Stage};
use crate::read::{Input, RecordCost, Rejected, Source};
use crate::resources::Resources;

/// What a record takes: its line, its text, and its words. Of the words of a long text few are new ones, each of which takes far
/// more; what they take beyond this is counted with those of other texts.
const RECORD: RecordCost = RecordCost { token: 16, bytes_of_token: 6 };

/// What to count, and with what.
pub struct LexiconRequest {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Where a text stands in a record.
    pub input: Input,
    /// Which words are terms.
    pub terms: Terms,
    /// What this process may use: counts beyond its memory go to disk, but the terms of a single text are held whatever
    /// they take. The other processes have the same request, but for what is their machine's.
    pub resources: Resources,
}

impl LexiconRequest {
    fn mesh(&self) -> Option<&Mesh> {
        self.resources.peers.as_deref().map(Peers::mesh)
    }
}

/// How many texts were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextTally {
    /// Documents with a word: N of the formula.
    pub documents: u64,
    /// Documents without a word, which do not count.
    pub empty: u64,
}

/// What was counted, before it is written.
pub struct Counted {
    /// How many texts were read.
    pub tally: TextTally,
    /// Records refused, in document order.
    pub refused: Vec<Rejected>,
    terms: Terms,
    counts: CountMerge<'static>,
}

/// Counts in how many documents each term occurs. Of several processes this is for process 0; the others [`assist`].
/// What is counted depends on the texts only.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Io`] of a spill file, [`Error::Config`] for a field that is none, and what is
/// wrong with other processes.
pub fn count(request: &LexiconRequest, progress: &Arc<Progress>) -> Result<Counted> {
    let (tally, refused, mut own) = read(request, progress)?;
    let mut all = TextTally::default();
    for process in gather(request.mesh(), tally)? {
        all = TextTally { documents: all.documents + process.documents, empty: all.empty + process.empty };
    }
    if let Some(peers) = &request.resources.peers {
        let mesh = peers.share();
        for process in 1..mesh.processes() {
            own.push(Box::new(Remote::new(&mesh, process)?));
        }
    }
    Ok(Counted { tally: all, refused, terms: request.terms, counts: CountMerge::new(own)? })
}

/// Takes part in what process 0 [`count`]s, and gives it what was counted here.
///
/// # Errors
/// As [`count`].
pub fn assist(request: &LexiconRequest, progress: &Arc<Progress>) -> Result<()> {
    let (tally, _, own) = read(request, progress)?;
    gather(request.mesh(), tally)?;
    progress.enter(Stage::Write, 0);
    request.mesh().map_or(Ok(()), |mesh| give(mesh, CountMerge::new(own)?))
}

impl Counted {
    /// Writes the terms of `min_df` documents or more as the new file `out`, which is there when it is complete.
    ///
    /// # Errors
    /// [`Error::OutputExists`]; [`Error::Limit`] if no term is left; [`Error::Io`]; [`Error::Config`] if `min_df` is
    /// 0.
    pub fn freeze(self, out: &Path, min_df: u64, progress: &Progress) -> Result<Frozen> {
        let Counted { tally, terms, counts, .. } = self;
        progress.enter(Stage::Write, 0);
        freeze(out, Header { terms, min_df, short: 0, documents: tally.documents }, counts, progress)
    }
}

/// What this process has read: texts, refused records, counts.
type Read = (TextTally, Vec<Rejected>, Vec<Box<dyn Sorted + Send>>);

fn read(request: &LexiconRequest, progress: &Arc<Progress>) -> Result<Read> {
    let LexiconRequest { sources, input, terms, resources } = request;
    let Resources { workers, memory, .. } = *resources;
    let survey = Survey { sources, input, workers, memory, mesh: request.mesh(), counter: ONLY_SURVEY };
    let base = BASE_MEMORY + WORKER_MEMORY * workers as u64 + survey.windows()?;
    // A quarter is for long records.
    let each = memory.map_or(u64::MAX, |memory| memory.saturating_sub(base) / workers as u64 / 4 * 3);
    let most = usize::try_from(each).unwrap_or(usize::MAX);
    let reader = || Counter::new(*terms, most, &resources.scratch);
    let surveyed = survey.read(survey.room(RECORD, progress)?, reader, progress)?;
    let mut tally = TextTally::default();
    for (documents, empty) in surveyed.readers.iter().map(Counter::documents) {
        tally = TextTally { documents: tally.documents + documents, empty: tally.empty + empty };
    }
    let counts = surveyed.readers.into_iter().flat_map(Counter::finish).collect();
    Ok((tally, surveyed.refused, counts))
}

/// The tallies of all processes, in process 0.
fn gather(mesh: Option<&Mesh>, own: TextTally) -> Result<Vec<TextTally>> {
    let Some(mesh) = mesh else { return Ok(vec![own]) };
    let failed =
        |e: serde_json::Error| Error::Worker(format!("what a process has counted makes no sense: {e}"));
    let all = mesh.gather(serde_json::to_vec(&own).map_err(failed)?)?;
    all.iter().map(|bytes| serde_json::from_slice(bytes).map_err(failed)).collect()
}
