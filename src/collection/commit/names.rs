//! The names of a collection's files. A name is read only if it is written exactly so; anything else is somebody
//! else's file and is left alone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hex;
use crate::storage::Storage;

/// Whether a folder looks like a collection: a file in it has the name of a manifest.
pub fn is_collection(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|name| matches!(Name::parse(&name), Some(Name::Manifest(_))))
}

const MANIFEST: &str = "manifest-";
const UNFINISHED: &str = "new-manifest-";
const CHECKPOINT: &str = "checkpoint-";
const REFUSED: &str = "refused-";
const RUN: &str = "run-";
const OF: &str = "-of-";
const TIDIED: &str = "tidied-";
const CHANGES: &str = "changes-";
const LOG_END: &str = ".jsonl";

/// The process that keeps a run to itself. No two jobs give the same: whatever an attempt that came to nothing has left, on
/// whatever machine, has another name than any run of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keeper {
    /// Its number in the job that wrote the run: 1 or more, since what process 0 has is in the folder of the collection.
    pub process: u32,
    /// A number that the job has drawn.
    #[serde(with = "hex")]
    pub job: u64,
}

impl Keeper {
    /// Who keeps what process `process` of a job writes, if each process keeps its own.
    pub(in crate::collection) fn of(process: usize, job: u64) -> Option<Keeper> {
        let process = u32::try_from(process).ok().filter(|process| *process > 0)?;
        Some(Keeper { process, job })
    }
}

/// What a file of a collection is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::collection) enum Name {
    /// The manifest of a commit that did not come to its end, or was not tidied up after, and what its writer has drawn: no
    /// two writers have one of the same name, so who has lost the lock never publishes what is another's. Earlier versions
    /// drew nothing.
    Unfinished(u64, Option<u64>),
    /// What there is of a commit that is not published yet, and how many epochs of it are done.
    Checkpoint(u64, u32),
    /// The records that an epoch of such a commit refused.
    Refused(u64, u32),
    /// The manifest of a commit.
    Manifest(u64),
    /// A run, by its id.
    Run(u64),
    /// A local run of a process, by its id and its keeper.
    Kept(u64, Keeper),
    /// Says of a folder of such runs up to which commit it was tidied: its number, and the XXH3 of its manifest.
    Tidied(u64, u64),
    /// The change log of a commit.
    Changes(u64),
}

impl Name {
    /// The file of a run, which may be a local run of a process.
    pub(in crate::collection) fn of_run(id: u64, keeper: Option<Keeper>) -> Name {
        keeper.map_or(Name::Run(id), |keeper| Name::Kept(id, keeper))
    }

    /// The number and the keeper of a local run of a process.
    pub(in crate::collection) fn kept(self) -> Option<(u64, Keeper)> {
        match self {
            Name::Kept(id, keeper) => Some((id, keeper)),
            _ => None,
        }
    }

    /// Whether it is of an unfinished manifest of commit `commit`, whoever wrote it.
    pub(in crate::collection) fn is_unfinished(self, commit: u64) -> bool {
        matches!(self, Name::Unfinished(of, _) if of == commit)
    }

    /// Whether commit `commit` or a later one may give it to a file that must be new; runs have numbers from `next_run` on.
    /// Unfinished manifests have names that their writer draws.
    pub(in crate::collection) fn is_to_come(self, commit: u64, next_run: u64) -> bool {
        match self {
            Name::Run(id) | Name::Kept(id, _) => id >= next_run,
            Name::Manifest(of) | Name::Changes(of) | Name::Refused(of, _) | Name::Checkpoint(of, _) => {
                of >= commit
            }
            Name::Unfinished(..) | Name::Tidied(..) => false,
        }
    }

