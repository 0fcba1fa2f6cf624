//! Commits that can be looked at again: whatever cuts a job off, those that the last commit says stay are whole, and nothing
//! else stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::collection::commit::names::Name;
use crate::collection::tests::commits::{Contents, contents, open, open_or_create, prepare, share};
use crate::collection::*;
use crate::error::{Error, Result};
use crate::limits::stride;
use crate::storage::{Fault, Simulated, Storage, is_power_cut};

/// The last commit of the job.
const COMMITS: u64 = 24;

/// How long commits are to stay from this one on.
fn wanted(commit: u64) -> Option<Retain> {
    match commit {
        4 => Some(Retain::Commits(3)),
        11 => Some(Retain::Commits(6)),
        19 => Some(Retain::Commits(2)),
        _ => None,
    }
}

/// Whether commit `commit` restores the oldest one that stays.
fn restores(commit: u64) -> bool {
    [9, 18, 24].contains(&commit)
}

fn step(writer: &mut Writer) -> Result<()> {
    let mut next = writer.next();
    if restores(next.commit) {
        let oldest = *writer.snapshot().older()?.first().expect("one before it");
        let earlier = Manifest::read(&**writer.storage(), oldest)?;
        next.load += 1;
        next.runs.clone_from(&earlier.runs);
        next.counts = earlier.counts;
        return writer.restore(next, &earlier);
    }
    let next = prepare(writer)?;
    if let Some(retain) = wanted(next.commit) {
        writer.set_retain(retain);
    }
    writer.commit(next)
}

/// Makes the commits that are missing.
fn job(storage: &Arc<dyn Storage>) -> Result<()> {
    let mut writer = open_or_create(storage)?;
    while writer.snapshot().manifest().commit < COMMITS {
        step(&mut writer)?;
    }
    Ok(())
}

/// What each commit of the job holds, by its number.
fn expected() -> Vec<Contents> {
    let storage = share(&Simulated::new());
    let mut writer = open_or_create(&storage).expect("created");
    let mut all = vec![contents(writer.snapshot(), true).expect("read")];
    while all.len() as u64 <= COMMITS {
        step(&mut writer).expect("committed");
        all.push(contents(writer.snapshot(), true).expect("read"));
    }
    all
}

/// The commits before the last one of which a slow reader says that they stay: it counts logs by hand.
fn slow_first_kept(commit: u64) -> u64 {
    let (mut first, mut logs) = (0, Vec::new());
    for made in 1..=commit {
        // The job drops logs now and then, and logs every commit but those that three divides.
        while made % 7 == 0 && logs.len() > 2 {
            logs.remove(0);
        }
        logs.extend(Some(made).filter(|made| made % 3 != 0));
        let Some(Retain::Commits(count)) = (1..=made).rev().find_map(wanted) else {
            first = made - 1;
            continue;
        };
        let wanted = logs.len().checked_sub(count as usize).map_or(0, |at| logs[at]);
        first = first.max(wanted.min(made - 1));
        while logs.len() > 1 && logs[1] <= first {
            logs.remove(0);
        }
    }
    first
}

/// Reads all commits that stay; they hold what they held when they were made.
fn check_kept(storage: &Arc<dyn Storage>, expected: &[Contents]) -> BTreeSet<u64> {
    let last = open(storage);
    let mut kept = BTreeSet::from([last.manifest().commit]);
    for commit in last.older().expect("listed") {
        let older = Snapshot::of(storage, commit).expect("opened");
        assert_eq!(contents(&older, true).expect("read"), expected[commit as usize]);
        kept.insert(commit);
    }
    kept
}

/// Whether those that stay are all there, and no file that is of none of them.
fn check_tidy(storage: &Arc<dyn Storage>, expected: &[Contents]) {
    let kept = check_kept(storage, expected);
    let last = *kept.last().expect("the last one");
    assert_eq!(kept, (slow_first_kept(last)..=last).collect(), "after commit {last}");
    let manifests: Vec<Manifest> =
        kept.iter().map(|commit| Manifest::read(&**storage, *commit).expect("kept")).collect();
    for name in storage.names().expect("names") {
        let known = Name::parse(&name).expect("a name of a collection");
        let vouches = last == 0 && known.is_unfinished(0);
        let named = manifests.iter().any(|manifest| manifest.names(known));
        assert!(vouches || named, "{name} is left after commit {last}");
    }
}

#[test]
fn commits_stay_as_long_as_was_said() {
    let (expected, storage) = (expected(), share(&Simulated::new()));
    let mut writer = open_or_create(&storage).expect("created");
    let mut most = 0;
    while writer.snapshot().manifest().commit < COMMITS {
        step(&mut writer).expect("committed");
        check_tidy(&storage, &expected);
        let manifest = writer.snapshot().manifest();
        most = most.max(manifest.commit + 1 - manifest.first_kept());
    }
    // Of 9 to 11 commits in a row six have logs at most.
    assert!(most >= 8, "{most}");
    drop(writer);
    // Who opens it keeps them, too.
    drop(Writer::open(&storage).expect("opened"));
    check_tidy(&storage, &expected);
}

