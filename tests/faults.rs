//! No fault costs a commit: a small job is cut off, and fails, at every one of its operations, and so does reading.
//!
//! ALIKE_FULL=1 takes every operation; otherwise it is every third.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::storage::{Fault, Simulated, is_power_cut};
use alike::collection::{Compaction, Snapshot, Writer, compact, fsck};
use alike::config::Method;
use alike::error::Error;
use alike::progress::Progress;
use alike::storage::Storage;

use crate::support::corpora::stride;
use crate::support::history::{Bench, Load, Op, config};
use crate::support::seen::{Seen, expected, try_seen};
use crate::support::upkeep::{findings, first, load, put};

/// What a writer says that is dead.
const DEAD: &str = "open the collection again";

/// A part of the job. Each can be done again.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create,
    Load(Load),
    Compact(Compaction),
}

/// A collection made, loaded, changed, deleted from and compacted. The second and the third load leave more runs than
/// there may be, so a tiered compaction follows; one comes by itself as well.
pub(crate) fn job() -> Vec<Step> {
    let changes = vec![Op::Delete(1), put(5, "p q r s t"), put(6, "a b c d e f"), put(0, "x y z z y")];
    let more = Load {
        ops: vec![put(7, "p q r s u"), put(8, "k l m n"), put(2, "k l m o")],
        workers: 2,
        files: 2,
        epoch_bytes: Some(60),
    };
    vec![
        Step::Create,
        Step::Load(first()),
        Step::Load(load(changes)),
        Step::Load(more),
        Step::Load(load(vec![Op::Delete(3), Op::Delete(8), Op::Delete(99)])),
        Step::Compact(Compaction::Tiered { fuel_bytes: u64::MAX }),
        Step::Compact(Compaction::Full),
    ]
}

/// Does a step through a writer of its own, which is handed to `failed` when something goes wrong.
fn attempt(
    bench: &Bench,
    step: &Step,
    names: &[String],
    failed: &mut dyn FnMut(&mut Writer, &Error),
) -> Result<(), Error> {
    let mut writer = match step {
        Step::Create => match Writer::create(&bench.storage, bench.config.clone(), false) {
            // As a load does that is run again.
            Err(Error::Config(_)) => return Writer::open(&bench.storage).map(drop),
            outcome => return outcome.map(drop),
        },
        _ => Writer::open(&bench.storage)?,
    };
    let outcome = match step {
        Step::Load(load) => bench.load_by(&mut writer, names, load.workers, load.epoch_bytes).map(drop),
        Step::Compact(how) => compact(&mut writer, *how, &Progress::default()).map(drop),
        Step::Create => Ok(()),
    };
    outcome.inspect_err(|error| failed(&mut writer, error))
}

/// A job on its way: what is there before a step and what should be there after it.
struct Stage {
    bench: Bench,
    step: Step,
    names: Vec<String>,
    /// A folder in which all is durable.
    base: Simulated,
    before: Option<Seen>,
    after: Seen,
}

/// The stages of the job.
fn stages() -> Vec<Stage> {
    let (machine, mut stages) = (Simulated::new(), Vec::new());
    let (mut live, mut before) = (BTreeMap::new(), None);
    for step in job() {
        let mut bench = Bench::new(config(Method::Shingles));
        let base = machine.after_power_cut(0);
        bench.storage = Arc::new(machine.clone());
        bench.live = std::mem::take(&mut live);
        let names = match &step {
            Step::Load(load) => bench.write(load),
            _ => Vec::new(),
        };
        attempt(&bench, &step, &names, &mut |_, _| {}).expect("nothing fails yet");
        live = bench.live.clone();
        let after = expected(&bench);
        assert_eq!(try_seen(&bench.storage).expect("read"), after);
        stages.push(Stage { bench, step, names, base, before: before.replace(after.clone()), after });
    }
    stages
}

impl Stage {
    /// The folder before the step.
    fn begin(&mut self) -> Simulated {
        // Nothing of it is lost in a power cut.
        let machine = self.base.after_power_cut(0);
        self.bench.storage = Arc::new(machine.clone());
        machine
    }

