//! What the definition of the command line gives beside its help: completion scripts and manual pages.

use std::fs;
use std::io;
use std::process::ExitCode;

use alike::error::{Error, Result};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::{ManArgs, definition};
use crate::terminal::stdout::{print, stdout_error};

/// The completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "alike", &mut script);
    script
}

/// Prints a page, or writes all of them.
pub(crate) fn run(args: &ManArgs) -> Result<ExitCode> {
    let pages = pages();
    let Some(folder) = &args.out else {
        let name = ["alike"].into_iter().chain(args.command.iter().map(String::as_str)).collect::<Vec<_>>();
        let name = name.join("-");
        let page = pages.iter().find(|command| display_name(command) == name).ok_or_else(|| {
            Error::config(format!("{}: no command of alike; `alike help` lists them", args.command.join(" ")))
        })?;
        return render(page).map_err(stdout_error).and_then(|page| print(&page));
    };
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    for command in &pages {
        let path = folder.join(format!("{}.1", display_name(command)));
        let written = render(command).and_then(|page| fs::write(&path, page));
        written.map_err(|e| Error::io(&path, "write", e))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All commands that have a page, the program first.
fn pages() -> Vec<Command> {
    let mut command = definition();
    // Only a built command knows the full names of its subcommands.
    command.build();
    let mut pages = vec![command.clone()];
    pages.extend(below(&command));
    pages
}

/// All commands below one, but the commands that print help.
fn below(command: &Command) -> Vec<Command> {
    let own = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
    own.flat_map(|subcommand| std::iter::once(subcommand.clone()).chain(below(subcommand))).collect()
}

/// The name of a page: `alike-lexicon-build`.
fn display_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

/// The page of a command.
fn render(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(concat!("alike ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    page.extend(examples(command).into_bytes());
    Ok(page)
}

/// The examples of a command, line for line as its help shows them.
fn examples(command: &Command) -> String {
    let Some(text) = command.get_after_long_help() else { return String::new() };
    // A line that starts with a dot or a quote would be an instruction to the formatter; `\&` in front is nothing.
    let escape = |line: &str| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-"));
    let text = text.to_string();
    let lines: String = text.trim_start_matches("Examples:\n").lines().map(escape).collect();
    format!(".SH EXAMPLES\n.PP\n.nf\n{lines}.fi\n")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    /// `--long` of every flag of a command.
    fn flags(command: &Command) -> Vec<String> {
        command
            .get_arguments()
            .filter_map(|argument| argument.get_long())
            .map(|long| format!("--{long}"))
            .collect()
    }

    #[test]
    fn every_command_has_a_page_with_all_its_flags() {
        let mut found = 0;
        for command in pages() {
            let page = String::from_utf8(render(&command).expect("rendered")).expect("text");
            let page = page.replace("\\-", "-");
            let name = display_name(&command);
            assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page:.200}");
            for flag in flags(&command) {
                assert!(page.contains(&flag), "{name} {flag}");
                found += 1;
            }
            assert!(page.contains(".SH EXAMPLES"), "{name}");
        }
        assert!(found > 150, "{found}");
    }

    #[test]
    fn completions_of_every_shell_offer_flags_presets_methods_and_policies() {
        let all: Vec<String> = pages().iter().flat_map(flags).collect();
        for shell in Shell::value_variants() {
            let script = String::from_utf8(completions(*shell)).expect("text");
            for flag in &all {
                // fish writes `-l name`.
                let fish = format!("-l {}", &flag[2..]);
                assert!(script.contains(flag) || script.contains(&fish), "{shell} {flag}");
            }
            // Neither elvish nor PowerShell completes values.
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                for value in ["broder1997", "supershingles", "shortest", "guarantee"] {
                    assert!(script.contains(value), "{shell} {value}");
                }
            }
        }
    }
}
