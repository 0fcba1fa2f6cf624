//! `alike group`: a ranked list of ids with near-duplicates folded under the first of their kind.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::Group;
use alike::error::Result;
use alike::limits::MAX_LISTED_ID;
use alike::printable::counted;
use alike::progress::Progress;

use crate::cli::collections::GroupArgs;
use crate::cli::values::DataForm;
use crate::session::collection::open;
use crate::session::inputs::each_listed_id;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::escape::sanitize;
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stdout::OutputLines;

/// Unknown ids that are named.
const NAMED: usize = 10;

pub(crate) fn run(args: &GroupArgs) -> Result<ExitCode> {
    // Before Ctrl-C is caught: standard input may be silent for ever.
    let ids = ids(&args.file)?;
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let groups = open(&args.at)?.group(&ids, &progress)?;
    let unknown: Vec<&str> =
        groups.iter().filter(|group| !group.known).map(|group| group.id.as_str()).collect();
    let mut lines = OutputLines::new();
    let written = match args.print.form(DataForm::Table) {
        DataForm::Table => groups.iter().try_for_each(|group| {
            lines.plain(&group.id)?;
            group.fellows.iter().try_for_each(|fellow| lines.plain(&format!("  {fellow}")))
        }),
        form => {
            let columns = ["lead", "id", "cluster", "known"].map(Column::text).into();
            let mut rows = DataRows::new(&mut lines, form, columns);
            let written = groups.iter().try_for_each(|group| rows.rows(group, || cells(group)));
            written.and_then(|()| rows.finish())
        }
    };
    let code = lines.finish(written)?;
    if let Some(told) = told(&unknown) {
        // Nobody listening is no failure.
        let _ = writeln!(io::stderr().lock(), "{}", sanitize(&told));
    }
    Ok(code)
}

/// A row for each id of a group.
fn cells(group: &Group) -> Vec<Cells> {
    let Group { id: lead, cluster, known, fellows } = group;
    let ids = std::iter::once(lead).chain(fellows);
    ids.map(|id| vec![cell(lead), cell(id), cluster.map(|cluster| cluster.to_string()), cell(known)])
        .collect()
}

/// What is said of ids that the collection does not have.
fn told(unknown: &[&str]) -> Option<String> {
    let named = unknown.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if unknown.len() > NAMED { ", ..." } else { "" };
    let count = unknown.len() as u64;
    let verb = if count == 1 { "does" } else { "do" };
    (count > 0).then(|| format!("{} {verb} not exist in the collection: {named}{more}", counted(count, "id")))
}

/// The ids of a list, one a line.
fn ids(list: &Path) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    each_listed_id(list, MAX_LISTED_ID, "alike group COLLECTION", &mut |id| {
        ids.push(id.to_owned());
        Ok(())
    })?;
    Ok(ids)
}
