//! `alike log`: the commits of a collection, the newest first.

use std::process::ExitCode;

use alike::collection::{ChangesEntry, CommitAt, CommitCommand, CommitRow};
use alike::error::Result;
use serde::Serialize;

use crate::cli::collections::ShowArgs;
use crate::session::collection::open;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stderr::warn;
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let mut rows = DataRows::new(&mut lines, form, columns());
    let retained = snapshot.retained()?;
    let gone = snapshot.manifest().changes_after;
    if gone > 0 {
        warn(&format!("commits up to {gone} are known no more, as --retain asks for"));
    }
    let row = |entry: &ChangesEntry| {
        let retained = retained.find(&CommitAt::Number(entry.commit)).is_some();
        LogRow { row: entry.row(), retained }
    };
    let commits = snapshot.manifest().changes.iter().rev().map(row);
    let written = commits.into_iter().try_for_each(|commit| rows.row(&commit, || cells(&commit)));
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

/// A commit, and whether it can be looked at again.
#[derive(Serialize)]
struct LogRow {
    #[serde(flatten)]
    row: CommitRow,
    retained: bool,
}

fn columns() -> Vec<Column> {
    let [commit, time, command] = [Column::number("commit"), Column::text("time"), Column::text("command")];
    let counts =
        ["added", "replaced", "removed", "documents_before", "documents", "files"].map(Column::number);
    [commit, time, command]
        .into_iter()
        .chain(counts)
        .chain([Column::text("retained"), Column::text("sources")])
        .collect()
}

fn cells(LogRow { row, retained }: &LogRow) -> Cells {
    let command = row.command.map(|command| match command {
        CommitCommand::Load => "load",
        CommitCommand::Delete => "delete",
        CommitCommand::Rollback => "rollback",
    });
    let counts = [row.added, row.replaced, row.removed, row.documents_before, row.documents, row.files];
    let more = if row.files > Some(row.sources.len() as u64) { ", ..." } else { "" };
    let sources = match row.restored {
        Some(commit) => format!("commit {commit}"),
        None => format!("{}{more}", row.sources.join(", ")),
    };
    [cell(row.commit), row.time.clone(), command.and_then(cell)]
        .into_iter()
        .chain(counts.map(|count| count.and_then(cell)))
        .chain([cell(if *retained { "yes" } else { "no" })])
        .chain([Some(sources).filter(|sources| !sources.is_empty())])
        .collect()
}

#[cfg(test)]
mod tests {
    use alike::collection::CommitNote;

    use super::*;

    #[test]
    fn what_was_not_noted_is_not_made_up() {
        let entry = |note| ChangesEntry { commit: 7, bytes: 0, digest: 0, note };
        let texts = |entry: &ChangesEntry| {
            let cells = cells(&LogRow { row: entry.row(), retained: entry.note.is_some() });
            assert_eq!(cells.len(), columns().len());
            cells.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("|")
        };
        assert_eq!(texts(&entry(None)), "7|||||||||no|");
        let note = CommitNote {
            time: 86_400,
            command: CommitCommand::Delete,
            files: 4,
            first: vec!["a".to_owned(), "b".to_owned()],
            added: 3,
            replaced: 2,
            removed: 1,
            documents: 10,
            restored: None,
        };
        assert_eq!(texts(&entry(Some(note))), "7|1970-01-02T00:00:00Z|delete|3|2|1|8|10|4|yes|a, b, ...");
    }
}
