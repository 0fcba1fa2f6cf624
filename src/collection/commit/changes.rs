//! Change logs: what a commit did to the documents, line by line. Here they are bytes.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::collection::commit::log::{LogWriter, read_log};
use crate::collection::commit::names::Name;
use crate::error::Result;
use crate::hex;
use crate::read::Source;
use crate::storage::Storage;

/// The command that made a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitCommand {
    /// Records were loaded.
    Load,
    /// Documents were deleted by their ids.
    Delete,
    /// An earlier commit was restored.
    Rollback,
}

/// When a commit was made, and of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitNote {
    /// Seconds since 1970, by the clock of the machine.
    pub time: u64,
    /// What made it.
    pub command: CommitCommand,
    /// Files that were read.
    pub files: u64,
    /// The first of them, as they are shown to people.
    pub first: Vec<String>,
    /// Documents that are new.
    pub added: u64,
    /// Documents that are another text or have other fields now.
    pub replaced: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Documents that there are.
    pub documents: u64,
    /// The commit that was restored, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
}

/// Files that are named.
const NAMED: usize = 3;

impl CommitNote {
    /// Of a commit that is made now: how many documents were added, replaced and removed, and how many there are.
    pub(in crate::collection) fn now(
        command: CommitCommand,
        sources: &[Source],
        [added, replaced, removed, documents]: [u64; 4],
    ) -> CommitNote {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let first = sources.iter().take(NAMED).map(|source| source.shown.clone()).collect();
        let files = sources.len() as u64;
        CommitNote { time, command, files, first, added, replaced, removed, documents, restored: None }
    }
}

/// A change log, as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesEntry {
    /// The commit that made the changes.
    pub commit: u64,
    /// Length of its file in bytes.
    pub bytes: u64,
    /// The 128-bit XXH3 of its file.
    #[serde(with = "hex")]
    pub digest: u128,
    /// When the commit was made, and of what, if whoever made it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<CommitNote>,
}

/// The last commit that was made by a time, in seconds since 1970. Commits are made one after the other, and a clock may have been wrong
/// for a while: times that do not fit among most others are not believed, and such a commit counts as made with the one before it.
pub(in crate::collection) fn last_by(changes: &[ChangesEntry], seconds: u64) -> Option<u64> {
    let noted = |log: &ChangesEntry| log.note.as_ref().map(|note| (log.commit, note.time));
    let noted: Vec<(u64, u64)> = changes.iter().filter_map(noted).collect();
    let mut last = None;
    let mut believed = longest_ascent(noted.iter().map(|(_, time)| *time)).into_iter().peekable();
    for (at, (commit, time)) in noted.iter().enumerate() {
        if believed.next_if_eq(&at).is_some() && *time > seconds {
            break;
        }
        last = Some(*commit);
    }
    last
}

/// The places of as many numbers as possible that never go down.
fn longest_ascent(numbers: impl Iterator<Item = u64>) -> Vec<usize> {
    // Of the ascents of each length the one with the least last number, and of each number the place before it.
    let (mut ends, mut before): (Vec<(u64, usize)>, Vec<Option<usize>>) = Default::default();
    for (at, number) in numbers.enumerate() {
        let length = ends.partition_point(|(end, _)| *end <= number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter].1));
        match ends.get_mut(length) {
            Some(end) => *end = (number, at),
            None => ends.push((number, at)),
        }
    }
    let mut places: Vec<usize> =
        std::iter::successors(ends.last().map(|(_, at)| *at), |at| before[*at]).collect();
    places.reverse();
    places
}

impl ChangesEntry {
    /// Hands the log's bytes to `each`, piece by piece; lines may span pieces.
    ///
    /// # Errors
    /// Those of [`read_log`].
    pub(in crate::collection) fn read(
        &self,
        storage: &dyn Storage,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        read_log(storage, Name::Changes(self.commit), (self.bytes, self.digest), each)
    }
}

