//! Which postings meet, held against all pairs of them.

use super::*;
use crate::flow::records::Pair;
use crate::similarity::Evidence;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn postings() -> impl Strategy<Value = Vec<IndexedPosting>> {
    prop::collection::btree_map((0u64..12, 0u32..30), (any::<bool>(), 0u32..10), 0..150).prop_map(|all| {
        let posting = |((key, doc), (indexing, before)): ((u64, Doc), (bool, u32))| {
            let (key, size, tie) = (key << 16, 10 + doc % 7, doc * 7 % 4);
            IndexedPosting { key, size, tie, doc, place_in_set: 2 * before + u32::from(indexing) }
        };
        all.into_iter().map(posting).collect()
    })
}

/// The pairs that meet under each key, the groups of which that would be too many, and how often each is in one.
#[derive(Default)]
struct Truth {
    met: BTreeSet<(u64, Pair)>,
    hot: Vec<Vec<IndexedPosting>>,
    /// So many pairs of each member are expanded.
    each: u64,
}

impl Truth {
    fn add(&mut self, group: &[IndexedPosting], met: Vec<(u64, Pair)>, (least, each): (u64, u64)) {
        self.each = each;
        if met.len() as u64 > least.max(each * group.len() as u64) {
            self.hot.push(group.to_vec());
        } else {
            self.met.extend(met);
        }
    }

    /// The hot groups as they are set aside, of members that may meet another one, and how often new ones show a hot key.
    fn set_aside(&self, threshold: Threshold, is_new: impl Fn(Doc) -> bool) -> (Vec<HotGroup>, Vec<Doc>) {
        let limit = |p: &IndexedPosting| {
            let within = |size: &u64| threshold.needed(p.size.into(), *size) <= p.rest().into();
            (1..1000).take_while(within).last().unwrap_or(0) as u32
        };
        let (mut groups, mut marked) = (Vec::new(), Vec::new());
        for group in &self.hot {
            let apart = |a: &IndexedPosting, b: &IndexedPosting| a.place() < b.place() && limit(a) < a.size;
            let apart = group.iter().map(|a| group.iter().filter(|b| apart(a, b)).count());
            if apart.sum::<usize>() as u64 <= self.each * group.len() as u64 {
                groups.push(HotGroup::of(group.iter().map(|posting| posting.doc).collect()));
                continue;
            }
            marked.extend(group.iter().map(|posting| posting.doc).filter(|doc| is_new(*doc)));
            let meets = |a: &IndexedPosting, b: &IndexedPosting| {
                a.doc != b.doc && a.size <= limit(b) && b.size <= limit(a)
            };
            let members = group.iter().filter(|a| group.iter().any(|b| meets(a, b)));
            let members: Vec<(Doc, u32)> = members.map(|posting| (posting.doc, limit(posting))).collect();
            if members.iter().any(|(doc, _)| is_new(*doc)) {
                groups.push(HotGroup::limited(members));
            }
        }
        marked.sort_unstable();
        (groups, marked)
    }
}

