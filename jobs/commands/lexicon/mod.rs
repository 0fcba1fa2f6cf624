//! `alike lexicon`: in how many documents terms occur, counted, merged, compared and shown.

mod build;
mod compare;
mod description;
mod merge;
mod show;

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::lexicon::LexiconCommand;
use crate::cluster::job::Team;

pub(crate) fn run(command: &LexiconCommand, team: &Team) -> Result<ExitCode> {
    match command {
        LexiconCommand::Build(args) => build::build(args, team),
        LexiconCommand::Merge(args) => merge::merge_all(args),
        LexiconCommand::Compare(args) => compare::run(args),
        LexiconCommand::Show(args) => show::run(args),
    }
}
