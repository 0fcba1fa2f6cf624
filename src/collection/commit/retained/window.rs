//! Which commits stay when one is made: worked out once, and written into its manifest, so that nobody who tidies up later, or
//! after a crash, has to ask a clock or a folder.

use std::collections::BTreeSet;

use crate::collection::commit::changes::{ChangesEntry, last_by};
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::Name;
use crate::collection::commit::retained::policy::Retain;
use crate::collection::commit::run_entry::RunEntry;
use crate::limits::MAX_RETAINED;

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

impl Manifest {
    /// The first commit whose files stay beside those of this one. Where nothing else is said, that is the one before it.
    pub fn first_kept(&self) -> u64 {
        self.retained_from.unwrap_or(self.commit.saturating_sub(1))
    }

    /// The files of the commit.
    pub(in crate::collection) fn files(&self) -> BTreeSet<Name> {
        let logs = self.changes.iter().map(|log| Name::Changes(log.commit));
        self.runs.iter().map(RunEntry::name).chain(logs).chain([Name::Manifest(self.commit)]).collect()
    }

    /// Says which commits stay once this one is published after `last`, and leaves out change logs of those before, if the
    /// collection says how many stay. That of the first one stays: it tells when that was made.
    pub(in crate::collection) fn slide(&mut self, last: &Manifest) {
        // Only a merge of runs says from where on commits stay: the state before the last change is still there after it.
        let changes = self.changes.last().is_some_and(|log| log.commit == self.commit);
        let merged = self.retained_from.filter(|_| !changes && self.retain == last.retain);
        let Some(retain) = self.retain else {
            self.retained_from = merged;
            return;
        };
        let most = (self.commit + 1).saturating_sub(MAX_RETAINED);
        let wanted = merged.unwrap_or_else(|| first_wanted(retain, &self.changes)).max(most).min(last.commit);
        // What is gone does not come back, whatever is wanted now.
        let first = wanted.max(last.first_kept()).max(self.retained_from.unwrap_or(0).min(last.commit));
        self.retained_from = Some(first);
        let before = self.changes.partition_point(|log| log.commit <= first);
        for log in self.changes.drain(..before.saturating_sub(1)) {
            self.changes_after = log.commit;
        }
    }
}

