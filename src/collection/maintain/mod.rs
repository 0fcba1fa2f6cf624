//! Keeping a commit in order: runs merged, runs of other processes kept or removed, and the proof that all of it is whole.

pub(in crate::collection) mod combine;
pub(in crate::collection) mod compact;
mod copied_tokens;
pub(in crate::collection) mod copy;
pub(in crate::collection) mod fsck;
pub(in crate::collection) mod live;
pub(in crate::collection) mod local_runs;
pub(in crate::collection) mod merge_plan;
pub(in crate::collection) mod merged_rows;
mod new_keys;
pub(in crate::collection) mod restored_clusters;
pub(in crate::collection) mod rollback;
pub(in crate::collection) mod tiers;
