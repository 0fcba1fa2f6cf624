//! The parts of a run, each of which its workers share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::config::{Config, Verify};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::catalogue::Catalogue;
use crate::flow::common_members::search::CommonSearch;
use crate::flow::common_members::slots::MemberCounting;
use crate::flow::connected::Connected;
use crate::flow::context::{RunContext, posts_keys};
use crate::flow::distributed::send_window::SendWindow;
use crate::flow::distributed::topology::Topology;
use crate::flow::document_sets::DocumentSets;
use crate::flow::documents::RunDocuments;
use crate::flow::intake::keepers::Keepers;
use crate::flow::intake::tables::{TableInputs, make_tables};
use crate::flow::intake::unit_queue::UnitQueue;
use crate::flow::left_out::LeaveOut;
use crate::flow::measuring::candidate_parts::CandidateParts;
use crate::flow::measuring::candidate_portions::CandidatePortions;
use crate::flow::memory::budget::{Budget, Share};
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::memory::store::RunMemory;
use crate::flow::operators::own_copies::OwnCopies;
use crate::flow::records::ExactDuplicate;
use crate::flow::request::{ProtectedSet, Request};
use crate::flow::results::gathered::Collector;
use crate::flow::results::settled_by_leader::SettledByLeader;
use crate::flow::results::settling::SettlingRows;
use crate::flow::status::RunStatus;
use crate::flow::stored::Stored;
use crate::limits::{MAX_WORKERS, sized};
use crate::observed::SampleShare;
use crate::progress::Progress;
use crate::read::RunInputs;
use crate::read::{FieldPath, Fields, RecordCost, RecordRoom, Source, admit_read_ahead, admit_windows};
use crate::resources::Resources;
use crate::sketch::Frequencies;
use crate::text::Tokens;

/// Least and most bytes of an input file that one worker reads at a stretch.
const UNIT: (u64, u64) = sized((256 << 10, 1 << 20), (100, 1 << 10));

/// How candidates are divided among the workers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Each has whole components, about as much as every other.
    Components,
    /// None has any: they are measured as clusters are formed, on all cores.
    Together,
    /// There is no room for what is known of all: components are measured part by part, if that can be done.
    Parts,
    /// Each has some.
    Anyhow,
}

/// What the workers of a process make together, and use until the last of them is done with it.
#[derive(Default)]
pub(super) struct SharedParts {
    /// A bit for each content that collides again.
    pub hot_members: Mutex<Weak<DocumentBits>>,
    /// In how many of them each shingle is.
    pub frequencies: Mutex<Weak<Frequencies>>,
    /// Bits for the shingles of new ones.
    pub of_new: Mutex<Weak<DocumentBits>>,
    /// Bits for the shingles that index a new one.
    pub indexing_new: Mutex<Weak<DocumentBits>>,
    /// Bits for the shingles that many have and that index any.
    pub indexing_often: Mutex<Weak<DocumentBits>>,
    /// A bit for each of them that is indexed by as few keys as it must be.
    pub by_fewest: Mutex<Weak<DocumentBits>>,
    /// What connects the documents of candidates.
    pub connected: Mutex<Weak<Connected>>,
    /// The sets of a round of measuring, and which one it is.
    pub round: Mutex<(usize, Weak<DocumentSets>)>,
    /// Candidates that are divided among the workers.
    pub portions: Mutex<Weak<CandidatePortions>>,
    /// Candidates that are measured part by part.
    pub parts: Mutex<Weak<CandidateParts>>,
    /// A bit for each member of the hot groups that are left.
    pub in_hot_groups: Mutex<Weak<DocumentBits>>,
}

