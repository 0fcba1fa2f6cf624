//! Groups of postings of which some index a document and all probe for it: a pair meets where its smaller set indexes the key.
//!
//! The first keys of a set, as many as it shares with none smaller than itself at least one of, are its *indexing* prefix; the
//! longer prefix by which all sets are found is its *probing* prefix (Bayardo, Ma and Srikant 2007, section 4; Xiao et al. 2008).
//! Of a family of pages that share a template, each is indexed by its own part alone as long as that is larger than the
//! indexing prefix; then no two of them meet.
//!
//! Where a protected document is to be contained in a new one, a pair meets where the protected one indexes the key, whatever
//! their sizes, and protected documents show no other keys.

use bytemuck::{Pod, Zeroable};

use crate::document::Doc;
use crate::flow::context::RunContext;
use crate::flow::distributed::topology::Topology;
use crate::flow::operators::collide::addressed::{AddressedGroups, Grouped};
use crate::flow::packed::columns::{push_column, push_words, take_column, take_narrow_column, take_words};
use crate::flow::packed::container::{MOST_PACKED, Packable};
use crate::flow::records::Keyed;
use crate::flow::results::gathered::Collided;
use crate::flow::results::hot_groups::HotGroup;
use crate::limits::{MAX_EXPANDED_GROUP, MAX_PAIRS_OF_MEMBER};
use crate::similarity::{AcceptanceRule, PairTest};
use crate::sketch::spread;
use crate::threshold::Threshold;

/// One key of one document, which may be indexed by it. Twenty-four bytes without padding.
///
/// Postings of a key are in the order of sizes. Of two documents the one that stands first is the one whose indexing counts, and
/// of two new ones the one that leads, under whatever key they meet: so what decides between equal sizes belongs to the set, not to the key or the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct IndexedPosting {
    /// The key.
    pub key: u64,
    /// The size of the document's set.
    pub size: u32,
    /// Decides between sets of one size.
    tie: u32,
    /// The document.
    pub doc: Doc,
    /// How many members of the set come before the key in the order, doubled; odd if the key is in the indexing prefix.
    place_in_set: u32,
}

/// A document, as all of its postings know it.
#[derive(Clone, Copy)]
pub struct IndexedSet {
    doc: Doc,
    size: u32,
    tie: u32,
    /// Makes its keys differ from those of documents that it is not to be compared with.
    salt: u64,
}

impl IndexedSet {
    /// A document whose set has these members; `salt` makes its keys differ from those of documents that it is not to be
    /// compared with.
    pub fn of(doc: Doc, set: &[u64], salt: u64) -> IndexedSet {
        let sum = set.iter().fold(0u64, |sum, member| sum.wrapping_add(*member));
        IndexedSet { doc, size: set.len() as u32, tie: (spread(sum) >> 32) as u32, salt }
    }

    /// Its posting of a member of the set that so many others, or more, come before in the order.
    pub fn posting(self, member: u64, before: usize, is_indexing: bool) -> IndexedPosting {
        let IndexedSet { doc, size, tie, salt } = self;
        let place_in_set = before.min((u32::MAX / 2) as usize) as u32 * 2 + u32::from(is_indexing);
        IndexedPosting { key: spread(member) ^ salt, size, tie, doc, place_in_set }
    }

    /// What tells it from other documents, in a word.
    pub fn place(self) -> u64 {
        word(self.size, self.tie)
    }

    /// The document of which [`IndexedSet::place`] is this, with its salt.
    pub fn at(doc: Doc, place: u64, salt: u64) -> IndexedSet {
        let (size, tie) = halves(place);
        IndexedSet { doc, size, tie, salt }
    }
}

