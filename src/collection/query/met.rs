//! Which stored contents share keys with sets, and how many, counted in bounded room.
//!
//! What is met is counted while it is read, by set and content: a key may stand in most contents, and many keys in the same ones, so
//! neither postings nor what they make meet are ever held. Where even the counts outgrow their room, those of the later sets, or of the
//! greater contents of one set, are given up. Another pass counts them.

use std::cell::Cell;
use std::ops::Range;

use hashbrown::HashMap;

use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::postings::{PostingForm, each_posting};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Posting;
use crate::limits::sized;
use crate::progress::Progress;
use crate::similarity::AcceptanceRule;
use crate::sketch::{both_keys, indexes, spread};
use crate::sketcher::Sketcher;

/// A set that is asked about, and what makes its keys differ from those of contents that it is not to be compared with.
#[derive(Clone, Copy, Debug)]
pub struct AskedSet<'a> {
    /// The words of its sketch.
    pub words: &'a [u64],
    /// 0 where all documents are compared.
    pub salt: u64,
}

/// A stored content that shares enough keys with a set: the content, the number of the set, the size of the content's set.
pub type Met = (Doc, u32, u32);

/// How much is held at a time.
#[derive(Clone, Copy, Debug)]
pub struct MeetingRoom {
    /// Pairs of a set and a content that are counted.
    pub pairs: usize,
    /// Keys that are sought, 64 bytes each.
    pub keys: usize,
}

/// Pairs in 9 MiB: as many as a table of 2^19 places takes before it grows. And keys in 8 MiB.
pub const MEETING_ROOM: MeetingRoom =
    sized(MeetingRoom { pairs: (1 << 19) / 8 * 7, keys: 1 << 17 }, MeetingRoom { pairs: 4, keys: 3 });

/// The pairs that are counted in one go: those from a place on, of a few sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    from: u64,
    /// As many sets as are hoped to have room.
    sets: usize,
}

impl Pass {
    /// All pairs of all sets, if there is room.
    pub const FIRST: Pass = Pass { from: 0, sets: usize::MAX };

    /// The first set of it. Those before have been looked at.
    pub fn first(self) -> usize {
        (self.from >> u32::BITS) as usize
    }

    /// The sets of it, of so many.
    fn numbers(self, all: usize) -> Range<usize> {
        self.first()..all.min(self.first().saturating_add(self.sets))
    }

    /// What comes behind a pass of so many sets that came up to a place; nothing if that is all.
    fn next(self, from: u64, all: usize) -> Option<Pass> {
        let numbers = self.numbers(all);
        let ended = from == place(numbers.end as u32, 0);
        // Sets behind those that had room would be sought in vain again.
        let done = (from >> u32::BITS) as usize - numbers.start;
        let sets = if ended { self.sets.saturating_mul(2) } else { done.max(1) };
        (!ended || numbers.end < all).then_some(Pass { from, sets })
    }
}

/// Where a pair stands among all of them: by the number of the set, then by content.
fn place(number: u32, content: Doc) -> u64 {
    u64::from(number) << u32::BITS | u64::from(content)
}

/// Counts of the keys that sets and contents share.
#[derive(Debug)]
struct MetCounts {
    /// The pairs that are counted.
    places: Range<u64>,
    /// Of each of them that shares a key, the size of the content's set and the keys.
    met: HashMap<u64, (u32, u32)>,
    most: usize,
}

impl MetCounts {
    /// None so far. There may be `most` of them, two at least.
    fn new(places: Range<u64>, most: usize) -> MetCounts {
        MetCounts { places, met: HashMap::new(), most }
    }

    /// Counts a key that a content shares with a set.
    fn add(&mut self, number: u32, posting: &Posting) {
        let place = place(number, posting.doc);
        if self.places.contains(&place) {
            self.met.entry(place).or_insert((posting.size, 0)).1 += 1;
            if self.met.len() == self.most {
                self.keep_half();
            }
        }
    }

    /// Gives up the later half of all pairs.
    fn keep_half(&mut self) {
        // Taken out and put back: places that were given up one by one would not be free.
        let mut met: Vec<(u64, (u32, u32))> = self.met.drain().collect();
        let (half, (middle, _), _) = met.select_nth_unstable_by_key(self.most / 2, |(place, _)| *place);
        self.places.end = *middle;
        self.met.extend(half.iter().copied());
    }
}

/// A key under which stored contents are sought, whether the own set is indexed by it, and the number of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sought {
    key: u64,
    number: u32,
    indexing: bool,
}

/// The keys under which contents are sought that have a posted key of a set; `indexed` if it tells whether it indexes the set.
/// Contents that are no larger have to be indexed by it themselves.
fn sought(posted: u64, number: u32, indexed: bool) -> impl Iterator<Item = Sought> {
    let [all, first] = both_keys(posted);
    let indexing = indexed && indexes(posted);
    let own = if indexed { first } else { posted };
    let others = indexing.then_some(all);
    std::iter::once(own).chain(others).map(move |key| Sought { key, number, indexing })
}

/// What sets are held against.
pub struct Meeting<'a> {
    /// The stored contents.
    pub tables: &'a Tables,
    /// The form of their postings.
    pub form: PostingForm,
    /// Those that are dead.
    pub dead: &'a Dead,
    /// Those that are asked for.
    pub wanted: &'a dyn Fn(Doc) -> bool,
    /// Whether the keys that are shared are enough.
    pub rule: AcceptanceRule,
    /// What may be held.
    pub room: MeetingRoom,
    /// Where the postings are counted that are read.
    pub read: &'a Cell<u64>,
    /// Whether to go on.
    pub progress: &'a Progress,
}

