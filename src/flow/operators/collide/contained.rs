//! Groups of a load that joins by containment: new contents meet stored ones under keys that index the smaller of the two.
//!
//! A posted key tells whether it indexes its set, and both keys of a member are neighbours ([`crate::sketch::indexing_key`]). A
//! new content meets the stored ones that are no larger and indexed by the member, and, if the member indexes it, all larger ones
//! that have it. New contents meet each other later, in the second collision.

use crate::flow::memory::document_bits::set;
use crate::flow::operators::collide::addressed::AddressedGroups;
use crate::flow::records::Posting;
use crate::flow::results::gathered::Collided;
use crate::limits::{MAX_EXPANDED_GROUP, MAX_PAIRS_OF_MEMBER};
use crate::sketch::{both_keys, indexes};

/// How postings of new contents and of stored ones become groups.
pub struct ContainedGrouping {
    /// Members of groups with more pairs collide again: so many in all, and so many for each member.
    most_pairs: (u64, u64),
    /// What goes out.
    pub addressed: AddressedGroups,
}

/// The postings of the stored contents of a member, each in the order of sizes.
#[derive(Clone, Copy)]
struct StoredOfMember<'a> {
    /// Those that it does not index.
    others: &'a [Posting],
    indexed: &'a [Posting],
}

impl StoredOfMember<'_> {
    /// What a new content meets: those that are no larger and indexed, and of either kind those that are larger.
    fn met(&self, new: &Posting) -> [&[Posting]; 3] {
        let larger = |some: &[Posting]| some.partition_point(|other| other.size <= new.size);
        let (small, rest) = self.indexed.split_at(larger(self.indexed));
        match indexes(new.key) {
            true => [small, rest, &self.others[larger(self.others)..]],
            false => [small, &[], &[]],
        }
    }
}

impl ContainedGrouping {
    /// Groups whose keys go to the workers that `addressed` knows.
    pub fn new(addressed: AddressedGroups) -> ContainedGrouping {
        let most = MAX_EXPANDED_GROUP as u64;
        ContainedGrouping { most_pairs: (most * most / 2, MAX_PAIRS_OF_MEMBER as u64), addressed }
    }

    /// The keys, ascending, under which stored contents may meet the new ones with these sorted postings.
    pub fn keys(postings: &[Posting]) -> Vec<u64> {
        let mut keys = Vec::new();
        for of_member in of_members(postings) {
            let [all, first] = both_keys(of_member[0].key);
            // Sorted, those that index come last.
            if of_member.last().is_some_and(|posting| indexes(posting.key)) {
                keys.push(all);
            }
            keys.push(first);
        }
        keys
    }

    /// Forms the groups of one bucket of sorted postings of new contents, and of the `stored` ones under [`ContainedGrouping::keys`],
    /// sorted, too; what goes to whom is then in `addressed`. Of a group with too many pairs all members collide again.
    pub fn form(&mut self, postings: &[Posting], mut stored: &[Posting], collided: &mut Collided) {
        for new in of_members(postings) {
            let [all, first] = both_keys(new[0].key);
            let (of_member, rest) = stored.split_at(stored.partition_point(|posting| posting.key <= first));
            stored = rest;
            let (others, indexed) =
                of_member.split_at(of_member.partition_point(|posting| posting.key <= all));
            let of_member = StoredOfMember { others, indexed };
            if self.is_hot(new, of_member) {
                let members = others.iter().chain(indexed).chain(new);
                members.for_each(|posting| set(&mut collided.hot_members, posting.doc));
                continue;
            }
            for posting in new {
                self.addressed.send_alone(posting, of_member.met(posting).into_iter().flatten());
            }
        }
    }

    /// Whether more pairs meet in a group than are expanded.
    fn is_hot(&self, new: &[Posting], stored: StoredOfMember<'_>) -> bool {
        let [new_members, stored_members] = [new.len(), stored.others.len() + stored.indexed.len()];
        let most =
            self.most_pairs.0.max(self.most_pairs.1.saturating_mul((new_members + stored_members) as u64));
        if (new_members as u64).saturating_mul(stored_members as u64) <= most {
            return false;
        }
        let met = |posting: &Posting| stored.met(posting).into_iter().map(<[Posting]>::len).sum::<usize>();
        new.iter().map(|posting| met(posting) as u64).sum::<u64>() > most
    }
}

