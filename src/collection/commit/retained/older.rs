//! The commits before the last one that stay, seen from the writer: which files are theirs.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::collection::commit::durable::bytes_of;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name, names_in};
use crate::collection::commit::snapshot::{check_same, read_if_there};
use crate::error::{Error, Result};
use crate::storage::Storage;

/// The commits before the last one that stay.
#[derive(Debug, Default)]
pub(in crate::collection) struct OlderCommits {
    /// By ascending number. One whose manifest is gone is not among them.
    commits: Vec<OlderCommit>,
    /// The number of the commit before the last one, and the XXH3 of its manifest, if that is known.
    before: Option<(u64, u64)>,
}

#[derive(Debug)]
struct OlderCommit {
    commit: u64,
    files: OwnFiles,
}

/// The files of a commit.
#[derive(Debug)]
enum OwnFiles {
    /// These.
    Known(BTreeSet<Name>),
    /// Its manifest is damaged: any run below this number may be one.
    Unknown(u64),
}

impl OlderCommit {
    /// Whether a file may belong to it.
    fn may_name(&self, name: Name) -> bool {
        match (&self.files, name) {
            (OwnFiles::Known(files), name) => files.contains(&name),
            (
                OwnFiles::Unknown(_),
                Name::Unfinished(..) | Name::Checkpoint(..) | Name::Refused(..) | Name::Tidied(..),
            ) => false,
            (OwnFiles::Unknown(_), Name::Manifest(commit)) => commit == self.commit,
            (OwnFiles::Unknown(_), Name::Changes(commit)) => commit <= self.commit,
            (OwnFiles::Unknown(below), Name::Run(id) | Name::Kept(id, _)) => id < *below,
        }
    }
}

impl OlderCommits {
    /// Reads the manifests before that of the last commit which it says stay; and why the newest of those that are damaged
    /// is.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] if one is of another collection.
    pub(in crate::collection) fn read(
        storage: &dyn Storage,
        last: &Manifest,
    ) -> Result<(OlderCommits, Option<Error>)> {
        let kept = last.first_kept()..last.commit;
        let older = |name| match name {
            Name::Manifest(commit) => Some(commit).filter(|commit| kept.contains(commit)),
            _ => None,
        };
        let mut numbers: Vec<u64> = names_in(storage)?.into_iter().filter_map(older).collect();
        numbers.sort_unstable();
        let (mut read, mut damage, mut below) = (OlderCommits::default(), None, last.next_run);
        for commit in numbers.into_iter().rev() {
            let files = match read_if_there(storage, commit) {
                Ok(None) => continue,
                Ok(Some(manifest)) => {
                    check_same(storage, last, &manifest)?;
                    below = manifest.next_run;
                    if commit + 1 == last.commit {
                        read.before = Some(digest(storage, &manifest)?);
                    }
                    OwnFiles::Known(manifest.files())
                }
                // A damaged digit of the format is a format, too.
                Err(
                    error @ (Error::Damaged { .. } | Error::NewerFormat { .. } | Error::OlderFormat { .. }),
                ) => {
                    damage.get_or_insert(error);
                    OwnFiles::Unknown(below)
                }
                Err(error) => return Err(error),
            };
            read.commits.push(OlderCommit { commit, files });
        }
        read.commits.reverse();
        Ok((read, damage))
    }

    /// Takes the commit that was the last one among them, and lets go of those before commit `first`.
    ///
    /// # Errors
    /// [`Error::Limit`] of a manifest that is too long, which none is that was published.
    pub(in crate::collection) fn push(
        &mut self,
        storage: &dyn Storage,
        last: &Manifest,
        first: u64,
    ) -> Result<()> {
        self.before = Some(digest(storage, last)?);
        self.commits.push(OlderCommit { commit: last.commit, files: OwnFiles::Known(last.files()) });
        self.commits.retain(|older| older.commit >= first);
        Ok(())
    }

    /// Whether a file may belong to any of them.
    pub(in crate::collection) fn may_name(&self, name: Name) -> bool {
        self.commits.iter().any(|older| older.may_name(name))
    }

    /// The number of the commit before the last one, and the XXH3 of its manifest, if that is known.
    pub(in crate::collection) fn before(&self) -> Option<(u64, u64)> {
        self.before
    }

    /// The runs of theirs that processes keep to themselves, and below which number others may be theirs, too.
    pub(in crate::collection) fn local_runs(&self) -> (BTreeSet<(u64, Keeper)>, u64) {
        let (mut runs, mut unknown) = (BTreeSet::new(), 0);
        for older in &self.commits {
            match &older.files {
                OwnFiles::Known(files) => runs.extend(files.iter().filter_map(|name| name.kept())),
                OwnFiles::Unknown(below) => unknown = unknown.max(*below),
            }
        }
        (runs, unknown)
    }
}

/// The number of a commit, and the XXH3 of its manifest.
pub(in crate::collection) fn digest(storage: &dyn Storage, manifest: &Manifest) -> Result<(u64, u64)> {
    Ok((manifest.commit, xxh3_64(&bytes_of(storage, manifest)?)))
}