proptest! {
    #[test]
    fn meets_exactly_the_pairs_that_the_smaller_indexes(all in postings(), workers in 1usize..4,
                                                        base in prop::sample::select(vec![0u32, 11, 30]),
                                                        among_new in any::<bool>(),
                                                        most_pairs in prop::sample::select(vec![(u64::MAX, 0), (20, 0), (0, 2)])) {
        let rule = PairTest::Resemblance("0.8".parse().expect("a threshold"));
        let mut sorted = all;
        sorted.sort_unstable();
        let mut truth = Truth::default();
        for group in sorted.chunk_by(|a, b| a.key == b.key) {
            let mut of_key = Vec::new();
            for (at, a) in group.iter().enumerate() {
                for b in &group[at + 1..] {
                    let (a, b) = if a.place() < b.place() { (a, b) } else { (b, a) };
                    let is_met = a.doc.max(b.doc) >= base && (among_new || a.doc.min(b.doc) < base);
                    if a.is_indexing() && is_met && allows(Some(rule), a, b) {
                        of_key.push((a.key, Pair::new(a.doc, b.doc)));
                    }
                }
            }
            truth.add(group, of_key, most_pairs);
        }
        let threshold = rule.threshold().expect("one");
        let whole = AcceptanceRule::new(rule, Evidence::Prefix(threshold));
        let grouping = IndexedGrouping::new(Some(whole), most_pairs, Topology::alone(workers));
        let mut grouping = IndexedGrouping { among_new, ..grouping };
        let mut collided = Collided::default();
        let (mut met, mut marked) = (BTreeSet::new(), Vec::new());
        for group in sorted.chunk_by(|a, b| a.key == b.key) {
            let key = group[0].key;
            let place = |doc: Doc| (10 + doc % 7, doc * 7 % 4, doc);
            grouping.form(group, |doc| doc >= base, &mut collided);
            for groups in grouping.addressed.take(true) {
                let owned = |doc: Doc| doc as usize % workers == groups.owner as usize && doc >= base;
                prop_assert!(groups.hot.iter().all(|doc| owned(*doc)));
                marked.extend(groups.hot);
                for (at, doc) in groups.docs.iter().enumerate().filter(|(_, doc)| owned(**doc)) {
                    for other in &groups.docs[at + 1..=at + groups.following[at] as usize] {
                        prop_assert!(met.insert((key, Pair::new(*doc, *other))));
                        let first = place(*doc) < place(*other);
                        prop_assert!(first || *other < base, "{} leads {}", doc, other);
                    }
                }
            }
        }
        let (hot, hot_docs) = truth.set_aside(threshold, |doc| doc >= base);
        prop_assert_eq!(met, truth.met);
        prop_assert_eq!(collided.hot_groups, hot);
        marked.sort_unstable();
        prop_assert_eq!(marked, hot_docs);
        for records in sorted.chunks(MOST_PACKED) {
            let mut bytes = Vec::new();
            IndexedPosting::pack(records, &mut bytes);
            let mut left = &bytes[..];
            let back = IndexedPosting::unpack(&mut left);
            prop_assert_eq!(back.as_deref(), Some(records));
            prop_assert!(left.is_empty());
            prop_assert!(IndexedPosting::unpack(&mut &bytes[..bytes.len() - 1]).is_none());
        }
        for posting in sorted {
            let set = IndexedSet { doc: posting.doc, size: posting.size, tie: posting.tie, salt: 0 };
            prop_assert_eq!(IndexedSet::at(set.doc, set.place(), set.salt).posting(1, 0, posting.is_indexing()).place(), posting.place());
        }
    }

    #[test]
    fn any_bytes_are_unpacked_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let unpacked = IndexedPosting::unpack(&mut &bytes[..]);
        prop_assert!(unpacked.is_none_or(|postings| postings.len() <= bytes.len() / size_of::<u64>()));
    }

    #[test]
    fn protected_ones_meet_what_may_contain_them(all in postings(), workers in 1usize..4, protected in 0u32..30,
                                                 most_pairs in prop::sample::select(vec![(u64::MAX, 0), (20, 0), (0, 2)])) {
        let threshold: crate::threshold::Threshold = "0.8".parse().expect("a threshold");
        let test = PairTest::Containment(threshold);
        let rule = AcceptanceRule::new(test, Evidence::AllOfLarger(threshold)).containing_protected(threshold);
        let is_new = |doc: Doc| doc >= protected;
        // Protected documents show what indexes them alone.
        let mut sorted: Vec<IndexedPosting> = all.into_iter().filter(|p| is_new(p.doc) || p.is_indexing()).collect();
        sorted.sort_unstable();
        let mut truth = Truth::default();
        for group in sorted.chunk_by(|a, b| a.key == b.key) {
            let mut of_key = Vec::new();
            for (at, a) in group.iter().enumerate() {
                for b in &group[at + 1..] {
                    let (first, second) = if a.place() < b.place() { (a, b) } else { (b, a) };
                    let meets = match (is_new(a.doc), is_new(b.doc)) {
                        (true, true) => first.is_indexing() && allows(Some(test), first, second),
                        (false, true) => u64::from(b.size) >= threshold.ceil(a.size.into()),
                        (true, false) => u64::from(a.size) >= threshold.ceil(b.size.into()),
                        (false, false) => false,
                    };
                    if meets {
                        of_key.push((a.key, Pair::new(a.doc, b.doc)));
                    }
                }
            }
            truth.add(group, of_key, most_pairs);
        }
        let mut grouping = IndexedGrouping::new(Some(rule), most_pairs, Topology::alone(workers));
        let mut collided = Collided::default();
        grouping.form(&sorted, is_new, &mut collided);
        let mut met = BTreeSet::new();
        for groups in grouping.addressed.take(true) {
            for (at, doc) in groups.docs.iter().enumerate() {
                let behind = &groups.docs[at + 1..=at + groups.following[at] as usize];
                if *doc as usize % workers == groups.owner as usize {
                    met.extend(behind.iter().map(|other| Pair::new(*doc, *other)));
                }
            }
        }
        let pairs: BTreeSet<Pair> = truth.met.into_iter().map(|(_, pair)| pair).collect();
        prop_assert_eq!(met, pairs);
        let docs = |group: Vec<IndexedPosting>| HotGroup::of(group.iter().map(|posting| posting.doc).collect());
        prop_assert_eq!(collided.hot_groups, truth.hot.into_iter().map(docs).collect::<Vec<_>>());
    }
}

/// Sets of a family: a piece of a template, and some members of their own, of which sets next to each other may share a few.
fn family() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let own = prop::collection::btree_set(0u64..400, 0..14);
    let set = (0usize..8, 10usize..26, own, any::<bool>());
    prop::collection::vec(set, 2..40).prop_map(|all| {
        let set = |(at, (from, to, own, shares)): (usize, (usize, usize, BTreeSet<u64>, bool))| {
            let apart = |own: u64| if shares { 1000 + own / 40 } else { 10_000 * (at as u64 + 1) + own };
            let template = (from..to).map(|member| member as u64 * 7 % 26);
            let set: BTreeSet<u64> = template.chain(own.into_iter().map(apart)).collect();
            set.into_iter().collect()
        };
        all.into_iter().enumerate().map(set).collect()
    })
}

