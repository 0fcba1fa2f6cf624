//! An older commit that is asked for, and which of those that stay that is.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::collection::commit::changes::last_by;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Name, folder, names_in};
use crate::collection::commit::snapshot::{Snapshot, check_same, is_missing, missing, newest};
use crate::error::{Error, Result};
use crate::storage::Storage;
use std::sync::Arc;

/// How often it is looked again when writers take away what was about to be opened.
const ATTEMPTS: usize = 20;

/// A commit as people ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitAt {
    /// By its number.
    Number(u64),
    /// The last one that was there at a time.
    Time {
        /// As it was written.
        asked: String,
        /// Seconds since 1970.
        seconds: u64,
    },
}

impl FromStr for CommitAt {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<CommitAt, String> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text
                .parse()
                .map(CommitAt::Number)
                .map_err(|_| format!("{text}: no commit has that number"));
        }
        let wrong = || {
            format!(
                "{text:?}: expected the number of a commit, a time with its offset like 2026-11-20T08:00:00Z, or a day like \
                 2026-11-20"
            )
        };
        let seconds = match text.parse::<Date>() {
            // Whatever is written in full is no day alone.
            Ok(day) if text.len() <= "2026-11-20".len() => end_of(day),
            _ => text.parse::<Timestamp>().ok().map(Timestamp::as_second),
        };
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok()).ok_or_else(wrong)?;
        Ok(CommitAt::Time { asked: text.to_owned(), seconds })
    }
}

/// The last second of a day in UTC.
fn end_of(day: Date) -> Option<i64> {
    let next = day.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(next.timestamp().as_second() - 1)
}

impl std::fmt::Display for CommitAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommitAt::Number(number) => write!(f, "commit {number}"),
            CommitAt::Time { asked, .. } => write!(f, "the commit of {asked}"),
        }
    }
}

/// The commits that can be looked at again, as the last one knows them.
#[derive(Debug)]
pub struct RetainedCommits<'a> {
    last: &'a Manifest,
    /// Those before the last one, ascending.
    older: Vec<u64>,
}

impl RetainedCommits<'_> {
    /// The commit that was asked for, if it can be looked at. For one that is gone stands the first that is kept, if nothing
    /// was changed between them but how runs are merged.
    pub fn find(&self, at: &CommitAt) -> Option<u64> {
        let logs = &self.last.changes;
        let number = match at {
            CommitAt::Number(number) => *number,
            CommitAt::Time { seconds, .. } => last_by(logs, *seconds)?,
        };
        let first = self.last.first_kept();
        let changed = |from: u64, to: u64| logs.iter().any(|log| from < log.commit && log.commit <= to);
        let known = number >= self.last.changes_after;
        let commit = if number < first && known && !changed(number, first) { first } else { number };
        (commit == self.last.commit || self.older.binary_search(&commit).is_ok()).then_some(commit)
    }

    /// Their numbers, as people read them.
    fn told(&self) -> String {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for commit in self.older.iter().copied().chain([self.last.commit]) {
            match ranges.last_mut() {
                Some((_, to)) if *to + 1 == commit => *to = commit,
                _ => ranges.push((commit, commit)),
            }
        }
        let range = |(from, to): &(u64, u64)| match to - from {
            0 => from.to_string(),
            _ => format!("{from} to {to}"),
        };
        ranges.iter().map(range).collect::<Vec<_>>().join(", ")
    }
}

