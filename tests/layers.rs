//! The parts stand one above the other, files import each other in no circle, and a name is declared once.
//!
//! An import is a name of another file, wherever it stands in the code; names are followed through re-exports to the
//! file that declares them. A `mod.rs` that only offers what its own files declare does not import them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::support::sources::{Import, Sources};

/// The parts of the library, from the lowest to the highest: folders or files of `src`.
const LIBRARY: &[&str] = &[
    "printable",
    "error",
    "limits",
    "document",
    "simd",
    "threshold",
    "hex",
    "partial_name",
    "scratch",
    "system_memory",
    "threads",
    "mesh",
    "peers",
    "resources",
    "metrics",
    "progress",
    "remote",
    "storage",
    "text",
    "similarity",
    "read",
    "observed",
    "lexicon",
    "sketch",
    "method",
    "config",
    "sketcher",
    "components",
    "flow",
    "output",
    "passages",
    "repetition",
    "decontaminate",
    "collection",
    "evaluate",
    "tune",
    "report",
    "serve",
    "api",
    "lib",
];

/// The parts of the program: folders or files of `jobs`.
const PROGRAM: &[&str] = &[
    "allocator",
    "environment",
    "exit",
    "extraction",
    "cli",
    "terminal",
    "cluster",
    "session",
    "commands",
    "main",
];

/// What the counts may come to; they only ever go down.
const BOUNDS: &[(&str, usize)] = &[
    ("files in circles", 0),
    ("imports of a higher part", 0),
    ("names declared more than once", 0),
    ("files flat in the fullest folder", 14),
    ("columns taken by number", 0),
];

/// One count, and what is counted.
struct Finding {
    what: &'static str,
    count: usize,
    told: String,
}

/// All counts of a repository.
fn findings(repository: &Path, parts: &[&str], program_parts: &[&str]) -> Vec<Finding> {
    let library = Sources::read(repository, "src", "lib.rs");
    let program = Sources::read(repository, "jobs", "main.rs");
    let crates = [(&library, parts, "src/"), (&program, program_parts, "jobs/")];
    let mut circles = Finding { what: "files in circles", count: 0, told: String::new() };
    let mut upward = Finding { what: "imports of a higher part", count: 0, told: String::new() };
    for (sources, order, folder) in crates {
        let imports = sources.imports();
        tell_circles(&imports, &mut circles);
        tell_upward(&imports, order, folder, &mut upward);
    }
    let files: Vec<_> = library.files.iter().chain(&program.files).collect();
    let mut declared: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut columns = Finding { what: "columns taken by number", count: 0, told: String::new() };
    for (path, source) in &files {
        for (name, line) in &source.types {
            declared.entry(name).or_default().push(format!("{path}:{line}"));
        }
        if !source.numbered_columns.is_empty() {
            columns.count += source.numbered_columns.len();
            let lines = &source.numbered_columns;
            writeln!(columns.told, "  {path}: {} ({lines:?})", lines.len()).unwrap();
        }
    }
    declared.retain(|_, places| places.len() > 1);
    let told = declared.iter().map(|(name, places)| format!("  {name}: {}\n", places.join(" "))).collect();
    let twice = Finding { what: "names declared more than once", count: declared.len(), told };
    vec![circles, upward, twice, flat(files.iter().map(|(path, _)| path.as_str())), columns]
}

/// How many files lie in the fullest folder; tests and the face of the folder do not count.
fn flat<'a>(files: impl Iterator<Item = &'a str>) -> Finding {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files {
        let (folder, name) = path.rsplit_once('/').expect("a file lies in a folder");
        if !["mod.rs", "lib.rs", "main.rs"].contains(&name) {
            *folders.entry(folder).or_default() += 1;
        }
    }
    let count = folders.values().copied().max().unwrap_or(0);
    let mut full: Vec<_> = folders.into_iter().filter(|&(_, files)| files > 12).collect();
    full.sort_by_key(|&(_, files)| std::cmp::Reverse(files));
    let told = full.iter().map(|(folder, files)| format!("  {folder}: {files}\n")).collect();
    Finding { what: "files flat in the fullest folder", count, told }
}

/// The part of a file: its place in the order.
fn part(file: &str, folder: &str, order: &[&str]) -> Option<usize> {
    let inside = file.strip_prefix(folder)?.strip_suffix(".rs")?;
    let of_part =
        |part: &str| inside.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    order.iter().position(|part| of_part(part))
}

