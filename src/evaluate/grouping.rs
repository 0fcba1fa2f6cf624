//! Sets of pairs of documents that may be very many, as groups and links; what two of them share.

use std::ops::Range;

use super::sizes::{SIZES, Sizes, between, within};
use crate::components::Forest;

/// A set of pairs of documents: all pairs within each group, and all pairs of a document of one group and a document of
/// another where the two groups are linked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The number of each document's group.
    of: Vec<u32>,
    /// Linked groups, the lower number first, sorted, each once.
    links: Vec<(u32, u32)>,
}

impl Grouping {
    /// Groups given by a number for each document, and links between such numbers; links of a group with itself, and
    /// those given twice, add nothing.
    pub fn new(of: Vec<u32>, links: impl IntoIterator<Item = (u32, u32)>) -> Grouping {
        let ordered = links.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b)));
        let mut links: Vec<(u32, u32)> = ordered.collect();
        links.sort_unstable();
        links.dedup();
        Grouping { of, links }
    }

    /// Each of `count` documents alone, with links between documents.
    pub fn alone(count: usize, links: impl IntoIterator<Item = (u32, u32)>) -> Grouping {
        Grouping::new((0..count as u32).collect(), links)
    }

    /// The number of each document's group.
    pub fn groups(&self) -> &[u32] {
        &self.of
    }

    /// How many pairs there are.
    pub fn count(&self) -> u64 {
        let top = self.of.iter().max().map_or(0, |group| *group as usize + 1);
        let mut sizes = vec![0u64; top];
        self.of.iter().for_each(|group| sizes[*group as usize] += 1);
        let size = |group: u32| sizes.get(group as usize).copied().unwrap_or(0);
        let within: u64 = sizes.iter().map(|size| size * size.saturating_sub(1) / 2).sum();
        within + self.links.iter().map(|(x, y)| size(*x) * size(*y)).sum::<u64>()
    }

    /// The same pairs among some of the documents, which are numbered anew in the order given.
    pub fn of_some(&self, documents: &[u32]) -> Grouping {
        let of = documents.iter().map(|document| self.of[*document as usize]).collect();
        Grouping { of, links: self.links.clone() }
    }

    /// Whether it has a pair.
    pub fn has(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.of[a as usize], self.of[b as usize]);
        a != b && (x == y || self.linked(x, y))
    }

    /// Whether two groups are linked.
    pub fn linked(&self, x: u32, y: u32) -> bool {
        self.links.binary_search(&(x.min(y), x.max(y))).is_ok()
    }

    /// Joins in `forest`, a forest of documents, all that a pair joins.
    pub fn join(&self, forest: &mut Forest) {
        let top = self.of.iter().max().map_or(0, |group| *group as usize + 1);
        let mut first = vec![u32::MAX; top];
        for (document, group) in (0..).zip(&self.of) {
            match first[*group as usize] {
                u32::MAX => first[*group as usize] = document,
                other => {
                    forest.union(other, document);
                }
            }
        }
        let first = |group: u32| first.get(group as usize).copied().filter(|first| *first != u32::MAX);
        for (x, y) in &self.links {
            if let (Some(a), Some(b)) = (first(*x), first(*y)) {
                forest.union(a, b);
            }
        }
    }

    /// Hands `emit` the pairs that two groupings of the same documents share, in portions: a document of the portion, and how
    /// many pairs there are by the size group of the shorter document (`sizes` has that of each). No pair is handed on twice.
    /// It takes as long as sorting the documents and going through the parts of linked groups.
    pub fn shared(&self, other: &Grouping, sizes: &[u8], mut emit: impl FnMut(u32, &Sizes)) {
        let parts = GroupingParts::new(&self.of, &other.of, sizes);
        // In one group of both.
        parts.all.iter().filter(|part| part.many.is_some()).for_each(|part| {
            emit(part.document, &within(&parts.sizes(part, sizes)));
        });
        // Linked here, and in one group of the other.
        for (x, y) in &self.links {
            parts.each_common(*x, *y, |a, b| {
                emit(a.document, &between(&parts.sizes(a, sizes), &parts.sizes(b, sizes)));
            });
        }
        if other.links.is_empty() {
            return;
        }
        // Linked in the other, and in one group here.
        let turned = GroupingParts::new(&other.of, &self.of, sizes);
        for (x, y) in &other.links {
            turned.each_common(*x, *y, |a, b| {
                emit(a.document, &between(&turned.sizes(a, sizes), &turned.sizes(b, sizes)));
            });
        }
        // Linked in both.
        let linked = LinkedGroups::new(other);
        for (x, y) in &self.links {
            let (few, many) = parts.fewer_first(*x, *y);
            for a in few {
                linked.each_of(a.other, many, GroupingPart::other, |b| {
                    emit(a.document, &between(&parts.sizes(a, sizes), &parts.sizes(b, sizes)));
                });
            }
        }
    }
}

