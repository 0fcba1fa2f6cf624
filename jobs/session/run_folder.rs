//! The folder that a run works in.

use std::path::Path;

use alike::error::Result;
use alike::output::{Staging, private_folder};

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
