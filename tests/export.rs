//! What `alike export` writes of a collection is what `dedup` writes of its documents; and what it refuses to write.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::output::Output;
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, text, unpack, words, zst};

/// Records with ascending ids: near copies in families, exact copies, texts without a token and ordinary ones.
fn records(count: usize) -> Vec<String> {
    let mut random = Random(5);
    let body = |at: usize, random: &mut Random| match random.below(4) {
        0 => format!("{} x{at} {}", words(at % 7 * 100, 25), words(at % 7 * 100 + 30, 20 + random.below(9))),
        1 => words(at % 5 * 1000, 30),
        2 => words(at * 50, 12),
        _ => ["", "..."][random.below(2)].to_owned(),
    };
    (0..count).map(|at| line(&format!("d{at:05}"), &body(at, &mut random))).collect()
}

/// Three files in one order by name and by id, blank lines and a refused record among them.
fn write_inputs(dir: &Dir) {
    let records = records(600);
    let (a, rest) = records.split_at(250);
    let (b, c) = rest.split_at(200);
    dir.write("in/a.jsonl", a.join("\n") + "\n{\"id\":\"bad\"}\n \t\n" + "\n");
    dir.write("in/sub/b.jsonl.gz", gzip(b.concat().as_bytes(), 3000));
    dir.write("in/sub/c.jsonl.zst", zst(format!("not json\n{}", c.concat()).trim_end().as_bytes(), 5000));
    dir.write("in/d.jsonl", line("d99999", "the only one of its kind as far as one can see"));
}

#[test]
fn one_load_is_written_as_dedup_writes_it() {
    let dir = Dir::new();
    write_inputs(&dir);
    dir.alike("load c in/a.jsonl in/sub in/d.jsonl -w 2", None).ok();
    for (at, flags) in [
        "--clustering guarantee",
        "--clustering transitive --pairs",
        "--clustering guarantee --threshold 0.9 --keep longest --pairs -w 1",
        "--clustering transitive --threshold 0.95 --keep last",
    ]
    .into_iter()
    .enumerate()
    {
        let expected = dir.output(&format!("in/a.jsonl in/sub in/d.jsonl {flags}"), &format!("d{at}"));
        dir.alike(&format!("export c {flags} --out e{at}"), None).ok();
        let found = Output::read(&dir.join(&format!("e{at}")));
        assert!(expected.kept == found.kept, "{flags}: other files are kept");
        assert_eq!(found.kept.len(), 4);
        assert_eq!(expected.duplicates, found.duplicates, "{flags}");
        assert_eq!(expected.clusters, found.clusters, "{flags}");
        assert_eq!(*expected.pairs, *found.pairs, "{flags}");
        assert!(!found.duplicates.is_empty() && found.pairs.is_empty() != flags.contains("--pairs"));
        for figure in
            ["documents", "empty", "contents", "copies", "removed", "kept", "clusters", "kept_bytes"]
        {
            assert_eq!(expected.summary[figure], found.summary[figure], "{flags}: {figure}");
        }
        assert_eq!(expected.summary["inputs"], found.summary["inputs"], "{flags}");
    }
    dir.alike("export c --out d0", None).code(2).says("d0");
}

#[test]
fn text_files_stay_or_go_whole() {
    let dir = Dir::new();
    for (name, body) in
        [("a", words(0, 40)), ("b", words(0, 41)), ("c", words(500, 40)), ("d", String::new())]
    {
        dir.write(&format!("in/{name}.txt"), body);
    }
    dir.write("in/e.txt.gz", gzip(words(500, 41).as_bytes(), 10));
    for kept in ["", "--store-text"] {
        dir.alike(&format!("load c{kept} in {kept}"), None).ok();
        dir.alike(&format!("export c{kept} --out e{kept}"), None).ok();
        let found = Output::read(&dir.join(&format!("e{kept}")));
        let expected = dir.output("in", &format!("d{kept}"));
        let mut expected = expected.kept;
        // A file without a byte is no document, so nothing in the collection tells of it.
        assert_eq!(expected.remove("d.txt"), Some(Vec::new()));
        assert_eq!(found.kept, expected, "{kept}");
        assert_eq!(found.kept.keys().collect::<Vec<_>>(), ["a.txt", "c.txt"]);
    }
}

/// Two loads of a file that was another one each time; documents replaced, deleted, brought back.
fn two_days(dir: &Dir, flags: &str) {
    let same = words(0, 30);
    let first = [line("a", &same), line("b", &words(100, 30)), line("c", &same), line("d", &words(200, 30))];
    dir.write("day/today.jsonl", first.concat());
    dir.alike(&format!("load c day {flags}"), None).ok();
    let gone = format!("{}\n", json!({"op": "delete", "id": "d"}));
    let second = [line("b", &words(300, 30)), gone, line("e", &same), line("e", &words(400, 30))];
    dir.write("day/today.jsonl", second.concat());
    dir.alike("load c day", None).ok();
}

