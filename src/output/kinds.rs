//! How many duplicates there are of each kind, and how far they are from their representatives (Conrad, Guo and Schriber
//! 2003, table 2; Wang and Gemmell 2005, figures 2 and 4).

use serde::Serialize;

use super::figures::{count, counted, percent};
use crate::flow::{Findings, Related};
use crate::similarity::{Kind, Relation};

/// The duplicates of a run by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KindTable {
    /// A row for each kind, in order.
    pub kinds: Vec<KindRow>,
    /// Mean over all removed documents of the word edit distance to the representative, as a share of the words of the
    /// longer text, 0 to 1.
    pub mean_edit_share: f64,
    /// The largest such share.
    pub largest_edit_share: f64,
    /// Removed documents, more than half of whose words were edited: a share above 0.5.
    pub mostly_edited: u64,
    /// Removed documents whose distance was not measured to the end; they count with the least that it can be.
    pub not_measured: u64,
}

/// The duplicates of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KindRow {
    /// The kind.
    pub kind: Kind,
    /// Sets of this kind, that is clusters that lose documents: the kind of most of these, of several equally many the one that stands
    /// first in the table.
    pub sets: u64,
    /// Documents in these sets, those that are kept among them.
    pub documents: u64,
    /// Removed documents that are themselves of this kind, whatever the set they are in.
    pub removed: u64,
    /// Mean share of edited words of these removed documents; 0 if there are none.
    pub mean_edit_share: f64,
}

/// Shares are added up in these parts of one, so that their sum does not depend on an order.
const PARTS: u128 = 1_000_000_000_000;

impl KindTable {
    /// The table of what a run found.
    pub fn new(findings: &Findings, related: &Related) -> KindTable {
        let mut of_clusters = vec![[0u64; Kind::ALL.len()]; findings.clusters.len()];
        let (mut parts, mut removed) = ([0u128; Kind::ALL.len()], [0u64; Kind::ALL.len()]);
        let mut table = KindTable::default();
        let mut largest = 0;
        for row in &findings.removed {
            let relation = related.removed(row);
            let kind = relation.kind as usize;
            let share = share(&relation);
            of_clusters[row.cluster][kind] += 1;
            removed[kind] += 1;
            parts[kind] += share;
            largest = largest.max(share);
            table.mostly_edited += u64::from(2 * share > PARTS);
            table.not_measured += u64::from(relation.edits.is_none());
        }
        let row = |kind: Kind| KindRow {
            kind,
            sets: 0,
            documents: 0,
            removed: removed[kind as usize],
            mean_edit_share: mean(parts[kind as usize], removed[kind as usize]),
        };
        table.kinds = Kind::ALL.map(row).to_vec();
        for (cluster, removed) in findings.clusters.iter().zip(&of_clusters) {
            if removed.iter().all(|count| *count == 0) {
                continue;
            }
            let row = &mut table.kinds[most(removed)];
            row.sets += 1;
            row.documents += cluster.members.len() as u64;
        }
        table.mean_edit_share = mean(parts.iter().sum(), removed.iter().sum());
        table.largest_edit_share = mean(largest, 1);
        table
    }
}

/// The share of edited words, in [`PARTS`].
fn share(relation: &Relation) -> u128 {
    u128::from(relation.least_edits()) * PARTS / u128::from(relation.words.max(1))
}

/// The mean of so many shares.
fn mean(parts: u128, of: u64) -> f64 {
    (parts / u128::from(of.max(1))) as f64 / PARTS as f64
}

/// The first of the greatest counts.
fn most(counts: &[u64]) -> usize {
    let greatest = counts.iter().max();
    counts.iter().position(|count| Some(count) == greatest).unwrap_or_default()
}

/// The kinds that there are, and how far duplicates are from what is kept in their place.
pub(super) fn shown(table: &KindTable, clusters: u64) -> Vec<(&'static str, String)> {
    let there: Vec<&KindRow> = table.kinds.iter().filter(|row| row.sets + row.removed > 0).collect();
    if there.is_empty() {
        return vec![("kinds", "no duplicates".to_owned())];
    }
    let documents = there.iter().map(|row| row.documents).sum::<u64>() as f64;
    let heads = ["", "sets", "", "documents", "", "removed", "edited"].map(str::to_owned);
    let mut lines = vec![heads];
    lines.extend(there.iter().map(|row| {
        [
            row.kind.to_string(),
            count(row.sets),
            percent(row.sets as f64, clusters as f64),
            count(row.documents),
            percent(row.documents as f64, documents),
            count(row.removed),
            percent(row.mean_edit_share, 1.0),
        ]
    }));
    let widths: [usize; 7] =
        std::array::from_fn(|at| lines.iter().map(|line| line[at].len()).max().unwrap_or(0));
    let line = |line: &[String; 7]| {
        let cells = line.iter().zip(widths).skip(1).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{:width$}{}", line[0], cells.collect::<String>(), width = widths[0])
    };
    let names = std::iter::once("kinds").chain(std::iter::repeat(""));
    let mut rows: Vec<_> = names.zip(lines.iter().map(line)).collect();
    let least = match table.not_measured {
        0 => String::new(),
        some => format!("; {} not measured to the end", count(some)),
    };
    let edits = format!(
        "{} of the words on average, {} at most, more than half in {}{least}",
        percent(table.mean_edit_share, 1.0),
        percent(table.largest_edit_share, 1.0),
        counted(table.mostly_edited, "document")
    );
    rows.push(("edits", edits));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_longer_text() {
        let relation = |edits, edits_above, words| Relation { kind: Kind::Focus, edits, edits_above, words };
        assert_eq!(share(&relation(Some(1), None, 4)), PARTS / 4);
        assert_eq!(share(&relation(None, Some(4), 10)), PARTS / 2);
        assert_eq!(share(&Relation::SAME), 0);
        assert_eq!((mean(PARTS, 4), mean(0, 0)), (0.25, 0.0));
    }

    #[test]
    fn of_equally_many_the_first_counts() {
        assert_eq!([most(&[0, 2, 2]), most(&[1, 0, 3]), most(&[0, 0])], [1, 2, 0]);
    }

    #[test]
    fn kinds_are_a_table() {
        let row = |kind, sets, documents, removed, mean_edit_share| KindRow {
            kind,
            sets,
            documents,
            removed,
            mean_edit_share,
        };
        let table = KindTable {
            kinds: vec![
                row(Kind::Exact, 600, 1_400, 800, 0.0),
                row(Kind::Insertion, 12, 446, 433, 0.031),
                row(Kind::Focus, 0, 0, 1, 0.6),
                row(Kind::Revision, 0, 0, 0, 0.0),
            ],
            mean_edit_share: 0.012,
            largest_edit_share: 0.6,
            mostly_edited: 1,
            not_measured: 0,
        };
        let heads = "           sets          documents          removed  edited";
        let expected = [
            ("kinds", heads),
            ("", "exact       600  98.0 %      1,400  75.8 %      800   0.0 %"),
            ("", "insertion    12   2.0 %        446  24.2 %      433   3.1 %"),
            ("", "focus         0   0.0 %          0   0.0 %        1  60.0 %"),
            ("edits", "1.2 % of the words on average, 60.0 % at most, more than half in 1 document"),
        ];
        assert_eq!(shown(&table, 612), expected.map(|(name, row)| (name, row.to_owned())));
        assert_eq!(shown(&KindTable::default(), 0), [("kinds", "no duplicates".to_owned())]);
    }
}
