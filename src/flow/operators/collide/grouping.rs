//! Postings that are sorted by key to groups of documents, addressed to the workers that own their members.

use std::sync::Arc;

use crate::document::Doc;
use crate::flow::distributed::topology::Topology;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::document_bits::set;
use crate::flow::operators::collide::addressed::AddressedGroups;
use crate::flow::records::Posting;
use crate::flow::results::gathered::Collided;
use crate::flow::second_collision::spared::HotKeys;
use crate::limits::{LARGE_HOT_GROUP, MAX_EXPANDED_GROUP, MAX_PAIRS_OF_MEMBER};
use crate::similarity::{AcceptanceRule, PairTest};

/// So many times as large is a hot group under keys that alone say little.
const WEAK_KEY_FACTOR: usize = 32;

/// How postings become groups.
pub struct KeyGrouping {
    /// Test whose size filter applies to pairs; `None` where sizes say nothing.
    sizes: Option<PairTest>,
    /// Contents a key may be in, 0 for any number.
    cap: usize,
    /// A group with more pairs than so many new contents have is a hot group.
    most_expanded: usize,
    /// Whether new contents are paired with each other.
    among_new: bool,
    /// Members of a hot group that is kept whole. Members of smaller ones collide again.
    kept_whole: usize,
    /// What is noted of the members of hot groups that may collide again.
    hot_keys: Arc<HotKeys>,
    /// What goes out.
    pub addressed: AddressedGroups,
    following: Vec<u32>,
    /// The protected members of a group, and the others.
    apart: [Vec<Posting>; 2],
}

impl KeyGrouping {
    /// Groups as the configuration of a run wants them.
    pub fn of(sets: &DocumentSets) -> KeyGrouping {
        let context = &sets.context;
        let cap = context.cap_of_keys();
        let own = context.rule.map(AcceptanceRule::own);
        let sizes = own.filter(|own| own.limits_sizes());
        // A hot group is measured on sketches alone. Under a cap counts decide, and must be complete. Where many have a term in
        // common that are not alike, counting is cheaper than measuring up to much larger groups.
        //
        // Where members of hot groups collide again, a group may be hot even if every pair is asked for: they are found then.
        let collides_again = context.rule.is_some_and(AcceptanceRule::has_prefixes);
        let most_expanded = if cap > 0 || context.pairs && !collides_again {
            usize::MAX
        } else if own.is_some_and(PairTest::has_weak_keys) {
            MAX_EXPANDED_GROUP * WEAK_KEY_FACTOR
        } else {
            MAX_EXPANDED_GROUP
        };
        let kept_whole = match (collides_again, context.pairs) {
            (false, _) => 0,
            (true, false) => LARGE_HOT_GROUP,
            (true, true) => usize::MAX,
        };
        let among_new = context.compares_new();
        KeyGrouping {
            kept_whole,
            among_new,
            hot_keys: sets.hot_keys(),
            ..KeyGrouping::new(sizes, cap, most_expanded, context.topology)
        }
    }

    fn new(sizes: Option<PairTest>, cap: usize, most_expanded: usize, topology: Topology) -> KeyGrouping {
        KeyGrouping {
            sizes,
            cap,
            most_expanded,
            among_new: true,
            kept_whole: 0,
            hot_keys: Arc::default(),
            addressed: AddressedGroups::new(topology),
            following: Vec::new(),
            apart: Default::default(),
        }
    }

