//! Collections that several processes load and delete from, in another shape each time: they hold what a collection holds
//! that one worker makes.

use std::fs;

use serde_json::{Value, json};

use crate::mesh::free;
use crate::oracle::Doc;
use crate::same_answer::collection;
use crate::team::{Shape, all, clashed, done, start};
use crate::util::{Dir, corpus, families, gzip, jsonl, line, words};

/// What a reader sees of a collection: clusters, documents, and the change log but for the numbers of commits.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    clusters: Vec<String>,
    documents: Vec<String>,
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

/// What happens to a collection: a step, in which shape, with which flags beside.
const HISTORY: [(Step, Shape, &str); 8] = [
    (Step::Load("first"), (3, 1), ""),
    (Step::Load("second.jsonl"), (1, 1), ""),
    (Step::Load("third"), (2, 2), "--epoch 60K"),
    (Step::Delete("gone.txt"), (4, 1), "--epoch 2K"),
    (Step::Load("second.jsonl"), (2, 1), ""),
    (Step::Load("moved.jsonl"), (4, 2), "--epoch 30K"),
    (Step::Load("back.jsonl.gz"), (2, 2), ""),
    (Step::Load("now"), (3, 1), "--delete-missing --epoch 80K"),
];

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
    dir.write("verified.toml", "method = 'features'\nverify = 'resemblance'");
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

/// Does a step to a collection.
#[track_caller]
fn take(dir: &Dir, name: &str, step: Step, shape: Shape, flags: &str) {
    let ran = done(dir, shape, &step.line(name, flags));
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok(), "{ran:?}");
}

/// What is counted of a collection, but for what tells of runs and commits.
pub(crate) fn counted(dir: &Dir, name: &str) -> Value {
    let ran = dir.alike(&format!("stats {name}"), None).ok();
    let mut stats: Value = serde_json::from_str(&ran.stdout).unwrap();
    let of_runs = ["commit", "bytes", "runs", "tables"];
    of_runs.iter().for_each(|key| drop(stats.as_object_mut().unwrap().remove(*key)));
    stats
}

/// The same, and all pairs.
fn told(dir: &Dir, name: &str) -> (Value, Vec<String>) {
    let mut pairs: Vec<String> =
        dir.alike(&format!("pairs {name}"), None).ok().stdout.lines().map(str::to_owned).collect();
    pairs.sort_unstable();
    (counted(dir, name), pairs)
}

/// Follows the history with one worker and with many processes, under a configuration that the first load is given.
fn follow(first: &str) {
    let dir = Dir::new();
    files(&dir);
    for (at, (step, shape, flags)) in HISTORY.into_iter().enumerate() {
        let fixed = if at == 0 { first } else { "" };
        take(&dir, "one", step, (1, 1), &format!("{fixed} {}", flags.split("--epoch").next().unwrap()));
        take(&dir, "many", step, shape, &format!("{fixed} {flags}"));
        let what = format!("{first}: step {at} as {} x {}", shape.0, shape.1);
        let want = Seen::of(&dir, "one");
        want.assert_eq(&Seen::of(&dir, "many"), &what);
        whole(&dir, "many");
        assert!(want.documents() > 500, "{what}");
    }
    assert_eq!(told(&dir, "one"), told(&dir, "many"), "{first}");
    let names = dir.names();
    assert!(names.iter().all(|name| !name.starts_with('.')), "left behind: {names:?}");
}

#[test]
fn join() {
    follow("--method join");
}

#[test]
fn join_with_a_guarantee_and_texts() {
    follow("--method join --clustering guarantee --keep field:score:max --store-text");
}

#[test]
fn features() {
    follow("--method features --keep longest");
    follow("--config verified.toml --clustering guarantee");
}

#[test]
fn exact() {
    follow("--method exact --store-text");
}

#[test]
fn shingles() {
    follow("--config none.toml --clustering guarantee");
}

