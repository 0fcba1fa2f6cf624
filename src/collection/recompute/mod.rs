//! Stored documents run through the dataflow once more, with other values where that is possible.

pub(in crate::collection) mod leave_out;
pub(in crate::collection) mod overrides;
pub(in crate::collection) mod protected;
pub(in crate::collection) mod related;
pub(in crate::collection) mod replay;
pub(in crate::collection) mod request;
