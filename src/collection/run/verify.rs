//! Reading every page of a run: each as it was written, rows in order, fences and filters those of the rows, and all
//! together those of one run.

use crate::limits::sized;
use xxhash_rust::xxh3::Xxh3;

use crate::collection::run::directory::FILTERS;
use crate::collection::run::file::{BLOCK, RunFile};
use crate::collection::run::heap::HeapReader;
use crate::collection::run::page::PAGE_WORDS;
use crate::collection::run::rows::filter::may_hold;
use crate::collection::run::rows::section::SectionRows;
use crate::error::Result;

/// Words of a heap read at once.
const STEP: usize = sized(1 << 14, 7);

/// Reads the checksums of all pages but the last, which must have the hash that the last one knows. Each page may be
/// sound and one of them still not of this run: of one of the same id that was never finished.
pub(in crate::collection) fn verify_sum(file: &RunFile, sum: u64) -> Result<()> {
    let last = file.pages() - 1;
    let (mut found, mut block) = (Xxh3::new(), Vec::new());
    for start in (0..last).step_by(BLOCK) {
        block.resize((last - start).min(BLOCK as u64) as usize, [0; PAGE_WORDS]);
        file.fetch(start, last, &mut block)?;
        block.iter().for_each(|raw| found.update(bytemuck::bytes_of(&raw[0])));
    }
    if found.digest() != sum {
        return Err(file.damaged(last, "its pages are not those that it was finished with"));
    }
    Ok(())
}

/// Reads a whole heap.
pub(in crate::collection) fn verify_heap(heap: &HeapReader) -> Result<()> {
    let mut words = Vec::new();
    for start in (0..heap.len()).step_by(STEP) {
        words.clear();
        heap.read(start, (heap.len() - start).min(STEP as u64) as usize, &mut words)?;
    }
    Ok(())
}

/// Reads a whole section of rows with its fences and filters.
pub(in crate::collection) fn verify_rows(rows: &SectionRows) -> Result<()> {
    // Once they are there, each page is compared with its fence.
    rows.fences()?;
    let (width, filter) = (rows.shape.width, rows.shape.filter_words());
    let (mut last, mut filters): (Vec<u64>, Vec<u64>) = Default::default();
    let mut raw = [[0; PAGE_WORDS]];
    for data in 0..rows.section.data_pages() {
        let slot = rows.shape.filters_in_page().map(|group| (data / group, (data % group) as usize));
        if let Some((group, 0)) = slot {
            let (page, count) = rows.section.filters_of(group);
            rows.file.fetch(page, rows.section.end(), &mut raw)?;
            let used = count as usize * filter;
            filters.clear();
            filters.extend_from_slice(rows.file.check_used(
                &mut raw[0],
                page,
                rows.number | FILTERS,
                used,
            )?);
        }
        let page = rows.section.page_of(data);
        rows.file.fetch(page, rows.section.end(), &mut raw)?;
        for row in rows.check(&mut raw[0], data)?.chunks_exact(width) {
            if !last.is_empty() && row <= &last[..] {
                return Err(rows.file.damaged(page, "rows are not in order"));
            }
            last.clear();
            last.extend_from_slice(row);
            if let (Some((_, slot)), [first, ..]) = (slot, row)
                && !may_hold(&filters[slot * filter..][..filter], *first)
            {
                return Err(rows.file.damaged(page, "the page has a row that its filter denies"));
            }
        }
    }
    Ok(())
}
