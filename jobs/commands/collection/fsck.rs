//! `alike fsck`: what is damaged in a collection.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Finding, FsckReport, broken_files, fsck};
use alike::error::{Error, Result};
use alike::printable::counted;
use alike::progress::Progress;
use serde_json::json;

use crate::cli::common::{CommitArgs, PrintArgs};
use crate::cli::values::DataForm;
use crate::exit::UNUSABLE;
use crate::session::collection::{open, reach};
use crate::terminal::data::rows::{Column, DataRows, cell};
use crate::terminal::interrupt;
use crate::terminal::stdout::OutputLines;

/// Findings that are printed; a damaged table may have as many as it has rows.
const TOLD: usize = 1000;

pub(crate) fn run(at: &CommitArgs, print: PrintArgs) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    interrupt::stop_on_interrupt(Arc::clone(&progress))?;
    let mut told: Vec<Finding> = Vec::new();
    let report = match open(at) {
        Ok(snapshot) => fsck(&snapshot, &progress, &mut |finding| {
            if told.len() < TOLD {
                told.push(finding);
            }
        })?,
        Err(error @ Error::Damaged { .. }) => {
            // What there is is told of the last commit alone.
            told = match at.when.at {
                Some(_) => Vec::new(),
                None => broken_files(&reach(&at.place, None)?)?,
            };
            if told.is_empty() {
                return Err(error);
            }
            FsckReport { findings: told.len() as u64, ..FsckReport::default() }
        }
        Err(error) => return Err(error),
    };
    let mut lines = OutputLines::new();
    let written = match print.form(DataForm::Table) {
        DataForm::Table => tell(&told, &report).iter().try_for_each(|line| lines.text(line)),
        DataForm::Json => lines.json(&json!({ "findings": told, "report": report })),
        DataForm::Jsonl => {
            told.iter().try_for_each(|finding| lines.json(finding)).and_then(|()| lines.json(&report))
        }
        DataForm::Tsv => {
            let mut rows = DataRows::new(&mut lines, DataForm::Tsv, COLUMNS.map(Column::text).into());
            let row = |finding: &Finding| vec![cell(&finding.place), cell(&finding.what), cell(&finding.key)];
            let written = told.iter().try_for_each(|finding| rows.row(finding, || row(finding)));
            written.and_then(|()| rows.finish())
        }
    };
    let code = lines.finish(written)?;
    Ok(if report.findings > 0 { ExitCode::from(UNUSABLE) } else { code })
}

/// Columns of findings.
const COLUMNS: [&str; 3] = ["place", "what", "key"];

/// For people.
fn tell(told: &[Finding], report: &FsckReport) -> Vec<String> {
    let line = |Finding { place, what, key }: &Finding| format!("{place}: {what}: {key}");
    let findings = counted(report.findings, "finding");
    let last = match report.complete {
        false => format!("{findings}; what is not damaged could not be held against each other"),
        true => format!(
            "commit {}: {}, {}, {}, {}; {findings}",
            report.commit,
            counted(report.runs as u64, "run"),
            counted(report.documents, "document"),
            counted(report.contents, "content"),
            counted(report.clusters, "cluster"),
        ),
    };
    told.iter().map(line).chain([last]).collect()
}
