//! What was measured, as tables for people.

use std::fmt::Write as _;

use alike::evaluate::{Estimate, Form, REPLICATES, ScoreMeasures, SizeScores, size_name};
use alike::printable::counted;

use super::report::{Evaluation, EvaluationRow, MethodScores, RunResult};
use crate::terminal::data::table::TextTable;

/// Most characters of a name.
const NAME: usize = 24;

/// For a terminal.
pub(super) fn table(evaluation: &Evaluation, by_size: bool) -> String {
    let tables: Vec<String> = tables(evaluation, by_size).iter().map(TextTable::text).collect();
    let notes: String = notes(evaluation).iter().map(|note| format!("{note}\n")).collect();
    format!("{}\n{notes}", tables.join("\n"))
}

/// For a document.
pub(super) fn markdown(evaluation: &Evaluation, by_size: bool) -> String {
    let tables: Vec<String> = tables(evaluation, by_size).iter().map(TextTable::markdown).collect();
    let notes: String = notes(evaluation).iter().map(|note| format!("- {note}\n")).collect();
    format!("{}\n{notes}", tables.join("\n"))
}

fn tables(evaluation: &Evaluation, by_size: bool) -> Vec<TextTable> {
    let rows = &evaluation.rows;
    let mut tables = vec![accuracy(rows), cost(rows)];
    if by_size {
        tables.push(lengths(rows));
    }
    tables
}

fn name(row: &EvaluationRow) -> String {
    let extra = row.name.chars().count().saturating_sub(NAME);
    match extra {
        0 => row.name.clone(),
        // The end of a path says more than its beginning.
        _ => format!("...{}", row.name.chars().skip(extra + 3).collect::<String>()),
    }
}

/// A line for each method that ran, and one of nothing for the others.
fn lines(
    rows: &[EvaluationRow],
    columns: usize,
    cells: impl Fn(&MethodScores, &EvaluationRow) -> Vec<String>,
) -> Vec<Vec<String>> {
    let line = |row: &EvaluationRow| {
        let cells = match &row.result {
            RunResult::Ran(measured) => cells(measured, row),
            RunResult::Failed(_) => vec!["-".to_owned(); columns - 1],
        };
        [name(row)].into_iter().chain(cells).collect()
    };
    rows.iter().map(line).collect()
}

fn accuracy(rows: &[EvaluationRow]) -> TextTable {
    let heading = vec!["METHOD", "PRECISION", "RECALL", "F1", "RAND", "EXACT SETS", "B-CUBED", "REMOVED"];
    let cells = |measured: &MethodScores, _: &EvaluationRow| measures(&measured.scores.all, true);
    TextTable { rows: lines(rows, heading.len(), cells), heading }
}

/// The measures of some documents, the first two with their intervals if there is room.
fn measures(measures: &ScoreMeasures, intervals: bool) -> Vec<String> {
    let of = |estimate: Option<Estimate>| short(estimate.map(|estimate| estimate.value));
    let wide = |estimate: Option<Estimate>| match estimate.and_then(|estimate| estimate.interval) {
        Some([low, high]) if intervals => format!("{} ({low:.3}-{high:.3})", of(estimate)),
        _ => of(estimate),
    };
    vec![
        wide(measures.shares.precision),
        wide(measures.shares.recall),
        of(measures.shares.f1),
        of(measures.rand),
        of(measures.exact),
        of(measures.bcubed.and_then(|bcubed| bcubed.f1)),
        measures.removed.to_string(),
    ]
}

/// A share; none is a dash, and only what is all is printed as 1.
fn short(share: Option<f64>) -> String {
    let text = |share: f64| match format!("{share:.4}") {
        rounded if rounded == "1.0000" && share < 1.0 => ">0.9999".to_owned(),
        rounded => rounded,
    };
    share.map_or_else(|| "-".to_owned(), text)
}

fn cost(rows: &[EvaluationRow]) -> TextTable {
    let heading =
        vec!["METHOD", "TRUTH", "FOUND", "EXPECTED", "BOTH", "SECONDS", "MB/S", "X JOIN", "KEYS B/DOC"];
    let cells = |measured: &MethodScores, row: &EvaluationRow| {
        let all = &measured.scores.all;
        vec![
            row.truth_threshold.map_or_else(|| "labels".to_owned(), |threshold| format!("join {threshold}")),
            all.found.to_string(),
            all.truth.to_string(),
            all.both.to_string(),
            format!("{:.2}", measured.seconds),
            format!("{:.1}", measured.megabytes_per_second),
            measured.speed_to_join.map_or_else(|| "-".to_owned(), |speed| format!("{speed:.2}")),
            format!("{:.0}", measured.key_bytes_per_document),
        ]
    };
    TextTable { rows: lines(rows, heading.len(), cells), heading }
}

fn lengths(rows: &[EvaluationRow]) -> TextTable {
    let heading = vec![
        "METHOD",
        "WORDS",
        "DOCUMENTS",
        "EXPECTED",
        "PRECISION",
        "RECALL",
        "F1",
        "RAND",
        "EXACT SETS",
        "B-CUBED",
        "REMOVED",
    ];
    let of_row = |row: &EvaluationRow| -> Vec<Vec<String>> {
        let RunResult::Ran(measured) = &row.result else { return Vec::new() };
        let line = |scores: &SizeScores| {
            let group = alike::evaluate::group_of(scores.words_from);
            let counts = [scores.measures.documents, scores.measures.truth].map(|count| count.to_string());
            [name(row), size_name(usize::from(group))]
                .into_iter()
                .chain(counts)
                .chain(measures(&scores.measures, false))
                .collect()
        };
        measured.scores.by_size.iter().map(line).collect()
    };
    TextTable { rows: rows.iter().flat_map(of_row).collect(), heading }
}

/// What has to be known to read the tables.
fn notes(evaluation: &Evaluation) -> Vec<String> {
    let Evaluation { documents, text_bytes, refused, pairs_of, .. } = evaluation;
    let megabytes = *text_bytes as f64 / 1e6;
    let mut line = format!("{}, {megabytes:.1} MB of text", counted(*documents as u64, "document"));
    if refused.count > 0 {
        let _ = write!(line, "; {} refused: {}", counted(refused.count, "record"), refused.shown());
    }
    let mut notes = vec![line];
    match &evaluation.labels {
        Some(labels) => notes.extend(labels.notes()),
        None => notes.push(
            "the truth is the exact join with the tokens, shingles and clustering of each method, at the threshold named"
                .into(),
        ),
    }
    let marks = evaluation.labels.as_ref().is_some_and(|labels| labels.form == Form::Marks);
    notes.push(match (marks, *pairs_of) {
        (true, _) => "precision and recall are those of removed documents".into(),
        (false, "links") => "pairs are those that each method has accepted".to_owned(),
        (false, _) => "pairs are all pairs of documents of a cluster".to_owned(),
    });
    notes.push(format!(
        "95 % intervals from {REPLICATES} draws of whole families of duplicates, or Wilson's over families"
    ));
    for row in &evaluation.rows {
        if let RunResult::Failed(reason) = &row.result {
            notes.push(format!("{} could not be run: {}", row.name, reason.replace('\n', " ")));
        }
    }
    notes
}
