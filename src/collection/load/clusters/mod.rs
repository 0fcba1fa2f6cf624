//! What a load makes of the clusters.

pub(in crate::collection) mod diff_clusters;
pub(in crate::collection) mod fresh_clusters;
pub(in crate::collection) mod match_clusters;
pub(in crate::collection) mod singletons;
