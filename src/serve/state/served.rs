//! What is served now, and what is wrong with it, if anything is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::commit::ServedCommit;
use super::remembered::Remembered;
use super::run::{ServedInputs, ServedRun};
use super::threads::Threads;
use super::verdicts::VerdictFile;
use crate::collection::Snapshot;
use crate::error::{Error, Result};
use crate::printable::counted;
use crate::progress::Progress;
use crate::serve::html::ServedKind;
use crate::serve::http::answer::HttpError;
use crate::serve::http::body::BodyRoom;
use crate::serve::options::ServeOptions;
use crate::storage::Storage;

/// Changes that may wait for another one.
const WAITING: usize = 16;

/// What is to be served.
pub enum ServeWhat {
    /// A collection, its newest commit at any time.
    Collection(Arc<dyn Storage>),
    /// One commit of a collection, whatever is committed later.
    Commit(Box<Snapshot>),
    /// An output of `dedup`.
    Output(Box<ServedInputs>),
}

/// What an answer is read from.
#[derive(Clone)]
pub enum ServedSubject {
    /// A commit of a collection.
    Commit(Arc<ServedCommit>),
    /// An output of `dedup`.
    Run(Arc<ServedRun>),
}

impl ServedSubject {
    /// The number of the commit, of a collection.
    pub fn number(&self) -> Option<u64> {
        match self {
            ServedSubject::Commit(commit) => Some(commit.number()),
            ServedSubject::Run(_) => None,
        }
    }
}

/// Where what is served comes from.
enum ServedOrigin {
    Collection(ServedCollection),
    Run(Arc<ServedRun>),
}

/// A collection, and the commit of it that is served.
pub struct ServedCollection {
    /// Where it lies; `None` if the commit is served alone.
    storage: Option<Arc<dyn Storage>>,
    current: RwLock<Arc<ServedCommit>>,
}

impl ServedCollection {
    fn new(
        storage: Option<Arc<dyn Storage>>,
        snapshot: Snapshot,
        progress: &Progress,
    ) -> Result<ServedCollection> {
        let current = RwLock::new(Arc::new(ServedCommit::new(snapshot, progress)?));
        Ok(ServedCollection { storage, current })
    }

    /// Where it lies, to be changed.
    ///
    /// # Errors
    /// 404 where one commit is served.
    pub fn storage(&self) -> std::result::Result<&Arc<dyn Storage>, HttpError> {
        let alone =
            "an older commit is served, which does not change; ask a server of the collection without --at";
        self.storage.as_ref().ok_or_else(|| HttpError::missing(alone))
    }

    /// The commit to answer from.
    pub fn commit(&self) -> Arc<ServedCommit> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A collection or an output that is served.
pub struct Served {
    pub options: ServeOptions,
    pub threads: Arc<Threads>,
    /// Room for the bodies of requests.
    pub bodies: BodyRoom,
    /// Whose turn it is to change the collection.
    pub turn: Arc<tokio::sync::Semaphore>,
    /// Room to wait for the turn.
    pub waiting: Arc<tokio::sync::Semaphore>,
    /// Answers to changes by their keys.
    pub remembered: Remembered,
    /// Where verdicts on pairs of documents go, if they are taken.
    pub verdicts: Option<VerdictFile>,
    /// Stops changes that are under way.
    pub changes: Arc<Progress>,
    origin: ServedOrigin,
    trouble: Mutex<ServedTrouble>,
}

/// What is wrong, if anything is.
#[derive(Default)]
struct ServedTrouble {
    /// What the last look whether all is as it was, or newer, came to.
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
        Error::OlderFormat { .. } => "the collection was written by an earlier version",
        Error::Unreachable { .. } => "a part of the collection is with another process",
        _ => "the collection cannot be read",
    }
}

/// The same of an output.
fn gone(error: &Error) -> &'static str {
    match error {
        Error::NotAnOutput(..) => "another output is in the place of the one that is served",
        Error::InputGone { .. } => "the inputs of the output are not as they were",
        _ => "the output is gone",
    }
}

