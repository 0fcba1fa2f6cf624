//! `alike documents`: the documents of a collection.

use std::process::ExitCode;

use alike::collection::DocumentView;
use alike::error::Result;

use crate::cli::collections::ShowArgs;
use crate::session::collection::open;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let mut rows = DataRows::new(&mut lines, form, columns());
    let written = snapshot.documents(&mut |document| rows.row(&document, || cells(&document)));
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
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
