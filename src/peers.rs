//! The processes of a job that work together: what process 0 tells the others, and what they hand back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::mesh::Mesh;

/// Counters of lists of jobs begin here; below are those of runs.
const LISTS: u64 = 1 << 32;

/// The processes of a job, this one among them, that share one run of the dataflow after the other.
pub struct Peers {
    mesh: Arc<Mesh>,
    runs: AtomicU64,
    lists: AtomicU64,
    /// Bytes that all have sent; in process 0, after a run.
    sent: AtomicU64,
    /// Where this process keeps the runs that it writes, if each keeps its own.
    state: Option<PathBuf>,
}

impl Peers {
    /// Those who have met. Where each process keeps the runs of collections that it writes to itself, `state` is the folder
    /// for those of this one.
    pub fn new(mesh: Arc<Mesh>, state: Option<PathBuf>) -> Peers {
        let [runs, lists, sent] = [(); 3].map(|()| AtomicU64::new(0));
        Peers { mesh, runs, lists, sent, state }
    }

    /// The folder for the local runs of this process, if the job has local runs.
    pub fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// How they meet.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The same, for threads of its own.
    pub fn share(&self) -> Arc<Mesh> {
        Arc::clone(&self.mesh)
    }

    /// Sends something to all others, from process 0, where they [`Peers::receive`].
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn broadcast(&self, what: &impl Serialize) -> Result<()> {
        self.mesh.broadcast(to_bytes(what)?).map(drop)
    }

    /// Sends all others some bytes, from process 0, where they [`Peers::receive_bytes`].
    ///
    /// # Errors
    /// Those of [`Peers::broadcast`], and [`Error::Limit`] if they are more than a message has.
    pub fn broadcast_bytes(&self, bytes: Vec<u8>) -> Result<()> {
        self.mesh.broadcast(bytes).map(drop)
    }

    /// The bytes that process 0 sends.
    ///
    /// # Errors
    /// Those of [`Peers::receive`].
    pub fn receive_bytes(&self) -> Result<Vec<u8>> {
        self.mesh.broadcast(Vec::new())
    }

    /// What process 0 sends.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn receive<T: DeserializeOwned>(&self) -> Result<T> {
        of_bytes(&self.mesh.broadcast(Vec::new())?)
    }

    /// What all processes have, in their order, in process 0; elsewhere nothing.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Vec<T>> {
        self.mesh.gather(to_bytes(own)?)?.iter().map(|bytes| of_bytes(bytes)).collect()
    }

    /// Bytes that the processes have sent each other from their meeting to the end of their last run, whatever came of it.
    /// Process 0 knows it; elsewhere it is 0.
    pub fn wire_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The number of the counter of the next list of jobs that is shared out: every process counts them alike.
    pub fn next_list(&self) -> u64 {
        LISTS + self.lists.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next run: every process counts them alike.
    pub fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes how many bytes all processes have sent by now: what [`Peers::wire_bytes`] gives from now on.
    pub fn note_sent(&self, bytes: u64) {
        self.sent.store(bytes, Ordering::Relaxed);
    }
}

fn to_bytes(what: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(what)
        .map_err(|e| Error::Worker(format!("what cannot be told to another process: {e}")))
}

fn of_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let read = serde_json::from_slice(bytes);
    read.map_err(|e| Error::Worker(format!("what another process says makes no sense: {e}")))
}
