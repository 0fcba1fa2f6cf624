//! Postings of a bucket rid of those that meet nobody, and sorted.

use crate::flow::records::Keyed;

/// Sorts the postings of a bucket: their keys are random, so one counting pass by the bits below the bucket's own
/// leaves only what shares a key, or nearly, to be compared.
pub struct KeyOrder<T> {
    starts: Vec<u32>,
    sorted: Vec<T>,
}

impl<T> Default for KeyOrder<T> {
    fn default() -> KeyOrder<T> {
        KeyOrder { starts: Vec::new(), sorted: Vec::new() }
    }
}

impl<T: Keyed + Ord> KeyOrder<T> {
    /// Sorts postings.
    pub fn sort(&mut self, postings: &mut [T]) {
        let Some(span) = span(postings).filter(|_| postings.len() <= u32::MAX as usize) else {
            return postings.sort_unstable();
        };
        let bits = postings.len().next_power_of_two().trailing_zeros();
        let slot = |key: u64| (key.wrapping_shl(span) >> (64 - bits)) as usize;
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        postings.iter().for_each(|posting| self.starts[slot(posting.key()) + 1] += 1);
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        self.sorted.clear();
        self.sorted.resize(postings.len(), T::zeroed());
        for posting in postings.iter() {
            let start = &mut self.starts[slot(posting.key())];
            self.sorted[*start as usize] = *posting;
            *start += 1;
        }
        // Each start is now the end of its slot, and the start of the next.
        let mut start = 0;
        for end in &self.starts[..1 << bits] {
            self.sorted[start..*end as usize].sort_unstable();
            start = *end as usize;
        }
        postings.copy_from_slice(&self.sorted);
    }
}

/// The number of high bits that all keys have in common; `None` if there is nothing to sort.
fn span<T: Keyed>(postings: &[T]) -> Option<u32> {
    let first = postings.first()?.key();
    let differing = postings.iter().fold(0, |bits, posting| bits | (posting.key() ^ first));
    (differing != 0 && postings.len() > 32).then_some(differing.leading_zeros())
}

/// Scratch for [`Singletons::drop_from`]: two bits a slot.
#[derive(Default)]
pub struct Singletons {
    seen: Vec<u64>,
    again: Vec<u64>,
}

impl Singletons {
    /// Removes postings whose key no other posting can have, and those of copies. Most keys of most documents are
    /// theirs alone; two passes over a small bit table are much cheaper than sorting them.
    pub fn drop_from<T: Keyed>(&mut self, postings: &mut Vec<T>, is_copy: impl Fn(&T) -> bool) {
        let bits = (postings.len().max(8) * 8).next_power_of_two();
        self.seen.clear();
        self.seen.resize(bits / 64, 0);
        self.again.clear();
        self.again.resize(bits / 64, 0);
        // The high bits are the worker's and the bucket's own: those below are free.
        let slot = |key: u64| (key >> T::CUT.max(16)) as usize & (bits - 1);
        for posting in postings.iter() {
            let (word, bit) = (slot(posting.key()) / 64, 1u64 << (slot(posting.key()) % 64));
            self.again[word] |= self.seen[word] & bit;
            self.seen[word] |= bit;
        }
        postings.retain(|posting| {
            let slot = slot(posting.key());
            self.again[slot / 64] >> (slot % 64) & 1 == 1 && !is_copy(posting)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::records::Posting;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_equals_a_plain_sort(keys in prop::collection::vec((0u64..50, any::<u32>(), 0u32..9), 0..300),
                                     shift in prop::sample::select(vec![0u32, 20, 58])) {
            let posting = |(key, doc, size): &(u64, u32, u32)| Posting { key: key << shift, size: *size, doc: *doc };
            let mut postings: Vec<Posting> = keys.iter().map(posting).collect();
            let mut truth = postings.clone();
            truth.sort_unstable();
            KeyOrder::default().sort(&mut postings);
            prop_assert_eq!(postings, truth);
        }
    }
}
