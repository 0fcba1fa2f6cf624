//! What the workers of a run hand in, and whether it fits.

use std::sync::{Arc, Mutex};

use crate::document::Doc;
use crate::flow::context::RunContext;
use crate::flow::memory::budget::mapped;
use crate::flow::memory::spill::Piles;
use crate::flow::records::{Candidate, Change, ExactDuplicate};
use crate::flow::results::common_keys::CommonKeys;
use crate::flow::results::hot_groups::HotGroup;
use crate::flow::results::tally::Tally;
use crate::flow::results::warnings::DocumentWarnings;
use crate::flow::status::lock;
use crate::metrics::Metric;
use crate::observed::Observed;
use crate::read::{Refused, allow_refused};

/// What workers hand in.
#[derive(Default)]
pub struct Gathered {
    /// Pairs of documents that are linked.
    pub links: Vec<Candidate>,
    /// Candidates that are measured as clusters are formed, if they are: all of the run, and no links then.
    pub unmeasured: Option<Piles<Candidate>>,
    /// Documents that are not the first of their text.
    pub copies: Vec<ExactDuplicate>,
    /// Contents under one key, too many to be expanded.
    pub hot_groups: Vec<HotGroup>,
    /// Members of all hot groups.
    hot_members: usize,
    /// Records that are not documents.
    pub refused: Vec<Refused>,
    /// The changes of a load that count, but for new texts under new ids.
    pub changes: Vec<Change>,
    /// Changes that do not count.
    pub superseded: usize,
    /// The documents of changes that do not count.
    pub superseded_docs: Vec<Doc>,
    /// The first documents of texts that stored contents had which no document has any more.
    pub brought_back: Vec<Doc>,
    /// Counts of the run.
    pub tally: Tally,
    /// Keys ignored as common.
    pub common: CommonKeys,
    /// Documents that a user is warned about.
    pub warnings: DocumentWarnings,
    /// What each worker has noted beside, if anything was observed.
    pub observed: Vec<Observed>,
}

/// What a worker has read, beside the rows of its documents.
#[derive(Default)]
pub struct ReadResults {
    /// Counts of what was read.
    pub tally: Tally,
    /// Records that are not documents.
    pub refused: Vec<Refused>,
    /// Documents that a user is warned about.
    pub warnings: DocumentWarnings,
    /// What was noted beside, if anything was observed.
    pub observed: Option<Observed>,
}

/// What a worker's collisions leave behind beside the pairs.
#[derive(Debug, Default)]
pub struct Collided {
    /// Key groups too large to expand: the contents that share one key.
    pub hot_groups: Vec<HotGroup>,
    /// A bit for each content of such groups of which nothing else is kept.
    pub hot_members: Vec<u64>,
    /// A bit for each document that is not the first of its text.
    pub copied: Vec<u64>,
    /// Keys ignored as common.
    pub common: CommonKeys,
    /// All postings of contents.
    pub postings: u64,
}

/// Where the workers of a process hand in what they have found.
pub struct Collector {
    context: Arc<RunContext>,
    gathered: Mutex<Gathered>,
}

impl Collector {
    /// Nothing yet; there will be as many links as fit in their share of the memory.
    pub fn new(context: Arc<RunContext>) -> Collector {
        let links = mapped(context.most_links());
        Collector { gathered: Mutex::new(Gathered { links, ..Gathered::default() }), context }
    }

    /// Takes all that was handed in.
    pub fn take(&self) -> Gathered {
        let mut gathered = std::mem::take(&mut *lock(&self.gathered));
        gathered.tally.links = gathered.links.len() as u64;
        gathered.tally.copies = gathered.copies.len() as u64;
        gathered.refused.sort_unstable_by_key(|refused| refused.position);
        gathered.observed.sort_by_key(|observed| observed.worker);
        gathered
    }

    /// Takes what was handed in, to be sent to another process.
    pub fn take_local(&self) -> Gathered {
        std::mem::take(&mut *lock(&self.gathered))
    }

    /// Adds changes that count; how many do not, and the documents of those.
    pub fn add_changes(&self, changes: &[Change], (superseded, mut docs): (usize, Vec<Doc>)) {
        let mut gathered = lock(&self.gathered);
        gathered.changes.extend_from_slice(changes);
        gathered.superseded += superseded;
        gathered.superseded_docs.append(&mut docs);
    }

    /// Adds the first documents of texts that stored contents had which no document has any more.
    pub fn add_brought_back(&self, docs: &[Doc]) {
        lock(&self.gathered).brought_back.extend_from_slice(docs);
    }

    /// Looks at what is there by now.
    pub fn look<T>(&self, look: impl FnOnce(&Gathered) -> T) -> T {
        look(&lock(&self.gathered))
    }

