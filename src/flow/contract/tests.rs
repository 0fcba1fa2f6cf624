use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The labels of linked contents, by union-find from scratch.
pub(super) fn labels_of(links: &[Link]) -> BTreeMap<Doc, Doc> {
    let contents: BTreeSet<Doc> = links.iter().filter(|(a, b)| a != b).flat_map(|(a, b)| [*a, *b]).collect();
    let limit = contents.last().map_or(0, |last| *last as usize + 1);
    let mut forest = crate::flow::Forest::new(limit);
    for (a, b) in links.iter().filter(|(a, b)| a != b) {
        forest.union(*a, *b);
    }
    contents.into_iter().map(|content| (content, forest.find(content))).collect()
}
