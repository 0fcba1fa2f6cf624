//! A real folder.
#![expect(
    clippy::disallowed_methods,
    reason = "links and locks are made here, for everyone else; a test starts another process"
)]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::{Advice, FileWriter, IN_THE_WAY, LOCK, Lock, Reader, Storage, check, failed_before};
use crate::error::{Error, Result};

/// A folder of a file system that has hard links and advisory locks.
#[derive(Debug)]
pub struct Local {
    path: PathBuf,
    /// Held open from the start, so that no failure to write the folder goes unnoticed: the system tells each only
    /// to those who had the folder open when it happened.
    folder: File,
}

impl Local {
    /// Makes the folder and its missing parents, durably.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn create(path: &Path) -> Result<Local> {
        make_durably(path, &System)?;
        let folder = File::open(path).map_err(|e| Error::io(path, "create", e))?;
        Ok(Local { path: path.to_path_buf(), folder })
    }

    /// A folder that exists; [`Error::NotACollection`] if it does not.
    ///
    /// # Errors
    /// [`crate::error::Error::NotACollection`] and [`crate::error::Error::Io`].
    pub fn open(path: &Path) -> Result<Local> {
        let refused = |reason: &str| Error::NotACollection(path.to_path_buf(), reason.to_owned());
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => refused("it is a link that leads nowhere"),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => refused("there is no such folder"),
            _ => Error::io(path, "open", e),
        };
        // Asked before it is opened: opening a named pipe would wait for ever.
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            return Err(refused("it is no folder"));
        }
        let folder = File::open(path).map_err(failed)?;
        Ok(Local { path: path.to_path_buf(), folder })
    }

    fn file(&self, name: &str) -> io::Result<PathBuf> {
        check(name).map(|()| self.path(name))
    }

    /// The names of those entries that are `wanted`, sorted.
    fn entries(&self, wanted: impl Fn(&str, fs::FileType) -> bool) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match entry.file_type() {
                Ok(kind) if wanted(&name, kind) => names.push(name),
                // Some file systems are asked for the type only now, when the file may have gone.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// What is done to folders as such.
pub(super) trait Folders {
    fn is_there(&self, folder: &Path) -> bool;

    /// Makes a folder and its missing parents; one that is there is none the worse for it.
    fn make(&self, folder: &Path) -> io::Result<()>;

    /// Makes the name of a folder durable, in the folder that it is in, whatever links lead there.
    fn sync_name(&self, folder: &Path) -> io::Result<()>;
}

/// Makes a folder and its missing parents, durably. That one is there does not mean that its name is durable: who made it may
/// have been killed before it was.
pub(super) fn make_durably(path: &Path, folders: &dyn Folders) -> Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|a| !folders.is_there(a)).collect();
    let found = missing.last().map_or(Some(path), |first| first.parent());
    match found.map_or(Ok(()), |found| folders.sync_name(found)) {
        // Where whoever made it could do no better.
        Err(error) if UNSYNCED.contains(&error.kind()) => {}
        synced => synced.map_err(|e| Error::io(path, "sync", e))?,
    }
    for folder in missing.into_iter().rev() {
        folders.make(folder).map_err(|e| Error::io(path, "create", e))?;
        folders.sync_name(folder).map_err(|e| Error::io(folder, "sync", e))?;
    }
    // What is there may be no folder.
    folders.make(path).map_err(|e| Error::io(path, "create", e))
}

/// How file systems say that the name of a folder cannot be made durable, or not by this user.
const UNSYNCED: [io::ErrorKind; 4] = [
    io::ErrorKind::InvalidInput,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::ReadOnlyFilesystem,
    io::ErrorKind::Unsupported,
];

/// The folders of the system.
struct System;

impl Folders for System {
    fn is_there(&self, folder: &Path) -> bool {
        named(folder).exists()
    }

