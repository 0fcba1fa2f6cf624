//! Blocks copied from run to run as they lie, with the vocabulary that they are written in.

use super::block::{BlockHead, BlockUnpacker, HEAD_WORDS, MOST_BLOCK_BYTES, UnpackedBlock};
use super::vocabulary::MOST_TOKENS;
use super::writer::TokenWriter;
use crate::collection::HeapReader;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::bytes_of;
use crate::collection::tables::rows::{StoredVocabulary, TokenPlace};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;

/// So many times as many words as its vocabulary has the blocks have at least, where copying them costs little room: written anew,
/// they could share a vocabulary with others.
const OUTWEIGH: u64 = 8;
/// Words of blocks that are copied at a time, more than any one has.
const COPIED: usize = sized(1 << 16, 64);
const _: () = assert!(COPIED * 8 > MOST_BLOCK_BYTES as usize + 8 * (HEAD_WORDS + 1));

/// The blocks of one vocabulary of a run, and the vocabulary, which lies behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VocabularyBlocks {
    number: u32,
    start: u64,
    end: u64,
    /// Words of the vocabulary.
    words: u64,
}

impl VocabularyBlocks {
    /// Those of a run, in the order in which they lie.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] also if vocabularies lie otherwise than they are written.
    pub fn of(run: &RunReader) -> Result<Vec<VocabularyBlocks>> {
        let (mut all, mut start) = (Vec::new(), 0u64);
        let (Some(rows), Some(heap)) = (run.rows(VOCABULARIES.kind), run.heap(TOKENS)) else {
            return Ok(all);
        };
        let mut rows = rows.scan(&[], None);
        while let Some(row) = rows.next_row()? {
            let StoredVocabulary { number, start: end, words } = StoredVocabulary::of_row(row);
            let behind = end.checked_add(words).filter(|behind| *behind <= heap.len());
            let Some(behind) = behind.filter(|_| number == all.len() as u64 && start < end) else {
                return Err(damaged(run, "vocabularies do not follow each other"));
            };
            if words > MOST_TOKENS as u64 {
                return Err(damaged(run, "a vocabulary has more tokens than any can have"));
            }
            all.push(VocabularyBlocks { number: number as u32, start, end, words });
            start = behind;
        }
        if start < heap.len() {
            return Err(damaged(run, "tokens without a vocabulary"));
        }
        Ok(all)
    }

    /// The first word of the first block.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The first word behind the last block.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether the vocabulary is the smaller part by far.
    pub fn outweigh_their_vocabulary(&self) -> bool {
        self.end - self.start >= OUTWEIGH * self.words
    }

    /// Reads some of the blocks, from word `start` on, whole ones, for a run in which their vocabulary has another number.
    fn read(&self, run: &RunReader, start: u64, number: u32, words: &mut Vec<u64>) -> Result<()> {
        words.clear();
        let heap = heap(run)?;
        heap.read(start, (self.end - start).min(COPIED as u64) as usize, words)?;
        let (mut at, is_last) = (0, start + words.len() as u64 == self.end);
        while let Some(&head) = words[at..].first_chunk() {
            let head = BlockHead::of_words(head);
            let next = at + HEAD_WORDS + head.packed_words();
            if !head.is_possible() || head.vocabulary != self.number || (is_last && next > words.len()) {
                return Err(damaged(run, "a block of tokens is none of its vocabulary's"));
            }
            if next > words.len() {
                break;
            }
            words[at..at + HEAD_WORDS].copy_from_slice(&BlockHead { vocabulary: number, ..head }.to_words());
            at = next;
        }
        if is_last && at < words.len() {
            return Err(damaged(run, "a block of tokens has no head"));
        }
        words.truncate(at);
        Ok(())
    }
}

/// Where blocks have gone that were copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedBlocks {
    /// From which word on what starts where, ascending: between two of these nothing changed but the place.
    starts: Vec<(u64, u64)>,
}

impl MovedBlocks {
    /// Where the block starts that started at a word.
    pub fn start(&self, before: u64) -> u64 {
        let at = self.starts.partition_point(|(start, _)| *start <= before).saturating_sub(1);
        let (start, moved) = self.starts[at];
        moved + before.saturating_sub(start)
    }
}

