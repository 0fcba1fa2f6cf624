//! Which ids have which text, so that documents that a load brings again unchanged are known by one look.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, OnceLock};

/// What is known of the documents that some runs have, by the first bits of ids.
#[derive(Debug, Default)]
pub struct UnchangedIds {
    /// The files of the runs.
    pub(super) runs: Vec<PathBuf>,
    parts: [IdCache; ID_CACHES],
}

impl UnchangedIds {
    /// Nothing yet, of the documents of some runs.
    pub(super) fn of(runs: Vec<PathBuf>) -> UnchangedIds {
        UnchangedIds { runs, ..UnchangedIds::default() }
    }

    /// The part that an id is in.
    pub(super) fn part(&self, id: u64) -> &IdCache {
        &self.parts[(id >> (u64::BITS - ID_CACHES.ilog2())) as usize]
    }
}

/// One in so many documents looked up one by one costs as much as reading all of them.
pub(super) const PAYS: u64 = 64;

/// Bytes of a document that is ids, and its part of where these begin.
pub(super) const BYTES: u64 = 17;

/// Parts that documents are ids in, a power of two: workers read different ones at a time.
pub(super) const ID_CACHES: usize = 16;

/// What is known of some stored documents.
#[derive(Debug, Default)]
pub(super) struct IdCache {
    /// How often one of them was asked for.
    pub(super) asked: AtomicU64,
    /// Made once that pays, by one worker.
    pub(super) documents: OnceLock<KnownIds>,
    /// Held by who makes it.
    pub(super) filling: Mutex<()>,
}

/// First halves of the digests of ids and of fingerprints, of one part.
#[derive(Debug, Default)]
pub(super) struct KnownIds {
    /// Ascending.
    pairs: Vec<(u64, u64)>,
    /// Where those begin of which the first bits behind those of the part are the same, four to eight of them: halving all would wait
    /// for memory at each step.
    starts: Vec<u32>,
    /// How many bits these are.
    bits: u32,
}

impl KnownIds {
    /// Those of some documents of a part, ascending.
    pub(super) fn new(pairs: Vec<(u64, u64)>) -> KnownIds {
        let mut known = KnownIds { bits: (pairs.len() / 4).max(1).ilog2(), starts: Vec::new(), pairs };
        let mut at = 0;
        for bucket in 0..1 << known.bits {
            known.starts.push(at as u32);
            at += known.pairs[at..].iter().take_while(|pair| known.bucket(pair.0) == bucket).count();
        }
        known.starts.push(at as u32);
        known
    }

    /// The bits of an id behind those of its part.
    fn bucket(&self, id: u64) -> usize {
        (id << ID_CACHES.ilog2()).checked_shr(u64::BITS - self.bits).unwrap_or(0) as usize
    }

    /// Whether a pair is among them.
    pub(super) fn have(&self, pair: (u64, u64)) -> bool {
        let bucket = self.bucket(pair.0);
        self.pairs[self.starts[bucket] as usize..self.starts[bucket + 1] as usize].contains(&pair)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The obvious twin halves all of them. Words may stand anywhere in their range, however evenly they should.
        #[test]
        fn pairs_are_found_where_they_are(
            pairs in prop::collection::btree_set((prop_oneof![
                prop::sample::select(vec![0, 1, 1 << 59, 1 << 60, u64::MAX - 1, u64::MAX]), any::<u64>()], 0u64..3), 0..300),
            others in prop::collection::vec((any::<u64>(), 0u64..3), 0..20),
        ) {
            let of_part = |(id, print): (u64, u64)| (7 << 60 | id >> 4, print);
            let all: BTreeSet<(u64, u64)> = pairs.into_iter().map(of_part).collect();
            let all: Vec<(u64, u64)> = all.into_iter().collect();
            let known = KnownIds::new(all.clone());
            let others: Vec<_> = others.into_iter().map(of_part).collect();
            for pair in all.iter().chain(&others) {
                prop_assert_eq!(known.have(*pair), all.binary_search(pair).is_ok());
            }
        }
    }
}