/// The first commit that is to stay, by the commits that changed anything.
fn first_wanted(retain: Retain, changes: &[ChangesEntry]) -> u64 {
    match retain {
        Retain::Commits(count) => {
            let first = changes.len().checked_sub(count as usize).and_then(|at| changes.get(at));
            first.map_or(0, |log| log.commit)
        }
        Retain::Days(days) => {
            let newest = changes.iter().rev().find_map(|log| log.note.as_ref().map(|note| note.time));
            let since = newest.unwrap_or(0).saturating_sub(u64::from(days) * DAY);
            // What was made last before it was still the last commit then.
            last_by(changes, since).unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::commit::changes::{CommitCommand, CommitNote};
    use crate::config::Config;

    fn entry(commit: u64, time: Option<u64>) -> ChangesEntry {
        let note = |time| CommitNote {
            time,
            command: CommitCommand::Load,
            files: 0,
            first: Vec::new(),
            added: 0,
            replaced: 0,
            removed: 0,
            documents: 0,
            restored: None,
        };
        ChangesEntry { commit, bytes: 0, digest: 0, note: time.map(note) }
    }

    /// Commits whose logs have these numbers and days, of which the last one is being made; what it then says.
    fn slid(retain: Retain, logs: &[(u64, u64)], commit: u64, kept: Option<u64>) -> (u64, Vec<u64>, u64) {
        let mut last = Manifest::first(7, Config::default(), false);
        (last.commit, last.retained_from) = (commit - 1, kept);
        let mut next = Manifest { commit, retain: Some(retain), ..last.clone() };
        next.changes = logs.iter().map(|(commit, day)| entry(*commit, Some(day * DAY))).collect();
        next.slide(&last);
        let logs = next.changes.iter().map(|log| log.commit).collect();
        (next.first_kept(), logs, next.changes_after)
    }

    #[test]
    fn compactions_do_not_count() {
        // Commits 4 and 6 are compactions.
        let logs = [(2, 1), (3, 1), (5, 1), (7, 1)];
        assert_eq!(slid(Retain::Commits(2), &logs, 7, Some(1)), (5, vec![5, 7], 3));
        assert_eq!(slid(Retain::Commits(3), &logs, 7, Some(1)), (3, vec![3, 5, 7], 2));
        assert_eq!(slid(Retain::Commits(9), &logs, 7, Some(1)), (1, vec![2, 3, 5, 7], 0));
        // The last commit and the one before it always stay, and the log tells when that was made.
        assert_eq!(slid(Retain::Commits(1), &logs, 7, Some(1)), (6, vec![5, 7], 3));
    }

    #[test]
    fn what_is_gone_does_not_come_back() {
        let logs = [(2, 1), (3, 1), (5, 1), (7, 1)];
        assert_eq!(slid(Retain::Commits(9), &logs, 7, Some(4)), (4, vec![3, 5, 7], 2));
        assert_eq!(slid(Retain::Commits(9), &logs, 7, None).0, 5);
    }

    #[test]
    fn days_count_back_from_the_newest_commit() {
        let logs = [(2, 1), (3, 9), (4, 10), (6, 20)];
        assert_eq!(slid(Retain::Days(10), &logs, 6, Some(1)), (4, vec![4, 6], 3));
        // Commit 3 was still the last one eleven days before.
        assert_eq!(slid(Retain::Days(11), &logs, 6, Some(1)), (3, vec![3, 4, 6], 2));
        assert_eq!(slid(Retain::Days(30), &logs, 6, Some(1)), (1, vec![2, 3, 4, 6], 0));
        let mut next = Manifest::first(7, Config::default(), false);
        let last = next.clone();
        (next.commit, next.retain, next.changes) = (1, Some(Retain::Days(1)), vec![entry(1, None)]);
        next.slide(&last);
        assert_eq!(next.first_kept(), 0, "of unknown times nothing goes");
    }

    #[test]
    fn a_clock_that_was_wrong_takes_no_history() {
        // Commit 4 was made while the clock was years behind.
        let logs = [(1, 1015), (2, 1016), (3, 1017), (4, 10), (5, 1020)];
        assert_eq!(slid(Retain::Days(30), &logs, 5, Some(0)).0, 0);
        assert_eq!(slid(Retain::Days(3), &logs, 5, Some(0)).0, 4);
        assert_eq!(slid(Retain::Days(4), &logs, 5, Some(0)).0, 2);
    }

    #[test]
    fn no_window_is_wider_than_the_limit() {
        let logs: Vec<(u64, u64)> = (2..=3000).map(|commit| (commit, 1)).collect();
        let (first, logs, _) = slid(Retain::Days(30), &logs, 3000, Some(1));
        assert_eq!((first, logs.len() as u64), (3001 - MAX_RETAINED, MAX_RETAINED));
    }

    #[test]
    fn a_merge_takes_no_commit_that_could_be_looked_at() {
        let slid = |commit, changes: &[u64], from| {
            let last = Manifest { commit: commit - 1, ..Manifest::first(7, Config::default(), false) };
            let changes = changes.iter().map(|commit| entry(*commit, None)).collect();
            let mut next = Manifest { commit, changes, retained_from: from, ..last.clone() };
            next.slide(&last);
            next.first_kept()
        };
        // Commit 9 is a load, 10 a merge after it, 11 another one, and 12 a load.
        assert_eq!(slid(9, &[8, 9], None), 8);
        assert_eq!(slid(10, &[8, 9], Some(8)), 8);
        assert_eq!(slid(11, &[8, 9], Some(8)), 8);
        assert_eq!(slid(12, &[8, 9, 12], Some(8)), 11);
        let slid = |from| {
            let retain = Some(Retain::Commits(1));
            let last = Manifest {
                commit: 9,
                retain,
                retained_from: Some(8),
                ..Manifest::first(7, Config::default(), false)
            };
            let changes = vec![entry(8, None), entry(9, None)];
            let mut next = Manifest { commit: 10, changes, retained_from: from, ..last.clone() };
            next.slide(&last);
            next.first_kept()
        };
        assert_eq!((slid(Some(8)), slid(None)), (8, 9), "a merge, and a compaction that was asked for");
    }

    #[test]
    fn without_a_policy_all_is_as_it_was() {
        let last = Manifest { commit: 8, ..Manifest::first(7, Config::default(), false) };
        let mut next = Manifest { commit: 9, changes: vec![entry(2, None), entry(9, None)], ..last.clone() };
        let before = next.clone();
        next.slide(&last);
        assert_eq!((&next, next.first_kept()), (&before, 8));
    }
}
