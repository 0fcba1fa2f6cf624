//! Reading every page of a run: each as it was written, rows in order, fences those of the rows, and all
//! together those of one run.

use crate::limits::sized;
use xxhash_rust::xxh3::Xxh3;

use crate::collection::run::file::{BLOCK, RunFile};
use crate::collection::run::heap::HeapReader;
use crate::collection::run::page::PAGE_WORDS;
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

/// Reads a whole section of rows with its fences.
pub(in crate::collection) fn verify_rows(rows: &SectionRows) -> Result<()> {
    // Once they are there, each page is compared with its fence.
    rows.fences()?;
    let (mut last, mut unpacked): (Vec<u64>, Vec<u64>) = Default::default();
    let (mut raw, mut count) = ([[0; PAGE_WORDS]], 0);
    for data in 0..rows.section.pages {
        let page = rows.section.first + data;
        rows.file.fetch(page, rows.section.end(), &mut raw)?;
        rows.check(&mut raw[0], data, &mut unpacked)?;
        for row in unpacked.chunks_exact(rows.shape.width) {
            if !last.is_empty() && row <= &last[..] {
                return Err(rows.file.damaged(page, "rows are not in order"));
            }
            last.clear();
            last.extend_from_slice(row);
            count += 1;
        }
    }
    if count != rows.section.count {
        return Err(rows
            .file
            .damaged(rows.section.first, "its pages have more or fewer rows than the directory says"));
    }
    Ok(())
}
