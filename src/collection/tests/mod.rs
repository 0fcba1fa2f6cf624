//! What runs, commits and snapshots promise, tried on whole files.

mod commits;
mod damage;

mod folders;
mod followers;
mod format;
mod manifests;
mod memory;
mod merged;
mod read_ahead;
mod retained;
mod snapshots;
mod twins;
mod unreachable;

use memory::Memory;

use crate::collection::{RunReader, RunWriter, SectionKind, Shape};
use crate::error::{Error, Result};

const COLLECTION: u64 = 0x00c0_11ec;
const RUN: u64 = 0x52;

/// Writes a run of this name with `fill`.
fn write(
    storage: &Memory,
    name: &str,
    fill: impl FnOnce(&mut RunWriter) -> Result<()>,
) -> crate::collection::RunSummary {
    let mut writer = RunWriter::create(storage, name, COLLECTION, RUN).expect("created");
    fill(&mut writer).expect("filled");
    writer.finish().expect("finished")
}

fn open(storage: &Memory, name: &str) -> Result<RunReader> {
    RunReader::open(storage, name, COLLECTION, RUN)
}

/// All that a scan gives.
fn all(mut scan: crate::collection::Scan) -> Result<Vec<Vec<u64>>> {
    let mut rows = Vec::new();
    while let Some(row) = scan.next_row()? {
        rows.push(row.to_vec());
    }
    assert!(scan.next_row()?.is_none(), "a scan stays at its end");
    Ok(rows)
}

/// A number that looks random.
fn mix(i: u64) -> u64 {
    let i = (i ^ i >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (i ^ i >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Damaged { .. })
}
