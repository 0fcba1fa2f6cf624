//! Members that are too common: what two sets share of them, and sets of which no two share any.
//!
//! In the latter one that no other content has is in the place of each. So sets keep their sizes, and whatever meets or measures
//! them needs to know nothing of it.

use hashbrown::HashSet;

use crate::document::Doc;
use crate::flow::memory::document_bits::is_set;
use crate::sketch::finish;

/// Bits of a look-up that tells most other members.
const LOOK: usize = 1 << 16;

/// The members that are too common, and the contents that may have one.
#[derive(Debug)]
pub struct CommonMembers {
    members: HashSet<u64>,
    look: Vec<u64>,
    having: Vec<u64>,
}

impl CommonMembers {
    /// Some members, and a bit for each content that may have one.
    pub fn new(members: impl Iterator<Item = u64>, having: Vec<u64>) -> CommonMembers {
        let mut common = CommonMembers { members: HashSet::new(), look: vec![0; LOOK / 64], having };
        for member in members {
            let (word, bit) = place(member);
            common.look[word] |= bit;
            common.members.insert(member);
        }
        common
    }

    /// Whether a content may have one of them.
    pub fn may_be_of(&self, doc: Doc) -> bool {
        !self.members.is_empty() && is_set(&self.having, doc)
    }

    /// Writes to `apart` (cleared first) the set of a content, with a member of its own in the place of each one that is too
    /// common. Both are ascending.
    pub fn set_apart(&self, doc: Doc, set: &[u64], apart: &mut Vec<u64>) {
        apart.clear();
        let own = |member: u64| finish(member ^ (u64::from(doc) + 1).wrapping_mul(ODD));
        let of = |member: &u64| if self.contains(*member) { own(*member) } else { *member };
        apart.extend(set.iter().map(of));
        apart.sort_unstable();
    }

    /// How many members that are too common two ascending sets share.
    pub fn shared(&self, a: &[u64], b: &[u64]) -> u32 {
        let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let is_shared = |member: &&u64| self.contains(**member) && many.binary_search(member).is_ok();
        few.iter().filter(is_shared).count() as u32
    }

    fn contains(&self, member: u64) -> bool {
        let (word, bit) = place(member);
        self.look[word] & bit != 0 && self.members.contains(&member)
    }
}

/// What numbers of documents are spread by.
const ODD: u64 = 0xd6e8_feb8_6659_fd93;

fn place(member: u64) -> (usize, u64) {
    let at = (member >> 24) as usize % LOOK;
    (at / 64, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::memory::document_bits::set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Sets keep their sizes and share what is not too common.
        #[test]
        fn sets_share_all_but_what_is_too_common(a in prop::collection::btree_set(0u64..60, 0..40),
                                                 b in prop::collection::btree_set(0u64..60, 0..40),
                                                 common in prop::collection::btree_set(0u64..60, 0..20)) {
            let mut having = Vec::new();
            [3, 70].into_iter().for_each(|doc| set(&mut having, doc));
            let members = CommonMembers::new(common.iter().copied(), having);
            prop_assert_eq!(members.may_be_of(3), !common.is_empty());
            prop_assert!(!members.may_be_of(4) && !members.may_be_of(700));
            let apart = |doc: Doc, set: &BTreeSet<u64>| {
                let mut apart = vec![9];
                members.set_apart(doc, &set.iter().copied().collect::<Vec<_>>(), &mut apart);
                assert!(apart.is_sorted_by(|a, b| a < b) && apart.len() == set.len());
                apart.into_iter().collect::<BTreeSet<u64>>()
            };
            let (x, y) = (apart(3, &a), apart(70, &b));
            let shared: BTreeSet<u64> = x.intersection(&y).copied().collect();
            let truth: BTreeSet<u64> = a.intersection(&b).copied().filter(|member| !common.contains(member)).collect();
            prop_assert_eq!(&shared, &truth);
            let whole = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<u64>>();
            prop_assert_eq!(members.shared(&whole(&a), &whole(&b)) as usize + truth.len(), a.intersection(&b).count());
        }
    }
}
