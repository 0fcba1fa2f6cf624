//! The program: parse, do one thing, and turn its outcome into messages and an exit code.

mod again;
mod changes;
mod check;
mod cli;
mod cli_again;
mod cli_collections;
mod cli_evaluate;
mod cli_filters;
mod cli_lexicon;
mod cli_processes;
mod cli_records;
mod cli_tune;
mod cli_values;
mod cluster;
mod clusters;
mod compact;
mod dedup;
mod delete;
mod display;
mod documents;
mod endpoint;
mod epochs;
mod escape;
mod evaluate;
mod explain;
mod export;
mod fsck;
mod group;
mod info;
mod interrupt;
mod launch;
mod launched;
mod lexicon;
mod load;
mod manual;
mod measured;
mod options;
mod own_lexicon;
mod pairs;
mod presets;
mod processes;
mod profile;
mod secret;
mod shown;
mod stats;
mod table;
mod target;
mod team;
mod tune;

use std::error::Error as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use alike::error::{Error, Result};
use clap::Parser;

use crate::cli::{Cli, Command};
use crate::escape::sanitize;
use crate::options::DedupOptions;
use crate::team::Team;

/// Something failed that neither other input nor other options would mend.
const FAILED: u8 = 1;
/// Wrong use or configuration.
const WRONG_USE: u8 = 2;
/// The input was refused.
const REFUSED: u8 = 3;
/// A collection or a lexicon cannot be used: damaged, being written to, of a later format, or none.
const UNUSABLE: u8 = 4;
/// Another process of the job was lost, or did not come.
const LOST: u8 = 5;
/// Ended by Ctrl-C: 128 and the number of the signal, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version arrive here too, as errors that use standard output. If nobody reads either stream
            // any more there is no one to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(WRONG_USE) } else { ExitCode::SUCCESS };
        }
    };
    let again = Cli::try_parse().ok().map(|cli| cli.command);
    let outcome = Team::new(&cli.command, again).and_then(|team| run(cli.command, &team));
    outcome.unwrap_or_else(|error| {
        // A message that cannot be shown must not hide the exit code.
        let _ = writeln!(io::stderr().lock(), "alike: error: {}", message(&error));
        ExitCode::from(exit_code(&error))
    })
}

/// Does what was asked for.
fn run(command: Command, team: &Team) -> Result<ExitCode> {
    match command {
        Command::Dedup(args) => DedupOptions::new(*args).and_then(|options| dedup::run(&options, team)),
        Command::Load(args) => load::run(&args, team),
        Command::Delete(args) => delete::run(&args, team),
        Command::Clusters(args) => clusters::run(&args),
        Command::Cluster(args) => cluster::run(&args, team),
        Command::Export(args) => export::run(&args),
        Command::Pairs(args) => pairs::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Documents(args) => documents::run(&args),
        Command::Changes(args) => changes::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Group(args) => group::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Presets { name } => presets::text(name.as_deref()).and_then(|text| print(text.as_bytes())),
        Command::Lexicon(command) => lexicon::run(&command, team),
        Command::Tune(command) => tune::run(&command),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compact(args) => compact::run(&args, team),
        Command::Fsck { at, json } => fsck::run(&at, json),
        Command::Launch(args) => launch::run(&args),
        Command::Completions { shell } => print(&manual::completions(shell)),
        Command::Man => manual::page().map_err(stdout_error).and_then(|page| print(&page)),
    }
}

/// Tells what is doubtful. Nobody listening is no failure.
fn warn(line: &str) {
    let _ = writeln!(io::stderr().lock(), "alike: warning: {}", sanitize(line));
}

/// Writes data to standard output. A reader that has seen enough, such as `head`, is a success.
fn print(bytes: &[u8]) -> Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(stdout_error(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn stdout_error(source: io::Error) -> Error {
    Error::io(Path::new("standard output"), "write", source)
}

/// The error and its causes, safe to show. A cause that the error has quoted already is not told again.
fn message(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = error.source();
    }
    // Line by line: the breaks are ours (a located TOML message has several), what stands between may be the user's.
    text.lines().map(sanitize).collect::<Vec<_>>().join("\n")
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Config(_) | Error::OutputExists(_) | Error::Elsewhere { .. } => WRONG_USE,
        Error::Input { .. } | Error::Refused { .. } | Error::Limit(_) => REFUSED,
        Error::Damaged { .. }
        | Error::Locked(_)
        | Error::Unfinished { .. }
        | Error::NewerFormat { .. }
        | Error::Forked { .. }
        | Error::NotACollection(..)
        | Error::LexiconDamaged { .. }
        | Error::LexiconUnfit { .. } => UNUSABLE,
        Error::Interrupted | Error::Paused { .. } => INTERRUPTED,
        Error::Join { refused: true, .. } => WRONG_USE,
        Error::Join { refused: false, .. } | Error::Lost { .. } => LOST,
        Error::GaveUp { code, .. } => *code,
        _ => FAILED,
    }
}

#[cfg(test)]
mod cluster_lines_tests;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_kind_of_failure_has_its_code() {
        let path = Path::new("x");
        let refused = Error::Refused { rejected: 1, records: 2, reason: String::new(), first: String::new() };
        for (error, code) in [
            (Error::config("x"), 2),
            (Error::OutputExists(PathBuf::from("x")), 2),
            (Error::input(path, "x"), 3),
            (refused, 3),
            (Error::Limit("x".into()), 3),
            (Error::damaged(path, 1, "x"), 4),
            (Error::Locked(PathBuf::from("x")), 4),
            (Error::NewerFormat { path: PathBuf::from("x"), found: 2, known: 1 }, 4),
            (Error::NotACollection(PathBuf::from("x"), "x".into()), 4),
            (Error::lexicon_damaged(path, 1, "x"), 4),
            (Error::lexicon_unfit(path, "x"), 4),
            (Error::Interrupted, 130),
            (Error::Paused { path: PathBuf::from("x"), records: 1 }, 130),
            (Error::Changed(PathBuf::from("x")), 1),
            (Error::io(path, "read", io::Error::other("x")), 1),
            (Error::Worker("x".into()), 1),
            (Error::Join { refused: true, what: "x".into() }, 2),
            (Error::Join { refused: false, what: "x".into() }, 5),
            (Error::Lost { process: 1, address: "a:1".into(), what: "x".into() }, 5),
            (Error::GaveUp { process: 1, address: "a:1".into(), code: 3, why: "x".into() }, 3),
        ] {
            assert_eq!(exit_code(&error), code, "{error}");
        }
    }

    #[test]
    fn a_cause_is_told_once_and_nothing_reaches_the_terminal_raw() {
        let error = Error::io(Path::new("a\u{1b}[2Jb"), "read", io::Error::other("disk on fire"));
        assert_eq!(message(&error), "a\\u{1b}[2Jb: cannot read: disk on fire");
        assert_eq!(message(&Error::config("one\n  two\u{202e}")), "one\n  two\\u{202e}");
    }
}
