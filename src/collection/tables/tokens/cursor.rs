//! Reading tokens, and the sets that follow from them.

use std::sync::Arc;

use super::block::{BlockHead, BlockUnpacker, HEAD_WORDS, UnpackedBlock};
use super::codes::decode;
use super::vocabulary::MOST_TOKENS;
use crate::collection::HeapReader;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::tables::document::bytes_of;
use crate::collection::tables::rows::{StoredText, StoredVocabulary};
use crate::collection::tables::run_cursors::{RunCursor, distance};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::sketch::{Spread, shingles};

/// Words fetched at once: the head of a block, and mostly all of it.
const FETCHED: usize = sized(1024, 6);

/// Tokens that a cursor keeps room for; a longer text gives back what it took.
const KEPT: usize = sized(1 << 16, 8);

/// A block with all that it takes to read its texts.
#[derive(Clone, Debug, Default)]
pub struct OpenBlock {
    block: UnpackedBlock,
    vocabulary: Arc<Vec<u64>>,
    /// The number of the vocabulary in the run.
    number: u32,
    ngram: usize,
    /// The first word behind the block, and whether the last text of the block goes on there.
    behind: u64,
    goes_on: bool,
}

impl OpenBlock {
    /// Bytes of memory that a copy of it takes beside its vocabulary.
    pub(super) fn bytes(&self) -> u64 {
        self.block.bytes() as u64
    }

    /// Its vocabulary, which may be that of others, too.
    pub(super) fn vocabulary(&self) -> &Arc<Vec<u64>> {
        &self.vocabulary
    }

    /// The number of its vocabulary in the run.
    pub(super) fn vocabulary_number(&self) -> u32 {
        self.number
    }

    /// A copy that shares an equal vocabulary with others.
    pub(super) fn with_vocabulary(&self, vocabulary: Arc<Vec<u64>>) -> OpenBlock {
        OpenBlock { block: self.block.clone(), vocabulary, ..*self }
    }

    /// Whether text number `ordinal` goes on in the block behind it.
    fn goes_on_behind(&self, ordinal: usize) -> bool {
        self.goes_on && ordinal + 1 >= self.block.texts()
    }
}

/// Reads of texts that come in about the order in which they lie: the block that was read last is kept, and many texts are
/// in it.
#[derive(Debug, Default)]
pub struct TokenCursor {
    /// The heap and the start of the block that is kept.
    held: Option<(HeapReader, u64)>,
    block: OpenBlock,
    /// The heap of the run, and the number there, of the vocabulary that is kept.
    known: Option<(HeapReader, u32)>,
    words: Vec<u64>,
    unpacker: BlockUnpacker,
    spread: Spread,
    tokens: Vec<u64>,
}

impl RunCursor for TokenCursor {
    fn distance(&self, run: &RunReader, start: u64) -> Option<u64> {
        let (heap, at) = self.held.as_ref()?;
        let is_there = run.heap(TOKENS).is_some_and(|other| other.is(heap));
        is_there.then(|| distance(start, *at..self.block.behind))
    }

    fn rest(&mut self) {
        if self.tokens.capacity() > KEPT {
            (self.tokens, self.spread) = Default::default();
        }
    }
}

impl TokenCursor {
    /// Tokens for which it has room.
    #[cfg(test)]
    pub(super) fn held_tokens(&self) -> usize {
        self.tokens.capacity()
    }

