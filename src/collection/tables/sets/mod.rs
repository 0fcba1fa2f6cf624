//! The stored sets of contents: what their sketches are, a word a member; and which of them are compared.
//!
//! A run has sets as they are, or the tokens that they follow from.

pub(in crate::collection) mod signatures;

use crate::collection::HeapCursor;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{SCOPES, SETS, TEXTS, TOKENS};
use crate::collection::tables::Tables;
use crate::collection::tables::rows::{StoredScope, StoredText};
use crate::collection::tables::run_cursors::{RunCursor, RunCursors};
use crate::collection::tables::tokens::{KeptBlocks, TokenCursor};
use crate::document::Doc;
use crate::error::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Reads the set of a content, given the tables.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn read_set(tables: &Tables, cursor: &mut SetCursor, content: Doc, set: &mut Vec<u64>) -> Result<()> {
    // Into the list of whoever asks: a long set would otherwise be there twice.
    each_set_by(tables, &[u64::from(content)], &|_| true, (cursor, set), &mut |_, _| Ok(()))
}

/// Hands on the sets of ascending, distinct contents, in no order: `each` gets the number of a content and its set.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`], and what `each` gives.
pub fn each_set(
    tables: &Tables,
    contents: &[u64],
    each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
) -> Result<()> {
    each_set_by(tables, contents, &|_| true, (&mut SetCursor::default(), &mut Vec::new()), each)
}

/// The same, but only of those whose sets have a wanted size; the others are not read. Each set is read by a cursor into `set`,
/// where the last one stays.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`], and what `each` gives.
pub fn each_set_by(
    tables: &Tables,
    contents: &[u64],
    wanted: &dyn Fn(u32) -> bool,
    (cursor, set): (&mut SetCursor, &mut Vec<u64>),
    each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
) -> Result<()> {
    let mut found = vec![false; contents.len()];
    tables.newest(TEXTS, contents, &mut |at, run, row| {
        found[at] = true;
        let text = StoredText::of_row(row);
        if !wanted(text.size) {
            return Ok(());
        }
        cursor.read(run, &text, set)?;
        each(at, set)
    })?;
    cursor.tokens.rest();
    match found.iter().position(|found| !found) {
        Some(at) => Err(missing(tables, contents[at] as Doc)),
        None => Ok(()),
    }
}

/// Reads of sets that come in about the order in which they lie, run by run.
#[derive(Debug, Default)]
pub struct SetCursor {
    sets: HeapCursor,
    tokens: RunCursors<TokenCursor>,
    /// Reads in blocks that are kept elsewhere.
    beside: TokenCursor,
}

/// Cursors of those who ask for one set at a time, from any thread.
#[derive(Debug, Default)]
pub struct SetCursors(Mutex<Vec<SetCursor>>);

impl SetCursors {
    /// The set of a content, given the tables: what [`read_set`] does.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn read_of(&self, tables: &Tables, content: Doc, set: &mut Vec<u64>) -> Result<()> {
        let mut cursor = self.take();
        read_set(tables, &mut cursor, content, set)?;
        cursor.rest();
        self.give_back(cursor);
        Ok(())
    }

    /// A cursor that nobody else has, to be given back.
    pub fn take(&self) -> SetCursor {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a cursor back.
    pub fn give_back(&self, cursor: SetCursor) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(cursor);
    }
}

impl SetCursor {
    /// The set of a text of `run`, which replaces what is in `set`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn read(&mut self, run: &RunReader, text: &StoredText, set: &mut Vec<u64>) -> Result<()> {
        if run.heap(TOKENS).is_some() {
            return self.tokens.of(run, text.start).set(run, text, set);
        }
        let heap = run.heap(SETS).ok_or_else(|| Error::damaged(run.path(), 0, "texts without their sets"))?;
        set.clear();
        self.sets.read(heap, text.start, text.size as usize, set)
    }

    /// The same of a text of the run at a place among those of the tables, where tokens are read in another order than they lie.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn read_anywhere(
        &mut self,
        kept: &KeptBlocks,
        (place, run): (u32, &RunReader),
        text: &StoredText,
        set: &mut Vec<u64>,
    ) -> Result<()> {
        if let Some(block) = kept.get((place, text.start)) {
            return self.beside.set_in(block, run, text, set);
        }
        if run.heap(TOKENS).is_none() {
            return self.read(run, text, set);
        }
        let cursor = self.tokens.of(run, text.start);
        cursor.set(run, text, set)?;
        cursor.block_at(text.start).into_iter().for_each(|block| kept.keep((place, text.start), block));
        Ok(())
    }

    /// Gives back what the last set took, if that was a long one.
    pub fn rest(&mut self) {
        self.tokens.rest();
        self.beside.rest();
    }
}

/// A content that other rows speak of and that no run has.
pub fn missing(tables: &Tables, content: Doc) -> Error {
    let path = tables.runs.last().map_or_else(Default::default, |run| run.path().to_path_buf());
    Error::damaged(&path, 0, format!("content {content} is in no run up to this one"))
}

/// Whether not all documents are compared.
pub fn has_scopes(tables: &Tables) -> bool {
    // A run that others were merged to has a section of each table.
    tables.runs.iter().any(|run| run.rows(SCOPES.kind).is_some_and(|rows| !rows.is_empty()))
}

/// The salts of ascending, distinct contents; 0 of each where all documents are compared.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn salts(tables: &Tables, contents: &[u64]) -> Result<Vec<u64>> {
    let mut salts = vec![0; contents.len()];
    if !has_scopes(tables) {
        return Ok(salts);
    }
    let mut found = vec![false; contents.len()];
    tables.newest(SCOPES, contents, &mut |at, _, row| {
        found[at] = true;
        salts[at] = StoredScope::of_row(row).salt;
        Ok(())
    })?;
    match found.iter().position(|found| !found) {
        Some(at) => Err(missing(tables, contents[at] as Doc)),
        None => Ok(salts),
    }
}
