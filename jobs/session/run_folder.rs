//! The folder that a run works in.

use std::path::Path;
use std::time::Instant;

use alike::error::{Error, Result};
use alike::output::{RejectedRow, Rows, Staging};
use alike::read::Rejected;
use alike::scratch::{Scratch, private_folder};
use alike::system_memory::peak_memory;
use serde_json::Value;

/// Where a run works: beside its output, or, in a dry run, wherever the system keeps temporary files.
pub(crate) enum RunFolder {
    /// Beside the output.
    Output(Staging),
    /// In a dry run.
    Nowhere(Scratch),
}

impl RunFolder {
    /// The place for a run that writes `out`, or nothing.
    pub(crate) fn new(out: Option<&Path>) -> Result<RunFolder> {
        match out {
            Some(out) => Staging::new(out).map(RunFolder::Output),
            None => private_folder(&std::env::temp_dir()).map(RunFolder::Nowhere),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            RunFolder::Output(staging) => staging.path(),
            RunFolder::Nowhere(folder) => folder.path(),
        }
    }

    /// Writes the summary, and gives the folder its name, if it is an output.
    pub(crate) fn finish(self, summary: &Value) -> Result<()> {
        let RunFolder::Output(staging) = self else { return Ok(()) };
        let path = staging.path().join("summary.json");
        std::fs::write(&path, format!("{summary:#}\n")).map_err(|e| Error::io(&path, "write", e))?;
        staging.commit()
    }
}

/// Removes the folder of what came from standard input, which lies in that of a run.
pub(crate) fn close_spool(spool: Scratch, folder: &Path) -> Result<()> {
    spool.close().map_err(|e| Error::io(folder, "remove the copy of standard input in", e))
}

/// Writes the list of refused records.
pub(crate) fn write_rejected(folder: &Path, rejected: &[Rejected]) -> Result<()> {
    let mut rows = Rows::create(folder, "rejected.jsonl")?;
    rejected.iter().try_for_each(|rejected| rows.write(&RejectedRow::of(rejected)))?;
    rows.finish().map(drop)
}

/// Adds to a summary what hangs on the machine: how long a run of so many bytes of text took, and with what.
pub(crate) fn add_effort(summary: &mut Value, begun: Instant, text_bytes: u64) {
    let seconds = begun.elapsed().as_secs_f64();
    summary["seconds"] = ((seconds * 1e3).round() / 1e3).into();
    summary["megabytes_per_second"] = ((text_bytes as f64 / 1e5 / seconds.max(1e-9)).round() / 10.0).into();
    summary["peak_memory_bytes"] = peak_memory().into();
}
