//! Reading tokens of several runs by turns.

use super::cursor::TokenCursor;
use crate::collection::run::reader::RunReader;
use crate::collection::tables::rows::StoredText;
use crate::limits::sized;

/// Runs of which a block is kept: contents in order lie in those of several workers by turns.
pub(super) const MOST_RUNS: usize = sized(16, 2);

/// A cursor for each run that texts come from, as many as are kept; the one that was asked for last at the end.
#[derive(Debug, Default)]
pub struct TokenCursors(Vec<TokenCursor>);

impl TokenCursors {
    /// Whether the block of a text is one that is kept.
    pub fn are_at(&self, run: &RunReader, text: &StoredText) -> bool {
        self.0.iter().any(|cursor| cursor.is_at(run, text))
    }

    /// The cursor that was in this run last, or one that may go there.
    pub fn of(&mut self, run: &RunReader) -> &mut TokenCursor {
        let cursor = match self.0.iter().rposition(|cursor| cursor.is_in(run)) {
            Some(at) => self.0.remove(at),
            None if self.0.len() == MOST_RUNS => self.0.remove(0),
            None => TokenCursor::default(),
        };
        self.0.push(cursor);
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}
