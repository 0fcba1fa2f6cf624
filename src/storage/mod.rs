//! The one place that touches the files of a collection: a flat folder of files that are written once and then only
//! read. [`Local`] is a real folder; tests have a twin of it in memory, which crashes and fails at chosen operations.
//!
//! # What is durable after what
//!
//! Contents and names are made durable apart from each other, as file systems do it. Until then, whatever else was
//! called, a power failure may take or leave any part of them, in any order.
//!
//! - The contents of a file are durable once [`FileWriter::sync`] has returned `Ok`.
//! - Names that were created, linked or removed are durable once [`Storage::sync_names`] has returned `Ok`. A name
//!   that was removed may come back before that, with its contents.
//! - A file is found whole after a power failure only if both have happened. A name alone may lead to an empty file,
//!   or to one whose pages are torn, zeroed or full of garbage.
//!
//! So what shall appear whole or not at all is written under a name that nobody looks for, synced, and its name too;
//! then linked to the name that counts, and the names are synced again.
//!
//! A process that is killed loses nothing that was appended or named: only the machine can.

mod copied;
mod folders;
mod local;
mod overlay;
#[cfg(test)]
#[path = "../../tests/support/places.rs"]
pub(crate) mod places;
#[cfg(test)]
#[path = "../../tests/support/simulated/mod.rs"]
mod simulated;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use copied::link_or_copy;
pub use folders::{found_folder, made_folder};
pub use local::Local;
#[cfg(feature = "serve")]
pub use local::sync_name_if_allowed;
pub use overlay::Overlay;
#[cfg(test)]
pub use simulated::{Fault, Simulated, is_power_cut};

/// One folder of immutable files.
///
/// A name is a plain file name: not empty, no path, and not `lock`, which is the folder's own; any other is refused
/// with `InvalidInput`.
pub trait Storage: Debug + Send + Sync {
    /// Names of all files of the folder, sorted. What is no regular file, or has a name that is not UTF-8, was not
    /// put there by a collection and is passed over, and so is the file of the lock.
    ///
    /// # Errors
    /// The error of the system.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Names of all entries of the folder that are no regular file, sorted: that of the lock too, unless it is a link. A
    /// storage that holds nothing else has none.
    ///
    /// # Errors
    /// The error of the system.
    fn strays(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// A new file to be appended to; `AlreadyExists` if there is one of that name. Others see it, and what is
    /// appended to it, at once. It is found after a power failure once [`FileWriter::sync`] and
    /// [`Storage::sync_names`] have both succeeded.
    ///
    /// # Errors
    /// `AlreadyExists` if there is a file of that name, or the error of the system.
    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>>;

    /// A file to be read; `NotFound` if there is none of that name. The reader stays good when the name is removed.
    ///
    /// # Errors
    /// `NotFound` if there is no file of that name, [`crate::error::Error::Damaged`] within if it is no regular file, or the
    /// error of the system.
    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>>;

    /// Gives a file a second name; `AlreadyExists` if it is taken: nothing is ever replaced, whoever else tries the
    /// same at the same moment. The new name is durable after [`Storage::sync_names`]; the contents under it are as
    /// durable as they are under the old one.
    ///
    /// # Errors
    /// `AlreadyExists` if `to` is taken, or the error of the system.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;

    /// Takes a name away; `NotFound` if there is none. The contents go with the last name and the last reader. The
    /// name is gone for good after [`Storage::sync_names`]; until then it may come back.
    ///
    /// # Errors
    /// `NotFound` if there is no file of that name, or the error of the system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names created, linked and removed before this call durable. After an error nothing is known about any
    /// of them: each may or may not survive.
    ///
    /// # Errors
    /// The error of the system.
    fn sync_names(&self) -> io::Result<()>;

    /// The one writer's lock, held until dropped; `None` if another holds it, in this process or another. A dead
    /// process cannot hold it.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] within if its file is no regular one, or the error of the system; that another holds the
    /// lock is none.
    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>>;

    /// Where a file is, for messages.
    fn path(&self, name: &str) -> PathBuf;

    /// Whether files are looked for in more than one folder.
    fn is_scattered(&self) -> bool {
        false
    }

    /// Another folder of which files are read, if there is one: what is written to it is not found by [`Storage::names`].
    fn beside(&self) -> Option<Arc<dyn Storage>> {
        None
    }
}

/// A file that grows. After one failure every later call fails too: how much of the file arrived, and whether it will
/// last, is no longer known, and a second sync would only say that there is nothing left to be written.
pub trait FileWriter: Debug + Send {
    /// Puts bytes at the end. Readers see them at once; they are durable only after [`FileWriter::sync`]. After an error
    /// any part of them may have arrived.
    ///
    /// # Errors
    /// The error of the system, or that of an earlier failure.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything appended before this call durable. The name is not: [`Storage::sync_names`].
    ///
    /// # Errors
    /// The error of the system, or that of an earlier failure.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is read at any place, by any number of threads at the same time.
pub trait Reader: Debug + Send + Sync {
    /// Bytes in the file now.
    ///
    /// # Errors
    /// The error of the system.
    fn len(&self) -> io::Result<u64>;

    /// Whether there is nothing in the file now.
    ///
    /// # Errors
    /// Those of [`Reader::len`].
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `bytes` from `offset` on; `UnexpectedEof` if the file ends before. After an error the contents of
    /// `bytes` are unspecified.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before, or the error of the system.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;

    /// Like [`Reader::read_exact_at`], for who reads nothing from `end` on: a reader that fetches ahead must fetch
    /// nothing from there on either.
    ///
    /// # Errors
    /// Those of [`Reader::read_exact_at`].
    fn read_exact_before(&self, bytes: &mut [u8], offset: u64, end: u64) -> io::Result<()> {
        let _ = end;
        self.read_exact_at(bytes, offset)
    }

    /// Tells how the file will be read from here on. The answers stay the same, and it cannot fail: a system that
    /// does not take advice is only slower.
    fn advise(&self, pattern: Advice) {
        let _ = pattern;
    }
}

/// How a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Single pages here and there. Reading ahead would turn a small probe into a scan.
    Random,
    /// From one end to the other.
    Sequential,
}

/// The lock of the one writer. Dropping it frees it, and so does the end of the process, however that comes.
pub trait Lock: Debug + Send {
    /// Frees the lock, and takes away what it has left in the folder, as far as that can be removed.
    fn leave_nothing(self: Box<Self>) {}
}

/// The file of the lock. Only who holds it removes it, and who gets it looks whether the file still has the name: otherwise two
/// processes could each hold the lock of a file of that name.
pub(crate) const LOCK: &str = "lock";

/// What is said of an entry that is no regular file and has a name that a file is to have.
pub(crate) const IN_THE_WAY: &str =
    "what has this name is no regular file (put there by mistake, it only has to be removed)";

/// Refuses names that would lead out of the folder, or to the lock.
///
/// # Errors
/// `InvalidInput`.
pub fn check(name: &str) -> io::Result<()> {
    if ["", ".", "..", LOCK].contains(&name) || name.contains(['/', '\0']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} cannot name a file")));
    }
    Ok(())
}

/// What a writer answers that has failed before.
pub fn failed_before() -> io::Error {
    io::Error::other("an earlier write to this file failed")
}
