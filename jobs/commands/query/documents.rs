//! `alike documents`: the documents of a collection.

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::collections::ShowArgs;
use crate::session::collection::open;
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let mut lines = OutputLines::new();
    let written = if lines.for_people(args.json) {
        let heading = format!("{:<12}{:>6}{:>6}  {:<24}  {}", "CLUSTER", "FIRST", "LOAD", "ID", "FILE:LINE");
        lines.text(&heading).and_then(|()| {
            snapshot.documents(&mut |d| {
                let cluster = d.cluster.map_or_else(|| "-".to_owned(), |cluster| cluster.to_string());
                let (first, load, id, file, line) = (d.first_load, d.load, &d.id, &d.file, d.line);
                lines.text(&format!("{cluster:<12}{first:>6}{load:>6}  {id:<24}  {file}:{line}"))
            })
        })
    } else {
        snapshot.documents(&mut |document| lines.json(&document))
    };
    lines.finish(written)
}
