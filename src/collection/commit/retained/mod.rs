//! Commits that can be looked at again: how many a collection keeps, and whose files those are.

pub(in crate::collection) mod at;
pub(in crate::collection) mod older;
pub(in crate::collection) mod policy;
pub(in crate::collection) mod window;
