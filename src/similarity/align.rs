//! Which words of two texts stand in both in the same order.
//!
//! As people compare two versions: what is the same at both ends is taken first, then what is rare. A run of words that
//! is in each of two stretches exactly once holds them together; of such runs the longest chain in the order of both
//! texts is kept, each is extended as far as the words go on being the same, and the stretches between are looked at with
//! shorter runs. Short stretches that have none left are aligned at their longest common subsequence.
//!
//! So words of a run that was inserted are seldom torn apart, which a shortest edit script does wherever a common word
//! allows it, and the time does not depend on how much two texts differ: a fixed number of passes, each of n log n.

use std::ops::Range;

use hashbrown::HashMap;

/// Lengths of the runs that each pass looks for, in words. Single words are looked for again between those found.
const PASSES: [usize; 6] = [8, 4, 2, 1, 1, 1];
/// Most cells of a table of common subsequences: two stretches of 256 words.
const CELLS: usize = 1 << 16;
/// Multiplier of the hash of a run: odd, with bits all over.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Words that are the same in two texts, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// Where they begin in the first text.
    pub first: usize,
    /// Where they begin in the second text.
    pub second: usize,
    /// How many they are.
    pub words: usize,
}

/// Stretches of both texts that are not aligned yet.
#[derive(Clone, Debug)]
struct Gap {
    first: Range<usize>,
    second: Range<usize>,
}

/// Where a run of words stands in a gap.
#[derive(Clone, Copy, Debug, Default)]
struct MatchRun {
    gap: usize,
    in_first: u32,
    in_second: u32,
    second: usize,
}

/// Aligns texts, with buffers that are reused from pair to pair. They grow with the length of the texts.
#[derive(Debug, Default)]
pub struct Aligner {
    blocks: Vec<Block>,
    gaps: Vec<Gap>,
    next: Vec<Gap>,
    runs: HashMap<u64, MatchRun>,
    anchors: Vec<(usize, usize)>,
    chain: Chain,
    table: Vec<u16>,
}

impl Aligner {
    /// The words that two token sequences have in the same order: blocks that ascend in both, none empty, none touching
    /// another in both texts.
    pub fn align(&mut self, first: &[u64], second: &[u64]) -> &[Block] {
        self.blocks.clear();
        self.gaps.clear();
        self.gaps.push(Gap { first: 0..first.len(), second: 0..second.len() });
        for run in PASSES {
            self.next.clear();
            self.runs.clear();
            let gaps = std::mem::take(&mut self.gaps);
            for (number, gap) in (1..).zip(&gaps) {
                if let Some(gap) = self.take_ends(first, second, gap) {
                    self.divide(first, second, (number, gap), run);
                }
            }
            self.gaps = std::mem::replace(&mut self.next, gaps);
        }
        let gaps = std::mem::take(&mut self.gaps);
        for gap in &gaps {
            if let Some(gap) = self.take_ends(first, second, gap) {
                self.common_subsequence(first, second, &gap);
            }
        }
        self.gaps = gaps;
        self.join_blocks();
        &self.blocks
    }

    /// Takes what is the same at both ends of a gap as blocks; what is left, unless it is words of one text only.
    fn take_ends(&mut self, first: &[u64], second: &[u64], gap: &Gap) -> Option<Gap> {
        let (a, b) = (&first[gap.first.clone()], &second[gap.second.clone()]);
        let start = same(a.iter(), b.iter());
        let end = same(a[start..].iter().rev(), b[start..].iter().rev());
        self.push(Block { first: gap.first.start, second: gap.second.start, words: start });
        self.push(Block { first: gap.first.end - end, second: gap.second.end - end, words: end });
        let left = Gap {
            first: gap.first.start + start..gap.first.end - end,
            second: gap.second.start + start..gap.second.end - end,
        };
        (!left.first.is_empty() && !left.second.is_empty()).then_some(left)
    }

    fn push(&mut self, block: Block) {
        self.blocks.extend((block.words > 0).then_some(block));
    }

