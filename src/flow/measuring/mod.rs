//! Candidates measured where all texts of a run can be read by all of its workers: each worker takes whole components of
//! them, reads their texts again in order, and forgets a set when its last pair has been measured.

pub mod beside_stored;
pub mod in_order;
pub mod portions;
