//! `alike stats`: the figures of a collection.

use std::fmt::Write;
use std::process::ExitCode;

use alike::collection::{Sizes, Stats, TableStats};
use alike::error::Result;
use alike::printable::counted;
use alike::progress::Progress;

use crate::cli::collections::ShowArgs;
use crate::session::collection::open;
use crate::terminal::data::object::print_object;
use crate::terminal::stdout::OutputLines;

/// Characters of the longest bar.
const BAR: u64 = 40;

pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    // Nothing is begun that would have to be ended in order: Ctrl-C just ends it.
    let stats = open(&args.at)?.stats(&Progress::default())?;
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let people = |lines: &mut OutputLines| lines.texts(&text(&stats));
    let written = print_object(&mut lines, form, &stats, people);
    lines.finish(written)
}

/// For people.
fn text(stats: &Stats) -> String {
    let Stats { documents, empty, contents, exact_copies, clusters, clustered, removed, .. } = stats;
    let mut text = format!(
        "commit {}; loads: {}; files: {}\n\
         {}: {}, {} of them, {empty} without a token\n\
         {} of {}; {removed} go if only representatives stay\n",
        stats.commit,
        stats.loads,
        stats.files,
        counted(*documents, "document"),
        counted(*contents, "distinct text"),
        counted(*exact_copies, "repeat"),
        counted(*clusters, "cluster"),
        counted(*clustered, "document"),
    );
    if !stats.sizes.is_empty() {
        let _ = writeln!(text, "\n{:>21}{:>10}{:>12}", "SIZE", "CLUSTERS", "DOCUMENTS");
        let most = stats.sizes.iter().map(|sizes| sizes.clusters).max().unwrap_or(1);
        stats.sizes.iter().for_each(|sizes| text += &bar(sizes, most));
        let _ = writeln!(text, "\n{:<12}{:>9}  REPRESENTATIVE", "LARGEST", "SIZE");
    }
    for large in &stats.largest {
        // Line by line what is shown is made safe, and an id may hold breaks.
        let name = large.representative.replace(['\n', '\r'], " ");
        let _ = writeln!(text, "{:<12}{:>9}  {name}", large.cluster.to_string(), large.size);
    }
    let _ = writeln!(text, "\n{} bytes in {}", stats.bytes, counted(stats.runs, "run"));
    let _ = writeln!(text, "{:<12}{:>6}{:>14}{:>16}", "TABLE", "RUNS", "ROWS", "BYTES");
    for TableStats { table, runs, rows, bytes } in &stats.tables {
        let _ = writeln!(text, "{table:<12}{runs:>6}{rows:>14}{bytes:>16}");
    }
    text
}

fn bar(sizes: &Sizes, most: u64) -> String {
    let Sizes { from, to, clusters, documents } = sizes;
    let bar = "#".repeat((clusters * BAR).div_ceil(most) as usize);
    format!("{:>21}{clusters:>10}{documents:>12}  {bar}\n", format!("{from} to {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_nothing() {
        let sizes = |clusters| Sizes { from: 2, to: 3, clusters, documents: clusters * 2 };
        let length = |clusters| bar(&sizes(clusters), 1000).matches('#').count();
        assert_eq!([length(1000), length(500), length(1)], [40, 20, 1]);
    }

    #[test]
    fn a_collection_of_nothing_has_no_table_of_sizes() {
        let text = text(&Stats::default());
        assert!(text.contains("0 documents") && !text.contains("SIZE"), "{text}");
    }
}
