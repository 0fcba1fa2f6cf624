//! Commands that look at the documents and clusters of a collection.

pub(super) mod changes;
pub(super) mod check;
pub(super) mod clusters;
pub(super) mod documents;
pub(super) mod explain;
pub(super) mod export;
pub(super) mod group;
pub(super) mod log;
mod member_fields;
pub(super) mod pairs;
pub(super) mod recluster;
pub(super) mod report;
pub(super) mod show;
