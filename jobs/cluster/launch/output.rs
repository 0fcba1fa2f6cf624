//! What is shown of all processes: their lines with the index in front, one progress, and the data of process 0.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use alike::progress::EpochDone;
use serde_json::Value;

use crate::cli::common::TalkArgs;
use crate::terminal::display::{Mode, Show};
use crate::terminal::epochs;
use crate::terminal::escape::{json_escaped, sanitize};
use crate::terminal::stdout::colours;

use super::child::Event;
use super::ends::ProcessEnd;
use super::errors::LaunchErrors;
use super::merged::Merged;
use super::watch::LaunchObserver;

/// Colours of the indices, one after the other: none that is hard to read on black or on white.
const COLOURS: [u8; 5] = [36, 35, 32, 33, 34];

/// Standard error and standard output of the launcher.
pub(crate) struct LauncherOutput {
    show: Show,
    merged: Merged,
    errors: LaunchErrors,
    colours: bool,
    quiet: bool,
    /// Whether process 0 tells its results as JSON on standard error.
    json: bool,
    /// Why standard output takes no more.
    broken: Option<io::Error>,
}

impl LauncherOutput {
    /// The output of so many processes.
    pub(crate) fn new(processes: usize, talk: &TalkArgs) -> LauncherOutput {
        LauncherOutput {
            show: Show::new(Mode::choose(talk.quiet, talk.json_progress)),
            merged: Merged::new(processes),
            errors: LaunchErrors::default(),
            colours: colours(io::stderr().is_terminal()),
            quiet: talk.quiet,
            json: talk.json_progress,
            broken: None,
        }
    }

    /// Shows the last state; and why not all could be written that process 0 wrote, if so.
    pub(crate) fn finish(mut self) -> Option<io::Error> {
        self.show.finish();
        self.errors(true);
        self.broken
    }

    /// Shows errors that have waited for process 0 to say the same; all of them at the end.
    fn errors(&mut self, is_end: bool) {
        for (process, line) in self.errors.due(is_end) {
            self.line(prefixed(process, &line, self.colours));
        }
    }

    /// A line above what is drawn. Nobody listening is no failure.
    fn line(&mut self, line: impl Display) {
        self.show.aside(&mut || {
            let _ = writeln!(io::stderr().lock(), "{line}");
        });
    }

    /// What an epoch came to in a process.
    fn epoch(&mut self, process: usize, done: &EpochDone) {
        match epochs::line(done) {
            // The process has its number in it.
            _ if self.json => self.line(json_escaped(&epochs::json(done))),
            Some(line) if !self.quiet => self.line(prefixed(process, &line, self.colours)),
            _ => {}
        }
    }

    /// What process 0 has written, to a terminal.
    fn data(&mut self, bytes: &[u8]) {
        let mut written = Ok(());
        self.show.aside(&mut || {
            let mut stdout = io::stdout().lock();
            written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        });
        self.broken = self.broken.take().or(written.err());
    }
}

impl LaunchObserver for LauncherOutput {
    fn receive(&mut self, event: Event) {
        match event {
            Event::Data(bytes) => self.data(&bytes),
            Event::Broken(error) => self.broken = Some(error),
            Event::Drained => {}
            Event::Line(process, line) if self.merged.take(process, &line) => {}
            Event::Line(process, line) => {
                let text = String::from_utf8_lossy(&line);
                if let Some(done) = epochs::parse(&line) {
                    return self.epoch(process, &done);
                }
                let object = self.json.then(|| serde_json::from_slice::<Value>(&line).ok()).flatten();
                let object = object.filter(Value::is_object);
                if object.as_ref().is_some_and(|object| object["event"].is_string()) {
                    // It says which process it is of.
                    self.line(json_escaped(&text));
                } else if object.is_some() && process == 0 {
                    // Whoever reads them relies on their being the last line.
                    self.show.finish();
                    self.line(sanitize(&text));
                } else if !self.errors.take(process, &text) {
                    self.line(prefixed(process, &text, self.colours));
                }
            }
        }
    }

    fn ended(&mut self, process: usize, _end: ProcessEnd) {
        self.merged.ended(process);
    }

    fn note(&mut self, line: &str) {
        self.line(format_args!("alike: launch: {line}"));
    }

    fn tick(&mut self) {
        self.errors(false);
        if let Some(now) = self.merged.now().filter(|_| !self.quiet) {
            self.show.see(now);
        }
    }
}

/// A line of a process that cannot act on a terminal; only the colour of its index does.
fn prefixed(process: usize, text: &str, colours: bool) -> String {
    let text = sanitize(text);
    match colours {
        true => format!("\x1b[{}m[{process}]\x1b[0m {text}", COLOURS[process % COLOURS.len()]),
        false => format!("[{process}] {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_stands_in_front_and_nothing_else_acts() {
        assert_eq!(prefixed(12, "a\u{1b}[2Jb", false), "[12] a\\u{1b}[2Jb");
        assert_eq!(prefixed(1, "a\tb", true), "\x1b[35m[1]\x1b[0m a\\tb");
    }
}
