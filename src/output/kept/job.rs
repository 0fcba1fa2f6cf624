//! What one worker does at a time, and what processes tell each other of it.

use std::borrow::Cow;
use std::path::Path;

use super::plan::CopyPiece;
use crate::output::chosen::Side;

/// What all processes must know to write together.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct KeptShare<'a> {
    pub(super) folder: Cow<'a, Path>,
    pub(super) side: Side,
    pub(super) removed: Cow<'a, [Vec<u64>]>,
    pub(super) ends: Cow<'a, [Option<u64>]>,
    pub(super) jobs: Cow<'a, [Vec<Job>; 3]>,
}

/// What one worker does at a time.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) enum Job {
    /// A whole source.
    Whole { source: usize },
    /// A piece of a divided source.
    Piece { source: usize, piece: CopyPiece },
    /// All of a zip archive that loses members.
    Archive { source: usize },
    /// All of an archive, of its members that stay and those that were written before.
    Composed { source: usize },
    /// A row group that loses some of its rows, its bytes, and whether there are fewer of them than workers.
    #[cfg(feature = "parquet")]
    Group { source: usize, group: usize, bytes: u64, beside: bool },
    /// All of a source, of its row groups that stay and those that were written before.
    #[cfg(feature = "parquet")]
    Assembled { source: usize },
}

impl Job {
    /// The source that it is about.
    pub(super) fn source(&self) -> usize {
        match *self {
            Job::Whole { source } | Job::Archive { source } | Job::Composed { source } => source,
            Job::Piece { source, .. } => source,
            #[cfg(feature = "parquet")]
            Job::Group { source, .. } | Job::Assembled { source } => source,
        }
    }
}
