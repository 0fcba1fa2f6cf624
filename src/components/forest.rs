//! Connected components by union-find: the transitive clusters of links as they arrive, in any order.

/// A forest over dense numbers. The root of a tree is its smallest number.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    parents: Vec<u32>,
}

impl Forest {
    /// `count` trees of one node each.
    pub fn new(count: usize) -> Forest {
        Forest { parents: (0..count as u32).collect() }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The root of a node's tree. Paths are halved on the way.
    pub fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    /// Joins the trees of two nodes; whether they were two.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The obvious twin paints a component over and over.
        #[test]
        fn equals_repainting(links in prop::collection::vec((0u32..40, 0u32..40), 0..60)) {
            let mut forest = Forest::new(40);
            let mut colours: Vec<u32> = (0..40).collect();
            for (a, b) in links {
                let (x, y) = (colours[a as usize], colours[b as usize]);
                prop_assert_eq!(forest.union(a, b), x != y);
                colours.iter_mut().filter(|c| **c == x.max(y)).for_each(|c| *c = x.min(y));
            }
            let roots: Vec<u32> = (0..40).map(|node| forest.find(node)).collect();
            prop_assert_eq!(roots, colours);
        }
    }
}
