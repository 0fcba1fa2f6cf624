//! Collections that several processes load and delete from, in another shape each time: they hold what a collection holds
//! that one worker makes.

use std::fs;

use serde_json::Value;

use crate::support::corpora::corpus;
use crate::support::job::{Shape, all, clashed, done, start};
use crate::support::loads::{Seen, Step, counted, files, whole};
use crate::support::meeting::free;
use crate::support::oracle::Doc;
use crate::support::program::Dir;
use crate::support::texts::{families, line, words};

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

/// Does a step to a collection.
#[track_caller]
fn take(dir: &Dir, name: &str, step: Step, shape: Shape, flags: &str) {
    let ran = done(dir, shape, &step.line(name, flags));
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok(), "{ran:?}");
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
fn containment() {
    follow("--measure containment");
    follow("--measure containment --clustering guarantee --keep longest");
}

#[test]
fn within_a_field() {
    follow("--within score");
    follow("--within score --measure containment --keep longest");
}

#[test]
fn features() {
    follow("--method minhash --keep longest");
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
            let ran = done(&dir, shape, &format!("recluster c --json -q {flags}"));
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

/// A history of corpora, of which one text family in `some` is taken.
fn corpora(some: u64) {
    for name in ["licence_texts", "civil_codes", "mccormick_articles"] {
        let texts = families(corpus(name), some);
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

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn parts_of_corpora() {
    corpora(40);
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn whole_corpora_in_full() {
    corpora(1);
}
