//! What a commit is, file by file: names, change logs, manifests and checkpoints, the snapshot that readers open, and the
//! one writer that publishes the next commit.

pub(in crate::collection) mod changes;
pub(in crate::collection) mod checkpoint;
pub(in crate::collection) mod durable;
pub(in crate::collection) mod guard;
pub(in crate::collection) mod log;
pub(in crate::collection) mod manifest;
pub(in crate::collection) mod names;
pub(in crate::collection) mod refused;
pub(in crate::collection) mod retained;
pub(in crate::collection) mod run_entry;
pub(in crate::collection) mod sealed;
pub(in crate::collection) mod snapshot;
pub(in crate::collection) mod tally;
pub(in crate::collection) mod writer;
