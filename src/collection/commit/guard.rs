//! The storage of the one writer: after one failure nothing more is written through it.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::storage::{FileWriter, Lock, Reader, Storage};

/// A folder that refuses to be changed once a change has failed, whoever tried it and on whatever thread: what the
/// failed one left is not known, and a later success would say nothing about it. Reading goes on.
#[derive(Clone, Debug)]
pub(in crate::collection) struct Guard {
    inner: Arc<dyn Storage>,
    dead: Arc<AtomicBool>,
    /// What the first change failed with: another worker may be the first to tell.
    why: Arc<OnceLock<String>>,
}

impl Guard {
    pub(in crate::collection) fn new(inner: Arc<dyn Storage>) -> Guard {
        Guard { inner, dead: Arc::default(), why: Arc::default() }
    }

    /// A guard over the same folder that nothing has failed under.
    pub(in crate::collection) fn renewed(&self) -> Guard {
        Guard::new(Arc::clone(&self.inner))
    }

    /// Refuses every later change.
    pub(in crate::collection) fn kill(&self) {
        self.dead.store(true, Ordering::SeqCst);
    }

    /// Refuses every later change, with what this one failed with.
    fn failed(&self, error: &io::Error) {
        let _ = self.why.set(error.to_string());
        self.kill();
    }

    /// Fails if an earlier change did.
    pub(in crate::collection) fn check(&self) -> io::Result<()> {
        if self.dead.load(Ordering::SeqCst) {
            return Err(io::Error::other(match self.why.get() {
                Some(why) => {
                    format!("an earlier write to the collection failed: {why}; open the collection again")
                }
                None => "the writer of the collection is gone; open the collection again".to_owned(),
            }));
        }
        Ok(())
    }

    fn change<T>(&self, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.check()?;
        change().inspect_err(|error| self.failed(error))
    }
}

/// A file that is there already is, under the lock, one that this writer has begun and not committed.
fn in_the_way(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let what = "what an earlier attempt began is in the way; open the collection again";
            io::Error::new(error.kind(), what)
        }
        _ => error,
    }
}

impl Storage for Guard {
    fn names(&self) -> io::Result<Vec<String>> {
        self.inner.names()
    }

    fn strays(&self) -> io::Result<Vec<String>> {
        self.inner.strays()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        let writer = self.change(|| self.inner.create(name).map_err(in_the_way))?;
        Ok(Box::new(GuardedWriter { writer, guard: self.clone() }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.inner.open(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|| self.inner.link(from, to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.check()?;
        // What is not there was not changed.
        self.inner.remove(name).inspect_err(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                self.failed(error);
            }
        })
    }

    fn sync_names(&self) -> io::Result<()> {
        self.change(|| self.inner.sync_names())
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.inner.lock()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }

    fn is_scattered(&self) -> bool {
        self.inner.is_scattered()
    }

    fn beside(&self) -> Option<Arc<dyn Storage>> {
        let beside = self.inner.beside()?;
        Some(Arc::new(Guard { inner: beside, dead: Arc::clone(&self.dead), why: Arc::clone(&self.why) }))
    }
}

#[derive(Debug)]
struct GuardedWriter {
    writer: Box<dyn FileWriter>,
    guard: Guard,
}

impl FileWriter for GuardedWriter {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.guard.change(|| self.writer.append(bytes))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.guard.change(|| self.writer.sync())
    }
}
