//! Folders for what is needed for a while beside a collection. A process that is killed leaves its own behind; the next
//! one that needs such a folder for the same collection removes it.
#![expect(
    clippy::disallowed_methods,
    reason = "a scratch folder is locked, so that others know that it is in use"
)]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// How often a folder is made that somebody takes for one that was left behind, before it is locked.
const ATTEMPTS: usize = 20;

/// A folder that is removed when this is dropped.
///
/// It is beside the collection: there is room for data there, which the system's temporary folder may keep in memory.
/// Where nothing can be written beside the collection, the system's folder has to do.
#[derive(Debug)]
pub struct Scratch {
    // In this order: nobody may find the lock free while there is a folder.
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes a folder for work on the collection at `collection`, which need not exist, and removes those that
    /// processes which are gone have left of such work. `system` is the system's temporary folder.
    ///
    /// # Errors
    /// [`Error::Io`] if there can be none beside the collection, and none in `system`.
    pub fn beside(collection: &Path, system: &Path) -> Result<Scratch> {
        let path = std::path::absolute(collection).map_err(|e| Error::io(collection, "find", e))?;
        let path = resolved(&path).unwrap_or(path);
        let prefix = format!(".alike-load-{:016x}-", xxh3_64(path.as_os_str().as_encoded_bytes()));
        let beside = path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf);
        beside.iter().map(PathBuf::as_path).chain([system]).for_each(|folder| tidy(folder, &prefix));
        let made = beside.map_or_else(|| make(system, &prefix), |folder| make(&folder, &prefix));
        made.or_else(|_| make(system, &prefix)).map_err(|e| Error::io(system, "create a folder in", e))
    }

    /// Makes a folder in the system's temporary folder `system`, for a process that takes part in what another one leads: what it
    /// works for may be on a disk that all share. Those that processes which are gone have left there are removed.
    ///
    /// # Errors
    /// [`Error::Io`] if there can be none.
    pub fn apart(system: &Path) -> Result<Scratch> {
        Scratch::beside(&system.join("alike"), system)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The path by which the folder of `path` is known whatever links lead there.
fn resolved(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Makes a folder and locks it. The system frees the lock with the end of the process, however that comes.
fn make(folder: &Path, prefix: &str) -> io::Result<Scratch> {
    for _ in 0..ATTEMPTS {
        let made = tempfile::Builder::new().prefix(prefix).tempdir_in(folder)?;
        // Until it is locked it looks like one that was left behind, and whoever tidies up may be faster.
        let Ok(lock) = File::open(made.path()) else { continue };
        match lock.try_lock() {
            Ok(()) if is_at(&lock, made.path()) => return Ok(Scratch { folder: made, _lock: lock }),
            Ok(()) | Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other("every folder that was made is gone at once"))
}

/// Whether the folder that was opened is still the one at `path`.
fn is_at(opened: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((opened.metadata(), fs::symlink_metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}

/// Removes folders whose processes are gone. What cannot be removed is in nobody's way.
fn tidy(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let Ok(lock) = File::open(entry.path()) else { continue };
            if lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("listed");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn beside(collection: &Path) -> Result<Scratch> {
        Scratch::beside(collection, &std::env::temp_dir())
    }

    #[test]
    fn scratch_is_beside_the_collection_and_gone_when_it_is_dropped() {
        let root = tempfile::tempdir().expect("a folder");
        let canonical = root.path().canonicalize().expect("a path");
        for collection in [root.path().join("c"), root.path().join("not/there/c")] {
            let scratch = beside(&collection).expect("a folder");
            assert_eq!(scratch.path().parent(), Some(&*canonical));
            fs::write(scratch.path().join("x"), "x").expect("written");
            drop(scratch);
            assert!(names(root.path()).is_empty());
        }
    }

    #[test]
    fn what_the_dead_left_goes_and_what_is_used_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let (one, other) = (root.path().join("c"), root.path().join("d"));
        let used = beside(&one).expect("a folder");
        let dead = beside(&one).expect("a folder");
        let others = beside(&other).expect("a folder");
        for left in [dead, others] {
            // As if the process had been killed: the folder stays, the lock is free.
            let Scratch { folder, _lock } = left;
            fs::create_dir(folder.path().join("deep")).expect("a folder");
            let _ = folder.keep();
        }
        assert_eq!(names(root.path()).len(), 3);
        drop(beside(&one).expect("a folder"));
        assert_eq!(names(root.path()).len(), 2, "that of another collection stays");
        assert!(used.path().is_dir());
        drop(beside(&other).expect("a folder"));
        assert_eq!(names(root.path()).len(), 1);
    }

    #[test]
    fn many_at_once_do_not_take_each_others() {
        let root = tempfile::tempdir().expect("a folder");
        let collection = root.path().join("c");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = beside(&collection).expect("a folder");
                        fs::write(scratch.path().join("x"), "x").expect("it is there");
                    }
                });
            }
        });
        assert!(names(root.path()).is_empty());
    }
}
