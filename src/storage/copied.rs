//! A file of a collection in another folder, too: by a second name where the file system has that, and else as a copy.
#![expect(clippy::disallowed_methods, reason = "links of files of a collection are made here")]

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Puts the file `from`, which nobody changes any more, at `to`, where nothing is: its bytes, and whether that took a link only. What
/// is copied is durable, and its name is not.
///
/// # Errors
/// `NotFound` if there is no such file, `AlreadyExists` if there is anything at `to`, or the error of the system.
pub fn link_or_copy(from: &Path, to: &Path) -> io::Result<(u64, bool)> {
    // A link to a symbolic link would be one more of these.
    let told = fs::symlink_metadata(from)?;
    if told.is_file() {
        match fs::hard_link(from, to) {
            Ok(()) => return Ok((told.len(), true)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
                return Err(error);
            }
            // Another file system, one without links, a file of somebody else, or one with too many names.
            Err(_) => {}
        }
    }
    let (mut source, mut copy) = (File::open(from)?, File::create_new(to)?);
    let bytes = io::copy(&mut source, &mut copy)?;
    copy.sync_all().map(|()| (bytes, false))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_linked_and_what_is_a_link_is_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), b"rows").expect("written");
        symlink("file", at("symbolic")).expect("linked");
        assert_eq!(link_or_copy(&at("file"), &at("linked")).expect("linked"), (4, true));
        assert_eq!(link_or_copy(&at("symbolic"), &at("copied")).expect("copied"), (4, false));
        let inode = |name: &str| fs::symlink_metadata(at(name)).expect("there").ino();
        assert_eq!(inode("linked"), inode("file"));
        assert!(inode("copied") != inode("file") && !at("copied").is_symlink());
        assert_eq!(fs::read(at("copied")).expect("read"), b"rows");
        let kind = |from: &str, to: &str| link_or_copy(&at(from), &at(to)).expect_err("refused").kind();
        assert_eq!(kind("none", "new"), io::ErrorKind::NotFound);
        assert_eq!(kind("file", "copied"), io::ErrorKind::AlreadyExists);
        assert_eq!(kind("symbolic", "linked"), io::ErrorKind::AlreadyExists);
    }
}
