//! Collections whose runs lie with several processes: opening them from anywhere, and what processes ask each other.

pub(in crate::collection) mod protocol;
pub(in crate::collection) mod questions;
pub(in crate::collection) mod scattered;
mod stretches;
