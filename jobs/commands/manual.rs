//! What the definition of the command line gives beside its help: completion scripts and the manual page.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;

/// The completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "alike", &mut script);
    script
}

/// The manual page: one page for the program and all its subcommands, since there are few.
pub(crate) fn page() -> io::Result<Vec<u8>> {
    let mut command = Cli::command();
    // Only a built command knows the full names of its subcommands.
    command.build();
    let main = Man::new(command.clone());
    let mut page = Vec::new();
    main.render_title(&mut page)?;
    main.render_name_section(&mut page)?;
    main.render_synopsis_section(&mut page)?;
    main.render_description_section(&mut page)?;
    for subcommand in all(&command) {
        page.extend(chapter(subcommand)?.into_bytes());
    }
    page.extend(verbatim("EXIT STATUS AND EXAMPLES", &command).into_bytes());
    main.render_version_section(&mut page)?;
    Ok(page)
}

/// All subcommands, each before its own.
fn all(command: &clap::Command) -> Vec<&clap::Command> {
    let own = command.get_subcommands();
    own.flat_map(|subcommand| std::iter::once(subcommand).chain(all(subcommand))).collect()
}

/// A subcommand as one section of the page: the sections it would have on a page of its own become subsections.
fn chapter(command: &clap::Command) -> io::Result<String> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut text)?;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let text = String::from_utf8_lossy(&text).replace("\n.SH ", "\n.SS ");
    Ok(format!(".SH \"{}\"\n{text}{}", name.to_uppercase(), verbatim("", command)))
}

/// The examples of a command, line for line as its help shows them, under a heading unless that is empty.
fn verbatim(heading: &str, command: &clap::Command) -> String {
    let Some(text) = command.get_after_long_help() else { return String::new() };
    // A line that starts with a dot or a quote would be an instruction to the formatter; `\&` in front is nothing.
    let escape = |line: &str| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-"));
    let lines: String = text.to_string().lines().map(escape).collect();
    let heading = if heading.is_empty() { String::new() } else { format!(".SH \"{heading}\"\n") };
    format!("{heading}.PP\n.nf\n{lines}.fi\n")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    /// `--long` of every flag of every subcommand.
    fn flags() -> Vec<String> {
        let command = Cli::command();
        let flags: Vec<String> = all(&command)
            .into_iter()
            .flat_map(clap::Command::get_arguments)
            .filter_map(|argument| argument.get_long())
            .map(|long| format!("--{long}"))
            .collect();
        assert!(flags.len() >= 20, "{flags:?}");
        flags
    }

    #[test]
    fn the_manual_page_mentions_every_flag_and_subcommand() {
        let page = String::from_utf8(page().expect("rendered")).expect("text").replace("\\-", "-");
        for flag in flags() {
            assert!(page.contains(&flag), "{flag}");
        }
        for subcommand in Cli::command().get_subcommands() {
            let name = format!("ALIKE {}", subcommand.get_name().to_uppercase());
            assert!(page.contains(&format!(".SH \"{name}\"")));
            for own in subcommand.get_subcommands() {
                assert!(page.contains(&format!(".SH \"{name} {}\"", own.get_name().to_uppercase())));
            }
        }
        assert!(page.contains("130 interrupted"));
    }

    #[test]
    fn completions_of_every_shell_mention_every_flag() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(completions(*shell)).expect("text");
            for flag in flags() {
                // fish writes `-l name`.
                let fish = format!("-l {}", &flag[2..]);
                assert!(script.contains(&flag) || script.contains(&fish), "{shell} {flag}");
            }
        }
    }
}
