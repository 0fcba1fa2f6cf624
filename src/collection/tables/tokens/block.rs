//! Blocks: texts that are compressed together, as words of a heap.

use std::fmt;

use zstd::bulk::Decompressor;

use super::codes::take_length;
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

    /// Whether a block can be so long: what it says is not trusted.
    pub(super) fn is_possible(self) -> bool {
        self.bytes.0.max(self.bytes.1) <= MOST_BLOCK_BYTES
    }

    /// Words of the compressed bytes.
    pub(super) fn packed_words(self) -> usize {
        (self.bytes.1 as usize).div_ceil(8)
    }
}

/// What unpacks blocks, one after the other.
#[derive(Default)]
pub(super) struct BlockUnpacker(Option<Decompressor<'static>>);

/// The decompressor has no form of its own.
impl fmt::Debug for BlockUnpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockUnpacker").finish_non_exhaustive()
    }
}

/// A block whose codes can be read.
#[derive(Clone, Debug, Default)]
pub(super) struct UnpackedBlock {
    bytes: Vec<u8>,
    /// Where the codes of each text end, behind where those of the first begin.
    ends: Vec<u32>,
}

impl UnpackedBlock {
    /// Unpacks what follows a head that is [`BlockHead::is_possible`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn unpack(
        &mut self,
        BlockUnpacker(decompressor): &mut BlockUnpacker,
        head: BlockHead,
        packed: &[u8],
    ) -> Result<(), String> {
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().map_err(|e| e.to_string())?),
        };
        self.bytes.clear();
        self.bytes.reserve(head.bytes.0 as usize);
        let unpacked = decompressor.decompress_to_buffer(packed, &mut self.bytes);
        if unpacked.ok() != Some(head.bytes.0 as usize) {
            return Err("a block of tokens cannot be decompressed".into());
        }
        self.find_ends().ok_or_else(|| "a block of tokens is shorter than its texts".into())
    }

    /// Bytes of memory that a copy of it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<u32>()
    }

    /// How many texts it has.
    pub(super) fn texts(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// The codes of a text, if there is such a one.
    pub(super) fn codes(&self, ordinal: usize) -> Option<&[u8]> {
        match self.ends.get(ordinal..) {
            Some([from, to, ..]) => Some(&self.bytes[*from as usize..*to as usize]),
            _ => None,
        }
    }

    /// Finds where the codes of each text are.
    fn find_ends(&mut self) -> Option<()> {
        let mut bytes = &self.bytes[..];
        let texts = take_length(&mut bytes).filter(|texts| *texts <= bytes.len())?;
        self.ends.clear();
        self.ends.push(0);
        let mut end = 0u32;
        for _ in 0..texts {
            end = end.checked_add(u32::try_from(take_length(&mut bytes)?).ok()?)?;
            self.ends.push(end);
        }
        let before = (self.bytes.len() - bytes.len()) as u32;
        self.ends.iter_mut().for_each(|end| *end = end.saturating_add(before));
        (end as usize == bytes.len()).then_some(())
    }
}
