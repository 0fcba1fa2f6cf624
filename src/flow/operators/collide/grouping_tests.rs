//! Groups against all pairs of a key.

use super::*;
use crate::flow::memory::document_bits::is_set;
use crate::flow::operators::collide::order::Singletons;
use crate::flow::records::Pair;
use proptest::prelude::*;

fn postings() -> impl Strategy<Value = Vec<Posting>> {
    prop::collection::btree_set((0u64..20, 0u32..30), 0..120).prop_map(|all| {
        let posting = |(key, doc): (u64, Doc)| Posting { key: key << 16, size: 10 + doc % 7, doc };
        all.into_iter().map(posting).collect()
    })
}

/// The pairs that are sent, each with the document that leads.
fn led_pairs(addressed: &mut AddressedGroups, workers: usize) -> Vec<(Pair, Doc)> {
    let mut pairs = Vec::new();
    for groups in addressed.take(true) {
        let owned = |doc: Doc| doc as usize % workers == groups.owner as usize;
        for (at, doc) in groups.docs.iter().enumerate().filter(|(_, doc)| owned(**doc)) {
            let behind = &groups.docs[at + 1..=at + groups.following[at] as usize];
            pairs.extend(behind.iter().map(|other| (Pair::new(*doc, *other), *doc)));
        }
    }
    pairs
}

