//! What the processes of a test send each other and wait for, told to whoever decides whose turn it is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Mesh;

/// What a thread waits for that another process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The next message of a topic from a process.
    Message { from: usize, topic: u32 },
    /// All others, at the data sockets of a run of the dataflow.
    Sockets(u64),
}

/// Who is told. A process is its number in the job.
pub trait Watch: Send + Sync {
    /// A process is about to send a message.
    fn sends(&self, process: usize, to: usize, topic: u32);

    /// A thread of a process is about to wait.
    fn waits(&self, process: usize, awaited: Awaited);

    /// It has waited, whatever came of it.
    fn goes_on(&self, process: usize, awaited: Awaited);
}

static WATCHED: Mutex<BTreeMap<u128, Arc<dyn Watch>>> = Mutex::new(BTreeMap::new());

/// A job that is watched, until this is dropped.
pub struct Watched(u128);

impl Watched {
    /// Has `watch` be told of all that the processes of job `job` do.
    pub fn new(job: u128, watch: Arc<dyn Watch>) -> Watched {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).insert(job, watch);
        Watched(job)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn watch_of(mesh: &Mesh) -> Option<Arc<dyn Watch>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner).get(&mesh.membership.job).cloned()
}

/// A message is about to be sent.
pub(super) fn sends(mesh: &Mesh, to: usize, topic: u32) {
    if let Some(watch) = watch_of(mesh) {
        watch.sends(mesh.process(), to, topic);
    }
}

/// A thread that waits, until this is dropped.
pub(super) struct Waiting(Option<Arc<dyn Watch>>, usize, Awaited);

impl Waiting {
    pub(super) fn begin(mesh: &Mesh, awaited: Awaited) -> Waiting {
        let watch = watch_of(mesh);
        if let Some(watch) = &watch {
            watch.waits(mesh.process(), awaited);
        }
        Waiting(watch, mesh.process(), awaited)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(watch) = &self.0 {
            watch.goes_on(self.1, self.2);
        }
    }
}