/// The postings of sets in the order of how many have a member; of those below `base`, which are stored, only under members that a new one
/// has, which come behind all others, and of what does not index them only some.
fn posted(sets: &[Vec<u64>], threshold: Threshold, base: Doc, dropped: u64) -> Vec<IndexedPosting> {
    let count = |member: &u64| sets.iter().filter(|set| set.contains(member)).count();
    let of_new = |member: &u64| sets[base as usize..].iter().any(|set| set.contains(member));
    let indexing = |set: &Vec<u64>| -> Vec<u64> {
        let mut order = set.clone();
        order.sort_unstable_by_key(|member| (of_new(member), count(member), *member));
        order.truncate(threshold.indexing_prefix(set.len()));
        order
    };
    let of_new_indexing: BTreeSet<u64> = sets[base as usize..].iter().flat_map(indexing).collect();
    let mut postings = Vec::new();
    for (doc, set) in (0..).zip(sets) {
        let mut order = set.clone();
        order.sort_unstable_by_key(|member| (of_new(member), count(member), *member));
        let (shown, indexes) = (threshold.prefix(set.len()), threshold.indexing_prefix(set.len()));
        let member = IndexedSet::of(doc, set, 0);
        let mut place = 0;
        for (at, key) in order.iter().enumerate().take(shown) {
            if doc >= base {
                postings.push(member.posting(*key, at, at < indexes));
                continue;
            }
            if !of_new(key) {
                place += 1;
            } else if at < indexes || of_new_indexing.contains(key) || dropped >> (key % 64) & 1 == 0 {
                // What was left out before it is not counted: it is no further in front than it says.
                postings.push(member.posting(*key, place, at < indexes));
                place += 1;
            }
        }
    }
    postings.sort_unstable();
    postings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whoever is alike shares enough keys as far as these are counted, or is within the limits of a hot group.
    #[test]
    fn all_who_are_alike_are_candidates_or_meet_within_limits(
        sets in family(), threshold in prop::sample::select(vec!["0.3", "0.5", "0.6", "0.7", "0.8", "0.95"]), workers in 1usize..4,
        stored in any::<prop::sample::Index>(), all_new in any::<bool>(), most in prop::sample::select(vec![0u64, 3, 20, 100]), dropped in any::<u64>(),
    ) {
        let threshold: Threshold = threshold.parse().expect("a threshold");
        let test = PairTest::Resemblance(threshold);
        let rule = AcceptanceRule::new(test, Evidence::Prefix(threshold));
        let base = if all_new { 0 } else { stored.index(sets.len()) as Doc };
        let postings = posted(&sets, threshold, base, dropped);
        let mut grouping = IndexedGrouping::new(Some(rule), (most, 0), Topology::alone(workers));
        let mut collided = Collided::default();
        grouping.form(&postings, |doc| doc >= base, &mut collided);
        // As the workers count: how often a pair is led by one of the two, and how many marks that one has.
        let (mut counts, mut marks) = (BTreeMap::<(Doc, Doc), u32>::new(), BTreeMap::<Doc, u32>::new());
        for groups in grouping.addressed.take(true) {
            groups.hot.iter().for_each(|doc| *marks.entry(*doc).or_default() += 1);
            let owned = |doc: Doc| doc as usize % workers == groups.owner as usize;
            for (at, doc) in groups.docs.iter().enumerate().filter(|(_, doc)| owned(**doc)) {
                let behind = &groups.docs[at + 1..=at + groups.following[at] as usize];
                behind.iter().for_each(|other| *counts.entry((*doc, *other)).or_default() += 1);
            }
        }
        let size = |doc: Doc| sets[doc as usize].len() as u32;
        let is_enough = |a: Doc, b: Doc| counts.get(&(a, b)).is_some_and(|count| {
            rule.is_enough_indexed(count + marks.get(&a).copied().unwrap_or(0), size(a), size(b), false)
        });
        let mut groups = collided.hot_groups;
        crate::flow::results::hot_groups::drop_covered(&mut groups);
        let limit = |group: &HotGroup, one: Doc| group.members().find(|(doc, _)| *doc == one).map(|(_, limit)| limit);
        let meets = |group: &HotGroup, a: Doc, b: Doc| {
            limit(group, a).is_some_and(|of_a| size(b) <= of_a) && limit(group, b).is_some_and(|of_b| size(a) <= of_b)
        };
        for b in base..sets.len() as Doc {
            for a in 0..b {
                let shared = sets[a as usize].iter().filter(|member| sets[b as usize].contains(member)).count();
                if sets[a as usize] != sets[b as usize] && u64::from(size(a) + size(b)) > 0
                    && shared as u64 >= threshold.needed(size(a).into(), size(b).into()) {
                    prop_assert!(
                        is_enough(a, b) || is_enough(b, a) || groups.iter().any(|group| meets(group, a, b)),
                        "{} and {} share {}", a, b, shared
                    );
                }
            }
        }
    }
}
