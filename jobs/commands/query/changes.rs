//! `alike changes`: the change logs of a collection, as they were written, each line with its commit.

use std::path::Path;
use std::process::ExitCode;

use alike::collection::Snapshot;
use alike::error::{Error, Result};

use crate::cli::collections::ChangesArgs;
use crate::session::collection::open;
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let (since, last) = (args.since.unwrap_or(0), snapshot.manifest().commit);
    if since > last {
        return Err(Error::config(format!("--since {since}: the last commit is {last}")));
    }
    let mut lines = OutputLines::new();
    let logs = snapshot.manifest().changes.iter().map(|log| log.commit).filter(|commit| *commit > since);
    let written =
        logs.into_iter().try_for_each(|commit| show(&snapshot, commit, &args.at.collection, &mut lines));
    lines.finish(written)
}

/// Shows one log.
fn show(snapshot: &Snapshot, commit: u64, collection: &Path, lines: &mut OutputLines) -> Result<()> {
    // Only the end of a log vouches for its beginning, and what was shown cannot be taken back.
    snapshot.changes(commit, &mut |_| Ok(()))?;
    let mut begun: Vec<u8> = Vec::new();
    snapshot.changes(commit, &mut |piece| {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            begun.extend_from_slice(part);
            if let Some(line) = begun.strip_suffix(b"\n") {
                lines.raw(&with_commit(line, commit).ok_or_else(|| no_object(collection, commit))?)?;
                begun.clear();
            }
        }
        Ok(())
    })?;
    if begun.is_empty() { Ok(()) } else { Err(no_object(collection, commit)) }
}

/// The line, which is a JSON object, with the commit put before its members.
fn with_commit(line: &[u8], commit: u64) -> Option<String> {
    let members = std::str::from_utf8(line).ok()?.strip_prefix('{')?;
    Some(format!("{{\"commit\":{commit},{members}"))
}

fn no_object(collection: &Path, commit: u64) -> Error {
    Error::damaged(
        collection,
        0,
        format!("the change log of commit {commit} has a line that is no JSON object"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_goes_first() {
        assert_eq!(with_commit(b"{\"a\":1}", 7).as_deref(), Some("{\"commit\":7,\"a\":1}"));
        assert_eq!(with_commit(b"x", 7), None);
        assert_eq!(with_commit(b"{\xff", 7), None);
    }
}