fn tell_upward(imports: &BTreeSet<Import>, order: &[&str], folder: &str, finding: &mut Finding) {
    for Import { from, to, name, line, .. } in imports {
        let (lower, higher) = (part(from, folder, order), part(to, folder, order));
        let (Some(lower), Some(higher)) = (lower, higher) else {
            let unknown = if lower.is_none() { from } else { to };
            finding.count += 1;
            writeln!(finding.told, "  {unknown} is of no part that tests/layers.rs knows").unwrap();
            continue;
        };
        if lower < higher {
            finding.count += 1;
            let parts = format!("{} -> {}", order[lower], order[higher]);
            writeln!(finding.told, "  {parts}: {from}:{line} imports {name} of {to}").unwrap();
        }
    }
}

/// The circles: sets of files each of which reaches every other one, and the imports among them.
fn tell_circles(imports: &BTreeSet<Import>, finding: &mut Finding) {
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in imports.iter().filter(|import| !import.face) {
        graph.entry(&import.from).or_default().insert(&import.to);
    }
    let reached = |from| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(file) = waiting.pop() {
            for &next in graph.get(file).into_iter().flatten() {
                if seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<_, _> = graph.keys().map(|&file| (file, reached(file))).collect();
    let reaches = |a: &str, b: &str| reach.get(a).is_some_and(|seen| seen.contains(b));
    let circles: BTreeSet<Vec<&str>> = reach
        .keys()
        .filter(|&&file| reaches(file, file))
        .map(|&file| reach[file].iter().copied().filter(|&other| reaches(other, file)).collect())
        .collect();
    for circle in circles {
        finding.count += circle.len();
        writeln!(finding.told, "  a circle of {} files:", circle.len()).unwrap();
        for import in imports.iter().filter(|import| !import.face) {
            if circle.contains(&import.from.as_str()) && circle.contains(&import.to.as_str()) {
                let Import { from, to, name, line, .. } = import;
                writeln!(finding.told, "    {from}:{line} imports {name} of {to}").unwrap();
            }
        }
    }
}

#[test]
fn parts_files_and_names_are_in_order() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    for Finding { what, count, told } in findings(repository, LIBRARY, PROGRAM) {
        // Written directly, since the test harness would hide what a passing test prints.
        writeln!(std::io::stdout(), "{what}: {count}").unwrap();
        let bound = BOUNDS.iter().find(|(bounded, _)| *bounded == what).map(|&(_, bound)| bound);
        assert!(Some(count) <= bound, "{what}: {count}, and at most {bound:?} are allowed\n{told}");
    }
}

#[test]
fn disorder_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("src/lib.rs", "pub mod high;\npub mod low;\n#[cfg(test)]\nmod tests;"),
        // The face of a folder: it offers what its file declares, and imports nothing.
        ("src/high/mod.rs", "mod inner;\npub use inner::Thing;\npub struct Base;"),
        ("src/high/inner.rs", "use super::Base;\npub struct Thing(Base);"),
        ("src/low.rs", "mod a;\nmod b;\npub fn f() { let _ = format!(\"{}\", crate::high::Thing::NAME); }"),
        ("src/low/a.rs", "use super::b::Row;\npub struct Line;\npub fn first(row: &[u64]) -> u64 { row[0] }"),
        ("src/low/b.rs", "use crate::low::a;\npub struct Row(a::Line);\nfn g() { assert_eq!(row[7], 1); }"),
        ("jobs/main.rs", "struct Row;\nfn main() {}"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let findings = findings(folder.path(), &["low", "high", "lib"], &["main"]);
    let told: BTreeMap<_, _> =
        findings.iter().map(|found| (found.what, (found.count, &*found.told))).collect();
    let circle = "  a circle of 2 files:\n    src/low/a.rs:1 imports Row of src/low/b.rs\n    \
                  src/low/b.rs:2 imports Line of src/low/a.rs\n";
    assert_eq!(told["files in circles"], (2, circle));
    let upward = "  low -> high: src/low.rs:3 imports Thing of src/high/inner.rs\n";
    assert_eq!(told["imports of a higher part"], (1, upward));
    assert_eq!(told["names declared more than once"], (1, "  Row: src/low/b.rs:2 jobs/main.rs:1\n"));
    assert_eq!(told["files flat in the fullest folder"], (2, ""));
    assert_eq!(told["columns taken by number"], (2, "  src/low/a.rs: 1 ([3])\n  src/low/b.rs: 1 ([3])\n"));
}
