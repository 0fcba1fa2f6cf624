//! The folder in memory that the tests of the library have.

pub(crate) use alike::storage::{FileWriter, Lock, Reader, Storage, check, failed_before};

#[path = "../../tests/support/simulated/mod.rs"]
#[expect(dead_code, reason = "not all of it is needed here")]
mod simulated;

pub(crate) use simulated::{Fault, Simulated};
