//! Work on several threads. A panic there is an error like another one, with what it said.

mod hand_out;
mod in_threads;

pub(crate) use hand_out::{hand_out, hand_out_by};
pub(crate) use in_threads::{both, in_threads};
