//! Of each content the candidates before it in keep order, where there may be more of them than memory has room for: those of some
//! contents at a time, in the order in which clusters with a guarantee are formed.

use crate::document::Doc;
use crate::error::Result;
use crate::flow::memory::budget::Share;
use crate::flow::memory::lots::Lots;
use crate::flow::memory::spill::Piles;
use crate::flow::memory::store::RunMemory;
use crate::flow::records::Candidate;

/// Bytes that a candidate takes in a stretch: the ranks of both as they lie on disk, and the earlier one in its list.
const CANDIDATE: u64 = (size_of::<[u32; 2]>() + size_of::<u32>()) as u64;

/// Candidates of which each content asks for those before it. Contents are told by their ranks in keep order.
pub struct EarlierCandidates {
    /// How many each content has before it, by rank.
    counts: Vec<u32>,
    /// The last one behind each content; 0 where there is none.
    last: Vec<u32>,
    /// The rank that each stretch ends before.
    ends: Vec<u32>,
    /// By stretch, the later rank before the earlier one.
    ranks: Lots<[u32; 2]>,
}

impl EarlierCandidates {
    /// Candidates of documents of so many contents, of which `rank` says which each is.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn new(
        candidates: &Piles<Candidate>,
        contents: usize,
        rank: impl Fn(Doc) -> u32,
        memory: &RunMemory,
    ) -> Result<EarlierCandidates> {
        let ranks = |candidate: &Candidate| {
            let (a, b) = candidate.pair.docs();
            let (a, b) = (rank(a), rank(b));
            [a.max(b), a.min(b)]
        };
        let (mut counts, mut last) = (vec![0; contents], vec![0; contents]);
        candidates.each_slice(|some| {
            for [later, earlier] in some.iter().map(ranks) {
                counts[later as usize] += 1;
                last[earlier as usize] = later.max(last[earlier as usize]);
            }
            Ok(())
        })?;
        let ends = stretch_ends(&counts, memory.budget.whole(Share::Candidates) / CANDIDATE);
        // What other processes send of sets is held before, if at all.
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let sizes = starts.zip(&ends).map(|(start, end)| {
            counts[start as usize..*end as usize].iter().map(|count: &u32| *count as usize).sum()
        });
        let mut lots = Lots::new(sizes, memory.budget.whole(Share::Fetched), &memory.scratch);
        candidates.each_slice(|some| {
            some.iter().map(ranks).try_for_each(|ranks| lots.give(stretch_of(&ends, ranks[0]), &[ranks]))
        })?;
        Ok(EarlierCandidates { counts, last, ends, ranks: lots })
    }

    /// Whether a content has any candidate.
    pub fn has_any(&self, rank: u32) -> bool {
        self.counts[rank as usize] > 0 || self.last[rank as usize] > 0
    }

    /// Whether a content has a candidate that does not come before `from` in keep order.
    pub fn has_later(&self, rank: u32, from: usize) -> bool {
        let last = self.last[rank as usize];
        last > 0 && last as usize >= from
    }

    /// The candidates of contents from the one of that rank on, which there is.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file.
    pub fn stretch(&self, start: usize) -> Result<CandidateStretch> {
        let stretch = stretch_of(&self.ends, start as u32);
        // A stretch is brought whole.
        let start = stretch.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut starts = vec![0];
        for count in &self.counts[start as usize..self.ends[stretch] as usize] {
            starts.push(starts[starts.len() - 1] + *count as usize);
        }
        let (mut next, mut earlier) = (starts.clone(), vec![0; starts[starts.len() - 1]]);
        self.ranks.each_slice(stretch, |some| {
            for [of, before] in some {
                let at = &mut next[(of - start) as usize];
                earlier[*at] = *before;
                *at += 1;
            }
            Ok(())
        })?;
        starts.windows(2).for_each(|list| earlier[list[0]..list[1]].sort_unstable());
        Ok(CandidateStretch { start, starts, earlier })
    }
}

/// The rank that each stretch ends before, if one has at most so many candidates, or is of one content.
fn stretch_ends(counts: &[u32], most: u64) -> Vec<u32> {
    let (mut ends, mut held) = (Vec::new(), 0u64);
    for (rank, count) in (0..).zip(counts) {
        if held > 0 && held + u64::from(*count) > most {
            ends.push(rank);
            held = 0;
        }
        held += u64::from(*count);
    }
    ends.push(counts.len() as u32);
    ends
}

/// The stretch of a rank.
fn stretch_of(ends: &[u32], rank: u32) -> usize {
    ends.partition_point(|end| *end <= rank)
}

/// Of some contents, one behind the other in keep order, the candidates before each.
#[derive(Default)]
pub struct CandidateStretch {
    start: u32,
    starts: Vec<usize>,
    earlier: Vec<u32>,
}

impl CandidateStretch {
    /// The rank that it ends before.
    pub fn end(&self) -> usize {
        self.start as usize + self.starts.len().saturating_sub(1)
    }

    /// The ranks, ascending, of the candidates before a content of the stretch.
    pub fn of(&self, rank: u32) -> &[u32] {
        let at = (rank - self.start) as usize;
        &self.earlier[self.starts[at]..self.starts[at + 1]]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::flow::memory::budget::Budget;
    use crate::flow::records::Pair;
    use crate::limits::{BASE_MEMORY, WORKER_MEMORY};

    proptest! {
        #[test]
        fn each_content_has_the_candidates_before_it(pairs in prop::collection::btree_set((0u32..40, 0u32..40), 0..200),
                                                     turn in 0u32..40, bytes in 0u64..20_000) {
            let folder = tempfile::tempdir().expect("a folder");
            let budget = Budget::new(Some(BASE_MEMORY + WORKER_MEMORY + bytes), 1);
            let memory = RunMemory { budget, scratch: folder.path().to_path_buf() };
            let pairs: BTreeSet<Pair> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| Pair::new(a, b)).collect();
            let mut pile = memory.pile(Share::Candidates);
            for pair in &pairs {
                pile.extend(&[Candidate { pair: *pair, shared: 1 }]).expect("put on");
            }
            let rank = |doc: Doc| (doc + turn) % 40;
            let mut want: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            let mut has_any = BTreeSet::new();
            for pair in &pairs {
                let (a, b) = pair.docs();
                let (a, b) = (rank(a), rank(b));
                want.entry(a.max(b)).or_default().insert(a.min(b));
                has_any.extend([a, b]);
            }
            let found = EarlierCandidates::new(&pile.into(), 40, rank, &memory).expect("dealt");
            let mut stretch = CandidateStretch::default();
            for rank in 0..40 {
                if stretch.end() <= rank as usize {
                    stretch = found.stretch(rank as usize).expect("read");
                    prop_assert!(stretch.end() > rank as usize);
                    let most = budget.whole(Share::Candidates) / CANDIDATE;
                    prop_assert!(stretch.earlier.len() as u64 <= most || found.counts[rank as usize..stretch.end()].iter().filter(|count| **count > 0).count() == 1);
                }
                let of_rank = want.get(&rank).cloned().unwrap_or_default();
                prop_assert_eq!(stretch.of(rank), of_rank.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(found.has_any(rank), has_any.contains(&rank));
                for from in rank as usize + 1..41 {
                    let later = want.iter().any(|(later, of)| of.contains(&rank) && *later as usize >= from);
                    prop_assert_eq!(found.has_later(rank, from), later);
                }
            }
        }
    }
}
