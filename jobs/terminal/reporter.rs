//! What a command says of its outcome: lines for people on standard error, an object for programs on standard output.

use std::io::{self, Write};
use std::process::ExitCode;

use alike::error::Result;
use alike::read::Rejected;

use crate::cli::common::{ReportArgs, TalkArgs};
use crate::terminal::escape::sanitize;
use crate::terminal::launched::on_terminal;
use crate::terminal::stdout::OutputLines;

/// Refused records that are shown one by one.
const SHOWN: usize = 10;

/// Who tells what came of it: people on standard error, programs on standard output.
pub(crate) struct Reporter<'a> {
    talk: &'a TalkArgs,
    json: bool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(args: &'a ReportArgs) -> Reporter<'a> {
        Reporter { talk: &args.talk, json: args.json }
    }

    /// A line for people. Nobody listening is no failure.
    pub(crate) fn line(&self, line: &str) {
        if !self.talk.quiet && !self.talk.json_progress {
            let _ = writeln!(io::stderr().lock(), "{}", sanitize(line));
        }
    }

    /// An object for programs.
    pub(crate) fn object(&self, value: &serde_json::Value) -> Result<ExitCode> {
        if !self.json && (self.talk.quiet || on_terminal()) {
            return Ok(ExitCode::SUCCESS);
        }
        let mut lines = OutputLines::new();
        let written = lines.json(value);
        lines.finish(written)
    }

    /// The first of the refused records.
    pub(crate) fn refused(&self, rejected: &[Rejected]) {
        for rejected in rejected.iter().take(SHOWN) {
            self.line(&format!("refused: {rejected}"));
        }
        if rejected.len() > SHOWN {
            self.line(&format!("refused: and {} more", rejected.len() - SHOWN));
        }
    }
}
