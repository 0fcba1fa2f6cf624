//! `alike clusters`: the clusters of a collection, the largest first.

use std::cmp::Reverse;
use std::process::ExitCode;

use alike::collection::ClusterView;
use alike::error::{Error, Result};

use crate::cli::collections::ClustersArgs;
use crate::session::collection::open;
use crate::terminal::stdout::OutputLines;

/// Members named in a line of the table.
const NAMED: usize = 4;

pub(crate) fn run(args: &ClustersArgs) -> Result<ExitCode> {
    let snapshot = open(&args.at)?;
    let mut clusters = Vec::new();
    snapshot.clusters(&mut |cluster| {
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
    let mut lines = OutputLines::new();
    let written = if lines.for_people(args.json) {
        table(&mut lines, &clusters)
    } else {
        clusters.iter().try_for_each(|cluster| lines.json(cluster))
    };
    lines.finish(written)
}

/// Whether a cluster is one of those that were asked for.
fn is_asked(args: &ClustersArgs, cluster: &ClusterView) -> bool {
    let numbered = |number: &String| cluster.cluster.to_string() == *number;
    args.cluster.as_ref().is_none_or(numbered) && args.min_size.is_none_or(|least| cluster.size >= least)
}

fn table(lines: &mut OutputLines, clusters: &[ClusterView]) -> Result<()> {
    lines.text(&format!("{:<12}{:>8}  {:<24}  {}", "CLUSTER", "SIZE", "REPRESENTATIVE", "MEMBERS"))?;
    clusters.iter().try_for_each(|cluster| lines.text(&row(cluster)))
}

fn row(cluster: &ClusterView) -> String {
    let named: Vec<&str> = cluster.members.iter().take(NAMED).map(String::as_str).collect();
    let more = if cluster.members.len() > NAMED { ", ..." } else { "" };
    let number = cluster.cluster.to_string();
    let (size, representative) = (cluster.size, &cluster.representative);
    format!("{number:<12}{size:>8}  {representative:<24}  {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use alike::collection::ClusterId;

    use super::*;

    #[test]
    fn a_row_names_the_first_members() {
        let of = |count: usize| {
            let members: Vec<String> = (0..count).map(|n| format!("m{n}")).collect();
            let (cluster, representative) = (ClusterId::new(3, 12), "m1".to_owned());
            row(&ClusterView { cluster, size: count as u64, representative, members })
        };
        assert!(of(4).starts_with("3.12 ") && of(4).ends_with("  m0, m1, m2, m3"), "{}", of(4));
        assert!(of(5).contains(" 5  m1 ") && of(5).ends_with("m3, ..."), "{}", of(5));
    }
}
