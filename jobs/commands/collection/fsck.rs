//! `alike fsck`: what is damaged in a collection.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Finding, FsckReport, Snapshot, broken_files, fsck};
use alike::error::{Error, Result};
use alike::printable::counted;
use alike::progress::Progress;
use serde_json::json;

use crate::cli::common::PlaceArgs;
use crate::exit::UNUSABLE;
use crate::session::collection::reach;
use crate::terminal::escape::sanitize;
use crate::terminal::interrupt;
use crate::terminal::stdout::print;

/// Findings that are printed; a damaged table may have as many as it has rows.
const TOLD: usize = 1000;

pub(crate) fn run(at: &PlaceArgs, as_json: bool) -> Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    interrupt::stop_on_interrupt(Arc::clone(&progress))?;
    let storage = reach(at, None)?;
    let mut told: Vec<Finding> = Vec::new();
    let report = match Snapshot::open(&storage) {
        Ok(snapshot) => fsck(&snapshot, &progress, &mut |finding| {
            if told.len() < TOLD {
                told.push(finding);
            }
        })?,
        Err(error @ Error::Damaged { .. }) => {
            told = broken_files(&storage)?;
            if told.is_empty() {
                return Err(error);
            }
            FsckReport { findings: told.len() as u64, ..FsckReport::default() }
        }
        Err(error) => return Err(error),
    };
    let line = |finding: &Finding| match as_json {
        true => format!("{}\n", json!(finding)),
        false => {
            sanitize(&format!("{}: {}: {}", finding.place, finding.what, finding.key)).into_owned() + "\n"
        }
    };
    let mut text: String = told.iter().map(line).collect();
    text += &match as_json {
        true => format!("{}\n", json!(report)),
        false if !report.complete => {
            format!(
                "{}; what is not damaged could not be held against each other\n",
                counted(report.findings as u64, "finding")
            )
        }
        false => format!(
            "commit {}: {}, {}, {}, {}; {}\n",
            report.commit,
            counted(report.runs as u64, "run"),
            counted(report.documents, "document"),
            counted(report.contents, "content"),
            counted(report.clusters, "cluster"),
            counted(report.findings as u64, "finding")
        ),
    };
    let code = print(text.as_bytes())?;
    Ok(if report.findings > 0 { ExitCode::from(UNUSABLE) } else { code })
}