impl TokenWriter {
    /// Writes blocks of another run and their vocabulary as they lie there, but for texts that are `gone`, in ascending order: nothing is
    /// left of the codes of these. Says where the blocks are now. What was added before is written first.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`] and [`Error::Interrupted`]; [`Error::Worker`] if a block cannot be compressed.
    pub fn copy(
        &mut self,
        (from, blocks): (&RunReader, &VocabularyBlocks),
        gone: &[TokenPlace],
        (run, progress): (&mut RunWriter, &Progress),
    ) -> Result<MovedBlocks> {
        self.end_vocabulary(run)?;
        let mut starts = vec![(blocks.start, run.position())];
        let (mut words, mut start) = (Vec::new(), blocks.start);
        let mut thinning = Thinning {
            from,
            gone,
            goes_on: false,
            block: UnpackedBlock::default(),
            unpacker: BlockUnpacker::default(),
        };
        while start < blocks.end {
            progress.check()?;
            blocks.read(from, start, self.vocabularies(), &mut words)?;
            let (mut copied, mut at) = (0, 0);
            while let Some(&head) = words[at..].first_chunk() {
                let head = BlockHead::of_words(head);
                let next = at + HEAD_WORDS + head.packed_words();
                let gone = thinning.gone_of(start + at as u64)?;
                if thinning.goes_on || !gone.is_empty() {
                    run.push(&words[copied..at])?;
                    thinning.write(head, gone, &mut words[at + HEAD_WORDS..next], (self, run))?;
                    starts.push((start + next as u64, run.position()));
                    copied = next;
                }
                at = next;
            }
            run.push(&words[copied..])?;
            start += words.len() as u64;
        }
        thinning.gone_of(start)?;
        words.clear();
        heap(from)?.read(blocks.end, blocks.words as usize, &mut words)?;
        self.add_vocabulary(&words, run)?;
        Ok(MovedBlocks { starts })
    }
}

/// Blocks written without the texts that are gone.
struct Thinning<'a> {
    from: &'a RunReader,
    /// Those of the blocks that are still to come.
    gone: &'a [TokenPlace],
    /// Whether the first text of the next block is the rest of one that is gone.
    goes_on: bool,
    block: UnpackedBlock,
    unpacker: BlockUnpacker,
}

impl<'a> Thinning<'a> {
    /// The texts that are gone of the block that starts at a word, none of an earlier one.
    fn gone_of(&mut self, start: u64) -> Result<&'a [TokenPlace]> {
        let (gone, later) = self.gone.split_at(self.gone.partition_point(|text| text.start <= start));
        self.gone = later;
        match gone.first() {
            Some(text) if text.start < start => {
                Err(damaged(self.from, "a text is in a block that there is not"))
            }
            _ => Ok(gone),
        }
    }

    /// Writes a block without them: each keeps its place among the texts, and has no codes.
    fn write(
        &mut self,
        head: BlockHead,
        gone: &[TokenPlace],
        packed: &mut [u64],
        (writer, run): (&mut TokenWriter, &mut RunWriter),
    ) -> Result<()> {
        let packed = bytes_of(packed, head.bytes.1 as usize);
        self.block.unpack(&mut self.unpacker, head, packed).map_err(|what| damaged(self.from, what))?;
        let mut codes = Vec::new();
        codes.extend((0..).map_while(|ordinal| self.block.codes(ordinal)));
        let rest = self.goes_on.then_some(0);
        for ordinal in gone.iter().map(|text| text.ordinal as usize).chain(rest) {
            let codes = codes.get_mut(ordinal);
            *codes.ok_or_else(|| damaged(self.from, "a block of tokens has fewer texts than rows name"))? =
                &[];
        }
        let last = codes.len() - 1;
        let last_is_gone =
            rest == Some(last) || gone.last().is_some_and(|text| text.ordinal as usize == last);
        self.goes_on = head.goes_on && last_is_gone;
        writer.write_block(&codes, head.goes_on, run)
    }
}

fn heap(run: &RunReader) -> Result<&HeapReader> {
    run.heap(TOKENS).ok_or_else(|| damaged(run, "vocabularies without their tokens"))
}

fn damaged(run: &RunReader, what: impl Into<String>) -> Error {
    Error::damaged(run.path(), 0, what)
}

#[cfg(test)]
#[path = "copied_tests.rs"]
mod tests;