/// Sorted postings by the members that they are of, whether they index or not.
fn of_members(postings: &[Posting]) -> impl Iterator<Item = &[Posting]> {
    postings.chunk_by(|a, b| both_keys(a.key) == both_keys(b.key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Doc;
    use crate::flow::distributed::topology::Topology;
    use crate::flow::memory::document_bits::is_set;
    use crate::flow::records::Pair;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn meets_exactly_the_pairs_of_which_the_smaller_is_indexed(
            all in prop::collection::btree_map((0u64..12, 0u32..30), any::<bool>(), 0..150), workers in 1usize..4,
            base in prop::sample::select(vec![0u32, 11, 30]), most_pairs in prop::sample::select(vec![(u64::MAX, 0), (9, 0), (0, 1)]),
        ) {
            let posting = |((member, doc), indexing): (&(u64, Doc), &bool)| {
                Posting { key: member << 16 | u64::from(*indexing), size: 10 + doc % 7, doc: *doc }
            };
            let mut postings: Vec<Posting> = all.iter().map(posting).collect();
            postings.sort_unstable();
            let (mut truth, mut hot) = (BTreeSet::new(), BTreeSet::new());
            for member in 0..12u64 {
                let of_member: Vec<&Posting> = postings.iter().filter(|p| p.key >> 16 == member).collect();
                let mut pairs = Vec::new();
                for stored in of_member.iter().filter(|p| p.doc < base) {
                    for new in of_member.iter().filter(|p| p.doc >= base) {
                        let smaller = if stored.size <= new.size { stored } else { new };
                        if smaller.key & 1 == 1 {
                            pairs.push((member, Pair::new(stored.doc, new.doc)));
                        }
                    }
                }
                // What is looked up of stored ones.
                let wanted = |p: &&&Posting| p.doc >= base || p.key & 1 == 1 || of_member.iter().any(|q| q.doc >= base && q.key & 1 == 1);
                let members: Vec<Doc> = of_member.iter().filter(wanted).map(|p| p.doc).collect();
                if pairs.len() as u64 > most_pairs.0.max(most_pairs.1 * members.len() as u64) {
                    hot.extend(members);
                } else {
                    truth.extend(pairs);
                }
            }
            let (stored, new): (Vec<Posting>, Vec<Posting>) = postings.into_iter().partition(|p| p.doc < base);
            let keys = ContainedGrouping::keys(&new);
            prop_assert!(keys.is_sorted_by(|a, b| a < b));
            let stored: Vec<Posting> = stored.into_iter().filter(|p| keys.contains(&p.key)).collect();
            let mut grouping = ContainedGrouping { most_pairs, ..ContainedGrouping::new(AddressedGroups::new(Topology::alone(workers))) };
            let mut met = BTreeSet::new();
            let mut collided = Collided::default();
            for of_member in of_members(&new) {
                let key = of_member[0].key;
                let stored: Vec<Posting> = stored.iter().copied().filter(|p| p.key >> 1 == key >> 1).collect();
                grouping.form(of_member, &stored, &mut collided);
                for groups in grouping.addressed.take(true) {
                    for (at, doc) in groups.docs.iter().enumerate() {
                        for other in &groups.docs[at + 1..=at + groups.following[at] as usize] {
                            prop_assert_eq!(*doc as usize % workers, groups.owner as usize);
                            prop_assert!(met.insert((key >> 16, Pair::new(*doc, *other))));
                        }
                    }
                }
            }
            prop_assert_eq!(&met, &truth);
            let found: BTreeSet<Doc> = (0..30).filter(|doc| is_set(&collided.hot_members, *doc)).collect();
            prop_assert_eq!(&found, &hot);
            // All at once, as a bucket has them.
            grouping.form(&new, &stored, &mut collided);
            let lengths = grouping.addressed.take(true).map(|groups| groups.following.iter().map(|n| *n as usize).sum::<usize>());
            prop_assert_eq!(lengths.sum::<usize>(), truth.len());
        }
    }
}
