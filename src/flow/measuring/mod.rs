//! Candidates measured where one process can read all texts of a run: each worker takes whole components of them, reads their texts
//! again in order, and forgets a set when its last pair has been measured; part by part where memory is short; or all are left to where clusters are formed.

pub mod beside_stored;
pub mod by_leader;
pub mod candidate_parts;
pub mod candidate_portions;
pub mod in_order;
pub mod in_parts;
pub mod portions;
