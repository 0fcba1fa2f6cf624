//! Merging: the rows of several runs as one ascending stream, in which newer runs shadow older ones.

use crate::collection::run::rows::scan::Scan;
use crate::error::Result;

/// Merges scans of runs, the newest run first. Of all rows that agree in their first `key_words` words, those of the
/// newest run that has any are given, and no others.
///
/// # Panics
/// If the rows are not all equally wide, or `key_words` is more than their width.
pub fn merge(newest_first: Vec<Scan>, key_words: usize) -> Merge {
    let width = newest_first.first().map_or(key_words, Scan::width);
    assert!(newest_first.iter().all(|scan| scan.width() == width), "rows of several widths");
    assert!(key_words <= width, "a key of {key_words} words in rows of {width}");
    Merge {
        heads: vec![0; newest_first.len() * width],
        scans: newest_first,
        width,
        key: key_words,
        order: Vec::new(),
        given: Given::Nothing,
        last: Vec::with_capacity(key_words),
    }
}

/// What was given out last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// Nothing was even looked for.
    Nothing,
    /// The head of this scan, which is still the first in order.
    Head(usize),
    /// An error, or the end.
    End,
}

/// The rows of several runs, ascending. Holds a block of pages for each run.
#[derive(Debug)]
pub struct Merge {
    scans: Vec<Scan>,
    width: usize,
    key: usize,
    /// The next row of each scan.
    heads: Vec<u64>,
    /// The scans that have rows left, as a binary heap: the one with the least next row first.
    order: Vec<usize>,
    given: Given,
    /// The key of the row that was given out last.
    last: Vec<u64>,
}

impl Merge {
    /// The next row; `None` after the last one.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`]; the merge is then at its end.
    pub fn next_row(&mut self) -> Result<Option<&[u64]>> {
        let found = self.find();
        self.given = match found {
            Ok(Some(scan)) => Given::Head(scan),
            Ok(None) | Err(_) => Given::End,
        };
        Ok(found?.map(|scan| &self.heads[scan * self.width..][..self.width]))
    }

    /// The next row, with the number of the scan that it comes from.
    ///
    /// # Errors
    /// Those of [`Merge::next_row`].
    pub fn next_of_source(&mut self) -> Result<Option<(usize, &[u64])>> {
        if self.next_row()?.is_none() {
            return Ok(None);
        }
        let scan = self.source();
        Ok(Some((scan, &self.heads[scan * self.width..][..self.width])))
    }

    /// The number of the scan that the last row came from.
    pub fn source(&self) -> usize {
        match self.given {
            Given::Head(scan) => scan,
            Given::Nothing | Given::End => 0,
        }
    }

    /// The scan whose head is the next row.
    fn find(&mut self) -> Result<Option<usize>> {
        let shadow = match self.given {
            Given::End => return Ok(None),
            Given::Nothing => {
                self.begin()?;
                None
            }
            Given::Head(scan) => {
                self.last.clear();
                self.last.extend_from_slice(&self.heads[scan * self.width..][..self.key]);
                self.advance()?;
                Some(scan)
            }
        };
        while let Some(&first) = self.order.first() {
            let shadowed = shadow.is_some_and(|scan| scan != first)
                && self.heads[first * self.width..][..self.key] == self.last;
            if !shadowed {
                return Ok(Some(first));
            }
            self.advance()?;
        }
        Ok(None)
    }

    /// Fetches the first row of each scan and brings them in order.
    fn begin(&mut self) -> Result<()> {
        for scan in 0..self.scans.len() {
            if self.fetch(scan)? {
                self.order.push(scan);
            }
        }
        for place in (0..self.order.len() / 2).rev() {
            self.sink(place);
        }
        Ok(())
    }

    /// Replaces the first head by the row after it.
    fn advance(&mut self) -> Result<()> {
        if !self.fetch(self.order[0])? {
            self.order.swap_remove(0);
        }
        self.sink(0);
        Ok(())
    }

    /// Makes the next row of a scan its head; false if there is none.
    #[inline]
    fn fetch(&mut self, scan: usize) -> Result<bool> {
        let row = self.scans[scan].next_row()?;
        if let Some(row) = row {
            self.heads[scan * self.width..][..self.width].copy_from_slice(row);
        }
        Ok(row.is_some())
    }

    /// Moves the scan at `place` down to where it belongs.
    fn sink(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.order.len() && self.before(self.order[child], self.order[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.order.swap(place, least);
            place = least;
        }
    }

    /// Whether the head of scan `a` comes before that of `b`: by key, then the newer, whose other words do not matter.
    #[inline]
    fn before(&self, a: usize, b: usize) -> bool {
        let key = |scan: usize| &self.heads[scan * self.width..][..self.key];
        let (left, right) = (key(a), key(b));
        // Most differ in their first word, and a comparison of slices is a loop.
        match (left.first(), right.first()) {
            (Some(left), Some(right)) if left != right => left < right,
            _ => (left, a) < (right, b),
        }
    }
}
