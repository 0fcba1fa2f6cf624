//! The processes of a job, each a thread that has met the others over the loopback: a leader that does one thing to the
//! collection, as the program does it, and followers that do what it orders.

use std::collections::BTreeSet;
use std::iter;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::folders::{Folder, Way};
use super::machines::{FOLLOWERS, LEADERS};
use super::stage::{End, Killed, Stage, Watcher};
use crate::collection::distributed::questions::folder_in;
use crate::collection::*;
use crate::config::{Clustering, Config};
use crate::error::{Error, Result};
use crate::flow::Components;
use crate::mesh::turns::Watched;
use crate::mesh::{Membership, Mesh};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::discover;
use crate::resources::Resources;
use crate::simd::Simd;
use crate::storage::places::Placed;
use crate::storage::{Simulated, Storage};

/// Topic of the last word of a leader, as in the program.
const DONE: u32 = 3;
/// How much later than the leader followers come: it must be listening.
const AFTER: Duration = Duration::from_micros(500);

/// What a leader does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// Loads records, by their name, in epochs of so many bytes; or what is left of that.
    Load(&'static str, u64),
    /// The same, but that it does not like what comes of it, and takes all away.
    Refuse(&'static str, u64),
    /// Merges runs where they lie.
    Compact,
    /// Brings all runs to the leader.
    Gather,
    /// Discards what a load has left. There are no followers.
    Abandon,
}

/// What all jobs have in common: records to load, and the collection.
pub(super) struct Ground {
    pub(super) inputs: tempfile::TempDir,
    pub(super) collection: u64,
}

/// The configuration of the collection.
pub(super) fn config() -> Config {
    let mut config = Config::default();
    config.cluster.clustering = Clustering::Transitive;
    config.text.ngram = 1;
    config.threshold = "0.6".parse().expect("a threshold");
    config
}

/// Twelve words of an endless sequence.
fn words(from: usize) -> String {
    (from..from + 12).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ")
}

/// Writes records that may be loaded: of `count` documents some are like those of others.
pub(super) fn write_records(folder: &Path, name: &str, first: usize, count: usize) {
    let line = |at: usize| format!("{{\"id\":\"{name}{at}\",\"text\":\"{}\"}}\n", words(first + at * 7));
    std::fs::write(folder.join(name), (0..count).map(line).collect::<String>()).expect("written");
}

/// A batch of records.
pub(super) fn batch(folder: &Path, name: &str, epoch: u64, peers: Option<Arc<Peers>>) -> Batch {
    let path = folder.join(name);
    Batch {
        epoch_bytes: Some(epoch),
        sources: discover(&[path.to_str().expect("UTF-8").to_owned()], folder).expect("found").sources,
        left_out: Default::default(),
        delete_missing: false,
        lexicon: None,
        components: Components::Forest,
        command: None,
        resources: Resources { peers, ..resources(folder) },
    }
}

fn resources(folder: &Path) -> Resources {
    Resources { workers: 1, memory: None, simd: Simd::Scalar, scratch: folder.to_path_buf(), peers: None }
}

/// A job, until all of its processes have ended.
pub(super) struct Job {
    threads: Vec<JoinHandle<()>>,
    _places: Vec<Placed>,
    _watched: Watched,
}

/// What a process is given.
struct Process {
    stage: Arc<Stage>,
    ground: Arc<Ground>,
    party: usize,
    membership: Membership,
    state: PathBuf,
    folder: Arc<Folder>,
    work: Work,
}

impl Job {
    /// Begins a job on a stage, with so many followers.
    pub(super) fn begin(
        stage: &Arc<Stage>,
        ground: &Arc<Ground>,
        number: usize,
        followers: usize,
        work: Work,
    ) -> Job {
        static JOBS: AtomicU64 = AtomicU64::new(1);
        let id = JOBS.fetch_add(1, Ordering::Relaxed);
        let followers = if work == Work::Abandon { 0 } else { followers };
        let watcher = Watcher { stage: Arc::clone(stage), job: number };
        let watched = Watched::new(u128::from(id), Arc::new(watcher));
        let hosts = free(1 + followers);
        let (mut threads, mut places) = (Vec::new(), Vec::new());
        // All are there before any of them does anything.
        let parties: Vec<usize> = (0..hosts.len()).map(|process| stage.enter(number, process)).collect();
        for (process, party) in parties.into_iter().enumerate() {
            let machine = if process == 0 { LEADERS } else { FOLLOWERS };
            let folder = Folder { stage: Arc::clone(stage), party, folder: stage.folder(machine) };
            let (folder, state) = (Arc::new(folder), Path::new("/simulated").join(format!("{id}-{process}")));
            let place =
                if process == 0 { state.join("collection") } else { folder_in(&state, ground.collection) };
            places.push(Placed::new(&place, Arc::new(Way(Arc::clone(&folder)))));
            let membership = membership(&hosts, process, id);
            let (stage, ground) = (Arc::clone(stage), Arc::clone(ground));
            let it = Process { stage, ground, party, membership, state, folder, work };
            threads.push(thread::spawn(move || it.live()));
        }
        Job { threads, _places: places, _watched: watched }
    }

    /// Waits for the threads of a job whose processes have ended.
    pub(super) fn end(self) {
        self.threads.into_iter().for_each(|thread| thread.join().expect("no panic goes unheard"));
    }
}

/// Addresses of one host that are given: the system draws them from about three times as many.
const OF_HOST: usize = 2048;

/// Addresses that nobody listens on now, and that no other job was given. Where a machine has a whole network of its own,
/// neither are they those of another program of tests.
pub(super) fn free(count: usize) -> Vec<String> {
    static GIVEN: Mutex<BTreeSet<SocketAddr>> = Mutex::new(BTreeSet::new());
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let next = (GIVEN.lock().expect("addresses").len() / OF_HOST) as u8 % 3 * 64;
    let host =
        if cfg!(target_os = "linux") { [127, 1 + high % 64 + next, middle, low] } else { [127, 0, 0, 1] };
    // Held until all are found: the system gives nobody else one of them meanwhile.
    let held = iter::repeat_with(|| TcpListener::bind((Ipv4Addr::from(host), 0)).expect("bound"));
    let held = held.map(|listener| (listener.local_addr().expect("an address"), listener));
    let new = held.filter(|(address, _)| GIVEN.lock().expect("addresses").insert(*address));
    let held: Vec<_> = new.take(count).collect();
    held.into_iter().map(|(address, _)| address.to_string()).collect()
}

pub(super) fn membership(hosts: &[String], process: usize, job: u64) -> Membership {
    Membership {
        hosts: hosts.to_vec(),
        process,
        listen: None,
        workers: 1,
        secret: None,
        encrypted: false,
        job: u128::from(job),
        join_timeout: Duration::from_secs(60),
        peer_timeout: Duration::from_secs(60),
    }
}

impl Process {
    /// All that the process does, whatever befalls it.
    fn live(self) {
        Stage::begin(self.party);
        let (stage, party) = (Arc::clone(&self.stage), self.party);
        let end = match catch_unwind(AssertUnwindSafe(move || self.run())) {
            Ok(Ok(())) => End::Done,
            Ok(Err(error)) => End::failed(&error),
            Err(payload) if payload.is::<Killed>() => End::Killed,
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                End::Panicked(text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?").to_owned())
            }
        };
        stage.leave(party, end);
    }

    fn run(self) -> Result<()> {
        if self.work == Work::Abandon {
            return Writer::open_and_abandon(&(Arc::clone(&self.folder) as Arc<dyn Storage>)).map(drop);
        }
        if self.membership.process > 0 {
            thread::sleep(AFTER);
        }
        let mesh = Mesh::join(self.membership.clone(), Box::new(|_| {}))?;
        self.stage.meet(self.party, &mesh);
        let place = self.state.join("collection");
        answer_about_runs(&mesh, Some(&*place).filter(|_| mesh.process() == 0), &self.state)?;
        let peers = Arc::new(Peers::new(Arc::clone(&mesh), Some(self.state.clone())));
        let progress = Arc::<Progress>::default();
        let done = match mesh.process() {
            0 => self.lead(&peers, &progress),
            _ => self.assist(&peers, &progress).and_then(|()| mesh.receive(0, DONE).map(drop)),
        };
        match done {
            Ok(()) => {
                let mut told = (1..mesh.processes()).filter(|_| mesh.process() == 0);
                // What was to be done is done.
                let _ =
                    told.try_for_each(|peer| mesh.send(peer, DONE, Vec::new())).and_then(|()| mesh.leave());
                Ok(())
            }
            Err(error) => {
                mesh.give_up(1, &error.to_string());
                Err(error)
            }
        }
    }

    fn assist(&self, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
        let means = resources(self.ground.inputs.path());
        let nowhere = || Err(Error::config("no folder is shared"));
        follow(&nowhere, &means, peers, progress)
    }

    fn lead(&self, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
        let folder = Arc::clone(&self.folder) as Arc<dyn Storage>;
        let storage: Arc<dyn Storage> =
            Arc::new(Scattered::leading(folder, &self.state, Some(peers.share())));
        let mut writer = Writer::open(&storage)?;
        let folder = self.ground.inputs.path();
        let change = |writer: &mut Writer, name: &str, epoch: u64, refused: bool| {
            let batch = batch(folder, name, epoch, Some(Arc::clone(peers)));
            let prepared = prepare(writer, batch, Arc::clone(progress))?;
            prepared.commit_if(|_| match refused {
                true => Err(Error::input(folder, "refused")),
                false => Ok(()),
            })
        };
        match self.work {
            Work::Load(name, epoch) | Work::Refuse(name, epoch) => {
                let refused = matches!(self.work, Work::Refuse(..));
                return change(&mut writer, name, epoch, refused)
                    .map(drop)
                    .inspect_err(|_| writer.clear_up());
            }
            Work::Compact => compact_with(&mut writer, Compaction::Full, Some(peers), progress)?,
            Work::Gather => gather(&mut writer, Some(peers), progress)?,
            Work::Abandon => unreachable!("it has no followers"),
        };
        release_followers(peers)
    }
}

/// The same loads by one process, in this order: what a collection is held against.
pub(super) fn alone(ground: &Ground, names: &[&str]) -> Snapshot {
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    let mut writer = Writer::create(&storage, config(), true).expect("created");
    for name in names {
        let batch = batch(ground.inputs.path(), name, u64::MAX, None);
        prepare(&mut writer, batch, Arc::default()).expect("prepared").commit().expect("committed");
    }
    drop(writer);
    Snapshot::open(&storage).expect("opened")
}