    /// Divides a gap at runs of so many words that are in both its stretches once.
    fn divide(&mut self, first: &[u64], second: &[u64], (number, gap): (usize, Gap), run: usize) {
        self.find_anchors(first, second, (number, &gap), run);
        let mut left = gap;
        for at in self.chain.longest(&self.anchors) {
            let (a, b) = self.anchors[*at];
            if a < left.first.start || b < left.second.start {
                continue;
            }
            let words = same(first[a..left.first.end].iter(), second[b..left.second.end].iter());
            self.blocks.extend((words > 0).then_some(Block { first: a, second: b, words }));
            self.next.push(Gap { first: left.first.start..a, second: left.second.start..b });
            (left.first.start, left.second.start) = (a + words, b + words);
        }
        self.next.push(left);
    }

    /// Finds the runs that are in both stretches once, in the order of the first.
    fn find_anchors(&mut self, first: &[u64], second: &[u64], (number, gap): (usize, &Gap), run: usize) {
        let hashes = |text: &[u64], stretch: &Range<usize>| {
            let words = text[stretch.clone()].windows(run).map(hash).collect::<Vec<_>>();
            stretch.clone().zip(words).collect::<Vec<_>>()
        };
        let of_first = hashes(first, &gap.first);
        for (_, hash) in &of_first {
            let known = self.runs.entry(*hash).or_default();
            if known.gap != number {
                *known = MatchRun { gap: number, ..MatchRun::default() };
            }
            known.in_first += 1;
        }
        for (at, hash) in hashes(second, &gap.second) {
            if let Some(known) = self.runs.get_mut(&hash).filter(|known| known.gap == number) {
                known.in_second += 1;
                known.second = at;
            }
        }
        self.anchors.clear();
        for (at, hash) in of_first {
            let known = &self.runs[&hash];
            let once = known.in_first == 1 && known.in_second == 1;
            self.anchors.extend(once.then_some((at, known.second)));
        }
    }

    /// Aligns a gap at a longest common subsequence, if it is small.
    fn common_subsequence(&mut self, first: &[u64], second: &[u64], gap: &Gap) {
        let (a, b) = (&first[gap.first.clone()], &second[gap.second.clone()]);
        let width = b.len() + 1;
        if (a.len() + 1).saturating_mul(width) > CELLS {
            return;
        }
        self.table.clear();
        self.table.resize((a.len() + 1) * width, 0);
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                let (below, right) = (self.table[(i + 1) * width + j], self.table[i * width + j + 1]);
                let here = if a[i] == b[j] { self.table[(i + 1) * width + j + 1] + 1 } else { 0 };
                self.table[i * width + j] = here.max(below).max(right);
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                self.push(Block { first: gap.first.start + i, second: gap.second.start + j, words: 1 });
                (i, j) = (i + 1, j + 1);
            } else if self.table[(i + 1) * width + j] >= self.table[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }

    /// Sorts the blocks and joins those that touch.
    fn join_blocks(&mut self) {
        self.blocks.sort_unstable();
        self.blocks.dedup_by(|next, block| {
            let touch = block.first + block.words == next.first && block.second + block.words == next.second;
            if touch {
                block.words += next.words;
            }
            touch
        });
    }
}

/// How many values of two sequences are the same before the first that are not.
fn same<'a>(a: impl Iterator<Item = &'a u64>, b: impl Iterator<Item = &'a u64>) -> usize {
    a.zip(b).take_while(|(x, y)| x == y).count()
}

/// A run of words as one number. Two runs of one number cost an anchor, not a wrong block: words are compared.
fn hash(run: &[u64]) -> u64 {
    run.iter().fold(0, |hash: u64, word| (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD))
}

/// Longest ascending chains.
#[derive(Debug, Default)]
struct Chain {
    /// Of all chains of a length the last anchor that stands first in the second text.
    ends: Vec<usize>,
    /// The anchor before each, its own number if there is none.
    before: Vec<usize>,
    chain: Vec<usize>,
}