impl Snapshot {
    /// The commits that can be looked at again, of which this is to be the last one.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn retained(&self) -> Result<RetainedCommits<'_>> {
        Ok(RetainedCommits { last: self.manifest(), older: self.older()? })
    }

    /// The numbers of the commits before it that can be looked at again, ascending: those that stay, and whose manifests are
    /// there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn older(&self) -> Result<Vec<u64>> {
        let storage = self.storage();
        let kept = self.manifest().first_kept()..self.manifest().commit;
        let older = |name| match name {
            Name::Manifest(commit) => Some(commit).filter(|commit| kept.contains(commit)),
            _ => None,
        };
        let mut older: Vec<u64> = names_in(storage)?.into_iter().filter_map(older).collect();
        older.sort_unstable();
        Ok(older)
    }

    /// Opens the commit that is asked for.
    ///
    /// # Errors
    /// [`Error::NotRetained`], and those of [`Snapshot::open`].
    pub fn open_at(storage: &Arc<dyn Storage>, at: &CommitAt) -> Result<Snapshot> {
        for _ in 0..ATTEMPTS {
            let last = Snapshot::open(storage)?;
            let retained = last.retained()?;
            let asked = match at {
                CommitAt::Number(number) if *number > last.manifest().commit => {
                    format!("there is no {at} yet; it")
                }
                _ => at.to_string(),
            };
            let refused = |retained: &RetainedCommits<'_>| Error::NotRetained {
                path: folder(&**storage),
                asked,
                retained: retained.told(),
            };
            let commit = retained.find(at).ok_or_else(|| refused(&retained))?;
            if commit == last.manifest().commit {
                return Ok(last);
            }
            match Snapshot::of(storage, commit) {
                // Only who publishes a later commit takes anything away.
                Err(error) if is_missing(&error) && newest(&**storage)? == last.manifest().commit => {
                    return Err(missing(error));
                }
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(error),
                Ok(opened) => {
                    check_same(&**storage, last.manifest(), opened.manifest())?;
                    return Ok(opened);
                }
            }
        }
        Err(Error::Changed(folder(&**storage)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::commit::changes::{ChangesEntry, CommitCommand, CommitNote};
    use crate::config::Config;

    #[test]
    fn numbers_times_and_days_are_told_apart() {
        let seconds = |text: &str| match text.parse() {
            Ok(CommitAt::Time { seconds, asked }) if asked == text => Some(seconds),
            _ => None,
        };
        assert_eq!("17".parse(), Ok(CommitAt::Number(17)));
        assert_eq!(seconds("1970-01-02T00:00:00Z"), Some(86_400));
        assert_eq!(seconds("1970-01-02T02:00:00+02:00"), Some(86_400));
        // A day is all of it.
        assert_eq!(seconds("1970-01-02"), Some(2 * 86_400 - 1));
        for wrong in
            ["", "x", "-1", "1970-01-02T00:00:00", "1970-13-01", "1969-01-01", "99999999999999999999"]
        {
            assert!(wrong.parse::<CommitAt>().is_err(), "{wrong}");
        }
    }

    /// Commits with logs, each with its time; of which the last is `last`, and those from `from` on stay.
    fn manifest(logs: &[(u64, u64)], from: u64, last: u64) -> Manifest {
        let note =
            |time| CommitNote { time, documents: 0, ..CommitNote::now(CommitCommand::Load, &[], [0; 4]) };
        let entry = |(commit, time): &(u64, u64)| ChangesEntry {
            commit: *commit,
            bytes: 0,
            digest: 0,
            note: Some(note(*time)),
        };
        Manifest {
            commit: last,
            changes: logs.iter().map(entry).collect(),
            retained_from: Some(from),
            ..Manifest::first(7, Config::default(), false)
        }
    }

    #[test]
    fn a_commit_is_found_by_what_was_there_then() {
        let last = manifest(&[(2, 100), (3, 200), (6, 300), (7, 400)], 5, 8);
        let retained = RetainedCommits { last: &last, older: vec![5, 6, 7] };
        let at = |seconds| retained.find(&CommitAt::Time { asked: String::new(), seconds });
        let number = |number| retained.find(&CommitAt::Number(number));
        // 4 and 5 are compactions of what 3 made.
        assert_eq!(
            [2, 3, 4, 5, 6, 7, 8, 9].map(number),
            [None, Some(5), Some(5), Some(5), Some(6), Some(7), Some(8), None]
        );
        assert_eq!([99, 100, 199].map(at), [None; 3]);
        assert_eq!([200, 299, 300, 399, 400, 9999].map(at), [5, 5, 6, 6, 7, 7].map(Some));
        assert_eq!((number(0), number(1)), (None, None));
        assert_eq!(retained.told(), "5 to 8");
    }

    #[test]
    fn what_the_logs_do_not_tell_is_not_guessed() {
        let mut last = manifest(&[(6, 300), (7, 400)], 6, 7);
        last.changes_after = 5;
        let retained = RetainedCommits { last: &last, older: vec![6] };
        assert_eq!([4, 5, 6].map(|number| retained.find(&CommitAt::Number(number))), [None, None, Some(6)]);
        let gone = RetainedCommits { last: &last, older: vec![3, 4] };
        assert_eq!((gone.find(&CommitAt::Number(6)), &*gone.told()), (None, "3 to 4, 7"));
    }
}
