//! Questions to a commit: texts that are not stored, clusters, documents, explanations, figures.

pub(in crate::collection) mod browse;
pub(in crate::collection) mod check;
pub(in crate::collection) mod diff;
pub(in crate::collection) mod explain;
pub(in crate::collection) mod group;
pub(in crate::collection) mod measures;
pub(in crate::collection) mod met;
pub(in crate::collection) mod record_objects;
pub(in crate::collection) mod resembling;
pub(in crate::collection) mod stats;
pub(in crate::collection) mod texts;
pub(in crate::collection) mod view;
