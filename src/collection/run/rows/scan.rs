//! Scanning: the rows of a section one after another, a block of pages in memory at a time.

use std::sync::Arc;

use crate::collection::run::file::BLOCK;
use crate::collection::run::page::{PAGE_WORDS, RawPage};
use crate::collection::run::rows::section::{SectionRows, first_from, less};
use crate::error::{Error, Result};

/// Rows in ascending order. Holds 256 KiB and a page of rows once it has begun, however many there are.
#[derive(Debug)]
pub struct Scan {
    rows: Arc<SectionRows>,
    /// Whether the pages between the bounds were found; nothing is fetched before.
    begun: bool,
    /// Where to begin; empty once a row was found that is not before it.
    from: Vec<u64>,
    to: Option<Vec<u64>>,
    /// Rows of pages that were not turned to, as far as the directory knows; `None` if not all pages are.
    left: Option<u64>,
    /// Pages of the section that are still to be turned to.
    next: u64,
    end: u64,
    block: Vec<RawPage>,
    /// Where in the file the block is from.
    block_first: u64,
    /// The page being read: its rows, the next of these, and their end.
    unpacked: Vec<u64>,
    at: usize,
    stop: usize,
}

impl Scan {
    pub(in crate::collection) fn new(rows: Arc<SectionRows>, from: &[u64], to: Option<&[u64]>) -> Scan {
        Scan {
            left: (from.is_empty() && to.is_none()).then_some(rows.section.count),
            next: 0,
            end: rows.section.pages,
            rows,
            begun: false,
            from: from.to_vec(),
            to: to.map(<[u64]>::to_vec),
            block: Vec::new(),
            block_first: 0,
            unpacked: Vec::new(),
            at: 0,
            stop: 0,
        }
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.rows.shape.width
    }

    /// The next row; `None` after the last one.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`]; the scan is then at its end.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<&[u64]>> {
        while self.at == self.stop {
            if !self.turn()? {
                return Ok(None);
            }
        }
        let width = self.rows.shape.width;
        let start = self.at * width;
        self.at += 1;
        Ok(Some(&self.unpacked[start..start + width]))
    }

    /// Turns to the next page; false if there is none.
    fn turn(&mut self) -> Result<bool> {
        let turned = self.try_turn();
        if turned.is_err() {
            (self.at, self.stop, self.next, self.begun) = (0, 0, self.end, true);
        }
        turned
    }

    fn try_turn(&mut self) -> Result<bool> {
        if !self.begun {
            self.bound()?;
        }
        if self.next >= self.end {
            return match self.left.take().is_some_and(|left| left > 0) {
                true => Err(self.miscounted()),
                false => Ok(false),
            };
        }
        let number = self.rows.section.first + self.next;
        if !(self.block_first..self.block_first + self.block.len() as u64).contains(&number) {
            let last = self.rows.section.first + self.end - 1;
            self.block.resize((last + 1 - number).min(BLOCK as u64) as usize, [0; PAGE_WORDS]);
            self.rows.file.fetch(number, self.rows.section.end(), &mut self.block)?;
            self.block_first = number;
        }
        let slot = (number - self.block_first) as usize;
        let width = self.rows.shape.width;
        self.rows.check(&mut self.block[slot], self.next, &mut self.unpacked)?;
        let words = &self.unpacked;
        self.next += 1;
        self.stop = words.len() / width;
        if let Some(left) = self.left {
            self.left = Some(left.checked_sub(self.stop as u64).ok_or_else(|| self.miscounted())?);
        }
        self.at = first_from(words, width, 0, &self.from);
        if self.at < self.stop {
            self.from.clear();
        }
        if let Some(to) = &self.to
            && !less(&words[words.len() - width..], to)
        {
            self.stop = first_from(words, width, self.at, to);
            self.next = self.end;
        }
        Ok(true)
    }

    fn miscounted(&self) -> Error {
        let what = "its pages have more or fewer rows than the directory says";
        self.rows.file.damaged(self.rows.section.first, what)
    }

    /// Finds the pages between the bounds. Without bounds it needs no fences.
    fn bound(&mut self) -> Result<()> {
        self.begun = true;
        if self.from.is_empty() && self.to.is_none() {
            return Ok(());
        }
        let fences = self.rows.fences()?;
        if !self.from.is_empty() {
            self.next = fences.range(&self.from, 0).start as u64;
        }
        if let Some(to) = &self.to {
            self.end = fences.range(to, 0).end as u64;
        }
        Ok(())
    }
}
