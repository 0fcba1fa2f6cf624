//! What a load makes of the clusters.

pub(in crate::collection) mod diff_clusters;
pub(in crate::collection) mod fresh_clusters;
pub(in crate::collection) mod linked_contents;
pub(in crate::collection) mod match_clusters;
