//! A file beside the result of a command: refused before the work if it cannot be made, and whole or not there after it.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use alike::error::{Error, Result};

/// A file that is to be made.
pub(crate) struct NewFile {
    path: PathBuf,
    flag: &'static str,
}

impl NewFile {
    /// The file that `flag` names.
    ///
    /// # Errors
    /// [`Error::Config`] if there is anything of that name, or no folder for it.
    pub(crate) fn new(flag: &'static str, path: &Path) -> Result<NewFile> {
        let refused = |why: &str| Err(Error::config(format!("{flag} {}: {why}", path.display())));
        if path.symlink_metadata().is_ok() {
            return refused("exists already; name another file, or remove it");
        }
        if path.file_name().is_none() {
            return refused("name a file");
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return refused(&format!("{} is no folder; name a file in one", folder.display()));
        }
        Ok(NewFile { path: path.to_path_buf(), flag })
    }

    /// [`NewFile::new`], if a file was named.
    pub(crate) fn if_named(flag: &'static str, path: Option<&PathBuf>) -> Result<Option<NewFile>> {
        path.map(|path| NewFile::new(flag, path)).transpose()
    }

    /// Writes it. What could not be written to its end is removed again.
    ///
    /// # Errors
    /// [`Error::Config`] if something has taken the name since; [`Error::Io`].
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let mut file = match File::create_new(&self.path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                return NewFile::new(self.flag, &self.path).map(drop);
            }
            file => file.map_err(|e| Error::io(&self.path, "create", e))?,
        };
        file.write_all(text.as_bytes()).map_err(|e| {
            // The error that is told is the first one.
            let _ = fs::remove_file(&self.path);
            Error::io(&self.path, "write", e)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_somebody_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("times");
        let new = |path: &Path| NewFile::new("--svg", path);
        let file = new(&path).expect("a name that nothing has");
        fs::write(&path, "mine").expect("written");
        for refused in [new(&path).map(drop), file.write("yours"), new(&path.join("x")).map(drop)] {
            assert!(matches!(refused, Err(Error::Config(_))), "{refused:?}");
        }
        assert_eq!(fs::read(&path).expect("there"), b"mine");
        fs::remove_file(&path).expect("removed");
        file.write("yours").expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"yours");
    }
}
