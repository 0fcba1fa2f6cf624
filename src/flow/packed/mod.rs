//! Records as they cross between processes: packed where they are sent, and unpacked where they arrive.

pub mod bits;
mod bytes;
pub mod columns;
pub mod container;
pub mod forms;