/// A commit that has changed documents, as people are told of it. Of one that was not noted only the number is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitRow {
    /// Its number.
    pub commit: u64,
    /// When it was made, in UTC, as ISO 8601 has it.
    pub time: Option<String>,
    /// What made it.
    pub command: Option<CommitCommand>,
    /// Files that were read.
    pub files: Option<u64>,
    /// The first of them.
    pub sources: Vec<String>,
    /// Documents that are new.
    pub added: Option<u64>,
    /// Documents that are another text or have other fields now.
    pub replaced: Option<u64>,
    /// Documents that are gone.
    pub removed: Option<u64>,
    /// Documents that there were.
    pub documents_before: Option<u64>,
    /// Documents that there are.
    pub documents: Option<u64>,
    /// The commit that was restored, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
}

impl ChangesEntry {
    /// What is told of the commit.
    pub fn row(&self) -> CommitRow {
        let note = self.note.as_ref();
        let of = |figure: fn(&CommitNote) -> u64| note.map(figure);
        let before =
            |note: &CommitNote| note.documents.saturating_add(note.removed).saturating_sub(note.added);
        CommitRow {
            commit: self.commit,
            time: note.map(|note| shown(note.time)),
            command: note.map(|note| note.command),
            files: of(|note| note.files),
            sources: note.map(|note| note.first.clone()).unwrap_or_default(),
            added: of(|note| note.added),
            replaced: of(|note| note.replaced),
            removed: of(|note| note.removed),
            documents_before: note.map(before),
            documents: of(|note| note.documents),
            restored: note.and_then(|note| note.restored),
        }
    }
}

/// Seconds since 1970, in UTC, as ISO 8601 has it.
fn shown(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| seconds.to_string(), |time| time.to_string())
}

/// Writes the change log of a commit that is being prepared.
pub struct ChangesWriter {
    commit: u64,
    log: LogWriter,
}

impl ChangesWriter {
    /// Begins the change log of commit `commit` in a new file.
    pub(in crate::collection) fn create(storage: &dyn Storage, commit: u64) -> Result<ChangesWriter> {
        Ok(ChangesWriter { commit, log: LogWriter::create(storage, Name::Changes(commit))? })
    }

    /// Adds a line of JSON at the end.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn line(&mut self, row: &impl serde::Serialize) -> Result<()> {
        self.log.line(row)
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.log.append(bytes)
    }

    /// Makes the contents durable: what the manifest has to say of the log, and of its commit.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn finish(self, note: Option<CommitNote>) -> Result<ChangesEntry> {
        let (bytes, digest) = self.log.finish()?;
        Ok(ChangesEntry { commit: self.commit, bytes, digest, note })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn last(times: &[u64], seconds: u64) -> Option<u64> {
        let entry = |(commit, time): (u64, &u64)| {
            let note = CommitNote { time: *time, ..CommitNote::now(CommitCommand::Load, &[], [0; 4]) };
            ChangesEntry { commit, bytes: 0, digest: 0, note: Some(note) }
        };
        last_by(&(1..).zip(times).map(entry).collect::<Vec<_>>(), seconds)
    }

    #[test]
    fn clocks_that_were_wrong_are_not_believed() {
        // Years behind, and years ahead.
        for wrong in [10, 5000] {
            let times = [1015, 1016, wrong, 1017, 1018];
            let found = [1014, 1015, 1016, 1017, 1018, 6000].map(|seconds| last(&times, seconds));
            assert_eq!(found, [None, Some(1), Some(3), Some(4), Some(5), Some(5)], "{wrong}");
        }
        assert_eq!(last(&[], 1), None);
        assert_eq!(last(&[7, 7, 7], 7), Some(3));
    }

    proptest! {
        /// An obvious twin tries all choices.
        #[test]
        fn no_ascent_is_longer(numbers in prop::collection::vec(0u64..9, 0..12)) {
            let ascends = |places: &[usize]| places.windows(2).all(|two| two[0] < two[1] && numbers[two[0]] <= numbers[two[1]]);
            let found = longest_ascent(numbers.iter().copied());
            prop_assert!(ascends(&found), "{found:?}");
            let choices = (0u32..1 << numbers.len()).map(|bits| (0..numbers.len()).filter(|at| bits >> at & 1 == 1).collect::<Vec<_>>());
            prop_assert_eq!(choices.filter(|places| ascends(places)).map(|places| places.len()).max(), Some(found.len()));
        }
    }
}
