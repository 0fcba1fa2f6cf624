//! `alike clusters`: the clusters of a collection, the largest first.

use std::cmp::Reverse;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::ClusterView;
use alike::error::{Error, Result};
use alike::progress::Progress;
use serde::Serialize;
use serde_json::Value;

use super::member_fields::MemberFields;
use crate::cli::collections::ClustersArgs;
use crate::cli::values::DataForm;
use crate::session::collection::open;
use crate::terminal::data::rows::{Cells, Column, DataRows, cell};
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stdout::OutputLines;

/// Members named in a line of the table.
const NAMED: usize = 4;

pub(crate) fn run(args: &ClustersArgs) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let snapshot = open(&args.at)?;
    let mut clusters = Vec::new();
    snapshot.clusters(&mut |cluster| {
        progress.check()?;
        clusters.extend(is_asked(args, &cluster).then_some(cluster));
        Ok(())
    })?;
    if let Some(number) = args.cluster.as_ref().filter(|_| clusters.is_empty()) {
        return Err(Error::config(format!(
            "--cluster {number}: there is no such cluster now; alike clusters lists them"
        )));
    }
    clusters.sort_unstable_by_key(|cluster| (Reverse(cluster.size), cluster.cluster));
    clusters.truncate(args.top.unwrap_or(usize::MAX));
    let fields = match args.fields.is_empty() {
        true => MemberFields::default(),
        false => {
            let ids: Vec<String> = clusters.iter().flat_map(|cluster| &cluster.members).cloned().collect();
            MemberFields::read(&args.fields, &snapshot, &ids, &progress)?
        }
    };
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let people = form == DataForm::Table;
    let whole = people && args.fields.is_empty();
    let mut rows = DataRows::new(&mut lines, form, cluster_columns(whole, fields.names()));
    let written = clusters.iter().try_for_each(|cluster| match args.fields.is_empty() {
        true => rows.rows(cluster, || cells(cluster, whole)),
        false => rows.rows(&WithFields::new(cluster, &fields), || cells_with(cluster, &fields, people)),
    });
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

/// Whether a cluster is one of those that were asked for.
fn is_asked(args: &ClustersArgs, cluster: &ClusterView) -> bool {
    let numbered = |number: &String| cluster.cluster.to_string() == *number;
    args.cluster.as_ref().is_none_or(numbered) && args.min_size.is_none_or(|least| cluster.size >= least)
}

/// A cluster with fields of its members.
#[derive(Serialize)]
struct WithFields<'a> {
    #[serde(flatten)]
    cluster: &'a ClusterView,
    records: Vec<Value>,
}

impl<'a> WithFields<'a> {
    fn new(cluster: &'a ClusterView, fields: &MemberFields) -> WithFields<'a> {
        WithFields { cluster, records: cluster.members.iter().map(|id| fields.object(id)).collect() }
    }
}

/// A row a member, with its fields.
fn cells_with(cluster: &ClusterView, fields: &MemberFields, people: bool) -> Vec<Cells> {
    let rows = cells(cluster, false).into_iter().zip(&cluster.members);
    rows.map(|(row, id)| row.into_iter().chain(fields.cells(id, people)).collect()).collect()
}

fn cells(row: &ClusterView, people: bool) -> Vec<Cells> {
    let ClusterView { cluster, size, representative, members } = row;
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    cluster_cells((&cluster.to_string(), *size, representative), &members, people)
}

/// Columns of clusters: a row a cluster for people who look at no fields, else a row a member.
pub(super) fn cluster_columns(whole: bool, fields: &[String]) -> Vec<Column> {
    let last = Column::text(if whole { "members" } else { "member" });
    let cluster = [Column::text("cluster"), Column::number("size"), Column::text("representative"), last];
    cluster.into_iter().chain(fields.iter().map(|field| Column::text(field.clone()))).collect()
}

/// The rows of a cluster in these columns.
pub(super) fn cluster_cells(
    (cluster, size, representative): (&str, u64, &str),
    members: &[&str],
    whole: bool,
) -> Vec<Cells> {
    let row = |last: &str| vec![cell(cluster), cell(size), cell(representative), cell(last)];
    if !whole {
        return members.iter().map(|member| row(member)).collect();
    }
    let more = if members.len() > NAMED { ", ..." } else { "" };
    vec![row(&format!("{}{more}", members[..members.len().min(NAMED)].join(", ")))]
}

#[cfg(test)]
mod tests {
    use alike::collection::ClusterId;

    use super::*;

    #[test]
    fn a_row_names_the_first_members() {
        let of = |count: usize, whole| {
            let members: Vec<String> = (0..count).map(|n| format!("m{n}")).collect();
            let (cluster, representative) = (ClusterId::new(3, 12), "m1".to_owned());
            let rows = cells(&ClusterView { cluster, size: count as u64, representative, members }, whole);
            let row =
                |row: Cells| row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join(" ");
            rows.into_iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(of(4, true), ["3.12 4 m1 m0, m1, m2, m3"]);
        assert_eq!(of(5, true), ["3.12 5 m1 m0, m1, m2, m3, ..."]);
        assert_eq!(of(2, false), ["3.12 2 m1 m0", "3.12 2 m1 m1"]);
    }
}
