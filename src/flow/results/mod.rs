//! What a run finds: counts, warnings, clusters, and why documents are removed.

pub mod common_keys;
pub mod findings;
pub mod gathered;
pub mod hot_groups;
pub mod settled_by_leader;
pub mod settling;
pub mod tally;
pub mod warnings;
