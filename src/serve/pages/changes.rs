//! The change logs by the page.

use std::str::FromStr;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::collection::CommitRow;
use crate::error::Error;
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::Query;
use crate::serve::state::commit::ServedCommit;

/// A page of changes.
#[derive(Debug, Serialize)]
pub struct ChangesPage {
    /// Number of the commit that is served.
    pub commit: u64,
    /// The last commit whose log is gone; 0 if all are there.
    pub changes_after: u64,
    /// Lines of the logs, each with the commit that made the change, in their order.
    pub changes: Vec<LogLine>,
    /// The commits that made them, as `alike log` has them.
    pub commits: Vec<CommitRow>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

/// A line of a log.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct LogLine(Box<RawValue>);

impl LogLine {
    /// The line, a JSON object.
    pub fn json(&self) -> &str {
        self.0.get()
    }
}

/// Where a page ends: so many lines of the log of a commit are behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogMark {
    commit: u64,
    lines: usize,
}

impl FromStr for LogMark {
    type Err = String;

    fn from_str(text: &str) -> Result<LogMark, String> {
        let parts = text.split_once(':').and_then(|(commit, lines)| {
            Some(LogMark { commit: commit.parse().ok()?, lines: lines.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is no mark of a page"))
    }
}

impl ChangesPage {
    /// The page that was asked for.
    ///
    /// # Errors
    /// 400, and those of the collection.
    pub fn read(commit: &ServedCommit, query: &Query, progress: &Progress) -> Result<ChangesPage, HttpError> {
        let last = commit.number();
        let asked: Option<u64> = query.parsed("since")?;
        let (since, gone) = (asked.unwrap_or(0), commit.snapshot().manifest().changes_after);
        if since > last {
            return Err(HttpError::bad(format!("since {since}: the last commit is {last}")));
        }
        if asked.is_some_and(|since| since < gone) {
            return Err(HttpError::bad(format!(
                "since {since}: the change logs up to commit {gone} are gone; ask since {gone}, or begin anew with the clusters"
            )));
        }
        let limit = query.limit()?;
        let after: Option<LogMark> = query.parsed("after")?;
        let manifest = commit.snapshot().manifest();
        let wanted = |log: u64| log > since && after.is_none_or(|after| log >= after.commit);
        let mut page = ChangesPage {
            commit: last,
            changes_after: gone,
            changes: Vec::new(),
            commits: Vec::new(),
            next: None,
        };
        for entry in manifest.changes.iter().filter(|log| wanted(log.commit)) {
            progress.check()?;
            let log = entry.commit;
            let passed = after.filter(|after| after.commit == log).map_or(0, |after| after.lines);
            let room = limit - page.changes.len();
            let (lines, more) = lines(commit, log, passed, room)?;
            let read = passed + lines.len();
            page.commits.extend((!lines.is_empty()).then(|| entry.row()));
            page.changes.extend(lines);
            // A page that is full at the end of a log: whether there is another line, its next page tells.
            if more || page.changes.len() == limit {
                page.next = (more || log < last).then(|| format!("{log}:{read}"));
                break;
            }
        }
        Ok(page)
    }
}

/// Lines of a log behind so many, at most `limit`, and whether there are others behind them.
fn lines(
    commit: &ServedCommit,
    log: u64,
    passed: usize,
    limit: usize,
) -> Result<(Vec<LogLine>, bool), HttpError> {
    let (mut begun, mut at, mut found, mut more): (Vec<u8>, usize, Vec<Vec<u8>>, bool) = Default::default();
    // All of it is read: only its end vouches for its beginning.
    let read = commit.snapshot().changes(log, &mut |piece| {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let wanted = at >= passed && found.len() < limit;
            if wanted {
                begun.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if wanted {
                    found.push(std::mem::take(&mut begun));
                } else {
                    more |= at >= passed;
                }
                at += 1;
            }
        }
        Ok(())
    });
    // A later commit may have dropped it; within a second that one is served.
    let dropped = |error: &Error| match error {
        Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    match read {
        Err(error) if dropped(&error) => {
            return Err(HttpError::busy(1, "a newer commit has dropped this log; ask again"));
        }
        read => read?,
    };
    let line = |bytes: Vec<u8>| {
        let text = std::str::from_utf8(&bytes).ok()?.trim_end().strip_prefix('{')?;
        RawValue::from_string(format!("{{\"commit\":{log},{text}")).ok().map(LogLine)
    };
    let lines: Option<Vec<LogLine>> = found.into_iter().map(line).collect();
    let damaged = || {
        let what = format!("the change log of commit {log} has a line that is no JSON object");
        HttpError::within(&Error::damaged(std::path::Path::new("collection"), 0, what))
    };
    Ok((lines.ok_or_else(damaged)?, more))
}
