//! The folder in which output grows until it is complete, and the moment at which it gets its final name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::partial_name::partial_name;
use crate::progress::{Progress, Stage};
use crate::remote::{ObjectUrl, OutputObject, Upload, admit_output};
use crate::scratch::{LOCK, Temporary, remove_dead};

/// A folder that shows what permissions new ones get, and is gone at once.
const PROBE: &str = ".new";

/// What the names of folders begin with whose files become objects.
const FOR_OBJECTS: &str = ".alike-out-";

/// A temporary folder beside the final one, or, where the output is to be objects of a store, in the system's place for such. Dropped without [`Staging::commit`], by an error or a panic, it takes
/// everything with it; only a killed process leaves the folder `.NAME.partial-RANDOM` behind, until the next one is to write
/// the same output. Nothing incomplete is ever to be found under the final name.
#[derive(Debug)]
pub struct Staging {
    out: PathBuf,
    /// `out`, if that is a URL.
    url: Option<ObjectUrl>,
    folder: Temporary,
}

impl Staging {
    /// Prepares to write `out` in a folder that is there: a mistyped name of that makes nothing. Of a URL, there may be no
    /// object below it.
    ///
    /// # Errors
    /// [`Error::Config`] if `out` has no name, is to be in a folder that is not there, or is a URL that cannot be written to;
    /// [`Error::OutputExists`] when there is anything of that name, be it a dangling symbolic link; [`Error::Io`].
    pub fn new(out: &Path) -> Result<Staging> {
        if let Some(url) = ObjectUrl::of(out) {
            return Staging::for_objects(url);
        }
        let Some(name) = out.file_name() else {
            return Err(Error::config(format!("{}: --out must name a folder to be created", out.display())));
        };
        refuse_existing(out)?;
        let parent = parent(out);
        if fs::metadata(&parent).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(Error::config(format!(
                "--out {}: there is no folder {}; make it first: mkdir -p {parent:?}",
                out.display(),
                parent.display()
            )));
        }
        let prefix = partial_name(name);
        remove_dead(&parent, &prefix);
        // What is half done is nobody else's; the output will be as open as the umask allows.
        let folder =
            Temporary::new(&parent, &prefix, 0o700).map_err(|e| Error::io(&parent, "write in", e))?;
        Ok(Staging { out: out.to_path_buf(), url: None, folder })
    }

    fn for_objects(url: ObjectUrl) -> Result<Staging> {
        admit_output(&url)?;
        let parent = std::env::temp_dir();
        let prefix = OsStr::new(FOR_OBJECTS);
        remove_dead(&parent, prefix);
        let folder = Temporary::new(&parent, prefix, 0o700).map_err(|e| Error::io(&parent, "write in", e))?;
        Ok(Staging { out: PathBuf::from(url.to_string()), url: Some(url), folder })
    }

    /// The temporary folder: output is written here.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes all that was written to it, but for a folder in it that `stays`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn clear_but(&self, stays: &Path) -> Result<()> {
        let entries = fs::read_dir(self.path()).map_err(|e| Error::io(self.path(), "read", e))?;
        for entry in entries {
            let path = entry.map_err(|e| Error::io(self.path(), "read", e))?.path();
            let removed = match path.is_dir() {
                _ if path == stays || path.file_name() == Some(OsStr::new(LOCK)) => Ok(()),
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(|e| Error::io(&path, "remove", e))?;
        }
        Ok(())
    }

    /// Gives the folder its final name, and never replaces anything that appeared there meanwhile. A process that is
    /// killed within this leaves no half of it under that name.
    ///
    /// Folders are synced, so that names survive a power failure. Contents are not: the inputs are still there
    /// and the run can be repeated, while waiting for the disk would cost more than the run itself.
    ///
    /// Of a URL, all files become objects, `summary.json` last. Nobody is shown any of them before every byte has arrived.
    ///
    /// # Errors
    /// [`Error::OutputExists`] if something has taken the name; [`Error::Io`]; of a URL [`Error::Interrupted`].
    pub fn commit(self, progress: &Arc<Progress>) -> Result<()> {
        if let Some(url) = &self.url {
            let objects = objects(self.path())?;
            progress.enter(Stage::Write, objects.iter().map(|object| object.bytes).sum());
            let upload = Upload::send(url, objects, progress)?;
            return self.folder.undisturbed(|| upload.complete());
        }
        self.open_up();
        sync_folders(self.path())?;
        let Staging { out, folder, .. } = self;
        folder.publish(|folder| rename_new(folder, &out)).map_err(|e| refused(&out, e))?;
        sync(&out)?;
        sync(&parent(&out))
    }

    /// Opens the temporary folder as far as the umask allows, which only a new folder shows.
    fn open_up(&self) {
        let probe = self.path().join(PROBE);
        let opened = fs::create_dir(&probe)
            .and_then(|()| fs::metadata(&probe))
            .and_then(|new| fs::set_permissions(self.path(), new.permissions()))
            .and_then(|()| fs::remove_dir(&probe));
        // A file system that keeps no permissions changes none.
        let _ = opened;
    }
}

