//! The house holds what its papers say: the map, README, the book and the sources are compared with each other.
//!
//! The map is in the module docs of `src/lib.rs`: one line a file, in the form
//!
//! ```text
//! //! - `read/open.rs` - recognises format and compression
//! ```
//!
//! with the path relative to `src`, in backticks, then ` - ` and what the file owns. The leading `- ` that makes it a list
//! for rustdoc may be left out. Every `.rs` file under `src` has one line, but for `lib.rs` itself and the files that hold
//! unit tests only (`tests.rs`, `*_tests.rs`, and everything in a folder `tests`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All files under a folder of the repository whose name ends in `suffix`, relative to that folder, `/` between names.
fn files(folder: &str, suffix: &str) -> BTreeSet<String> {
    let base = root().join(folder);
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = base.is_dir().then(|| base.clone()).into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                let inside = path.strip_prefix(&base).expect("below the folder");
                let names: Vec<_> = inside.iter().map(|name| name.to_string_lossy()).collect();
                found.insert(names.join("/"));
            }
        }
    }
    found
}

/// The lines of the map: path and what it owns.
fn map_lines(source: &str) -> Vec<(String, String)> {
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    docs.filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("- ").unwrap_or(line);
        let (path, owns) = line.strip_prefix('`')?.split_once('`')?;
        let owns = owns.strip_prefix(" - ")?;
        path.ends_with(".rs").then(|| (path.to_owned(), owns.trim().to_owned()))
    })
    .collect()
}

/// Whether a source file holds unit tests only.
fn tests_only(path: &str) -> bool {
    path.split('/').any(|name| name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs"))
}

/// What stands between backticks in `text`; blocks of code are passed over.
fn inline_code(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let prose = text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fence && !fenced && !line.starts_with("    ")
    });
    prose.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// All pages of the book, by their paths in the repository.
fn pages() -> Vec<String> {
    files("docs/src", ".md").iter().map(|page| format!("docs/src/{page}")).collect()
}

/// The long flags that `text` names.
fn long_flags(text: &str) -> BTreeSet<String> {
    let is_flag = |c: char| c.is_ascii_lowercase() || c == '-';
    text.split(|c: char| !(is_flag(c) || c.is_ascii_alphanumeric()))
        .filter(|word| word.starts_with("--") && word.len() > 3 && word.chars().all(is_flag))
        .filter(|word| !word.starts_with("---"))
        .map(str::to_owned)
        .collect()
}

