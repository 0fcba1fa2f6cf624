//! A job of many commits, cut off at every operation, and with every operation failing once.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::collection::commit::names::Name;
use crate::collection::*;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::limits::stride;
use crate::storage::{Fault, FileWriter, Lock, Reader, Simulated, Storage, is_power_cut};

pub(in crate::collection) const ROWS: SectionKind = SectionKind(1);
/// What a dead writer says.
const DEAD: &str = "open the collection again";
/// Commits of the job, with that of creation.
const COMMITS: u64 = 26;

/// All that can be read of a commit.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::collection) struct Contents {
    pub(in crate::collection) commit: u64,
    load: u64,
    next_run: u64,
    counts: Counts,
    /// By id.
    pub(in crate::collection) runs: Vec<(u64, Vec<u64>)>,
    /// By commit.
    logs: Vec<(u64, Vec<u8>)>,
}

pub(in crate::collection) fn rows(run: &RunReader) -> Result<Vec<u64>> {
    let mut scan = run.rows(ROWS).expect("a section of rows").scan(&[], None);
    let mut rows = Vec::new();
    while let Some(row) = scan.next_row()? {
        rows.extend_from_slice(row);
    }
    Ok(rows)
}

/// Reads a commit, but for change logs that are not asked for.
pub(in crate::collection) fn contents(snapshot: &Snapshot, with_logs: bool) -> Result<Contents> {
    let manifest = snapshot.manifest();
    let runs = manifest.runs.iter().zip(snapshot.runs());
    let runs = runs.map(|(entry, run)| Ok((entry.id, rows(run)?))).collect::<Result<_>>()?;
    let mut logs = Vec::new();
    for entry in manifest.changes.iter().filter(|_| with_logs) {
        let mut bytes = Vec::new();
        assert!(snapshot.changes(entry.commit, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?);
        logs.push((entry.commit, bytes));
    }
    let Manifest { commit, load, next_run, counts, .. } = *manifest;
    Ok(Contents { commit, load, next_run, counts, runs, logs })
}

fn add_run(writer: &Writer, next: &mut Manifest, rows: &[u64]) -> Result<()> {
    let (id, mut run) = writer.begin_run(next)?;
    run.rows(ROWS, Shape { width: 1, key: 1 })?;
    rows.iter().try_for_each(|row| run.push(&[*row]))?;
    let summary = run.finish()?;
    let count = [("rows".to_owned(), summary.sections[0].1)].into();
    next.runs.push(RunEntry::of(&**writer.storage(), id, None, count)?);
    Ok(())
}

/// Makes all runs one, but for the newest.
fn compact(writer: &Writer, next: &mut Manifest) -> Result<()> {
    let Some(newest) = next.runs.pop() else { return Ok(()) };
    let mut all = writer.snapshot().runs()[..next.runs.len()]
        .iter()
        .map(|run| rows(run))
        .collect::<Result<Vec<_>>>()?
        .concat();
    all.sort_unstable();
    next.runs.clear();
    add_run(writer, next, &all)?;
    next.runs.push(newest);
    Ok(())
}

/// Prepares the commit after the last one; its number says what it is.
pub(in crate::collection) fn prepare(writer: &Writer) -> Result<Manifest> {
    let mut next = writer.next();
    let number = next.commit;
    next.load += 1;
    next.counts.documents = number * 100;
    match number % 5 {
        0 => compact(writer, &mut next)?,
        1 => {}
        _ => {
            for part in 0..1 + number % 2 {
                add_run(writer, &mut next, &[number * 10 + part, number * 1000 + part])?;
            }
        }
    }
    if number.is_multiple_of(7) {
        next.changes.drain(..next.changes.len() - 2);
    }
    if !number.is_multiple_of(3) {
        let mut log = writer.begin_changes(&next)?;
        for line in 0..number % 3 {
            log.append(format!("{{\"commit\":{number},\"line\":{line}}}\n").as_bytes())?;
        }
        next.changes.push(log.finish(None)?);
    }
    Ok(next)
}

pub(in crate::collection) fn step(writer: &mut Writer) -> Result<()> {
    let next = prepare(writer)?;
    writer.commit(next)
}

/// Opens the collection, or makes it.
pub(in crate::collection) fn open_or_create(storage: &Arc<dyn Storage>) -> Result<Writer> {
    match Writer::open(storage) {
        Err(Error::NotACollection(..)) => Writer::create(storage, Config::default(), true),
        outcome => outcome,
    }
}

/// Makes the commits that are missing of so many. `acknowledged` is how many there are for certain.
fn job(storage: &Arc<dyn Storage>, commits: u64, acknowledged: &AtomicU64) -> Result<()> {
    let mut writer = open_or_create(storage)?;
    loop {
        let made = writer.snapshot().manifest().commit + 1;
        acknowledged.store(made, Ordering::Relaxed);
        if made >= commits {
            return Ok(());
        }
        step(&mut writer).inspect_err(|error| check_dead(&mut writer, error))?;
    }
}

/// Whether nothing more can be written after a failed write.
fn check_dead(writer: &mut Writer, error: &Error) {
    let wrote = matches!(error, Error::Io { action: "create" | "write" | "sync" | "commit", .. });
    let storage = Arc::clone(writer.storage());
    if storage.sync_names().is_ok() && !wrote {
        // It was a read of the job itself that failed.
        return;
    }
    let next = writer.next();
    let attempts = [
        writer.commit(next.clone()),
        writer.begin_run(&mut next.clone()).map(drop),
        writer.begin_changes(&next).map(drop),
    ];
    for attempt in attempts {
        let error = attempt.expect_err("the writer is dead");
        assert!(matches!(&error, Error::Io { .. }) && error.to_string().contains(DEAD), "{error}");
    }
}

pub(in crate::collection) fn share(folder: &Simulated) -> Arc<dyn Storage> {
    Arc::new(folder.clone())
}

/// What there is after so many commits of the job; nothing after none.
pub(in crate::collection) fn expected(commits: u64) -> Vec<Option<Contents>> {
    let storage = share(&Simulated::new());
    let mut writer = open_or_create(&storage).expect("created");
    let mut all = vec![None];
    loop {
        assert!(writer.untidied().is_none());
        all.push(Some(contents(writer.snapshot(), true).expect("read")));
        assert_eq!(all.last(), Some(&Some(contents(&open(&storage), true).expect("read"))));
        if all.len() as u64 > commits {
            return all;
        }
        step(&mut writer).expect("committed");
    }
}

pub(in crate::collection) fn open(storage: &Arc<dyn Storage>) -> Snapshot {
    Snapshot::open(storage).expect("opened")
}

/// How many commits a reader finds; all of the last one as it should be.
fn find(storage: &Arc<dyn Storage>, expected: &[Option<Contents>]) -> u64 {
    let snapshot = match Snapshot::open(storage) {
        Err(Error::NotACollection(..)) => return 0,
        opened => opened.expect("opened"),
    };
    let found = contents(&snapshot, true).expect("read");
    let made = found.commit + 1;
    assert_eq!(Some(found), expected[made as usize]);
    made
}

/// Whether there is nothing in the folder but what the last two commits name.
fn check_tidy(storage: &Arc<dyn Storage>) {
    let last = open(storage).manifest().clone();
    let before = last.commit.checked_sub(1).map(|before| Manifest::read(&**storage, before).expect("kept"));
    for name in storage.names().expect("names") {
        let known = Name::parse(&name).expect("a name of a collection");
        let vouches = before.is_none() && known.is_unfinished(0);
        let kept = vouches || last.names(known) || before.as_ref().is_some_and(|before| before.names(known));
        assert!(kept, "{name} is left after commit {}", last.commit);
    }
}

/// What must hold for a folder where at least `acknowledged` commits were made, and at most one more; `further`
/// commits are made on it.
fn check_after(storage: &Arc<dyn Storage>, acknowledged: u64, further: u64, expected: &[Option<Contents>]) {
    let found = find(storage, expected);
    assert!((acknowledged..=acknowledged + 1).contains(&found), "{found} commits after {acknowledged}");
    if found > 0 {
        let writer = Writer::open(storage).expect("opened for writing");
        assert_eq!(writer.snapshot().manifest().commit + 1, found);
        check_tidy(storage);
    }
    let last = (found + further).clamp(1, COMMITS);
    job(storage, last, &AtomicU64::new(0)).expect("goes on");
    assert_eq!(find(storage, expected), last);
    check_tidy(storage);
}

/// How many operations the job has.
fn operations() -> u64 {
    let folder = Simulated::new();
    job(&share(&folder), COMMITS, &AtomicU64::new(0)).expect("done");
    folder.operations()
}

#[test]
fn the_job_is_worth_cutting() {
    let expected = expected(COMMITS);
    let dropped = expected.windows(2).flat_map(|pair| match pair {
        [Some(before), Some(after)] => before.runs.iter().filter(|run| !after.runs.contains(run)).collect(),
        _ => Vec::new(),
    });
    assert!(dropped.count() > 10, "runs are dropped");
    assert!(expected.iter().flatten().any(|contents| contents.logs.len() > 2));
    assert!(operations() > 500);
}

#[test]
fn a_cut_at_any_operation_leaves_a_commit() {
    let expected = expected(COMMITS);
    let (mut later, mut from_nothing) = (0, 0);
    for cut in 0..operations() {
        let (folder, acknowledged) = (Simulated::new(), AtomicU64::new(0));
        folder.cut_at(cut);
        match job(&share(&folder), COMMITS, &acknowledged) {
            // Cut off while removing: the commit stands, and the next one finds a dead writer.
            Err(Error::Io { source, .. }) => {
                assert!(is_power_cut(&source) || source.to_string().contains(DEAD), "{cut}: {source}");
            }
            outcome => assert!(outcome.is_ok(), "cut {cut}: {outcome:?}"),
        }
        let acknowledged = acknowledged.into_inner();
        for seed in 0..6 {
            let after = share(&folder.after_power_cut(cut * 100 + seed));
            let found = find(&after, &expected);
            later += u64::from(found > acknowledged);
            from_nothing += u64::from(found == 0);
            // One of them to the end, now and then.
            let further = if seed == 0 && cut % 40 == 0 { COMMITS } else { 2 };
            check_after(&after, acknowledged, further, &expected);
        }
    }
    assert!(later > 50, "commits survive that were not acknowledged: {later}");
    assert!(from_nothing > 20);
}

#[test]
fn a_second_cut_while_cleaning_up_leaves_a_commit() {
    let expected = expected(COMMITS);
    let mut cuts = 0;
    for first in (0..operations()).step_by(11) {
        let (folder, acknowledged) = (Simulated::new(), AtomicU64::new(0));
        folder.cut_at(first);
        let _ = job(&share(&folder), COMMITS, &acknowledged);
        let acknowledged = acknowledged.into_inner();
        for second in 0.. {
            let folder = folder.after_power_cut(first);
            folder.cut_at(second);
            let again = AtomicU64::new(0);
            let goal = (acknowledged + 1).min(COMMITS);
            let done = job(&share(&folder), goal, &again).is_ok();
            let acknowledged = acknowledged.max(again.into_inner());
            check_after(&share(&folder.after_power_cut(second)), acknowledged, 1, &expected);
            cuts += 1;
            if done {
                break;
            }
        }
    }
    assert!(cuts > 1000, "{cuts}");
}

/// The last commit of a killed writer may be there for all to see, and its name not durable.
#[test]
fn a_cut_while_cleaning_up_after_a_killed_writer_leaves_a_commit() {
    let expected = expected(COMMITS);
    let mut cuts = 0;
    for first in (0..operations()).step_by(stride(29)) {
        for second in 0.. {
            let (folder, acknowledged) = (Simulated::new(), AtomicU64::new(0));
            folder.fail_from(first, Fault::Eio);
            let _ = job(&share(&folder), COMMITS, &acknowledged);
            folder.mend();
            let acknowledged = acknowledged.into_inner();
            let begun = folder.operations();
            folder.cut_at(begun + second);
            let opened = Writer::open(&share(&folder));
            for seed in 0..4 {
                let after = folder.after_power_cut(first * 1000 + second * 10 + seed);
                check_after(&share(&after), acknowledged, 1, &expected);
                cuts += 1;
            }
            if folder.operations() < begun + second || matches!(opened, Err(Error::NotACollection(..))) {
                break;
            }
        }
    }
    assert!(cuts > 1000, "{cuts}");
}

/// A folder in which something happens before the first removal.
#[derive(Debug)]
struct Overtaken {
    folder: Simulated,
    linked: [String; 2],
    done: AtomicBool,
}

impl Storage for Overtaken {
    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.names()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        self.folder.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.folder.open(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        if !self.done.swap(true, Ordering::Relaxed) {
            self.folder.link(&self.linked[0], &self.linked[1])?;
        }
        self.folder.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_names()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.folder.lock()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }
}

/// Who has lost the lock and publishes just before its files would go is not robbed of them.
#[test]
fn a_late_writer_that_publishes_while_another_opens_keeps_its_runs() {
    for commits in 3..9 {
        let (folder, acknowledged) = (Simulated::new(), AtomicU64::new(0));
        job(&share(&folder), commits, &acknowledged).expect("done");
        let late = Writer::open(&share(&folder)).expect("opened");
        let next = prepare(&late).expect("prepared");
        let whole = next.runs.clone();
        let commit = next.commit;
        let linked =
            [Name::Unfinished(commit, Some(late.job())), Name::Manifest(commit)].map(|name| name.to_string());
        let mut file = folder.create(&linked[0]).expect("created");
        file.append(&next.to_bytes().expect("bytes")).and_then(|()| file.sync()).expect("written");
        // The lock is lost with the writer; what it has written stays.
        drop(late);
        let overtaken = Overtaken { folder: folder.clone(), linked, done: AtomicBool::new(false) };
        let error = Writer::open(&(Arc::new(overtaken) as Arc<dyn Storage>)).expect_err("overtaken");
        assert!(matches!(error, Error::Locked(_)), "{error}");
        let found = open(&share(&folder));
        assert_eq!((found.manifest().commit, &found.manifest().runs), (commits, &whole));
        contents(&found, true).expect("whole");
    }
}

#[test]
fn any_operation_may_fail() {
    let expected = expected(COMMITS);
    let operations = operations();
    let faults = [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync];
    for (begin, fault) in (0..).zip(faults) {
        let (mut tried, mut survived) = (0, 0);
        for n in (begin % stride(3) as u64..operations).step_by(stride(3)) {
            tried += 1;
            let (folder, acknowledged) = (Simulated::new(), AtomicU64::new(0));
            folder.fail_at(n, fault);
            let outcome = job(&share(&folder), COMMITS, &acknowledged);
            let numbers = [Some(5), Some(28)];
            match &outcome {
                Err(Error::Io { source, .. }) if numbers.contains(&source.raw_os_error()) => {}
                // What was superseded could not be removed: the commit stands, and the next one finds a dead writer.
                Err(Error::Io { source, .. }) => {
                    assert!(source.to_string().contains(DEAD), "{n}: {source}");
                }
                outcome => {
                    assert!(outcome.is_ok(), "{fault:?} at {n}: {outcome:?}");
                    survived += 1;
                }
            }
            let acknowledged = acknowledged.into_inner();
            assert!(outcome.is_err() || acknowledged == COMMITS);
            let further = if n % 40 == 0 { COMMITS } else { 2 };
            check_after(&share(&folder.after_power_cut(n)), acknowledged, 2, &expected);
            check_after(&share(&folder), acknowledged, further, &expected);
        }
        assert!(survived < tried / 20, "{survived} of {tried} failures went unnoticed");
    }
}

#[test]
fn what_cannot_be_removed_does_not_undo_the_commit() {
    let folder = Simulated::new();
    let storage = share(&folder);
    job(&storage, 9, &AtomicU64::new(0)).expect("done");
    let mut writer = Writer::open(&storage).expect("opened");
    let next = prepare(&writer).expect("prepared");
    let mut untidied = 0;
    for n in 0.. {
        let folder = folder.after_power_cut(0);
        let storage = share(&folder);
        let mut writer = Writer::open(&storage).expect("opened");
        let next = prepare(&writer).expect("prepared");
        folder.fail_at(folder.operations() + n, Fault::Eio);
        let committed = writer.commit(next);
        if committed.is_err() {
            continue;
        }
        let Some(error) = writer.untidied() else { break };
        assert!(matches!(error, Error::Io { .. }), "{error}");
        untidied += 1;
        assert_eq!(open(&share(&folder.after_power_cut(n))).manifest().commit, 9, "it is durable");
        step(&mut writer).expect_err("the writer is dead");
        drop(writer);
        step(&mut Writer::open(&storage).expect("opened")).expect("goes on");
    }
    assert!(untidied >= 4, "listing, removing twice or more, syncing: {untidied}");
    writer.commit(next).expect("committed");
    assert!(writer.untidied().is_none());
}

/// A run of several appends of a MiB, of which one fails: whoever goes on all the same hears of it, each time.
#[test]
#[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
fn a_run_that_could_not_be_written_stays_so() {
    for failing in 1..4 {
        for fault in [Fault::Eio, Fault::Enospc, Fault::ShortWrite] {
            let folder = Simulated::new();
            let mut run = RunWriter::create(&folder, "run-00000001", 7, 1).expect("created");
            run.rows(SectionKind(7), Shape { width: 1, key: 1 }).expect("begun");
            folder.fail_at(folder.operations() + failing, fault);
            // So far apart that a page has few.
            let outcomes: Vec<Result<()>> = (0..1u64 << 20).map(|row| run.push(&[row << 44])).collect();
            let first = outcomes.iter().position(Result::is_err).expect("a failure");
            assert!(first > 100_000, "the buffer was full when it failed: {first}");
            // Each time that the buffer is full again.
            let later = outcomes.iter().skip(first).filter(|outcome| outcome.is_err()).count();
            // The first append is that of 0.
            let between = first / (failing as usize + 1);
            assert_eq!(later, (outcomes.len() - first).div_ceil(between), "{fault:?} {failing}");
            assert!(matches!(run.finish(), Err(Error::Io { .. })), "{fault:?} {failing}");
        }
    }
}
