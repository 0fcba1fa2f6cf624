//! Jobs of unequal size, handed to threads one at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;
use crate::threads::in_threads::in_threads;

/// Does jobs `0..count`, each on the first worker that is free, and returns their results in order. `state` makes
/// what a worker keeps from job to job. After the first failure no further job is begun.
pub(crate) fn hand_out<S, T: Send>(
    count: usize,
    workers: usize,
    state: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    hand_out_by(&|| Ok(next.fetch_add(1, Ordering::Relaxed)), count, workers, state, job)
}

/// The same, where `next` gives the number of the next job.
pub(crate) fn hand_out_by<S, T: Send>(
    next: &(dyn Fn() -> Result<usize> + Sync),
    count: usize,
    workers: usize,
    state: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let stopped = AtomicBool::new(false);
    let worker = || -> Result<Vec<(usize, T)>> {
        // However a worker ends, nobody begins another job then: without a failure none is left.
        let _stops = StopsOthers(&stopped);
        let (mut state, mut done) = (state(), Vec::new());
        while !stopped.load(Ordering::Relaxed) {
            let index = next()?;
            if index >= count {
                break;
            }
            done.push((index, job(&mut state, index)?));
        }
        Ok(done)
    };
    let finished = in_threads(0..workers.max(1).min(count), |_| worker())?;
    let mut results: Vec<(usize, T)> = finished.into_iter().flatten().collect();
    results.sort_unstable_by_key(|&(index, _)| index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Stops the other workers when it goes.
struct StopsOthers<'a>(&'a AtomicBool);

impl Drop for StopsOthers<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_come_in_order() {
        for workers in 1..5 {
            let squares = hand_out(50, workers, || (), |(), i| Ok(i * i)).expect("results");
            assert_eq!(squares, (0..50).map(|i| i * i).collect::<Vec<_>>());
        }
        assert!(hand_out(0, 3, || (), |(), i| Ok(i)).expect("results").is_empty());
    }

    #[test]
    fn a_failure_stops_the_rest() {
        let result = hand_out(1000, 2, || (), |(), i| if i == 3 { Err(Error::Interrupted) } else { Ok(()) });
        assert!(matches!(result, Err(Error::Interrupted)));
    }

    #[test]
    fn a_panic_is_an_error() {
        let result = hand_out(2, 2, || (), |(), i| if i == 1 { panic!("job {i}") } else { Ok(()) });
        assert!(matches!(result, Err(Error::Worker(text)) if text == "job 1"));
    }
}
