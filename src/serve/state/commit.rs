//! One commit, with what is made of it once and used by all requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::collection::{Checker, ClusterIndex, IdIndex, LoosenessIndex, Snapshot};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::serve::index::making::Making;
use crate::serve::index::stored::StoredTitles;
use crate::serve::options::ServeOptions;

/// A commit that requests are answered from.
pub struct ServedCommit {
    snapshot: Arc<Snapshot>,
    clusters: ClusterIndex,
    /// Made when it is first asked for.
    ids: Mutex<Option<Arc<IdIndex>>>,
    /// The same; or why there is no such order.
    looseness: Mutex<Option<Ordered>>,
    /// Titles, which are read in the background from when they are first asked for.
    titles: Mutex<Option<Arc<Making<StoredTitles>>>>,
    /// Those that nobody uses at present. Each has tables of its own, open.
    checkers: Mutex<Vec<Checker>>,
}

/// An order of clusters, or why there is none.
type Ordered = std::result::Result<Arc<LoosenessIndex>, String>;

/// A lock that nobody can leave half written behind it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServedCommit {
    /// Reads what is needed of a commit at once.
    ///
    /// # Errors
    /// Those of the collection.
    pub fn new(snapshot: Snapshot, progress: &Progress) -> Result<ServedCommit> {
        let clusters = ClusterIndex::new(&snapshot, progress)?;
        let (ids, looseness, titles, checkers) = Default::default();
        Ok(ServedCommit { snapshot: Arc::new(snapshot), clusters, ids, looseness, titles, checkers })
    }

    /// The commit itself.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.snapshot.manifest().commit
    }

    /// Its clusters in order.
    pub fn clusters(&self) -> &ClusterIndex {
        &self.clusters
    }

    /// Its ids in order. Whoever asks first reads them while the others wait.
    ///
    /// # Errors
    /// Those of the collection.
    pub fn ids(&self) -> Result<Arc<IdIndex>> {
        let mut ids = lock(&self.ids);
        match &*ids {
            Some(ids) => Ok(Arc::clone(ids)),
            None => {
                // Not to be stopped by whoever asks: the next one needs it all the same.
                let made = Arc::new(IdIndex::new(&self.snapshot, &Progress::default())?);
                *ids = Some(Arc::clone(&made));
                Ok(made)
            }
        }
    }

    /// Its clusters in the order of looseness. Whoever asks first measures them while the others wait.
    ///
    /// # Errors
    /// Those of [`LoosenessIndex::new`].
    pub fn looseness(&self) -> Result<Arc<LoosenessIndex>> {
        let mut looseness = lock(&self.looseness);
        let made = match looseness.take() {
            Some(made) => made,
            // Not to be stopped by whoever asks: the next one needs it all the same.
            None => match LoosenessIndex::new(&self.snapshot, &self.clusters, &Progress::default()) {
                Ok(made) => Ok(Arc::new(made)),
                Err(Error::Config(why)) => Err(why),
                Err(error) => return Err(error),
            },
        };
        *looseness = Some(made.clone());
        made.map_err(Error::Config)
    }

    /// Its titles. Whoever asks first has them read, and nobody waits for that.
    pub(in crate::serve) fn titles(&self, options: &ServeOptions) -> Arc<Making<StoredTitles>> {
        let mut titles = lock(&self.titles);
        let start = || {
            let (snapshot, log) = (Arc::clone(&self.snapshot), Arc::clone(&options.log));
            let ServeOptions { title_field, scratch, simd, .. } = options.clone();
            let what = "the titles of the collection are not searched";
            Arc::new(Making::start(what, Arc::clone(&log), move |progress| {
                StoredTitles::new(&snapshot, &title_field, (&scratch, simd), progress, &*log)
            }))
        };
        Arc::clone(titles.get_or_insert_with(start))
    }

    /// Has a checker do something. One that fails is not used again.
    ///
    /// # Errors
    /// Those of the collection, and what `work` gives.
    pub fn with_checker<T>(&self, work: impl FnOnce(&mut Checker) -> Result<T>) -> Result<T> {
        let idle = lock(&self.checkers).pop();
        let mut checker = idle.map_or_else(|| Checker::new(&self.snapshot), Ok)?;
        let done = work(&mut checker)?;
        lock(&self.checkers).push(checker);
        Ok(done)
    }
}
