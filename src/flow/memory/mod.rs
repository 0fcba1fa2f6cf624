//! What a run holds in memory, within its bound, and what goes to disk beyond it.

pub mod buckets;
pub mod budget;
pub mod candidate_queue;
pub mod document_bits;
pub mod live_sets;
pub mod lots;
pub mod rounds;
pub mod sets;
pub mod spill;
pub mod store;