    fn make(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    fn sync_name(&self, folder: &Path) -> io::Result<()> {
        sync_name(folder)
    }
}

/// Makes the name of a file or folder durable.
fn sync_name(path: &Path) -> io::Result<()> {
    let whole = fs::canonicalize(named(path))?;
    File::open(whole.parent().unwrap_or(&whole))?.sync_all()
}

/// Makes the name of a file durable, as far as its folder lets this user.
///
/// # Errors
/// What the system says.
#[cfg(feature = "serve")]
pub fn sync_name_if_allowed(path: &Path) -> io::Result<()> {
    match sync_name(path) {
        Err(error) if UNSYNCED.contains(&error.kind()) => Ok(()),
        synced => synced,
    }
}

/// The path by which the system knows a folder: the parent of a bare name is empty, and means the current folder.
fn named(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

impl Storage for Local {
    fn names(&self) -> io::Result<Vec<String>> {
        self.entries(|name, kind| name != LOCK && kind.is_file())
    }

    fn strays(&self) -> io::Result<Vec<String>> {
        self.entries(|name, kind| !(kind.is_file() || name == LOCK && kind.is_symlink()))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        let file = File::create_new(self.file(name)?)?;
        Ok(Box::new(LocalWriter { file, failed: false }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        let path = self.file(name)?;
        // Asked before it is opened: opening a named pipe would wait for ever.
        let regular = match fs::metadata(&path) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => false,
            told => told?.is_file(),
        };
        if !regular {
            return Err(io::Error::other(Error::damaged(&path, 0, "it is no regular file")));
        }
        Ok(Box::new(LocalReader { file: File::open(path)? }))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.file(from)?, self.file(to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.file(name)?)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_all()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        let path = self.path(LOCK);
        // A named pipe can be opened and locked, but is not the file that others will find when it is put right.
        if fs::metadata(&path).is_ok_and(|told| !told.is_file()) {
            return Err(io::Error::other(Error::damaged(&path, 0, IN_THE_WAY)));
        }
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                // Who held it before may have taken its name away: others would lock another file.
                Ok(()) if !is_at(&file, &path)? => {}
                Ok(()) => return Ok(Some(Box::new(LocalLock { file, path }))),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

#[derive(Debug)]
struct LocalWriter {
    file: File,
    failed: bool,
}

impl LocalWriter {
    fn attempt(&mut self, action: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        let outcome = action(&mut self.file);
        self.failed = outcome.is_err();
        outcome
    }
}

impl FileWriter for LocalWriter {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.attempt(|file| file.write_all(bytes))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.attempt(|file| file.sync_all())
    }
}

#[derive(Debug)]
struct LocalReader {
    file: File,
}

impl Reader for LocalReader {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    #[cfg(target_os = "linux")]
    fn advise(&self, pattern: Advice) {
        let pattern = match pattern {
            Advice::Random => rustix::fs::Advice::Random,
            Advice::Sequential => rustix::fs::Advice::Sequential,
        };
        // Some file systems take no advice; they read the same bytes.
        let _ = rustix::fs::fadvise(&self.file, 0, None, pattern);
    }
}

/// The system frees the lock with the end of the process, however that comes.
#[derive(Debug)]
struct LocalLock {
    file: File,
    path: PathBuf,
}

impl Lock for LocalLock {
    fn leave_nothing(self: Box<Self>) {
        // While it is held, so that nobody else's name goes.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a path leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        told => {
            let (there, own) = (told?, file.metadata()?);
            Ok((there.dev(), there.ino()) == (own.dev(), own.ino()))
        }
    }
}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // To close the file is not enough. A process that another thread is just starting has a copy of the handle until it
        // runs its own program, and only unlocking frees the lock for all copies.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn create_makes_parents_and_open_makes_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a/b/c");
        assert!(matches!(Local::open(&path), Err(Error::NotACollection(..))));
        assert!(!root.path().join("a").exists());
        let created = Local::create(&path).expect("created");
        drop(created.create("x").expect("a file"));
        assert_eq!(Local::open(&path).expect("opened").names().expect("names"), ["x"]);
        assert_eq!(Local::create(&path).expect("taken as it is").names().expect("names"), ["x"]);
        for file in [path.join("x"), path.join("x/y")] {
            assert!(matches!(Local::open(&file), Err(Error::NotACollection(..))));
            assert!(matches!(Local::create(&file), Err(Error::Io { .. })));
        }
    }

    #[test]
    fn what_is_no_file_is_passed_over() {
        let root = tempfile::tempdir().expect("a folder");
        let local = Local::create(root.path()).expect("created");
        fs::create_dir(root.path().join("folder")).expect("a folder");
        std::os::unix::fs::symlink("nowhere", root.path().join("symlink")).expect("linked");
        fs::write(root.path().join("file"), b"x").expect("a file");
        assert_eq!(local.names().expect("names"), ["file"]);
        assert_eq!(local.strays().expect("names"), ["folder", "symlink"]);
    }

    #[test]
    fn a_lock_that_is_no_file_is_damage() {
        let root = tempfile::tempdir().expect("a folder");
        let local = Local::create(root.path()).expect("created");
        drop(local.lock().expect("asked").expect("free"));
        assert!(local.strays().expect("names").is_empty());
        fs::remove_file(local.path(LOCK)).expect("removed");
        fs::create_dir(local.path(LOCK)).expect("a folder");
        let refused = local.lock().expect_err("refused").downcast::<Error>().expect("typed");
        assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
        assert_eq!(local.strays().expect("names"), [LOCK]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_writer_that_failed_stays_failed() {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a device that is full");
        let mut writer = LocalWriter { file: full, failed: false };
        assert_eq!(writer.append(b"x").expect_err("full").kind(), io::ErrorKind::StorageFull);
        writer.file = tempfile::tempfile().expect("a file with room");
        writer.append(b"x").expect_err("failed before");
        writer.sync().expect_err("failed before");
        assert_eq!(writer.file.metadata().expect("metadata").len(), 0);
    }

    #[test]
    fn a_lock_that_is_dropped_is_free_whoever_has_a_copy_of_it() {
        let root = tempfile::tempdir().expect("a folder");
        let local = Local::create(root.path()).expect("created");
        let file = File::create(local.path(LOCK)).expect("made");
        file.try_lock().expect("free");
        let _copy = file.try_clone().expect("copied, as by a process that is being started");
        let lock = LocalLock { file, path: local.path(LOCK) };
        assert!(local.lock().expect("asked").is_none());
        drop(lock);
        assert!(local.lock().expect("asked").is_some());
    }

    /// Whoever has opened the file before it goes does not take it for the lock.
    #[test]
    fn a_lock_that_leaves_nothing_is_held_by_one_at_a_time() {
        let root = tempfile::tempdir().expect("a folder");
        let local = Local::create(root.path()).expect("created");
        let path = local.path(LOCK);
        local.lock().expect("asked").expect("free").leave_nothing();
        assert!(!path.exists());
        let lock = local.lock().expect("asked").expect("free");
        let opened = OpenOptions::new().write(true).open(&path).expect("there");
        assert!(is_at(&opened, &path).expect("asked"));
        lock.leave_nothing();
        assert!(!is_at(&opened, &path).expect("asked"), "the name is gone");
        let next = local.lock().expect("asked").expect("free");
        assert!(!is_at(&opened, &path).expect("asked"), "it is another file's");
        opened.try_lock().expect("nobody holds what has no name");
        assert!(local.lock().expect("asked").is_none());
        drop(next);
        // Many at once: each in turn, and never two.
        let held = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(lock) = local.lock().expect("asked") else { continue };
                        assert_eq!(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        lock.leave_nothing();
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn the_lock_of_a_killed_process_is_free() {
        let root = tempfile::tempdir().expect("a folder");
        let local = Local::create(root.path()).expect("created");
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "storage::local::tests::holder", "--nocapture"])
            .env(HELD, root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("its standard output")).lines();
        assert!(lines.map_while(io::Result::ok).any(|line| line.contains("held")));
        assert!(local.lock().expect("asked").is_none());
        child.kill().expect("killed");
        child.wait().expect("dead");
        assert!(local.lock().expect("asked").is_some());
    }

    /// Tells the process that the test above starts which folder to lock.
    const HELD: &str = "ALIKE_TEST_HELD";

    /// The other process of the test above: it holds the lock until it is killed. In any other there is nothing to do.
    #[test]
    fn holder() {
        let Some(path) = std::env::var_os(HELD) else { return };
        let local = Local::open(Path::new(&path)).expect("opened");
        let lock = local.lock().expect("asked");
        writeln!(io::stdout(), "{}", if lock.is_some() { "held" } else { "refused" }).expect("told");
        // Ends only if the other side does.
        let _ = io::stdin().lines().next();
    }
}
