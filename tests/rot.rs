//! Whatever becomes of the bytes of a collection, reading it gives the answer that it had, or an error that says
//! where the damage is: never a panic, never another answer.
//!
//! ALIKE_FULL=1 damages every byte and every length; otherwise it is a sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::storage::Simulated;
use alike::collection::{Compaction, Snapshot};
use alike::config::Method;
use alike::error::Error;
use alike::storage::Storage;

use crate::support::PAGE;
use crate::support::corpora::stride;
use crate::support::history::{Bench, Load, Op, config};
use crate::support::seen::{Seen, expected, try_seen};
use crate::support::upkeep::{findings, first, load, put, squeeze};

/// A small collection: one large run and the runs of a load, change logs, and the manifests of two commits.
struct Patient {
    bench: Bench,
    machine: Simulated,
    right: Seen,
    logs: Vec<u8>,
    /// A load that touches old contents and brings new ones, and what it leaves.
    next: (Load, Vec<String>),
    then: Seen,
    /// How often damage was noticed, and how often it changed nothing.
    noticed: usize,
    harmless: usize,
}

fn logs(storage: &Arc<dyn Storage>) -> Result<Vec<u8>, Error> {
    let (snapshot, mut bytes) = (Snapshot::open(storage)?, Vec::new());
    for entry in &snapshot.manifest().changes {
        let mut log = Vec::new();
        snapshot.changes(entry.commit, &mut |piece| {
            log.extend_from_slice(piece);
            Ok(())
        })?;
        bytes.extend(log);
    }
    Ok(bytes)
}

impl Patient {
    fn new() -> Patient {
        let machine = Simulated::new();
        let mut bench = Bench::on(Arc::new(machine.clone()), config(Method::Shingles));
        bench.load(&first());
        squeeze(&bench.storage, Compaction::Full).expect("compacted");
        bench.load(&load(vec![put(6, "a b c d e f g"), put(5, "x y z z"), Op::Delete(3)]));
        let (right, logs) = (expected(&bench), logs(&bench.storage).expect("read"));
        let next = load(vec![put(7, "b c d e f g h"), put(0, "x y z z"), Op::Delete(1)]);
        let names = bench.write(&next);
        let then = expected(&bench);
        assert_eq!(try_seen(&bench.storage).expect("read"), right);
        Patient { bench, machine, right, logs, next: (next, names), then, noticed: 0, harmless: 0 }
    }

    fn names(&self) -> Vec<String> {
        self.machine.names().expect("names")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        self.machine.contents(name).expect("a file")
    }

    /// Puts other files in, looks, loads if `loads`, and puts the old ones back.
    fn suffer(&mut self, files: &[(&str, Vec<u8>)], loads: bool, what: &str) {
        let whole: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, _)| (*name, self.bytes(name))).collect();
        for (name, bytes) in files {
            self.machine.replace(name, bytes).expect("a file");
        }
        self.look(what);
        if loads {
            self.load(what);
        }
        for (name, bytes) in whole {
            self.machine.replace(name, &bytes).expect("a file");
        }
    }

    /// Every normal read.
    fn look(&mut self, what: &str) {
        let storage = Arc::clone(&self.bench.storage);
        let seen = self.verdict(try_seen(&storage).map(|seen| seen == self.right), what);
        let told = self.verdict(logs(&storage).map(|logs| logs == self.logs), what);
        let found = match findings(&storage) {
            Ok(found) => {
                // Whatever another read notices is a finding, too.
                assert!(!found.is_empty() || seen && told, "{what}: fsck finds nothing");
                assert!(found.iter().all(|finding| !finding.place.is_empty()), "{what}: {found:?}");
                found.is_empty()
            }
            Err(error) => self.verdict(Err(error), what),
        };
        match seen && told && found {
            true => self.harmless += 1,
            false => self.noticed += 1,
        }
    }

    /// Whether an answer is right; if there is none, then because of damage that is located.
    fn verdict(&self, outcome: Result<bool, Error>, what: &str) -> bool {
        match outcome {
            Ok(same) => {
                assert!(same, "{what}: another answer");
                true
            }
            Err(Error::Damaged { path, offset, .. }) => {
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
                let files = self.names();
                assert!(files.iter().any(|file| file == name), "{what}: {name} is no file");
                let most = files.iter().map(|file| self.bytes(file).len()).max().expect("files");
                assert!(offset <= most as u64, "{what}: {name} at {offset}");
                false
            }
            Err(Error::NewerFormat { .. } | Error::OlderFormat { .. }) => false,
            Err(error) => panic!("{what}: {error}"),
        }
    }

    /// A load of the damaged collection does what it should, or does nothing.
    fn load(&mut self, what: &str) {
        let copy = self.machine.after_power_cut(0);
        let original = std::mem::replace(&mut self.bench.storage, Arc::new(copy));
        let loaded = alike::collection::Writer::open(&self.bench.storage)
            .and_then(|mut writer| self.bench.load_by(&mut writer, &self.next.1, self.next.0.workers, None));
        let (outcome, right) = match loaded {
            Ok(_) => (Ok(true), &self.then),
            Err(error) => (Err(error), &self.right),
        };
        self.verdict(outcome, what);
        let after = try_seen(&self.bench.storage).map(|seen| seen == *right);
        self.verdict(after, &format!("{what}, after a load"));
        self.bench.storage = original;
    }

    /// Damage was noticed everywhere but in `harmless` places.
    fn ends(&self, least: usize) {
        let (noticed, harmless) = (self.noticed, self.harmless);
        assert!(noticed >= least, "{noticed} noticed, {harmless} harmless");
    }
}

