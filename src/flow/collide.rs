//! The operator in which documents with a key in common meet: postings in, key groups out.
//!
//! Morally: `for each key, for each two documents a, b with that key whose set sizes allow the rule: emit (a, b)`.
//! What is emitted is the group, to the home of each of its members; `count` reads the pairs off it.

mod order;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use order::{Lone, Order, is_set, set};

use super::Shared;
use super::buckets::Keyed;
use super::catalogue::Doc;
use super::common::Common;
use super::crew::Crew;
use super::dedup_exact::Copy;
use super::rounds::Groups;
use super::stored::Stored;
use crate::error::Result;
use crate::limits::CROWD;
use crate::similarity::{Accept, Test};

/// One key of one document. Sixteen bytes without padding, and two words on the wire: what is written a field at a time
/// costs half as much again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable, serde::Serialize, serde::Deserialize,
)]
#[repr(C)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct Posting {
    /// The key: a shingle or a feature.
    pub key: u64,
    /// Size of the set that the document's pairs are measured on.
    pub size: u32,
    /// The document.
    pub doc: Doc,
}

impl From<(u64, u64)> for Posting {
    fn from((key, rest): (u64, u64)) -> Posting {
        Posting { key, size: (rest >> 32) as u32, doc: rest as Doc }
    }
}

impl From<Posting> for (u64, u64) {
    fn from(posting: Posting) -> (u64, u64) {
        (posting.key, u64::from(posting.size) << 32 | u64::from(posting.doc))
    }
}

impl Keyed for Posting {
    fn key(&self) -> u64 {
        self.key
    }
}

/// What a worker's collisions leave behind beside the pairs.
#[derive(Debug, Default)]
pub struct Collided {
    /// Key groups too large to expand: the contents that share one key.
    pub crowds: Vec<Vec<Doc>>,
    /// Keys ignored as common.
    pub common: Common,
    /// All postings of contents.
    pub postings: u64,
}

/// So many times as large is a crowd under keys that alone say little.
const LOOSE: usize = 32;

/// How postings become groups.
struct Grouping {
    /// Test whose size filter applies to pairs; `None` where sizes say nothing.
    sizes: Option<Test>,
    /// Contents a key may be in, 0 for any number.
    cap: usize,
    /// New contents from which on a group of no others is a crowd.
    crowd: usize,
    /// What goes to each worker, in this bucket.
    sent: Vec<Groups>,
    /// The workers of this process.
    own: Range<usize>,
    /// The group that is addressed, and for each worker the last one that was addressed to it.
    turn: u64,
    turns: Vec<u64>,
    following: Vec<u32>,
    order: Order,
}

impl Grouping {
    fn of(shared: &Shared) -> Grouping {
        let cap = shared.config.cap();
        let own = shared.rule.map(Accept::own);
        let sizes = own.filter(|own| !matches!(own, Test::Shared(_)));
        // A crowd is measured on sketches alone. Under a cap counts decide, and must be complete. Where many have a term in
        // common that are not alike, counting is cheaper than measuring up to much larger groups.
        let crowd = match own {
            _ if shared.pairs || cap > 0 => usize::MAX,
            Some(Test::Vector(_)) => CROWD * LOOSE,
            _ => CROWD,
        };
        Grouping::new(sizes, cap, crowd, shared.crew)
    }

    fn new(sizes: Option<Test>, cap: usize, crowd: usize, crew: Crew) -> Grouping {
        Grouping {
            sizes,
            cap,
            crowd,
            sent: vec![Groups::default(); crew.all()],
            own: crew.own(),
            turn: 0,
            turns: vec![0; crew.all()],
            following: Vec::new(),
            order: Order::default(),
        }
    }

