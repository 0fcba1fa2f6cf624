//! Jobs of unequal size, handed to workers one at a time.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::peers::Peers;

/// Who does jobs: threads of this process and, if there are any, those of others that have the same list of jobs.
#[derive(Clone, Copy)]
pub struct Hands<'a> {
    /// Threads of this process, at least 1.
    pub workers: usize,
    /// The other processes.
    pub peers: Option<&'a Peers>,
}

impl Hands<'_> {
    /// The threads of all processes.
    pub(super) fn all(self) -> usize {
        self.peers.map_or(self.workers, |peers| peers.mesh().processes() * self.workers)
    }
}

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

/// The same for jobs that all processes share: what all of them come to, in process 0, and nothing elsewhere. What cannot be decoded
/// ends no process: the others do their jobs, and process 0 returns [`Error::Undecodable`] when all have ended.
pub(super) fn hand_out_among<S, T: Send + Default + Serialize + DeserializeOwned>(
    count: usize,
    hands: Hands<'_>,
    state: impl Fn() -> S + Sync,
    job: impl Fn(&mut S, usize) -> Result<T> + Sync,
    plus: impl Fn(T, T) -> T,
) -> Result<T> {
    let Some(peers) = hands.peers else {
        return Ok(hand_out(count, hands.workers, state, job)?.into_iter().fold(T::default(), plus));
    };
    let list = peers.next_list();
    let next = || Ok(peers.mesh().take(list)? as usize);
    let job = |state: &mut S, index: usize| match job(state, index) {
        Err(Error::Undecodable { path, reason }) => Ok(Err((path.to_string_lossy().into_owned(), reason))),
        done => done.map(Ok),
    };
    let done: Vec<Outcome<T>> = hand_out_by(&next, count, hands.workers, state, job)?;
    let sum = |done: Vec<Outcome<T>>| -> Outcome<T> {
        done.into_iter().try_fold(T::default(), |sum, one| Ok(plus(sum, one?)))
    };
    let all = peers.gather(&sum(done))?;
    sum(all).map_err(|(path, reason)| Error::undecodable(&path, reason))
}

/// What a job came to, or which file could not be decoded, and why.
type Outcome<T> = std::result::Result<T, (String, String)>;

fn hand_out_by<S, T: Send>(
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
    let finished: Vec<Result<Vec<(usize, T)>>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.max(1).min(count)).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| Err(panicked(&*panic)))).collect()
    });
    let mut results = Vec::with_capacity(count);
    for done in finished {
        results.extend(done?);
    }
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

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Error::Worker(text.unwrap_or("panic without a message").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

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
