//! Readers beside writers, and writers beside writers.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::collection::tests::commits::{contents, expected, open, open_or_create, prepare, share, step};
use crate::collection::*;
use crate::config::Config;
use crate::error::Error;
use crate::storage::{self, Local, Lock, Reader, Simulated, Storage};

type Hook = Box<dyn FnOnce() + Send>;

/// A folder whose lock is worth nothing, and where things happen at awkward moments.
#[derive(Clone)]
struct Awkward {
    folder: Simulated,
    /// What happens each time after the names were listed.
    after_names: Arc<Mutex<VecDeque<Hook>>>,
    /// What happens before the next link.
    before_link: Arc<Mutex<Option<Hook>>>,
    /// Whether no manifest may ever name what is missing, and how often that was looked at.
    strict: Option<Arc<AtomicUsize>>,
}

impl Awkward {
    fn new(folder: &Simulated) -> Awkward {
        let (after_names, before_link) = (Arc::default(), Arc::default());
        Awkward { folder: folder.clone(), after_names, before_link, strict: None }
    }

    fn share(&self) -> Arc<dyn Storage> {
        Arc::new(self.clone())
    }
}

impl std::fmt::Debug for Awkward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.folder.fmt(f)
    }
}

/// Whether every run that any manifest of the folder names is there.
fn check_named(folder: &Simulated) {
    let names = folder.names().expect("names");
    for commit in names.iter().filter_map(|name| name.strip_prefix("manifest-")) {
        let manifest = Manifest::read(folder, commit.parse().expect("a number")).expect("a manifest");
        let missing = manifest.runs.iter().find(|run| !names.contains(&format!("run-{:08}", run.id)));
        assert!(missing.is_none(), "manifest-{commit} names {missing:?}, which is gone");
    }
}

#[derive(Debug)]
struct NoLock;

impl Lock for NoLock {}

