//! What a command says of its outcome: lines for people on standard error, an object for programs on standard output.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use alike::error::Result;
use alike::printable::counted;
use alike::read::Rejected;

use crate::cli::common::{ReportArgs, TalkArgs};
use crate::terminal::escape::sanitize;
use crate::terminal::launched::on_terminal;
use crate::terminal::stderr::warn_program;
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

    /// Who only tells people.
    pub(crate) fn of_people(talk: &'a TalkArgs) -> Reporter<'a> {
        Reporter { talk, json: false }
    }

    /// A line for people. Nobody listening is no failure.
    pub(crate) fn line(&self, line: &str) {
        if !self.talk.quiet && !self.talk.json_progress {
            let _ = writeln!(io::stderr().lock(), "{}", sanitize(line));
        }
    }

    /// A warning: for people, or as a line of JSON where a program reads progress.
    pub(crate) fn warning(&self, what: &str) {
        match self.talk.json_progress {
            true => warn_program(what),
            false => self.line(&format!("warning: {what}")),
        }
    }

    /// A line that people are to know, and programs that read progress, too.
    fn tell(&self, line: &str) {
        match self.talk.json_progress {
            true => warn_program(line),
            false => self.line(line),
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

    /// The first refused record of each reason, and how many there are of it.
    pub(crate) fn refused(&self, rejected: &[Rejected]) {
        let mut reasons: Vec<(&Rejected, u64)> = Vec::new();
        let mut others = 0;
        for rejected in rejected {
            match reasons.iter().position(|(first, _)| first.reason == rejected.reason) {
                Some(at) => reasons[at].1 += rejected.records,
                None if reasons.len() < SHOWN => reasons.push((rejected, 0)),
                None => others += rejected.records,
            }
        }
        for (first, count) in reasons {
            let more = if count > 0 {
                format!(" ({} like it)", counted(count, "more record"))
            } else {
                String::new()
            };
            self.tell(&format!("refused: {first}{more}"));
        }
        if others > 0 {
            self.tell(&format!("refused: {} for other reasons", counted(others, "more record")));
        }
        let cut_off: BTreeSet<&str> =
            rejected.iter().filter(|rejected| rejected.ends_file()).map(|rejected| &*rejected.file).collect();
        if !cut_off.is_empty() {
            let files = counted(cut_off.len() as u64, "file");
            self.warning(&format!("{files} could not be read to the end; how much is missing is not known"));
        }
    }
}
