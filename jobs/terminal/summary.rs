//! The summary of a run on standard error.

use std::io::{self, Write};
use std::path::Path;

use alike::output::{Summary, render, warnings};

use crate::terminal::escape::sanitize;
use crate::terminal::stderr::warn_program;

/// Tells what a run did: a program or a person, if anybody is to be told.
pub(crate) fn print_summary(summary: &Summary, out: Option<&Path>, quiet: bool, json: bool) {
    if json {
        print_json(summary, out);
    } else if !quiet {
        print_text(summary, out);
    }
}

/// Tells a person. Nobody listening is no failure.
fn print_text(summary: &Summary, out: Option<&Path>) {
    let mut stderr = io::stderr().lock();
    for line in render(summary, out).lines() {
        let _ = writeln!(stderr, "{}", sanitize(line));
    }
}

/// Tells a program: whoever reads JSON lines gets nothing else, so the last one is the summary. Warnings come before it.
fn print_json(summary: &Summary, out: Option<&Path>) {
    warnings(summary, out).iter().for_each(|what| warn_program(what));
    if let Ok(line) = serde_json::to_string(&serde_json::json!({ "summary": summary })) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}
