//! A command line, parsed once: the command, and the words that all processes of a job have in common.

use std::ffi::OsString;

use clap::{ArgMatches, Args, FromArgMatches};

use super::common::{MachineArgs, TalkArgs};
use super::helping::suggestions::with_suggestion;
use super::processes::ProcessArgs;
use super::values::ColorArg;
use super::{Cli, Command, definition};

/// A command line that was understood.
pub(crate) struct CommandLine {
    /// What was asked for.
    pub(crate) command: Command,
    /// Whether its output is coloured.
    pub(crate) color: ColorArg,
    matches: ArgMatches,
}

impl CommandLine {
    /// Parses `words`, of which the first is the name of the program.
    pub(crate) fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
        let parsed = definition().color(ColorArg::in_words(words).into()).try_get_matches_from(words);
        let matches = parsed.map_err(|error| with_suggestion(error, words))?;
        let Cli { command, color } = Cli::from_arg_matches(&matches)?;
        Ok(CommandLine { command, color, matches })
    }

    /// The names and values of all arguments but those that may differ between the processes of a job: where each
    /// process runs, which resources it takes, and what it prints. Each value stands behind its length.
    pub(crate) fn common_words(&self) -> Vec<u8> {
        let own = own_arguments();
        let mut words = Vec::new();
        let (mut command, mut matches) = (definition(), &self.matches);
        while let Some((name, inner)) = matches.subcommand() {
            let Some(subcommand) = command.find_subcommand(name).cloned() else { break };
            push(&mut words, name.as_bytes());
            for argument in subcommand.get_arguments().filter(|argument| !own.contains(argument.get_id())) {
                let id = argument.get_id().as_str();
                push(&mut words, id.as_bytes());
                let values = inner.get_raw(id).into_iter().flatten();
                // All processes keep local state or none does; the folders may differ.
                let values: Vec<&[u8]> = values
                    .map(|value| if id == LOCAL_STATE { &[][..] } else { value.as_encoded_bytes() })
                    .collect();
                push(&mut words, &(values.len() as u64).to_le_bytes());
                values.iter().for_each(|value| push(&mut words, value));
            }
            (command, matches) = (subcommand, inner);
        }
        words
    }
}

/// The argument that names the folder of a process's own runs.
const LOCAL_STATE: &str = "local_state";

/// The arguments that belong to one process.
fn own_arguments() -> Vec<clap::Id> {
    let command = clap::Command::new("process");
    let command = TalkArgs::augment_args(MachineArgs::augment_args(ProcessArgs::augment_args(command)));
    command.get_arguments().map(|argument| argument.get_id().clone()).collect()
}

fn push(words: &mut Vec<u8>, value: &[u8]) {
    words.extend_from_slice(&(value.len() as u64).to_le_bytes());
    words.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<u8> {
        let words: Vec<OsString> = ["alike"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
        CommandLine::parse(&words).expect("a good line").common_words()
    }

    #[test]
    fn processes_of_a_job_have_the_same_words() {
        let base = words("load c in --threshold 0.9");
        for own in ["-p 1", "--workers 3 --memory 2G", "-q", "--metrics a:1", "--hosts f -n 3", "--insecure"]
        {
            assert_eq!(words(&format!("load c in --threshold 0.9 {own}")), base, "{own}");
        }
        assert_eq!(words("load c in --local-state x"), words("load c in --local-state y"));
    }

    #[test]
    fn other_jobs_have_other_words() {
        let lines = [
            "load c in",
            "load c in --local-state x",
            "load c in --threshold 0.9",
            "load c in other",
            "load c in --delete-missing",
            "load c in --components differential",
            "delete c --ids in",
            "dedup c in --out o",
            "lexicon build c in --out o",
            "recluster c",
        ];
        for (i, line) in lines.iter().enumerate() {
            for other in &lines[..i] {
                assert_ne!(words(line), words(other), "{line}: {other}");
            }
        }
    }
}
