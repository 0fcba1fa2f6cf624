//! Probing: the rows of many keys, by fences and filters, each page once.

use crate::collection::run::directory::FILTERS;
use crate::collection::run::file::BLOCK;
use crate::collection::run::page::{PAGE_WORDS, RawPage, decode};
use crate::collection::run::rows::fences::Fences;
use crate::collection::run::rows::filter::may_hold;
use crate::collection::run::rows::section::{SectionRows, first_from};
use crate::error::Result;
use crate::limits::sized;

/// Most pages looked at before any is fetched.
const BATCH: usize = sized(1024, 3);
/// Pages this far apart are fetched with one read: one or two that nobody wants cost less than another read.
const NEAR: u64 = 3;
/// Least wanted pages for which their page of filters is fetched: it costs as much as one of them.
const WORTH_ASKING: usize = 3;
/// How many more pages filters may have cost than saved in a probe before they are asked no more.
const PATIENCE: u64 = 8;

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
        spent: 0,
        saved: 0,
    };
    while probe.plan() {
        probe.ask_filters()?;
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
    /// Pages of filters fetched, and pages that they spared.
    spent: u64,
    saved: u64,
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

    /// Drops the pages that hold none of their keys, as far as filters know and are worth asking.
    fn ask_filters(&mut self) -> Result<()> {
        let Some(group) = self.rows.shape.filters_in_page() else { return Ok(()) };
        let (mut kept, mut start) = (0, 0);
        while start < self.touches.len() {
            let number = self.touches[start].page / group;
            let end = start + self.touches[start..].partition_point(|touch| touch.page / group == number);
            let ask = end - start >= WORTH_ASKING && self.saved + PATIENCE >= self.spent;
            if ask {
                self.fetch_filters(number)?;
            }
            let before = kept;
            for at in start..end {
                let touch = self.touches[at];
                if !ask || self.may_hold(touch, (touch.page % group) as usize) {
                    self.touches[kept] = touch;
                    kept += 1;
                }
            }
            if ask {
                self.spent += 1;
                self.saved += (end - start - (kept - before)) as u64;
            }
            start = end;
        }
        self.touches.truncate(kept);
        Ok(())
    }

    /// Fetches the page of the filters of group `number`.
    fn fetch_filters(&mut self, number: u64) -> Result<()> {
        let (page, filters) = self.rows.section.filters_of(number);
        let used = filters as usize * self.rows.shape.filter_words();
        self.block.resize(1, [0; PAGE_WORDS]);
        self.rows.file.fetch(page, self.rows.section.end(), &mut self.block)?;
        self.rows.file.check_used(&mut self.block[0], page, self.rows.number | FILTERS, used)?;
        Ok(())
    }

    /// Whether the page of `touch`, whose filter is number `slot` of those fetched last, may hold one of its keys.
    fn may_hold(&mut self, touch: Touch, slot: usize) -> bool {
        let words = self.rows.shape.filter_words();
        let filter = &decode(&mut self.block[0]).payload()[slot * words..][..words];
        (touch.from..touch.to).any(|key| may_hold(filter, self.keys[key * self.prefix]))
    }

    /// Fetches the pages that are left, those near each other with one read, and hands their rows on.
    fn visit(&mut self, each: &mut dyn FnMut(usize, &[u64]) -> Result<()>) -> Result<()> {
        let place = |touch: &Touch| self.rows.section.page_of(touch.page);
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
            self.block.resize((last + 1 - first) as usize, [0; PAGE_WORDS]);
            self.rows.file.fetch(first, self.rows.section.end(), &mut self.block)?;
            for at in start..end {
                let touch = self.touches[at];
                let slot = (place(&touch) - first) as usize;
                let words = self.rows.check(&mut self.block[slot], touch.page)?;
                find(self.keys, self.prefix, touch, words, self.rows.shape.width, each)?;
            }
            start = end;
        }
        Ok(())
    }
}

/// Hands on the rows of a page that begin with one of the keys of `touch`.
fn find(
    keys: &[u64],
    prefix: usize,
    touch: Touch,
    words: &[u64],
    width: usize,
    each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
) -> Result<()> {
    let mut at = 0;
    for index in touch.from..touch.to {
        let key = &keys[index * prefix..][..prefix];
        at = first_from(words, width, at, key);
        while let Some(row) = words.get(at * width..(at + 1) * width)
            && row[..prefix] == *key
        {
            each(index, row)?;
            at += 1;
        }
    }
    Ok(())
}
