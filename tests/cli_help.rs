//! What helps who types: help, suggestions, completions and manual pages.

use std::collections::BTreeSet;
use std::fs;

use crate::support::program::Dir;

/// The commands that have arguments of their own.
const COMMANDS: [&str; 37] = [
    "dedup",
    "passages",
    "repetition",
    "decontaminate",
    "load",
    "delete",
    "export",
    "compact",
    "rollback",
    "copy",
    "fsck",
    "info",
    "stats",
    "clusters",
    "documents",
    "pairs",
    "check",
    "explain",
    "show",
    "group",
    "serve",
    "changes",
    "log",
    "recluster",
    "report",
    "evaluate",
    "tune filter",
    "tune sample",
    "tune sampling",
    "tune threshold",
    "lexicon build",
    "lexicon merge",
    "lexicon compare",
    "lexicon show",
    "launch",
    "presets",
    "man",
];

/// The long flags that stand at the beginning of a line of help.
fn flags(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    let name = |word: &str| word.split(['=', '[', ',']).next().unwrap_or_default().to_owned();
    words.map(name).filter(|flag| flag != "--help").collect()
}

#[test]
fn help_is_found_in_three_ways() {
    let dir = Dir::new();
    for command in COMMANDS {
        let long = dir.alike(&format!("{command} --help"), None).ok().stdout;
        assert_eq!(dir.alike(&format!("help {command}"), None).ok().stdout, long, "{command}");
        let short = dir.alike(&format!("{command} -h"), None).ok().stdout;
        assert!(long.contains("Examples:\n  "), "{command}: {long}");
        assert!(!short.contains("Examples:"), "{command}: {short}");
        assert!(flags(&short).is_subset(&flags(&long)), "{command}");
        assert!(!long.contains('\u{1b}'), "{command}: colours, where nobody sees them");
    }
    dir.alike("help nothing", None).code(2);
}

#[test]
fn short_help_is_a_screen_and_long_help_has_all() {
    let dir = Dir::new();
    for command in ["", "dedup", "load", "delete", "evaluate", "launch", "lexicon build", "passages"] {
        let short = dir.alike(&format!("{command} -h"), None).ok().stdout;
        assert!(short.lines().count() <= 50, "{command}: {} lines\n{short}", short.lines().count());
    }
    let short = flags(&dir.alike("dedup -h", None).ok().stdout);
    let long = flags(&dir.alike("dedup --help", None).ok().stdout);
    for flag in
        ["--out", "--method", "--threshold", "--preset", "--keep", "--text-field", "--workers", "--pairs"]
    {
        assert!(short.contains(flag), "{flag} is missing in {short:?}");
    }
    for flag in ["--verify", "--stop-words", "--simd", "--secret-file", "--profile", "--json-progress"] {
        assert!(long.contains(flag) && !short.contains(flag), "{flag}: {short:?}");
    }
}

#[test]
fn the_first_screen_has_the_words_that_people_search_for() {
    let dir = Dir::new();
    let help = dir.alike("--help", None).ok().stdout;
    for word in [
        "near-duplicate",
        "Jaccard",
        "MinHash LSH",
        "set-similarity join",
        "Deduplicate files",
        "Query a collection",
    ] {
        assert!(help.contains(word), "{word} is missing in\n{help}");
    }
    for command in COMMANDS {
        let name = command.split(' ').next().unwrap();
        let line = help.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| line.split_whitespace().count() > 2), "{name}:\n{help}");
    }
}

#[test]
fn mistakes_lead_to_what_was_meant() {
    let dir = Dir::new();
    for (line, meant) in [
        ("dedup in --out o --text-column body", "'--text-field'"),
        ("dedup in --out o --field=body", "'--text-field'"),
        ("dedup in --output o", "'--out'"),
        ("load c in --ngram-size 3", "'--ngram'"),
        ("dedup in --out o --jaccard 0.9", "'--threshold'"),
        ("dedup in --out o --num-perm 128", "alike presets"),
        ("dedup in --out o --bands 20", "alike tune filter"),
        ("dedup in --out o --jobs 8", "'--workers'"),
        ("dedup in --out o --num-workers 8", "'--workers'"),
        ("dedup in --out o --thresold 0.9", "'--threshold'"),
        ("dedup --input in --out o", "without a flag"),
        ("dedup in --out o --method joinn", "'join'"),
        ("dedup in --out o --method md5", "'exact'"),
        ("dedup in --out o --clustering connected-components", "'transitive'"),
        ("dedup in --out o --preset datatrov", "datatrove"),
        ("deduplicate in --out o", "'dedup'"),
        ("cluster c", "'recluster'"),
        ("launch -n 2 -- load c in --ngram-size 3", "'--ngram'"),
    ] {
        let ran = dir.alike(line, None).code(2);
        assert!(ran.stderr.contains(meant), "{line}: {}", ran.stderr);
    }
    assert!(!dir.alike("info c --column x", None).code(2).stderr.contains("--text-field"));
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn completions_offer_commands_methods_presets_and_policies() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = dir.alike(&format!("completions {shell}"), None).ok().stdout;
        for word in ["recluster", "supershingles", "broder1997", "guarantee", "shortest", "fsck"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    dir.alike("completions no-such-shell", None).code(2);
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = Dir::new();
    let page = dir.alike("man", None).ok().stdout;
    assert!(page.contains(".TH alike 1") && page.contains("130 interrupted"), "{page}");
    dir.alike("man --out pages/man1", None).ok();
    let pages: BTreeSet<String> = fs::read_dir(dir.join("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for command in COMMANDS {
        let name = format!("alike-{}.1", command.replace(' ', "-"));
        assert!(pages.contains(&name), "{name} is missing in {pages:?}");
        let page = dir.alike(&format!("man {command}"), None).ok().stdout;
        assert_eq!(page, fs::read_to_string(dir.join("pages/man1").join(&name)).unwrap(), "{name}");
        let text = page.replace("\\-", "-");
        for flag in flags(&dir.alike(&format!("{command} --help"), None).ok().stdout) {
            assert!(text.contains(&flag), "{name} lacks {flag}");
        }
    }
    assert!(!pages.iter().any(|page| page.contains("help")), "{pages:?}");
    dir.alike("man nothing", None).code(2).says("alike help");
    dir.alike("man dedup --out pages", None).code(2);
}
