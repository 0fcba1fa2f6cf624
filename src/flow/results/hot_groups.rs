//! Hot groups: contents under one key, too many to be expanded into pairs.

use serde::{Deserialize, Serialize};

use crate::document::Doc;

/// Larger groups that each one is compared with, to see whether all of its pairs meet there, too.
const COMPARED: usize = 256;

/// The contents under one key. Which of them are linked is measured where clusters are formed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotGroup {
    docs: Vec<Doc>,
    /// For each of them the largest set that it can be linked with here; nothing where that is not known.
    limits: Vec<u32>,
}

impl HotGroup {
    /// Contents that may be linked whatever their sizes.
    pub fn of(docs: Vec<Doc>) -> HotGroup {
        HotGroup { docs, limits: Vec::new() }
    }

    /// Contents with the size of the largest set that each can be linked with here. Two of them may be linked if each is within
    /// the limit of the other.
    pub fn limited(mut members: Vec<(Doc, u32)>) -> HotGroup {
        members.sort_unstable();
        let (docs, limits) = members.into_iter().unzip();
        HotGroup { docs, limits }
    }

    /// The contents.
    pub fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// The contents, in the memory of their list.
    pub fn into_docs(self) -> Vec<Doc> {
        self.docs
    }

    /// Number of contents.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The contents with the size of the largest set that each can be linked with here.
    pub fn members(&self) -> impl Iterator<Item = (Doc, u32)> + Clone + '_ {
        let limit = |at: usize| self.limits.get(at).copied().unwrap_or(u32::MAX);
        self.docs.iter().enumerate().map(move |(at, doc)| (*doc, limit(at)))
    }

    /// Whether all pairs that meet in `other`, whose contents are sorted as those of this one are, meet here, too.
    fn covers(&self, other: &HotGroup) -> bool {
        let mut at = 0;
        other.docs.iter().zip(&other.limits).all(|(doc, limit)| {
            let found = self.docs[at..].binary_search(doc);
            at += found.unwrap_or(0);
            found.is_ok() && self.limits[at] >= *limit
        })
    }
}

/// Drops groups of which all pairs meet in a larger one, too. Pages of a family meet under each shingle of their template; in
/// the group of the one that comes first in the order meet all who meet under any.
pub fn drop_covered(groups: &mut Vec<HotGroup>) {
    let (mut limited, rest): (Vec<HotGroup>, Vec<HotGroup>) =
        std::mem::take(groups).into_iter().partition(|group| !group.limits.is_empty());
    limited.sort_unstable_by(|a, b| {
        b.len().cmp(&a.len()).then_with(|| (&b.limits, &a.docs).cmp(&(&a.limits, &b.docs)))
    });
    *groups = rest;
    let first = groups.len();
    for group in limited {
        if !groups[first..].iter().take(COMPARED).any(|larger| larger.covers(&group)) {
            groups.push(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn pairs(groups: &[HotGroup], size: impl Fn(Doc) -> u32) -> BTreeSet<(Doc, Doc)> {
        let mut pairs = BTreeSet::new();
        for group in groups {
            for (a, of_a) in group.members() {
                let met = group.members().filter(|(b, of_b)| a < *b && size(a) <= *of_b && size(*b) <= of_a);
                pairs.extend(met.map(|(b, _)| (a, b)));
            }
        }
        pairs
    }

    proptest! {
        #[test]
        fn the_same_pairs_meet_without_groups_that_others_cover(
            all in prop::collection::vec((any::<bool>(), prop::collection::btree_map(0u32..12, 0u32..9, 1..9)), 0..12),
        ) {
            let mut groups: Vec<HotGroup> = all.into_iter().map(|(limited, members)| match limited {
                true => HotGroup::limited(members.into_iter().collect()),
                false => HotGroup::of(members.into_keys().collect()),
            }).collect();
            let size = |doc: Doc| doc * 5 % 8;
            let before = pairs(&groups, size);
            // What goes through a smaller template is in the group of a larger one.
            let part: Vec<HotGroup> = groups.iter().filter(|group| !group.limits.is_empty())
                .map(|group| HotGroup::limited(group.members().take(2).map(|(doc, limit)| (doc, limit / 2)).collect())).collect();
            let whole = groups.len();
            groups.extend(part);
            drop_covered(&mut groups);
            prop_assert!(groups.len() <= whole);
            prop_assert_eq!(pairs(&groups, size), before);
        }
    }
}
