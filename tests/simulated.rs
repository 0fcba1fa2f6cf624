//! What the simulated folder does when an operation is to fail, and what it leaves when the power goes.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

use alike::storage::{FileWriter, Storage};

use crate::support::storage::{Fault, Simulated, is_power_cut};

/// Enough for whatever may happen to have happened.
const SEEDS: u64 = 500;

/// More sectors than one, and not a whole number of them; no byte is 0.
fn long() -> Vec<u8> {
    (1..=250).cycle().take(2000).collect()
}

fn append(folder: &Simulated, name: &str, bytes: &[u8]) -> Box<dyn FileWriter> {
    let mut writer = folder.create(name).expect("created");
    writer.append(bytes).expect("appended");
    writer
}

fn put(folder: &Simulated, name: &str, bytes: &[u8]) {
    append(folder, name, bytes).sync().expect("synced");
    folder.sync_names().expect("names synced");
}

/// What each seed leaves of a file, `None` where its name is gone.
fn left(folder: &Simulated, name: &str) -> Vec<Option<Vec<u8>>> {
    (0..SEEDS).map(|seed| folder.after_power_cut(seed).contents(name).ok()).collect()
}

/// Every kind of operation, once, in a folder that has a file `old`; each outcome.
fn every_operation(folder: &Simulated) -> Vec<io::Result<()>> {
    let reader = folder.open("old");
    let mut outcomes = vec![
        folder.names().map(drop),
        folder.link("old", "linked"),
        folder.remove("old"),
        folder.sync_names(),
        folder.lock().map(drop),
    ];
    if let Ok(reader) = &reader {
        outcomes.push(reader.len().map(drop));
        outcomes.push(reader.read_exact_at(&mut [0], 0));
    }
    outcomes.insert(0, reader.map(drop));
    match folder.create("new") {
        Ok(mut writer) => outcomes.extend([Ok(()), writer.append(b"new"), writer.sync()]),
        Err(error) => outcomes.push(Err(error)),
    }
    outcomes
}

fn prepared() -> Simulated {
    let folder = Simulated::new();
    put(&folder, "old", b"old");
    folder
}

#[test]
fn every_operation_counts_and_can_fail() {
    let folder = prepared();
    assert_eq!(folder.operations(), 4);
    assert!(every_operation(&folder).iter().all(Result::is_ok));
    assert_eq!(folder.operations(), 4 + 11);
    for n in 4..4 + 11 {
        let folder = prepared();
        folder.fail_at(n, Fault::Eio);
        let outcomes = every_operation(&folder);
        let first = outcomes.iter().find_map(|outcome| outcome.as_ref().err()).expect("one failed");
        assert_eq!(first.raw_os_error(), Some(5), "operation {n}");
        assert!(!is_power_cut(first));
    }
}

#[test]
fn a_fault_comes_once_or_lasts_until_mended() {
    let folder = prepared();
    let next = folder.operations();
    folder.fail_at(next + 1, Fault::Eio);
    let failed = |outcome: io::Result<Vec<String>>| outcome.err().and_then(|error| error.raw_os_error());
    assert_eq!([(); 3].map(|()| failed(folder.names())), [None, Some(5), None]);
    folder.fail_from(next + 4, Fault::Enospc);
    folder.fail_at(next + 5, Fault::Eio);
    assert_eq!([(); 4].map(|()| failed(folder.names())), [None, Some(28), Some(5), Some(28)]);
    folder.mend();
    assert_eq!(failed(folder.names()), None);
}

#[test]
fn an_operation_that_failed_did_nothing() {
    let folder = prepared();
    folder.fail_from(folder.operations(), Fault::Enospc);
    assert!(every_operation(&folder).iter().all(Result::is_err));
    folder.mend();
    assert_eq!(folder.names().expect("names"), ["old"]);
    assert!(folder.lock().expect("asked").is_some());
}

#[test]
fn a_write_may_arrive_in_part_and_ends_the_writer() {
    for (fault, arrives, kind) in [
        (Fault::ShortWrite, &b"one tw"[..], Some(ErrorKind::StorageFull)),
        (Fault::Enospc, b"one ", Some(ErrorKind::StorageFull)),
        (Fault::Eio, b"one ", None),
    ] {
        let folder = Simulated::new();
        let mut writer = append(&folder, "a", b"one ");
        folder.fail_at(folder.operations(), fault);
        let error = writer.append(b"twos").expect_err("failed");
        assert!(kind.is_none_or(|kind| error.kind() == kind), "{error}");
        writer.append(b"three").expect_err("failed before");
        writer.sync().expect_err("failed before");
        assert_eq!(folder.contents("a").expect("there"), arrives);
        folder.sync_names().expect("names synced");
        assert!(left(&folder, "a").contains(&Some(Vec::new())), "nothing of it was synced");
    }
}