#[test]
#[cfg_attr(alike_tiny, ignore = "counts bytes in pages of 4,096")]
fn the_patient_is_small_and_whole() {
    let mut patient = Patient::new();
    patient.suffer(&[], true, "nothing");
    assert_eq!((patient.noticed, patient.harmless), (0, 1));
    let sizes: BTreeMap<String, usize> =
        patient.names().into_iter().map(|name| (name.clone(), patient.bytes(&name).len())).collect();
    let all: usize = sizes.values().sum();
    assert!((60 << 10..300 << 10).contains(&all), "{sizes:?}");
    assert!(sizes.len() > 6, "{sizes:?}");
}

#[test]
fn every_byte_may_rot() {
    let mut patient = Patient::new();
    let (step, mut count) = (stride(61), 0);
    for name in patient.names() {
        let whole = patient.bytes(&name);
        for at in (0..whole.len()).step_by(step) {
            for mask in [1 << (at % 8), 0xff] {
                count += 1;
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                patient.suffer(&[(&name, bytes)], count % 16 == 0, &format!("{name}, byte {at}, {mask:x}"));
            }
        }
    }
    // What is not of the last commit nobody reads.
    assert!(patient.harmless * 2 < patient.noticed, "{} harmless", patient.harmless);
    patient.ends(1000);
}

#[test]
fn every_file_may_be_cut_short() {
    let mut patient = Patient::new();
    let (step, mut count) = (stride(211), 0);
    for name in patient.names() {
        let whole = patient.bytes(&name);
        for length in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
            count += 1;
            let what = format!("{name}, {length} of {} bytes", whole.len());
            patient.suffer(&[(&name, whole[..length].to_vec())], count % 16 == 0, &what);
        }
        let longer = [&whole[..], &[0; PAGE]].concat();
        patient.suffer(&[(&name, longer)], true, &format!("{name}, longer"));
    }
    patient.ends(200);
}

/// The files that are made of pages.
fn runs(patient: &Patient) -> Vec<String> {
    patient.names().into_iter().filter(|name| name.starts_with("run-")).collect()
}

fn page(bytes: &[u8], number: usize) -> &[u8] {
    &bytes[number * PAGE..(number + 1) * PAGE]
}

