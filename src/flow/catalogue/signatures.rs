//! Signatures of the sets of documents, as many as have room. How long one is follows from the size of its set, so where
//! they begin is noted for every eighth row alone.

use crate::flow::memory::budget::mapped;
use crate::sketch::{sign, signature_words};

/// Rows of a block: their sizes stand in one line of the processor's cache, or in two.
const BLOCK: usize = 8;

/// Signatures of rows. A row of size 0 has none.
#[derive(Debug)]
pub struct RowSignatures {
    words: Vec<u64>,
    starts: Vec<u64>,
    /// One more than the last row that was signed.
    rows: usize,
    most: usize,
}

impl RowSignatures {
    /// None yet, of at most `most` words.
    pub fn new(most: usize) -> RowSignatures {
        RowSignatures { words: mapped(most), starts: Vec::new(), rows: 0, most }
    }

    /// Signs the set of a row, the last one, if it and those before it have room. Whoever signs any row signs each whose size is
    /// not 0.
    pub fn push(&mut self, row: usize, set: &[u64]) {
        if self.words.len() + signature_words(set.len()) > self.most {
            self.most = 0;
            return;
        }
        self.starts.resize(row / BLOCK + 1, self.words.len() as u64);
        sign(set, &mut self.words);
        self.rows = row + 1;
    }

    /// The signature of the set of a row, if it was signed; `sizes` are those of all rows.
    pub fn get(&self, row: usize, sizes: &[u32]) -> &[u64] {
        if row >= self.rows {
            return &[];
        }
        let words = |size: &u32| signature_words(*size as usize);
        let before: usize = sizes[row / BLOCK * BLOCK..row].iter().map(words).sum();
        let start = self.starts[row / BLOCK] as usize + before;
        &self.words[start..start + words(&sizes[row])]
    }

    /// Bytes of memory that they take whatever the bound.
    pub fn bytes(&self) -> u64 {
        (self.starts.len() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_those_of_the_sets(sizes in prop::collection::vec(prop::sample::select(vec![0u32, 0, 1, 64, 65, 200, 700]), 0..80),
                                   most in prop::sample::select(vec![0usize, 40, 1 << 20])) {
            let set = |row: usize| (0..u64::from(sizes[row])).map(|i| (i + row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>();
            let mut signatures = RowSignatures::new(most);
            let (mut truth, mut words, mut room) = (Vec::new(), 0, true);
            for (row, size) in sizes.iter().enumerate() {
                let mut signature = Vec::new();
                if *size > 0 {
                    signatures.push(row, &set(row));
                    sign(&set(row), &mut signature);
                }
                room &= words + signature.len() <= most;
                words += signature.len();
                truth.push(if room { signature } else { Vec::new() });
            }
            for (row, signature) in truth.iter().enumerate() {
                prop_assert_eq!(signatures.get(row, &sizes), signature.as_slice());
            }
        }
    }
}
