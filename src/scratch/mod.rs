//! Folders for what is needed for a while beside a collection. A process that is killed leaves its own behind; the next
//! one that needs such a folder for the same collection removes it.

mod temporary;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

pub use temporary::remove_temporary_folders;
pub(crate) use temporary::{LOCK, Temporary, remove_dead};

use crate::error::{Error, Result};

/// A folder that is removed when this is dropped.
///
/// It is beside the collection: there is room for data there, which the system's temporary folder may keep in memory.
/// Where nothing can be written beside the collection, the system's folder has to do.
#[derive(Debug)]
pub struct Scratch(Temporary);

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
        let prefix = OsStr::new(&prefix);
        beside.iter().map(PathBuf::as_path).chain([system]).for_each(|folder| remove_dead(folder, prefix));
        let make = |folder: &Path| Temporary::new(folder, prefix, 0o700).map(Scratch);
        let made = make(beside.as_deref().unwrap_or(system));
        made.or_else(|_| make(system)).map_err(|e| Error::io(system, "create a folder in", e))
    }

    /// Makes a folder in the system's temporary folder `system`, for a process that takes part in what another one leads: what it
    /// works for may be on a disk that all share. Those that processes which are gone have left there are removed.
    ///
    /// # Errors
    /// [`Error::Io`] if there can be none.
    pub fn apart(system: &Path) -> Result<Scratch> {
        Scratch::beside(&system.join("alike"), system)
    }

    /// Makes a folder in `parent` for a file that will be renamed into that. Those that processes which are gone have left of such
    /// work are removed.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn within(parent: &Path, prefix: impl AsRef<OsStr>) -> io::Result<Scratch> {
        let prefix = prefix.as_ref();
        remove_dead(parent, prefix);
        Temporary::new(parent, prefix, 0o700).map(Scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes it now, and tells whether that went well.
    ///
    /// # Errors
    /// The error of the system.
    pub fn close(self) -> io::Result<()> {
        self.0.close()
    }
}

/// What the names of private folders begin with.
const PRIVATE: &str = ".alike-";

/// Makes a folder in `parent` that nobody else may look into, and removes those that processes which are gone have left there.
///
/// # Errors
/// [`Error::Io`].
pub fn private_folder(parent: &Path) -> Result<Scratch> {
    Scratch::within(parent, PRIVATE).map_err(|e| Error::io(parent, "create a folder in", e))
}

/// The path by which the folder of `path` is known whatever links lead there.
fn resolved(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_temporary_folders() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().expect("a folder");
        let scratch = beside(&root.path().join("c")).expect("a folder");
        let private = private_folder(root.path()).expect("a folder");
        for folder in [scratch.path(), private.path()] {
            let mode = fs::metadata(folder).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
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
            fs::create_dir(left.path().join("deep")).expect("a folder");
            left.0.leave();
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
                    for _ in 0..200 {
                        let scratch = beside(&collection).expect("a folder");
                        fs::write(scratch.path().join("x"), "x").expect("it is there");
                    }
                });
            }
        });
        assert!(names(root.path()).is_empty());
    }
}
