//! The dataflow of a run: two timely dataflows on every worker, then the clusters.
//!
//! ```text
//! intake -> arrivals --(by digest)--> dedup_exact --(to all)--+
//!        -> postings --(by key)-----------------------------> collide -> groups --(to the homes)--> count -> candidates
//!
//! candidates -> wanted --(to the home)--> recall --(all sets there)--> verify -> links --(to worker 0)--> settle
//! ```
//!
//! Where stored documents are taken in again ([`Replay`]), only the intake and the recalling of sets are others.
//!
//! Records of the first dataflow carry numbers only; text is read again where a pair has to be measured.

mod abroad;
mod buckets;
mod budget;
mod catalogue;
mod collide;
mod common;
mod components;
mod conservative;
pub mod contract;
mod count;
mod crew;
mod dedup_exact;
mod gathered;
mod graph;
mod hand_over;
mod intake;
mod kinds;
mod measures;
mod net;
mod noted;
mod peers;
mod places;
mod profiled;
mod recall;
mod replay;
mod rounds;
mod rows;
mod settle;
mod shared;
mod spill;
mod stored;
mod trade;
mod transitive;
mod verify;
mod work;

use std::path::PathBuf;
use std::sync::Arc;

pub use budget::{Budget, Share};
pub use catalogue::{Catalogue, Doc, Segment};
pub use collide::Posting;
pub use common::{Common, CommonKey};
pub use components::Forest;
pub use count::{Candidate, Pair};
pub use crew::Crew;
pub use dedup_exact::{Copy, NO_DOC};
pub use gathered::Tally;
pub use intake::{id_digest, spread};
pub use kinds::{EachText, Related};
pub use net::{Change, Kind};
pub use noted::{Noted, Remarks};
pub use peers::Peers;
pub use replay::{Replay, Replayed};
pub use settle::{Cluster, Findings, Reason, Removed};
pub use shared::Shared;
pub use stored::{Keeper, Stored};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::progress::{Progress, Stage};
use crate::read::{Extent, Refused, Source};
use crate::simd::Simd;
use crate::sketch::Basis;
use gathered::Gathered;
use work::work;

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

/// What to run on, and with what.
pub struct Request {
    /// The inputs, in document order; none if documents are replayed.
    pub sources: Vec<Source>,
    /// Which part of them is read.
    pub part: Part,
    /// What decides the answer.
    pub config: Config,
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Bytes the process may use; postings and sets beyond their share of it go to disk. `None`: no bound.
    pub memory: Option<u64>,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// Vector instructions to use.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
    /// What earlier loads left, if this is a load of a collection.
    pub stored: Option<Arc<dyn Stored>>,
    /// Stored documents to take in in place of inputs.
    pub replay: Option<Arc<dyn Replay>>,
    /// The frozen tables that sketches are made by; `None`: they are made here, of the inputs and the lexicon.
    pub basis: Option<Arc<Basis>>,
    /// The lexicon of a run whose tables are made here; only process 0 is asked for one.
    pub lexicon: Option<Arc<Lexicon>>,
    /// The other processes of the job, if there are any: they have the same request, but for what is their machine's.
    pub peers: Option<Arc<Peers>>,
}

/// What a run leaves: the findings, and the catalogue that turns document numbers into names.
pub struct Outcome {
    /// The findings.
    pub findings: Findings,
    /// Counts of the run.
    pub tally: Tally,
    /// Keys ignored as common.
    pub common: Common,
    /// What is to be said of documents.
    pub remarks: Remarks,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What the run knows of inputs and documents.
    pub shared: Arc<Shared>,
}

/// What the dataflow of a load leaves: changes, and how the new contents relate to each other and to the stored ones.
pub struct Loaded {
    /// The change that counts of every id.
    pub changes: Vec<Change>,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Documents that are not the first of their text, or do not count.
    pub copies: Vec<Copy>,
    /// Links of new contents, with new and with stored ones, and what their sets share.
    pub links: Vec<Candidate>,
    /// Contents under one key, too many to be expanded: which of them are linked is to be found out.
    pub crowds: Vec<Vec<Doc>>,
    /// Counts of the run.
    pub tally: Tally,
    /// Keys ignored as common.
    pub common: Common,
    /// What is to be said of documents.
    pub remarks: Remarks,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What the run knows of inputs and documents.
    pub shared: Arc<Shared>,
}

impl Loaded {
    /// What is left when all that was found is settled.
    pub fn settled(self) -> Loaded {
        let (changes, copies, links, crowds) = Default::default();
        Loaded { changes, copies, links, crowds, ..self }
    }
}

/// Finds the near-duplicates of the inputs. Results depend on the inputs and the configuration only. Of several processes
/// this is for process 0; the others [`assist`].
pub fn run(request: Request, progress: Arc<Progress>) -> Result<Outcome> {
    let (shared, gathered) = gather(request, progress)?;
    let findings = settle::settle(&shared, &gathered.links, &gathered.copies, gathered.crowds)?;
    let Gathered { tally, common, remarks, refused, .. } = gathered;
    Ok(Outcome { findings, tally, common, remarks, refused, shared })
}

/// Runs the dataflow on the changes of a load of a collection. Of several processes this is for process 0; the others
/// [`assist`].
pub fn load(request: Request, progress: Arc<Progress>) -> Result<Loaded> {
    let (shared, gathered) = gather(request, progress)?;
    let Gathered { links, copies, crowds, refused, changes, superseded, tally, common, remarks, .. } =
        gathered;
    Ok(Loaded {
        changes,
        superseded: superseded as u64,
        copies,
        links,
        crowds,
        tally,
        common,
        remarks,
        refused,
        shared,
    })
}

/// Takes part in what process 0 [`run`]s or [`load`]s; what comes of it is there.
pub fn assist(request: Request, progress: Arc<Progress>) -> Result<()> {
    dataflows(request, progress).map(drop)
}

/// Runs both dataflows, and takes what came of them.
fn gather(request: Request, progress: Arc<Progress>) -> Result<(Arc<Shared>, Gathered)> {
    let shared = dataflows(request, progress)?;
    assert!(shared.crew.process() == 0, "what is found is gathered in process 0");
    let gathered = shared.take_gathered();
    shared.refuse_gaps(&gathered.refused)?;
    Ok((shared, gathered))
}

/// Runs both dataflows.
fn dataflows(request: Request, progress: Arc<Progress>) -> Result<Arc<Shared>> {
    let shared = Arc::new(Shared::new(request, progress)?);
    // All processes read about as much.
    shared.enter(Stage::Read, shared.input_bytes() / shared.crew.processes() as u64);
    match shared.peers() {
        None => execute(&shared)?,
        Some((peers, run)) => peers.execute(run, &shared)?,
    }
    shared.enter(Stage::Cluster, 0);
    Ok(shared)
}

/// Runs the workers of a process that works alone.
fn execute(shared: &Arc<Shared>) -> Result<()> {
    let config = match shared.crew.workers() {
        1 => timely::Config::thread(),
        workers => timely::Config::process(workers),
    };
    let for_workers = Arc::clone(shared);
    let guards = timely::execute(config, move |worker| work(worker, &for_workers)).map_err(Error::Worker)?;
    for end in guards.join() {
        end.map_err(Error::Worker)?;
    }
    shared.verdict()
}
