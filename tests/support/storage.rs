pub(crate) use alike::storage::{Lock, Reader, Storage, Writer, check, failed_before};

#[path = "simulated/mod.rs"]
mod simulated;

pub(crate) use simulated::{Fault, Simulated, is_power_cut};
