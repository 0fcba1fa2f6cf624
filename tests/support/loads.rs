//! Loads by several processes, and what a collection holds after them.

use serde_json::{Value, json};

use crate::support::methods::collection;
use crate::support::oracle::Doc;
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{gzip, line};

/// What a reader sees of a collection: clusters, documents, and the change log but for the numbers of commits.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    clusters: Vec<String>,
    pub(crate) documents: Vec<String>,
    changes: Vec<String>,
}

impl Seen {
    #[track_caller]
    pub(crate) fn of(dir: &Dir, collection: &str) -> Seen {
        let lines = |command: &str| {
            // Not to a terminal all of them write JSON.
            let ran = dir.alike(&format!("{command} {collection}"), None).ok();
            let commitless = |mut row: Value| {
                row.as_object_mut().unwrap().remove("commit");
                row.to_string()
            };
            let mut lines: Vec<String> = jsonl(ran.stdout.as_bytes()).into_iter().map(commitless).collect();
            lines.sort_unstable();
            lines
        };
        Seen { clusters: lines("clusters"), documents: lines("documents"), changes: lines("changes") }
    }

    /// What is seen of no collection.
    pub(crate) fn none() -> Seen {
        Seen { clusters: Vec::new(), documents: Vec::new(), changes: Vec::new() }
    }

    pub(crate) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Fails with the first line that only one of two has.
    #[track_caller]
    pub(crate) fn assert_eq(&self, other: &Seen, what: &str) {
        let kinds = [
            ("clusters", &self.clusters, &other.clusters),
            ("documents", &self.documents, &other.documents),
            ("changes", &self.changes, &other.changes),
        ];
        for (kind, want, got) in kinds {
            let only =
                |a: &[String], b: &[String]| a.iter().find(|row| b.binary_search(row).is_err()).cloned();
            let (missing, extra) = (only(want, got), only(got, want));
            assert!(want == got, "{what}: other {kind}\nmissing: {missing:?}\nextra: {extra:?}");
        }
    }
}

/// Whether fsck finds nothing.
#[track_caller]
pub(crate) fn whole(dir: &Dir, collection: &str) {
    dir.alike(&format!("fsck {collection}"), None).ok();
}

/// One change of a collection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A load of a file or folder.
    Load(&'static str),
    /// A deletion of the ids in a file.
    Delete(&'static str),
}

/// The files of the history, and of configurations.
pub(crate) fn files(dir: &Dir) {
    let mut docs = collection();
    docs.iter_mut()
        .enumerate()
        .for_each(|(at, doc)| doc.score = (at % 3 > 0).then_some((at * 31 % 97) as i64));
    let (first, rest) = docs.split_at(docs.len() / 2);
    let (second, third) = rest.split_at(rest.len() / 3);
    let (large, small) = first.split_at(first.len() * 3 / 4);
    dir.write("first/large.jsonl", Doc::jsonl(large));
    for (at, some) in small.chunks(small.len().div_ceil(7)).enumerate() {
        dir.write(&format!("first/small/{at}.jsonl"), Doc::jsonl(some));
    }
    dir.write("first/note.txt", &first[3].text);
    dir.write("second.jsonl", Doc::jsonl(second));
    for (at, some) in third.chunks(third.len().div_ceil(3)).enumerate() {
        dir.write(&format!("third/{at}.jsonl"), Doc::jsonl(some));
    }
    // A record that is refused, deletions of what is there and what is not, and records of one id.
    let ops = [
        "not a record\n".to_owned(),
        format!("{}\n", json!({"op": "delete", "id": docs[7].id})),
        format!("{}\n", json!({"op": "delete", "id": "nobody"})),
        line(&docs[9].id, &docs[10].text),
        line(&docs[9].id, &docs[11].text),
    ];
    dir.write("third/ops.jsonl", ops.concat());
    let gone: String = docs.iter().step_by(9).map(|doc| format!("{}\n", doc.id)).collect();
    dir.write("gone.txt", gone + "nobody\n");
    let moved: Vec<Doc> = (3..docs.len() - 1)
        .step_by(11)
        .map(|at| Doc { id: docs[at].id.clone(), ..docs[at + 1].clone() })
        .collect();
    dir.write("moved.jsonl", Doc::jsonl(&moved));
    let back: Vec<Doc> = docs.iter().step_by(18).cloned().collect();
    dir.write("back.jsonl.gz", gzip(Doc::jsonl(&back).as_bytes(), 20_000));
    dir.write(
        "none.toml",
        "method = 'shingles'\n[shingles]\nsampling = 'mod'\nmodulus = 4\nper_document = 40\n[count]\ncommon_cap = 0",
    );
    dir.write("verified.toml", "method = 'minhash'\nverify = 'resemblance'");
    for (at, some) in docs.chunks(docs.len().div_ceil(4)).enumerate().skip(1) {
        dir.write(&format!("now/{at}.jsonl"), Doc::jsonl(some));
    }
}

impl Step {
    /// The command that does it to a collection.
    pub(crate) fn line(self, name: &str, flags: &str) -> String {
        match self {
            Step::Load(input) => format!("load {name} {input} --json --quiet {flags}"),
            Step::Delete(ids) => format!("delete {name} --ids {ids} --json --quiet {flags}"),
        }
    }
}

/// What is counted of a collection, but for what tells of runs and commits.
pub(crate) fn counted(dir: &Dir, name: &str) -> Value {
    let ran = dir.alike(&format!("stats {name}"), None).ok();
    let mut stats: Value = serde_json::from_str(&ran.stdout).unwrap();
    let of_runs = ["commit", "bytes", "runs", "tables"];
    of_runs.iter().for_each(|key| drop(stats.as_object_mut().unwrap().remove(*key)));
    stats
}
