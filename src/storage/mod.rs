//! Where a collection's files are.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// One folder of immutable files.
pub trait Storage: Debug + Send + Sync {
    /// Names of all files of the folder, sorted.
    fn names(&self) -> io::Result<Vec<String>>;
    /// A new file to be appended to; `AlreadyExists` if there is one of that name.
    fn create(&self, name: &str) -> io::Result<Box<dyn Writer>>;
    /// A file to be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>>;
    /// Gives a file a second name; `AlreadyExists` if it is taken: nothing is ever replaced.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;
    /// Takes a name away.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes created, linked and removed names durable.
    fn sync_names(&self) -> io::Result<()>;
    /// The one writer's lock, held until dropped; `None` if another holds it. A dead process cannot hold it.
    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>>;
    /// Where a file is, for messages.
    fn path(&self, name: &str) -> PathBuf;
}

/// A file being written.
pub trait Writer: Debug + Send {
    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was appended durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file being read.
#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
pub trait Reader: Debug + Send + Sync {
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Fills `bytes` from `offset` on; `UnexpectedEof` if there are fewer.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

/// The one writer's lock.
pub trait Lock: Debug + Send {}

/// A folder of a file system.
#[derive(Debug)]
pub struct Local(PathBuf);

impl Local {
    /// The folder at `path`.
    pub fn new(path: &Path) -> Local {
        Local(path.to_path_buf())
    }
}

impl Storage for Local {
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.0)?.collect::<io::Result<Vec<_>>>()?;
        let mut names: Vec<_> =
            entries.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Writer>> {
        Ok(Box::new(OpenOptions::new().append(true).create_new(true).open(self.path(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        Ok(Box::new(File::open(self.path(name))?))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        let file = File::create(self.path("lock"))?;
        Ok(file.try_lock().is_ok().then(|| Box::new(file) as Box<dyn Lock>))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Lock for File {}

impl Writer for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Reader for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, bytes, offset)
    }
}
