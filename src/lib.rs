//! Near-duplicate documents in collections that change.

pub mod config;
pub mod document;
pub mod error;
pub mod limits;
pub mod progress;
pub mod simd;
pub mod similarity;
pub mod text;