impl Storage for Awkward {
    fn names(&self) -> io::Result<Vec<String>> {
        let names = self.folder.names();
        let hook = self.after_names.lock().expect("whole").pop_front();
        if let Some(hook) = hook {
            hook();
        }
        names
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn storage::FileWriter>> {
        self.folder.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.folder.open(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        let hook = self.before_link.lock().expect("whole").take();
        if let Some(hook) = hook {
            hook();
        }
        self.folder.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)?;
        if let Some(count) = &self.strict {
            check_named(&self.folder);
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_names()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        Ok(Some(Box::new(NoLock)))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }
}

pub(in crate::collection) fn write(storage: &Arc<dyn Storage>, steps: usize) {
    let mut writer = open_or_create(storage).expect("opened");
    (0..steps).for_each(|_| step(&mut writer).expect("committed"));
}

/// A test on an empty folder of each kind.
pub(in crate::collection) fn on_each(test: impl Fn(Arc<dyn Storage>)) {
    let root = tempfile::tempdir().expect("a folder");
    test(Arc::new(Local::create(root.path()).expect("created")));
    test(share(&Simulated::new()));
}

#[test]
fn a_second_writer_is_refused() {
    on_each(|storage| {
        let first = open_or_create(&storage).expect("created");
        assert!(matches!(Writer::open(&storage), Err(Error::Locked(_))));
        assert_eq!(open(&storage).manifest().commit, 0, "a reader is not");
        drop(first);
        step(&mut Writer::open(&storage).expect("opened")).expect("committed");
    });
}

#[test]
fn a_snapshot_outlives_its_files() {
    on_each(|storage| {
        write(&storage, 3);
        let snapshot = open(&storage);
        let before = contents(&snapshot, false).expect("read");
        assert!(!before.runs.is_empty());
        write(&storage, 10);
        let names = storage.names().expect("names");
        assert!(before.runs.iter().all(|(id, _)| !names.contains(&format!("run-{id:08}"))));
        assert_eq!(contents(&snapshot, false).expect("read"), before);
        assert_ne!(contents(&open(&storage), false).expect("read"), before);
    });
}

#[test]
fn readers_open_while_a_writer_commits() {
    const COMMITS: u64 = 60;
    let expected = expected(COMMITS + 1);
    let root = tempfile::tempdir().expect("a folder");
    let storage: Arc<dyn Storage> = Arc::new(Local::create(root.path()).expect("created"));
    drop(open_or_create(&storage).expect("created"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = || {
            let (mut last, mut commits) = (0, 0);
            while !done.load(Ordering::Relaxed) || last < COMMITS {
                let storage: Arc<dyn Storage> = Arc::new(Local::open(root.path()).expect("opened"));
                let snapshot = Snapshot::open(&storage).expect("opened");
                let commit = snapshot.manifest().commit;
                assert!(commit >= last, "commit {commit} after {last}");
                commits += u64::from(commit > last);
                last = commit;
                let found = contents(&snapshot, false).expect("read");
                assert_eq!(Some(found.runs), expected[commit as usize + 1].clone().map(|c| c.runs));
            }
            commits
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        write(&storage, COMMITS as usize);
        done.store(true, Ordering::Relaxed);
        let seen = readers.map(|reader| reader.join().expect("no reader failed"));
        assert!(seen.iter().all(|&commits| commits > 3), "{seen:?}");
    });
}

#[test]
fn manifests_go_before_what_they_name() {
    let count = Arc::new(AtomicUsize::new(0));
    let awkward = Awkward { strict: Some(Arc::clone(&count)), ..Awkward::new(&Simulated::new()) };
    write(&awkward.share(), 20);
    assert!(count.load(Ordering::Relaxed) > 60);
}

#[test]
fn a_reader_that_is_overtaken_looks_again() {
    for (overtaken, opens) in [(1, true), (10, true), (1000, false)] {
        let folder = Simulated::new();
        write(&share(&folder), 1);
        let awkward = Awkward::new(&folder);
        for _ in 0..overtaken {
            let storage = share(&folder);
            awkward.after_names.lock().expect("whole").push_back(Box::new(move || write(&storage, 7)));
        }
        match Snapshot::open(&awkward.share()) {
            Ok(snapshot) => assert!(opens && snapshot.manifest().commit == 1 + 7 * overtaken),
            Err(error) => assert!(!opens && matches!(error, Error::Changed(_)), "{error}"),
        }
    }
}

#[test]
fn a_writer_that_wakes_up_too_late_publishes_nothing() {
    // After one or two commits the name of its own is taken. After more it is free again.
    for ahead in 1..6 {
        let folder = Simulated::new();
        let storage = Awkward::new(&folder).share();
        write(&storage, 4);
        let mut stale = Writer::open(&storage).expect("opened");
        let next = stale.next();
        write(&storage, ahead);
        let before = contents(&open(&storage), true).expect("read");
        let outcome = stale.commit(next.clone());
        assert!(matches!(outcome, Err(Error::Locked(_))), "{ahead} ahead: {outcome:?}");
        assert!(matches!(stale.commit(next), Err(Error::Io { .. })), "and is dead");
        assert_eq!(contents(&open(&storage), true).expect("read"), before);
        drop(stale);
        write(&storage, 1);
        assert_eq!(open(&storage).manifest().commit, before.commit + 1);
    }
}

#[test]
fn two_that_create_a_collection_make_one() {
    for ahead in 0..4 {
        let awkward = Awkward::new(&Simulated::new());
        let storage = awkward.share();
        let other = Arc::clone(&storage);
        let hook: Hook = Box::new(move || {
            // The file of the one that sleeps is all there is; another makes room for itself.
            write(&other, ahead);
            drop(other.create("new-manifest-00000000"));
        });
        *awkward.before_link.lock().expect("whole") = Some(hook);
        Writer::create(&storage, Config::default(), true).expect_err("too late");
        let found = open(&storage);
        assert_eq!(found.manifest().commit, ahead as u64);
        contents(&found, true).expect("read");
    }
}

#[test]
fn a_writer_whose_files_were_cleaned_away_publishes_nothing() {
    let storage = Awkward::new(&Simulated::new()).share();
    write(&storage, 1);
    // Each brings a run or a change log of its own.
    for _ in 0..3 {
        let mut stale = Writer::open(&storage).expect("opened");
        let commit = stale.snapshot().manifest().commit;
        let next = prepare(&stale).expect("prepared");
        assert!(next.next_run > stale.next().next_run || next.changes != stale.next().changes);
        let mut newer = Writer::open(&storage).expect("opened");
        assert!(matches!(stale.commit(next), Err(Error::Io { .. })));
        step(&mut newer).expect("committed");
        assert_eq!(open(&storage).manifest().commit, commit + 1);
    }
}

#[test]
fn a_writer_asleep_before_it_publishes_is_shut_out_by_the_next() {
    for commits in [false, true] {
        let awkward = Awkward::new(&Simulated::new());
        let storage = awkward.share();
        write(&storage, 3);
        let mut stale = Writer::open(&storage).expect("opened");
        let next = prepare(&stale).expect("prepared");
        let other = Arc::clone(&storage);
        let hook: Hook = Box::new(move || write(&other, usize::from(commits)));
        *awkward.before_link.lock().expect("whole") = Some(hook);
        stale.commit(next).expect_err("too late");
        let found = open(&storage);
        assert_eq!(found.manifest().commit, 3 + u64::from(commits));
        contents(&found, true).expect("read");
        write(&storage, 1);
    }
}

#[test]
fn a_writer_that_has_lost_its_lock_is_found_out_by_the_other() {
    let storage = Awkward::new(&Simulated::new()).share();
    write(&storage, 3);
    let mut overtaken = Writer::open(&storage).expect("opened");
    write(&storage, 1);
    let found = contents(&open(&storage), true).expect("read");
    assert!(matches!(step(&mut overtaken), Err(Error::Io { .. } | Error::Locked(_))));
    assert_eq!(contents(&open(&storage), true).expect("read"), found);
}

#[test]
fn nothing_is_written_when_the_writer_is_gone() {
    let storage = share(&Simulated::new());
    let writer = open_or_create(&storage).expect("created");
    let mut next = writer.next();
    let (_, mut run) = writer.begin_run(&mut next).expect("begun");
    let mut log = writer.begin_changes(&next).expect("begun");
    drop(writer);
    run.rows(SectionKind(1), Shape { width: 1, key: 1 }).expect("nothing is written yet");
    assert!(matches!(run.finish(), Err(Error::Io { .. })));
    assert!(matches!(log.append(b"x"), Err(Error::Io { .. })));
}

#[test]
fn what_is_being_written_for_the_next_commit_is_left_alone() {
    let storage = share(&Simulated::new());
    let mut writer = open_or_create(&storage).expect("created");
    let next = writer.next();
    // As a program would that prepares two commits at once: begun with the number after those of `next`.
    let mut after = Manifest { commit: next.commit + 1, ..next.clone() };
    let (id, run) = writer.begin_run(&mut after).expect("begun");
    let log = writer.begin_changes(&after).expect("begun");
    writer.commit(next).expect("committed");
    run.finish().expect("finished");
    after.runs.push(RunEntry::of(&*storage, id, None, Default::default()).expect("an entry"));
    after.changes.push(log.finish(None).expect("finished"));
    writer.commit(after).expect("committed");
    assert!(writer.untidied().is_none());
    assert_eq!(open(&storage).runs().len(), 1);
}

#[test]
#[should_panic(expected = "neither new nor as it was")]
fn a_commit_that_cannot_follow_is_a_bug() {
    let mut writer = open_or_create(&share(&Simulated::new())).expect("created");
    (0..2).for_each(|_| step(&mut writer).expect("committed"));
    let mut next = writer.next();
    next.runs[0].bytes += 1;
    let _ = writer.commit(next);
}

#[test]
fn a_change_log_that_is_not_there_whole_is_not_committed() {
    let storage = share(&Simulated::new());
    for more in [None, Some(0), Some(1)] {
        let mut writer = open_or_create(&storage).expect("opened");
        let mut next = writer.next();
        let mut entry = ChangesEntry { commit: next.commit, bytes: 0, digest: 0, note: None };
        if let Some(more) = more {
            entry = writer.begin_changes(&next).and_then(|log| log.finish(None)).expect("written");
            entry.bytes += more;
        }
        next.changes.push(entry);
        match (more, writer.commit(next)) {
            (None, Err(Error::Io { .. })) | (Some(0), Ok(())) | (Some(1), Err(Error::Damaged { .. })) => {}
            (more, outcome) => panic!("{more:?} bytes more: {outcome:?}"),
        }
    }
    assert_eq!(open(&storage).manifest().commit, 1);
}
