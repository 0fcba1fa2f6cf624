//! Fences: the first key of each page of rows, in memory.

use std::ops::Range;

use crate::collection::run::directory::{FENCES, Section, Shape};
use crate::collection::run::file::RunFile;
use crate::error::Result;

/// The fences of a section: 8 bytes for each word of key and page.
#[derive(Debug)]
pub(in crate::collection) struct Fences {
    key: usize,
    words: Vec<u64>,
}

impl Fences {
    /// Reads the fences of section `number`.
    pub(in crate::collection) fn load(
        file: &RunFile,
        section: &Section,
        number: u32,
        shape: Shape,
    ) -> Result<Fences> {
        let words = section.pages as usize * shape.key;
        let piece = shape.fences_in_page() * shape.key;
        let words = file.load(section.fences, number | FENCES, words, piece)?;
        if !words.chunks_exact(shape.key).is_sorted() {
            return Err(file.damaged(section.fences, "fences are not in order"));
        }
        Ok(Fences { key: shape.key, words })
    }

    /// How many pages there are.
    fn len(&self) -> usize {
        self.words.len() / self.key
    }

    /// The first key of a page.
    pub(in crate::collection) fn first(&self, page: usize) -> &[u64] {
        &self.words[page * self.key..][..self.key]
    }

    /// The pages that can hold rows that begin with `prefix`, of which only the words of the key are looked at.
    /// `from` is where to begin looking: the start of a range found for a smaller prefix, or 0.
    pub(in crate::collection) fn range(&self, prefix: &[u64], from: usize) -> Range<usize> {
        let prefix = &prefix[..prefix.len().min(self.key)];
        let begin = self.after(from, |fence| fence[..prefix.len()] < *prefix);
        let end = self.after(begin, |fence| fence[..prefix.len()] == *prefix);
        begin.saturating_sub(1)..end
    }

    /// The first page from `from` on whose fence is not `before`; those that are come first.
    fn after(&self, from: usize, before: impl Fn(&[u64]) -> bool) -> usize {
        let (mut low, mut step) = (from, 1);
        while low + step <= self.len() && before(self.first(low + step - 1)) {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(self.first(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_where_the_rows_are(
            mut keys in prop::collection::vec([0..4u64, 0..4u64], 0..40), prefix in [0..5u64, 0..5u64],
            length in 0..3usize, from in 0..40usize,
        ) {
            keys.sort_unstable();
            let fences = Fences { key: 2, words: keys.concat() };
            let prefix = &prefix[..length];
            let begin = keys.iter().filter(|key| key[..length] < *prefix).count();
            let end = keys.iter().filter(|key| key[..length] <= *prefix).count();
            let expected = begin.saturating_sub(1)..end;
            prop_assert_eq!(fences.range(prefix, from.min(expected.start)), expected);
        }
    }
}
