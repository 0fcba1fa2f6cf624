//! The report of a load or a deletion.

use std::path::Path;
use std::process::ExitCode;

use alike::collection::{Ignored, Report};
use alike::error::Result;
use alike::output::examples;

use crate::terminal::reporter::Reporter;
use crate::terminal::stdout::stdout_error;

/// Unknown ids that are shown one by one.
const SHOWN: usize = 10;

/// The report of a load, or of what one would do.
pub(crate) fn report_load(
    reporter: &Reporter<'_>,
    collection: &Path,
    report: &Report,
    dry_run: bool,
) -> Result<ExitCode> {
    let Report { records, added, replaced, unchanged, removed, superseded, .. } = report;
    let would = if dry_run { "would be " } else { "" };
    reporter.line(&format!(
        "{records} records: {added} {would}added, {replaced} {would}replaced, {removed} {would}removed, \
         {unchanged} unchanged, {superseded} superseded by a later record of their id"
    ));
    if report.poor > 0 {
        reporter.line(&format!(
            "{} records with too few terms for the method: compared with equal texts only{}",
            report.poor,
            examples(&report.first_poor, report.poor)
        ));
    }
    if report.undated > 0 {
        reporter.line(&format!(
            "{} records without a date that is understood: compared with each other only{}",
            report.undated,
            examples(&report.first_undated, report.undated)
        ));
    }
    let Ignored { times, postings, of_postings, .. } = report.common_keys;
    if times > 0 {
        reporter.line(&format!(
            "keys ignored because more texts have them than the cap allows: {times}, {:.1} % of all postings; what is \
             found may depend on the order of loads, and on how --memory and --epoch divide them; --json names the \
             most common keys",
            100.0 * postings as f64 / of_postings.max(1) as f64
        ));
    }
    if let Some(unknown) = unknown(&report.unknown) {
        reporter.line(&unknown);
    }
    let state = match report.commit {
        Some(commit) if dry_run => format!("nothing was written; there would be commit {commit}"),
        None if dry_run => "nothing was written; nothing would change".to_owned(),
        Some(commit) => format!("commit {commit}"),
        None => "nothing changed".to_owned(),
    };
    let (documents, clusters, changes) = (report.documents, report.clusters, report.changes);
    reporter.line(&format!(
        "{}: {state}; {documents} documents, {clusters} clusters, {changes} lines about clusters",
        collection.display()
    ));
    let mut value = serde_json::to_value(report).map_err(|e| stdout_error(e.into()))?;
    value["dry_run"] = dry_run.into();
    reporter.object(&capped(value))
}

/// Unknown ids that a report lists: a program that asked for more of them to be deleted has them itself.
const LISTED: usize = 1000;

/// A report that says how many unknown ids there are, and lists no more than [`LISTED`].
fn capped(mut report: serde_json::Value) -> serde_json::Value {
    let unknown = report.get_mut("unknown").and_then(serde_json::Value::as_array_mut);
    let count = unknown.map_or(0, |ids| {
        let count = ids.len();
        ids.truncate(LISTED);
        count
    });
    report["unknown_ids"] = count.into();
    report
}

/// What is said of ids that were to be deleted and are not there.
pub(crate) fn unknown(ids: &[String]) -> Option<String> {
    let shown: Vec<&str> = ids.iter().take(SHOWN).map(String::as_str).collect();
    let more = if ids.len() > SHOWN { ", ..." } else { "" };
    (!ids.is_empty())
        .then(|| format!("{} ids to delete are not there: {}{more}", ids.len(), shown.join(", ")))
}
