//! `alike lexicon`: in how many documents terms occur, counted, merged, compared and shown.

mod build;
mod compare;
mod description;
mod merge;
mod show;

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::lexicon::LexiconCommand;
use crate::cluster::job::DistributedJob;

pub(crate) fn run(command: &LexiconCommand, job: &DistributedJob) -> Result<ExitCode> {
    match command {
        LexiconCommand::Build(args) => build::build(args, job),
        LexiconCommand::Merge(args) => merge::merge_all(args),
        LexiconCommand::Compare(args) => compare::run(args),
        LexiconCommand::Show(args) => show::run(args),
    }
}
