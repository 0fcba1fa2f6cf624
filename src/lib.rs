//! Near-duplicate documents in collections that change.

pub mod config;
pub mod document;
pub mod error;
pub mod flow;
pub mod limits;
pub mod output;
pub mod progress;
pub mod read;
pub mod simd;
pub mod similarity;
pub mod sketch;
pub mod text;