#[test]
fn any_two_pages_may_be_swapped() {
    let mut patient = Patient::new();
    let runs: Vec<(String, Vec<u8>)> =
        runs(&patient).into_iter().map(|name| (name.clone(), patient.bytes(&name))).collect();
    let places: Vec<(usize, usize)> = runs
        .iter()
        .enumerate()
        .flat_map(|(run, (_, bytes))| (0..bytes.len() / PAGE).map(move |page| (run, page)))
        .collect();
    let pairs =
        places.iter().enumerate().flat_map(|(at, one)| places[..at].iter().map(move |other| (one, other)));
    for (count, (one, other)) in pairs.step_by(stride(3)).enumerate() {
        let what = format!("{one:?} and {other:?}");
        let ((name_a, a), (name_b, b)) = (&runs[one.0], &runs[other.0]);
        let (of_a, of_b) = (page(a, one.1), page(b, other.1));
        let files = if one.0 == other.0 {
            let mut bytes = a.clone();
            bytes[one.1 * PAGE..][..PAGE].copy_from_slice(of_b);
            bytes[other.1 * PAGE..][..PAGE].copy_from_slice(of_a);
            vec![(&name_a[..], bytes)]
        } else {
            let (mut a_bytes, mut b_bytes) = (a.clone(), b.clone());
            a_bytes[one.1 * PAGE..][..PAGE].copy_from_slice(of_b);
            b_bytes[other.1 * PAGE..][..PAGE].copy_from_slice(of_a);
            vec![(&name_a[..], a_bytes), (&name_b[..], b_bytes)]
        };
        patient.suffer(&files, count % 32 == 0, &what);
    }
    patient.ends(200);
}

#[test]
fn files_of_others_and_older_ones_may_come_in() {
    let mut patient = Patient::new();
    let other = Patient::new();
    assert_eq!(other.names(), patient.names());
    for name in patient.names() {
        patient.suffer(&[(&name, other.bytes(&name))], true, &format!("{name} of another collection"));
        for older in patient.names() {
            if older != name {
                patient.suffer(&[(&name, patient.bytes(&older))], true, &format!("{older} as {name}"));
            }
        }
    }
    // Change logs that are the same in both collections are no damage.
    patient.ends(40);
    // A missing file, too.
    for name in patient.names() {
        let copy = patient.machine.after_power_cut(0);
        let original = std::mem::replace(&mut patient.machine, copy);
        patient.bench.storage = Arc::new(patient.machine.clone());
        patient.machine.remove(&name).expect("removed");
        match try_seen(&patient.bench.storage) {
            Ok(seen) => assert!(seen == patient.right || name == patient_newest(&original), "{name}"),
            Err(Error::Damaged { path, .. }) => assert!(path.ends_with(&name), "{name}: {}", path.display()),
            Err(error) => panic!("{name}: {error}"),
        }
        patient.machine = original;
        patient.bench.storage = Arc::new(patient.machine.clone());
    }
}

/// The manifest without which the commit before the last one is the last one: nothing can tell.
fn patient_newest(machine: &Simulated) -> String {
    let names = machine.names().expect("names");
    names.into_iter().rfind(|name| name.starts_with("manifest-")).expect("a manifest")
}

/// A run of the same id that was begun, written and given up before: its pages bear the same seal.
#[test]
fn pages_of_a_run_that_was_given_up_are_found() {
    let patient = Patient::new();
    let ids: Vec<String> = runs(&patient);
    // Two folders go on from here with another load each, whose runs take the same ids.
    let base = patient.machine.after_power_cut(0);
    let make = |text: &str| {
        let machine = base.after_power_cut(0);
        let mut bench = Bench::new(config(Method::Shingles));
        bench.storage = Arc::new(machine.clone());
        squeeze(&bench.storage, Compaction::Full).expect("compacted");
        let ops = (20..40).map(|id| put(id, &format!("{text} {id} {}", id + 1)));
        assert!(bench.try_load(&load(ops.collect())).is_ok());
        let snapshot = Snapshot::open(&bench.storage).expect("opened");
        assert!(snapshot.runs().len() > 3, "nothing was merged");
        (machine, bench)
    };
    let ((ours, bench), (theirs, _)) = (make("q w e r t y"), make("h j k l n m"));
    let (mut tried, mut unnoticed) = (0, 0);
    for name in
        ours.names().expect("names").iter().filter(|name| name.starts_with("run-") && !ids.contains(name))
    {
        let (whole, stale) = (ours.contents(name).expect("a run"), theirs.contents(name).expect("a run"));
        for at in (0..whole.len().min(stale.len())).step_by(PAGE) {
            let mut bytes = whole.clone();
            bytes[at..at + PAGE].copy_from_slice(&stale[at..at + PAGE]);
            if bytes == whole {
                continue;
            }
            ours.replace(name, &bytes).expect("a file");
            tried += 1;
            let found = findings(&bench.storage);
            unnoticed += usize::from(matches!(found, Ok(found) if found.is_empty()));
        }
        ours.replace(name, &whole).expect("a file");
    }
    assert!(tried > 10, "{tried} pages");
    assert_eq!(unnoticed, 0, "of {tried}");
}
