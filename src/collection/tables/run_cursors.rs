//! Cursors that keep what they have unpacked of a run, one for each place that is read by turns.

use std::ops::Range;

use crate::collection::run::reader::RunReader;
use crate::limits::sized;

/// Cursors that are kept: contents in order lie by turns where several workers have put them, in runs of their own or in one that these
/// were merged to.
pub(in crate::collection) const MOST_CURSORS: usize = sized(16, 4);
/// Those of them that may be in one run: so many places of it are read by turns without unpacking anything twice.
pub(in crate::collection) const MOST_PLACES: usize = sized(8, 2);

/// A cursor that keeps what stands so many words before a place goes on to there: nobody may want what is passed over.
const NEAR: u64 = sized(1 << 15, 64);

/// How far a cursor that keeps some words is from what starts at word `start`: 0 if it keeps that, 1 if it keeps what stands right
/// before.
pub(in crate::collection) fn distance(start: u64, kept: Range<u64>) -> u64 {
    match start.checked_sub(kept.end) {
        _ if start == kept.start => 0,
        Some(passed) => passed.saturating_add(1),
        None => u64::MAX,
    }
}

/// What keeps something of the run that it was in last.
pub trait RunCursor: Default {
    /// How far it is from what starts at word `start` of this run, by [`distance`]; `None` in another run.
    fn distance(&self, run: &RunReader, start: u64) -> Option<u64>;

    /// Gives back what the last value took, if that was a long one: many cursors would each hold one beside the next.
    fn rest(&mut self);
}

/// Some cursors, the one that was asked for last at the end.
#[derive(Debug, Default)]
pub struct RunCursors<C>(Vec<C>);

impl<C: RunCursor> RunCursors<C> {
    /// All of them.
    #[cfg(test)]
    pub fn all(&self) -> &[C] {
        &self.0
    }

    /// The cursor that has come to word `start` of this run, or one that may go there.
    pub fn of(&mut self, run: &RunReader, start: u64) -> &mut C {
        let (mut nearest, mut places, mut oldest) = ((NEAR, None), 0, 0);
        for (at, cursor) in self.0.iter().enumerate().rev() {
            let Some(distance) = cursor.distance(run, start) else { continue };
            (places, oldest) = (places + 1, at);
            if distance < nearest.0 {
                nearest = (distance, Some(at));
            }
        }
        let place = match nearest.1 {
            None if places >= MOST_PLACES => Some(oldest),
            None => (self.0.len() == MOST_CURSORS).then_some(0),
            near => near,
        };
        if place.is_none_or(|at| at + 1 < self.0.len()) {
            self.rest();
        }
        let cursor = place.map_or_else(C::default, |at| self.0.remove(at));
        self.0.push(cursor);
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Has the cursor that was asked for last rest; the others do.
    pub fn rest(&mut self) {
        self.0.last_mut().into_iter().for_each(C::rest);
    }
}
