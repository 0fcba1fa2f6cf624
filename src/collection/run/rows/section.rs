//! A section of rows as it lies in its file: its pages verified, its fences, and where a row would stand.

use std::sync::{Arc, OnceLock};

use crate::collection::run::directory::{Section, Shape};
use crate::collection::run::file::RunFile;
use crate::collection::run::page::RawPage;
use crate::collection::run::rows::fences::Fences;
use crate::error::Result;

/// A section of rows, shared by all that read it.
#[derive(Debug)]
pub(in crate::collection) struct SectionRows {
    pub(in crate::collection) file: Arc<RunFile>,
    pub(in crate::collection) section: Section,
    pub(in crate::collection) number: u32,
    pub(in crate::collection) shape: Shape,
    fences: OnceLock<Fences>,
}

impl SectionRows {
    pub(in crate::collection) fn new(
        file: Arc<RunFile>,
        section: Section,
        number: u32,
        shape: Shape,
    ) -> SectionRows {
        SectionRows { file, section, number, shape, fences: OnceLock::new() }
    }

    /// The fences, read when they are first asked for.
    pub(in crate::collection) fn fences(&self) -> Result<&Fences> {
        if let Some(fences) = self.fences.get() {
            return Ok(fences);
        }
        let fences = Fences::load(&self.file, &self.section, self.number, self.shape)?;
        // Another thread may have been faster; then this one's are dropped.
        Ok(self.fences.get_or_init(|| fences))
    }

    /// Verifies page `data` of the section as it was fetched: its rows.
    pub(in crate::collection) fn check<'a>(&self, raw: &'a mut RawPage, data: u64) -> Result<&'a [u64]> {
        let most = self.shape.rows_in_page() as u64;
        let rows = (self.section.count - data * most).min(most) as usize;
        let page = self.section.page_of(data);
        let words = self.file.check_used(raw, page, self.number, rows * self.shape.width)?;
        if let Some(fences) = self.fences.get()
            && fences.first(data as usize) != &words[..self.shape.key]
        {
            return Err(self.file.damaged(page, "the page begins with another key than its fence"));
        }
        Ok(words)
    }
}

/// The first row of those from `at` on, `width` words each, that is not less than `bound` in as many words as that has.
pub(in crate::collection) fn first_from(rows: &[u64], width: usize, at: usize, bound: &[u64]) -> usize {
    let (mut low, mut high) = (at, rows.len() / width);
    while low < high {
        let middle = low.midpoint(high);
        if less(&rows[middle * width..], bound) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Whether a row, which is not shorter, is less than `bound` in as many words as that has.
#[inline]
pub(in crate::collection) fn less(row: &[u64], bound: &[u64]) -> bool {
    match (row, bound) {
        // The comparison of slices is a call, and most bounds are one word.
        ([first, ..], [bound]) => first < bound,
        _ => row[..bound.len()] < *bound,
    }
}
