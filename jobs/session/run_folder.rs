//! The folder that a run works in.

use std::path::Path;

use alike::error::{Error, Result};
use alike::output::Staging;

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
            None => {
                let folder = tempfile::tempdir();
                folder
                    .map(RunFolder::Nowhere)
                    .map_err(|e| Error::io(&std::env::temp_dir(), "create a folder in", e))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            RunFolder::Output(staging) => staging.path(),
            RunFolder::Nowhere(folder) => folder.path(),
        }
    }
}
