//! Blocks: texts that are compressed together, as words of a heap.

use crate::limits::sized;

/// Bytes after which no text is added to a block: more compress better, and each question unpacks a block.
pub(super) const BLOCK_BYTES: usize = sized(16 << 10, 40);
/// Tokens that are added before their writer looks whether the block is full.
pub(super) const STEP: usize = sized(1024, 3);
/// Most bytes of a block, packed or not: texts of a token each, of which the last step brings hashes.
pub(super) const MOST_BLOCK_BYTES: u32 = (3 * BLOCK_BYTES + 12 * STEP + 64) as u32;

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
    /// Whether the last text of the block goes on as the first one of the next.
    pub goes_on: bool,
}

/// The bit of a shingle's length that says that a text goes on.
const GOES_ON: u32 = 1 << 31;

impl BlockHead {
    /// The words.
    pub(super) fn to_words(self) -> [u64; HEAD_WORDS] {
        let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let ngram = self.ngram | if self.goes_on { GOES_ON } else { 0 };
        [word(self.bytes.0, self.bytes.1), word(self.vocabulary, ngram)]
    }

    /// What the words say.
    pub(super) fn of_words(words: [u64; HEAD_WORDS]) -> BlockHead {
        let halves = |word: u64| ((word >> 32) as u32, word as u32);
        let [bytes, (vocabulary, ngram)] = words.map(halves);
        BlockHead { bytes, vocabulary, ngram: ngram & !GOES_ON, goes_on: ngram & GOES_ON != 0 }
    }

    /// Words of the compressed bytes.
    pub(super) fn packed_words(self) -> usize {
        (self.bytes.1 as usize).div_ceil(8)
    }
}