/// What `alike ARGS --help` prints.
fn help(args: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_alike")).args(args).arg("--help").output().expect("it runs");
    assert!(output.status.success(), "{args:?} --help ends with {}", output.status);
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

#[test]
fn the_map_names_every_file_once_and_no_other() {
    let lines = map_lines(&read("src/lib.rs"));
    let mut map = BTreeMap::new();
    for (path, owns) in lines {
        assert!(!owns.is_empty(), "the map does not say what {path} owns");
        assert!(map.insert(path.clone(), owns).is_none(), "the map names {path} twice");
    }
    let sources = files("src", ".rs");
    let unknown: Vec<_> = map.keys().filter(|path| !sources.contains(*path)).collect();
    assert!(unknown.is_empty(), "the map in src/lib.rs names files that do not exist: {unknown:?}");
    let missing: Vec<_> = sources
        .iter()
        .filter(|path| *path != "lib.rs" && !tests_only(path) && !map.contains_key(*path))
        .collect();
    assert!(missing.is_empty(), "the map in src/lib.rs lacks {missing:?}");
}

#[test]
fn the_map_is_read_as_described() {
    let source = "//! Title.\n//!\n//! - `a.rs` - owns a\n//!   `b/c.rs` - owns c\n//! see `d.rs` - no line of the map\n\
                  //! `e.txt` - nor this\npub mod a;\n//! `f.rs` - below the docs\n";
    let expected = [("a.rs", "owns a"), ("b/c.rs", "owns c")].map(|(p, o)| (p.to_owned(), o.to_owned()));
    assert_eq!(map_lines(source), expected);
    assert!(
        tests_only("text/tests/words.rs")
            && tests_only("output/kept_tests.rs")
            && !tests_only("text/latest.rs")
    );
}

#[test]
fn the_book_names_every_preset_and_no_other() {
    let page = read("docs/src/reference/presets.md");
    let tables = page
        .split("\n\n")
        .filter(|part| part.starts_with("| `--preset` |") || part.starts_with("| preset |"));
    let present: BTreeSet<_> =
        files("configs", ".toml").iter().map(|file| file.trim_end_matches(".toml").to_owned()).collect();
    assert!(!present.is_empty());
    let mut seen = 0;
    for table in tables {
        let rows = table.lines().skip(2).filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let named: BTreeSet<_> = rows.map(|(name, _)| name.to_owned()).collect();
        assert_eq!(named, present, "presets of a table of the book (left) and of configs/ (right)");
        seen += 1;
    }
    assert_eq!(seen, 2, "tables of presets: what each is for, and how they answer one question");
}

#[test]
fn the_book_and_the_help_name_the_same_flags() {
    // Flags of other programs that stand in commands.
    const OTHERS: [&str; 20] = [
        "--all-targets",
        "--bench",
        "--cfg",
        "--data-binary",
        "--document-private-items",
        "--features",
        "--fix",
        "--help",
        "--ignored",
        "--lib",
        "--locked",
        "--no-default-features",
        "--open",
        "--path",
        "--random-source",
        "--release",
        "--retry",
        "--test",
        "--times",
        "--workspace",
    ];
    // All commands that have flags.
    const COMMANDS: [&str; 33] = [
        "dedup",
        "passages",
        "repetition",
        "decontaminate",
        "load",
        "delete",
        "clusters",
        "documents",
        "changes",
        "info",
        "explain",
        "check",
        "group",
        "pairs",
        "recluster",
        "report",
        "show",
        "stats",
        "serve",
        "export",
        "launch",
        "lexicon build",
        "lexicon merge",
        "lexicon compare",
        "lexicon show",
        "compact",
        "rollback",
        "copy",
        "tune filter",
        "tune sampling",
        "tune sample",
        "tune threshold",
        "evaluate",
    ];
    // Every program has these.
    const USUAL: [&str; 2] = ["--help", "--version"];
    let mut help: BTreeSet<String> = COMMANDS
        .iter()
        .flat_map(|command| long_flags(&help(&command.split(' ').collect::<Vec<_>>())))
        .collect();
    help.retain(|flag| !USUAL.contains(&flag.as_str()));
    let mut papers = pages();
    papers.extend(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(str::to_owned));
    for paper in papers {
        let mut named = long_flags(&read(&paper));
        named.retain(|flag| !OTHERS.contains(&flag.as_str()));
        let unknown: Vec<_> = named.difference(&help).collect();
        assert!(unknown.is_empty(), "{paper} names flags that no command of alike has: {unknown:?}");
    }
    // One page names them all, so that a reader finds each.
    let listed = long_flags(&read("docs/src/reference/options.md"));
    let untold: Vec<_> = help.difference(&listed).collect();
    assert!(untold.is_empty(), "docs/src/reference/options.md does not name the flags {untold:?}");
}

#[test]
fn the_book_names_every_command() {
    let page = read("docs/src/reference/options.md");
    let table =
        page.split("\n\n").find(|part| part.starts_with("| command | does |")).expect("a table of commands");
    let mut named = BTreeSet::new();
    for row in table.lines().skip(2) {
        let cell = row.split('|').nth(1).expect("a cell");
        named.extend(inline_code(cell).iter().map(|code| code.split(' ').next().expect("a word").to_owned()));
    }
    let all = help(&[]);
    let rows = all.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let names = rows.map(|(name, _)| name).filter(|name| name.chars().all(|c| c.is_ascii_lowercase()));
    let names: BTreeSet<_> =
        names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect();
    assert!(names.len() > 20, "the help lists only {names:?}");
    let missing: Vec<_> = names.difference(&named).collect();
    assert!(missing.is_empty(), "docs/src/reference/options.md does not name the commands {missing:?}");
}

#[test]
fn the_summary_names_every_page_once() {
    let summary = read("docs/src/SUMMARY.md");
    let listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let unique: BTreeSet<String> = listed.iter().map(|page| (*page).to_owned()).collect();
    assert_eq!(unique.len(), listed.len(), "docs/src/SUMMARY.md names a page twice");
    let mut present = files("docs/src", ".md");
    present.remove("SUMMARY.md");
    assert_eq!(unique, present, "pages of the summary (left) and of the folder (right)");
}

#[test]
fn the_papers_name_only_paths_that_exist() {
    // What a run writes is named like a file of the house, and is none.
    let folders = [
        "src/",
        "jobs/",
        "configs/",
        "tests/",
        "benches/",
        "samples/",
        "cluster/",
        "packaging/",
        ".ci/",
        ".github/",
    ];
    let papers = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "samples/README.md",
        "cluster/README.md",
        "cluster/ssh.md",
        "packaging/README.md",
        "benches/campaign/README.md",
        "benches/peers/README.md",
        "fuzz/README.md",
        "model/README.md",
        "python/README.md",
        "tests/README.md",
        "tests/pdfs/README.md",
    ];
    for paper in papers.map(str::to_owned).into_iter().chain(pages()) {
        let paper = paper.as_str();
        let text = read(paper);
        let from = root().join(paper);
        let from = from.parent().expect("a folder");
        let named = inline_code(&text).into_iter().filter(|code| folders.iter().any(|f| code.starts_with(f)));
        for path in named.filter(|code| !code.contains(['*', ' ', '<']) && !code.contains("NAME")) {
            let path = path.split("::").next().expect("a part");
            // A workspace of its own may name its own files.
            let exists = root().join(path).exists() || from.join(path).exists();
            assert!(exists, "{paper} names {path}, which does not exist");
        }
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().expect("a part");
            if !path.is_empty() && !path.contains("://") {
                assert!(from.join(path).exists(), "{paper} links to {path}, which does not exist");
            }
        }
    }
}