    /// The set of a text, which replaces what is in `set`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn set(&mut self, run: &RunReader, text: &StoredText, set: &mut Vec<u64>) -> Result<()> {
        self.tokens(run, text)?;
        self.derive(run, self.block.ngram, text, set)
    }

    /// The set of a text, which replaces what is in `set`, by a block that was kept elsewhere: the one that it starts in.
    ///
    /// # Errors
    /// Those of [`TokenCursor::set`].
    pub fn set_in(
        &mut self,
        block: &OpenBlock,
        run: &RunReader,
        text: &StoredText,
        set: &mut Vec<u64>,
    ) -> Result<()> {
        let ordinal = text.ordinal as usize;
        if block.goes_on_behind(ordinal) {
            return self.set(run, text, set);
        }
        self.tokens.clear();
        read_codes(block, run, ordinal, &mut self.tokens)?;
        self.derive(run, block.ngram, text, set)
    }

    /// The block that starts at word `start` of the run that was read last, if it is the one that was unpacked last.
    pub fn block_at(&self, start: u64) -> Option<&OpenBlock> {
        self.held.as_ref().is_some_and(|(_, held)| *held == start).then_some(&self.block)
    }

    /// The set of a text by its tokens.
    fn derive(&mut self, run: &RunReader, ngram: usize, text: &StoredText, set: &mut Vec<u64>) -> Result<()> {
        shingles(&self.tokens, ngram, set);
        self.spread.sort_distinct(set);
        if set.len() != text.size as usize {
            return Err(damaged(run, "a text has another set than its row says"));
        }
        Ok(())
    }

    /// The tokens of a text, in their order.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn tokens(&mut self, run: &RunReader, text: &StoredText) -> Result<&[u64]> {
        self.tokens.clear();
        self.tokens.shrink_to(KEPT);
        let (mut start, mut at) = (text.start, text.ordinal as usize);
        loop {
            self.turn_to(run, start)?;
            read_codes(&self.block, run, at, &mut self.tokens)?;
            if !self.block.goes_on_behind(at) {
                return Ok(&self.tokens);
            }
            (start, at) = (self.block.behind, 0);
        }
    }

    /// Unpacks the block that starts at word `start`, unless it is the one that is kept.
    fn turn_to(&mut self, run: &RunReader, start: u64) -> Result<()> {
        let heap = run.heap(TOKENS).ok_or_else(|| damaged(run, "texts without their tokens"))?;
        if !self.held.as_ref().is_some_and(|(held, at)| *at == start && held.is(heap)) {
            self.held = None;
            self.unpack(run, heap, start)?;
            self.held = Some((heap.clone(), start));
        }
        Ok(())
    }

    /// Unpacks the block that starts at word `start`.
    fn unpack(&mut self, run: &RunReader, heap: &HeapReader, start: u64) -> Result<()> {
        self.words.clear();
        let fetched = heap.len().saturating_sub(start).min(FETCHED as u64).max(HEAD_WORDS as u64);
        heap.read(start, fetched as usize, &mut self.words)?;
        let Some(head) = self.words.first_chunk() else { return Ok(()) };
        let head = BlockHead::of_words(*head);
        if !head.is_possible() {
            return Err(damaged(run, "a block of tokens is longer than any can be"));
        }
        let all = HEAD_WORDS + head.packed_words();
        if let Some(missing) = all.checked_sub(self.words.len()) {
            heap.read(start + fetched, missing, &mut self.words)?;
        }
        let packed = bytes_of(&mut self.words[HEAD_WORDS..all], head.bytes.1 as usize);
        let block = &mut self.block;
        block.block.unpack(&mut self.unpacker, head, packed).map_err(|what| damaged(run, what))?;
        block.ngram = head.ngram as usize;
        (block.behind, block.goes_on) = (start + all as u64, head.goes_on);
        if block.ngram == 0 {
            return Err(damaged(run, "a block of tokens has shingles of no tokens"));
        }
        let known = |(of, number): &(HeapReader, u32)| *number == head.vocabulary && of.is(heap);
        if !self.known.as_ref().is_some_and(known) {
            self.known = None;
            block.vocabulary = vocabulary(run, head.vocabulary)?;
            block.number = head.vocabulary;
            self.known = Some((heap.clone(), head.vocabulary));
        }
        Ok(())
    }
}

/// Adds the tokens of a text, as far as they are in a block.
fn read_codes(block: &OpenBlock, run: &RunReader, ordinal: usize, tokens: &mut Vec<u64>) -> Result<()> {
    let codes = block.block.codes(ordinal);
    let codes = codes.ok_or_else(|| damaged(run, "a block of tokens has fewer texts than rows name"))?;
    decode(codes, &block.vocabulary, tokens).map_err(|what| damaged(run, what))
}

/// Vocabulary `number` of a run.
fn vocabulary(run: &RunReader, number: u32) -> Result<Arc<Vec<u64>>> {
    let mut found = None;
    if let Some(rows) = run.rows(VOCABULARIES.kind) {
        rows.probe(1, &[u64::from(number)], &mut |_, row| {
            found = Some(StoredVocabulary::of_row(row));
            Ok(())
        })?;
    }
    let found =
        found.ok_or_else(|| damaged(run, "a block of tokens names a vocabulary that there is not"))?;
    if found.words > MOST_TOKENS as u64 {
        return Err(damaged(run, "a vocabulary has more tokens than any can have"));
    }
    run.value(TOKENS, found.start, found.words)
}

fn damaged(run: &RunReader, what: impl Into<String>) -> Error {
    Error::damaged(run.path(), 0, what)
}
