//! Every command line of alike in the files of `cluster/` is one: what people copy is parsed as it will be.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use yaml_rust2::{Yaml, YamlLoader};

use crate::cli::{Cli, Command};
use crate::commands::launch::subcommand;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster")
}

/// What a shell would run of a text: continued lines as one, each up to where the command ends.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(shlex::split).filter_map(|words| command(&words)).collect()
}

/// The command of alike in these words, if there is one.
fn command(words: &[String]) -> Option<Vec<String>> {
    // `alike: stopped` is what somebody says, and `name: alike` no command either.
    let begin = words.iter().position(|word| word == "alike" || word.ends_with("/alike"))?;
    let before = begin.checked_sub(1).map(|before| words[before].as_str());
    if before.is_some_and(|before| {
        before.ends_with(':') || before == "FROM" || before == "-t" || before == "generic"
    }) {
        return None;
    }
    let ends = ["|", "||", "&&", ";", ">", "<", "..."];
    let rest = words[begin + 1..].iter().take_while(|word| !ends.contains(&word.as_str()));
    let rest: Vec<String> = rest.flat_map(|word| filled(word)).collect();
    (!rest.is_empty()).then_some(rest)
}

/// What a shell may put in the place of a variable.
fn filled(word: &str) -> Vec<String> {
    match word {
        "$@" => vec!["COLLECTION".to_owned(), "INPUT".to_owned()],
        "$command" => vec!["load".to_owned()],
        word if word.starts_with('$') => vec!["8".to_owned()],
        word => vec![word.to_owned()],
    }
}

/// What stands between backticks, and the indented lines.
fn of_markdown(text: &str) -> Vec<Vec<String>> {
    let (code, prose): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("    "));
    let prose = prose.join(" ");
    let spans = prose.split('`').skip(1).step_by(2).filter(|span| span.starts_with("alike "));
    let spans = spans.map(str::to_owned).collect::<Vec<_>>().join("\n");
    [commands(&code.join("\n")), commands(&spans)].concat()
}

/// The command and arguments of the container.
fn of_yaml(text: &str) -> Vec<Vec<String>> {
    let documents = YamlLoader::load_from_str(text).expect("YAML");
    let job = documents.iter().find(|document| document["kind"].as_str() == Some("Job")).expect("a Job");
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let words = |yaml: &Yaml| -> Vec<String> {
        yaml.as_vec().expect("a list").iter().map(|word| word.as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(words(&container["command"]), ["alike"]);
    vec![words(&container["args"])]
}

#[test]
fn every_command_of_the_cluster_files_is_one() {
    let mut seen = Vec::new();
    for entry in fs::read_dir(folder()).expect("cluster/") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("text");
        let found = match path.extension().and_then(|end| end.to_str()) {
            Some("md") => of_markdown(&text),
            Some("yaml") => of_yaml(&text),
            Some("service") => {
                let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("ExecStart");
                commands(line)
            }
            // What it runs is a list, and no line (tests/cluster_files.rs).
            None if name == "Containerfile" => Vec::new(),
            _ => commands(&text),
        };
        for words in found {
            let shown = format!("{name}: alike {}", words.join(" "));
            // Without a subcommand it is only mentioned.
            let mentioned = words[0] == "launch" && !words.contains(&"--".to_owned());
            if !mentioned {
                check(&shown, &words);
                seen.push(shown);
            }
        }
    }
    let of = |name: &str| seen.iter().filter(|line| line.starts_with(name)).count();
    let least =
        [("README.md", 4), ("ssh.md", 3), ("slurm.sbatch", 1), ("kubernetes.yaml", 1), ("alike@.service", 1)];
    for (name, count) in least {
        assert!(of(name) >= count, "{name} has fewer commands than it had: {seen:#?}");
    }
}

fn check(shown: &str, words: &[String]) {
    let line = ["alike"].into_iter().chain(words.iter().map(String::as_str));
    let cli = Cli::try_parse_from(line).unwrap_or_else(|error| panic!("{shown}\n{error}"));
    if let Command::Launch(args) = &cli.command {
        subcommand(args).unwrap_or_else(|error| panic!("{shown}\n{error}"));
    }
}

#[test]
fn commands_are_found_as_they_are_written() {
    let found = commands(
        "ALIKE_PROCESS=1 alike load a b \\\n  -w $N || x\n# alike no\nsrun /bin/alike load \"$@\"\n  name: alike x",
    );
    let expected = [vec!["load", "a", "b", "-w", "8"], vec!["load", "COLLECTION", "INPUT"]];
    assert_eq!(found, expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>()));
    assert_eq!(of_markdown("run `alike info c` and\n\n    alike stats c\n").len(), 2);
}