#[test]
fn settings_name_only_paths_that_exist() {
    let folders = [
        "src/",
        "jobs/",
        "configs/",
        "tests/",
        "benches/",
        "samples/",
        "cluster/",
        "packaging/",
        "docs/",
        "fuzz/",
        "examples/",
        ".ci/",
    ];
    let mut named = 0;
    for file in ["Cargo.toml", "clippy.toml", "deny.toml", "rustfmt.toml", "fuzz/Cargo.toml"] {
        let from = root().join(file);
        let from = from.parent().expect("a folder");
        for (number, line) in read(file).lines().enumerate() {
            let words = line.split(|c: char| c.is_whitespace() || "\"'`()[]{},;:=".contains(c));
            for word in words.map(|word| word.trim_end_matches('.')) {
                // What an archive leaves out is named from the root.
                let excluded = word.strip_prefix('/').filter(|_| line.starts_with("exclude"));
                if excluded.is_some() || folders.iter().any(|folder| word.starts_with(folder)) {
                    let path = excluded.unwrap_or(word);
                    let there = root().join(path).exists() || from.join(path).exists();
                    assert!(there, "{file}:{} names {path}, which does not exist", number + 1);
                    named += 1;
                }
            }
        }
    }
    assert!(named > 20, "{named} paths of {folders:?}");
}

#[test]
fn sources_are_ascii() {
    for folder in ["src", "jobs", "tests", "benches"] {
        for file in files(folder, ".rs") {
            let text = read(&format!("{folder}/{file}"));
            for (number, line) in text.lines().enumerate() {
                assert!(line.is_ascii(), "{folder}/{file}:{}: write it as an escape: {line}", number + 1);
            }
        }
    }
}

#[test]
fn only_storage_touches_the_files_of_a_collection() {
    const WAYS_AROUND: [&str; 5] = ["std::fs", "std::os", "tempfile", "walkdir", "rustix"];
    let mut around = BTreeSet::new();
    for folder in ["src/storage", "src/collection"] {
        for file in files(folder, ".rs").iter().filter(|file| !tests_only(file)) {
            let text = read(&format!("{folder}/{file}"));
            let program = text.split("#[cfg(test)]\nmod tests {").next().expect("a part");
            if WAYS_AROUND.iter().any(|way| program.contains(way)) {
                around.insert(format!("{folder}/{file}"));
            }
        }
    }
    // The two that must, and the one that writes files outside a collection; were they not found, nothing would be.
    let expected = ["src/collection/export/mod.rs", "src/storage/copied.rs", "src/storage/local.rs"];
    let expected = expected.map(str::to_owned);
    assert_eq!(around, expected.into());
}

#[test]
fn the_sample_is_what_its_readme_says() {
    let text = read("samples/licences.jsonl");
    let mut ids = BTreeSet::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        for field in ["id", "text", "source"] {
            assert!(record[field].as_str().is_some_and(|value| !value.is_empty()), "{field} of {line:.80}");
        }
        assert!(ids.insert(record["id"].to_string()), "{} occurs twice", record["id"]);
    }
    let readme = read("samples/README.md");
    assert!(
        readme.contains(&format!(": {} licence texts", ids.len())),
        "samples/README.md miscounts: {}",
        ids.len()
    );
}