    /// The name of a file of the folder, if it can be one of a collection.
    pub(in crate::collection) fn parse(name: &str) -> Option<Name> {
        let number = |start: &str, end: &str| -> Option<u64> {
            name.strip_prefix(start)?.strip_suffix(end)?.parse().ok()
        };
        let of_epoch = |start: &str, end: &str| -> Option<(u64, u32)> {
            let (commit, epoch) = name.strip_prefix(start)?.strip_suffix(end)?.split_once('-')?;
            Some((commit.parse().ok()?, epoch.parse().ok()?))
        };
        let kept = || -> Option<Name> {
            let (run, keeper) = name.strip_prefix(RUN)?.split_once(OF)?;
            let (process, job) = keeper.split_once('-')?;
            Some(Name::Kept(
                run.parse().ok()?,
                Keeper { process: process.parse().ok()?, job: hex::parse(job)? },
            ))
        };
        let tidied = || -> Option<Name> {
            let (commit, digest) = name.strip_prefix(TIDIED)?.split_once('-')?;
            Some(Name::Tidied(commit.parse().ok()?, hex::parse(digest)?))
        };
        let checkpoint = of_epoch(CHECKPOINT, "").map(|(commit, epoch)| Name::Checkpoint(commit, epoch));
        let unfinished = || -> Option<Name> {
            let rest = name.strip_prefix(UNFINISHED)?;
            let (commit, drawn) = match rest.split_once('-') {
                Some((commit, drawn)) => (commit, Some(hex::parse(drawn)?)),
                None => (rest, None),
            };
            Some(Name::Unfinished(commit.parse().ok()?, drawn))
        };
        let found = checkpoint
            .or_else(|| of_epoch(REFUSED, LOG_END).map(|(commit, epoch)| Name::Refused(commit, epoch)))
            .or_else(unfinished)
            .or_else(|| number(MANIFEST, "").map(Name::Manifest))
            .or_else(|| number(RUN, "").map(Name::Run))
            .or_else(|| number(CHANGES, LOG_END).map(Name::Changes))
            .or_else(kept)
            .or_else(tidied)?;
        // `+7`, or a 7 with other zeros before it, is another name.
        (found.to_string() == name).then_some(found)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Unfinished(commit, None) => write!(f, "{UNFINISHED}{commit:08}"),
            Name::Unfinished(commit, Some(drawn)) => {
                write!(f, "{UNFINISHED}{commit:08}-{}", hex::text(drawn))
            }
            Name::Checkpoint(commit, epoch) => write!(f, "{CHECKPOINT}{commit:08}-{epoch:04}"),
            Name::Refused(commit, epoch) => write!(f, "{REFUSED}{commit:08}-{epoch:04}{LOG_END}"),
            Name::Manifest(commit) => write!(f, "{MANIFEST}{commit:08}"),
            Name::Run(id) => write!(f, "{RUN}{id:08}"),
            Name::Kept(id, Keeper { process, job }) => {
                write!(f, "{RUN}{id:08}{OF}{process}-{}", hex::text(job))
            }
            Name::Tidied(commit, digest) => write!(f, "{TIDIED}{commit:08}-{}", hex::text(digest)),
            Name::Changes(commit) => write!(f, "{CHANGES}{commit:08}{LOG_END}"),
        }
    }
}

/// The files of a collection in a folder, in no order.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::collection) fn names_in(storage: &dyn Storage) -> Result<Vec<Name>> {
    let names = storage.names().map_err(|e| Error::io(&folder(storage), "list", e))?;
    Ok(names.iter().filter_map(|name| Name::parse(name)).collect())
}

/// Makes names durable.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::collection) fn sync_names(storage: &dyn Storage) -> Result<()> {
    storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))
}

/// The folder itself, for messages.
pub(in crate::collection) fn folder(storage: &dyn Storage) -> PathBuf {
    let file = storage.path(&Name::Manifest(0).to_string());
    file.parent().map(PathBuf::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_no_others_pass() {
        for number in [0, 1, 7, 99_999_999, 100_000_000, u64::MAX] {
            for name in [
                Name::Unfinished(number, None),
                Name::Unfinished(number, Some(number)),
                Name::Checkpoint(number, number as u32),
                Name::Refused(number, number as u32),
                Name::Manifest(number),
                Name::Run(number),
                Name::Kept(number, Keeper { process: number as u32, job: number }),
                Name::Tidied(number, number),
                Name::Changes(number),
            ] {
                assert_eq!(Name::parse(&name.to_string()), Some(name));
            }
        }
        assert_eq!(Name::Manifest(7).to_string(), "manifest-00000007");
        let kept = Name::Kept(7, Keeper { process: 2, job: 0xab });
        assert_eq!(kept.to_string(), "run-00000007-of-2-00000000000000ab");
        assert_eq!(Name::Changes(7).to_string(), "changes-00000007.jsonl");
        for other in [
            "manifest-7",
            "manifest-000000007",
            "manifest-+0000007",
            "manifest-00000007.txt",
            "manifest-",
            "manifest-18446744073709551616",
            "run-0000000x",
            "run-00000007-of-02-00000000000000ab",
            "run-00000007-of-2-ab",
            "run-00000007-of-2",
            "tidied-00000007",
            "runs-00000007",
            "changes-00000007",
            "new-00000007",
            "new-manifest-00000007-ab",
            "new-manifest-00000007-",
            "checkpoint-00000007",
            "checkpoint-00000007-1",
            "checkpoint-7-0001",
            "refused-00000007-0001",
            "refused-00000007.jsonl",
            "lock",
            "",
        ] {
            assert_eq!(Name::parse(other), None, "{other:?}");
        }
    }
}
