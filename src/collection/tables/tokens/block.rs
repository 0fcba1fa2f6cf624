//! Blocks: texts that are compressed together, as words of a heap.

/// Words before what is compressed.
pub(super) const HEAD_WORDS: usize = 2;

/// What stands before a compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHead {
    /// Bytes of the block, unpacked and packed.
    pub bytes: (u32, u32),
    /// The number of its vocabulary in the run.
    pub vocabulary: u32,
    /// Tokens of a shingle.
    pub ngram: u32,
}

impl BlockHead {
    /// The words.
    pub(super) fn to_words(self) -> [u64; HEAD_WORDS] {
        let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        [word(self.bytes.0, self.bytes.1), word(self.vocabulary, self.ngram)]
    }

    /// What the words say.
    pub(super) fn of_words(words: [u64; HEAD_WORDS]) -> BlockHead {
        let halves = |word: u64| ((word >> 32) as u32, word as u32);
        let [bytes, (vocabulary, ngram)] = words.map(halves);
        BlockHead { bytes, vocabulary, ngram }
    }

    /// Words of the compressed bytes.
    pub(super) fn packed_words(self) -> usize {
        (self.bytes.1 as usize).div_ceil(8)
    }
}
