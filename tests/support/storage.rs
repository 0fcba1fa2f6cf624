pub(crate) use alike::storage::{FileWriter, Lock, Reader, Storage, check, failed_before};

#[path = "simulated/mod.rs"]
mod simulated;

pub(crate) use simulated::{Fault, Simulated, is_power_cut};
