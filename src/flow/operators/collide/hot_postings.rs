//! The postings of hot groups, kept until the last group is formed: then it is known which costs less, to count their pairs all the
//! same or to have their members collide again.
//!
//! To collide again, a member derives its whole set anew, whatever it shows under the hot key. So a few hot groups of long documents
//! are cheaper to count, and many of short ones are not.

use crate::document::Doc;
use crate::flow::memory::document_bits::{is_set, set};
use crate::flow::records::Posting;
use crate::limits::{MAX_EXPANDED_GROUP, sized};

/// Most postings that one of two workers keeps; hot groups beyond them collide again, and all others with them.
pub const MOST_KEPT: usize = sized(256 << 10, 2 << 10);
/// As many pairs are counted in the time in which one shingle of a member is derived, counted and collides again.
const PAIRS_OF_SHINGLE: u64 = 12;

/// Postings of hot groups.
pub struct HotPostings {
    postings: Vec<Posting>,
    /// Those of each group follow those of the one before it.
    groups: Vec<GroupSize>,
    /// Pairs of all groups.
    pairs: u64,
    /// A bit for each member.
    members: Vec<u64>,
    /// Shingles of all members.
    shingles: u64,
    /// Most postings that are kept.
    room: usize,
}

/// How many documents a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSize {
    /// New ones.
    pub new: usize,
    /// Stored or protected ones.
    pub others: usize,
    /// Whether the others are protected: the group is sent with them among the new ones.
    pub is_mixed: bool,
}

impl GroupSize {
    /// All of them.
    pub fn contents(self) -> usize {
        self.new + self.others
    }
}

impl HotPostings {
    /// None yet, with room for so many.
    pub fn with_room(room: usize) -> HotPostings {
        HotPostings {
            postings: Vec::new(),
            groups: Vec::new(),
            pairs: 0,
            members: Vec::new(),
            shingles: 0,
            room,
        }
    }

    /// Keeps a group with so many pairs, if there is room; whether there was.
    pub fn keep(&mut self, size: GroupSize, pairs: usize, postings: &[Posting]) -> bool {
        if self.postings.len() + postings.len() > self.room {
            return false;
        }
        self.postings.extend_from_slice(postings);
        for posting in postings {
            if !is_set(&self.members, posting.doc) {
                set(&mut self.members, posting.doc);
                self.shingles += u64::from(posting.size);
            }
        }
        self.groups.push(size);
        self.pairs += pairs as u64;
        true
    }

    /// Whether it costs less to count than to collide again, where so many workers have about as many hot groups each, of the same
    /// members. Of groups of a thousand new contents each pair might become a candidate.
    pub fn are_counted(&self, workers: usize) -> bool {
        let most = (self.postings.len() * MAX_EXPANDED_GROUP) as u64;
        self.pairs <= most
            && self.pairs.saturating_mul(workers as u64) <= self.shingles.saturating_mul(PAIRS_OF_SHINGLE)
    }

    /// Hands on all groups.
    pub fn each(mut self, mut each: impl FnMut(GroupSize, &mut [Posting])) {
        let mut rest = &mut self.postings[..];
        for size in self.groups {
            let (postings, behind) = rest.split_at_mut(size.contents());
            each(size, postings);
            rest = behind;
        }
    }
}

/// The least and the greatest of sizes.
pub fn ends(sizes: impl Iterator<Item = u32>) -> (u32, u32) {
    let (least, most) = sizes.fold((u32::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
    (least.min(most), most)
}

/// The documents of postings.
pub fn docs(postings: &[Posting]) -> impl Iterator<Item = Doc> + '_ {
    postings.iter().map(|posting| posting.doc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postings(size: u32, docs: std::ops::Range<Doc>) -> Vec<Posting> {
        docs.map(|doc| Posting { key: 1, size, doc }).collect()
    }

    #[test]
    fn few_pairs_of_long_sets_are_counted() {
        let group = GroupSize { new: 3, others: 0, is_mixed: false };
        let pairs_of = |size: u64| (3 * size * PAIRS_OF_SHINGLE) as usize;
        let most = 6 * MAX_EXPANDED_GROUP;
        for (size, pairs, workers, counted) in [
            (50, pairs_of(50), 1, true),
            (50, pairs_of(50) + 1, 1, false),
            (50, pairs_of(50), 2, false),
            (50, pairs_of(25), 2, true),
            (5000, most, 1, true),
            (5000, most + 1, 1, false),
        ] {
            let mut kept = HotPostings::with_room(9);
            // Members count once, in however many groups they are.
            for pairs in [pairs, 0] {
                assert!(kept.keep(group, pairs, &postings(size, 0..3)));
            }
            assert_eq!(kept.are_counted(workers), counted, "{pairs} {workers}");
        }
    }

    #[test]
    fn groups_come_as_they_were_kept_as_far_as_there_is_room() {
        let mut kept = HotPostings::with_room(7);
        let groups =
            [(2, 1), (3, 1), (1, 0)].map(|(new, others)| GroupSize { new, others, is_mixed: others > 1 });
        let of = |group: GroupSize, at: Doc| postings(10 + at, at..at + group.contents() as Doc);
        for (at, group) in (0..).zip(groups) {
            assert_eq!(kept.keep(group, 1, &of(group, at)), at < 2);
        }
        let mut found = Vec::new();
        kept.each(|group, postings| found.push((group, postings.to_vec())));
        let expected: Vec<_> = (0..).zip(groups).take(2).map(|(at, group)| (group, of(group, at))).collect();
        assert_eq!(found, expected);
        assert_eq!(ends([11, 9, 10].into_iter()), (9, 11));
    }
}
