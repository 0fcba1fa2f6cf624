//! The report of a load or a deletion.

use std::path::Path;
use std::process::ExitCode;

use alike::collection::{Ignored, Report};
use alike::error::Result;
use alike::output::examples;
use alike::printable::{counted, printable};
use serde::Serialize;

use crate::session::inputs::warn_of_no_words;
use crate::terminal::reporter::Reporter;
use crate::terminal::stdout::stdout_error;

/// What protected documents came to in a load.
#[derive(Debug, Default)]
pub(crate) struct AgainstReport {
    /// Each set, in the order of the command line.
    pub(crate) sets: Vec<AgainstSet>,
    /// Keys that were ignored as common when records were held against them.
    pub(crate) ignored_keys: u64,
}

/// What a set of protected documents came to.
#[derive(Debug, Serialize)]
pub(crate) struct AgainstSet {
    /// Its name.
    pub(crate) set: String,
    /// Its documents with a token.
    pub(crate) documents: u64,
    /// Its records that were refused: they protect nothing.
    pub(crate) rejected: u64,
    /// Records that resemble one of them, and none of an earlier set.
    pub(crate) left_out: u64,
}

impl AgainstReport {
    /// Tells people of them.
    fn report(&self, reporter: &Reporter<'_>, left_out: u64, would_be: &str) {
        if self.sets.is_empty() {
            return;
        }
        let of = |set: &AgainstSet| {
            let documents = counted(set.documents, "document");
            let refused = match set.rejected {
                0 => String::new(),
                rejected => format!(", {rejected} refused"),
            };
            format!("{} by {} ({documents}{refused})", set.left_out, printable(&set.set))
        };
        let sets: Vec<String> = self.sets.iter().map(of).collect();
        reporter.line(&format!(
            "{} {would_be}left out, which resemble protected documents: {}",
            counted(left_out, "record"),
            sets.join(", ")
        ));
        if self.ignored_keys > 0 {
            reporter.line(&format!(
                "keys ignored when records were held against protected documents, because more texts have them than the \
                 cap allows: {}; what resembles one may have been loaded",
                self.ignored_keys
            ));
        }
    }
}

/// Unknown ids that are shown one by one.
const SHOWN: usize = 10;

/// The report of a load, or of what one would do; `skipped` is how many files of folders were passed over.
pub(crate) fn report_load(
    reporter: &Reporter<'_>,
    collection: &Path,
    report: &Report,
    (against, skipped): (&AgainstReport, u64),
    dry_run: bool,
) -> Result<ExitCode> {
    let Report { records, added, replaced, unchanged, removed, superseded, .. } = report;
    let would = if dry_run { "would be " } else { "" };
    reporter.line(&format!(
        "{}: {added} {would}added, {replaced} {would}replaced, {removed} {would}removed, \
         {unchanged} unchanged, {superseded} superseded by a later record of the same id",
        counted(*records, "record")
    ));
    if *superseded > *records / 2 && *superseded > 1 {
        reporter.warning(&format!(
            "{superseded} of {} have the id of a later one, which replaces them; is the id field right (--id-field)?",
            counted(*records, "record")
        ));
    }
    against.report(reporter, report.left_out, would);
    // Deletions have no texts.
    let upserts = added + replaced + unchanged;
    warn_of_no_words(reporter, if report.text_bytes == 0 { upserts } else { 0 }, upserts);
    if report.too_few_terms > 0 {
        reporter.line(&format!(
            "{} with too few terms for the method: compared with equal texts only{}",
            counted(report.too_few_terms, "record"),
            examples(&report.first_too_few_terms, report.too_few_terms)
        ));
    }
    if report.missing_date > 0 {
        reporter.line(&format!(
            "{} without a date that is understood: compared with each other only{}",
            counted(report.missing_date, "record"),
            examples(&report.first_missing_date, report.missing_date)
        ));
    }
    if report.missing_value > 0 {
        reporter.line(&format!(
            "{} without a number or a string in the field of the keep policy: of duplicates those that have one \
             are kept first",
            counted(report.missing_value, "record")
        ));
    }
    if report.missing_within > 0 {
        reporter.line(&format!(
            "{} without a number or a string in the field {}: compared with each other only",
            counted(report.missing_within, "record"),
            printable(&report.within_field)
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
    reporter.line(&format!(
        "{}: {state}; {}, {}, {} in the log of `alike changes`",
        collection.display(),
        counted(report.documents, "document"),
        counted(report.clusters, "cluster"),
        counted(report.changes, "line")
    ));
    let mut value = serde_json::to_value(report).map_err(|e| stdout_error(e.into()))?;
    value["dry_run"] = dry_run.into();
    if skipped > 0 {
        value["skipped_files"] = skipped.into();
    }
    if !against.sets.is_empty() {
        value["against"] = serde_json::to_value(&against.sets).map_err(|e| stdout_error(e.into()))?;
        value["against_ignored_keys"] = against.ignored_keys.into();
    }
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
    (!ids.is_empty()).then(|| {
        let count = ids.len() as u64;
        let verb = if count == 1 { "does" } else { "do" };
        format!("{} to delete {verb} not exist: {}{more}", counted(count, "id"), shown.join(", "))
    })
}
