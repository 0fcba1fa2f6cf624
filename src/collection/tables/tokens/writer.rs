//! Writing tokens into the heap of a run, block by block.

use std::fmt;

use zstd::bulk::Compressor;

use super::block::BlockHead;
use super::codes::{encode, put_length};
use super::vocabulary::Vocabulary;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::words_of;
use crate::collection::tables::rows::{StoredVocabulary, TokenPlace};
use crate::error::{Error, Result};
use crate::limits::sized;

/// Bytes after which a block ends: more compress better, and each question unpacks a block.
const BLOCK_BYTES: usize = sized(16 << 10, 40);
/// How hard the library tries to compress, from 1.
const LEVEL: i32 = 1;

/// Writes the heap of tokens of a run. In memory are a block, a vocabulary, and 16 bytes for each block and vocabulary.
pub struct TokenWriter {
    ngram: u32,
    compressor: Compressor<'static>,
    vocabulary: Vocabulary,
    /// The codes of the texts of this block, and how many bytes each text has of them.
    codes: Vec<u8>,
    lengths: Vec<usize>,
    /// By block, where it starts and how many texts it has.
    blocks: Vec<(u64, u32)>,
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
            blocks: Vec::new(),
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
        let before = self.codes.len();
        encode(tokens, &mut self.vocabulary, &mut self.codes);
        self.lengths.push(self.codes.len() - before);
        if self.codes.len() >= BLOCK_BYTES {
            self.end_block(run)?;
            if self.vocabulary.is_worn() {
                self.end_vocabulary(run)?;
            }
        }
        Ok(())
    }

    /// Writes what is left, and the table of vocabularies.
    ///
    /// # Errors
    /// Those of [`TokenWriter::push`].
    pub fn finish(&mut self, run: &mut RunWriter) -> Result<()> {
        if !self.lengths.is_empty() {
            self.end_block(run)?;
        }
        if !self.blocks.is_empty() {
            self.end_vocabulary(run)?;
        }
        run.rows(VOCABULARIES.kind, VOCABULARIES.shape)?;
        let vocabularies = (0..).zip(&self.vocabularies);
        vocabularies
            .map(|(number, (start, words))| StoredVocabulary { number, start: *start, words: *words })
            .try_for_each(|vocabulary| run.push(&vocabulary.to_row()))
    }

    /// Where the texts are, in the order in which they were added, once all are written.
    pub fn places(&self) -> impl Iterator<Item = TokenPlace> {
        let block = |&(start, texts)| (0..texts).map(move |ordinal| TokenPlace { start, ordinal });
        self.blocks.iter().flat_map(block)
    }

    fn end_block(&mut self, run: &mut RunWriter) -> Result<()> {
        self.bytes.clear();
        put_length(self.lengths.len(), &mut self.bytes);
        self.lengths.iter().for_each(|length| put_length(*length, &mut self.bytes));
        self.bytes.extend_from_slice(&self.codes);
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(self.bytes.len()));
        self.compressor.compress_to_buffer(&self.bytes, &mut self.packed).map_err(|e| incompressible(&e))?;
        let long = |bytes: &[u8]| {
            u32::try_from(bytes.len())
                .map_err(|_| Error::Limit("a text has more tokens than a collection holds".into()))
        };
        let head = BlockHead {
            bytes: (long(&self.bytes)?, long(&self.packed)?),
            vocabulary: self.vocabularies.len() as u32,
            ngram: self.ngram,
        };
        self.blocks.push((run.position(), self.lengths.len() as u32));
        run.push(&head.to_words())?;
        run.push(&words_of(&self.packed).collect::<Vec<_>>())?;
        self.codes.clear();
        self.lengths.clear();
        Ok(())
    }

    fn end_vocabulary(&mut self, run: &mut RunWriter) -> Result<()> {
        let tokens = self.vocabulary.take();
        self.vocabularies.push((run.position(), tokens.len() as u64));
        run.push(&tokens)
    }
}

fn incompressible(error: &std::io::Error) -> Error {
    Error::Worker(format!("tokens cannot be compressed: {error}"))
}
