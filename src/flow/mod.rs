//! The dataflow of a run: two timely dataflows on every worker, then the clusters.
//!
//! ```text
//! intake -> arrivals --(by digest)--> exact_duplicates --(to all)--+
//!        -> postings --(by key)----------------------------------> collide -> groups --(to the owners)--> count -> candidates
//!
//! candidates -> wanted --(to the owner)--> recall --(all sets there)--> verify -> links --(to worker 0)--> form_clusters
//! ```
//!
//! Where stored documents are taken in again ([`ReplayedDocuments`]), only the intake and the recalling of sets are others.
//!
//! Records of the first dataflow carry numbers only; text is read again where a pair has to be measured.

mod catalogue;
mod clustering;
mod common_members;
mod connected;
mod context;
mod distributed;
mod document_sets;
mod documents;
mod intake;
mod left_out;
mod measuring;
mod measuring_rounds;
mod memory;
mod operators;
mod packed;
mod profiled;
mod records;
mod request;
mod results;
mod run;
mod second_collision;
mod shared;
mod status;
mod stored;
mod worker;

use std::sync::Arc;

pub use crate::document::{Doc, NO_DOC};
pub use crate::read::{Part, RunInputs};
pub use catalogue::{Catalogue, by_field, stored_value};
pub use clustering::by_size::{BySize, HangingTogether, SizedMember, join_part};
pub use clustering::raised::RaisedCounts;
pub use clustering::relate::{EachText, Related};
pub use context::RunContext;
pub use distributed::contractor::{Components, Contractor, assist_contraction};
pub use distributed::topology::Topology;
pub use document_sets::DocumentSets;
pub use documents::RunDocuments;
pub use intake::within::{salted, value_salt};
pub use left_out::{LeaveOut, LeftOutPositions};
pub use memory::budget::{Budget, Share};
pub(crate) use memory::spill::Pile;
pub use records::Brought;
pub use records::{Candidate, Change, ChangeKind, ExactDuplicate, Pair, Posting, id_digest};
pub use request::{ProtectedSet, Request};
pub use results::common_keys::{CommonKey, CommonKeys};
pub use results::findings::{DocumentCluster, Findings, Reason, Removed};
pub use results::hot_groups::HotGroup;
pub use results::settled_by_leader::SettledByLeader;
pub use results::tally::Tally;
pub use results::warnings::{DocumentWarnings, SampleIds};
pub use run::RunParts;
pub use status::RunStatus;
pub use stored::{KeptText, LoadKeeper, Replayed, ReplayedDocuments, ReplayedSets, Stored};

use crate::document::Position;
use crate::error::Result;
use crate::observed::Observed;
use crate::progress::{Progress, Stage};
use crate::read::{Fields, Refused};
use clustering::form_clusters::form_clusters;
use distributed::execute::{run_alone, run_together};
use hashbrown::HashSet;
use results::gathered::Gathered;
use results::hot_groups::drop_covered;
use run::Division;
use worker::work;

/// What a run leaves: the findings, and the catalogue that turns document numbers into names.
pub struct Outcome {
    /// The findings.
    pub findings: Findings,
    /// Counts of the run.
    pub tally: Tally,
    /// Keys ignored as common.
    pub common: CommonKeys,
    /// Documents that a user is warned about.
    pub warnings: DocumentWarnings,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What each worker has noted beside, by its number; none if nothing was observed.
    pub observed: Vec<Observed>,
    /// What the run knows of inputs and documents.
    pub run: Arc<RunParts>,
}

impl Outcome {
    /// The records that protected documents represent, as positions of the inputs that are not protected: of a run with
    /// [`LeaveOut::Find`] those that a load leaves out.
    pub fn left_out(&self) -> LeftOutPositions {
        let documents = &self.run.documents;
        let (catalogue, first) = (&documents.catalogue, documents.protected_sources() as u32);
        let own = |doc: Doc| {
            let position = catalogue.position(doc);
            Position::new(position.file() - first, position.offset()).to_bits()
        };
        let by_protected =
            self.findings.removed.iter().filter(|row| catalogue.is_protected(row.representative));
        LeftOutPositions::new(by_protected.map(|row| own(row.doc)).collect())
    }
}

/// What the dataflow of a load leaves: changes, and how the new contents relate to each other and to the stored ones.
pub struct Loaded {
    /// The changes that count, but for those of newcomers: see [`SettledByLeader`].
    pub changes: Vec<Change>,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Documents that are not the first of their text, or do not count.
    pub copies: Vec<ExactDuplicate>,
    /// Links of new contents, with new and with stored ones, and what their sets share.
    pub links: Vec<Candidate>,
    /// Contents under one key, too many to be expanded: which of them are linked is to be found out.
    pub hot_groups: Vec<HotGroup>,
    /// Counts of the run.
    pub tally: Tally,
    /// Keys ignored as common.
    pub common: CommonKeys,
    /// Documents that a user is warned about.
    pub warnings: DocumentWarnings,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What the run knows of inputs and documents.
    pub run: Arc<RunParts>,
}

impl Loaded {
    /// What is left when all that was found is settled.
    pub fn settled(self) -> Loaded {
        let (changes, copies, links, hot_groups) = Default::default();
        Loaded { changes, copies, links, hot_groups, ..self }
    }
}