/// The files of a folder, as objects.
fn objects(root: &Path) -> Result<Vec<OutputObject>> {
    let mut objects = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.map_err(|e| Error::io(root, "list", e.into()))?;
        if !entry.file_type().is_file() || (entry.depth() == 1 && entry.file_name() == LOCK) {
            continue;
        }
        let path = entry.into_path();
        let bytes = fs::metadata(&path).map_err(|e| Error::io(&path, "read", e))?.len();
        let names = path.strip_prefix(root).unwrap_or(&path).iter();
        let name = names.map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/");
        objects.push(OutputObject { path, name, bytes });
    }
    Ok(objects)
}

fn refused(out: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => {
            Error::OutputExists(out.to_path_buf())
        }
        _ => Error::io(out, "create", error),
    }
}

/// Renames a folder to a name that nothing has.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // A file system or a kernel that cannot do that at once.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            done => return Ok(done?),
        }
    }
    rename_claimed(from, to)
}

/// Renames a folder to a name that nothing has, in two steps. On Unix a rename alone succeeds onto an empty folder. So the
/// name is first claimed with `create_dir`, which fails if anything has it, and the rename then goes onto that empty folder
/// of our own; should somebody put a file into it in between, or another thing in its place, the rename fails.
fn rename_claimed(from: &Path, to: &Path) -> io::Result<()> {
    // Elsewhere than on Unix a rename never goes onto a folder.
    if cfg!(unix) {
        fs::create_dir(to)?;
    } else if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to).inspect_err(|_| {
        if cfg!(unix) {
            // Takes back the claim; a folder that somebody has filled stays as it is.
            let _ = fs::remove_dir(to);
        }
    })
}

