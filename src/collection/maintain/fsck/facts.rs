//! What is known of live contents, one fact behind the other in the order of their numbers. Tables speak of contents in any order: where
//! a fact is follows from a bit for each number, and from counts of those before, which stay in the processor's caches.

use crate::document::Doc;

/// What is known of a live content.
#[derive(Debug, Default)]
pub(super) struct Fact {
    pub(super) documents: u32,
    pub(super) label: u32,
    pub(super) place: u32,
    /// Documents by their own rows, and those by rows of members.
    pub(super) counted: (u32, u32),
    /// Its digest, once that is known.
    pub(super) digest: u128,
    pub(super) has_digest: bool,
    pub(super) has_text: bool,
    pub(super) has_component: bool,
    /// Sums that have to come out as 0.
    pub(super) members: u64,
    pub(super) links: u64,
    pub(super) signature: u64,
    /// What its keys are made different by, where not all documents are compared.
    pub(super) salt: Option<u64>,
}

/// The facts of all live contents.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The contents, a bit each.
    live: Vec<u64>,
    /// For each word of these, how many contents the words before it have.
    before: Vec<u32>,
    facts: Vec<Fact>,
    /// Sums of postings, which have to come out as 0. Rows come in the order of keys, so that each is another content's: apart from the
    /// other facts more of them are near.
    postings: Vec<u64>,
}

impl Facts {
    /// Adds the fact of a content behind all others; false if it does not come behind them.
    pub(super) fn push(&mut self, content: Doc, fact: Fact) -> bool {
        let word = content as usize / 64;
        if self.live.len() > word + 1 || self.live.get(word).is_some_and(|bits| bits >> (content % 64) != 0) {
            return false;
        }
        while self.live.len() <= word {
            self.live.push(0);
            self.before.push(self.facts.len() as u32);
        }
        self.live[word] |= 1 << (content % 64);
        self.facts.push(fact);
        self.postings.push(0);
        true
    }

    /// How many contents are live.
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    /// The number of a content among live ones, if it is one.
    pub(super) fn number(&self, content: u64) -> Option<usize> {
        let at = usize::try_from(content / 64).ok()?;
        let (word, bit) = (*self.live.get(at)?, 1 << (content % 64));
        (word & bit != 0).then(|| self.before[at] as usize + (word & (bit - 1)).count_ones() as usize)
    }

    /// Whether a content is live.
    pub(super) fn has(&self, content: u64) -> bool {
        self.number(content).is_some()
    }

    /// What is known of a content, if it is live.
    pub(super) fn get(&self, content: u64) -> Option<&Fact> {
        self.number(content).map(|number| &self.facts[number])
    }

    /// The same, to be added to.
    pub(super) fn get_mut(&mut self, content: u64) -> Option<&mut Fact> {
        self.number(content).map(|number| &mut self.facts[number])
    }

    /// The sum of the postings of a content, if it is live.
    pub(super) fn postings_mut(&mut self, content: u64) -> Option<&mut u64> {
        self.number(content).map(|number| &mut self.postings[number])
    }

    /// The live contents of which this is true, given the fact and the sum of the postings, ascending.
    pub(super) fn which(&self, is: impl Fn(&Fact, u64) -> bool) -> Vec<Doc> {
        let sums = self.facts.iter().zip(&self.postings);
        self.contents()
            .zip(sums)
            .filter(|(_, (fact, sum))| is(fact, **sum))
            .map(|(content, _)| content)
            .collect()
    }

    /// The live contents with what is known of them, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Doc, &Fact)> {
        self.contents().zip(&self.facts)
    }

    fn contents(&self) -> impl Iterator<Item = Doc> {
        let words = (0..).zip(&self.live);
        words.flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn facts_are_found_by_their_contents(
            contents in prop::collection::btree_set(0u32..400, 0..60), asked in prop::collection::vec(prop_oneof![0u64..500, any::<u64>()], 0..60),
        ) {
            let mut facts = Facts::default();
            let twin: BTreeMap<u64, u32> = contents.iter().map(|content| (u64::from(*content), content * 3)).collect();
            for content in &contents {
                let is_new = facts.push(*content, Fact { label: content * 3, ..Fact::default() });
                prop_assert!(is_new);
                prop_assert!((0..=*content).rev().step_by(9).all(|before| !facts.push(before, Fact::default())));
            }
            prop_assert_eq!(facts.len(), twin.len());
            for content in asked.into_iter().chain(contents.iter().map(|content| u64::from(*content))) {
                prop_assert_eq!(facts.get(content).map(|fact| fact.label), twin.get(&content).copied());
                prop_assert_eq!(facts.number(content), twin.contains_key(&content).then(|| twin.range(..content).count()));
                if let Some(sum) = facts.postings_mut(content) {
                    *sum = content;
                }
            }
            let all: Vec<(u64, u32)> = facts.iter().map(|(content, fact)| (u64::from(content), fact.label)).collect();
            prop_assert_eq!(all, twin.into_iter().collect::<Vec<_>>());
            let odd: Vec<u32> = contents.iter().copied().filter(|content| content % 2 == 1).collect();
            prop_assert_eq!(facts.which(|fact, sum| fact.label % 2 == 1 && sum % 2 == 1), odd);
        }
    }
}