#[test]
fn what_a_failed_sync_wrote_off_is_lost() {
    let folder = Simulated::new();
    let mut writer = append(&folder, "a", b"synced");
    writer.sync().expect("synced");
    folder.sync_names().expect("names synced");
    writer.append(b" and not").expect("appended");
    folder.fail_at(folder.operations(), Fault::FailedSync);
    assert_eq!(writer.sync().expect_err("failed").raw_os_error(), Some(5));
    writer.sync().expect_err("failed before");
    assert_eq!(folder.contents("a").expect("there"), b"synced\0\0\0\0\0\0\0\0");
    for left in left(&folder, "a") {
        let left = left.expect("the name is durable");
        assert!(left.starts_with(b"synced") && !left.ends_with(b"not"), "{left:?}");
    }
}

#[test]
fn an_answer_that_is_lost_leaves_what_was_done() {
    let done = prepared();
    assert!(every_operation(&done).iter().all(Result::is_ok));
    let changes = [(2, "linked"), (8, "new")];
    for (at, there) in changes {
        let folder = prepared();
        folder.fail_at(4 + at, Fault::LostAnswer);
        let outcomes = every_operation(&folder);
        let failed = outcomes.iter().find_map(|outcome| outcome.as_ref().err()).expect("one failed");
        assert_eq!(failed.raw_os_error(), Some(5));
        assert!(folder.contents(there).is_ok(), "{there}");
    }
    let folder = prepared();
    let mut writer = folder.create("a").expect("created");
    folder.fail_at(folder.operations(), Fault::LostAnswer);
    writer.append(b"bytes").expect_err("failed");
    writer.sync().expect_err("failed before");
    assert_eq!(folder.contents("a").expect("there"), b"bytes");
    folder.fail_at(folder.operations(), Fault::LostAnswer);
    folder.remove("a").expect_err("failed");
    assert!(folder.contents("a").is_err());
}

#[test]
fn a_sync_that_failed_otherwise_promises_nothing() {
    let folder = Simulated::new();
    let mut writer = append(&folder, "a", b"bytes");
    folder.fail_at(folder.operations(), Fault::Eio);
    writer.sync().expect_err("failed");
    folder.fail_at(folder.operations(), Fault::FailedSync);
    folder.sync_names().expect_err("failed");
    let states = left(&folder, "a");
    assert!(states.contains(&None), "the name may be gone");
    assert!(states.contains(&Some(Vec::new())) && states.contains(&Some(b"bytes".to_vec())));
    folder.sync_names().expect("names synced");
    assert!(!left(&folder, "a").contains(&None), "what could be synced later is durable");
}

#[test]
fn the_power_stays_away() {
    let folder = prepared();
    let cut = folder.operations() + 2;
    folder.cut_at(cut);
    let mut writer = append(&folder, "new", b"new");
    assert_eq!(folder.operations(), cut);
    assert!(is_power_cut(&writer.sync().expect_err("no power")));
    folder.mend();
    for outcome in every_operation(&folder) {
        assert!(is_power_cut(&outcome.expect_err("no power")));
    }
    assert!(!is_power_cut(&io::Error::other("the power is gone")));
    let after = folder.after_power_cut(0);
    assert_eq!(after.operations(), 0);
    assert!(every_operation(&after).iter().take(1).all(Result::is_ok), "and is back on the new machine");
}

#[test]
fn what_is_synced_is_never_lost() {
    let folder = Simulated::new();
    let mut writer = append(&folder, "a", &long());
    writer.sync().expect("synced");
    folder.sync_names().expect("names synced");
    writer.append(&long()).expect("appended");
    put(&folder, "b", b"b");
    for seed in 0..SEEDS {
        let after = folder.after_power_cut(seed);
        assert_eq!(after.names().expect("names"), ["a", "b"]);
        let a = after.contents("a").expect("there");
        assert!(a.len() <= 4000 && a.starts_with(&long()), "seed {seed}");
        assert_eq!(after.contents("b").expect("there"), b"b");
        // What came through one power cut comes through the next.
        let again = after.after_power_cut(seed + 1);
        assert_eq!(again.contents("a").expect("there"), a);
    }
}

#[test]
fn what_is_not_synced_is_lost_in_every_way() {
    let folder = Simulated::new();
    let _writer = append(&folder, "a", &long());
    folder.sync_names().expect("names synced");
    let states: Vec<Vec<u8>> =
        left(&folder, "a").into_iter().map(|a| a.expect("its name is durable")).collect();
    let some = |what: &dyn Fn(&[u8]) -> bool| states.iter().any(|state| what(state));
    assert!(some(&|a| a.is_empty()));
    assert!(some(&|a| a == long()));
    assert!(some(&|a| a.len() < 2000 && a.len() % 512 != 0 && long().starts_with(a)), "torn");
    let sector = |a: &[u8], n: usize| a.get(n * 512..(n + 1) * 512).map(<[u8]>::to_vec);
    let intact = |a: &[u8], n: usize| sector(a, n).is_some_and(|s| Some(s) == sector(&long(), n));
    assert!(some(&|a| intact(a, 0) && sector(a, 1) == Some(vec![0; 512]) && intact(a, 2)), "a hole");
    let garbage = |a: &[u8]| sector(a, 1).is_some_and(|s| s != [0; 512]) && !intact(a, 1);
    assert!(some(&|a| intact(a, 0) && garbage(a) && intact(a, 2)), "garbage");
    assert!(some(&|a| a.len() == 2000 && !(0..3).any(|n| intact(a, n))), "a length without contents");
}

