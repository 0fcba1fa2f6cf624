//! Loads that are cut off between their epochs: they go on, and come to what they would have come to at once.

use std::sync::Arc;

use alike::collection::{Batch, Report, Writer, prepare};
use alike::config::Method;
use alike::error::Error;
use alike::output::Rejected;
use alike::progress::Progress;
use alike::read::discover;
use alike::simd::Simd;
use alike::storage::{Fault, Simulated, Storage};

use crate::care::findings;
use crate::faults::try_seen;
use crate::histories::config;
use crate::util::{Dir, line};

/// What a load came to, and what it refused.
type Done = (Report, Vec<Rejected>);

/// A load of `in.jsonl` in small epochs.
fn load(dir: &Dir, storage: &Arc<dyn Storage>) -> Result<Done, Error> {
    let mut writer = Writer::open(storage)?;
    let batch = Batch {
        sources: discover(&[dir.join("in.jsonl").to_string_lossy().into_owned()], &dir.join("."))?.sources,
        workers: 1,
        memory: None,
        epoch_bytes: Some(2000),
        simd: Simd::detect(),
        scratch: dir.join("."),
        delete_missing: false,
    };
    let prepared = prepare(&mut writer, batch, Arc::new(Progress::default()))?;
    let rejected = prepared.rejected().cloned().collect();
    Ok((prepared.commit()?, rejected))
}

/// Refused records are told whole when a load goes on, and checkpoints do not grow with them.
#[test]
fn refused_records_outlive_an_interruption() {
    let dir = Dir::new();
    let mut lines = String::new();
    for number in 0..60 {
        lines += &line(&format!("d{number}"), &format!("some text {} and more", number % 7));
        lines += &"no record at all\n".repeat(number % 4);
    }
    dir.write("in.jsonl", lines);
    let empty = Simulated::new();
    drop(
        Writer::create(&(Arc::new(empty.clone()) as Arc<dyn Storage>), config(Method::Join), false).unwrap(),
    );
    let whole: Arc<dyn Storage> = Arc::new(empty.after_power_cut(0));
    let expected = load(&dir, &whole).unwrap();
    assert!(expected.0.epochs > 2 && expected.1.len() == 90, "{expected:?}");
    let mut resumed = 0;
    for step in 0.. {
        let machine = empty.after_power_cut(0);
        let storage: Arc<dyn Storage> = Arc::new(machine.clone());
        machine.fail_from(machine.operations() + 7 * step, Fault::Eio);
        let first = load(&dir, &storage);
        // What is not durable is lost as well.
        let storage: Arc<dyn Storage> = Arc::new(machine.after_power_cut(step));
        let writer = Writer::open(&storage).unwrap();
        let pending = writer.pending().cloned();
        drop(writer);
        let Err(error) = first else { break };
        assert!(matches!(error, Error::Io { .. }), "{error}");
        let Some(pending) = pending else { continue };
        resumed += 1;
        let names = storage.names().unwrap();
        assert_eq!(
            names.iter().filter(|name| name.starts_with("refused-")).count(),
            pending.refused.len(),
            "{names:?}"
        );
        let done = load(&dir, &storage).unwrap();
        assert_eq!(done, expected, "cut off at {step}");
        assert_eq!(try_seen(&storage).unwrap(), try_seen(&whole).unwrap());
        assert_eq!(findings(&storage).unwrap(), []);
        let left = storage.names().unwrap();
        assert!(
            !left.iter().any(|name| name.starts_with("refused-") || name.starts_with("check")),
            "{left:?}"
        );
    }
    assert!(resumed > 5, "{resumed}");
}