/// The parts of a run in one process.
pub struct RunParts {
    /// What every part needs: configuration, workers, memory, and how the run stands.
    pub context: Arc<RunContext>,
    /// The documents: how they are called, and where they stand.
    pub documents: Arc<RunDocuments>,
    /// Their sizes and sets, and measuring pairs of them.
    pub sets: Arc<DocumentSets>,
    /// What is there while it is needed.
    pub(super) shared: SharedParts,
    /// How candidates were divided among workers.
    pub(super) divided: OnceLock<Division>,
    /// What is found out of members that are too common to be counted.
    pub(super) common_search: CommonSearch,
    /// Of a load, by worker of this process: the documents it has read that are not the first of their text.
    pub(super) own_copies: Arc<OwnCopies>,
    /// Of a load: what process 0 settles, and the documents that other processes have read of which it must know more.
    pub(super) settling: SettlingRows,
    pub(super) keepers: Arc<Keepers>,
    pub(super) collector: Arc<Collector>,
    pub(super) queue: UnitQueue,
    /// How much may wait for the network, if there is one.
    pub(super) window: Option<SendWindow>,
}

impl RunParts {
    /// Which documents of a load process 0 settles; known once its dataflows have ended.
    pub fn settled_by_leader(&self) -> &SettledByLeader {
        self.settling.settled()
    }

    /// Of a load, the documents that a worker of this process has read and that are not the first of their text, ascending;
    /// once only.
    pub fn take_own_copies(&self, worker: usize) -> Vec<ExactDuplicate> {
        self.own_copies.take(worker)
    }

    /// Prepares a run: divides the inputs, and makes the frozen tables unless the request has them.
    pub(super) fn new(request: Request, progress: Arc<Progress>) -> Result<RunParts> {
        let Request { mut sources, protected, part, config, pairs, resources, .. } = request;
        let Request { stored, replays, leave_out, observation, frozen_tables, lexicon, .. } = request;
        let Resources { workers, memory, simd, scratch, peers } = resources;
        if workers == 0 || workers > MAX_WORKERS {
            return Err(Error::config(format!("{workers} workers: expected 1 to {MAX_WORKERS}")));
        }
        config.require_protected(!protected.is_empty())?;
        sources[..ProtectedSet::sources_of(&protected)].iter_mut().for_each(|source| source.protected = true);
        let windows = admit_windows(&mut sources, memory, workers)?
            + admit_read_ahead(&mut sources, memory, workers, (progress.stop_flag(), &scratch));
        let finds = leave_out == LeaveOut::Find;
        let changes = Changes { read: stored.is_some() || finds, without_ids: finds };
        let fields = fields(&config, changes, (memory, windows, workers), &progress)?;
        let observed = observation.as_ref().map_or_else(Vec::new, |observation| observation.fields.clone());
        let fields = Arc::new(Fields { observed, ..fields });
        let status = RunStatus::new(progress);
        let topology = Topology::of(peers.as_deref(), workers);
        let parts = (0..).zip(&sources).map(|(file, source)| part.extent.of(file, source));
        let read_bytes: u64 = parts.map(|bytes| bytes.end - bytes.start).sum();
        let budget = Budget::new(memory, workers).beside_windows(windows);
        let alone = peers.is_none()
            && stored.is_none()
            && replays.is_empty()
            && protected.is_empty()
            && frozen_tables.is_none()
            && sources.iter().all(Source::is_read_again_soon);
        let (sketched_by, member_counting) =
            match alone.then(|| join_for(&config, read_bytes, &budget)).flatten() {
                Some((join, counting)) => (join, counting),
                None => (config.clone(), None),
            };
        let frozen_tables = match frozen_tables {
            Some(frozen) => frozen,
            None => {
                let (sources, fields, config) = (&sources[..], &fields, &sketched_by);
                let rarity = posts_keys(config.rule(), stored.is_some()) && config.needs().rarity;
                // Postings come later. In a text of one-letter words a shingle of 8 bytes begins at every second byte, and lists grow by doubling.
                let most = budget.whole(Share::Postings) / 8;
                let inputs = TableInputs { sources, fields, config, lexicon, rarity, simd, workers, most };
                Arc::new(make_tables(inputs, peers.as_deref())?)
            }
        };
        // A collection that nothing was ever loaded into has no tables yet.
        let replays: BTreeMap<_, _> = replays.into_iter().collect();
        if replays.is_empty() || !sources.is_empty() || replays.values().any(|replay| replay.documents() > 0)
        {
            config.check_tables(&frozen_tables)?;
        }
        let catalogue = Catalogue::new(
            topology,
            &config.cluster.keep,
            stored.is_some(),
            base(stored.as_deref(), topology)?,
        )
        .with_protected(ProtectedSet::sources_of(&protected) as u32)
        .with_preferences(&sources);
        let keepers = Arc::new(Keepers::new(stored.as_deref(), topology)?);
        let context = Arc::new(RunContext {
            topology,
            status,
            rule: sketched_by.rule(),
            pairs,
            memory: RunMemory { budget, scratch },
            input_bytes: read_bytes + replays.values().map(|replay| replay.bytes()).sum::<u64>(),
            frozen_tables,
            simd,
            leave_out,
            observation,
            sampled: SampleShare::default(),
            sketched_by,
            member_counting,
            config,
        });
        // A file made for this run only is where process 0 is, and perhaps nowhere else. Those of archives are copied to where all see them.
        let is_seen = |source: &Source| source.lasting || source.archive().is_some();
        let reads = topology.process() == 0 || sources.iter().all(is_seen);
        // Many more units than workers, so that none waits long for another's last one.
        let unit_bytes = (read_bytes / (topology.all() as u64 * 8)).clamp(UNIT.0, UNIT.1);
        let inputs = RunInputs::new(sources, fields, part, unit_bytes);
        let documents = Arc::new(RunDocuments::new(catalogue, inputs, replays, protected, topology.all()));
        Ok(RunParts {
            sets: Arc::new(DocumentSets::new(Arc::clone(&context), Arc::clone(&documents), stored)),
            collector: Arc::new(Collector::new(Arc::clone(&context))),
            shared: SharedParts::default(),
            divided: OnceLock::new(),
            common_search: CommonSearch::default(),
            own_copies: Arc::new(OwnCopies::new(topology)),
            settling: SettlingRows::default(),
            keepers,
            window: peers.clone().map(|peers| SendWindow::new(peers, topology)),
            queue: UnitQueue::new(peers, reads),
            documents,
            context,
        })
    }
}

