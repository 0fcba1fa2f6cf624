//! Records as they cross between processes: packed where they are sent, and unpacked where they arrive.

pub mod bits;
pub mod by_worker;
mod bytes;
pub mod columns;
pub mod container;
pub mod forms;
