//! A file beside the result of a command: refused before the work if it cannot be made, and whole or not there after it.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use alike::error::{Error, Result};
use tempfile::Builder;

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

    /// Writes it under a temporary name, and gives it its own when it is whole.
    ///
    /// # Errors
    /// [`Error::Config`] if something has taken the name since; [`Error::Io`].
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".alike-").tempfile_in(folder.unwrap_or(Path::new(".")));
        let mut file = file.map_err(|e| Error::io(&self.path, "create", e))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
        written.map_err(|e| Error::io(&self.path, "write", e))?;
        match file.persist_noclobber(&self.path) {
            Err(e) if e.error.kind() == ErrorKind::AlreadyExists => {
                NewFile::new(self.flag, &self.path).map(drop)
            }
            done => done.map(drop).map_err(|e| Error::io(&self.path, "create", e.error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
