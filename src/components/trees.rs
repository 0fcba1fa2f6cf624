//! Links that stay, contracted by the worker that has them before anything is exchanged.

use hashbrown::HashMap;

use super::link::Link;
use crate::document::Doc;

/// Trees over the contents that this worker's links connect. The root of a tree is its least content.
///
/// Of the links that it is given, a worker passes on one for each content that is not a root, to the root. They connect
/// what the links connect, and they are all that the other workers need to know. That is sound as long as none of the
/// links is taken back: a link that was not passed on, because others stood for it, cannot be found again when those go,
/// and the one that stood for it was in no list of anybody's.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// What a content hangs on; roots hang on nothing.
    above: HashMap<Doc, Doc>,
    /// Contents that were roots, and are not since the last links were taken.
    hung: Vec<Doc>,
}

impl Trees {
    /// Adds links.
    pub(super) fn add(&mut self, links: impl IntoIterator<Item = Link>) {
        for (a, b) in links {
            let (a, b) = (self.root(a), self.root(b));
            if a != b {
                self.above.insert(a.max(b), a.min(b));
                self.hung.push(a.max(b));
            }
        }
    }

    /// The links that say the same as all that were added since these were taken for the last time.
    pub(super) fn take(&mut self) -> Vec<Link> {
        let hung = std::mem::take(&mut self.hung);
        hung.into_iter().map(|content| (self.root(content), content)).collect()
    }

    /// The root of a content's tree. Paths are halved on the way.
    fn root(&mut self, mut content: Doc) -> Doc {
        while let Some(above) = self.above.get(&content).copied() {
            let Some(higher) = self.above.get(&above).copied() else { return above };
            self.above.insert(content, higher);
            content = higher;
        }
        content
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::labels_of;
    use super::*;

    proptest! {
        #[test]
        fn what_is_taken_connects_the_same(
            batches in prop::collection::vec(prop::collection::vec((0u32..30, 0u32..30), 0..20), 1..4),
        ) {
            let (mut trees, mut all, mut taken) = (Trees::default(), Vec::new(), Vec::new());
            for batch in batches {
                all.extend(batch.iter().copied());
                trees.add(batch);
                taken.extend(trees.take());
                let (want, got) = (labels_of(&all), labels_of(&taken));
                prop_assert_eq!(got, want);
            }
            prop_assert!(taken.len() < 30, "a forest has fewer links than contents");
        }
    }

    #[test]
    fn a_chain_is_taken_as_a_star() {
        let mut trees = Trees::default();
        trees.add((1..100).rev().map(|content| (content, content - 1)));
        let mut star = trees.take();
        star.sort_unstable();
        assert_eq!(star, (1..100).map(|content| (0, content)).collect::<Vec<_>>());
        assert_eq!(trees.take(), []);
    }
}
