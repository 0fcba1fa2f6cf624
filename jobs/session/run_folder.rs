//! The folder that a run works in.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use alike::collection::is_collection;
use alike::error::{Error, Result};
use alike::output::{RejectedRow, Rows, Staging};
use alike::peers::Peers;
use alike::progress::Progress;
use alike::read::Rejected;
use alike::remote::ObjectUrl;
use alike::scratch::{Scratch, private_folder};
use alike::system_memory::peak_memory;
use serde_json::Value;

/// Whether a name is directly in the folder of a collection.
fn is_in_collection(out: &Path) -> bool {
    let folder =
        out.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    folder.is_some_and(is_collection)
}

/// Where a run works: beside its output, or, in a dry run and for a store, wherever the system keeps temporary files.
pub(crate) enum RunFolder {
    /// What becomes the output.
    Output(Staging),
    /// In a dry run.
    Nowhere(Scratch),
}

impl RunFolder {
    /// The place for a run that writes `out`, or nothing.
    pub(crate) fn new(out: Option<&Path>) -> Result<RunFolder> {
        match out {
            Some(out) if is_in_collection(out) => Err(Error::config(format!(
                "--out {}: that is within a collection, whose folder is backed up and removed as one; name a place beside it",
                out.display()
            ))),
            Some(out) => Staging::new(out).map(RunFolder::Output),
            None => private_folder(&std::env::temp_dir()).map(RunFolder::Nowhere),
        }
    }

    /// The place for a run to whose output each process writes its part.
    pub(crate) fn of_all(out: Option<&Path>, peers: Option<&Peers>) -> Result<RunFolder> {
        match out.filter(|out| peers.is_some() && is_store(out)) {
            Some(out) => Err(Error::config(format!(
                "--out {}: each of several processes writes a part of it; name a folder that all of them see",
                out.display()
            ))),
            None => RunFolder::new(out),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            RunFolder::Output(staging) => staging.path(),
            RunFolder::Nowhere(folder) => folder.path(),
        }
    }

    /// Whether it lies where other processes, too, write their parts of an output, unless that goes to a store.
    pub(crate) fn is_seen_by_all(&self) -> bool {
        matches!(self, RunFolder::Output(_))
    }

    /// Removes what a run has written that begins again; the folder `stays`.
    pub(crate) fn clear_but(&self, stays: &Path) -> Result<()> {
        match self {
            RunFolder::Output(staging) => staging.clear_but(stays),
            RunFolder::Nowhere(_) => Ok(()),
        }
    }

    /// Writes the summary, and gives the folder its name, if it is an output.
    pub(crate) fn finish(self, summary: &Value, progress: &Arc<Progress>) -> Result<()> {
        let RunFolder::Output(staging) = self else { return Ok(()) };
        let path = staging.path().join("summary.json");
        std::fs::write(&path, format!("{summary:#}\n")).map_err(|e| Error::io(&path, "write", e))?;
        staging.commit(progress)
    }
}

/// Whether output goes to a store, and no folder of it is seen by other processes.
pub(crate) fn is_store(out: &Path) -> bool {
    ObjectUrl::of(out).is_some()
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
