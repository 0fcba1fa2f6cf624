//! What is removed from a folder of runs that a process keeps to itself, also where that fails or the power goes; and what is
//! merged by whom.

use super::*;
use crate::config::Config;
use crate::storage::{Fault, Simulated};

/// What is there before.
const BEFORE: [&str; 7] = [
    "manifest-00000001",
    "notes.txt",
    "run-00000001-of-2-00000000000000ab",
    "run-00000002",
    "run-00000003-of-1-00000000000000ab",
    "run-00000003-of-2-00000000000000ab",
    "run-00000009-of-2-00000000000000ab",
];
/// What stays, and the note of it.
const AFTER: [&str; 6] = [
    "manifest-00000001",
    "notes.txt",
    "run-00000001-of-2-00000000000000ab",
    "run-00000002",
    "run-00000003-of-1-00000000000000ab",
    "tidied-00000004-0000000000000001",
];
/// What stays of what was there.
const NAMED: usize = 5;
/// Most operations of tidying it.
const MOST: u64 = 9;

fn keeper(process: u32) -> Keeper {
    Keeper { process, job: 0xab }
}

/// A folder, and what is named of it: of the two runs of one number that of process 1, and one that is not there.
fn folder(unknown: u64) -> (Simulated, Keep) {
    let storage = Simulated::new();
    for name in BEFORE {
        storage.create(name).unwrap().sync().unwrap();
    }
    storage.sync_names().unwrap();
    let runs = BTreeSet::from([(1, 2), (3, 1), (5, 2)].map(|(id, process)| (id, keeper(process))));
    (storage, Keep { collection: 7, commits: vec![(4, 1), (3, 9)], runs, unknown })
}

fn has_all(storage: &Simulated) -> bool {
    let names = storage.names().unwrap();
    AFTER[..NAMED].iter().all(|name| names.iter().any(|of| of == name))
}

#[test]
fn what_nobody_names_goes_and_nothing_else() {
    let (storage, keep) = folder(0);
    assert_eq!(storage.names().unwrap(), BEFORE);
    keep.tidy(&storage).unwrap();
    assert_eq!(storage.names().unwrap(), AFTER);
    let done = storage.operations();
    keep.tidy(&storage).unwrap();
    assert_eq!(storage.operations() - done, 1, "there is nothing to be made durable");
    Keep { runs: BTreeSet::new(), ..keep }.tidy(&storage).unwrap();
    assert_eq!(storage.names().unwrap(), ["manifest-00000001", "notes.txt", "run-00000002", AFTER[NAMED]]);
}

#[test]
fn what_may_be_named_by_a_manifest_that_cannot_be_read_stays() {
    for (unknown, gone) in [(3, 2), (4, 1), (9, 1), (10, 0)] {
        let (storage, keep) = folder(unknown);
        keep.tidy(&storage).unwrap();
        assert_eq!(storage.names().unwrap().len(), BEFORE.len() + 1 - gone, "{unknown}");
        assert!(has_all(&storage), "{unknown}");
    }
}

/// A copy of a collection, or an old state of it, knows nothing of later commits, and removes nothing of theirs.
#[test]
fn a_folder_that_was_tidied_for_another_state_is_left_alone() {
    let (storage, keep) = folder(0);
    keep.tidy(&storage).unwrap();
    let states = [
        (vec![(5, 7), (4, 1)], true),
        (vec![(9, 7), (8, 2)], true),
        (vec![(4, 2), (3, 9)], false),
        (vec![(5, 7), (4, 2)], false),
        (vec![(3, 9)], false),
    ];
    for (commits, good) in states {
        let (storage, keep) = folder(0);
        keep.tidy(&storage).unwrap();
        let other = Keep { commits: commits.clone(), runs: BTreeSet::new(), ..keep };
        match other.tidy(&storage) {
            Err(Error::Forked { tidied: 4, .. }) => assert!(!good && storage.names().unwrap() == AFTER),
            tidied => assert!(good, "{commits:?}: {tidied:?}"),
        }
    }
}

/// Whatever fails, nothing goes that is named, and the next attempt does the rest.
#[test]
fn a_failure_is_told_and_made_up_for() {
    let faults = [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync, Fault::LostAnswer];
    let first = folder(0).0.operations();
    let last = {
        let (storage, keep) = folder(0);
        keep.tidy(&storage).unwrap();
        storage.operations()
    };
    assert!((first + 4..first + MOST).contains(&last), "{first} to {last}");
    for (fault, at) in faults.into_iter().flat_map(|fault| (first..last).map(move |at| (fault, at))) {
        let (storage, keep) = folder(0);
        storage.fail_at(at, fault);
        let error = keep.tidy(&storage).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{fault:?} at {at}: {error}");
        assert!(has_all(&storage), "{fault:?} at {at}");
        keep.tidy(&storage).unwrap();
        assert_eq!(storage.names().unwrap(), AFTER, "{fault:?} at {at}");
    }
}

