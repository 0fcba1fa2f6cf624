//! Word edit distance: how many words must be inserted, deleted or replaced to turn one text into another (methods
//! section 10).
//!
//! Myers' bit-parallel columns in blocks of 64 rows, within Ukkonen's band. Of the two fast ways the other, diagonals
//! in O(n d), is faster for texts that hardly differ and slower for all others, quadratic without a divisor where
//! they differ throughout. This one takes at most n m / 64 steps, whatever the texts, and near n d / 64.

use hashbrown::HashMap;

/// Rows of a block.
const ROWS: usize = 64;
/// The band that is tried first. Each further one is four times as wide: all that fail together take a third of the
/// time of the one that does not.
const FIRST_BAND: usize = 64;
/// Columns between two looks at whether the distance can still be small enough.
const LOOK: usize = 64;
/// A word that the pattern has not.
const FOREIGN: u32 = u32::MAX;

/// Word edit distance (Levenshtein) of two token sequences, in words: 0 for equal ones, at most the length of the longer.
///
/// ```
/// assert_eq!(alike::similarity::edit_distance(&[1, 2, 3], &[1, 9, 3, 4]), 2);
/// ```
pub fn edit_distance(a: &[u64], b: &[u64]) -> u32 {
    Edits::default().distance(a, b)
}

/// [`edit_distance`] if it is at most `most` words, else `None`, which takes less time than the distance would.
pub fn edit_distance_at_most(a: &[u64], b: &[u64], most: u32) -> Option<u32> {
    Edits::default().at_most(a, b, most)
}

/// Measures edit distances, with buffers that are reused from pair to pair. They grow with the length of the texts, not
/// with its square.
#[derive(Debug, Default)]
pub struct Edits {
    /// The number of each distinct word of the pattern, the shorter text.
    numbers: HashMap<u64, u32>,
    /// Where the rows of a word begin in `rows`, by its number.
    starts: Vec<u32>,
    /// Rows of the pattern by word, each word's ascending.
    rows: Vec<u32>,
    /// The words of the pattern, then those of the text, as numbers.
    pattern: Vec<u32>,
    text: Vec<u32>,
    /// Which row of `dense` a word has, by its number, [`FOREIGN`] for most: only words that are in more places than
    /// there are blocks have one. They are fewer than 64.
    dense_of: Vec<u32>,
    dense: Vec<u64>,
    /// Rows of a word in one column; all zero between two columns.
    sparse: Vec<u64>,
    /// Which rows are one more than the row above, and which one less.
    up: Vec<u64>,
    down: Vec<u64>,
}

impl Edits {
    /// [`edit_distance`].
    pub fn distance(&mut self, a: &[u64], b: &[u64]) -> u32 {
        let longer = u32::try_from(a.len().max(b.len())).expect("a text has fewer than 2^32 words");
        self.at_most(a, b, longer).expect("no distance is more than the words of the longer text")
    }

    /// [`edit_distance_at_most`].
    pub fn at_most(&mut self, a: &[u64], b: &[u64], most: u32) -> Option<u32> {
        let (a, b) = without_common_ends(a, b);
        let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let most = (most as usize).min(text.len());
        if text.len() - pattern.len() > most {
            return None;
        }
        if pattern.is_empty() {
            return Some(text.len() as u32);
        }
        self.number(pattern, text);
        let mut band = FIRST_BAND.max(2 * (text.len() - pattern.len())).min(most);
        loop {
            match self.within(pattern.len(), text.len(), band) {
                None if band < most => band = (band * 4).min(most),
                found => return found.map(|distance| distance as u32),
            }
        }
    }