#[test]
fn stored_records_are_written_when_the_files_are_gone() {
    let dir = Dir::new();
    two_days(&dir, "--store-text");
    std::fs::remove_dir_all(dir.join("day")).unwrap();
    dir.alike("export c --out e", None).ok();
    let found = Output::read(&dir.join("e"));
    assert_eq!(found.kept["1/today.jsonl"], line("a", &words(0, 30)).into_bytes());
    let second = [line("b", &words(300, 30)), line("e", &words(400, 30))].concat();
    assert_eq!(found.kept["2/today.jsonl"], second.into_bytes());
    assert_eq!((found.kept.len(), found.removed_ids()), (2, vec!["c".to_owned()]));
    assert_eq!(found.duplicates[0]["file"], "day/today.jsonl");
    assert_eq!(found.duplicates[0]["line"], 3);
}

#[test]
fn files_that_are_not_what_was_loaded_are_refused_by_name() {
    let dir = Dir::new();
    two_days(&dir, "");
    for flags in ["--out e", "--dry-run"] {
        let refused = dir.alike(&format!("export c {flags}"), None).code(3);
        refused.says("today.jsonl").says("restore").says("--store-text");
    }
    std::fs::remove_file(dir.join("day/today.jsonl")).unwrap();
    dir.alike("export c --out e", None).code(3).says("today.jsonl").says("gone").says("--store-text");
    assert_eq!(dir.names(), ["c", "day"], "nothing half-written");
    let input = line("x", &words(0, 20));
    dir.alike("load s -", Some(input.as_bytes())).ok();
    dir.alike("export s --out e", None).code(3).says("stdin").says("--store-text");
}

#[test]
fn stored_records_are_those_of_compressed_files_and_many_batches() {
    let dir = Dir::new();
    let records = records(2500);
    dir.write("in/a.jsonl.gz", gzip(records.concat().as_bytes(), 100_000));
    dir.write("in/b.jsonl.zst", zst(line("e1", &words(9000, 9)).as_bytes(), 1000));
    dir.alike("load c in --store-text", None).ok();
    dir.alike("load p in", None).ok();
    for collection in ["c", "p"] {
        dir.alike(&format!("export {collection} --out e{collection}"), None).ok();
    }
    let (stored, plain) = (Output::read(&dir.join("ec")), Output::read(&dir.join("ep")));
    assert_eq!(stored.kept_lines(), plain.kept_lines());
    for (name, bytes) in &stored.kept {
        assert_eq!(unpack(bytes), unpack(&plain.kept[name]), "{name}");
        assert_ne!(&unpack(bytes), bytes, "{name} is compressed");
    }
    let dry = dir.alike("export c --dry-run --json-progress", None).ok();
    let summary: Value = serde_json::from_str(dry.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(summary["summary"]["kept"], stored.summary["kept"]);
}

/// The rows of `pairs` and `cluster` are those of dedup's lists, and `stats` counts what they show.
#[test]
fn pairs_clusters_and_figures_are_those_of_dedup() {
    let dir = Dir::new();
    write_inputs(&dir);
    dir.alike("load c in/a.jsonl in/sub in/d.jsonl", None).ok();
    let lines = |line: &str| -> BTreeSet<String> {
        dir.alike(line, None).ok().stdout.lines().map(str::to_owned).collect()
    };
    for (at, flags) in
        ["--clustering transitive", "--clustering transitive --threshold 0.9"].iter().enumerate()
    {
        dir.dedup(&format!("in/a.jsonl in/sub in/d.jsonl --pairs {flags} --out d{at}")).ok();
        let rows = |name: &str| -> BTreeSet<String> {
            let bytes = std::fs::read(dir.join(&format!("d{at}/{name}"))).unwrap();
            text(bytes).lines().map(str::to_owned).collect()
        };
        assert_eq!(lines(&format!("recluster c {flags}")), rows("clusters.jsonl"));
        assert_eq!(
            lines(&format!("pairs c {}", &flags["--clustering transitive".len()..])),
            rows("pairs.jsonl")
        );
    }
    let stats: Value = serde_json::from_str(&dir.alike("stats c", None).ok().stdout).unwrap();
    let summary = Output::read(&dir.join("d0")).summary;
    for figure in ["documents", "empty", "contents", "clusters", "removed"] {
        assert_eq!(stats[figure], summary[figure], "{figure}");
    }
    assert_eq!(stats["exact_copies"], summary["copies"]);
    assert_eq!(stats["largest"][0]["size"], summary["largest_cluster"]);
    let sum = |key: &str| {
        stats["sizes"].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(
        (json!(sum("clusters")), json!(sum("documents"))),
        (stats["clusters"].clone(), stats["clustered"].clone())
    );
    dir.alike("recluster c --threshold 0.7", None).code(2).says("0.7").says("0.8");
    dir.alike("pairs c --threshold 2", None).code(2).says("threshold");
    dir.alike("recluster c --keep field:date:max", None).code(2).says("field:date:max");
    dir.alike("recluster in", None).code(4);
}
