//! The steps by which the manifest of a commit appears, whole and for good, and files that it supersedes go.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::SystemTime;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Name, folder, sync_names};
use crate::collection::commit::snapshot::{newest, stray};
use crate::error::{Error, Result};
use crate::limits::MAX_MANIFEST_BYTES;
use crate::storage::Storage;

/// A number that no other collection has: from the system's randomness, the clock and the process.
pub(super) fn draw_id() -> u64 {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RandomState::new().hash_one((clock, std::process::id()))
}

/// The bytes of a manifest, if they are not too many.
pub(in crate::collection) fn bytes_of(storage: &dyn Storage, manifest: &Manifest) -> Result<Vec<u8>> {
    let path = storage.path(&Name::Manifest(manifest.commit).to_string());
    let bytes = manifest.to_bytes().map_err(|e| Error::io(&path, "write", e))?;
    if bytes.len() as u64 > MAX_MANIFEST_BYTES {
        let what =
            format!("{}: the manifest would have more than {MAX_MANIFEST_BYTES} bytes", path.display());
        return Err(Error::Limit(what));
    }
    Ok(bytes)
}

/// Makes `bytes` the manifest of commit `commit`, by a writer that has drawn `job`. The order of the steps is what a crash between any two of them
/// leaves harmless: nothing is named before it is durable, and nothing is acknowledged before its name is.
pub(super) fn publish(storage: &dyn Storage, commit: u64, job: u64, bytes: &[u8]) -> Result<()> {
    let unfinished = Name::Unfinished(commit, Some(job)).to_string();
    let name = Name::Manifest(commit).to_string();
    let failed = |taken: &str, e: io::Error| match (e.kind(), storage.names()) {
        // Whoever holds the lock has no such file, so it is another's.
        (io::ErrorKind::AlreadyExists, Ok(names)) if names.iter().any(|name| name == taken) => {
            Error::Locked(folder(storage))
        }
        (io::ErrorKind::AlreadyExists, _) => stray(storage, taken),
        _ => Error::io(&storage.path(taken), "create", e),
    };
    let path = storage.path(&unfinished);
    let mut file = storage.create(&unfinished).map_err(|e| failed(&unfinished, e))?;
    file.append(bytes).map_err(|e| Error::io(&path, "write", e))?;
    file.sync().map_err(|e| Error::io(&path, "sync", e))?;
    sync_names(storage)?;
    storage.link(&unfinished, &name).map_err(|e| failed(&name, e))?;
    check_newest(storage, commit)?;
    check_own(storage, &name, bytes)?;
    sync_names(storage)
}

/// Refuses a commit under whose name another one stands: somebody else may have written a file of the same name in the
/// place of the one that was to be linked.
fn check_own(storage: &dyn Storage, name: &str, bytes: &[u8]) -> Result<()> {
    let read = || {
        let reader = storage.open(name)?;
        let mut found = vec![0; usize::try_from(reader.len()?).unwrap_or(usize::MAX).min(bytes.len() + 1)];
        reader.read_exact_at(&mut found, 0).map(|()| found)
    };
    match read() {
        Ok(found) if found == bytes => Ok(()),
        Ok(_) => Err(Error::Locked(folder(storage))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Error::Locked(folder(storage))),
        Err(e) => Err(Error::io(&storage.path(name), "read", e)),
    }
}

/// Refuses a commit that was just given its name, if the name was free because others are far ahead: they remove
/// manifests in ascending order, so they have then removed the one before it, too.
fn check_newest(storage: &dyn Storage, commit: u64) -> Result<()> {
    let alone = match commit.checked_sub(1) {
        None => newest(storage)? == commit,
        Some(before) => {
            let name = Name::Manifest(before).to_string();
            match storage.open(&name) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => false,
                opened => opened.map(|_| true).map_err(|e| Error::io(&storage.path(&name), "open", e))?,
            }
        }
    };
    if alone { Ok(()) } else { Err(Error::Locked(folder(storage))) }
}

/// Removes files for good.
pub(super) fn remove(storage: &dyn Storage, names: Vec<Name>) -> Result<()> {
    take_away(storage, names)?;
    sync_names(storage)
}

/// Removes files; until names are synced a power cut may bring them back.
pub(super) fn take_away(storage: &dyn Storage, mut names: Vec<Name>) -> Result<()> {
    // Manifests first: a reader that finds a file missing must not find the manifest that names it. And what is
    // unfinished before them, so that whoever was about to publish it cannot.
    names.sort_unstable();
    for name in names.into_iter().map(|name| name.to_string()) {
        storage.remove(&name).map_err(|e| Error::io(&storage.path(&name), "remove", e))?;
    }
    Ok(())
}
