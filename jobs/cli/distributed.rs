//! What the commands that run as many processes have in common.

use std::path::PathBuf;

use super::Command;
use super::common::{ChangeArgs, MachineArgs, PlaceArgs, TalkArgs};
use super::lexicon::LexiconCommand;
use super::processes::ProcessArgs;

/// What differs between the processes of a job.
type Common<'a> = (&'a mut ProcessArgs, Option<&'a mut MachineArgs>, &'a mut TalkArgs);

impl Command {
    /// Leaves what all processes of a job have in common.
    pub(crate) fn forget_machine(&mut self) {
        fn changing(change: &mut ChangeArgs) -> Common<'_> {
            (&mut change.processes, Some(&mut change.machine), &mut change.report.talk)
        }
        let (processes, machine, talk) = match self {
            Command::Dedup(args) => (&mut args.processes, Some(&mut args.machine), &mut args.talk),
            Command::Load(args) => changing(&mut args.change),
            Command::Delete(args) => changing(&mut args.change),
            Command::Compact(args) => (&mut args.processes, None, &mut args.report.talk),
            Command::Cluster(args) => (&mut args.processes, Some(&mut args.machine), &mut args.talk),
            Command::Lexicon(LexiconCommand::Build(args)) => {
                (&mut args.processes, Some(&mut args.machine), &mut args.report.talk)
            }
            _ => return,
        };
        (*processes, *talk) = Default::default();
        machine.into_iter().for_each(|machine| *machine = MachineArgs::default());
        // Whether each process keeps what it writes to itself is the same for all of them; where, need not be.
        let at = match self {
            Command::Load(args) => &mut args.at,
            Command::Delete(args) => &mut args.at,
            Command::Compact(args) => &mut args.at,
            Command::Cluster(args) => &mut args.at,
            _ => return,
        };
        at.local_state.iter_mut().for_each(|folder| *folder = PathBuf::new());
    }

    /// The collection of a command that runs as many processes.
    pub(crate) fn place(&self) -> Option<&PlaceArgs> {
        match self {
            Command::Load(args) => Some(&args.at),
            Command::Delete(args) => Some(&args.at),
            Command::Compact(args) => Some(&args.at),
            Command::Cluster(args) => Some(&args.at),
            _ => None,
        }
    }

    /// Which of many processes this is, for the commands that run as many.
    pub(crate) fn processes(&self) -> Option<&ProcessArgs> {
        match self {
            Command::Dedup(args) => Some(&args.processes),
            Command::Load(args) => Some(&args.change.processes),
            Command::Delete(args) => Some(&args.change.processes),
            Command::Compact(args) => Some(&args.processes),
            Command::Cluster(args) => Some(&args.processes),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(&args.processes),
            _ => None,
        }
    }

    /// The name of a command that runs as many processes, and what is told on standard error.
    pub(crate) fn told(&self) -> Option<(&'static str, &TalkArgs)> {
        match self {
            Command::Dedup(args) => Some(("dedup", &args.talk)),
            Command::Load(args) => Some(("load", &args.change.report.talk)),
            Command::Delete(args) => Some(("delete", &args.change.report.talk)),
            Command::Compact(args) => Some(("compact", &args.report.talk)),
            Command::Cluster(args) => Some(("cluster", &args.talk)),
            Command::Lexicon(LexiconCommand::Build(args)) => Some(("lexicon build", &args.report.talk)),
            _ => None,
        }
    }

    /// Whether the commands that run as many processes read standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        let standard = |path: &PathBuf| path.as_os_str() == "-";
        match self {
            Command::Dedup(args) => args.inputs.iter().any(standard),
            Command::Load(args) => args.inputs.iter().any(standard),
            Command::Delete(args) => standard(&args.ids),
            Command::Lexicon(LexiconCommand::Build(args)) => args.inputs.iter().any(standard),
            _ => false,
        }
    }
}