    /// Forms the groups of one bucket of sorted postings; what goes to whom is then in `sent`.
    ///
    /// Within a key sizes ascend: once the size filter fails for a partner it fails for all after it. `stored` holds
    /// the postings of stored contents under the same keys, in the same order.
    fn form(&mut self, postings: &[Posting], mut stored: &[Posting], collided: &mut Collided) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            let key = group[0].key;
            let (of_key, rest) = stored.split_at(stored.partition_point(|posting| posting.key <= key));
            stored = rest;
            if self.is_crowd(group.len(), of_key.len()) {
                collided.crowds.push(of_key.iter().chain(group).map(|posting| posting.doc).collect());
                continue;
            }
            let contents = (of_key.len() + group.len()) as u64;
            if self.cap > 0 && contents > self.cap as u64 {
                collided.common.ignore(key, contents, group.len() as u64);
                continue;
            }
            group.iter().filter(|_| !of_key.is_empty()).for_each(|posting| self.send_alone(posting, of_key));
            if group.len() > 1 {
                self.send(group);
            }
        }
    }

    /// Whether there are more pairs in a group than in one of as many new contents as make a crowd. Pairs of stored
    /// contents are known: a few new ones can meet very many of them.
    fn is_crowd(&self, new: usize, stored: usize) -> bool {
        new.saturating_mul(2 * stored + new) > self.crowd.saturating_mul(self.crowd)
    }

    /// Addresses a new posting and the stored ones that it may be paired with to the home of the new one. Pairs of
    /// stored contents are known, so it is never they that lead.
    fn send_alone(&mut self, posting: &Posting, stored: &[Posting]) {
        let meets = |other: &&Posting| {
            let (small, large) = (posting.size.min(other.size), posting.size.max(other.size));
            self.sizes.is_none_or(|rule| rule.allows(small, large))
        };
        let home = posting.doc as usize % self.sent.len();
        let groups = &mut self.sent[home];
        let before = groups.docs.len();
        groups.docs.push(posting.doc);
        groups.docs.extend(stored.iter().filter(meets).map(|other| other.doc));
        if !self.own.contains(&home) {
            groups.met.extend(stored.iter().filter(meets).map(|other| (other.doc, other.size)));
        }
        let partners = groups.docs.len() - before - 1;
        if partners == 0 {
            groups.docs.truncate(before);
            return;
        }
        groups.following.push(partners as u32);
        groups.following.resize(before + 1 + partners, 0);
    }

    /// Addresses a group to every worker that is home to a member with partners behind it.
    fn send(&mut self, group: &[Posting]) {
        self.follow(group);
        self.turn += 1;
        for (posting, _) in group.iter().zip(&self.following).filter(|(_, following)| **following > 0) {
            let home = posting.doc as usize % self.sent.len();
            if std::mem::replace(&mut self.turns[home], self.turn) != self.turn {
                let groups = &mut self.sent[home];
                groups.docs.extend(group.iter().map(|posting| posting.doc));
                groups.following.extend_from_slice(&self.following);
            }
        }
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

    /// What goes out for this bucket.
    fn take(&mut self) -> impl Iterator<Item = Groups> + '_ {
        let filled = self.sent.iter_mut().zip(0..).filter(|(groups, _)| !groups.docs.is_empty());
        filled.map(|(groups, home)| Groups { home, ..std::mem::take(groups) })
    }
}

/// Collides postings of the first documents of all texts: `copies` names the others. `outcome` is complete when the
/// output's frontier is empty.
pub fn collide<'scope>(
    postings: Stream<'scope, u64, Vec<Posting>>,
    copies: Stream<'scope, u64, Vec<Copy>>,
    shared: Arc<Shared>,
    worker: usize,
    outcome: Rc<RefCell<Collided>>,
) -> Stream<'scope, u64, Vec<Groups>> {
    let scope = postings.scope();
    let crew = shared.crew;
    let by_key = Exchange::new(move |posting: &Posting| crew.of_key(posting.key) as u64);
    postings.binary_frontier::<_, CapacityContainerBuilder<Vec<Groups>>, _, _, _, _>(
        copies,
        by_key,
        Pipeline,
        "Collide",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut grouping = Grouping::of(&shared);
            let mut store = shared.postings(worker);
            let (mut lone, mut copied) = (Lone::default(), Vec::new());
            let mut cap = Some(cap);
            move |(input, frontier), (copies, copies_frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| shared.store(&mut store, batch)));
                copies.for_each_time(|_, data| {
                    data.for_each(|batch| batch.drain(..).for_each(|copy| set(&mut copied, copy.doc)));
                });
                if !frontier.is_empty() || !copies_frontier.is_empty() {
                    return;
                }
                let Some(held) = &cap else { return };
                let Some(mut postings) = shared.next_bucket(&mut store) else {
                    cap = None;
                    return;
                };
                let mut outcome = outcome.borrow_mut();
                outcome.postings +=
                    postings.iter().filter(|posting| !is_set(&copied, posting.doc)).count() as u64;
                let stored = match shared.stored() {
                    None => {
                        lone.drop_lone(&mut postings, &copied);
                        grouping.order.sort(&mut postings);
                        Vec::new()
                    }
                    Some(stored) => {
                        postings.retain(|posting| !is_set(&copied, posting.doc));
                        grouping.order.sort(&mut postings);
                        beside(&shared, stored, worker, &postings).unwrap_or_else(|error| {
                            shared.fail(error);
                            Vec::new()
                        })
                    }
                };
                grouping.form(&postings, &stored, &mut outcome);
                output.session(held).give_iterator(grouping.take());
                activator.activate();
            }
        },
    )
}