    /// Numbers the words of the pattern and finds where each stands.
    fn number(&mut self, pattern: &[u64], text: &[u64]) {
        self.numbers.clear();
        self.pattern.clear();
        for word in pattern {
            let next = self.numbers.len() as u32;
            self.pattern.push(*self.numbers.entry(*word).or_insert(next));
        }
        self.text.clear();
        self.text.extend(text.iter().map(|word| self.numbers.get(word).copied().unwrap_or(FOREIGN)));
        self.starts.clear();
        self.starts.resize(self.numbers.len() + 1, 0);
        self.pattern.iter().for_each(|number| self.starts[*number as usize + 1] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.rows.clear();
        self.rows.resize(pattern.len(), 0);
        // Filled from the end of each word's stretch, so that its start is left in `starts`.
        for (row, number) in self.pattern.iter().enumerate().rev() {
            let end = &mut self.starts[*number as usize + 1];
            *end -= 1;
            self.rows[*end as usize] = row as u32;
        }
        self.starts.remove(0);
        self.starts.push(pattern.len() as u32);
        self.lay_out(pattern.len().div_ceil(ROWS));
    }

    /// Gives frequent words rows of bits.
    fn lay_out(&mut self, blocks: usize) {
        self.dense_of.clear();
        self.dense.clear();
        for places in self.starts.windows(2) {
            let places = &self.rows[places[0] as usize..places[1] as usize];
            if places.len() <= blocks {
                self.dense_of.push(FOREIGN);
                continue;
            }
            let start = self.dense.len();
            self.dense_of.push((start / blocks) as u32);
            self.dense.resize(start + blocks, 0);
            set(&mut self.dense[start..], places);
        }
        self.sparse.clear();
        self.sparse.resize(blocks, 0);
    }

    /// The distance of a pattern of `m` and a text of `n` words, `m <= n`, if it is at most `most`. Paths that are no
    /// longer leave no cell outside of a band of diagonals: only blocks with a cell of the band are worked out. What is
    /// beyond counts as more than it is.
    fn within(&mut self, m: usize, n: usize, most: usize) -> Option<usize> {
        let longer = n - m;
        let (above, below) = ((most + longer) / 2, (most - longer) / 2);
        let blocks = m.div_ceil(ROWS);
        self.up.clear();
        self.up.resize(blocks, u64::MAX);
        self.down.clear();
        self.down.resize(blocks, 0);
        let mut last = 0;
        let mut score = m.min(ROWS);
        for column in 1..=n {
            let first = (column.saturating_sub(above).max(1) - 1) / ROWS;
            let wanted = ((column + below).min(m) - 1) / ROWS;
            while last < wanted {
                last += 1;
                score += (m - last * ROWS).min(ROWS);
            }
            let bottom = (m - last * ROWS).min(ROWS) - 1;
            score = score.wrapping_add_signed(self.column(self.text[column - 1], first, last, bottom));
            if column % LOOK == 0 && !self.may_still((m, n), column, (first, last), (score, most)) {
                return None;
            }
        }
        (score <= most).then_some(score)
    }

    /// Works out the blocks `first..=last` of the next column, that of a word; by how much the last row, bit `bottom` of the
    /// last block, is more than in the column before.
    fn column(&mut self, word: u32, first: usize, last: usize, bottom: usize) -> isize {
        let mut places: &[u32] = &[];
        let mut equal: &[u64] = &self.sparse;
        if word != FOREIGN {
            let blocks = self.up.len();
            match self.dense_of[word as usize] {
                FOREIGN => {
                    let all = &self.rows
                        [self.starts[word as usize] as usize..self.starts[word as usize + 1] as usize];
                    let before = all.partition_point(|row| (*row as usize) < first * ROWS);
                    let until = all.partition_point(|row| (*row as usize) < (last + 1) * ROWS);
                    places = &all[before..until];
                }
                row => equal = &self.dense[row as usize * blocks..][..blocks],
            }
        }
        if !places.is_empty() {
            set(&mut self.sparse, places);
            equal = &self.sparse;
        }
        let band = first..last + 1;
        let more = step(&equal[band.clone()], &mut self.up[band.clone()], &mut self.down[band], bottom);
        places.iter().for_each(|row| self.sparse[*row as usize / ROWS] = 0);
        more
    }

    /// Whether a path of at most `most` can go through this column: through a cell from which the end is near enough.
    fn may_still(
        &self,
        (m, n): (usize, usize),
        column: usize,
        (first, last): (usize, usize),
        (score, most): (usize, usize),
    ) -> bool {
        let mut score = score;
        let mut row = m.min((last + 1) * ROWS);
        loop {
            if score + (m - row).abs_diff(n - column) <= most {
                return true;
            }
            if row == first * ROWS {
                return false;
            }
            row -= 1;
            let bit = |bits: &[u64]| (bits[row / ROWS] >> (row % ROWS) & 1) as usize;
            score = score + bit(&self.down) - bit(&self.up);
        }
    }
}

/// Sets the bits of rows.
fn set(bits: &mut [u64], rows: &[u32]) {
    rows.iter().for_each(|row| bits[*row as usize / ROWS] |= 1 << (*row as usize % ROWS));
}

/// One column of blocks, from its differences to the row above in the column before; returns the difference of bit `bottom`
/// of the last block to the column before. Above the first block a column is one more than the one before.
fn step(equal: &[u64], up: &mut [u64], down: &mut [u64], bottom: usize) -> isize {
    let (mut plus, mut minus) = (1, 0);
    let (mut right, mut left) = (0, 0);
    for ((equal, up), down) in equal.iter().zip(up).zip(down) {
        let vertical = equal | *down;
        let equal = equal | minus;
        let diagonal = ((equal & *up).wrapping_add(*up) ^ *up) | equal;
        (right, left) = (*down | !(diagonal | *up), *up & diagonal);
        let (right_in, left_in) = (right << 1 | plus, left << 1 | minus);
        (plus, minus) = (right >> (ROWS - 1), left >> (ROWS - 1));
        *up = left_in | !(vertical | right_in);
        *down = right_in & vertical;
    }
    (right >> bottom & 1) as isize - (left >> bottom & 1) as isize
}

/// Two sequences without what is the same at the start of both and at the end of both: it costs no edit.
fn without_common_ends<'a>(a: &'a [u64], b: &'a [u64]) -> (&'a [u64], &'a [u64]) {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - end], &b[..b.len() - end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The full table.
    fn slow(a: &[u64], b: &[u64]) -> u32 {
        let mut above: Vec<u32> = (0..=b.len() as u32).collect();
        for (i, x) in a.iter().enumerate() {
            let mut row = vec![i as u32 + 1];
            for (j, y) in b.iter().enumerate() {
                row.push((above[j] + u32::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1));
            }
            above = row;
        }
        above[b.len()]
    }

