//! The contents that a load touches, each found by its number at once.

use crate::document::Doc;

/// A content while a load is settled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Content {
    /// Its documents before.
    pub before: u32,
    /// Its documents after.
    pub after: u32,
    /// The label before, if it was there.
    pub label: Option<u32>,
    /// The label that splits and unions have given it.
    pub relabelled: Option<u32>,
}

/// Contents, ascending: first those that are stored, then those that the load brings.
#[derive(Debug, Default)]
pub(super) struct TouchedContents {
    rows: Vec<(Doc, Content)>,
    stored: usize,
    /// The number of the first content of the load, and the rows of it and those that follow it; [`NONE`] for what is not
    /// touched.
    base: Doc,
    new: Vec<u32>,
}

/// The row of a content that is not touched.
const NONE: u32 = u32::MAX;

impl TouchedContents {
    /// The contents of these numbers, in any order and as often as they come; from `base` on they are the load's.
    pub fn new(mut numbers: Vec<Doc>, base: Doc) -> TouchedContents {
        numbers.sort_unstable();
        numbers.dedup();
        let rows: Vec<(Doc, Content)> =
            numbers.into_iter().map(|content| (content, Content::default())).collect();
        let stored = rows.partition_point(|(content, _)| *content < base);
        let span = rows[stored..].last().map_or(0, |(last, _)| (last - base) as usize + 1);
        let mut new = vec![NONE; span];
        for (row, (content, _)) in (0..).zip(&rows).skip(stored) {
            new[(content - base) as usize] = row;
        }
        TouchedContents { rows, stored, base, new }
    }

    /// The place of a content among all.
    pub fn row(&self, content: Doc) -> Option<usize> {
        match content.checked_sub(self.base) {
            Some(at) => self.new.get(at as usize).filter(|row| **row != NONE).map(|row| *row as usize),
            None => self.rows[..self.stored].binary_search_by_key(&content, |(content, _)| *content).ok(),
        }
    }

    /// What is known of a content, to be changed.
    pub fn get_mut(&mut self, content: Doc) -> Option<&mut Content> {
        self.row(content).map(|row| &mut self.rows[row].1)
    }

    /// All of them, ascending.
    pub fn rows(&self) -> &[(Doc, Content)] {
        &self.rows
    }

    /// Those that the load brings, ascending.
    pub fn of_load_mut(&mut self) -> &mut [(Doc, Content)] {
        &mut self.rows[self.stored..]
    }

    /// Those that are stored, ascending.
    pub fn stored_mut(&mut self) -> &mut [(Doc, Content)] {
        &mut self.rows[..self.stored]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The obvious twin searches all numbers.
        #[test]
        fn finds_what_it_was_made_of(numbers in prop::collection::vec(0u32..60, 0..40), base in 0u32..60) {
            let distinct: BTreeSet<Doc> = numbers.iter().copied().collect();
            let mut contents = TouchedContents::new(numbers, base);
            let all: Vec<Doc> = contents.rows().iter().map(|(content, _)| *content).collect();
            prop_assert!(all.iter().eq(&distinct));
            for content in 0..70 {
                prop_assert_eq!(contents.row(content), all.iter().position(|other| *other == content));
                prop_assert_eq!(contents.get_mut(content).is_some(), distinct.contains(&content));
            }
            prop_assert_eq!(contents.stored_mut().len(), all.iter().filter(|content| **content < base).count());
        }
    }
}