/// Keeps the postings of a load, and finds the stored ones under the same keys, sorted like them.
fn beside(shared: &Shared, stored: &dyn Stored, worker: usize, postings: &[Posting]) -> Result<Vec<Posting>> {
    shared.keep(worker, |keeper| keeper.postings(postings))?;
    let mut keys: Vec<u64> = postings.iter().map(|posting| posting.key).collect();
    keys.dedup();
    let mut found = Vec::new();
    stored.postings(&keys, &mut found)?;
    shared.met_stored(found.iter().map(|posting| (posting.doc, posting.size)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::count::Pair;
    use proptest::prelude::*;

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        prop::collection::btree_set((0u64..20, 0u32..30), 0..120).prop_map(|all| {
            let posting = |(key, doc): (u64, Doc)| Posting { key: key << 16, size: 10 + doc % 7, doc };
            all.into_iter().map(posting).collect()
        })
    }

    proptest! {
        #[test]
        fn order_equals_a_plain_sort(keys in prop::collection::vec((0u64..50, any::<u32>(), 0u32..9), 0..300),
                                     shift in prop::sample::select(vec![0u32, 20, 58])) {
            let posting = |(key, doc, size): &(u64, u32, u32)| Posting { key: key << shift, size: *size, doc: *doc };
            let mut postings: Vec<Posting> = keys.iter().map(posting).collect();
            let mut truth = postings.clone();
            truth.sort_unstable();
            Order::default().sort(&mut postings);
            prop_assert_eq!(postings, truth);
        }

        #[test]
        fn meets_exactly_the_pairs_of_a_key(all in postings(), copied in prop::collection::btree_set(0u32..30, 0..6),
                                            cap in prop::sample::select(vec![0usize, 3]), workers in 1usize..4,
                                            base in prop::sample::select(vec![0u32, 11, 30])) {
            // What is below `base` is stored.
            let rule = Test::Resemblance("0.8".parse().expect("a threshold"));
            let live: Vec<Posting> = all.iter().copied().filter(|p| !copied.contains(&p.doc)).collect();
            let mut truth = Vec::new();
            for (i, a) in live.iter().enumerate() {
                for b in &live[i + 1..] {
                    let group = live.iter().filter(|p| p.key == a.key).count();
                    if a.key == b.key && a.doc.max(b.doc) >= base && rule.needed(a.size, b.size).is_some() && (cap == 0 || group <= cap) {
                        truth.push(Pair::new(a.doc, b.doc));
                    }
                }
            }
            let mut copies = Vec::new();
            copied.iter().for_each(|doc| set(&mut copies, *doc));
            let (mut held, mut collided) = (all, Collided::default());
            if base == 0 {
                Lone::default().drop_lone(&mut held, &copies);
            }
            held.retain(|posting| !is_set(&copies, posting.doc));
            held.sort_unstable();
            let keys: Vec<u64> = held.iter().filter(|p| p.doc >= base).map(|p| p.key).collect();
            let (stored, held): (Vec<Posting>, Vec<Posting>) = held.into_iter().partition(|p| p.doc < base);
            let stored: Vec<Posting> = stored.into_iter().filter(|p| keys.contains(&p.key)).collect();
            let mut pairs = Vec::new();
            let mut grouping = Grouping::new(Some(rule), cap, usize::MAX, Crew::alone(workers));
            grouping.form(&held, &stored, &mut collided);
            for groups in grouping.take() {
                for (at, doc) in groups.docs.iter().enumerate().filter(|(_, doc)| **doc as usize % workers == groups.home as usize) {
                    let behind = &groups.docs[at + 1..=at + groups.following[at] as usize];
                    pairs.extend(behind.iter().map(|other| Pair::new(*doc, *other)));
                }
            }
            pairs.sort_unstable();
            truth.sort_unstable();
            prop_assert_eq!(pairs, truth);
            let everywhere = |key: &u64| live.iter().filter(|p| p.key == *key).count();
            let new: std::collections::BTreeSet<u64> = held.iter().map(|p| p.key).collect();
            let common = new.iter().filter(|key| cap > 0 && everywhere(key) > cap).count();
            prop_assert_eq!(collided.common.keys(), common as u64);
            if cap == 0 {
                let mut collided = Collided::default();
                Grouping::new(Some(rule), cap, 4, Crew::alone(workers)).form(&held, &stored, &mut collided);
                let of_key = |key: u64| live.iter().filter(move |p| p.key == key << 16);
                let sizes = (0..20u64).map(|key| {
                    let new = of_key(key).filter(|p| p.doc >= base).count();
                    (new, of_key(key).count() - new)
                });
                // More pairs, counted from both ends, than four contents have, each with all and itself.
                let crowds = sizes.filter(|(new, stored)| new * new + 2 * new * stored > 16);
                let groups: Vec<usize> = crowds.map(|(new, stored)| new + stored).collect();
                let found: Vec<usize> = collided.crowds.iter().map(Vec::len).collect();
                prop_assert_eq!(found, groups);
            }
        }
    }
}
