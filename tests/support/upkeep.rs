//! Small loads, compactions, and what fsck finds.

use std::sync::Arc;

use alike::collection::{Compaction, Finding, Snapshot, Writer, compact, fsck};
use alike::error::Error;
use alike::progress::Progress;
use alike::storage::Storage;

use crate::support::history::{Load, Op};

/// What is wrong with a collection.
pub(crate) fn findings(storage: &Arc<dyn Storage>) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    let snapshot = Snapshot::open(storage)?;
    let report = fsck(&snapshot, &Progress::default(), &mut |finding| found.push(finding))?;
    assert_eq!(report.findings, found.len() as u64);
    assert!(report.complete || !found.is_empty());
    Ok(found)
}

pub(crate) fn squeeze(storage: &Arc<dyn Storage>, how: Compaction) -> Result<(), Error> {
    let mut writer = Writer::open(storage)?;
    compact(&mut writer, how, &Progress::default()).map(drop)
}

pub(crate) fn load(ops: Vec<Op>) -> Load {
    Load { ops, workers: 1, files: 1, epoch_bytes: None }
}

pub(crate) fn put(id: usize, text: &str) -> Op {
    Op::Upsert(id, text.to_owned())
}

/// Two clusters, one of them held together by its middle, and a document that is in none.
pub(crate) fn first() -> Load {
    load(vec![
        put(0, "a b c d e f"),
        put(1, "b c d e f g"),
        put(2, "c d e f g h"),
        put(3, "p q r s t"),
        put(4, "p q r s t"),
        put(5, "x y z"),
    ])
}
