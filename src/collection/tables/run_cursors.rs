//! Cursors that keep what they have unpacked of a run, one for each run that is read by turns.

use crate::collection::run::reader::RunReader;
use crate::limits::sized;

/// Runs whose cursors are kept: contents in order lie in the runs of several workers by turns.
pub(in crate::collection) const MOST_RUNS: usize = sized(16, 2);

/// What keeps something of the run that it was in last.
pub trait RunCursor: Default {
    /// Whether what is kept is of this run.
    fn is_in(&self, run: &RunReader) -> bool;
}

/// The cursors of some runs, that of the run that was asked for last at the end.
#[derive(Debug, Default)]
pub struct RunCursors<C>(Vec<C>);

impl<C: RunCursor> RunCursors<C> {
    /// Whether this is true of a cursor that is kept.
    pub fn any(&self, is: impl Fn(&C) -> bool) -> bool {
        self.0.iter().any(is)
    }

    /// The cursor that was in this run last, or one that may go there.
    pub fn of(&mut self, run: &RunReader) -> &mut C {
        let cursor = match self.0.iter().rposition(|cursor| cursor.is_in(run)) {
            Some(at) => self.0.remove(at),
            None if self.0.len() == MOST_RUNS => self.0.remove(0),
            None => C::default(),
        };
        self.0.push(cursor);
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}