/// `cluster` and `pairs` look again at what is stored; `cluster` as several processes, too.
#[test]
fn looking_again() {
    let dir = Dir::new();
    files(&dir);
    done(&dir, (3, 1), "load c first second.jsonl third -q");
    for flags in ["--threshold 0.9", "--clustering guarantee", "--clustering guarantee --keep longest"] {
        let sorted = |shape| {
            let ran = done(&dir, shape, &format!("cluster c --json -q {flags}"));
            let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let want = sorted((1, 1));
        assert!(want.len() > 20, "{flags}");
        for shape in [(2, 1), (3, 1), (4, 2)] {
            assert_eq!(want, sorted(shape), "{flags}, {shape:?}");
        }
    }
    let before = Seen::of(&dir, "c");
    for ran in all(&mut start(&dir, 2, "compact c -q")) {
        ran.ok();
    }
    before.assert_eq(&Seen::of(&dir, "c"), "compacted");
    whole(&dir, "c");
}

/// Records that are refused are listed with their lines, in whatever epoch and process they were read.
#[test]
fn refused_records_are_listed() {
    let dir = Dir::new();
    let mut lines = String::new();
    for at in 0..4000 {
        lines += &line(&format!("d{at}"), &words(at / 2 * 50, 30));
        if at % 397 == 5 {
            lines += "no record\n";
        }
    }
    dir.write("in.jsonl", lines + "last\n");
    let list = |name: &str, shape, flags: &str| {
        done(&dir, shape, &format!("load {name} in.jsonl -q --rejected {name}.rows {flags}"));
        fs::read_to_string(dir.join(&format!("{name}.rows"))).unwrap()
    };
    let want = list("one", (1, 1), "");
    assert_eq!(want.lines().count(), 12);
    assert_eq!(list("two", (2, 1), ""), want);
    assert_eq!(list("four", (4, 1), "--epoch 100K"), want);
    Seen::of(&dir, "one").assert_eq(&Seen::of(&dir, "four"), "with refused records");
}

#[test]
fn inputs_for_fewer_than_there_are() {
    let dir = Dir::new();
    dir.write("empty.jsonl", "");
    dir.write("one.jsonl", line("a", &words(0, 40)));
    dir.write("few.jsonl", line("b", &words(0, 40)) + &line("c", &words(1, 40)));
    dir.write("ids.txt", "a\n");
    dir.write("none.txt", "\n");
    for (shape, name) in [((1, 1), "one"), ((2, 1), "two"), ((4, 2), "four")] {
        for step in [
            format!("load {name} empty.jsonl -q"),
            format!("load {name} one.jsonl -q"),
            format!("load {name} few.jsonl empty.jsonl -q"),
            format!("load {name} few.jsonl -q"),
            format!("delete {name} --ids none.txt -q"),
            format!("delete {name} --ids ids.txt -q"),
        ] {
            done(&dir, shape, &step);
            whole(&dir, name);
        }
        assert_eq!(Seen::of(&dir, name).documents(), 2);
    }
    let want = Seen::of(&dir, "one");
    want.assert_eq(&Seen::of(&dir, "two"), "2 x 1");
    want.assert_eq(&Seen::of(&dir, "four"), "4 x 2");
}

#[test]
fn launched() {
    let dir = Dir::new();
    files(&dir);
    done(&dir, (1, 1), "load one first -q");
    for attempt in 0..4 {
        dir.write("hosts", free(3).join("\n"));
        let ran = dir.alike("launch --hosts hosts -- load many first -w 1", None);
        if clashed(std::slice::from_ref(&ran)) && attempt < 3 {
            continue;
        }
        ran.ok();
        break;
    }
    Seen::of(&dir, "one").assert_eq(&Seen::of(&dir, "many"), "launched");
    whole(&dir, "many");
}

#[test]
fn whole_corpora() {
    let full = std::env::var_os("ALIKE_FULL").is_some();
    for name in ["licence_texts", "civil_codes", "mccormick_articles"] {
        let Some(texts) = corpus(name) else { continue };
        let texts = if full { texts } else { families(texts, 40) };
        let dir = Dir::new();
        let docs = Doc::all(&texts);
        let (first, second) = docs.split_at(docs.len() / 2);
        dir.write("first.jsonl", Doc::jsonl(first));
        dir.write("second.jsonl", Doc::jsonl(second));
        dir.write("gone.txt", docs.iter().step_by(5).map(|doc| format!("{}\n", doc.id)).collect::<String>());
        for (collection, shapes) in [("one", [(1, 1); 3]), ("many", [(2, 1), (4, 2), (3, 1)])] {
            take(&dir, collection, Step::Load("first.jsonl"), shapes[0], "--clustering guarantee");
            take(&dir, collection, Step::Load("second.jsonl"), shapes[1], "--epoch 1M");
            take(&dir, collection, Step::Delete("gone.txt"), shapes[2], "");
        }
        Seen::of(&dir, "one").assert_eq(&Seen::of(&dir, "many"), name);
        whole(&dir, "many");
    }
}
