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
        firsts: vec![0; newest_first.len()],
        ended: vec![false; newest_first.len()],
        tree: Vec::new(),
        scans: newest_first,
        width,
        key: key_words,
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
    /// The next row of each scan, and its first word once more: most comparisons end there.
    heads: Vec<u64>,
    firsts: Vec<u64>,
    /// Whether a scan has no row left. Its first word is then the greatest there is.
    ended: Vec<bool>,
    /// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): the scan with the least next row, and then those that lost
    /// where two met. A new row plays those on its way to the root, half as many as a heap compares.
    tree: Vec<usize>,
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
        while let Some(first) = self.tree.first().copied().filter(|first| !self.ended[*first]) {
            let shadowed = shadow.is_some_and(|scan| scan != first)
                && self.heads[first * self.width..][..self.key] == self.last;
            if !shadowed {
                return Ok(Some(first));
            }
            self.advance()?;
        }
        Ok(None)
    }

    /// Fetches the first row of each scan, and lets all play.
    fn begin(&mut self) -> Result<()> {
        let scans = self.scans.len();
        (0..scans).try_for_each(|scan| self.fetch(scan))?;
        // Who came that far: behind the places where two meet are the scans.
        let mut winners: Vec<usize> = (0..2 * scans).map(|place| place.saturating_sub(scans)).collect();
        self.tree = winners.iter().copied().take(scans).collect();
        for place in (1..scans).rev() {
            let (left, right) = (winners[2 * place], winners[2 * place + 1]);
            let left_wins = self.before(left, right);
            (winners[place], self.tree[place]) = if left_wins { (left, right) } else { (right, left) };
        }
        if let Some(first) = self.tree.first_mut() {
            *first = winners[1];
        }
        Ok(())
    }

    /// Replaces the first head by the row after it.
    fn advance(&mut self) -> Result<()> {
        let mut winner = self.tree[0];
        self.fetch(winner)?;
        let mut place = (winner + self.scans.len()) / 2;
        while place > 0 {
            let loser = self.tree[place];
            if self.before(loser, winner) {
                (self.tree[place], winner) = (winner, loser);
            }
            place /= 2;
        }
        self.tree[0] = winner;
        Ok(())
    }

    /// Makes the next row of a scan its head.
    #[inline]
    fn fetch(&mut self, scan: usize) -> Result<()> {
        match self.scans[scan].next_row()? {
            Some(row) => {
                self.heads[scan * self.width..][..self.width].copy_from_slice(row);
                self.firsts[scan] = row[..self.key].first().copied().unwrap_or_default();
            }
            None => (self.firsts[scan], self.ended[scan]) = (u64::MAX, true),
        }
        Ok(())
    }

    /// Whether the head of scan `a` comes before that of `b`: by key, then the newer, whose other words do not matter.
    #[inline]
    fn before(&self, a: usize, b: usize) -> bool {
        let (left, right) = (self.firsts[a], self.firsts[b]);
        if left == right { self.before_by_rest(a, b) } else { left < right }
    }

    fn before_by_rest(&self, a: usize, b: usize) -> bool {
        let key = |scan: usize| &self.heads[scan * self.width..][..self.key];
        (self.ended[a], key(a), a) < (self.ended[b], key(b), b)
    }
}