#[test]
fn a_power_cut_leaves_what_is_named_and_the_rest_goes_later() {
    let first = folder(0).0.operations();
    for (at, seed) in (first..first + MOST).flat_map(|at| (0..16).map(move |seed| (at, seed))) {
        let (storage, keep) = folder(0);
        storage.cut_at(at);
        let done = keep.tidy(&storage).is_ok();
        let found = storage.after_power_cut(seed);
        assert!(has_all(&found), "cut at {at}");
        assert!(!done || found.names().unwrap() == AFTER, "what is done is durable: cut at {at}");
        keep.tidy(&found).unwrap();
        assert_eq!(found.names().unwrap(), AFTER, "cut at {at}");
    }
}

/// Runs are merged by who has them, those of a process that is not there by one that is.
#[test]
fn merges_are_planned_for_each_process_alone() {
    let folder: Arc<dyn Storage> = Arc::new(Simulated::new());
    let writer = Writer::create(&folder, Config::default(), false).unwrap();
    let run = |(id, process)| {
        let keeper = Keeper::of(process, 3);
        RunEntry { id, bytes: 10 * id, digest: 0, rows: BTreeMap::new(), keeper }
    };
    let runs = [(1, 0), (2, 1), (3, 2), (4, 1), (5, 0), (6, 2)].map(run);
    let manifest = Manifest { runs: runs.to_vec(), next_run: 7, ..writer.next() };
    let plan = |first, how, processes| {
        let mut next = manifest.clone();
        let merging = Merging::plan(&mut next, first, how, (processes, 1));
        let groups = merging.groups.iter().map(|group| (group.process, group.id, group.runs.clone()));
        assert_eq!(next.next_run - 7, groups.len() as u64);
        (groups.collect::<Vec<_>>(), (0..3).map(|process| merging.bytes(process)).collect::<Vec<_>>())
    };
    let all = vec![(0, 7, vec![1, 5]), (1, 8, vec![2, 4]), (2, 9, vec![3, 6])];
    assert_eq!(plan(0, Compaction::Full, 3), (all, vec![60, 60, 90]));
    let new = vec![(0, 7, vec![5]), (1, 8, vec![4]), (2, 9, vec![6])];
    assert_eq!(plan(3, Compaction::Full, 3), (new, vec![50, 40, 60]));
    let fewer = vec![(0, 7, vec![1, 3, 5, 6]), (1, 8, vec![2, 4])];
    assert_eq!(plan(0, Compaction::Full, 2), (fewer, vec![150, 60, 0]));
    assert_eq!(plan(0, Compaction::Tiered { fuel_bytes: u64::MAX }, 3), (vec![], vec![0, 0, 0]));
    assert_eq!(plan(6, Compaction::Full, 3), (vec![], vec![0, 0, 0]));
}

/// A row that says that a content is dead is never older than what others have of that content: what process 0 merges comes
/// behind all that it was behind, and what others merge before all that it was before.
#[test]
fn what_process_0_merges_is_behind_what_it_was_behind() {
    let folder: Arc<dyn Storage> = Arc::new(Simulated::new());
    let writer = Writer::create(&folder, Config::default(), false).unwrap();
    let run = |(id, process)| {
        let keeper = Keeper::of(process, 3);
        RunEntry { id, bytes: 1, digest: 0, rows: BTreeMap::new(), keeper }
    };
    let before = [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0), (7, 1)].map(run).to_vec();
    let mut next = Manifest { runs: before.clone(), next_run: 8, ..writer.next() };
    let merging = Merging::plan(&mut next, 0, Compaction::Full, (3, 1));
    let ids = |runs: Vec<RunEntry>| runs.iter().map(|run| run.id).collect::<Vec<_>>();
    let whole = |group: &Group| Ok(Some(run((group.id, group.process))));
    assert_eq!(ids(merging.replaced(before.clone(), whole).unwrap()), [9, 10, 8]);
    // Of what process 1 merges nothing is left.
    let some = |group: &Group| Ok((group.process != 1).then(|| run((group.id, group.process))));
    assert_eq!(ids(merging.replaced(before.clone(), some).unwrap()), [10, 8]);
    // Of the runs of a load only its own are merged.
    let mut next = Manifest { runs: before.clone(), next_run: 8, ..writer.next() };
    let merging = Merging::plan(&mut next, 2, Compaction::Full, (3, 1));
    assert_eq!(ids(merging.replaced(before, whole).unwrap()), [1, 2, 9, 10, 8]);
}