/// The join that stands for a method that counts all members, and how it knows which are too common; `None` where there is none, or
/// where knowing that would take too much.
fn join_for(config: &Config, bytes: u64, budget: &Budget) -> Option<(Config, Option<MemberCounting>)> {
    let join = config.as_join()?;
    let counting = MemberCounting::of(config, bytes, budget);
    (config.cap() == 0 || counting.is_some()).then_some((join, counting))
}

/// Whether records are changes of a collection, and may then be without an id.
#[derive(Clone, Copy)]
struct Changes {
    read: bool,
    without_ids: bool,
}

/// The fields of a record that a run asks for.
fn fields(
    config: &Config,
    changes: Changes,
    (memory, windows, workers): (Option<u64>, u64, usize),
    progress: &Arc<Progress>,
) -> Result<Fields> {
    let value = config.cluster.keep.field().map(FieldPath::parse).transpose()?;
    let op = changes.read.then(|| FieldPath::parse("op")).transpose()?;
    let room = RecordRoom::new(memory, windows, workers, record_cost(config), progress);
    Ok(Fields { value, op, without_ids: changes.without_ids, room, ..Fields::of(&config.input)? })
}

/// What a record costs a worker: beside the record, each token and what is made of it.
fn record_cost(config: &Config) -> RecordCost {
    // The token, its shingle, a key for half of them, and an eighth for growing.
    let token = 22;
    let token = if config.verify == Verify::None { token } else { token + 16 };
    let bytes_of_token = match config.text.tokens {
        Tokens::Words => 6,
        Tokens::Chars => 1,
    };
    RecordCost { token, bytes_of_token }
}

/// The number of a load's first document: above all that is stored, and divided evenly among the workers.
fn base(stored: Option<&dyn Stored>, topology: Topology) -> Result<Doc> {
    let next = stored.map_or(0, Stored::next) as usize;
    let full = || {
        Error::Limit(
            "more than 4,294,967,295 records were ever loaded; load what is left into a new collection"
                .into(),
        )
    };
    Doc::try_from(next.next_multiple_of(topology.all())).map_err(|_| full())
}
