//! `alike changes`: the change logs of a collection, as they were written, each line with its commit.

use std::path::Path;
use std::process::ExitCode;

use alike::collection::Snapshot;
use alike::error::{Error, Result};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cli::collections::ChangesArgs;
use crate::session::collection::open;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stderr::warn;
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let (since, last) = (args.since.unwrap_or(0), snapshot.manifest().commit);
    if since > last {
        return Err(Error::config(format!("--since {since}: the last commit is {last}")));
    }
    let gone = snapshot.manifest().changes_after;
    match args.since {
        Some(since) if since < gone => {
            return Err(Error::config(format!(
                "--since {since}: the change logs up to commit {gone} are gone, as --retain asks for; give --since {gone} or a \
                 later one, or begin anew with `alike clusters`"
            )));
        }
        None if gone > 0 => {
            warn(&format!("the change logs up to commit {gone} are gone, as --retain asks for"));
        }
        _ => {}
    }
    let mut lines = OutputLines::new();
    let logs = snapshot.manifest().changes.iter().map(|log| log.commit).filter(|commit| *commit > since);
    let form = lines.form(args.print);
    let mut rows = DataRows::new(&mut lines, form, columns());
    let written =
        logs.into_iter().try_for_each(|commit| show(&snapshot, commit, &args.at.place.collection, &mut rows));
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

/// Shows one log.
fn show(snapshot: &Snapshot, commit: u64, collection: &Path, rows: &mut DataRows<'_>) -> Result<()> {
    // Only the end of a log vouches for its beginning, and what was shown cannot be taken back.
    snapshot.changes(commit, &mut |_| Ok(()))?;
    let mut begun: Vec<u8> = Vec::new();
    snapshot.changes(commit, &mut |piece| {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            begun.extend_from_slice(part);
            if let Some(line) = begun.strip_suffix(b"\n") {
                let line = with_commit(line, commit).ok_or_else(|| no_object(collection, commit))?;
                rows.row(&line, || cells(&line))?;
                begun.clear();
            }
        }
        Ok(())
    })?;
    if begun.is_empty() { Ok(()) } else { Err(no_object(collection, commit)) }
}

/// The line, which is a JSON object, with the commit put before its members.
fn with_commit(line: &[u8], commit: u64) -> Option<Box<RawValue>> {
    let members = std::str::from_utf8(line).ok()?.strip_prefix('{')?;
    RawValue::from_string(format!("{{\"commit\":{commit},{members}")).ok()
}

fn columns() -> Vec<Column> {
    let others = ["change", "cluster", "id", "from", "to"].map(Column::text);
    [Column::number("commit")].into_iter().chain(others).collect()
}

/// A line in these columns: the document of a cluster that is created is its representative, and what a cluster becomes is
/// where it goes to.
fn cells(line: &RawValue) -> Cells {
    let line: Value = serde_json::from_str(line.get()).unwrap_or_default();
    let any = |names: [&str; 2]| match names.map(|name| &line[name]) {
        [Value::Null, Value::Null] => None,
        [Value::Null, value] | [value, _] => value.as_str().map_or_else(|| cell(value), cell),
    };
    let one = |name: &'static str| any([name, name]);
    let id = any(["id", "representative"]);
    vec![one("commit"), one("change"), one("cluster"), id, one("from"), any(["to", "into"])]
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
        let text = |line: &[u8]| with_commit(line, 7).map(|line| line.get().to_owned());
        assert_eq!(text(b"{\"a\":1}").as_deref(), Some("{\"commit\":7,\"a\":1}"));
        assert_eq!(text(b"x"), None);
        assert_eq!(text(b"{\xff",), None);
    }

    #[test]
    fn each_kind_of_change_has_its_columns() {
        let row = |line: &str| {
            let line = with_commit(line.as_bytes(), 3).expect("an object");
            let cells: Vec<String> = cells(&line).into_iter().map(Option::unwrap_or_default).collect();
            cells.join("|")
        };
        assert_eq!(row(r#"{"change":"created","cluster":"3.1","representative":"a"}"#), "3|created|3.1|a||");
        assert_eq!(row(r#"{"change":"moved","id":"b","from":"1.1","to":"3.1"}"#), "3|moved||b|1.1|3.1");
        assert_eq!(row(r#"{"change":"split","from":"1.1","into":"3.1"}"#), "3|split|||1.1|3.1");
    }
}