#[test]
fn names_survive_each_for_itself() {
    let folder = Simulated::new();
    put(&folder, "kept", b"kept");
    put(&folder, "removed", b"removed");
    put(&folder, "replaced", b"old");
    folder.remove("removed").expect("removed");
    folder.remove("replaced").expect("removed");
    append(&folder, "replaced", b"new").sync().expect("synced");
    append(&folder, "created", b"created").sync().expect("synced");
    folder.link("kept", "linked").expect("linked");
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let after = folder.after_power_cut(seed);
        let states =
            ["kept", "removed", "replaced", "created", "linked"].map(|name| after.contents(name).ok());
        assert_eq!(after.names().expect("names").len(), states.iter().flatten().count());
        seen.insert(states);
    }
    let of = |name: usize| seen.iter().map(|states| states[name].as_deref()).collect::<BTreeSet<_>>();
    assert_eq!(of(0), [Some(&b"kept"[..])].into());
    assert_eq!(of(1), [None, Some(&b"removed"[..])].into());
    assert_eq!(of(2), [None, Some(&b"old"[..]), Some(b"new")].into());
    assert_eq!(of(3), [None, Some(&b"created"[..])].into());
    assert_eq!(of(4), [None, Some(&b"kept"[..])].into());
    assert_eq!(seen.len(), 2 * 3 * 2 * 2, "every combination occurs");

    folder.sync_names().expect("names synced");
    for seed in 0..SEEDS {
        let after = folder.after_power_cut(seed);
        assert_eq!(after.names().expect("names"), ["created", "kept", "linked", "replaced"]);
        assert_eq!(after.contents("replaced").expect("there"), b"new");
    }
}

#[test]
fn two_names_of_a_file_stay_two_names_of_it() {
    let folder = Simulated::new();
    let _writer = append(&folder, "a", &long());
    folder.link("a", "b").expect("linked");
    folder.sync_names().expect("names synced");
    for seed in 0..SEEDS {
        let after = folder.after_power_cut(seed);
        assert_eq!(after.contents("a").expect("there"), after.contents("b").expect("there"));
        after.replace("a", b"other").expect("there");
        assert_eq!(after.contents("b").expect("there"), b"other");
    }
}

#[test]
fn a_seed_decides_everything() {
    let folder = Simulated::new();
    for name in ["a", "b", "c"] {
        append(&folder, name, &long());
    }
    let all = |seed| {
        let after = folder.after_power_cut(seed);
        ["a", "b", "c"].map(|name| after.contents(name).ok())
    };
    assert!((0..SEEDS).all(|seed| all(seed) == all(seed)));
    assert!((0..SEEDS).map(all).collect::<BTreeSet<_>>().len() > 100);
}

#[test]
fn a_power_cut_frees_the_lock_and_leaves_the_folder_as_it_was() {
    let folder = prepared();
    let held = folder.lock().expect("asked");
    assert!(held.is_some() && folder.clone().lock().expect("asked").is_none());
    let after = folder.after_power_cut(1);
    assert!(after.lock().expect("asked").is_some());
    assert!(folder.lock().expect("asked").is_none());
    put(&after, "new", b"new");
    assert_eq!(folder.names().expect("names"), ["old"]);
}

#[test]
fn files_rot_as_told() {
    let folder = prepared();
    folder.link("old", "other").expect("linked");
    folder.flip("old", 1, 0).expect("flipped");
    assert_eq!(folder.contents("other").expect("there"), b"omd");
    folder.flip("old", 1, 0).expect("flipped back");
    folder.flip("old", 2, 7).expect("flipped");
    assert_eq!(folder.contents("old").expect("there"), b"ol\xe4");
    assert_eq!(folder.flip("old", 3, 0).expect_err("past the end").kind(), ErrorKind::UnexpectedEof);
    folder.truncate("old", 5).expect("as it is");
    folder.truncate("old", 2).expect("shorter");
    assert_eq!(folder.contents("old").expect("there"), b"ol");
    folder.replace("old", b"quite another").expect("replaced");
    assert!(left(&folder, "old").iter().all(|old| old.as_deref() == Some(b"quite another")), "durably");
    folder.truncate("old", 5).expect("shorter");
    assert!(left(&folder, "old").iter().all(|old| old.as_deref() == Some(b"quite")), "durably");
    for outcome in [folder.flip("none", 0, 0), folder.truncate("none", 0), folder.replace("none", b"")] {
        assert_eq!(outcome.expect_err("no such file").kind(), ErrorKind::NotFound);
    }
}
