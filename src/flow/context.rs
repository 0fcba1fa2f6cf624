//! What every part of a run needs: the configuration, the workers, the memory, and how the run stands.

use std::sync::Arc;

use crate::config::Config;
use crate::error::Result;
use crate::flow::common_members::slots::MemberCounting;
use crate::flow::distributed::topology::Topology;
use crate::flow::left_out::LeaveOut;
use crate::flow::memory::buckets::Buckets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::store::RunMemory;
use crate::flow::records::{Candidate, Keyed};
use crate::flow::status::RunStatus;
use crate::limits::sized;
use crate::method::FrozenTables;
use crate::observed::{Observation, SampleShare};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketcher::Sketcher;

/// What every part of a run needs.
pub struct RunContext {
    /// What decides the answer.
    pub config: Config,
    /// What sketches are made by: the same, or a join that finds the same pairs ([`Config::as_join`]).
    pub sketched_by: Config,
    /// How members are counted that may be too common for what the join stands for.
    pub member_counting: Option<MemberCounting>,
    /// The workers of all processes.
    pub topology: Topology,
    /// How the run stands.
    pub status: RunStatus,
    /// What makes two contents linked; `None` where nothing does.
    pub rule: Option<AcceptanceRule>,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// What the run may hold, and where the rest goes.
    pub memory: RunMemory,
    /// Bytes of the inputs on disk, or of the sets of stored documents.
    pub input_bytes: u64,
    /// The frozen tables that sketches are made by.
    pub frozen_tables: Arc<FrozenTables>,
    /// What is observed of the records beside their duplicates, if anything is.
    pub observation: Option<Observation>,
    /// Which documents' lines are noted of that.
    pub sampled: SampleShare,
    /// Vector instructions to use.
    pub simd: Simd,
    /// What becomes of records that resemble protected documents, where the run is a load or comes before one.
    pub leave_out: LeaveOut,
}

/// Bytes of a link as it comes and in the graph: there the other end and what is shared, at both ends.
pub const LINK: usize = size_of::<Candidate>() + 16;
/// Bytes of a member of a hot group: there, and in the list of its hot groups, with its limit.
const HOT_MEMBER: usize = 16;
/// What links are called where they do not fit.
const LINKS: &str = "the links between documents";
/// Bytes of a content in the graph and in what is found out about it.
const CONTENT: usize = 100;

/// Bytes of sets that may always be held at once, if the memory allowed has room for them.
const LITTLE: u64 = sized(64 << 20, 100);
/// Most bytes of input of which keys are cut: of a billion postings a quarter meet another by mistake.
const MOST_CUT: u64 = 4 << 30;

/// Whether keys are posted as texts are read; of a rule of which the larger set shows all only where a collection stores them,
/// as all others are chosen once the shingles of all contents are counted.
pub fn posts_keys(rule: Option<AcceptanceRule>, stores: bool) -> bool {
    stores || rule.is_some_and(|rule| rule.all_of_larger().is_none())
}

impl RunContext {
    /// A sketcher of this run.
    pub fn sketcher(&self) -> Sketcher {
        Sketcher::new(&self.sketched_by, &self.frozen_tables, self.simd)
    }

    /// Whether documents have keys to be found by, beside the digests of their texts.
    pub fn has_keys(&self) -> bool {
        self.config.finds_pairs()
    }

    /// Whether sets have signatures that tell most of those apart that are not alike.
    pub fn has_signatures(&self) -> bool {
        self.sketched_by.needs().signatures
    }

    /// Whether pairs are measured on sets, rather than by their shared keys alone.
    pub fn measured_on_sets(&self) -> bool {
        self.sketched_by.is_measured()
    }

    /// Whether documents that are neither stored nor protected are compared with each other.
    pub fn compares_new(&self) -> bool {
        self.leave_out != LeaveOut::Find
    }

    /// Whether a join stands for a method that counts all members.
    pub fn joins_instead(&self) -> bool {
        self.sketched_by.method != self.config.method
    }

    /// Contents that a posted key may be in before it is left out of counts, 0 for any number.
    pub fn cap_of_keys(&self) -> usize {
        self.sketched_by.cap()
    }

    /// An empty store of buckets, of which each has what comes of `bytes` of input; at most as many as can be divided by
    /// at once and sorted well, but for inputs so large that such buckets would not fit in memory.
    pub fn buckets<T: Keyed>(&self, worker: usize, share: Share, bytes: u64) -> Buckets<T> {
        let most = if self.input_bytes >> 10 > 64 << 20 { 16 } else { 10 };
        let bits = (self.input_bytes / bytes).max(1).ilog2().clamp(4, most);
        Buckets::new(bits, self.topology.keys(worker), self.memory.budget.part(share), &self.memory.scratch)
    }

    /// Whether documents are posted without the low bits of their keys, if none is stored. Keys must only propose pairs, which are
    /// measured, and all documents be compared: two documents may then meet under keys that are not the same. All processes must agree:
    /// it follows from what all of them know.
    pub fn cuts_keys(&self) -> bool {
        let proposes = self.rule.is_some_and(|rule| rule.has_prefixes() && rule.is_measured());
        let all_meet = self.config.input.within_field.is_empty();
        proposes && all_meet && self.input_bytes <= MOST_CUT
    }

    /// Bytes of sets that may be held at once: about what postings have taken while the inputs were read.
    pub fn sets_at_once(&self) -> u64 {
        let beside_postings = (self.input_bytes / 10 * 3).max(LITTLE);
        beside_postings.min(self.memory.budget.whole(Share::Sets)).max(1)
    }

    /// As many links as fit in their share of the memory.
    pub fn most_links(&self) -> usize {
        usize::try_from(self.memory.budget.whole(Share::Links)).unwrap_or(usize::MAX) / LINK
    }

    /// Refuses a graph that does not fit in its share of the memory: so many links, members of hot groups, and contents.
    ///
    /// # Errors
    /// [`crate::error::Error::Limit`].
    pub fn allow_graph(&self, links: usize, hot_members: usize, contents: usize) -> Result<()> {
        let bytes = (links * LINK + hot_members * HOT_MEMBER + contents * CONTENT) / self.topology.workers();
        self.memory.budget.allow(Share::Links, bytes as u64, 0, LINKS)
    }

    /// The same while links are still found. How many there will be nobody knows, so the advice is twice as much as they take by then:
    /// whoever follows it gets on in a few steps.
    ///
    /// # Errors
    /// [`crate::error::Error::Limit`].
    pub fn allow_growing_graph(&self, links: usize, hot_members: usize) -> Result<()> {
        let bytes = ((links * LINK + hot_members * HOT_MEMBER) / self.topology.workers()) as u64;
        self.memory.budget.allow(Share::Links, bytes, 2 * bytes, LINKS)
    }

    /// Refuses what an epoch changes if it does not fit: so many bytes, as far as they are known.
    ///
    /// # Errors
    /// [`crate::error::Error::Limit`].
    pub fn allow_settling(&self, bytes: u64) -> Result<()> {
        self.memory.budget.allow_whole(Share::Settling, bytes, "the changes of a load")
    }
}
