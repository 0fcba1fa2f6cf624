//! `alike documents`: the documents of a collection.

use std::process::ExitCode;

use alike::collection::{DocumentView, IdIndex, Snapshot};
use alike::error::Result;
use alike::progress::Progress;
use alike::text::TypedWords;

use crate::cli::collections::ShowArgs;
use crate::session::collection::open;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stdout::OutputLines;

/// Documents that are looked up together.
const TOGETHER: usize = 4096;

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let mut rows = DataRows::new(&mut lines, form, columns());
    let written = in_order(&snapshot, &mut |document| rows.row(document, || cells(document)));
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

/// Hands all documents to `each` in the order of their ids, which are held.
fn in_order(snapshot: &Snapshot, each: &mut dyn FnMut(&DocumentView) -> Result<()>) -> Result<()> {
    let progress = Progress::default();
    let (ids, any) = (IdIndex::new(snapshot, &progress)?, TypedWords::default());
    let mut last: Option<String> = None;
    loop {
        let (page, more) = ids.page(("", &any), last.as_deref(), TOGETHER, &progress)?;
        snapshot.documents_of(&page)?.iter().flatten().try_for_each(&mut *each)?;
        last = page.into_iter().next_back();
        if !more {
            return Ok(());
        }
    }
}

fn columns() -> Vec<Column> {
    let numbers = |names: [&'static str; 2]| names.map(Column::number);
    let [first, load] = numbers(["first_load", "load"]);
    let [line, offset] = numbers(["line", "offset"]);
    vec![Column::text("cluster"), first, load, Column::text("id"), Column::text("file"), line, offset]
}

fn cells(document: &DocumentView) -> Cells {
    let DocumentView { id, cluster, first_load, load, file, line, offset, .. } = document;
    let cluster = cluster.map(|cluster| cluster.to_string());
    vec![cluster, cell(first_load), cell(load), cell(id), cell(file), cell(line), cell(offset)]
}
