//! Paths that lead to folders in memory: what makes or opens a folder by its path finds them there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Storage;
use super::local::Folders;

/// A folder in memory, which may have to be made. All folders above it are there.
pub trait Place: Send + Sync {
    /// Whether there is a folder.
    fn is_there(&self) -> bool;

    /// Makes it, unless it is there.
    ///
    /// # Errors
    /// That of the machine.
    fn make(&self) -> io::Result<()>;

    /// Makes it durable that it is there.
    ///
    /// # Errors
    /// That of the machine.
    fn sync(&self) -> io::Result<()>;

    /// The folder.
    fn folder(&self) -> Arc<dyn Storage>;
}

static PLACES: Mutex<BTreeMap<PathBuf, Arc<dyn Place>>> = Mutex::new(BTreeMap::new());

/// A path that leads to a place, until this is dropped.
#[derive(Debug)]
pub struct Placed(PathBuf);

impl Placed {
    /// Has `path` lead there.
    pub fn new(path: &Path, place: Arc<dyn Place>) -> Placed {
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), place);
        Placed(path.to_path_buf())
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// The place that a path leads to, if it leads to one.
pub(super) fn of(path: &Path) -> Option<Arc<dyn Place>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

/// The folders of whoever makes this one.
pub(super) struct Holding<'a>(pub(super) &'a dyn Place);

impl Folders for Holding<'_> {
    fn is_there(&self, folder: &Path) -> bool {
        of(folder).is_none() || self.0.is_there()
    }

    fn make(&self, folder: &Path) -> io::Result<()> {
        if of(folder).is_none() { Ok(()) } else { self.0.make() }
    }

    fn sync_name(&self, folder: &Path) -> io::Result<()> {
        if of(folder).is_none() { Ok(()) } else { self.0.sync() }
    }
}
