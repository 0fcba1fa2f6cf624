//! Cursors that keep what they have unpacked of a run, one for each run that is read by turns.

use crate::collection::run::reader::RunReader;
use crate::limits::sized;

/// Runs whose cursors are kept: contents in order lie in the runs of several workers by turns.
pub(in crate::collection) const MOST_RUNS: usize = sized(16, 2);

/// What keeps something of the run that it was in last.
pub trait RunCursor: Default {
    /// Whether what is kept is of this run.
    fn is_in(&self, run: &RunReader) -> bool;

    /// Gives back what the last value took, if that was a long one: many cursors would each hold one beside the next.
    fn rest(&mut self);
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
        let place = self.0.iter().rposition(|cursor| cursor.is_in(run));
        if place.is_none_or(|at| at + 1 < self.0.len()) {
            self.rest();
        }
        let cursor = match place {
            Some(at) => self.0.remove(at),
            None if self.0.len() == MOST_RUNS => self.0.remove(0),
            None => C::default(),
        };
        self.0.push(cursor);
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Has the cursor that was asked for last rest; the others do.
    pub fn rest(&mut self) {
        self.0.last_mut().into_iter().for_each(C::rest);
    }
}
