//! `alike show`: the members of a cluster beside what stands for it.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{ClusterNumber, Comparison, Measures, WordDiff};
use alike::error::{Error, Result};
use alike::printable::counted;
use alike::progress::Progress;
use alike::report::{ClusterMembers, MemberAsked, MemberPage};

use crate::cli::collections::ShowClusterArgs;
use crate::cli::values::DataForm;
use crate::session::collection::open;
use crate::session::finished::{finished_run, questions};
use crate::terminal::data::object::print_rows;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::side_by_side::{columns, side_by_side};
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ShowClusterArgs) -> Result<ExitCode> {
    let asked = MemberAsked { limit: args.limit, member: args.member.as_deref() };
    let page = match finished_run(&args.at)? {
        Some(run) => {
            let number: u64 = args.cluster.parse().map_err(|_| {
                Error::config(format!(
                    "{}: expected the number of a cluster, as the list of clusters has it",
                    args.cluster
                ))
            })?;
            questions(&run, |questions| questions.cluster(number, asked))?
        }
        None => {
            let progress = Arc::new(Progress::default());
            stop_on_interrupt(Arc::clone(&progress))?;
            ClusterMembers::of_collection(&open(&args.at.collection())?, &args.cluster, asked, &progress)?
        }
    };
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let of_list = ("members", &["id", "file", "line", "text_bytes"][..], &["texts"][..]);
    let written = print_rows(&mut lines, form, &page, of_list, |lines| show(&page, lines));
    lines.finish(written)
}

/// Shows people a cluster: a table of the members, then what differs.
fn show(page: &ClusterMembers, lines: &mut OutputLines) -> Result<()> {
    let ClusterMembers { cluster, size, representative, members, not_shown } = page;
    lines.text(&format!(
        "cluster {cluster}: {}, of which {} is kept",
        counted(*size, "document"),
        representative.id
    ))?;
    let columns_of = ["id", "file"].map(Column::text).into_iter();
    let columns_of = columns_of.chain(["line", "bytes"].map(Column::number));
    let columns_of = columns_of.chain(["with the kept one", "reason"].map(Column::text)).collect();
    let mut rows = DataRows::new(lines, DataForm::Table, columns_of);
    // A collection removes nothing, so nothing is said of its other members.
    let is_output = matches!(cluster, ClusterNumber::Listed(_));
    let role = |member: &MemberPage| member.reason.clone().or(is_output.then(|| "kept".to_owned()));
    rows.row(representative, || cells(representative, None, cell("kept")))?;
    members
        .iter()
        .try_for_each(|member| rows.row(member, || cells(member, with_kept(member), role(member))))?;
    rows.finish()?;
    if *not_shown > 0 {
        lines.text(&format!("... and {not_shown} more: --limit N, or --member ID"))?;
    }
    members.iter().try_for_each(|member| difference(representative, member, lines))
}

/// What a member has in common with the kept one.
fn with_kept(member: &MemberPage) -> Option<String> {
    match (&member.measures, member.same_text) {
        (_, true) => cell("same text"),
        (Some(measures), false) => cell(shared(measures)),
        (None, false) => member.listed.and_then(|listed| cell(listed.to_string())),
    }
}

fn cells(member: &MemberPage, with: Option<String>, role: Option<String>) -> Cells {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let place = [member.file.clone(), number(member.line), number(member.text_bytes)];
    let row = [Some(member.id.to_string())].into_iter().chain(place);
    row.chain([with, role]).collect()
}

/// The figure that says how much a member has in common.
fn shared(measures: &Measures) -> String {
    match *measures {
        Measures { edit_similarity: Some(share), .. } => format!("{share:.4} unedited"),
        Measures { hamming_distance: Some(bits), .. } => format!("{} apart", counted(bits, "bit")),
        Measures { cosine: Some(cosine), .. } => format!("cosine {cosine:.4}"),
        Measures { resemblance: Some(resemblance), .. } => format!("{resemblance:.4}"),
        Measures { shared, .. } => format!("{} shared", counted(u64::from(shared), "feature")),
    }
}

/// What differs between what is kept and a member, beside each other.
fn difference(kept: &MemberPage, member: &MemberPage, lines: &mut OutputLines) -> Result<()> {
    lines.text("")?;
    lines.text(&format!("{} | {}", kept.id, member.id))?;
    match &member.texts {
        Some(Comparison::Words(diff)) if *diff == WordDiff::default() => lines.text("  the same words"),
        Some(Comparison::Words(diff)) => {
            let shown = side_by_side(diff, columns(), lines.colours());
            shown.iter().try_for_each(|line| lines.shown(line))
        }
        Some(Comparison::Missing { why }) => lines.text(&format!("  no words to show: {why}")),
        None => Ok(()),
    }
}
