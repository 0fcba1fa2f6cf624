//! A follower that cannot merge what is for it: whether that ends the job hangs on whether the load stands that came before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use super::jobs::{config, free, membership};
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::Keeper;
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::distributed::protocol::MergePlan;
use crate::collection::{Compaction, Writer};
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::peers::Peers;
use crate::progress::Progress;
use crate::storage::{Simulated, Storage};

/// The code with which a process ends that has met damage.
const DAMAGED: u8 = 4;
/// What the leader says after the merge.
const NEXT: u64 = 7;

/// Two processes merge by a plan that names two runs of the second; these are damaged there. What the leader comes to, and the
/// follower, which hears what the leader says next if it goes on.
fn with_damaged_runs(job: u64, stands: bool) -> (Result<()>, Result<u64>) {
    let folder: Arc<dyn Storage> = Arc::new(Simulated::new());
    let writer = Writer::create(&folder, config(), true).expect("created");
    let run = |id| RunEntry { id, bytes: 9, digest: 0, rows: BTreeMap::new(), keeper: Keeper::of(1, job) };
    let named = Manifest { runs: [1, 2].map(run).to_vec(), next_run: 3, ..writer.next() };
    let plan = || {
        let plan = MergePlan::plan(&mut named.clone(), 0, Compaction::Full, (2, job));
        MergePlan { live: false, stands, ..plan }
    };
    let hosts = free(2);
    let join = |process| Mesh::join(membership(&hosts, process, job), Box::new(|_| {})).expect("met");
    thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let peers = Peers::new(join(1), None);
            let elsewhere: Arc<dyn Storage> = Arc::new(Simulated::new());
            for run in &named.runs {
                elsewhere
                    .create(&run.name().to_string())
                    .expect("created")
                    .append(b"no run")
                    .expect("written");
            }
            let done = plan().follow(&elsewhere, &peers, &Progress::default());
            let heard = done.and_then(|()| peers.receive());
            heard.inspect_err(|error| peers.mesh().give_up(DAMAGED, &error.to_string()))
        });
        let peers = Peers::new(join(0), None);
        let mut next = named.clone();
        let led = plan().lead(&writer, writer.snapshot(), &mut next, &peers, &Progress::default());
        // Nobody hears it where the follower has ended.
        let _ = peers.broadcast(&NEXT);
        (led, follower.join().expect("no panic"))
    })
}

#[test]
fn what_a_follower_cannot_merge_ends_nobody_where_the_load_stands() {
    let (led, heard) = with_damaged_runs(u64::MAX - 1, true);
    assert!(matches!(&led, Err(Error::GaveUp { process: 1, code: 0, .. })), "{led:?}");
    assert!(matches!(heard, Ok(NEXT)), "{heard:?}");
}

#[test]
fn what_a_follower_cannot_merge_ends_a_job_that_is_there_to_merge() {
    let (led, heard) = with_damaged_runs(u64::MAX - 2, false);
    assert!(matches!(&led, Err(Error::GaveUp { process: 1, code: DAMAGED, .. })), "{led:?}");
    assert!(matches!(heard, Err(Error::Damaged { .. })), "{heard:?}");
}
