//! A section of rows as it lies in its file: its pages verified, its fences, and where a row would stand.

use std::sync::{Arc, OnceLock};

use crate::collection::run::directory::{Section, Shape};
use crate::collection::run::file::RunFile;
use crate::collection::run::page::RawPage;
use crate::collection::run::rows::fences::Fences;
use crate::collection::run::rows::packed::PackedRows;
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

    /// Verifies page `data` of the section as it was fetched: its rows, of which it has at least one.
    pub(in crate::collection) fn packed<'a>(
        &self,
        raw: &'a mut RawPage,
        data: u64,
    ) -> Result<PackedRows<'a>> {
        let page = self.section.first + data;
        let payload = self.file.check(raw, page, self.number)?.payload();
        PackedRows::of(payload, self.shape.width).map_err(|what| self.file.damaged(page, what))
    }

    /// The same, with all rows unpacked into `rows`.
    pub(in crate::collection) fn check(
        &self,
        raw: &mut RawPage,
        data: u64,
        rows: &mut Vec<u64>,
    ) -> Result<()> {
        self.packed(raw, data)?.unpack(rows);
        self.check_fence(data, &rows[..self.shape.key])
    }

    /// Verifies that page `data` begins with the key of its fence, once fences are there.
    pub(in crate::collection) fn check_fence(&self, data: u64, key: &[u64]) -> Result<()> {
        match self.fences.get() {
            Some(fences) if fences.first(data as usize) != key => {
                let page = self.section.first + data;
                Err(self.file.damaged(page, "the page begins with another key than its fence"))
            }
            _ => Ok(()),
        }
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