    /// Adds documents that are not the first of their text.
    pub fn add_copies(&self, copies: &[ExactDuplicate]) {
        lock(&self.gathered).copies.extend_from_slice(copies);
    }

    /// Adds links. The run fails if they do not fit.
    pub fn add_links(&self, links: &mut Vec<Candidate>) {
        let mut gathered = lock(&self.gathered);
        gathered.links.append(links);
        let known = (gathered.links.len(), gathered.hot_members);
        drop(gathered);
        self.allow(known);
    }

    /// Hands in all candidates of the run, to be measured as clusters are formed.
    pub fn add_unmeasured(&self, candidates: Piles<Candidate>) {
        lock(&self.gathered).unmeasured = Some(candidates);
    }

    /// Adds hot groups. The run fails if they do not fit.
    pub fn add_hot_groups(&self, mut hot_groups: Vec<HotGroup>) {
        let mut gathered = lock(&self.gathered);
        gathered.hot_members += hot_groups.iter().map(HotGroup::len).sum::<usize>();
        gathered.hot_groups.append(&mut hot_groups);
        let known = (gathered.links.len(), gathered.hot_members);
        drop(gathered);
        self.allow(known);
    }

    fn allow(&self, (links, hot_members): (usize, usize)) {
        let allowed = self.context.allow_growing_graph(links, hot_members);
        allowed.unwrap_or_else(|error| self.context.status.fail(error));
    }

    /// Adds what a worker of this process has read.
    pub fn add_read(&self, mut read: ReadResults) {
        let metrics = self.context.status.progress.metrics();
        metrics.add(Metric::Unchanged, read.tally.unchanged);
        metrics.add(Metric::TextBytes, read.tally.text_bytes);
        metrics.add(Metric::Refused, read.refused.iter().map(Refused::records).sum());
        let mut gathered = lock(&self.gathered);
        gathered.tally.add(&read.tally);
        gathered.warnings.add(&read.warnings);
        gathered.observed.extend(read.observed);
        gathered.refused.append(&mut read.refused);
    }

    /// Adds a piece of what a worker of another process has noted; those of a worker come in order.
    pub fn add_observed(&self, piece: Observed) {
        let share = &self.context.sampled;
        let mut gathered = lock(&self.gathered);
        match gathered.observed.iter_mut().find(|observed| observed.worker == piece.worker) {
            Some(observed) => observed.take_in(piece, share),
            None => {
                let mut observed = Observed { worker: piece.worker, ..Observed::default() };
                observed.take_in(piece, share);
                gathered.observed.push(observed);
            }
        }
    }

    /// Adds records that another process has refused. The run fails if those of all do not fit.
    pub fn add_refused(&self, refused: &mut Vec<Refused>) {
        let mut gathered = lock(&self.gathered);
        gathered.refused.append(refused);
        let held = gathered.refused.len();
        drop(gathered);
        let allowed = allow_refused(held, (self.context.memory.budget.bytes(), 0), || None);
        allowed.unwrap_or_else(|error| self.context.status.fail(error));
    }

    /// Adds the counts of a worker's collisions; its hot groups come with the candidates.
    pub fn add_collided(&self, collided: &Collided) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.postings += collided.postings;
        gathered.common.add(&collided.common);
        self.context.status.progress.metrics().add(Metric::Postings, collided.postings);
    }

    /// Counts the candidates of a worker, and adds its hot groups.
    pub fn add_candidates(&self, hot_groups: Vec<HotGroup>, candidates: usize) {
        let verified = if self.context.measured_on_sets() { candidates as u64 } else { 0 };
        let counted = Tally {
            hot_groups: hot_groups.len() as u64,
            candidates: candidates as u64,
            verified,
            ..Tally::default()
        };
        lock(&self.gathered).tally.add(&counted);
        let metrics = self.context.status.progress.metrics();
        metrics.add(Metric::HotGroups, counted.hot_groups);
        metrics.add(Metric::Candidates, counted.candidates);
        metrics.add(Metric::Verified, verified);
        self.add_hot_groups(hot_groups);
    }

    /// Adds keys that another process has ignored.
    pub fn add_common(&self, common: &CommonKeys) {
        lock(&self.gathered).common.add(common);
    }

    /// Adds the documents that another process warns about.
    pub fn add_warnings(&self, warnings: &DocumentWarnings) {
        lock(&self.gathered).warnings.add(warnings);
    }

    /// Adds the counts of another process.
    pub fn add_counts(&self, tally: &Tally, superseded: usize) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.add(tally);
        gathered.superseded += superseded;
    }
}
