//! The names of a collection's files. A name is read only if it is written exactly so; anything else is somebody
//! else's file and is left alone.

use std::path::PathBuf;

use crate::storage::Storage;

const MANIFEST: &str = "manifest-";
const UNFINISHED: &str = "new-manifest-";
const CHECKPOINT: &str = "checkpoint-";
const REFUSED: &str = "refused-";
const RUN: &str = "run-";
const OF: &str = "-of-";
const CHANGES: &str = "changes-";
const LOG_END: &str = ".jsonl";

/// What a file of a collection is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// The manifest of a commit that did not come to its end, or was not tidied up after.
    Unfinished(u64),
    /// What there is of a commit that is not published yet, and how many epochs of it are done.
    Checkpoint(u64, u32),
    /// The records that an epoch of such a commit refused.
    Refused(u64, u32),
    /// The manifest of a commit.
    Manifest(u64),
    /// A run, by its id.
    Run(u64),
    /// A run that a process keeps to itself, by its id and the number of that process.
    Kept(u64, u32),
    /// The change log of a commit.
    Changes(u64),
}

impl Name {
    /// The file of a run, which a process may keep to itself.
    pub(super) fn of_run(id: u64, process: Option<u32>) -> Name {
        process.map_or(Name::Run(id), |process| Name::Kept(id, process))
    }

    /// The name of a file of the folder, if it can be one of a collection.
    pub(super) fn parse(name: &str) -> Option<Name> {
        let number = |start: &str, end: &str| -> Option<u64> {
            name.strip_prefix(start)?.strip_suffix(end)?.parse().ok()
        };
        let of_epoch = |start: &str, end: &str| -> Option<(u64, u32)> {
            let (commit, epoch) = name.strip_prefix(start)?.strip_suffix(end)?.split_once('-')?;
            Some((commit.parse().ok()?, epoch.parse().ok()?))
        };
        let of_process = || -> Option<(u64, u32)> {
            let (run, process) = name.strip_prefix(RUN)?.split_once(OF)?;
            Some((run.parse().ok()?, process.parse().ok()?))
        };
        let checkpoint = of_epoch(CHECKPOINT, "").map(|(commit, epoch)| Name::Checkpoint(commit, epoch));
        let found = checkpoint
            .or_else(|| of_epoch(REFUSED, LOG_END).map(|(commit, epoch)| Name::Refused(commit, epoch)))
            .or_else(|| of_process().map(|(run, process)| Name::Kept(run, process)))
            .or_else(|| number(UNFINISHED, "").map(Name::Unfinished))
            .or_else(|| number(MANIFEST, "").map(Name::Manifest))
            .or_else(|| number(RUN, "").map(Name::Run))
            .or_else(|| number(CHANGES, LOG_END).map(Name::Changes))?;
        // `+7`, or a 7 with other zeros before it, is another name.
        (found.to_string() == name).then_some(found)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Unfinished(commit) => write!(f, "{UNFINISHED}{commit:08}"),
            Name::Checkpoint(commit, epoch) => write!(f, "{CHECKPOINT}{commit:08}-{epoch:04}"),
            Name::Refused(commit, epoch) => write!(f, "{REFUSED}{commit:08}-{epoch:04}{LOG_END}"),
            Name::Manifest(commit) => write!(f, "{MANIFEST}{commit:08}"),
            Name::Run(id) => write!(f, "{RUN}{id:08}"),
            Name::Kept(id, process) => write!(f, "{RUN}{id:08}{OF}{process}"),
            Name::Changes(commit) => write!(f, "{CHANGES}{commit:08}{LOG_END}"),
        }
    }
}

/// The folder itself, for messages.
pub(super) fn folder(storage: &dyn Storage) -> PathBuf {
    let file = storage.path(&Name::Manifest(1).to_string());
    file.parent().map(PathBuf::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_no_others_pass() {
        for number in [0, 1, 7, 99_999_999, 100_000_000, u64::MAX] {
            for name in [
                Name::Unfinished(number),
                Name::Checkpoint(number, number as u32),
                Name::Refused(number, number as u32),
                Name::Manifest(number),
                Name::Run(number),
                Name::Kept(number, number as u32),
                Name::Changes(number),
            ] {
                assert_eq!(Name::parse(&name.to_string()), Some(name));
            }
        }
        assert_eq!(Name::Manifest(7).to_string(), "manifest-00000007");
        assert_eq!(Name::Kept(7, 2).to_string(), "run-00000007-of-2");
        assert_eq!(Name::Changes(7).to_string(), "changes-00000007.jsonl");
        for other in [
            "manifest-7",
            "manifest-000000007",
            "manifest-+0000007",
            "manifest-00000007.txt",
            "manifest-",
            "manifest-18446744073709551616",
            "run-0000000x",
            "run-00000007-of-02",
            "run-00000007-of-",
            "runs-00000007",
            "changes-00000007",
            "new-00000007",
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
