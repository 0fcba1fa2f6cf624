//! The folder that a run works in.

use std::path::Path;

use alike::error::{Error, Result};
use alike::output::Staging;

/// Where a run works: beside its output, or, in a dry run, wherever the system keeps temporary files.
pub(crate) enum Place {
    /// Beside the output.
    Output(Staging),
    /// In a dry run.
    Nowhere(tempfile::TempDir),
}

impl Place {
    /// The place for a run that writes `out`, or nothing.
    pub(crate) fn new(out: Option<&Path>) -> Result<Place> {
        match out {
            Some(out) => Staging::new(out).map(Place::Output),
            None => {
                let folder = tempfile::tempdir();
                folder
                    .map(Place::Nowhere)
                    .map_err(|e| Error::io(&std::env::temp_dir(), "create a folder in", e))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Place::Output(staging) => staging.path(),
            Place::Nowhere(folder) => folder.path(),
        }
    }
}