    /// Forms the groups of one bucket of sorted postings; what goes to whom is then in `addressed`.
    ///
    /// Within a key sizes ascend: once the size filter fails for a partner it fails for all after it. `stored` holds
    /// the postings of stored contents under the same keys, in the same order.
    pub fn form(&mut self, postings: &[Posting], mut stored: &[Posting], collided: &mut Collided) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            let key = group[0].key;
            let (of_key, rest) = stored.split_at(stored.partition_point(|posting| posting.key <= key));
            stored = rest;
            self.form_one(group, of_key, collided);
        }
    }

    /// The same with protected documents among those of `postings`: they meet new documents as stored contents do. Where a group
    /// has as many new documents as protected ones, or more, it goes out whole, pairs of two protected ones too: nobody looks at
    /// these.
    ///
    /// Of each pair the one that comes first leads, so that all keys of a pair are counted in one place.
    pub fn form_beside(
        &mut self,
        postings: &[Posting],
        is_protected: &impl Fn(Doc) -> bool,
        collided: &mut Collided,
    ) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            let protected = group.iter().filter(|posting| is_protected(posting.doc)).count();
            let new = group.len() - protected;
            let of = |wanted| group.iter().filter(move |posting| is_protected(posting.doc) == wanted);
            let members = || of(true).chain(of(false)).map(|posting| posting.doc);
            if new == 0
                || protected > 0 && self.sets_aside((new, protected), members(), ends(group), collided)
            {
                continue;
            }
            match protected {
                0 => self.form_one(group, &[], collided),
                // One group for all costs less than one for each.
                _ if self.among_new && protected <= new => self.send_whole(group),
                _ => self.send_apart(group, is_protected),
            }
        }
    }

    /// Forms the group of one key, in which there are new postings.
    #[inline]
    fn form_one(&mut self, group: &[Posting], of_key: &[Posting], collided: &mut Collided) {
        let members = of_key.iter().chain(group).map(|posting| posting.doc);
        // In the order of sizes.
        let (mut first, mut last) = ends(group);
        if !of_key.is_empty() {
            let stored = ends(of_key);
            (first, last) = (first.min(stored.0), last.max(stored.1));
        }
        if self.sets_aside((group.len(), of_key.len()), members, (first, last), collided) {
            return;
        }
        for posting in group.iter().filter(|_| !of_key.is_empty()) {
            let meets =
                |other: &&Posting| self.sizes.is_none_or(|rule| rule.allows(posting.size, other.size));
            let first = of_key.partition_point(|other| other.size < posting.size && !meets(&other));
            self.addressed.send_alone(posting, of_key[first..].iter().take_while(meets));
        }
        if self.among_new {
            self.send_whole(group);
        }
    }

    /// Whether nothing is sent of a group with so many new and stored members: it is hot, or its key too common.
    #[inline]
    fn sets_aside(
        &self,
        (new, stored): (usize, usize),
        members: impl Iterator<Item = Doc> + Clone,
        (first, last): (&Posting, &Posting),
        collided: &mut Collided,
    ) -> bool {
        let contents = new + stored;
        if self.is_hot(new, stored) {
            if self.kept_whole > 0 {
                self.hot_keys.note(members.clone(), (first.size, last.size));
            }
            if contents < self.kept_whole {
                members.for_each(|doc| set(&mut collided.hot_members, doc));
            } else {
                // A document may be there twice where keys are cut.
                let mut members: Vec<Doc> = members.collect();
                members.dedup();
                collided.hot_groups.push(members);
            }
            return true;
        }
        if self.cap > 0 && contents > self.cap {
            collided.common.ignore(first.key, contents as u64, new as u64);
            return true;
        }
        false
    }

    /// Sends a group in which each member is paired with all behind it that it may meet.
    #[inline]
    fn send_whole(&mut self, group: &[Posting]) {
        if group.len() > 1 {
            self.follow(group);
            self.addressed.send(group, &self.following);
        }
    }

    /// Sends a group in which members are paired with those behind them, but two protected ones never, and two new ones only
    /// where new contents are paired.
    fn send_apart(&mut self, group: &[Posting], is_protected: impl Fn(Doc) -> bool) {
        let [mut protected, mut new] = std::mem::take(&mut self.apart);
        protected.clear();
        new.clear();
        for posting in group {
            if is_protected(posting.doc) { &mut protected } else { &mut new }.push(*posting);
        }
        for (leading, behind) in [(&new, &protected), (&protected, &new)] {
            for posting in leading {
                let meets =
                    |other: &&Posting| self.sizes.is_none_or(|rule| rule.allows(posting.size, other.size));
                let first = behind.partition_point(|other| other < posting);
                self.addressed.send_alone(posting, behind[first..].iter().take_while(meets));
            }
        }
        if self.among_new {
            self.send_whole(&new);
        }
        self.apart = [protected, new];
    }

    /// Whether there are more pairs in a group than in one of as many new contents as make a hot group. Pairs of stored
    /// contents are known: a few new ones can meet very many of them.
    fn is_hot(&self, new: usize, stored: usize) -> bool {
        let among_new = if self.among_new { new } else { 0 };
        let pairs = new.saturating_mul(2 * stored + among_new);
        // Where a few new ones meet a stored family, counting costs less than colliding all of it again.
        let few = self.kept_whole > 0 && pairs / 2 <= MAX_PAIRS_OF_MEMBER.saturating_mul(stored + new);
        pairs > self.most_expanded.saturating_mul(self.most_expanded) && !few
    }

    /// For each member of a group how many behind it the size filter lets it meet.
    fn follow(&mut self, group: &[Posting]) {
        self.following.clear();
        let mut end = 0;
        for (at, a) in group.iter().enumerate() {
            end = end.max(at + 1);
            let meets = |b: &Posting| self.sizes.is_none_or(|rule| rule.allows(a.size, b.size));
            end += group[end..].iter().take_while(|b| meets(b)).count();
            self.following.push((end - at - 1) as u32);
        }
    }
}

/// The first and the last of the sorted postings of a key.
fn ends(group: &[Posting]) -> (&Posting, &Posting) {
    (&group[0], &group[group.len() - 1])
}

#[cfg(test)]
mod tests {
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
        for groups in addressed.take() {
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
                let found: Vec<usize> = collided.hot_groups.iter().map(Vec::len).collect();
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
    }
}
