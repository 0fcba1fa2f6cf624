//! The columns of a batch: where their buffers are, and what is in them.

pub(in crate::read::formats::arrow) mod batch;
pub(in crate::read::formats::arrow) mod buffers;
pub(in crate::read::formats::arrow) mod column;
pub(in crate::read::formats::arrow) mod dictionary;
pub(in crate::read::formats::arrow) mod fixed;
pub(in crate::read::formats::arrow) mod views;