    /// What must hold of a folder after the step was cut off: it is as before it or as after it, and done again all is
    /// as it should be.
    fn check(&mut self, found: &Simulated, done: bool, what: &str) {
        self.bench.storage = Arc::new(found.clone());
        let seen = match try_seen(&self.bench.storage) {
            Err(Error::NotACollection(..)) => None,
            seen => Some(seen.unwrap_or_else(|error| panic!("{what}: {error}"))),
        };
        let empty = seen.as_ref().is_some_and(|seen| seen.1.is_empty()) && self.before.is_none();
        assert!(seen == self.before || seen.as_ref() == Some(&self.after) || empty, "{what}: {seen:?}");
        assert!(!done || seen.as_ref() == Some(&self.after), "{what}: an acknowledged commit is lost");
        if seen.is_some() {
            assert_eq!(findings(&self.bench.storage).expect("read"), [], "{what}");
        }
        attempt(&self.bench, &self.step, &self.names, &mut |_, _| {})
            .unwrap_or_else(|error| panic!("{what}, again: {error}"));
        assert_eq!(try_seen(&self.bench.storage).expect("read"), self.after, "{what}, again");
        assert_eq!(findings(&self.bench.storage).expect("read"), [], "{what}, again");
    }
}

#[test]
fn the_job_has_every_sort_of_commit() {
    let commits = |stage: &Stage, storage: &Arc<dyn Storage>| match stage.before {
        None => 0,
        Some(_) => Snapshot::open(storage).expect("opened").manifest().commit,
    };
    let made: Vec<u64> = stages()
        .iter_mut()
        .map(|stage| {
            stage.begin();
            let before = commits(stage, &stage.bench.storage);
            attempt(&stage.bench, &stage.step, &stage.names, &mut |_, _| {}).expect("done");
            Snapshot::open(&stage.bench.storage).expect("opened").manifest().commit - before
        })
        .collect();
    // An empty collection is commit 0.
    assert_eq!(made[..2], [0, 1], "{made:?}");
    assert!(made[2..5].contains(&2), "a load that merges runs: {made:?}");
    assert_eq!(made[6], 1, "{made:?}");
}

#[test]
fn a_power_cut_at_any_operation_costs_no_commit() {
    let mut later = 0;
    for (number, stage) in stages().iter_mut().enumerate() {
        for cut in (0..).step_by(stride(7)) {
            let machine = stage.begin();
            machine.cut_at(cut);
            let done = attempt(&stage.bench, &stage.step, &stage.names, &mut |_, _| {});
            if let Err(Error::Io { source, .. }) = &done {
                assert!(is_power_cut(source) || source.to_string().contains(DEAD), "{source}");
            }
            for seed in 0..5 {
                let what = format!("step {number}, cut {cut}, seed {seed}");
                let found = machine.after_power_cut(cut * 1000 + seed);
                stage.check(&found, done.is_ok(), &what);
                later += u64::from(done.is_err());
            }
            if machine.operations() <= cut {
                break;
            }
        }
    }
    assert!(later > 200, "{later} cuts");
}

/// An interrupted load that is given up is there again after a power cut, whole, or it is not.
#[test]
fn a_power_cut_while_a_load_is_given_up_leaves_no_half_of_it() {
    let is_there = |machine: &Simulated| {
        machine.names().expect("names").iter().any(|name| name.starts_with("checkpoint-"))
    };
    let mut stages = stages();
    let (stage, mut came_back) = (&mut stages[3], 0);
    for stop in (0..).step_by(stride(83)) {
        let machine = stage.begin();
        machine.cut_at(stop);
        if attempt(&stage.bench, &stage.step, &stage.names, &mut |_, _| {}).is_ok() {
            break;
        }
        let interrupted = machine.after_power_cut(stop);
        for cut in 0.. {
            if !is_there(&interrupted) {
                break;
            }
            let machine = interrupted.after_power_cut(0);
            machine.cut_at(cut);
            let storage: Arc<dyn Storage> = Arc::new(machine.clone());
            let done = Writer::open_and_abandon(&storage).is_ok();
            for seed in 0..4 {
                let found = machine.after_power_cut(cut * 100 + seed);
                came_back += u64::from(is_there(&found));
                stage.check(&found, false, &format!("stopped at {stop}, cut {cut}, seed {seed}"));
            }
            if done {
                break;
            }
        }
    }
    assert!(came_back > 5, "{came_back}");
}

