//! Folders that go when they are dropped, or with [`remove_temporary_folders`] before a process ends without that. A process
//! that is killed leaves its own behind; the next one that makes such a folder removes it.
#![expect(
    clippy::disallowed_methods,
    reason = "a temporary folder is locked, so that others know that it is in use"
)]

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// How often a folder is made that somebody takes for one that was left behind, before it is locked.
const ATTEMPTS: usize = 20;
/// Characters behind the prefix of a name, drawn by chance.
const DRAWN: usize = 8;
/// The file in the folder that is locked. Network file systems lock files for all machines, and folders for none but one.
pub(crate) const LOCK: &str = ".lock";
/// What goes with this process. Nobody lets any of it stay while [`remove_temporary_folders`] is at work.
static OWN: Mutex<Own> = Mutex::new(Own(Vec::new()));

/// The folders that a process has made, in that order.
struct Own(Vec<PathBuf>);

impl Own {
    fn forget(&mut self, gone: &Temporary) {
        self.0.retain(|folder| folder != gone.path());
    }
}

fn own() -> MutexGuard<'static, Own> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every folder of this process that would go when it is dropped, output that is not complete among them. This is for
/// a process that ends at once: whoever would complete output, or make or drop such a folder, waits from here on for ever.
pub fn remove_temporary_folders() {
    let own = own();
    for folder in own.0.iter().rev() {
        // What cannot be removed goes with the next process that makes such a folder.
        let _ = clear(folder);
    }
    std::mem::forget(own);
}

/// A folder that goes when it is dropped, and is locked as long as it is there.
#[derive(Debug)]
pub(crate) struct Temporary {
    // In this order: nobody may find the lock free while there is a folder.
    folder: TempDir,
    /// `None` where nothing can be locked: the folder then has no such file, and nobody takes it for one of the dead.
    lock: Option<File>,
    /// Whether the folder stays.
    kept: bool,
}

impl Temporary {
    /// Makes a folder in `parent` whose name begins with `prefix`, with these permissions as far as the umask allows. The
    /// system frees its lock with the end of the process, however that comes.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn new(parent: &Path, prefix: &OsStr, mode: u32) -> io::Result<Temporary> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).rand_bytes(DRAWN).permissions(Permissions::from_mode(mode));
        for _ in 0..ATTEMPTS {
            let folder = builder.tempdir_in(parent)?;
            let file = folder.path().join(LOCK);
            let lock = match File::create_new(&file) {
                // Until it had a lock somebody took it for one that was left behind.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            match lock.try_lock() {
                // Until the lock was held it looked like that, too.
                Ok(()) if is_at(&lock, &file) => return Ok(Temporary::known(folder, Some(lock))),
                Ok(()) | Err(fs::TryLockError::WouldBlock) => {}
                Err(fs::TryLockError::Error(_)) => {
                    fs::remove_file(&file)?;
                    return Ok(Temporary::known(folder, None));
                }
            }
        }
        Err(io::Error::other("every folder that was made is gone at once"))
    }

    fn known(folder: TempDir, lock: Option<File>) -> Temporary {
        own().0.push(folder.path().to_path_buf());
        Temporary { folder, lock, kept: false }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Has `rename` give the folder another name, with nothing in it but what was put there. From then on nobody takes it for one of
    /// the dead, and it does not go with the process. What fails is removed.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn publish(mut self, rename: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        // Held over both: a folder without its lock must not be left to the next process, and one that has its name must stay.
        let mut own = own();
        let unlocked = self.lock.as_ref().map_or(Ok(()), |_| fs::remove_file(self.path().join(LOCK)));
        unlocked.and_then(|()| rename(self.path()))?;
        own.forget(&self);
        self.folder.disable_cleanup(true);
        self.kept = true;
        Ok(())
    }

    /// Does something that a forced end of the process waits for, and then removes the folder.
    pub(crate) fn undisturbed<T>(self, work: impl FnOnce() -> T) -> T {
        let own = own();
        let done = work();
        drop(own);
        done
    }

    /// Removes the folder now, and tells whether that went well.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn close(self) -> io::Result<()> {
        clear(self.path())
    }

    /// Leaves the folder as a process that is killed does: its lock is free.
    #[cfg(test)]
    pub(crate) fn leave(mut self) {
        own().forget(&self);
        self.folder.disable_cleanup(true);
        self.kept = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // The field tries once more.
            let _ = clear(self.path());
            own().forget(self);
        }
    }
}

/// Removes the folders in `parent` that processes which are gone have made with this prefix. What cannot be removed is in
/// nobody's way.
pub(crate) fn remove_dead(parent: &Path, prefix: &OsStr) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        let name = entry.file_name();
        let drawn = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let ours =
            drawn.is_some_and(|drawn| drawn.len() == DRAWN && drawn.iter().all(u8::is_ascii_alphanumeric));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let lock = entry.path().join(LOCK);
            match fs::symlink_metadata(&lock) {
                // What is none of ours may be a pipe, and opening it would wait for ever.
                Ok(told) if told.is_file() => {
                    // Held until the folder is gone: whoever has just made it would lock it as soon as it is free.
                    if let Ok(held) = OpenOptions::new().write(true).open(&lock)
                        && held.try_lock().is_ok()
                    {
                        let _ = clear(&entry.path());
                    }
                }
                Ok(_) => {}
                // Its process was gone before it had a lock, or behind that. What has files may be in use all the same.
                Err(_) => drop(fs::remove_dir(entry.path())),
            }
        }
    }
}

/// How often what others still write into a folder is looked for.
const LOOKS: usize = 20;

/// Removes a folder, its lock last: a process that is killed within this leaves what the next one knows as dead.
fn clear(folder: &Path) -> io::Result<()> {
    for _ in 0..LOOKS {
        let entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
        let mut others = entries.iter().filter(|entry| entry.file_name() != LOCK).peekable();
        if others.peek().is_none() {
            break;
        }
        for entry in others {
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
    }
    fs::remove_dir_all(folder)
}

/// Whether the file that was opened is still the one at `path`.
fn is_at(opened: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((opened.metadata(), fs::symlink_metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has just made a folder locks it as soon as the lock is free: it must not be before the folder is gone.
    #[test]
    fn a_folder_is_locked_until_it_is_gone() {
        let root = tempfile::tempdir().expect("a folder");
        let dead = root.path().join("left-abcdefgh");
        fs::create_dir(&dead).expect("a folder");
        let lock = dead.join(LOCK);
        for name in (0..3000).map(|at| dead.join(at.to_string())).chain([lock.clone()]) {
            File::create(name).expect("a file");
        }
        let files = || fs::read_dir(&dead).map_or(0, Iterator::count);
        let all = files();
        std::thread::scope(|scope| {
            scope.spawn(|| remove_dead(root.path(), OsStr::new("left-")));
            while files() == all {
                std::thread::yield_now();
            }
            while let Ok(file) = OpenOptions::new().write(true).open(&lock) {
                let taken = file.try_lock().is_ok() && is_at(&file, &lock);
                assert!(!taken, "locked by another while it goes");
            }
        });
        assert!(!dead.exists());
    }
}