impl Chain {
    /// The longest chain of anchors that ascends in both texts, by their numbers; they ascend in the first.
    fn longest(&mut self, anchors: &[(usize, usize)]) -> &[usize] {
        self.ends.clear();
        self.before.clear();
        for (number, (_, second)) in anchors.iter().enumerate() {
            let length = self.ends.partition_point(|end| anchors[*end].1 < *second);
            self.before.push(length.checked_sub(1).map_or(number, |shorter| self.ends[shorter]));
            match self.ends.get_mut(length) {
                Some(end) => *end = number,
                None => self.ends.push(number),
            }
        }
        self.chain.clear();
        let mut next = self.ends.last().copied();
        while let Some(number) = next {
            self.chain.push(number);
            next = (self.before[number] != number).then_some(self.before[number]);
        }
        self.chain.reverse();
        &self.chain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn aligned(a: &[u64], b: &[u64]) -> Vec<(usize, usize, usize)> {
        let mut aligner = Aligner::default();
        aligner.align(a, b).iter().map(|block| (block.first, block.second, block.words)).collect()
    }

    /// The length of a longest common subsequence.
    fn common(a: &[u64], b: &[u64]) -> usize {
        let mut above = vec![0; b.len() + 1];
        for x in a {
            let mut row = vec![0];
            for (j, y) in b.iter().enumerate() {
                row.push(if x == y { above[j] + 1 } else { above[j + 1].max(row[j]) });
            }
            above = row;
        }
        above[b.len()]
    }

    #[test]
    fn what_was_inserted_stays_in_one_piece() {
        let a: Vec<u64> = (0..100).map(|word| word % 30).collect();
        let inserted: Vec<u64> = (20..60).map(|word| word % 30).collect();
        let b = [&a[..40], &inserted, &a[40..]].concat();
        assert_eq!(aligned(&a, &b).iter().map(|block| block.2).sum::<usize>(), 100);
        assert!(aligned(&a, &b).len() <= 3, "{:?}", aligned(&a, &b));
    }

    #[test]
    fn of_stretches_that_changed_places_one_is_aligned() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..60).collect(), (20..60).chain(0..20).collect());
        assert_eq!(aligned(&a, &b), [(20, 0, 40)]);
        assert_eq!(aligned(&[], &b), []);
        assert_eq!(aligned(&a, &a), [(0, 0, 60)]);
    }

    proptest! {
        #[test]
        fn blocks_ascend_and_hold_equal_words(
            a in prop::collection::vec(0u64..40, 0..500),
            b in prop::collection::vec(0u64..40, 0..500),
            shared in 0usize..400,
        ) {
            let b = [&b[..b.len() / 2], &a[..shared.min(a.len())], &b[b.len() / 2..]].concat();
            let mut aligner = Aligner::default();
            let blocks = aligner.align(&a, &b).to_vec();
            let mut ends = (0, 0);
            for (at, Block { first, second, words }) in blocks.iter().copied().enumerate() {
                prop_assert!(words > 0 && first >= ends.0 && second >= ends.1);
                prop_assert!(at == 0 || (first, second) != ends);
                prop_assert_eq!(&a[first..first + words], &b[second..second + words]);
                ends = (first + words, second + words);
            }
            let words: usize = blocks.iter().map(|block| block.words).sum();
            prop_assert!(words <= common(&a, &b));
            prop_assert_eq!(aligner.align(&a, &b), &blocks);
        }

        #[test]
        fn short_stretches_are_aligned_in_full(
            a in prop::collection::vec(0u64..5, 0..100),
            b in prop::collection::vec(0u64..5, 0..100),
        ) {
            let mut aligner = Aligner::default();
            aligner.common_subsequence(&a, &b, &Gap { first: 0..a.len(), second: 0..b.len() });
            prop_assert_eq!(aligner.blocks.len(), common(&a, &b));
            prop_assert!(aligner.blocks.iter().all(|block| a[block.first] == b[block.second]));
        }
    }
}
