//! Standard output: lines for a terminal or for a program.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use alike::error::{Error, Result};
use serde::Serialize;

use crate::cli::common::PrintArgs;
use crate::cli::values::{ColorArg, DataForm};
use crate::environment::environment;
use crate::terminal::escape::{json_escaped, sanitize};
use crate::terminal::launched;

/// Writes data to standard output. A reader that has seen enough, such as `head`, is a success.
pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(stdout_error(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What is wrong with standard output.
pub(crate) fn stdout_error(source: io::Error) -> Error {
    Error::io(Path::new("standard output"), "write", source)
}

/// How a piece of a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As everything else.
    Plain,
    /// Something that is gone: red.
    Gone,
    /// Something that is new: green.
    New,
}

/// What was said of colours: a program has one answer for all it prints.
static CHOSEN: OnceLock<ColorArg> = OnceLock::new();

/// Says once and for all what is coloured.
pub(crate) fn choose_colours(chosen: ColorArg) {
    // Only a second answer would be refused.
    let _ = CHOSEN.set(chosen);
}

/// Whether what is printed is coloured: what was said, else on a terminal whose user does not want none
/// (<https://no-color.org>).
pub(crate) fn colours(terminal: bool) -> bool {
    match CHOSEN.get().copied().unwrap_or_default() {
        ColorArg::Auto => terminal && environment("NO_COLOR").is_none(),
        ColorArg::Always => true,
        ColorArg::Never => false,
    }
}

/// Pieces as one line, a blank between them. What they say cannot act on a terminal; only the colours do.
pub(crate) fn coloured(pieces: &[(Style, String)], colours: bool) -> String {
    let piece = |(style, text): &(Style, String)| {
        let text = sanitize(text);
        match style {
            Style::Gone if colours => format!("\x1b[31m{text}\x1b[0m"),
            Style::New if colours => format!("\x1b[32m{text}\x1b[0m"),
            _ => text.into_owned(),
        }
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
}

/// A value as JSON.
pub(crate) fn json_of(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| stdout_error(e.into()))
}

/// Lines on standard output.
pub(crate) struct OutputLines {
    out: BufWriter<StdoutLock<'static>>,
    terminal: bool,
    /// Whether whoever reads has gone, as `head` does.
    gone: bool,
}

impl OutputLines {
    pub(crate) fn new() -> OutputLines {
        let terminal = launched::on_terminal();
        OutputLines { out: BufWriter::new(io::stdout().lock()), terminal, gone: false }
    }

    /// The form that was asked for, or else that for people on a terminal, and lines of JSON elsewhere.
    pub(crate) fn form(&self, print: PrintArgs) -> DataForm {
        print.form(if self.terminal { DataForm::Table } else { DataForm::Jsonl })
    }

    /// A line for people.
    pub(crate) fn text(&mut self, line: &str) -> Result<()> {
        let line = sanitize(line);
        let written = writeln!(self.out, "{line}");
        self.note(written)
    }

    /// Lines for people.
    pub(crate) fn texts(&mut self, lines: &str) -> Result<()> {
        lines.lines().try_for_each(|line| self.text(line))
    }

    /// A line of data: as it is where a program reads it.
    pub(crate) fn plain(&mut self, line: &str) -> Result<()> {
        if self.terminal {
            return self.text(line);
        }
        let written = writeln!(self.out, "{line}");
        self.note(written)
    }

    /// A line of pieces behind an indent, in colours on a terminal.
    pub(crate) fn styled(&mut self, indent: &str, pieces: &[(Style, String)]) -> Result<()> {
        let line = coloured(pieces, colours(self.terminal));
        let written = writeln!(self.out, "{indent}{line}");
        self.note(written)
    }

    /// Whether lines may be in colours.
    pub(crate) fn colours(&self) -> bool {
        colours(self.terminal)
    }

    /// A line that [`coloured`] made, or what it stands in: only its colours act on a terminal.
    pub(crate) fn shown(&mut self, line: &str) -> Result<()> {
        let written = writeln!(self.out, "{line}");
        self.note(written)
    }

    /// A line of JSON, given as its text.
    pub(crate) fn raw(&mut self, line: &str) -> Result<()> {
        let written = match self.terminal {
            true => writeln!(self.out, "{}", json_escaped(line)),
            false => writeln!(self.out, "{line}"),
        };
        self.note(written)
    }

    /// A value as a line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        self.raw(&json_of(value)?)
    }

    /// An error ends whoever is writing. A reader that has gone is recognised at the end.
    fn note(&mut self, written: io::Result<()>) -> Result<()> {
        self.gone |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written.map_err(stdout_error)
    }

    /// Writes what is left, after the `outcome` of writing the rest.
    pub(crate) fn finish(mut self, outcome: Result<()>) -> Result<ExitCode> {
        let outcome = outcome.and_then(|()| {
            let flushed = self.out.flush();
            self.note(flushed)
        });
        match outcome {
            Err(Error::Io { .. }) if self.gone => Ok(ExitCode::SUCCESS),
            outcome => outcome.map(|()| ExitCode::SUCCESS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_act() {
        let pieces = [(Style::Plain, "a\u{1b}[2J"), (Style::Gone, "b\n"), (Style::New, "c")];
        let pieces = pieces.map(|(style, text)| (style, text.to_owned()));
        assert_eq!(coloured(&pieces, false), "a\\u{1b}[2J b\\n c");
        assert_eq!(coloured(&pieces, true), "a\\u{1b}[2J \x1b[31mb\\n\x1b[0m \x1b[32mc\x1b[0m");
    }
}
