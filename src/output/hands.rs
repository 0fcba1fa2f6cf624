//! Jobs that the threads of all processes share.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::threads::{hand_out, hand_out_by};

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

/// Does jobs that all processes share, as [`hand_out`] does those of one: what all of them come to, in process 0, and
/// nothing elsewhere. What cannot be decoded ends no process: the others do their jobs, and process 0 returns
/// [`Error::Undecodable`] when all have ended.
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
