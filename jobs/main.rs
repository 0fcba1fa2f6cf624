//! The program: parse, do one thing, and turn its outcome into messages and an exit code.

mod allocator;
mod cli;
mod cluster;
mod commands;
mod environment;
mod exit;
#[cfg(feature = "pdf")]
mod extraction;
mod session;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::line::CommandLine;
use crate::cluster::job::DistributedJob;
use crate::exit::{WRONG_USE, exit_code};
use crate::terminal::interrupt::{beyond_limits_is_an_error, wait_if_ending};
use crate::terminal::stderr::message;
use crate::terminal::stdout::choose_colours;

fn main() -> ExitCode {
    allocator::keep_large_blocks_apart();
    let words: Vec<_> = std::env::args_os().collect();
    #[cfg(feature = "pdf")]
    if let Some(parent) = extraction::is_asked_for(&words) {
        return extraction::serve(parent);
    }
    let line = match CommandLine::parse(&words) {
        Ok(line) => line,
        Err(error) => {
            // Help and version arrive here too, as errors that use standard output. If nobody reads either stream
            // any more there is no one to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(WRONG_USE) } else { ExitCode::SUCCESS };
        }
    };
    #[cfg(feature = "parquet")]
    quiet_refusals();
    // Where that cannot be asked for, a file beyond a limit of the system ends the program.
    let _ = beyond_limits_is_an_error();
    choose_colours(line.color);
    alike::remote::configure(environment::of_stores());
    #[cfg(feature = "pdf")]
    extraction::name_program();
    let outcome = DistributedJob::new(&line).and_then(|job| commands::run(line.command, &job));
    wait_if_ending();
    outcome.unwrap_or_else(|error| {
        // A message that cannot be shown must not hide the exit code.
        let _ = writeln!(io::stderr().lock(), "alike: error: {}", message(&error));
        ExitCode::from(exit_code(&error))
    })
}

/// Leaves a panic untold that only says why rows are refused.
#[cfg(feature = "parquet")]
fn quiet_refusals() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !alike::read::refuses_panics() {
            usual(info);
        }
    }));
}
