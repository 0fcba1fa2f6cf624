//! What the workers of a run hand in, and whether it fits.

use super::Shared;
use super::budget::{Budget, Share, mapped};
use super::catalogue::Doc;
use super::collide::Collided;
use super::common::Common;
use super::count::Candidate;
use super::dedup_exact::Copy;
use super::intake::Intake;
use super::net::Change;
use super::noted::Remarks;
use super::shared::lock;
use crate::error::Result;
use crate::metrics::Metric;
use crate::read::Refused;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Documents read, those without a token included.
    pub documents: u64,
    /// Documents that a collection has just so.
    pub unchanged: u64,
    /// Documents without a token: kept, never matched.
    pub empty: u64,
    /// Documents with too few terms for the method: compared with equal texts only.
    pub poor: u64,
    /// Documents without a date that is understood, where documents are compared by it: compared with each other only.
    pub undated: u64,
    /// Bytes of text in documents.
    pub text_bytes: u64,
    /// Documents whose canonical text an earlier document has.
    pub copies: u64,
    /// Postings of distinct texts that were collided or ignored as common.
    pub postings: u64,
    /// Key groups handed to clustering whole.
    pub crowds: u64,
    /// Pairs that shared enough keys to be looked at.
    pub candidates: u64,
    /// Candidates measured on their sets; what clustering measures within crowds is not counted.
    pub verified: u64,
    /// Pairs found linked.
    pub links: u64,
}

impl Tally {
    /// Adds the counts of another process.
    pub(super) fn add(&mut self, other: &Tally) {
        let Tally { documents, unchanged, empty, poor, undated, text_bytes, copies, postings, .. } = *other;
        let Tally { crowds, candidates, verified, links, .. } = *other;
        self.documents += documents;
        self.unchanged += unchanged;
        self.empty += empty;
        self.poor += poor;
        self.undated += undated;
        self.text_bytes += text_bytes;
        self.copies += copies;
        self.postings += postings;
        self.crowds += crowds;
        self.candidates += candidates;
        self.verified += verified;
        self.links += links;
    }
}

/// What workers hand in.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) links: Vec<Candidate>,
    pub(super) copies: Vec<Copy>,
    pub(super) crowds: Vec<Vec<Doc>>,
    /// Members of all crowds.
    pub(super) crowded: usize,
    pub(super) refused: Vec<Refused>,
    pub(super) changes: Vec<Change>,
    pub(super) superseded: usize,
    pub(super) tally: Tally,
    pub(super) common: Common,
    pub(super) remarks: Remarks,
}
/// Bytes of a link as it comes and in the graph: there the other end and what is shared, at both ends.
const LINK: usize = size_of::<Candidate>() + 16;
/// Bytes of a member of a crowd: there, and in the list of its crowds.
const CROWDED: usize = 8;
/// Bytes of a content in the graph and in what is found out about it.
const CONTENT: usize = 100;

impl Gathered {
    /// Nothing yet; there will be as many links as fit in their share of the memory.
    pub(super) fn new(budget: &Budget) -> Gathered {
        let most_links = usize::try_from(budget.whole(Share::Links)).unwrap_or(usize::MAX) / LINK;
        Gathered { links: mapped(most_links), ..Gathered::default() }
    }
}

impl Shared {
    pub(super) fn take_gathered(&self) -> Gathered {
        let mut gathered = std::mem::take(&mut *lock(&self.gathered));
        gathered.tally.links = gathered.links.len() as u64;
        gathered.tally.copies = gathered.copies.len() as u64;
        gathered.refused.sort_unstable_by_key(|refused| refused.position);
        gathered
    }

    pub(super) fn gather_changes(&self, changes: &[Change], superseded: usize) {
        let mut gathered = lock(&self.gathered);
        gathered.changes.extend_from_slice(changes);
        gathered.superseded += superseded;
    }

    pub(super) fn gather_copies(&self, copies: &[Copy]) {
        lock(&self.gathered).copies.extend_from_slice(copies);
    }

    pub(super) fn gather_links(&self, links: &mut Vec<Candidate>) {
        let mut gathered = lock(&self.gathered);
        gathered.links.append(links);
        let known = (gathered.links.len(), gathered.crowded);
        drop(gathered);
        self.allow_graph(known.0, known.1, 0).unwrap_or_else(|error| self.fail(error));
    }

    /// Refuses a graph that does not fit in its share of the memory: so many links, members of crowds, and contents.
    pub(super) fn allow_graph(&self, links: usize, crowded: usize, contents: usize) -> Result<()> {
        let bytes = (links * LINK + crowded * CROWDED + contents * CONTENT) / self.crew.workers();
        self.budget.allow(Share::Links, bytes as u64, 0, "the links between documents")
    }

    /// Refuses what an epoch changes if it does not fit: so many bytes, as far as they are known.
    ///
    /// # Errors
    /// [`crate::error::Error::Limit`].
    pub fn allow_settling(&self, bytes: u64) -> Result<()> {
        self.budget.allow_whole(Share::Settling, bytes, "the changes of a load")
    }

    pub(super) fn gather_intake(&self, worker: usize, mut intake: Intake) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.documents += intake.documents();
        gathered.tally.empty += intake.empty;
        gathered.tally.poor += intake.poor;
        gathered.tally.undated += intake.undated;
        gathered.remarks.add(&intake.remarks);
        gathered.tally.unchanged += intake.unchanged;
        gathered.tally.text_bytes += intake.text_bytes;
        let metrics = self.progress.metrics();
        metrics.add(Metric::Unchanged, intake.unchanged);
        metrics.add(Metric::TextBytes, intake.text_bytes);
        metrics.add(Metric::Refused, intake.refused.len() as u64);
        gathered.refused.append(&mut intake.refused);
        drop(gathered);
        self.catalogue.publish(worker, intake.segment);
    }

    pub(super) fn gather_collided(&self, collided: &Collided) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.postings += collided.postings;
        gathered.common.add(&collided.common);
        self.progress.metrics().add(Metric::Postings, collided.postings);
    }

    pub(super) fn gather_candidates(&self, crowds: Vec<Vec<Doc>>, candidates: usize) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.crowds += crowds.len() as u64;
        gathered.tally.candidates += candidates as u64;
        let verified = if self.measured_on_sets() { candidates as u64 } else { 0 };
        gathered.tally.verified += verified;
        drop(gathered);
        let metrics = self.progress.metrics();
        metrics.add(Metric::Crowds, crowds.len() as u64);
        metrics.add(Metric::Candidates, candidates as u64);
        metrics.add(Metric::Verified, verified);
        self.gather_crowds(crowds);
    }

    pub(super) fn gather_crowds(&self, mut crowds: Vec<Vec<Doc>>) {
        let mut gathered = lock(&self.gathered);
        gathered.crowded += crowds.iter().map(Vec::len).sum::<usize>();
        gathered.crowds.append(&mut crowds);
        let known = (gathered.links.len(), gathered.crowded);
        drop(gathered);
        self.allow_graph(known.0, known.1, 0).unwrap_or_else(|error| self.fail(error));
    }
}
