//! Writing tokens into the heap of a run, block by block.

use std::fmt;

use zstd::bulk::Compressor;

use super::block::{BLOCK_BYTES, BlockHead, STEP};
use super::codes::{encode, put_length};
use super::vocabulary::Vocabulary;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::words_of;
use crate::collection::tables::rows::{StoredVocabulary, TokenPlace};
use crate::error::{Error, Result};

/// How hard the library tries to compress, from 1.
const LEVEL: i32 = 1;

/// A block that was written.
#[derive(Clone, Copy, Debug)]
struct WrittenBlock {
    start: u64,
    /// Its texts, and the ordinal of the first one that begins in it.
    texts: u32,
    first: u32,
}

/// Writes the heap of tokens of a run. In memory are a block, a vocabulary, and 16 bytes for each block and vocabulary, however long a
/// text is.
pub struct TokenWriter {
    ngram: u32,
    compressor: Compressor<'static>,
    vocabulary: Vocabulary,
    /// The codes of the texts of this block, and how many bytes each text has of them.
    codes: Vec<u8>,
    lengths: Vec<usize>,
    /// Whether the first of them began in the block before.
    goes_on: bool,
    blocks: Vec<WrittenBlock>,
    /// How many of them are written in earlier vocabularies.
    earlier: usize,
    /// By vocabulary, where it starts in the heap and how many words it has.
    vocabularies: Vec<(u64, u64)>,
    /// What is compressed, and what comes of it.
    bytes: Vec<u8>,
    packed: Vec<u8>,
}

/// The compressor has no form of its own.
impl fmt::Debug for TokenWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenWriter").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl TokenWriter {
    /// Begins the heap in `run`; shingles have so many tokens.
    ///
    /// # Errors
    /// [`Error::Io`] if the section before cannot be written; [`Error::Worker`] if there is no compressor.
    pub fn begin(ngram: usize, run: &mut RunWriter) -> Result<TokenWriter> {
        run.heap(TOKENS)?;
        Ok(TokenWriter {
            ngram: ngram as u32,
            compressor: Compressor::new(LEVEL).map_err(|e| incompressible(&e))?,
            vocabulary: Vocabulary::new(),
            codes: Vec::new(),
            lengths: Vec::new(),
            goes_on: false,
            blocks: Vec::new(),
            earlier: 0,
            vocabularies: Vec::new(),
            bytes: Vec::new(),
            packed: Vec::new(),
        })
    }

    /// Adds the tokens of a text.
    ///
    /// # Errors
    /// [`Error::Io`] if a block cannot be written; [`Error::Worker`] if it cannot be compressed.
    pub fn push(&mut self, tokens: &[u64], run: &mut RunWriter) -> Result<()> {
        let (mut rest, mut before) = (tokens, self.codes.len());
        loop {
            let (some, others) = rest.split_at(rest.len().min(STEP));
            encode(some, &mut self.vocabulary, &mut self.codes);
            rest = others;
            let ends = rest.is_empty();
            let full = self.codes.len() + self.lengths.len() >= BLOCK_BYTES;
            if ends || full {
                self.lengths.push(self.codes.len() - before);
            }
            if full {
                self.end_block(!ends, run)?;
                before = 0;
            }
            if ends {
                break;
            }
        }
        // Between two texts, so that all blocks of one have the same vocabulary.
        if self.vocabulary.is_worn() {
            self.end_vocabulary(run)?;
        }
        Ok(())
    }

    /// Writes what is left, and the table of vocabularies.
    ///
    /// # Errors
    /// Those of [`TokenWriter::push`].
    pub fn finish(&mut self, run: &mut RunWriter) -> Result<()> {
        self.end_vocabulary(run)?;
        let vocabularies = (0..).zip(&self.vocabularies);
        let row = |(number, &(start, words))| StoredVocabulary { number, start, words }.to_row();
        run.table(VOCABULARIES, vocabularies.map(row))
    }

    /// Where the texts are, in the order in which they were added, once all are written.
    pub fn places(&self) -> impl Iterator<Item = TokenPlace> {
        self.blocks.iter().flat_map(|&WrittenBlock { start, texts, first }| {
            (first..texts).map(move |ordinal| TokenPlace { start, ordinal })
        })
    }

    /// Writes the block; its last text may go on.
    fn end_block(&mut self, goes_on: bool, run: &mut RunWriter) -> Result<()> {
        let (start, texts) = (run.position(), self.lengths.len() as u32);
        self.blocks.push(WrittenBlock { start, texts, first: u32::from(self.goes_on) });
        self.goes_on = goes_on;
        self.bytes.clear();
        put_length(self.lengths.len(), &mut self.bytes);
        self.lengths.iter().for_each(|length| put_length(*length, &mut self.bytes));
        self.bytes.extend_from_slice(&self.codes);
        self.codes.clear();
        self.lengths.clear();
        self.pack(goes_on, run)
    }

    /// Writes a block of the codes of some texts.
    pub(super) fn write_block(&mut self, codes: &[&[u8]], goes_on: bool, run: &mut RunWriter) -> Result<()> {
        self.bytes.clear();
        put_length(codes.len(), &mut self.bytes);
        codes.iter().for_each(|codes| put_length(codes.len(), &mut self.bytes));
        codes.iter().for_each(|codes| self.bytes.extend_from_slice(codes));
        self.pack(goes_on, run)
    }

    /// Compresses the bytes of a block and writes them behind their head.
    fn pack(&mut self, goes_on: bool, run: &mut RunWriter) -> Result<()> {
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(self.bytes.len()));
        self.compressor.compress_to_buffer(&self.bytes, &mut self.packed).map_err(|e| incompressible(&e))?;
        let head = BlockHead {
            bytes: (self.bytes.len() as u32, self.packed.len() as u32),
            vocabulary: self.vocabularies(),
            ngram: self.ngram,
            goes_on,
        };
        run.push(&head.to_words())?;
        run.push(&words_of(&self.packed).collect::<Vec<_>>())
    }

    /// How many vocabularies are written.
    pub(super) fn vocabularies(&self) -> u32 {
        self.vocabularies.len() as u32
    }

    /// Writes a vocabulary behind its blocks.
    pub(super) fn add_vocabulary(&mut self, tokens: &[u64], run: &mut RunWriter) -> Result<()> {
        self.vocabularies.push((run.position(), tokens.len() as u64));
        run.push(tokens)
    }

    /// Writes what is written in the vocabulary, and the vocabulary.
    pub(super) fn end_vocabulary(&mut self, run: &mut RunWriter) -> Result<()> {
        if !self.lengths.is_empty() {
            self.end_block(false, run)?;
        }
        if self.blocks.len() == self.earlier {
            return Ok(());
        }
        self.earlier = self.blocks.len();
        let tokens = self.vocabulary.take();
        self.add_vocabulary(&tokens, run)
    }
}

fn incompressible(error: &std::io::Error) -> Error {
    Error::Worker(format!("tokens cannot be compressed: {error}"))
}
