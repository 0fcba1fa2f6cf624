//! The layout of help: commands in groups, and short help that names the long one.

use std::fmt::Write as _;

/// The commands by what they are for. Commands that no group names stand in the last one.
const GROUPS: &[(&str, &str)] = &[
    ("Deduplicate files", "dedup passages repetition decontaminate presets"),
    ("Keep a collection", "load delete export compact rollback copy fsck info stats log"),
    ("Query a collection", "clusters show documents pairs check explain group changes recluster serve"),
    ("Choose and compare methods", "evaluate tune lexicon"),
    ("Other", ""),
];

/// Bold and underlined, as clap prints its own headings.
const HEADING: [&str; 2] = ["\u{1b}[1m\u{1b}[4m", "\u{1b}[0m"];
/// Bold, as clap prints names.
const NAME: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// The same command, whose help lists subcommands in groups.
pub(in crate::cli) fn grouped(command: clap::Command) -> clap::Command {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{}{heading}:{}", HEADING[0], HEADING[1]);
        let mut rows: Vec<&clap::Command> = match *names {
            "" => command.get_subcommands().filter(|subcommand| !is_grouped(subcommand.get_name())).collect(),
            names => names.split(' ').filter_map(|name| command.find_subcommand(name)).collect(),
        };
        rows.retain(|row| !row.is_hide_set());
        for row in rows {
            let about = row.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {}{:<14}{}{about}", NAME[0], row.get_name(), NAME[1]);
        }
        text.push('\n');
    }
    let [bold, plain] = HEADING;
    let template = format!(
        "{{about-with-newline}}{{usage-heading}} {{usage}}\n\n{text}{bold}Options:{plain}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

fn is_grouped(name: &str) -> bool {
    GROUPS.iter().any(|(_, names)| names.split(' ').any(|known| known == name))
}

/// Where the short help of a command ends.
pub(in crate::cli) fn more(command: &str) -> String {
    format!("More options and examples: alike help {command}")
}
