//! What is removed from the folder of local runs of a process, also where that fails or the
//! power goes.

use std::collections::BTreeSet;

use super::*;
use crate::collection::commit::names::Keeper;
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
fn folder(unknown: u64) -> (Simulated, NamedRuns) {
    let storage = Simulated::new();
    for name in BEFORE {
        storage.create(name).unwrap().sync().unwrap();
    }
    storage.sync_names().unwrap();
    let runs = BTreeSet::from([(1, 2), (3, 1), (5, 2)].map(|(id, process)| (id, keeper(process))));
    (
        storage,
        NamedRuns { collection: 7, commits: vec![(4, 1), (3, 9)], runs, unknown, below: u64::MAX, job: 0xef },
    )
}

fn tidy(keep: &NamedRuns, storage: &Simulated) -> Result<()> {
    keep.remove(storage, keep.unnamed(storage)?)
}

fn has_all(storage: &Simulated) -> bool {
    let names = storage.names().unwrap();
    AFTER[..NAMED].iter().all(|name| names.iter().any(|of| of == name))
}

#[test]
fn what_nobody_names_goes_and_nothing_else() {
    let (storage, keep) = folder(0);
    assert_eq!(storage.names().unwrap(), BEFORE);
    tidy(&keep, &storage).unwrap();
    assert_eq!(storage.names().unwrap(), AFTER);
    let done = storage.operations();
    tidy(&keep, &storage).unwrap();
    assert_eq!(storage.operations() - done, 2, "there is nothing to be made durable");
    tidy(&NamedRuns { runs: BTreeSet::new(), ..keep }, &storage).unwrap();
    assert_eq!(storage.names().unwrap(), ["manifest-00000001", "notes.txt", "run-00000002", AFTER[NAMED]]);
}

#[test]
fn what_may_be_named_by_a_manifest_that_cannot_be_read_stays() {
    for (unknown, gone) in [(3, 2), (4, 1), (9, 1), (10, 0)] {
        let (storage, keep) = folder(unknown);
        tidy(&keep, &storage).unwrap();
        assert_eq!(storage.names().unwrap().len(), BEFORE.len() + 1 - gone, "{unknown}");
        assert!(has_all(&storage), "{unknown}");
    }
}

/// Runs that a job may be writing that has the lock stay, and all others go.
#[test]
fn what_another_job_may_be_writing_stays() {
    for (below, gone) in [(1, 0), (3, 0), (4, 1), (9, 1), (10, 2)] {
        let (storage, keep) = folder(0);
        tidy(&NamedRuns { below, ..keep }, &storage).unwrap();
        assert_eq!(storage.names().unwrap().len(), BEFORE.len() + 1 - gone, "{below}");
        assert!(has_all(&storage), "{below}");
    }
    let (storage, keep) = folder(0);
    tidy(&NamedRuns { below: 1, job: 0xab, ..keep }, &storage).unwrap();
    assert_eq!(storage.names().unwrap(), AFTER, "what this job has written is in nobody else's commit");
}

/// A process that has lost its leader goes on with what it was told: what the next job writes meanwhile is not touched.
#[test]
fn what_is_written_after_the_look_stays() {
    let (storage, keep) = folder(0);
    let unnamed = keep.unnamed(&storage).unwrap();
    tidy(&keep, &storage).unwrap();
    let (note, run) = (Name::Tidied(5, 7), Name::Kept(9, Keeper { process: 2, job: 0xcd }));
    for name in [note, run] {
        storage.create(&name.to_string()).unwrap().sync().unwrap();
    }
    keep.remove(&storage, unnamed).unwrap();
    let names = storage.names().unwrap();
    assert!(
        has_all(&storage) && [note, run].iter().all(|name| names.contains(&name.to_string())),
        "{names:?}"
    );
}

/// A copy of a collection, or an old state of it, knows nothing of later commits, and removes nothing of theirs.
#[test]
fn a_folder_that_was_tidied_for_another_state_is_left_alone() {
    let (storage, keep) = folder(0);
    tidy(&keep, &storage).unwrap();
    let states = [
        (vec![(5, 7), (4, 1)], true),
        (vec![(9, 7), (8, 2)], true),
        (vec![(4, 2), (3, 9)], false),
        (vec![(5, 7), (4, 2)], false),
        (vec![(3, 9)], false),
    ];
    for (commits, good) in states {
        let (storage, keep) = folder(0);
        tidy(&keep, &storage).unwrap();
        let other = NamedRuns { commits: commits.clone(), runs: BTreeSet::new(), ..keep };
        match tidy(&other, &storage) {
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
        tidy(&keep, &storage).unwrap();
        storage.operations()
    };
    assert!((first + 4..first + MOST).contains(&last), "{first} to {last}");
    for (fault, at) in faults.into_iter().flat_map(|fault| (first..last).map(move |at| (fault, at))) {
        let (storage, keep) = folder(0);
        storage.fail_at(at, fault);
        let error = tidy(&keep, &storage).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{fault:?} at {at}: {error}");
        assert!(has_all(&storage), "{fault:?} at {at}");
        tidy(&keep, &storage).unwrap();
        assert_eq!(storage.names().unwrap(), AFTER, "{fault:?} at {at}");
    }
}

#[test]
fn a_power_cut_leaves_what_is_named_and_the_rest_goes_later() {
    let first = folder(0).0.operations();
    for (at, seed) in (first..first + MOST).flat_map(|at| (0..16).map(move |seed| (at, seed))) {
        let (storage, keep) = folder(0);
        storage.cut_at(at);
        let done = tidy(&keep, &storage).is_ok();
        let found = storage.after_power_cut(seed);
        assert!(has_all(&found), "cut at {at}");
        assert!(!done || found.names().unwrap() == AFTER, "what is done is durable: cut at {at}");
        tidy(&keep, &found).unwrap();
        assert_eq!(found.names().unwrap(), AFTER, "cut at {at}");
    }
}
