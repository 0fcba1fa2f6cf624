//! The commands, each in a file of its own.

mod collection;
mod decontaminate;
mod dedup;
mod evaluate;
mod launch;
mod lexicon;
mod manual;
mod passages;
mod presets;
mod query;
mod repetition;
mod tune;

#[cfg(test)]
mod cluster_lines_tests;

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::Command;
use crate::cluster::job::DistributedJob;
use crate::terminal::stdout::print;

/// Does what was asked for.
pub(crate) fn run(command: Command, job: &DistributedJob) -> Result<ExitCode> {
    match command {
        Command::Dedup(args) => dedup::run(*args, job),
        Command::Decontaminate(args) => decontaminate::run(&args, job),
        Command::Load(args) => collection::load::run(&args, job),
        Command::Delete(args) => collection::delete::run(&args, job),
        Command::Clusters(args) => query::clusters::run(&args),
        Command::Recluster(args) => query::recluster::run(&args, job),
        Command::Export(args) => query::export::run(&args),
        Command::Report(args) => query::report::run(&args, job),
        Command::Pairs(args) => query::pairs::run(&args),
        Command::Serve(args) => collection::serve::run(&args),
        Command::Stats(args) => collection::stats::run(&args),
        Command::Documents(args) => query::documents::run(&args),
        Command::Changes(args) => query::changes::run(&args),
        Command::Log(args) => query::log::run(&args),
        Command::Explain(args) => query::explain::run(&args),
        Command::Show(args) => query::show::run(&args),
        Command::Check(args) => query::check::run(&args),
        Command::Group(args) => query::group::run(&args),
        Command::Info(args) => collection::info::run(&args),
        Command::Presets { name, print } => presets::run(name.as_deref(), print),
        Command::Passages(args) => passages::run(&args, job),
        Command::Repetition(args) => repetition::run(&args, job),
        Command::Lexicon(command) => lexicon::run(&command, job),
        Command::Tune(command) => tune::run(&command),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compact(args) => collection::compact::run(&args, job),
        Command::Copy(args) => collection::copy::run(&args),
        Command::Rollback(args) => collection::rollback::run(&args, job),
        Command::Fsck { at, print } => collection::fsck::run(&at, print),
        Command::Launch(args) => launch::run(&args),
        Command::Completions { shell } => print(&manual::completions(shell)),
        Command::Man(args) => manual::run(&args),
    }
}