#[test]
fn a_cut_at_any_operation_leaves_those_that_stay() {
    let expected = expected();
    let whole = Simulated::new();
    job(&share(&whole)).expect("done");
    let mut found = BTreeSet::new();
    for cut in (0..whole.operations()).step_by(stride(3)) {
        let folder = Simulated::new();
        folder.cut_at(cut);
        if let Err(Error::Io { source, .. }) = job(&share(&folder)) {
            assert!(is_power_cut(&source) || source.to_string().contains("open the collection again"));
        }
        for seed in 0..4 {
            let after = share(&folder.after_power_cut(cut * 100 + seed));
            match Snapshot::open(&after) {
                Err(Error::NotACollection(..)) => continue,
                opened => drop(opened.expect("opened")),
            }
            // Before anybody tidies up some that were about to go may be half gone: nobody says that they stay.
            found.insert(check_kept(&after, &expected).len());
            drop(Writer::open(&after).expect("opened for writing"));
            check_tidy(&after, &expected);
            if seed == 0 && cut % 48 == 0 {
                job(&after).expect("goes on");
                check_tidy(&after, &expected);
            }
        }
    }
    assert!(found.len() > 5, "{found:?}");
}

#[test]
fn a_removal_that_fails_costs_none_of_them() {
    let expected = expected();
    let whole = Simulated::new();
    job(&share(&whole)).expect("done");
    for failed in (0..whole.operations()).step_by(3) {
        let folder = Simulated::new();
        folder.fail_at(failed, Fault::Eio);
        let storage = share(&folder);
        let _ = job(&storage);
        if Snapshot::open(&storage).is_ok() {
            check_kept(&storage, &expected);
            drop(Writer::open(&storage).expect("opened for writing"));
            check_tidy(&storage, &expected);
        }
    }
}

/// What a damaged manifest names is not known, so all that may be its own stays while it would itself.
#[test]
fn a_damaged_manifest_of_one_that_stays_costs_no_other() {
    let (expected, folder) = (expected(), Simulated::new());
    let storage = share(&folder);
    job(&storage).expect("done");
    let mut writer = Writer::open(&storage).expect("opened");
    writer.set_retain(Retain::Commits(4));
    let end = COMMITS + 6;
    while writer.snapshot().manifest().commit < end {
        step(&mut writer).expect("committed");
    }
    drop(writer);
    let damaged = end - 3;
    let name = Name::Manifest(damaged).to_string();
    let runs = Manifest::read(&*storage, damaged).expect("whole").runs;
    let logs = Manifest::read(&*storage, damaged).expect("whole").changes;
    storage.remove(&name).and_then(|()| storage.create(&name)?.append(b"garbage")).expect("damaged");
    let mut writer = Writer::open(&storage).expect("opened");
    assert!(writer.untidied().expect("it says so").to_string().contains(&name));
    let is_whole = |storage: &Arc<dyn Storage>| {
        let names: BTreeSet<String> = storage.names().expect("names").into_iter().collect();
        runs.iter().all(|run| names.contains(&run.name().to_string()))
            && logs.iter().all(|log| names.contains(&Name::Changes(log.commit).to_string()))
    };
    assert!(is_whole(&storage));
    let mut stayed = 0;
    while writer.snapshot().manifest().first_kept() <= damaged {
        assert!(is_whole(&storage), "at commit {}", writer.snapshot().manifest().commit);
        step(&mut writer).expect("committed");
        stayed += 1;
    }
    assert!(stayed > 1 && !storage.names().expect("names").contains(&name), "{stayed}");
    drop(writer);
    let last = open(&storage);
    let manifests: Vec<Manifest> = last
        .older()
        .expect("listed")
        .into_iter()
        .chain([last.manifest().commit])
        .map(|commit| Manifest::read(&*storage, commit).expect("kept"))
        .collect();
    for name in storage.names().expect("names") {
        let known = Name::parse(&name).expect("a name of a collection");
        assert!(manifests.iter().any(|manifest| manifest.names(known)), "{name} is left");
    }
    assert_eq!(expected.len() as u64, COMMITS + 1);
}

/// What a collection is told without anything else to do is a commit of its own, and said again none.
#[test]
fn what_is_said_alone_is_a_commit() {
    let storage = share(&Simulated::new());
    let mut writer = open_or_create(&storage).expect("created");
    assert_eq!(writer.commit_retain().expect("nothing to do"), None);
    writer.set_retain(Retain::Days(30));
    assert_eq!(writer.commit_retain().expect("committed"), Some(1));
    assert_eq!(writer.commit_retain().expect("nothing to do"), None);
    assert_eq!(open(&storage).manifest().retain, Some(Retain::Days(30)));
    assert_eq!(open(&storage).older().expect("listed"), [0]);
}