fn word(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl IndexedPosting {
    fn is_indexing(&self) -> bool {
        self.place_in_set & 1 == 1
    }

    /// How much of its set is left from the key on: no more than that is shared with a set with which it shares nothing before.
    fn rest(&self) -> u32 {
        self.size.saturating_sub(self.place_in_set >> 1)
    }

    fn place(&self) -> (u32, u32, Doc) {
        (self.size, self.tie, self.doc)
    }
}

/// Postings of one document follow each other, so that what all of these have is said once.
impl Packable for IndexedPosting {
    fn pack(records: &[IndexedPosting], bytes: &mut Vec<u8>) {
        let of_doc = records.chunk_by(|a, b| a.place() == b.place());
        let runs: Vec<(&IndexedPosting, usize)> = of_doc.map(|run| (&run[0], run.len())).collect();
        push_column(runs.iter().map(|(first, _)| u64::from(first.doc)), bytes);
        push_column(runs.iter().map(|(first, _)| u64::from(first.size)), bytes);
        push_column(runs.iter().map(|(_, keys)| *keys as u64), bytes);
        push_words(runs.iter().map(|(first, _)| u64::from(first.tie)), bytes);
        push_column(records.iter().map(|posting| u64::from(posting.place_in_set)), bytes);
        push_words(records.iter().map(|posting| posting.key), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Vec<IndexedPosting>> {
        let docs = take_narrow_column(bytes, MOST_PACKED)?;
        let sizes = take_narrow_column(bytes, MOST_PACKED)?;
        let counts = take_column(bytes, MOST_PACKED)?;
        if docs.len() != sizes.len() || docs.len() != counts.len() {
            return None;
        }
        let ties = take_words(bytes, docs.len())?;
        let places = take_narrow_column(bytes, MOST_PACKED)?;
        let mut keys = take_words(bytes, places.len())?.zip(places);
        let mut postings = Vec::with_capacity(keys.len());
        for (((doc, size), count), tie) in docs.into_iter().zip(sizes).zip(counts).zip(ties) {
            let (first, tie) = (postings.len() as u64, u32::try_from(tie).ok()?);
            let of_doc = keys.by_ref().take(usize::try_from(count).ok()?);
            postings.extend(of_doc.map(|(key, place_in_set)| IndexedPosting {
                key,
                size,
                tie,
                doc,
                place_in_set,
            }));
            if postings.len() as u64 - first != count {
                return None;
            }
        }
        keys.next().is_none().then_some(postings)
    }
}

impl Keyed for IndexedPosting {
    fn key(&self) -> u64 {
        self.key
    }
}

impl Grouped for IndexedPosting {
    fn doc(&self) -> Doc {
        self.doc
    }

    fn size(&self) -> u32 {
        self.size
    }
}

/// How such postings become groups.
pub struct IndexedGrouping {
    sizes: Option<PairTest>,
    /// The rule, where protected documents are to be contained in new ones.
    of_protected: Option<AcceptanceRule>,
    /// The resemblance of which sizes, and places in sets, tell that two are below it.
    resembling: Option<Threshold>,
    /// Whether new documents are paired with each other.
    among_new: bool,
    /// A group with more pairs is a hot group: so many in all, and so many for each member.
    most_pairs: (u64, u64),
    /// What goes out.
    pub addressed: AddressedGroups,
    following: Vec<u32>,
    new: Vec<IndexedPosting>,
    stored: Vec<IndexedPosting>,
    /// Those of `stored` that index.
    indexing: Vec<IndexedPosting>,
}

impl IndexedGrouping {
    /// Groups as a run wants them; if every pair is asked for, none is hot.
    pub fn of(context: &RunContext) -> IndexedGrouping {
        let most = MAX_EXPANDED_GROUP as u64;
        let most_pairs =
            if context.pairs { (u64::MAX, 0) } else { (most * most / 2, MAX_PAIRS_OF_MEMBER as u64) };
        let among_new = context.compares_new();
        IndexedGrouping { among_new, ..IndexedGrouping::new(context.rule, most_pairs, context.topology) }
    }

    fn new(rule: Option<AcceptanceRule>, most_pairs: (u64, u64), topology: Topology) -> IndexedGrouping {
        IndexedGrouping {
            sizes: rule.map(AcceptanceRule::own),
            of_protected: rule.filter(|rule| rule.of_protected().is_some()),
            resembling: rule.and_then(resembling),
            among_new: true,
            most_pairs,
            addressed: AddressedGroups::new(topology),
            following: Vec::new(),
            new: Vec::new(),
            stored: Vec::new(),
            indexing: Vec::new(),
        }
    }

    /// Forms the groups of one bucket of sorted postings, new ones and others, which are stored or protected, among each other;
    /// what goes to whom is then in `addressed`.
    pub fn form(
        &mut self,
        postings: &[IndexedPosting],
        is_new: impl Fn(Doc) -> bool,
        collided: &mut Collided,
    ) {
        for group in postings.chunk_by(|a, b| a.key == b.key) {
            if !group.iter().any(IndexedPosting::is_indexing)
                || !group.iter().any(|posting| is_new(posting.doc))
            {
                continue;
            }
            self.split(group, &is_new);
            if self.is_hot(group) {
                collided.hot_groups.extend(self.set_aside(group, &is_new));
                continue;
            }
            match self.of_protected {
                _ if self.stored.is_empty() => {}
                Some(rule) => self.send_to_contained(rule),
                None => self.send_to_stored(),
            }
            if self.among_new && self.new.len() > 1 {
                follow(self.sizes, &self.new, &mut self.following);
                self.addressed.send(&self.new, &self.following);
            }
        }
    }

    fn split(&mut self, group: &[IndexedPosting], is_new: impl Fn(Doc) -> bool) {
        self.new.clear();
        self.stored.clear();
        self.indexing.clear();
        for posting in group {
            if is_new(posting.doc) {
                self.new.push(*posting);
                continue;
            }
            self.stored.push(*posting);
            if posting.is_indexing() {
                self.indexing.push(*posting);
            }
        }
    }

    /// Whether more pairs meet in a group than are expanded. Pairs of stored contents are known.
    fn is_hot(&mut self, group: &[IndexedPosting]) -> bool {
        let members = group.len() as u64;
        let most = self.most_pairs.0.max(self.most_pairs.1.saturating_mul(members));
        if members.saturating_mul(members) <= most {
            return false;
        }
        let mut pairs = |some: &[IndexedPosting]| -> u64 {
            follow(self.sizes, some, &mut self.following);
            self.following.iter().map(|following| u64::from(*following)).sum()
        };
        if let Some(rule) = self.of_protected {
            let among_new = if self.among_new { pairs(&self.new) } else { 0 };
            let met = |posting: &IndexedPosting| may_be_contained(rule, &self.indexing, posting).len() as u64;
            return among_new + self.new.iter().map(met).sum::<u64>() > most;
        }
        let among_new = if self.among_new { 0 } else { pairs(&self.new) };
        pairs(group) - pairs(&self.stored) - among_new > most
    }

    /// A group that goes to the clustering, if any two of its members may be linked by this key.
    ///
    /// Members that have the key behind those that index them are linked to none of their own size by it. Where there are many of
    /// these, whom each may be linked with is told. Two that share a key which is counted become candidates if they are alike: who
    /// shows such a key is marked, and it is not held against a pair of such a one that few keys were counted. The others are measured
    /// in the group of the first key that they share in the order. From there on each set has at least as much left as they share, and so
    /// as much as they need (the positional filter of Xiao et al. 2008, section 3.2): that bounds the size of the other one.
    fn set_aside(&mut self, group: &[IndexedPosting], is_new: impl Fn(Doc) -> bool) -> Option<HotGroup> {
        let limit = |threshold: Threshold, posting: &IndexedPosting| {
            threshold.largest_resembled(posting.size.into(), posting.rest().into()).min(u32::MAX.into())
                as u32
        };
        let limits = |threshold: Threshold| group.iter().map(|posting| limit(threshold, posting)).collect();
        let limits: Option<Vec<u32>> = self.resembling.map(limits);
        let Some(limits) = limits.filter(|limits| self.tells_many_apart(group, limits)) else {
            return Some(HotGroup::of(group.iter().map(|posting| posting.doc).collect()));
        };
        group
            .iter()
            .filter(|posting| is_new(posting.doc))
            .for_each(|posting| self.addressed.mark_hot(posting.doc));
        let members = group.iter().zip(limits.iter().copied()).zip(meet_any(group, &limits));
        let members: Vec<(Doc, u32)> =
            members.filter_map(|((posting, limit), meets)| meets.then_some((posting.doc, limit))).collect();
        let any_new = members.iter().any(|(doc, _)| is_new(*doc));
        any_new.then(|| HotGroup::limited(members))
    }

    /// Whether limits tell more pairs of a group apart than would be expanded of it: at least those of members that are linked to none
    /// of their own size, and so to none that is behind them.
    fn tells_many_apart(&self, group: &[IndexedPosting], limits: &[u32]) -> bool {
        let members = group.iter().zip(limits).zip((0..group.len() as u64).rev());
        let apart = members.filter(|((posting, limit), _)| **limit < posting.size).map(|(_, behind)| behind);
        apart.sum::<u64>() > self.most_pairs.1.saturating_mul(group.len() as u64)
    }

    /// Addresses each new member with the protected ones that index the key and may be contained in it.
    fn send_to_contained(&mut self, rule: AcceptanceRule) {
        for posting in &self.new {
            let met = may_be_contained(rule, &self.indexing, posting);
            self.addressed.send_alone(posting, met.iter());
        }
    }

    /// Addresses each new member with the stored ones that it meets.
    fn send_to_stored(&mut self) {
        let IndexedGrouping { sizes, addressed, new, stored, indexing, .. } = self;
        for posting in new.iter() {
            let meets = |other: &&IndexedPosting| allows(*sizes, posting, other);
            let place =
                |some: &[IndexedPosting]| some.partition_point(|other| other.place() < posting.place());
            // Those before it that index, and, if it does, all behind it.
            let before = &indexing[..place(indexing)];
            let behind = if posting.is_indexing() { &stored[place(stored)..] } else { &[] };
            let met = before.iter().rev().take_while(meets).chain(behind.iter().take_while(meets));
            addressed.send_alone(posting, met);
        }
    }
}

/// The resemblance that a rule asks for, if that is all it asks and sets show their first members in one order.
fn resembling(rule: AcceptanceRule) -> Option<Threshold> {
    rule.prefix().filter(|_| rule.of_protected().is_none())?;
    match rule.own() {
        PairTest::Resemblance(threshold) => Some(threshold),
        _ => None,
    }
}

/// Which members of a group, in the order of sizes, are with another one so that each is within the limit of the other.
fn meet_any(group: &[IndexedPosting], limits: &[u32]) -> Vec<bool> {
    // The two greatest limits of those up to each place: one of them may be that of the member itself.
    let mut two = [0; 2];
    let up_to = |limit: &u32| {
        two = if *limit > two[0] { [*limit, two[0]] } else { [two[0], two[1].max(*limit)] };
        two
    };
    let greatest: Vec<[u32; 2]> = limits.iter().map(up_to).collect();
    let meets = |(at, posting): (usize, &IndexedPosting)| {
        let within = group.partition_point(|other| other.size <= limits[at]);
        let Some([first, second]) = greatest[..within].last() else { return false };
        let others = if at < within && limits[at] == *first { second } else { first };
        posting.size <= *others
    };
    group.iter().enumerate().map(meets).collect()
}

fn allows(sizes: Option<PairTest>, a: &IndexedPosting, b: &IndexedPosting) -> bool {
    sizes.is_none_or(|rule| rule.allows(a.size, b.size))
}

/// Those of some protected documents, in the order of sizes, that are not too large to be contained in a new one.
fn may_be_contained<'a>(
    rule: AcceptanceRule,
    protected: &'a [IndexedPosting],
    new: &IndexedPosting,
) -> &'a [IndexedPosting] {
    let end = protected.partition_point(|one| rule.needed_of_protected(one.size, new.size).is_some());
    &protected[..end]
}

/// For each member of a group how many behind it it meets: none, unless it indexes the key.
fn follow(sizes: Option<PairTest>, group: &[IndexedPosting], following: &mut Vec<u32>) {
    following.clear();
    let mut end = 0;
    for (at, a) in group.iter().enumerate() {
        if !a.is_indexing() {
            following.push(0);
            continue;
        }
        end = end.max(at + 1);
        end += group[end..].iter().take_while(|b| allows(sizes, a, b)).count();
        following.push((end - at - 1) as u32);
    }
}

#[cfg(test)]
#[path = "indexed_tests.rs"]
mod tests;
