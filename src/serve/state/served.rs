//! The commit that is served now, and what is wrong with the collection, if anything is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::commit::ServedCommit;
use super::remembered::Remembered;
use super::threads::Threads;
use crate::collection::Snapshot;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::serve::options::ServeOptions;
use crate::storage::Storage;

/// Changes that may wait for another one.
const WAITING: usize = 16;

/// A collection that is served.
pub struct Served {
    pub options: ServeOptions,
    pub storage: Arc<dyn Storage>,
    pub threads: Threads,
    /// Whose turn it is to change the collection.
    pub turn: Arc<tokio::sync::Semaphore>,
    /// Room to wait for the turn.
    pub waiting: Arc<tokio::sync::Semaphore>,
    /// Answers to changes by their keys.
    pub remembered: Remembered,
    /// Stops changes that are under way.
    pub changes: Arc<Progress>,
    current: RwLock<Arc<ServedCommit>>,
    trouble: Mutex<CollectionTrouble>,
}

/// What is wrong, if anything is.
#[derive(Default)]
struct CollectionTrouble {
    /// What the last look for a newer commit came to.
    watch: Option<&'static str>,
    /// What reading this commit came to.
    read: Option<&'static str>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What everybody may know of an error; where it is is for the operator.
fn kind(error: &Error) -> &'static str {
    match error {
        Error::Damaged { .. } => "the collection is damaged",
        Error::NotACollection(..) => "the collection is gone",
        Error::NewerFormat { .. } => "the collection was written by a later version",
        Error::Unreachable { .. } => "a part of the collection is with another process",
        _ => "the collection cannot be read",
    }
}

impl Served {
    /// Opens the newest commit of a collection.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn open(storage: Arc<dyn Storage>, options: ServeOptions, progress: &Progress) -> Result<Served> {
        let current = Arc::new(ServedCommit::new(Snapshot::open(&storage)?, progress)?);
        Ok(Served {
            threads: Threads::new(options.workers),
            options,
            storage,
            turn: Arc::new(tokio::sync::Semaphore::new(1)),
            waiting: Arc::new(tokio::sync::Semaphore::new(WAITING)),
            remembered: Remembered::default(),
            changes: Arc::default(),
            current: RwLock::new(current),
            trouble: Mutex::default(),
        })
    }

    /// The commit to answer from.
    pub fn commit(&self) -> Arc<ServedCommit> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks for a newer commit, and serves that from now on. What fails is remembered: the commit that is served stays.
    pub fn refresh(&self) {
        let served = self.commit();
        let looked = match served.snapshot().newer() {
            Ok(None) => Ok(()),
            Ok(Some(newer)) if newer.manifest().collection != served.snapshot().manifest().collection => {
                Err(("another collection is in the place of the one that is served", None))
            }
            Ok(Some(newer)) => ServedCommit::new(newer, &self.changes)
                .map(|next| self.replace(next))
                .map_err(|error| (kind(&error), Some(error))),
            Err(error) => Err((kind(&error), Some(error))),
        };
        let (watch, error) = match looked {
            Ok(()) => (None, None),
            // Whoever writes may be faster than this, and the server may be ending: the next look will see.
            Err((_, Some(Error::Changed(_) | Error::Interrupted))) => return,
            Err((what, error)) => (Some(what), error),
        };
        let before = std::mem::replace(&mut lock(&self.trouble).watch, watch);
        if let Some(what) = watch.filter(|_| before != watch) {
            let why = error.map_or_else(String::new, |error| format!(" ({error})"));
            let commit = served.number();
            (self.options.log)(&format!("{what}{why}; commit {commit} is served on"));
        }
    }

    /// Serves another commit, unless that has been done already.
    fn replace(&self, next: ServedCommit) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if next.number() > current.number() {
            *current = Arc::new(next);
            lock(&self.trouble).read = None;
        }
    }

    /// Tells the operator.
    pub fn note(&self, what: &str) {
        (self.options.log)(what);
    }

    /// Remembers, until there is another commit, that the one that is served is damaged.
    pub fn note_damage(&self) {
        lock(&self.trouble).read = Some("the commit that is served is damaged");
    }

    /// What is wrong, if anything is.
    pub fn trouble(&self) -> Option<&'static str> {
        let trouble = lock(&self.trouble);
        trouble.watch.or(trouble.read)
    }
}