/// Finds the near-duplicates of the inputs. Results depend on the inputs and the configuration only. Of several processes
/// this is for process 0; the others [`assist`].
///
/// # Errors
/// [`crate::error::Error::Config`] of a value that makes no sense; those of reading; [`crate::error::Error::Limit`] of what
/// does not fit; [`crate::error::Error::Io`] of a spill file; [`crate::error::Error::Interrupted`];
/// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`] if another process has ended.
pub fn run(request: Request, progress: Arc<Progress>) -> Result<Outcome> {
    let (run, gathered) = gather(request, progress)?;
    let Gathered { links, unmeasured, copies, mut hot_groups, .. } = gathered;
    let Gathered { mut tally, common, warnings, refused, observed, .. } = gathered;
    drop_covered(&mut hot_groups);
    let findings = form_clusters(&run.sets, (&links, unmeasured), &copies, hot_groups)?;
    let catalogue = &run.documents.catalogue;
    if run.context.joins_instead() {
        // The method itself measures nothing: what it counts enough of is linked.
        (tally.candidates, tally.verified) = (tally.links, 0);
    }
    tally.copies = copies.iter().filter(|copy| !catalogue.is_protected(copy.doc)).count() as u64;
    Ok(Outcome { findings, tally, common, warnings, refused, observed, run })
}

/// Runs the dataflow on the changes of a load of a collection. Of several processes this is for process 0; the others
/// [`assist`].
///
/// # Errors
/// Those of [`run`], and of the stored tables.
pub fn load(request: Request, progress: Arc<Progress>) -> Result<Loaded> {
    let (run, gathered) = gather(request, progress)?;
    let catalogue = &run.documents.catalogue;
    if run.context.topology.processes() == 1 {
        run.settling.publish(SettledByLeader::of(&gathered, catalogue.base(), catalogue.doc_limit()));
    }
    catalogue.publish_far(run.settling.take_far());
    let changes = changes_to_settle(&run, &gathered)?;
    let Gathered { links, copies, mut hot_groups, refused, tally, common, warnings, .. } = gathered;
    let superseded = gathered.superseded as u64;
    drop_covered(&mut hot_groups);
    Ok(Loaded { changes, superseded, copies, links, hot_groups, tally, common, warnings, refused, run })
}

/// The changes of all documents that process 0 settles: beside those that were gathered, new ids that bring texts of which
/// the collection knows.
fn changes_to_settle(run: &RunParts, gathered: &Gathered) -> Result<Vec<Change>> {
    let catalogue = &run.documents.catalogue;
    let mut changes = gathered.changes.clone();
    let known: HashSet<Doc> = changes.iter().filter_map(|change| change.doc).collect();
    let of_stored = gathered.copies.iter().filter(|copy| copy.first < catalogue.base()).map(|copy| copy.doc);
    for doc in of_stored.chain(gathered.brought_back.iter().copied()).filter(|doc| !known.contains(doc)) {
        let id = catalogue.label(doc)?.map(String::from).unwrap_or_default();
        let kind = ChangeKind::Text(catalogue.brought(doc).digest);
        let position = catalogue.position(doc).to_bits();
        changes.push(Change { id: id_digest(&id), position, doc: Some(doc), kind });
    }
    Ok(changes)
}

/// Takes part in what process 0 [`run`]s, which has the results; where the fields of a record are.
///
/// # Errors
/// Those of [`run`].
pub fn assist(request: Request, progress: Arc<Progress>) -> Result<Arc<Fields>> {
    dataflows(request, progress).map(|run| Arc::clone(&run.documents.inputs.fields))
}

/// Takes part in what process 0 [`load`]s; what is known here of the documents that this process has read.
///
/// # Errors
/// Those of [`load`].
pub fn assist_load(request: Request, progress: Arc<Progress>) -> Result<Arc<RunParts>> {
    dataflows(request, progress)
}

/// Runs both dataflows, and takes their results.
fn gather(request: Request, progress: Arc<Progress>) -> Result<(Arc<RunParts>, Gathered)> {
    let run = dataflows(request, progress)?;
    assert!(run.context.topology.process() == 0, "what is found is gathered in process 0");
    let gathered = run.collector.take();
    run.documents.inputs.refuse_gaps(&gathered.refused)?;
    Ok((run, gathered))
}

/// Runs both dataflows.
fn dataflows(request: Request, progress: Arc<Progress>) -> Result<Arc<RunParts>> {
    let run = Arc::new(RunParts::new(request, progress)?);
    let (topology, status) = (run.context.topology, &run.context.status);
    // All processes read about as much.
    status.enter(Stage::Read, run.context.input_bytes / topology.processes() as u64);
    let for_workers = Arc::clone(&run);
    let work = move |worker: &mut _| work(worker, &for_workers);
    match run.queue.peers() {
        None => run_alone(topology.workers(), status, work)?,
        Some((peers, round)) => run_together(peers, round, topology.workers(), status, work)?,
    }
    // Candidates that are measured only now take longer than forming clusters of them.
    if run.divided.get() != Some(&Division::Together) {
        status.enter(Stage::Cluster, 0);
    }
    Ok(run)
}
