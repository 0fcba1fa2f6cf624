//! Which documents candidates connect, and the round that each is measured in.

use std::sync::{Mutex, OnceLock};

use crate::components::Forest;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::catalogue::Catalogue;
use crate::flow::memory::document_bits::{DocumentBits, Ranks};
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::status::lock;

/// What the workers of a process find out together about the documents of candidates.
pub struct Connected {
    docs: DocumentBits,
    ranks: OnceLock<Ranks>,
    forest: Mutex<Forest>,
    rounds: OnceLock<MeasuringRounds>,
    parts: OnceLock<MeasuringRounds>,
}

/// Rounds of measuring, one after the other, or parts that workers measure side by side.
pub struct MeasuringRounds {
    /// The round of each document of a candidate, by rank.
    of: Vec<u8>,
    /// How many rounds there are.
    pub many: usize,
    /// Bytes of sets of the largest one, and of all.
    largest: u64,
    all: u64,
}

impl MeasuringRounds {
    /// Whether one worker does not have to measure much more than its share.
    pub fn are_even(&self, workers: u64) -> bool {
        self.largest.saturating_mul(2 * workers) <= self.all.saturating_mul(3)
    }
}

impl Connected {
    /// No documents yet, of those below a number.
    pub fn new(limit: usize) -> Connected {
        Connected {
            docs: DocumentBits::new(limit),
            ranks: OnceLock::new(),
            forest: Mutex::default(),
            rounds: OnceLock::new(),
            parts: OnceLock::new(),
        }
    }

    /// Adds the documents of a worker's candidates.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn take_in(&self, candidates: &Pile<Candidate>) -> Result<()> {
        candidates.each_slice(|some| {
            let docs = some.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs()));
            docs.for_each(|doc| self.docs.insert(doc));
            Ok(())
        })
    }

    fn ranks(&self) -> &Ranks {
        self.ranks.get_or_init(|| Ranks::new(self.docs.words()))
    }

    /// How many documents candidates have.
    pub fn len(&self) -> usize {
        self.ranks().len()
    }

    /// Bytes of the sets of all documents of candidates.
    pub fn bytes(&self, catalogue: &Catalogue) -> u64 {
        self.docs.docs().map(|doc| bytes_of(catalogue, doc)).sum()
    }

    /// Joins what a worker's candidates connect.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn join(&self, candidates: &Pile<Candidate>) -> Result<()> {
        let ranks = self.ranks();
        let mut forest = lock(&self.forest);
        if forest.is_empty() {
            *forest = Forest::new(ranks.len());
        }
        candidates.each_slice(|some| {
            for candidate in some {
                let (a, b) = candidate.pair.docs();
                forest.union(ranks.of(a) as u32, ranks.of(b) as u32);
            }
            Ok(())
        })
    }

    /// The rounds, each of about so many bytes of sets. By then all candidates are joined; all workers get the same.
    pub fn rounds(&self, catalogue: &Catalogue, bytes: u64) -> &MeasuringRounds {
        self.rounds.get_or_init(|| self.divided(catalogue, bytes))
    }

    /// Parts of about so many bytes of sets, or the least more that leaves no more than `most` parts; otherwise like rounds.
    pub fn parts(&self, catalogue: &Catalogue, bytes: u64, most: u64) -> &MeasuringRounds {
        self.parts.get_or_init(|| self.divided(catalogue, bytes.max(self.bytes(catalogue) / most)))
    }

    fn divided(&self, catalogue: &Catalogue, bytes: u64) -> MeasuringRounds {
        let mut forest = lock(&self.forest);
        let roots: Vec<u32> = (0..self.ranks().len() as u32).map(|rank| forest.find(rank)).collect();
        let sizes: Vec<u64> = self.ranks().docs().map(|doc| bytes_of(catalogue, doc)).collect();
        divide(&roots, &sizes, bytes)
    }

    /// The round that a candidate is measured in.
    pub fn round(&self, rounds: &MeasuringRounds, candidate: &Candidate) -> usize {
        rounds.of[self.ranks().of(candidate.pair.docs().0)].into()
    }
}

/// Bytes of the set of a document, and of what is known of it while it is measured.
fn bytes_of(catalogue: &Catalogue, doc: Doc) -> u64 {
    u64::from(catalogue.size(doc)) * 8 + KNOWN
}

/// What a document takes beside its set: its numbers, and where its partners begin and end.
const KNOWN: u64 = 32;

/// The round of each node of a forest of which these are the roots, each the least of its tree: whole trees, in the order of their
/// roots, about so many bytes of sizes a round.
fn divide(roots: &[u32], sizes: &[u64], bytes: u64) -> MeasuringRounds {
    let mut of_tree = vec![0; roots.len()];
    for (root, size) in roots.iter().zip(sizes) {
        of_tree[*root as usize] += size;
    }
    let (mut held, mut round, mut largest) = (0, 0u8, 0);
    let mut of = vec![0; roots.len()];
    for (node, root) in roots.iter().enumerate() {
        let root = *root as usize;
        if root < node {
            of[node] = of[root];
        } else {
            if held >= bytes && round < u8::MAX {
                (held, round) = (0, round + 1);
            }
            held += of_tree[node];
            largest = held.max(largest);
            of[node] = round;
        }
    }
    MeasuringRounds { of, many: usize::from(round) + 1, largest, all: sizes.iter().sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tree_is_in_one_round_and_a_round_has_little_too_much(links in prop::collection::vec((0u32..40, 0u32..40), 0..60),
                                                                  sizes in prop::collection::vec(0u64..100, 40),
                                                                  bytes in 1u64..2000) {
            let mut forest = Forest::new(40);
            for (a, b) in &links {
                forest.union(*a, *b);
            }
            let roots: Vec<u32> = (0..40).map(|node| forest.find(node)).collect();
            let MeasuringRounds { of: rounds, many, largest, all } = divide(&roots, &sizes, bytes);
            let of_round = |round: usize| (0..40).filter(|node| usize::from(rounds[*node]) == round).map(|node| sizes[node]).sum::<u64>();
            prop_assert_eq!((0..many).map(of_round).max(), Some(largest));
            prop_assert_eq!((0..many).map(of_round).sum::<u64>(), all);
            prop_assert!(links.iter().all(|(a, b)| rounds[*a as usize] == rounds[*b as usize]));
            prop_assert_eq!(many, usize::from(rounds.iter().max().copied().unwrap_or_default()) + 1);
            for round in 1..many {
                // Without its last tree no round is full.
                let trees = (0..40).filter(|node| roots[*node] as usize == *node && usize::from(rounds[*node]) == round);
                let of_tree = |root: usize| (0..40).filter(|node| roots[*node] as usize == root).map(|node| sizes[node]).sum::<u64>();
                let mut trees: Vec<u64> = trees.map(of_tree).collect();
                prop_assert!(trees.pop().is_some());
                prop_assert!(trees.iter().sum::<u64>() < bytes);
            }
        }
    }
}
