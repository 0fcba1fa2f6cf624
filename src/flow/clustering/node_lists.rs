//! A list for each content of a graph.

use crate::document::Doc;
use crate::flow::memory::budget::mapped;

/// A content's number in the graph. Numbers follow the positions of the contents' first documents.
pub type Node = u32;

/// A list for each node, in one allocation.
pub struct NodeLists<T> {
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Ord + std::marker::Copy + Default> NodeLists<T> {
    /// Sorted lists of the entries, which are gone through twice.
    pub fn new(nodes: usize, entries: impl Iterator<Item = (Node, T)> + Clone) -> NodeLists<T> {
        let mut starts = vec![0; nodes + 1];
        entries.clone().for_each(|(node, _)| starts[node as usize + 1] += 1);
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut items = mapped(starts[nodes]);
        items.resize(starts[nodes], T::default());
        let mut next = starts.clone();
        for (node, item) in entries {
            items[next[node as usize]] = item;
            next[node as usize] += 1;
        }
        starts.windows(2).for_each(|list| items[list[0]..list[1]].sort_unstable());
        NodeLists { starts, items }
    }

    /// The list of a node.
    pub fn of(&self, node: Node) -> &[T] {
        &self.items[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

impl NodeLists<Doc> {
    /// From entries that are sorted by node already; items keep their order.
    pub fn in_given_order(nodes: usize, entries: impl Iterator<Item = (Node, Doc)>) -> NodeLists<Doc> {
        let mut lists = NodeLists { starts: vec![0; nodes + 1], items: Vec::new() };
        for (node, doc) in entries {
            lists.starts[node as usize + 1] += 1;
            lists.items.push(doc);
        }
        for i in 0..nodes {
            lists.starts[i + 1] += lists.starts[i];
        }
        lists
    }
}
