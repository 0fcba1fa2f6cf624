//! Sections of rows: what they are, and the ways to read them.

pub(in crate::collection) mod fences;
pub(in crate::collection) mod packed;
pub(in crate::collection) mod probe;
pub(in crate::collection) mod scan;
pub(in crate::collection) mod section;

use std::sync::Arc;

use crate::collection::run::directory::{Section, Shape};
use crate::collection::run::file::RunFile;
use crate::collection::run::rows::scan::Scan;
use crate::collection::run::rows::section::SectionRows;
use crate::collection::run::verify::verify_rows;
use crate::error::Result;

/// A section of rows: fixed-width, strictly ascending word by word.
#[derive(Clone, Debug)]
pub struct RowsReader(Arc<SectionRows>);

impl RowsReader {
    pub(in crate::collection) fn new(
        file: Arc<RunFile>,
        section: Section,
        number: u32,
        shape: Shape,
    ) -> RowsReader {
        RowsReader(Arc::new(SectionRows::new(file, section, number, shape)))
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.0.section.count
    }

    /// How many pages hold them.
    pub fn pages(&self) -> u64 {
        self.0.section.pages
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads every page of them.
    pub(in crate::collection) fn verify(&self) -> Result<()> {
        verify_rows(&self.0)
    }

    /// What the rows look like.
    pub fn shape(&self) -> Shape {
        self.0.shape
    }

    /// Calls `each` with every row that begins with one of `keys`, in ascending order, and the index of that key.
    ///
    /// A key is `prefix_words` words; `keys` holds them one after another. Every page is fetched, verified and decoded
    /// once at most, in ascending order, neighbours with one read. Memory is bounded, however many keys there are.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`], and what `each` gives, which ends the probe.
    ///
    /// # Panics
    /// If `prefix_words` is 0 or more than the key of a row has, or the keys are not whole or not strictly ascending.
    pub fn probe(
        &self,
        prefix_words: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        assert!((1..=self.0.shape.key).contains(&prefix_words), "a prefix of {prefix_words} words");
        assert!(keys.len().is_multiple_of(prefix_words), "{} words of keys", keys.len());
        let ascending = match prefix_words {
            1 => keys.is_sorted_by(|a, b| a < b),
            _ => keys.chunks_exact(prefix_words).is_sorted_by(|a, b| a < b),
        };
        assert!(ascending, "keys are sorted and distinct");
        probe::probe(&self.0, prefix_words, keys, each)
    }

    /// The rows from the first that does not come before `from` up to, and without, the first that does not come
    /// before `to`; both are compared in as many words as they have. An empty `from` is the beginning, no `to` is the
    /// end. Nothing is read before the first row is asked for. Fences find the pages by the key: where `from` has more
    /// words than that, rows of its key that come before it are read too.
    ///
    /// # Panics
    /// If `from` or `to` have more words than a row.
    pub fn scan(&self, from: &[u64], to: Option<&[u64]>) -> Scan {
        let width = self.0.shape.width;
        assert!(from.len().max(to.map_or(0, <[u64]>::len)) <= width, "a bound is wider than {width} words");
        Scan::new(Arc::clone(&self.0), from, to)
    }
}
