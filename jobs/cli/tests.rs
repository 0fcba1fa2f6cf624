//! Which lines are accepted.

use clap::Parser;

use super::{Cli, definition};

#[test]
fn the_definition_is_sound() {
    definition().debug_assert();
}

#[test]
fn out_may_be_missing_only_in_a_dry_run() {
    assert!(Cli::try_parse_from(["alike", "dedup", "a"]).is_err());
    assert!(Cli::try_parse_from(["alike", "dedup", "--out", "o"]).is_err());
    for line in [&["a", "--dry-run"][..], &["a", "--out", "o"], &["-", "--out", "o", "--dry-run"]] {
        Cli::try_parse_from([&["alike", "dedup"], line].concat()).expect("a good line");
    }
}

#[test]
fn conflicts_are_refused() {
    for pair in [["--quiet", "--json-progress"].as_slice(), &["--preset", "web", "--config", "c"]] {
        let line = [&["alike", "dedup", "a", "--dry-run"], pair].concat();
        let error = Cli::try_parse_from(line).expect_err("a conflict");
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict);
    }
}

#[test]
fn a_load_has_inputs_or_abandons() {
    for (line, good) in [
        ("c", false),
        ("c in", true),
        ("c --abandon", true),
        ("c in --abandon", false),
        ("c --abandon --delete-missing", false),
        ("c --abandon --dry-run", false),
        ("c in --dry-run --epoch 1M", true),
        ("c in --quiet --json-progress", false),
    ] {
        let line = ["alike", "load"].into_iter().chain(line.split(' '));
        let parsed = Cli::try_parse_from(line.clone());
        assert_eq!(parsed.is_ok(), good, "{:?}", line.collect::<Vec<_>>());
    }
}

#[test]
fn truths_and_methods_exclude_each_other() {
    for (line, good) in [
        ("in", true),
        ("", false),
        ("in --preset web --preset news --config a --config b", true),
        ("in --all --config a", true),
        ("in --all --preset web", false),
        ("in --labels l --duplicate a --duplicate b --unlisted distinct", true),
        ("in --duplicate a", false),
        ("in --unlisted distinct", false),
        ("in --labels l --threshold 0.8", false),
        ("in --labels l --against exact-join", false),
        ("in --against exact-join --threshold 0.8 --pairs-of links", true),
    ] {
        let line = ["alike", "evaluate"].into_iter().chain(line.split_whitespace());
        assert_eq!(Cli::try_parse_from(line.clone()).is_ok(), good, "{:?}", line.collect::<Vec<_>>());
    }
}

#[test]
fn what_belongs_to_documents_needs_some() {
    for (line, good) in [
        ("build in --out l", true),
        ("build --out l", false),
        ("build in", false),
        ("merge a --out l", true),
        ("merge --out l", false),
        ("compare a b", true),
        ("compare a", false),
        ("compare a b --documents x y --sample 5 --svg s", true),
        ("compare a b --sample 5", false),
        ("compare a b --svg s", false),
        ("show l --term x --term y --top 3", true),
    ] {
        let line = ["alike", "lexicon"].into_iter().chain(line.split(' '));
        assert_eq!(Cli::try_parse_from(line.clone()).is_ok(), good, "{:?}", line.collect::<Vec<_>>());
    }
}

/// The help of the command that `words` name, as it is printed.
fn help(words: &str) -> String {
    let line = ["alike"].into_iter().chain(words.split_whitespace());
    let error = definition().try_get_matches_from(line).expect_err("help");
    assert!(!error.use_stderr(), "{error}");
    error.to_string()
}

#[test]
fn short_help_fits_a_screen() {
    for words in ["-h", "dedup -h", "load -h", "recluster -h", "evaluate -h", "launch -h"] {
        let help = help(words);
        assert!(help.lines().count() <= 50, "{words}: {} lines\n{help}", help.lines().count());
    }
}

#[test]
fn help_is_asked_for_in_either_way() {
    for name in ["dedup", "recluster", "lexicon build", "tune filter"] {
        assert_eq!(help(&format!("help {name}")), help(&format!("{name} --help")), "{name}");
    }
}

#[test]
fn every_command_has_examples_and_stands_in_the_list() {
    let all = help("--help");
    for command in definition().get_subcommands() {
        let name = command.get_name();
        assert!(all.contains(&format!("{name} ")), "{name}");
        assert!(command.get_about().is_some(), "{name}");
        for command in command.get_subcommands().chain([command]) {
            let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                examples.starts_with("Examples:\n  ") && examples.contains("alike "),
                "{}: {examples}",
                command.get_name()
            );
        }
    }
}