impl Served {
    /// Opens the newest commit of a collection, takes the one that was asked for, or reads the lists of an output.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`], [`ServedRun::new`] and [`VerdictFile::open`].
    pub fn open(what: ServeWhat, options: ServeOptions, progress: &Progress) -> Result<Served> {
        let origin = match what {
            ServeWhat::Collection(storage) => {
                let snapshot = Snapshot::open(&storage)?;
                ServedOrigin::Collection(ServedCollection::new(Some(storage), snapshot, progress)?)
            }
            ServeWhat::Commit(snapshot) => {
                ServedOrigin::Collection(ServedCollection::new(None, *snapshot, progress)?)
            }
            ServeWhat::Output(inputs) => {
                ServedOrigin::Run(Arc::new(ServedRun::new(*inputs, &options, progress)?))
            }
        };
        let verdicts = options.verdicts.as_deref().map(|path| {
            let (file, cut) = VerdictFile::open(path)?;
            if cut > 0 {
                let what = "half a line at its end was taken away; it was never answered";
                (options.log)(&format!("{}: {what} ({})", path.display(), counted(cut, "byte")));
            }
            Ok::<_, Error>(file)
        });
        let verdicts = verdicts.transpose()?;
        Ok(Served {
            verdicts,
            threads: Arc::new(Threads::new(options.workers, options.connections)),
            bodies: BodyRoom::new(options.body),
            options,
            turn: Arc::new(tokio::sync::Semaphore::new(1)),
            waiting: Arc::new(tokio::sync::Semaphore::new(WAITING)),
            remembered: Remembered::default(),
            changes: Arc::default(),
            origin,
            trouble: Mutex::default(),
        })
    }

    /// What to answer from.
    pub fn subject(&self) -> ServedSubject {
        match &self.origin {
            ServedOrigin::Collection(collection) => ServedSubject::Commit(collection.commit()),
            ServedOrigin::Run(run) => ServedSubject::Run(Arc::clone(run)),
        }
    }

    /// Which kind of thing is served.
    pub fn kind(&self) -> ServedKind {
        match self.origin {
            ServedOrigin::Collection(_) => ServedKind::Collection,
            ServedOrigin::Run(_) => ServedKind::Output,
        }
    }

    /// The collection that is served.
    ///
    /// # Errors
    /// 404 where it is an output.
    pub fn collection(&self) -> std::result::Result<&ServedCollection, HttpError> {
        match &self.origin {
            ServedOrigin::Collection(collection) => Ok(collection),
            ServedOrigin::Run(_) => Err(HttpError::missing(
                "an output is served: it takes no texts and no changes, and has no commits; load its files into a collection",
            )),
        }
    }

    /// Looks for a newer commit, and serves that from now on; of an output, whether it is still there. What fails is remembered:
    /// what is served stays.
    pub fn refresh(&self) {
        let (looked, stays) = match &self.origin {
            ServedOrigin::Collection(collection) => {
                let served = collection.commit();
                (self.look(collection, &served), format!("commit {}", served.number()))
            }
            ServedOrigin::Run(run) => (
                run.check().and_then(|()| run.check_inputs()).map_err(|error| (gone(&error), Some(error))),
                "what was read of it".to_owned(),
            ),
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
            (self.options.log)(&format!("{what}{why}; {stays} is served on"));
        }
    }

    /// Serves the newest commit, if there is a newer one.
    fn look(
        &self,
        collection: &ServedCollection,
        served: &ServedCommit,
    ) -> std::result::Result<(), (&'static str, Option<Error>)> {
        if collection.storage.is_none() {
            return Ok(());
        }
        match served.snapshot().newer() {
            Ok(None) => Ok(()),
            Ok(Some(newer)) if newer.manifest().collection != served.snapshot().manifest().collection => {
                Err(("another collection is in the place of the one that is served", None))
            }
            Ok(Some(newer)) => ServedCommit::new(newer, &self.changes)
                .map(|next| self.replace(collection, next))
                .map_err(|error| (kind(&error), Some(error))),
            Err(error) => Err((kind(&error), Some(error))),
        }
    }

    /// Serves another commit, unless that has been done already.
    fn replace(&self, collection: &ServedCollection, next: ServedCommit) {
        let mut current = collection.current.write().unwrap_or_else(PoisonError::into_inner);
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
