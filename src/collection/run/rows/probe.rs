//! Probing: the rows of many keys, by fences, each page once.

use std::cmp::Ordering;

use crate::collection::run::file::BLOCK;
use crate::collection::run::page::{PAGE_WORDS, RawPage};
use crate::collection::run::rows::fences::Fences;
use crate::collection::run::rows::packed::PackedRows;
use crate::collection::run::rows::section::SectionRows;
use crate::error::Result;
use crate::limits::sized;

/// Most pages looked at before any is fetched.
const BATCH: usize = sized(1024, 3);
/// Pages this far apart are fetched with one read: one or two that nobody wants cost less than another read.
const NEAR: u64 = 3;
/// A page that may hold rows of some keys.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Which page of the section.
    page: u64,
    /// The first of the keys, and the one after the last.
    from: usize,
    to: usize,
}

/// Calls `each` with all rows that begin with one of `keys`; see [`super::RowsReader::probe`].
pub(in crate::collection) fn probe(
    rows: &SectionRows,
    prefix: usize,
    keys: &[u64],
    each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
) -> Result<()> {
    if keys.is_empty() || rows.section.count == 0 {
        return Ok(());
    }
    let mut probe = Probe {
        rows,
        fences: rows.fences()?,
        prefix,
        keys,
        key: 0,
        resume: 0,
        touches: Vec::new(),
        block: Vec::new(),
        row: Vec::new(),
    };
    while probe.plan() {
        probe.visit(each)?;
    }
    Ok(())
}

/// A probe under way.
struct Probe<'a> {
    rows: &'a SectionRows,
    fences: &'a Fences,
    prefix: usize,
    keys: &'a [u64],
    /// The first key whose pages are not all planned.
    key: usize,
    /// The first page that is not planned.
    resume: usize,
    touches: Vec<Touch>,
    block: Vec<RawPage>,
    /// A row of the page that was visited last.
    row: Vec<u64>,
}

impl<'a> Probe<'a> {
    fn key(&self, index: usize) -> &'a [u64] {
        &self.keys[index * self.prefix..][..self.prefix]
    }

    /// Finds the next pages that the fences cannot rule out; false if there are none. A page is never in two batches:
    /// a batch ends before the first page that does not fit, and later keys come into no page before that.
    fn plan(&mut self) -> bool {
        self.touches.clear();
        let mut from = self.resume.saturating_sub(1);
        while self.key < self.keys.len() / self.prefix {
            let range = self.fences.range(self.key(self.key), from);
            from = range.start;
            for page in range.start.max(self.resume)..range.end {
                let touch = Touch { page: page as u64, from: self.key, to: self.key + 1 };
                let full = self.touches.len() == BATCH;
                match self.touches.last_mut() {
                    Some(last) if last.page == touch.page => last.to = touch.to,
                    _ if full => {
                        self.resume = page;
                        return true;
                    }
                    _ => self.touches.push(touch),
                }
            }
            self.key += 1;
        }
        !self.touches.is_empty()
    }

    /// Fetches the pages, those near each other with one read, and hands their rows on.
    fn visit(&mut self, each: &mut dyn FnMut(usize, &[u64]) -> Result<()>) -> Result<()> {
        let place = |touch: &Touch| self.rows.section.first + touch.page;
        let mut start = 0;
        while start < self.touches.len() {
            let first = place(&self.touches[start]);
            let (mut end, mut last) = (start + 1, first);
            while let Some(next) = self.touches.get(end).map(place)
                && next - last <= NEAR
                && next - first < BLOCK as u64
            {
                (end, last) = (end + 1, next);
            }
            let pages = (last + 1 - first) as usize;
            self.block.resize(self.block.len().max(pages), [0; PAGE_WORDS]);
            self.rows.file.fetch(first, self.rows.section.end(), &mut self.block[..pages])?;
            for at in start..end {
                let touch = self.touches[at];
                let slot = (place(&touch) - first) as usize;
                let packed = self.rows.packed(&mut self.block[slot], touch.page)?;
                packed.first_row(&mut self.row);
                self.rows.check_fence(touch.page, &self.row[..self.rows.shape.key])?;
                let keys =
                    self.keys[touch.from * self.prefix..touch.to * self.prefix].chunks_exact(self.prefix);
                find((touch.from..).zip(keys), &packed, &mut self.row, each)?;
            }
            start = end;
        }
        Ok(())
    }
}

/// Hands on the rows of a page that begin with one of some numbered keys, which ascend.
fn find<'a>(
    keys: impl Iterator<Item = (usize, &'a [u64])>,
    packed: &PackedRows<'_>,
    row: &mut Vec<u64>,
    each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
) -> Result<()> {
    let mut firsts = packed.first_words();
    for (index, key) in keys {
        // Of keys that begin with the same word the later ones have later rows.
        while let Some((at, first)) = firsts.reach(key[0]).filter(|(_, first)| *first == key[0]) {
            packed.row(at, first, row);
            match row[..key.len()].cmp(key) {
                Ordering::Less => {}
                Ordering::Equal => each(index, row)?,
                Ordering::Greater => break,
            }
            firsts.pass();
        }
    }
    Ok(())
}
