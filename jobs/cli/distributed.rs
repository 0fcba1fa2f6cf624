//! What the commands that run as many processes have in common.

use std::path::PathBuf;

use super::Command;
use super::common::{PlaceArgs, TalkArgs};
use super::lexicon::LexiconCommand;
use super::processes::ProcessArgs;

impl Command {
    /// The collection of a command that runs as many processes.
    pub(crate) fn place(&self) -> Option<&PlaceArgs> {
        match self {
            Command::Load(args) => Some(&args.at),
            Command::Delete(args) => Some(&args.at),
            Command::Compact(args) => Some(&args.at),
            Command::Rollback(args) => Some(&args.at),
            Command::Recluster(args) => Some(&args.at.place),
            _ => None,
        }
    }

    /// Which of many processes this is, for the commands that run as many.
    pub(crate) fn processes(&self) -> Option<&ProcessArgs> {
        match self {
            Command::Dedup(args) => Some(&args.processes),
            Command::Passages(args) => Some(&args.work.processes),
            Command::Repetition(args) => Some(&args.work.processes),
            Command::Decontaminate(args) => Some(&args.work.processes),
            Command::Load(args) => Some(&args.change.processes),
            Command::Delete(args) => Some(&args.change.processes),
            Command::Compact(args) => Some(&args.processes),
            Command::Rollback(args) => Some(&args.processes),
            Command::Recluster(args) => Some(&args.processes),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(&args.processes),
            _ => None,
        }
    }

    /// The name of a command that runs as many processes, and what it writes to standard error.
    pub(crate) fn name_and_talk(&self) -> Option<(&'static str, &TalkArgs)> {
        match self {
            Command::Dedup(args) => Some(("dedup", &args.talk)),
            Command::Passages(args) => Some(("passages", &args.work.report.talk)),
            Command::Repetition(args) => Some(("repetition", &args.work.report.talk)),
            Command::Decontaminate(args) => Some(("decontaminate", &args.work.report.talk)),
            Command::Load(args) => Some(("load", &args.change.report.talk)),
            Command::Delete(args) => Some(("delete", &args.change.report.talk)),
            Command::Compact(args) => Some(("compact", &args.report.talk)),
            Command::Rollback(args) => Some(("rollback", &args.report.talk)),
            Command::Recluster(args) => Some(("recluster", &args.talk)),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(("lexicon build", &args.report.talk)),
            _ => None,
        }
    }

    /// Whether the commands that run as many processes read standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        let standard = |path: &PathBuf| path.as_os_str() == "-";
        match self {
            Command::Dedup(args) => {
                args.inputs.iter().chain(args.against.iter().map(|set| &set.path)).any(standard)
            }
            Command::Passages(args) => args.inputs.iter().any(standard),
            Command::Repetition(args) => args.inputs.iter().any(standard),
            Command::Decontaminate(args) => args.inputs.iter().any(standard),
            Command::Load(args) => {
                args.inputs.iter().chain(args.against.iter().map(|set| &set.path)).any(standard)
            }
            Command::Delete(args) => standard(&args.ids),
            Command::Lexicon(LexiconCommand::Build(args)) => args.inputs.iter().any(standard),
            _ => false,
        }
    }
}
