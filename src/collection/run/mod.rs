//! The file of a run: pages, sections of rows and heaps, written once, read and merged.

pub(in crate::collection) mod directory;
pub(in crate::collection) mod file;
pub(in crate::collection) mod heap;
pub(in crate::collection) mod merge;
pub mod page;
pub(in crate::collection) mod reader;
pub(in crate::collection) mod rows;
pub(in crate::collection) mod schema;
pub(in crate::collection) mod verify;
pub(in crate::collection) mod writer;