impl Meeting<'_> {
    /// Those live, wanted contents, ascending, that share enough keys with sets, as far as a pass comes, and the pass that counts more.
    /// Where keys tell whether they index a set, the smaller of both is indexed by these. What is posted in two runs counts twice:
    /// it is measured whether that is enough.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`] and [`crate::error::Error::Interrupted`].
    pub fn pass(
        &self,
        sketcher: &mut Sketcher,
        sets: &[AskedSet<'_>],
        pass: Pass,
    ) -> Result<(Vec<Met>, Option<Pass>)> {
        let numbers = pass.numbers(sets.len());
        let mut counts = MetCounts::new(pass.from..place(numbers.end as u32, 0), self.room.pairs);
        let (mut keys, mut own, mut sizes) = (Vec::new(), Vec::new(), vec![0; numbers.start]);
        for (number, set) in (0..).zip(sets).take(numbers.end).skip(numbers.start) {
            // What does not come before has been given up.
            if place(number, 0) >= counts.places.end {
                break;
            }
            let (of_set, size) = sketcher.keys_of(set.words);
            sizes.push(size);
            own.clear();
            own.extend(of_set.iter().map(|key| spread(*key) ^ set.salt));
            own.sort_unstable();
            own.dedup();
            for posted in &own {
                keys.extend(sought(*posted, number, self.is_indexed()));
                if keys.len() >= self.room.keys {
                    self.count(&mut keys, &sizes, &mut counts)?;
                }
            }
        }
        self.count(&mut keys, &sizes, &mut counts)?;
        let next = pass.next(counts.places.end, sets.len());
        self.enough(counts, &sizes).map(|met| (met, next))
    }

    /// Whether keys tell whether they index a set.
    fn is_indexed(&self) -> bool {
        self.rule.all_of_larger().is_some()
    }

    /// Counts what is posted under keys of sets of these sizes, and forgets the keys.
    fn count(&self, keys: &mut Vec<Sought>, sizes: &[u32], counts: &mut MetCounts) -> Result<()> {
        self.progress.check()?;
        keys.sort_unstable();
        let owners: Vec<&[Sought]> = keys.chunk_by(|a, b| a.key == b.key).collect();
        let distinct: Vec<u64> = owners.iter().map(|owners| owners[0].key).collect();
        each_posting(self.tables, self.form, &distinct, &mut |at, posting| {
            self.read.set(self.read.get() + 1);
            if self.dead.is_known(posting.doc) || !(self.wanted)(posting.doc) {
                return;
            }
            for sought in owners[at] {
                if self.may_meet(sought, sizes[sought.number as usize], posting) {
                    counts.add(sought.number, posting);
                }
            }
        })?;
        keys.clear();
        Ok(())
    }

    /// Whether a posting counts for a set of a size that is sought under its key.
    fn may_meet(&self, sought: &Sought, size: u32, posting: &Posting) -> bool {
        let indexes = if posting.size <= size { indexes(posting.key) } else { sought.indexing };
        (indexes || !self.is_indexed()) && self.rule.own().allows(size, posting.size)
    }

    /// Those of counted pairs whose keys are enough, ascending.
    fn enough(&self, counts: MetCounts, sizes: &[u32]) -> Result<Vec<Met>> {
        let enough = |(place, (size, shared)): (u64, (u32, u32))| {
            let (number, content) = ((place >> u32::BITS) as u32, place as Doc);
            let is_enough = self.rule.is_enough(shared, sizes[number as usize], size);
            is_enough.then_some((content, number, size))
        };
        let mut met: Vec<Met> = counts.met.into_iter().filter_map(enough).collect();
        self.dead.drop_from(self.tables, &mut met, |(content, ..)| *content)?;
        met.sort_unstable();
        Ok(met)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn posting(doc: Doc, size: u32) -> Posting {
        Posting { key: 0, size, doc }
    }

    /// However many pairs there are, counts take the room that they have.
    #[test]
    fn counts_never_outgrow_their_room() {
        let most = MEETING_ROOM.pairs;
        let mut counts = MetCounts::new(0..u64::MAX, most);
        for at in 0..4 * most as u32 {
            // In no order, and of two sets.
            counts.add(at & 1, &posting(at.wrapping_mul(0x9e37_79b9), 1));
            assert!(counts.met.len() < most);
        }
        assert!(counts.met.capacity() <= most.max(7), "{} of {most}", counts.met.capacity());
        assert!(counts.met.len() >= most / 2 && counts.met.keys().all(|place| counts.places.contains(place)));
    }

    proptest! {
        /// Passes count each pair once, all keys of it, and none is without one.
        #[test]
        fn passes_count_all_pairs(
            shared in prop::collection::vec((0..5u32, prop_oneof![0..9u32, Just(u32::MAX - 1)]), 0..200),
            all in 5..7usize, most in 2..30usize,
        ) {
            let mut expected: BTreeMap<u64, u32> = BTreeMap::new();
            for (number, content) in &shared {
                *expected.entry(place(*number, *content)).or_default() += 1;
            }
            let (mut found, mut passes, mut pass) = (BTreeMap::new(), 0, Some(Pass::FIRST));
            while let Some(next) = pass {
                let numbers = next.numbers(all);
                prop_assert!(!numbers.is_empty());
                let mut counts = MetCounts::new(next.from..place(numbers.end as u32, 0), most);
                for (number, content) in &shared {
                    counts.add(*number, &posting(*content, 1));
                }
                passes += 1;
                for (place, (_, keys)) in counts.met {
                    prop_assert!(found.insert(place, keys).is_none());
                }
                pass = next.next(counts.places.end, all);
            }
            prop_assert!(passes <= 2 * all + 1 + expected.len() / (most / 2), "{passes} passes");
            prop_assert_eq!(found, expected);
        }
    }
}
