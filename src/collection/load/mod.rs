//! A load: its epochs, each a dataflow on a part of the changes, then the clusters that they make, then the commit. Followers
//! take part in the epochs that the leader runs.

pub(in crate::collection) mod clusters;
pub(in crate::collection) mod conclude;
pub(in crate::collection) mod divide;
pub(in crate::collection) mod epoch;
pub(in crate::collection) mod epoch_done;
pub(in crate::collection) mod follow;
pub(in crate::collection) mod load_base;
pub(in crate::collection) mod measure;
pub(in crate::collection) mod parts;
pub(in crate::collection) mod prepare;
pub(in crate::collection) mod recollider;
pub(in crate::collection) mod report;
pub(in crate::collection) mod settle;
pub(in crate::collection) mod write;
