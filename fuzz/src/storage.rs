//! The folder in memory that the tests of the library have.

pub(crate) use alike::storage::{FileWriter, Lock, Reader, Storage, check, failed_before};

#[path = "../../tests/support/simulated/mod.rs"]
#[expect(dead_code, reason = "nothing fails here")]
mod simulated;

pub(crate) use simulated::Simulated;