/// The links of a grouping from either side.
pub(crate) struct LinkedGroups(Vec<(u32, u32)>);

impl LinkedGroups {
    /// Those of a grouping.
    pub(crate) fn new(grouping: &Grouping) -> LinkedGroups {
        let mut links: Vec<(u32, u32)> = grouping.links.iter().flat_map(|&(x, y)| [(x, y), (y, x)]).collect();
        links.sort_unstable();
        LinkedGroups(links)
    }

    /// Hands on those of `others`, sorted by their groups, that are linked to a group: found from whichever are fewer.
    pub(crate) fn each_of<'a, T>(
        &self,
        group: u32,
        others: &'a [T],
        group_of: impl Fn(&T) -> u32,
        mut see: impl FnMut(&'a T),
    ) {
        let start = self.0.partition_point(|(x, _)| *x < group);
        let linked = &self.0[start..];
        let linked = &linked[..linked.partition_point(|(x, _)| *x == group)];
        if linked.len() < others.len() {
            let found = |y: &u32| others.binary_search_by_key(y, &group_of).ok();
            linked.iter().filter_map(|(_, y)| found(y)).for_each(|at| see(&others[at]));
        } else {
            let is_linked = |other: &&T| linked.binary_search(&(group, group_of(other))).is_ok();
            others.iter().filter(is_linked).for_each(see);
        }
    }
}

/// What groups of one grouping have in common with groups of another.
struct GroupingParts {
    /// Sorted by group, then by the other group.
    all: Vec<GroupingPart>,
    /// Documents by size group of those parts that have several.
    many: Vec<Sizes>,
}

/// The documents of a group that are in one group of the other grouping.
struct GroupingPart {
    group: u32,
    other: u32,
    /// The first of them.
    document: u32,
    /// Where their sizes are, if there are several.
    many: Option<u32>,
}

impl GroupingPart {
    fn other(&self) -> u32 {
        self.other
    }
}

impl GroupingParts {
    fn new(of: &[u32], other: &[u32], sizes: &[u8]) -> GroupingParts {
        let key = |document: &u32| (of[*document as usize], other[*document as usize], *document);
        let mut order: Vec<u32> = (0..of.len() as u32).collect();
        order.sort_unstable_by_key(key);
        let mut parts = GroupingParts { all: Vec::new(), many: Vec::new() };
        for documents in order.chunk_by(|a, b| (key(a).0, key(a).1) == (key(b).0, key(b).1)) {
            let (group, other, document) = key(&documents[0]);
            let many = (documents.len() > 1).then_some(parts.many.len() as u32);
            if many.is_some() {
                let mut histogram = [0; SIZES];
                documents.iter().for_each(|document| histogram[sizes[*document as usize] as usize] += 1);
                parts.many.push(histogram);
            }
            parts.all.push(GroupingPart { group, other, document, many });
        }
        parts
    }

    /// How many documents of each size group a part has.
    fn sizes(&self, part: &GroupingPart, sizes: &[u8]) -> Sizes {
        part.many.map_or_else(
            || {
                let mut one = [0; SIZES];
                one[sizes[part.document as usize] as usize] = 1;
                one
            },
            |at| self.many[at as usize],
        )
    }

    /// Where the parts of a group are.
    fn of(&self, group: u32) -> Range<usize> {
        let start = self.all.partition_point(|part| part.group < group);
        start..start + self.all[start..].partition_point(|part| part.group == group)
    }

    /// The parts of two groups, those of the group first that has fewer.
    fn fewer_first(&self, x: u32, y: u32) -> (&[GroupingPart], &[GroupingPart]) {
        let (a, b) = (&self.all[self.of(x)], &self.all[self.of(y)]);
        if a.len() <= b.len() { (a, b) } else { (b, a) }
    }

    /// Parts of two groups that are in the same group of the other grouping.
    fn each_common(&self, x: u32, y: u32, mut see: impl FnMut(&GroupingPart, &GroupingPart)) {
        let (few, many) = self.fewer_first(x, y);
        for a in few {
            if let Ok(at) = many.binary_search_by_key(&a.other, GroupingPart::other) {
                see(a, &many[at]);
            }
        }
    }
}
