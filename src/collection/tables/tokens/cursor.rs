//! Reading tokens, and the sets that follow from them.

use std::fmt;
use std::sync::Arc;

use zstd::bulk::Decompressor;

use super::block::{BlockHead, HEAD_WORDS, MOST_BLOCK_BYTES};
use super::codes::{decode, take_length};
use super::vocabulary::MOST_TOKENS;
use crate::collection::HeapReader;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::tables::document::bytes_of;
use crate::collection::tables::rows::{StoredText, StoredVocabulary};
use crate::collection::tables::run_cursors::RunCursor;
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
    /// Where the block is that the last text of this one goes on in.
    next: Option<u64>,
    words: Vec<u64>,
    bytes: Vec<u8>,
    /// Where the codes of each text end, behind where those of the first begin.
    ends: Vec<usize>,
    decompressor: Option<Decompressor<'static>>,
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
    fn is_in(&self, run: &RunReader) -> bool {
        let same = |(heap, _): &(HeapReader, u64)| run.heap(TOKENS).is_some_and(|other| other.is(heap));
        self.held.as_ref().is_some_and(same)
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

    /// Whether the block of a text is the one that is kept.
    pub fn is_at(&self, run: &RunReader, text: &StoredText) -> bool {
        let same = |(heap, start): &(HeapReader, u64)| {
            *start == text.start && run.heap(TOKENS).is_some_and(|other| other.is(heap))
        };
        self.held.as_ref().is_some_and(same)
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
            let codes = match self.ends.get(at..) {
                Some([from, to, ..]) => &self.bytes[*from..*to],
                _ => return Err(damaged(run, "a block of tokens has fewer texts than rows name")),
            };
            decode(codes, &self.vocabulary, &mut self.tokens).map_err(|what| damaged(run, what))?;
            let is_last = at + 2 == self.ends.len();
            match self.next.filter(|_| is_last) {
                Some(next) => (start, at) = (next, 0),
                None => return Ok(&self.tokens),
            }
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
        if head.bytes.0.max(head.bytes.1) > MOST_BLOCK_BYTES {
            return Err(damaged(run, "a block of tokens is longer than any can be"));
        }
        let all = HEAD_WORDS + head.packed_words();
        if let Some(missing) = all.checked_sub(self.words.len()) {
            heap.read(start + fetched, missing, &mut self.words)?;
        }
        let packed = bytes_of(&mut self.words[HEAD_WORDS..all], head.bytes.1 as usize);
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().map_err(|e| damaged(run, e.to_string()))?),
        };
        self.bytes.clear();
        self.bytes.reserve(head.bytes.0 as usize);
        let unpacked = decompressor.decompress_to_buffer(packed, &mut self.bytes);
        if unpacked.ok() != Some(head.bytes.0 as usize) {
            return Err(damaged(run, "a block of tokens cannot be decompressed"));
        }
        self.ngram = head.ngram as usize;
        self.next = head.goes_on.then_some(start + all as u64);
        if self.ngram == 0 {
            return Err(damaged(run, "a block of tokens has shingles of no tokens"));
        }
        self.find_ends().ok_or_else(|| damaged(run, "a block of tokens is shorter than its texts"))?;
        let known = |(of, number): &(HeapReader, u32)| *number == head.vocabulary && of.is(heap);
        if !self.known.as_ref().is_some_and(known) {
            self.known = None;
            self.vocabulary = vocabulary(run, head.vocabulary)?;
            self.known = Some((heap.clone(), head.vocabulary));
        }
        Ok(())
    }

    /// Finds where the codes of each text are in the block.
    fn find_ends(&mut self) -> Option<()> {
        let mut bytes = &self.bytes[..];
        let texts = take_length(&mut bytes).filter(|texts| *texts <= bytes.len())?;
        self.ends.clear();
        self.ends.push(0);
        let mut end = 0usize;
        for _ in 0..texts {
            end = end.checked_add(take_length(&mut bytes)?)?;
            self.ends.push(end);
        }
        let before = self.bytes.len() - bytes.len();
        self.ends.iter_mut().for_each(|end| *end = end.saturating_add(before));
        (end == bytes.len()).then_some(())
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