fn refuse_existing(out: &Path) -> Result<()> {
    match fs::symlink_metadata(out) {
        Ok(_) => Err(Error::OutputExists(out.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(out, "create", error)),
    }
}

fn parent(out: &Path) -> PathBuf {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn sync_folders(root: &Path) -> Result<()> {
    for entry in walkdir::WalkDir::new(root).contents_first(true) {
        let entry = entry.map_err(|e| Error::io(root, "sync", e.into()))?;
        if entry.file_type().is_dir() {
            sync(entry.path())?;
        }
    }
    Ok(())
}

fn sync(folder: &Path) -> Result<()> {
    // Only Unix opens folders as files; elsewhere the file system orders renames by itself.
    if cfg!(unix) {
        File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Error::io(folder, "sync", e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn commit_renames() {
        let root = tempfile::tempdir().expect("a folder");
        let out = root.path().join("out");
        let staging = Staging::new(&out).expect("staging");
        let name = staging.path().file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with(".out.partial-"), "{name}");
        fs::create_dir(staging.path().join("kept")).expect("a folder");
        fs::write(staging.path().join("kept/x"), b"x").expect("a file");
        assert!(!out.exists());
        staging.commit(&Arc::default()).expect("commit");
        assert_eq!(fs::read(out.join("kept/x")).expect("the file"), b"x");
        assert_eq!(entries(root.path()), ["out"]);
    }

    #[test]
    fn drop_leaves_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let staging = Staging::new(&root.path().join("out")).expect("staging");
        fs::write(staging.path().join("x"), b"x").expect("a file");
        assert_eq!(entries(root.path()).len(), 1);
        drop(staging);
        assert!(entries(root.path()).is_empty());
    }

    #[test]
    fn what_a_killed_process_left_goes_and_what_is_used_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let (out, other) = (root.path().join("out"), root.path().join("out.partial-x"));
        let staging = |out: &Path| Staging::new(out).expect("staging");
        let (used, dead, others) = (staging(&out), staging(&out), staging(&other));
        for left in [dead, others] {
            fs::write(left.path().join("x"), b"x").expect("a file");
            // As if the process had been killed: the folder stays, the lock is free.
            left.folder.leave();
        }
        fs::create_dir(root.path().join(".out.partial-of-mine")).expect("a folder");
        assert_eq!(entries(root.path()).len(), 4);
        drop(staging(&out));
        assert_eq!(entries(root.path()).len(), 3, "{:?}", entries(root.path()));
        assert!(used.path().is_dir() && root.path().join(".out.partial-of-mine").is_dir());
        used.commit(&Arc::default()).expect("commit");
    }

    /// A process may be killed before its folder has a lock.
    #[test]
    fn an_empty_folder_without_a_lock_goes() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join(".out.partial-abcdefgh")).expect("a folder");
        drop(Staging::new(&root.path().join("out")).expect("staging"));
        assert!(entries(root.path()).is_empty(), "{:?}", entries(root.path()));
    }

    #[cfg(unix)]
    #[test]
    fn both_ways_to_rename_refuse_what_exists() {
        for rename in [rename_new, rename_claimed] {
            let root = tempfile::tempdir().expect("a folder");
            let (from, to) = (root.path().join("from"), root.path().join("to"));
            fs::create_dir(&from).expect("a folder");
            fs::create_dir(&to).expect("a folder");
            assert_eq!(rename(&from, &to).expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
            fs::remove_dir(&to).expect("empty");
            rename(&from, &to).expect("renamed");
            assert_eq!(entries(root.path()), ["to"]);
        }
    }

    #[test]
    fn names_may_be_as_long_as_the_system_allows() {
        let root = tempfile::tempdir().expect("a folder");
        for length in [200, 201, 255] {
            let out = root.path().join("o".repeat(length));
            Staging::new(&out).expect("staging").commit(&Arc::default()).expect("commit");
            assert!(out.is_dir(), "{length}");
        }
    }

    #[test]
    fn makes_no_parents() {
        let root = tempfile::tempdir().expect("a folder");
        let refused = Staging::new(&root.path().join("a/b/out")).expect_err("refused");
        assert!(matches!(refused, Error::Config(_)) && refused.to_string().contains("mkdir -p"), "{refused}");
        assert!(entries(root.path()).is_empty());
    }

    #[test]
    fn refuses_what_exists() {
        let root = tempfile::tempdir().expect("a folder");
        let out = root.path().join("out");
        fs::create_dir(&out).expect("a folder");
        assert!(matches!(Staging::new(&out), Err(Error::OutputExists(_))));
        let file = root.path().join("file");
        fs::write(&file, b"").expect("a file");
        assert!(matches!(Staging::new(&file), Err(Error::OutputExists(_))));
        assert!(matches!(Staging::new(&file.join("out")), Err(Error::Io { .. })));
        assert!(matches!(Staging::new(Path::new("/")), Err(Error::Config(_))));
        for url in ["https://example.org/out", "s3://bucket", "hf://datasets/o/n/x"] {
            assert!(matches!(Staging::new(Path::new(url)), Err(Error::Config(_))), "{url}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn refuses_a_dangling_link() {
        let root = tempfile::tempdir().expect("a folder");
        let out = root.path().join("out");
        std::os::unix::fs::symlink(root.path().join("nowhere"), &out).expect("a link");
        assert!(matches!(Staging::new(&out), Err(Error::OutputExists(_))));
    }

    #[cfg(unix)]
    #[test]
    fn commit_refuses_what_appeared_meanwhile() {
        let appear: [fn(&Path) -> io::Result<()>; 4] = [
            |p| fs::create_dir(p),
            |p| fs::create_dir(p).and_then(|()| fs::write(p.join("precious"), b"x")),
            |p| fs::write(p, b"precious"),
            |p| std::os::unix::fs::symlink("nowhere", p),
        ];
        for make in appear {
            let root = tempfile::tempdir().expect("a folder");
            let out = root.path().join("out");
            let staging = Staging::new(&out).expect("staging");
            make(&out).expect("made");
            let before = fs::symlink_metadata(&out).expect("there").modified().expect("a time");
            assert!(matches!(staging.commit(&Arc::default()), Err(Error::OutputExists(_))));
            assert_eq!(entries(root.path()), ["out"], "only the foreign thing is left");
            assert_eq!(fs::symlink_metadata(&out).expect("there").modified().expect("a time"), before);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_output_is_as_open_as_any_new_folder() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().expect("a folder");
        let plain = root.path().join("plain");
        fs::create_dir(&plain).expect("a folder");
        let out = root.path().join("out");
        let mode = |p: &Path| fs::metadata(p).expect("there").permissions().mode();
        let staging = Staging::new(&out).expect("staging");
        assert_eq!(mode(staging.path()) & 0o777, 0o700, "nobody looks into what is half done");
        staging.commit(&Arc::default()).expect("commit");
        assert_eq!(mode(&out), mode(&plain));
    }
}