proptest! {
    #[test]
    fn meets_exactly_the_pairs_of_a_key(all in postings(), copied in prop::collection::btree_set(0u32..30, 0..6),
                                        cap in prop::sample::select(vec![0usize, 3]), workers in 1usize..4,
                                        base in prop::sample::select(vec![0u32, 11, 30]), among_new in any::<bool>()) {
        // What is below `base` is stored.
        let rule = PairTest::Resemblance("0.8".parse().expect("a threshold"));
        let live: Vec<Posting> = all.iter().copied().filter(|p| !copied.contains(&p.doc)).collect();
        let mut truth = Vec::new();
        for (i, a) in live.iter().enumerate() {
            for b in &live[i + 1..] {
                let group = live.iter().filter(|p| p.key == a.key).count();
                let is_met = a.doc.max(b.doc) >= base && (among_new || a.doc.min(b.doc) < base);
                if a.key == b.key && is_met && rule.needed(a.size, b.size).is_some() && (cap == 0 || group <= cap) {
                    truth.push(Pair::new(a.doc, b.doc));
                }
            }
        }
        let mut copies = Vec::new();
        copied.iter().for_each(|doc| set(&mut copies, *doc));
        let (mut held, mut collided) = (all, Collided::default());
        if base == 0 {
            Singletons::default().drop_from(&mut held, |posting| is_set(&copies, posting.doc));
        }
        held.retain(|posting| !is_set(&copies, posting.doc));
        held.sort_unstable();
        let keys: Vec<u64> = held.iter().filter(|p| p.doc >= base).map(|p| p.key).collect();
        let (stored, held): (Vec<Posting>, Vec<Posting>) = held.into_iter().partition(|p| p.doc < base);
        let stored: Vec<Posting> = stored.into_iter().filter(|p| keys.contains(&p.key)).collect();
        let mut pairs = Vec::new();
        let grouping = |most| KeyGrouping { among_new, ..KeyGrouping::new(Some(rule), cap, most, Topology::alone(workers)) };
        let mut grouping_all = grouping(usize::MAX);
        grouping_all.form(&held, &stored, &mut collided);
        pairs.extend(led_pairs(&mut grouping_all.addressed, workers).into_iter().map(|(pair, _)| pair));
        pairs.sort_unstable();
        truth.sort_unstable();
        prop_assert_eq!(pairs, truth);
        let everywhere = |key: &u64| live.iter().filter(|p| p.key == *key).count();
        let new: std::collections::BTreeSet<u64> = held.iter().map(|p| p.key).collect();
        let common = new.iter().filter(|key| cap > 0 && everywhere(key) > cap).count();
        prop_assert_eq!(collided.common.keys(), common as u64);
        if cap == 0 {
            let mut collided = Collided::default();
            grouping(4).form(&held, &stored, &mut collided);
            let of_key = |key: u64| live.iter().filter(move |p| p.key == key << 16);
            let sizes = (0..20u64).map(|key| {
                let new = of_key(key).filter(|p| p.doc >= base).count();
                (new, of_key(key).count() - new)
            });
            // More pairs, counted from both ends, than four contents have, each with all and itself.
            let hot_groups = sizes.filter(|(new, stored)| (if among_new { new * new } else { 0 }) + 2 * new * stored > 16);
            let groups: Vec<usize> = hot_groups.map(|(new, stored)| new + stored).collect();
            let found: Vec<usize> = collided.hot_groups.iter().map(HotGroup::len).collect();
            prop_assert_eq!(found, groups);
        }
    }

    /// Protected documents stand among the others: the same groups as where they were taken out as stored ones.
    #[test]
    fn protected_documents_meet_as_stored_ones_do(all in postings(), protected in prop::collection::btree_set(0u32..30, 0..20),
                                                  cap in prop::sample::select(vec![0usize, 3]), workers in 1usize..4,
                                                  most in prop::sample::select(vec![4usize, usize::MAX])) {
        let rule = PairTest::Resemblance("0.8".parse().expect("a threshold"));
        let grouping = || KeyGrouping::new(Some(rule), cap, most, Topology::alone(workers));
        let mut held = all;
        held.sort_unstable();
        let (mut among, mut beside) = (grouping(), grouping());
        let [mut found, mut expected] = [Collided::default(), Collided::default()];
        among.form_beside(&held, &|doc: Doc| protected.contains(&doc), &mut found);
        let (stored, new): (Vec<Posting>, Vec<Posting>) =
            held.into_iter().partition(|posting| protected.contains(&posting.doc));
        let under_new = |other: &Posting| new.iter().any(|posting| posting.key == other.key);
        let stored: Vec<Posting> = stored.into_iter().filter(under_new).collect();
        beside.form(&new, &stored, &mut expected);
        let both_protected = |pair: &Pair| {
            let (a, b) = pair.docs();
            protected.contains(&a) && protected.contains(&b)
        };
        let led = led_pairs(&mut among.addressed, workers);
        // All keys of a pair are counted where one of its documents is owned.
        let leaders: std::collections::BTreeSet<(Pair, u32)> = led.iter().copied().collect();
        let pairs: std::collections::BTreeSet<Pair> = led.iter().map(|(pair, _)| *pair).collect();
        prop_assert_eq!(leaders.len(), pairs.len());
        let mut sent: Vec<Pair> = led.iter().map(|(pair, _)| *pair).collect();
        let wasted = sent.iter().filter(|pair| both_protected(pair)).count();
        prop_assert!(wasted <= sent.len() / 2);
        sent.retain(|pair| !both_protected(pair));
        let mut needed: Vec<Pair> = led_pairs(&mut beside.addressed, workers).into_iter().map(|(pair, _)| pair).collect();
        sent.sort_unstable();
        needed.sort_unstable();
        prop_assert_eq!(sent, needed);
        prop_assert_eq!(found.hot_groups, expected.hot_groups);
        prop_assert_eq!(found.common.keys(), expected.common.keys());
    }

    /// Hot groups are sent like others if that costs less, and if not or if there is no room, all their members collide again.
    #[test]
    fn hot_groups_are_counted_or_their_members_collide_again(
        all in postings(), base in prop::sample::select(vec![0u32, 11]), long in prop::sample::select(vec![0u32, 9, 500]),
        is_beside in any::<bool>(), room in prop::sample::select(vec![0usize, 20, 1000]), workers in 1usize..4,
    ) {
        // What is below `base` is stored, or protected.
        let rule = PairTest::Resemblance("0.8".parse().expect("a threshold"));
        let mut held: Vec<Posting> = all.into_iter().map(|p| Posting { size: p.size + long, ..p }).collect();
        held.sort_unstable();
        let is_protected = |doc: Doc| doc < base;
        let (stored, new): (Vec<Posting>, Vec<Posting>) = held.iter().partition(|p| is_protected(p.doc));
        let new_keys: std::collections::BTreeSet<u64> = new.iter().map(|p| p.key).collect();
        let stored: Vec<Posting> = stored.into_iter().filter(|p| new_keys.contains(&p.key)).collect();
        let form = |most: usize, kept_whole: usize| {
            let hot_postings = HotPostings::with_room(room);
            let grouping = KeyGrouping::new(Some(rule), 0, most, Topology::alone(workers));
            let (mut grouping, mut collided) = (KeyGrouping { kept_whole, hot_postings, ..grouping }, Collided::default());
            match is_beside {
                true => grouping.form_beside(&held, &is_protected, &mut collided),
                false => grouping.form(&new, &stored, &mut collided),
            }
            grouping.settle(&is_protected, &mut collided);
            let mut pairs = led_pairs(&mut grouping.addressed, workers);
            pairs.sort_unstable();
            (pairs, collided)
        };
        let (every, _) = form(usize::MAX, 0);
        let (cold, whole) = form(4, 0);
        let (found, collided) = form(4, usize::MAX);
        prop_assert!(collided.hot_groups.is_empty());
        let again: Vec<Doc> = (0..30).filter(|doc| is_set(&collided.hot_members, *doc)).collect();
        let groups: Vec<&[Doc]> = whole.hot_groups.iter().map(HotGroup::docs).collect();
        let members: std::collections::BTreeSet<Doc> = groups.iter().copied().flatten().copied().collect();
        let shingles: u32 = members.iter().map(|doc| 10 + doc % 7 + long).sum();
        let pairs: usize = groups.iter().map(|group| {
            let others = group.iter().filter(|doc| is_protected(**doc)).count();
            let new = group.len() - others;
            new * (2 * others + new) / 2
        }).sum();
        let fits = groups.iter().map(|group| group.len()).sum::<usize>() <= room;
        if fits && pairs * workers <= 12 * shingles as usize {
            prop_assert!(again.is_empty());
            prop_assert_eq!(&found, &every);
        } else {
            prop_assert_eq!(&again, &members.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(&found, &cold);
        }
        // A pair that is not sent is of members that collide again.
        let both_again = |pair: &Pair| again.contains(&pair.docs().0) && again.contains(&pair.docs().1);
        let is_sent = |pair: &Pair| found.iter().any(|(other, _)| other == pair);
        prop_assert!(every.iter().all(|(pair, _)| is_sent(pair) || both_again(pair)));
    }

    /// Where stored members go out once for all new ones, pairs are met beside those that are wanted, but none that sizes allow more
    /// often or less, and none by another leader.
    #[test]
    fn stored_members_that_go_out_once_are_met_as_often(
        all in prop::collection::btree_set((0u64..3, 0u32..90), 0..270), sizes in prop::collection::vec(8u32..14, 90),
        base in prop::sample::select(vec![45u32, 60, 80]), workers in 1usize..4,
    ) {
        let rule = PairTest::Resemblance("0.8".parse().expect("a threshold"));
        let posting = |(key, doc): (u64, Doc)| Posting { key, size: sizes[doc as usize], doc };
        let mut held: Vec<Posting> = all.into_iter().map(posting).collect();
        held.sort_unstable();
        let (stored, new): (Vec<Posting>, Vec<Posting>) = held.into_iter().partition(|posting| posting.doc < base);
        let stored: Vec<Posting> = stored.into_iter().filter(|other| new.iter().any(|posting| posting.key == other.key)).collect();
        let led = |meets_more| {
            let one_by_one = KeyGrouping::new(Some(rule), 0, usize::MAX, Topology::alone(workers));
            let mut grouping = KeyGrouping { meets_more, ..one_by_one };
            grouping.form(&new, &stored, &mut Collided::default());
            let mut pairs = led_pairs(&mut grouping.addressed, workers);
            pairs.sort_unstable();
            pairs
        };
        let (mut found, expected) = (led(true), led(false));
        prop_assert!(found.iter().all(|(pair, _)| pair.docs().1 >= base), "stored ones meet each other");
        found.retain(|(pair, _)| rule.allows(sizes[pair.docs().0 as usize], sizes[pair.docs().1 as usize]));
        prop_assert_eq!(found, expected);
    }
}
