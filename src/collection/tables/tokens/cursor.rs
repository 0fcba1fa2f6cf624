//! Reading tokens, and the sets that follow from them.

use std::fmt;
use std::sync::Arc;

use super::block::{BlockHead, HEAD_WORDS, UnpackedBlock};
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

/// Reads of texts that come in about the order in which they lie: the block that was read last is kept, and many texts are
/// in it.
#[derive(Default)]
pub struct TokenCursor {
    /// The heap and the start of the block that is kept.
    held: Option<(HeapReader, u64)>,
    /// The vocabulary of the block, whose number in the run of the heap is known.
    vocabulary: Arc<Vec<u64>>,
    known: Option<(HeapReader, u32)>,
    ngram: usize,
    /// The first word behind the block, and whether the last text of the block goes on there.
    behind: u64,
    goes_on: bool,
    words: Vec<u64>,
    block: UnpackedBlock,
    spread: Spread,
    tokens: Vec<u64>,
}

/// The decompressor has no form of its own.
impl fmt::Debug for TokenCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCursor").field("held", &self.held).finish_non_exhaustive()
    }
}

impl RunCursor for TokenCursor {
    fn distance(&self, run: &RunReader, start: u64) -> Option<u64> {
        let (heap, at) = self.held.as_ref()?;
        let is_there = run.heap(TOKENS).is_some_and(|other| other.is(heap));
        is_there.then(|| distance(start, *at..self.behind))
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
        shingles(&self.tokens, self.ngram, set);
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
            let codes = self.block.codes(at);
            let codes =
                codes.ok_or_else(|| damaged(run, "a block of tokens has fewer texts than rows name"))?;
            decode(codes, &self.vocabulary, &mut self.tokens).map_err(|what| damaged(run, what))?;
            if !self.goes_on || at + 1 < self.block.texts() {
                return Ok(&self.tokens);
            }
            (start, at) = (self.behind, 0);
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
        self.block.unpack(head, packed).map_err(|what| damaged(run, what))?;
        self.ngram = head.ngram as usize;
        (self.behind, self.goes_on) = (start + all as u64, head.goes_on);
        if self.ngram == 0 {
            return Err(damaged(run, "a block of tokens has shingles of no tokens"));
        }
        let known = |(of, number): &(HeapReader, u32)| *number == head.vocabulary && of.is(heap);
        if !self.known.as_ref().is_some_and(known) {
            self.known = None;
            self.vocabulary = vocabulary(run, head.vocabulary)?;
            self.known = Some((heap.clone(), head.vocabulary));
        }
        Ok(())
    }
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