    #[test]
    fn of_words_as_people_count() {
        let ids = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("abcdef", "azced", 3),
            ("intention", "execution", 5),
        ] {
            assert_eq!(edit_distance(&ids(a), &ids(b)), distance, "{a} {b}");
            assert_eq!(edit_distance(&ids(b), &ids(a)), distance, "{b} {a}");
        }
        assert_eq!(edit_distance_at_most(&[1, 2], &[3, 4], 1), None);
        assert_eq!(edit_distance_at_most(&[1, 2], &[3, 4], 2), Some(2));
        assert_eq!(edit_distance_at_most(&[1], &[1], 0), Some(0));
    }

    #[test]
    fn nothing_in_common_is_all_of_the_longer() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..700).collect(), (1000..1900).collect());
        assert_eq!((edit_distance(&a, &b), edit_distance_at_most(&a, &b, 899)), (900, None));
    }

    /// A sequence of up to `most` words of `alphabet`.
    fn words(alphabet: u64, most: usize) -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0..alphabet, 0..most)
    }

    fn changed(words: &[u64], changes: &[(usize, u8, u64)]) -> Vec<u64> {
        let mut words = words.to_vec();
        for (at, how, word) in changes {
            let at = at % (words.len() + 1);
            match (how % 3, at < words.len()) {
                (0, true) => words[at] = *word,
                (1, true) => drop(words.remove(at)),
                _ => words.insert(at, *word),
            }
        }
        words
    }

    proptest! {
        #[test]
        fn any_two_sequences(a in words(6, 300), b in words(6, 300), most in 0u32..320) {
            // Reused from one pair to another, buffers must hold nothing of the pair before.
            let (mut edits, distance) = (Edits::default(), slow(&a, &b));
            prop_assert_eq!(edits.distance(&a, &b), distance);
            prop_assert_eq!(edits.at_most(&b, &a, most), (distance <= most).then_some(distance));
            prop_assert_eq!(edits.distance(&a[..a.len() / 3], &b), slow(&a[..a.len() / 3], &b));
        }

        #[test]
        fn sequences_and_what_edits_make_of_them(
            a in words(1000, 600),
            changes in prop::collection::vec((0usize..600, any::<u8>(), 0u64..1000), 0..90),
            most in 0u32..90,
        ) {
            let b = changed(&a, &changes);
            let (mut edits, distance) = (Edits::default(), slow(&a, &b));
            prop_assert!(distance as usize <= changes.len());
            prop_assert_eq!(edits.distance(&b, &a), distance);
            prop_assert_eq!(edits.at_most(&a, &b, most), (distance <= most).then_some(distance));
        }
    }
}
