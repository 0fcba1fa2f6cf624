//! `alike tune`: parameters chosen for what is wanted.

mod bench;
mod filter;
mod sample;
mod sampling;
mod suggestion;
mod threshold;
mod threshold_report;

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::tune::TuneCommand;

pub(crate) fn run(command: &TuneCommand) -> Result<ExitCode> {
    match command {
        TuneCommand::Filter(args) => filter::run(args),
        TuneCommand::Sampling(args) => sampling::run(args),
        TuneCommand::Threshold(args) => threshold::run(args),
        TuneCommand::Sample(args) => sample::run(args),
    }
}