/// What the message names: the operation that failed, or that an earlier one did.
fn clean(error: &Error) -> bool {
    match error {
        Error::Io { source, .. } => {
            matches!(source.raw_os_error(), Some(5 | 28)) || source.to_string().contains(DEAD)
        }
        _ => false,
    }
}

#[test]
fn a_fault_at_any_operation_costs_no_commit() {
    let faults = [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync, Fault::LostAnswer];
    let (mut stages, mut failed, mut again) = (stages(), 0, 0);
    for (which, fault) in faults.into_iter().enumerate() {
        for (number, stage) in stages.iter_mut().enumerate() {
            for n in (which as u64 % stride(7) as u64..).step_by(stride(7)) {
                let what = format!("step {number}, {fault:?} at {n}");
                let machine = stage.begin();
                machine.fail_at(n, fault);
                let done = attempt(&stage.bench, &stage.step, &stage.names, &mut |writer, error| {
                    assert!(clean(error), "{what}: {error}");
                    again += u64::from(!is_dead(writer));
                });
                if let Err(error) = &done {
                    assert!(clean(error), "{what}: {error}");
                    failed += 1;
                }
                let ended = machine.operations() <= n;
                machine.mend();
                stage.check(&machine.after_power_cut(n), done.is_ok(), &what);
                stage.check(&machine, done.is_ok(), &what);
                if ended {
                    break;
                }
            }
        }
    }
    assert!(failed > 130, "{failed} failed");
    assert!(again < failed / 2, "{again} writers of {failed} were as good as new");
}

/// Whether nothing can be written through a writer any more; if something can, then what was begun is out of the way.
fn is_dead(writer: &mut Writer) -> bool {
    let run = writer.begin_run(&mut writer.next()).map(drop);
    let next = writer.next();
    match run {
        Ok(()) => false,
        Err(error) => {
            assert!(error.to_string().contains(DEAD), "{error}");
            for outcome in [
                writer.begin_run(&mut next.clone()).map(drop),
                writer.begin_changes(&next).map(drop),
                writer.commit(next),
            ] {
                let error = outcome.expect_err("dead");
                assert!(error.to_string().contains(DEAD), "{error}");
            }
            true
        }
    }
}

/// Reads, and tells whether the answer is right.
type Reading<'a> = &'a dyn Fn() -> Result<bool, Error>;

#[test]
fn a_read_that_fails_is_an_error_and_nothing_else() {
    let mut stages = stages();
    let stage = stages.last_mut().expect("a stage");
    let machine = stage.begin();
    let storage = Arc::clone(&stage.bench.storage);
    let right = try_seen(&storage).expect("read");
    let log = |storage: &Arc<dyn Storage>| -> Result<Vec<u8>, Error> {
        let (snapshot, mut bytes) = (Snapshot::open(storage)?, Vec::new());
        for entry in &snapshot.manifest().changes {
            snapshot.changes(entry.commit, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
        }
        Ok(bytes)
    };
    let lines = log(&storage).expect("read");
    let told = |error: Error| match error {
        Error::Io { source, .. } => assert_eq!(source.raw_os_error(), Some(5)),
        other => panic!("{other}"),
    };
    let check = || -> Result<u64, Error> {
        fsck(&Snapshot::open(&storage)?, &Progress::default(), &mut |finding| panic!("{finding:?}"))
            .map(|report| report.findings)
    };
    let reads: [(&str, Reading<'_>); 3] = [
        ("looking", &|| try_seen(&storage).map(|seen| seen == right)),
        ("changes", &|| log(&storage).map(|found| found == lines)),
        ("fsck", &|| check().map(|findings| findings == 0)),
    ];
    for (what, read) in reads {
        let mut failed = 0;
        for n in 0.. {
            let from = machine.operations();
            machine.fail_at(from + n, Fault::Eio);
            match read() {
                Ok(same) => assert!(same, "{what}, read {n}"),
                Err(error) => {
                    told(error);
                    failed += 1;
                }
            }
            let ended = machine.operations() <= from + n;
            machine.mend();
            if ended {
                break;
            }
        }
        assert!(failed > 5, "{what}: {failed} reads failed");
    }
}
