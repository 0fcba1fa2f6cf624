//! The candidates that the workers of a process have found, measured by whoever is free: what one pair costs nobody knows before, and
//! some workers have pairs of long texts.

use std::sync::Mutex;

use crate::error::Result;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::status::lock;
use crate::limits::sized;

/// Candidates that are taken at a time: few, so that workers end together.
const SOME: usize = sized(1 << 12, 3);

/// The candidates of the workers of a process.
pub struct CandidateQueue {
    of_workers: Vec<Mutex<Option<HandedIn>>>,
}

/// Those of one worker, of which the first ones are taken.
struct HandedIn {
    candidates: Pile<Candidate>,
    taken: usize,
}

impl CandidateQueue {
    /// None yet, of so many workers.
    pub fn new(workers: usize) -> CandidateQueue {
        CandidateQueue { of_workers: (0..workers).map(|_| Mutex::default()).collect() }
    }

    /// Hands in the candidates of a worker of the process, counted from 0; once.
    pub fn hand_in(&self, worker: usize, candidates: Pile<Candidate>) {
        let before = lock(&self.of_workers[worker]).replace(HandedIn { candidates, taken: 0 });
        debug_assert!(before.is_none(), "candidates are handed in once");
    }

    /// Moves some candidates that nobody has taken to `some`: of this worker's first, in their order, and then of the others'.
    /// None are left if it stays empty.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn take(&self, worker: usize, some: &mut Vec<Candidate>) -> Result<()> {
        some.clear();
        let (before, from_own_on) = self.of_workers.split_at(worker);
        let mut buffer = Vec::new();
        for waiting in from_own_on.iter().chain(before) {
            let mut waiting = lock(waiting);
            if let Some(HandedIn { candidates, taken }) = &mut *waiting {
                some.extend_from_slice(candidates.some(*taken, SOME, &mut buffer)?);
                *taken += some.len();
            }
            if !some.is_empty() {
                return Ok(());
            }
            // What is measured takes no memory.
            *waiting = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::records::Pair;

    proptest! {
        #[test]
        fn each_candidate_is_taken_once(
            counts in prop::collection::vec(0..5 * SOME, 1..4),
            bytes in prop::sample::select(vec![0u64, 100, 1 << 20]),
            turns in prop::collection::vec(0usize..4, 0..40),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let queue = CandidateQueue::new(counts.len());
            let mut all = Vec::new();
            for (worker, count) in counts.iter().enumerate() {
                let of = |number| Candidate { pair: Pair::new(worker as u32, 10 + number as u32), shared: 1 };
                let mut pile = Pile::new(bytes, folder.path());
                (0..*count).for_each(|number| pile.extend(&[of(number)]).expect("put on"));
                queue.hand_in(worker, pile);
                all.extend((0..*count).map(of));
            }
            let (mut taken, mut some) = (Vec::new(), Vec::new());
            // Whoever comes last finds all that is left.
            for worker in turns.iter().copied().chain(std::iter::repeat(0)) {
                let worker = worker % counts.len();
                queue.take(worker, &mut some).expect("taken");
                let own = some.iter().take_while(|candidate| candidate.pair.docs().0 == worker as u32).count();
                prop_assert!(own == some.len() || own == 0);
                taken.extend_from_slice(&some);
                if some.is_empty() {
                    break;
                }
            }
            taken.sort_unstable_by_key(|candidate| candidate.pair);
            prop_assert_eq!(taken, all);
        }
    }
}
