//! What must hold for every input, as plain functions that panic where it does not. The targets of `cargo fuzz` call
//! them with bytes it makes up; the tests here call them with bytes of their own, so that they are exercised where there
//! is no fuzzer.
#![forbid(unsafe_code)]

mod batches;
mod checkpoint;
mod collection;
mod columns;
mod config;
mod features;
mod found;
mod frames;
mod good;
mod histories;
mod hosts;
mod json;
mod kinds;
mod labels;
mod lexicon;
mod manifest;
mod packed;
mod pdf;
mod reader;
mod reading;
mod run;
mod storage;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod zipped;
mod zips;

pub use batches::arrow;
pub use checkpoint::checkpoint;
pub use columns::parquet;
pub use config::config;
pub use features::features;
pub use found::found;
pub use frames::frames;
pub use histories::histories;
pub use hosts::hosts;
pub use kinds::{arc, csv, docx, eml, epub, html, mbox, mediawiki, odt, rtf, tar, trec, tsv, warc};
pub use labels::labels;
pub use lexicon::lexicon;
pub use manifest::manifest;
pub use packed::packed;
pub use pdf::pdf;
pub use reader::reader;
pub use run::run;
pub use tables::tables;
pub use tokens::tokens;
pub use zips::zip;

use alike::simd::Simd;

/// All levels; what the machine lacks falls back to what it has.
const LEVELS: [Simd; 3] = [Simd::Scalar, Simd::Avx2, Simd::Avx512];

/// Takes up to `N` bytes off the front of `data`; what is missing is 0.
fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let (front, rest) = data.split_at(N.min(data.len()));
    *data = rest;
    let mut taken = [0; N];
    taken[..front.len()].copy_from_slice(front);
    taken
}
