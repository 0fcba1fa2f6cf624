//! The folder that a run works in.

use std::path::Path;

use alike::error::{Error, Result};
use alike::output::{RejectedRow, Rows, Staging, private_folder};
use alike::read::Rejected;

/// Where a run works: beside its output, or, in a dry run, wherever the system keeps temporary files.
pub(crate) enum RunFolder {
    /// Beside the output.
    Output(Staging),
    /// In a dry run.
    Nowhere(tempfile::TempDir),
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
}

/// Removes the folder of what came from standard input, which lies in that of a run.
pub(crate) fn close_spool(spool: tempfile::TempDir, folder: &Path) -> Result<()> {
    spool.close().map_err(|e| Error::io(folder, "remove the copy of standard input in", e))
}

/// Writes the list of refused records.
pub(crate) fn write_rejected(folder: &Path, rejected: &[Rejected]) -> Result<()> {
    let mut rows = Rows::create(folder, "rejected.jsonl")?;
    rejected.iter().try_for_each(|rejected| rows.write(&RejectedRow::of(rejected)))?;
    rows.finish().map(drop)
}
