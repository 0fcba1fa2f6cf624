//! `load --against`: a collection holds what it holds after a load of the input without the records that a plain program finds
//! to resemble protected documents, whatever the shape, the epochs and the history.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::cut_off::{start, until_epoch};
use crate::support::job::{Shape, done};
use crate::support::loads::{Seen, whole};
use crate::support::local::States;
use crate::support::methods::{METHODS, collection, collection_with};
use crate::support::oracle::{Contents, Doc, fraction};
use crate::support::output::{jsonl, label, sorted};
use crate::support::outputs::written;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, gzip, line, pages, words};

/// Which of `new` resemble one of `old`, by counting all pairs.
fn resembling(old: &[Doc], new: &[Doc], ngram: usize, least: (u64, u64)) -> BTreeSet<usize> {
    let all = [old, new].concat();
    let contents = Contents::count(&all, ngram, |pair| pair.resembles(least));
    let is_old = |content: usize| contents.holders[content][0] < old.len();
    let mut like: BTreeSet<usize> = (0..contents.holders.len()).filter(|content| is_old(*content)).collect();
    for pair in &contents.pairs {
        if is_old(pair.a) {
            like.insert(pair.b);
        } else if is_old(pair.b) {
            like.insert(pair.a);
        }
    }
    let docs = like.into_iter().flat_map(|content| &contents.holders[content]);
    docs.filter_map(|doc| doc.checked_sub(old.len())).collect()
}

/// Lines of which some are blank, as long as before: the others stand where they stood.
fn without(lines: &str, left_out: &BTreeSet<usize>) -> String {
    let blank = |(at, line): (usize, &str)| match left_out.contains(&at) {
        true => " ".repeat(line.len() - 1) + "\n",
        false => line.to_owned(),
    };
    lines.split_inclusive('\n').enumerate().map(blank).collect()
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

/// A report but for what tells of protected documents, of bytes, and of runs: how many there are hangs on workers, and merging
/// them is a commit.
fn beside(ran: &Ran) -> Value {
    let mut report = report(ran);
    let keys = ["left_out", "against", "against_ignored_keys", "epochs"];
    keys.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
    report["commit"] = report["commit"].is_null().into();
    report
}

fn list(dir: &Dir, name: &str) -> Vec<Value> {
    let rows = jsonl(&fs::read(dir.join(name)).unwrap());
    fs::remove_file(dir.join(name)).unwrap();
    rows
}

/// Two fifths of some documents are protected, in two files of the folder `old`; the others are in `new.jsonl`.
fn split(dir: &Dir, docs: &[Doc]) -> (Vec<Doc>, Vec<Doc>) {
    let (old, new) = docs.split_at(docs.len() * 2 / 5);
    let (first, second) = old.split_at(old.len() / 3);
    dir.write("old/a.jsonl", Doc::jsonl(first));
    dir.write("old/b.jsonl.gz", gzip(Doc::jsonl(second).as_bytes(), 50_000));
    dir.write("new.jsonl", Doc::jsonl(new));
    (old.to_vec(), new.to_vec())
}

/// The same load of an input without what is left out, in a folder of its own.
fn reference(new: &[Doc], left_out: &BTreeSet<usize>, flags: &str) -> (Seen, Value) {
    let dir = Dir::new();
    dir.write("new.jsonl", without(&Doc::jsonl(new), left_out));
    let ran = dir.alike(&format!("load c new.jsonl --json -q {flags}"), None).ok();
    (Seen::of(&dir, "c"), beside(&ran))
}

#[test]
fn like_a_load_of_what_is_left() {
    for (docs, threshold) in
        [(collection(), "0.8"), (collection_with(pages(6)), "0.8"), (collection(), "0.55")]
    {
        let dir = Dir::new();
        let (old, new) = split(&dir, &docs);
        let want = resembling(&old, &new, 5, fraction(threshold));
        assert!(want.len() > 500 && want.len() + 500 < new.len(), "nothing to tell apart: {}", want.len());
        dir.write("all.jsonl", Doc::jsonl(&old));
        dir.alike("load stored all.jsonl --threshold 0.95 -q", None).ok();
        let before = written(&dir.join("stored"));
        for (at, (clustering, beside_that)) in [
            ("transitive", "--against old -w 1"),
            ("transitive", "--against old -w 3 --epoch 60K"),
            ("guarantee", "--against stored -w 2 --epoch 100K --store-text"),
            ("guarantee", "--against old --memory 64MiB -w 2"),
        ]
        .into_iter()
        .enumerate()
        {
            let flags = format!("--threshold {threshold} --clustering {clustering}");
            let store = if beside_that.contains("--store-text") { " --store-text" } else { "" };
            let (seen, told) = reference(&new, &want, &format!("{flags}{store}"));
            let line = format!("load c{at} new.jsonl {flags} {beside_that} --left-out list.jsonl --json -q");
            let ran = dir.alike(&line, None).ok();
            seen.assert_eq(&Seen::of(&dir, &format!("c{at}")), &line);
            assert_eq!(beside(&ran), told, "{line}");
            whole(&dir, &format!("c{at}"));
            assert_eq!(report(&ran)["left_out"], want.len(), "{line}");
            let ids: Vec<String> = list(&dir, "list.jsonl").iter().map(|row| label(&row["id"])).collect();
            let wanted: Vec<&str> = want.iter().map(|at| &*new[*at].id).collect();
            assert_eq!(ids, wanted, "{line}");
        }
        assert!(written(&dir.join("stored")) == before, "a protected collection was written to");
    }
}

/// What quotes a protected text is left out, whatever the collection measures: the list has what `dedup` says of it, in any shape.
#[test]
fn what_quotes_a_protected_text_is_left_out() {
    let dir = Dir::new();
    let (old, _) = split(&dir, &collection_with(pages(6)));
    dir.write("all.jsonl", Doc::jsonl(&old));
    dir.alike("load stored all.jsonl -q", None).ok();
    let flags = "--measure containment-of-protected --threshold 0.9";
    let output = dir.output(&format!("new.jsonl {flags} --against month=old"), "out");
    let mut want: Vec<Value> = output.duplicates;
    want.retain(|row| row["against"].is_object());
    want.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("cluster")));
    let longer = want.iter().filter(|row| row["resemblance"].as_f64() < Some(0.8)).count();
    assert!(want.len() > 100 && longer > 10, "{} and {longer}: nothing to tell apart", want.len());
    let ids = |rows: &[Value]| rows.iter().map(|row| label(&row["id"])).collect::<BTreeSet<_>>();
    for (at, (made, shape, against)) in [
        ("", (1, 2), "month=old"),
        ("--threshold 0.9", (2, 1), "month=old"),
        ("--threshold 0.9", (1, 1), "month=stored"),
        ("--measure containment --threshold 0.9", (2, 2), "month=old"),
    ]
    .into_iter()
    .enumerate()
    {
        dir.write("first.jsonl", line("first", &words(90_000, 30)));
        if !made.is_empty() {
            dir.alike(&format!("load c{at} first.jsonl {made} -q"), None).ok();
        }
        let load =
            format!("load c{at} new.jsonl {flags} --against {against} --left-out list.jsonl --json -q");
        let ran = done(&dir, shape, &load);
        let got = list(&dir, "list.jsonl");
        assert_eq!(report(&ran)["left_out"], want.len(), "{load}");
        assert_eq!(ids(&got), ids(&want), "{load}");
        if against == "month=old" {
            assert_eq!(sorted(got), sorted(want.clone()), "{load}");
        }
        let info = dir.alike(&format!("info c{at} --json"), None).ok().stdout;
        let measure = if at == 0 || at == 3 { "containment" } else { "resemblance" };
        let told = &serde_json::from_str::<Value>(&info).unwrap()["configuration"]["join"];
        assert_eq!(told["measure"].as_str().unwrap_or("resemblance"), measure, "{load}");
        whole(&dir, &format!("c{at}"));
    }
    let plain = dir.alike("load c1 new.jsonl --measure containment-of-protected", None);
    plain.code(2).says("not containment-of-protected");
    dir.alike("load m first.jsonl --method minhash -q", None).ok();
    dir.alike(&format!("load m new.jsonl --against old {flags}"), None).code(2).says("--measure");
}

/// The list has what `dedup` says of the documents that protected ones removed; so for every method.
#[test]
fn the_list_is_that_of_dedup() {
    let dir = Dir::new();
    split(&dir, &collection());
    for (name, config) in METHODS {
        dir.write("m.toml", config);
        let flags = "--config m.toml --against month=old -w 2";
        let output = dir.output(&format!("new.jsonl {flags} --clustering guarantee"), &format!("out-{name}"));
        let mut want: Vec<Value> = output.duplicates;
        want.retain(|row| row["against"].is_object());
        want.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("cluster")));
        assert!(want.len() > 100, "{name}: nothing to tell apart");
        let load = format!("load {name} new.jsonl {flags} --left-out list.jsonl --json -q");
        let ran = dir.alike(&load, None).ok();
        let got = sorted(list(&dir, "list.jsonl"));
        let want = sorted(want);
        let differs = want.iter().zip(&got).find(|(want, got)| want != got);
        assert!(differs.is_none() && want.len() == got.len(), "{name}: {differs:?}");
        let told = report(&ran);
        assert_eq!(told["against"][0]["set"], "month", "{told}");
        assert_eq!(
            (&told["against"][0]["left_out"], &told["left_out"]),
            (&want.len().into(), &want.len().into())
        );
        assert_eq!(told["against"][0]["documents"], output.summary["against"][0]["documents"]);
    }
}

/// Pages of sites, most of which meet in hot groups: half of each site is protected.
#[test]
fn hot_groups_of_both_sides() {
    let dir = Dir::new();
    let mut texts = pages(8);
    Random(3).shuffle(&mut texts);
    let (old, new) = split(&dir, &Doc::all(&texts));
    let want = resembling(&old, &new, 5, (8, 10));
    assert!(want.len() > 100, "nothing to tell apart");
    let (seen, told) = reference(&new, &want, "");
    let ran = dir.alike("load c new.jsonl --against old -w 2 --json -q", None).ok();
    seen.assert_eq(&Seen::of(&dir, "c"), "hot groups");
    assert_eq!(beside(&ran), told);
}

#[test]
fn any_processes() {
    let dir = Dir::new();
    let (old, new) = split(&dir, &collection_with(pages(2)));
    let want = resembling(&old, &new, 5, (8, 10));
    dir.write("all.jsonl", Doc::jsonl(&old));
    dir.alike("load stored all.jsonl -q", None).ok();
    let (seen, told) = reference(&new, &want, "");
    let shapes: [(Shape, &str); 4] = [
        ((2, 1), "--against old"),
        ((2, 2), "--against old --epoch 100K"),
        ((3, 1), "--against stored"),
        ((4, 1), "--against stored --epoch 60K"),
    ];
    for (at, (shape, flags)) in shapes.into_iter().enumerate() {
        let ran = done(&dir, shape, &format!("load c{at} new.jsonl {flags} --left-out list.jsonl --json -q"));
        seen.assert_eq(&Seen::of(&dir, &format!("c{at}")), &format!("{shape:?} {flags}"));
        assert_eq!(beside(&ran), told, "{shape:?} {flags}");
        assert_eq!(list(&dir, "list.jsonl").len(), want.len(), "{shape:?} {flags}");
        whole(&dir, &format!("c{at}"));
    }
}

/// Also where each process keeps what it writes to itself.
#[test]
fn processes_with_folders_of_their_own() {
    let dir = Dir::new();
    let (old, new) = split(&dir, &collection());
    let (first, rest) = new.split_at(new.len() / 3);
    let (first, rest) = (first.to_vec(), rest.to_vec());
    let two = Dir::new();
    for (name, docs) in [("first.jsonl", &first), ("rest.jsonl", &rest)] {
        let want = resembling(&old, docs, 5, (8, 10));
        assert!(want.len() > 100, "nothing to tell apart");
        two.write(name, without(&Doc::jsonl(docs), &want));
        dir.write(name, Doc::jsonl(docs));
        two.alike(&format!("load c {name} -q"), None).ok();
        // Followers run elsewhere: what they read is named as process 0 finds it.
        States::OneFolder.done(&dir, (3, 1), &format!("load c {name} --against old --epoch 200K -q"));
    }
    dir.alike("fsck c --local-state state", None).ok();
    let seen = |dir: &Dir, flags: &str| {
        let mut rows = jsonl(dir.alike(&format!("documents c --json {flags}"), None).ok().stdout.as_bytes());
        rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("commit")));
        rows
    };
    assert_eq!(seen(&two, ""), seen(&dir, "--local-state state"));
}

/// A record of a random load: an id, a text, and whether it deletes.
type Record = (u8, Vec<u8>, bool);

fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..7, 0..9)
}

fn spelt(text: &[u8]) -> String {
    text.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
}

/// A random load: its records, whether documents that it does not mention go, and workers.
fn loads() -> impl Strategy<Value = Vec<(Vec<Record>, bool, usize)>> {
    let record = (0u8..14, texts(), prop::bool::weighted(0.1));
    prop::collection::vec((prop::collection::vec(record, 1..24), any::<bool>(), 1usize..4), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_histories(
        old in prop::collection::vec(texts(), 1..10),
        loads in loads(),
        threshold in prop::sample::select(vec!["0.3", "0.5", "0.8"]),
        guarantee in any::<bool>(),
        is_stored in any::<bool>(),
    ) {
        prop_assume!(old.iter().any(|text| !text.is_empty()));
        let (dir, two) = (Dir::new(), Dir::new());
        let doc = |id: String, text: &[u8]| Doc { id, text: spelt(text), score: None };
        let old: Vec<Doc> = old.iter().enumerate().map(|(at, text)| doc(format!("o{at}"), text)).collect();
        dir.write("old.jsonl", Doc::jsonl(&old));
        if is_stored {
            dir.alike("load stored old.jsonl --ngram 2 --threshold 0.9 -q", None).ok();
        }
        let clustering = if guarantee { "guarantee" } else { "transitive" };
        let against = if is_stored { "stored" } else { "old.jsonl" };
        for (records, missing, workers) in loads {
            let new: Vec<Doc> = records.iter().map(|(id, text, _)| doc(format!("d{id}"), text)).collect();
            let lines: String = records.iter().zip(&new).map(|((.., deletes), doc)| match deletes {
                true => format!("{}\n", json!({"op": "delete", "id": doc.id, "text": doc.text})),
                false => line(&doc.id, &doc.text),
            }).collect();
            let mut want = resembling(&old, &new, 2, fraction(threshold));
            want.retain(|at| !records[*at].2);
            dir.write("in.jsonl", &lines);
            two.write("in.jsonl", without(&lines, &want));
            let missing = if missing { "--delete-missing --allow-empty" } else { "" };
            let load = format!("load c in.jsonl --ngram 2 --threshold {threshold} --clustering {clustering} {missing} --max-delete 100% --json -q");
            let expected = two.alike(&load, None).ok();
            let ran = dir.alike(&format!("{load} -w {workers} --against {against} --left-out list.jsonl"), None).ok();
            prop_assert_eq!(beside(&ran), beside(&expected));
            Seen::of(&two, "c").assert_eq(&Seen::of(&dir, "c"), &load);
            let rows = list(&dir, "list.jsonl");
            let lines: BTreeSet<usize> = rows.iter().map(|row| row["line"].as_u64().unwrap() as usize - 1).collect();
            prop_assert_eq!(&lines, &want);
            for row in rows {
                let representative = old.iter().find(|doc| row["representative"] == doc.id).unwrap().clone();
                let at = row["line"].as_u64().unwrap() as usize - 1;
                let one = [new[at].clone()];
                prop_assert!(resembling(&[representative], &one, 2, fraction(threshold)).contains(&0), "{}", row);
            }
        }
    }
}

/// Waits until a load has made a checkpoint, and kills it.
fn kill_between_epochs(dir: &Dir, line: &str) {
    let mut child = start(dir, line);
    // The first is whole when the second is begun.
    until_epoch(dir, &mut child, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        dir.join("c")
            .read_dir()
            .unwrap()
            .any(|file| { file.unwrap().file_name().to_string_lossy().starts_with("checkpoint-") })
    );
}

/// An interrupted load goes on with the same records left out, or not at all.
#[test]
fn an_interrupted_load_leaves_out_the_same() {
    let dir = Dir::new();
    let (old, new) = split(&dir, &collection());
    let want = resembling(&old, &new, 5, (8, 10));
    let (seen, told) = reference(&new, &want, "");
    let load = "load c new.jsonl --against old --epoch 10K -w 1 --left-out list.jsonl --json -q";
    kill_between_epochs(&dir, load);
    let shorter = Doc::jsonl(&old[..10]);
    let (first, refused) = (fs::read(dir.join("old/a.jsonl")).unwrap(), "it left out");
    dir.alike("load c new.jsonl", None).code(4).says(refused).says("--against, not 0").says("--abandon");
    dir.write("old/a.jsonl", shorter);
    dir.alike(load, None).code(4).says(refused).says("run the same command again");
    dir.write("old/a.jsonl", first);
    let ran = dir.alike(load, None).ok();
    seen.assert_eq(&Seen::of(&dir, "c"), "gone on with");
    assert_eq!(beside(&ran), told);
    assert_eq!(list(&dir, "list.jsonl").len(), want.len());
    whole(&dir, "c");
}

#[test]
fn what_is_left_out_is_told() {
    let dir = Dir::new();
    let text = |at: usize| words(at * 100, 60);
    dir.write("eval.jsonl", line("q1", &text(0)) + &line("q2", "..."));
    dir.write("site.txt", text(1));
    let no_id = format!("{}\n", json!({"text": text(0)}));
    let gone = format!("{}\n", json!({"op": "delete", "id": "n9", "text": text(0)}));
    let lines: String = (0..14).map(|at| line(&format!("n{at}"), &text(at))).collect();
    dir.write("in.jsonl", lines + &no_id + &gone);
    let load = "load c in.jsonl --against eval=eval.jsonl --against site.txt --left-out out.jsonl";
    let ran = dir.alike(&format!("{load} --dry-run --json"), None).ok();
    let ran = ran.says("13 records: 11 would be added").says("nothing was written");
    let ran = ran.says("2 records would be left out, which resemble protected documents: 1 by eval (1 document), 1 by site.txt (1 document)");
    assert!(!dir.join("c").exists());
    let foreseen = list(&dir, "out.jsonl");
    let mut told = report(&ran);
    let ran = dir
        .alike(&format!("{load} --json"), None)
        .ok()
        .says("2 records left out, which resemble")
        .says("no id");
    told["dry_run"] = false.into();
    assert_eq!(report(&ran), told);
    let row = |id: &str, line: u64, old: &str, set: &str, file: &str| {
        json!({"id": id, "file": "in.jsonl", "line": line, "representative": old, "representative_file": file, "representative_line": 1,
               "resemblance": 1.0, "reason": "exact", "against": {"set": set, "file": file, "line": 1}})
    };
    let rows = list(&dir, "out.jsonl");
    assert_eq!(rows, foreseen);
    assert_eq!(
        rows,
        [row("n0", 1, "q1", "eval", "eval.jsonl"), row("n1", 2, "site.txt", "site.txt", "site.txt")]
    );
    // A list is never written over.
    dir.write("out.jsonl", "mine");
    dir.alike(load, None).code(2).says("--left-out out.jsonl: exists already");
    assert_eq!(fs::read_to_string(dir.join("out.jsonl")).unwrap(), "mine");
}

/// A stored document of an id that is left out stays as it is, or goes with all that the load does not mention.
#[test]
fn stored_documents_of_ids_that_are_left_out() {
    let dir = Dir::new();
    dir.write("old.jsonl", line("o", &words(0, 60)));
    dir.write(
        "first.jsonl",
        (1..9).map(|at| line(&format!("d{at}"), &words(at * 100, 60))).collect::<String>(),
    );
    dir.alike("load c first.jsonl", None).ok();
    let second = line("d1", &words(0, 60))
        + &(2..9).map(|at| line(&format!("d{at}"), &words(at * 100, 60))).collect::<String>();
    dir.write("second.jsonl", second);
    dir.alike("load c second.jsonl --against old.jsonl", None).ok().says("nothing changed");
    dir.alike("load c second.jsonl --against old.jsonl --delete-missing", None).ok().says("1 removed");
    dir.write("only.jsonl", line("d2", &words(0, 60)));
    let all = "load c only.jsonl --against old.jsonl --delete-missing";
    dir.alike(all, None).code(3).says("--against leaves out").says("--allow-empty");
    dir.alike(&format!("{all} --allow-empty"), None).ok().says("7 removed").says("1 record left out");
}

/// Held against what it holds already, a collection takes in only what is new.
#[test]
fn a_collection_is_held_against_itself() {
    let dir = Dir::new();
    dir.write(
        "first.jsonl",
        (0..6).map(|at| line(&format!("a{at}"), &words(at * 100, 60))).collect::<String>(),
    );
    dir.alike("load c first.jsonl", None).ok();
    dir.write(
        "second.jsonl",
        (4..9).map(|at| line(&format!("b{at}"), &words(at * 100, 60))).collect::<String>(),
    );
    dir.alike("load c second.jsonl --against c", None)
        .ok()
        .says("3 added")
        .says("2 records left out")
        .says("2 by c (6 documents)");
    dir.alike("load c second.jsonl --against c", None)
        .ok()
        .says("5 records left out")
        .says("nothing changed");
    whole(&dir, "c");
}

/// Rows of Parquet are known by their number, those of CSV by where they begin.
#[test]
fn rows_of_tables_are_left_out() {
    let dir = Dir::new();
    let row = |at: usize| format!("d{at},\"{}\nand on\"\n", words(at * 100, 40));
    dir.write("new.csv", "id,text\n".to_owned() + &(0..40).map(row).collect::<String>());
    dir.write("old.jsonl", [3, 17, 39].map(|at| line("o", &(words(at * 100, 40) + " and on"))).concat());
    let ran = dir.alike("load c new.csv --against old.jsonl --left-out out.jsonl --epoch 1K", None).ok();
    ran.says("37 records: 37 added").says("3 records left out");
    let ids: Vec<String> = list(&dir, "out.jsonl").iter().map(|row| label(&row["id"])).collect();
    assert_eq!(ids, ["d3", "d17", "d39"]);
}

#[cfg(feature = "parquet")]
#[test]
fn rows_of_columns_are_left_out() {
    use crate::support::columns::{Columns, Made};
    let dir = Dir::new();
    let row =
        |at: usize| Columns { id: format!("d{at}"), text: Some(words(at * 100, 40)), ..Columns::default() };
    dir.write("new.parquet", Made::plain(&[10]).file(&(0..40).map(row).collect::<Vec<_>>()));
    dir.write("old.jsonl", [3, 17, 39].map(|at| line("o", &words(at * 100, 40))).concat());
    let ran = dir.alike("load c new.parquet --against old.jsonl --left-out out.jsonl --epoch 1K", None).ok();
    ran.says("37 records: 37 added").says("3 records left out");
    let ids: Vec<String> = list(&dir, "out.jsonl").iter().map(|row| label(&row["id"])).collect();
    assert_eq!(ids, ["d3", "d17", "d39"]);
}

/// Protected records are read as those of a load, but they need no id.
#[test]
fn protected_records_need_no_id_and_deletions_protect_nothing() {
    let dir = Dir::new();
    let text = |at: usize| words(at * 100, 60);
    let bare = |at: usize| format!("{}\n", json!({"text": text(at)}));
    let gone = format!("{}\n", json!({"op": "delete", "id": "x", "text": text(3)}));
    dir.write("old.jsonl", bare(0) + &gone + &bare(1));
    dir.write("old.csv", format!("name,text\nx,{}\n", text(2)));
    dir.write("in.jsonl", (0..5).map(|at| line(&format!("n{at}"), &text(at))).collect::<String>());
    let load = "load c in.jsonl --against old.jsonl --against old.csv --left-out out.jsonl";
    dir.alike(load, None).ok().says("2 added").says("3 records left out");
    let rows = list(&dir, "out.jsonl");
    let of: Vec<(String, String)> =
        rows.iter().map(|row| (label(&row["id"]), label(&row["representative"]))).collect();
    let want = [("n0", "old.jsonl:1"), ("n1", "old.jsonl:3"), ("n2", "old.csv:2")];
    assert_eq!(of, want.map(|(id, old)| (id.to_owned(), old.to_owned())));
}

#[test]
fn standard_input_may_be_either_side() {
    let dir = Dir::new();
    let both = line("a", &words(0, 40)) + &line("b", &words(100, 40));
    dir.write("in.jsonl", &both);
    dir.write("old.jsonl", line("o", &words(0, 40)));
    dir.alike("load c - --against old.jsonl", Some(both.as_bytes())).ok().says("1 record left out");
    let old = line("o", &words(100, 40));
    dir.alike("load d in.jsonl --against -", Some(old.as_bytes())).ok().says("1 record left out");
}

#[test]
fn an_input_that_is_a_copy_of_a_protected_file_is_warned_of() {
    let dir = Dir::new();
    // Longer than what is compared at a time, and different at its end only.
    let texts = |last: &str| {
        let many: String = (0..300).map(|at| line(&at.to_string(), &words(at * 300, 300))).collect();
        assert!(many.len() > 1 << 18);
        many + &line("last", last)
    };
    dir.write("old.jsonl", texts("one two three"));
    dir.write("copy.jsonl", texts("one two three"));
    dir.write("other.jsonl", texts("one two four!"));
    let warning = "copy.jsonl holds the same bytes as old.jsonl, which --against protects: only documents without a word will be left of it";
    for command in ["dedup --dry-run", "load c --dry-run"] {
        dir.alike(&format!("{command} copy.jsonl --against old.jsonl"), None).ok().says(warning);
        let ran = dir.alike(&format!("{command} other.jsonl --against old.jsonl"), None).ok();
        assert!(!ran.stderr.contains("the same bytes"), "{}", ran.stderr);
    }
    dir.write("again.jsonl", texts("one two three"));
    let both = "dedup --dry-run again.jsonl copy.jsonl --against old.jsonl";
    dir.alike(both, None)
        .ok()
        .says("again.jsonl holds the same bytes")
        .says("left of it; so is it with 1 more file");
    // What was loaded into a collection is known by its digest, wherever the file is now.
    dir.alike("load c old.jsonl", None).ok();
    std::fs::remove_file(dir.join("old.jsonl")).unwrap();
    let loaded = "copy.jsonl holds the same bytes as old.jsonl, which was loaded into c, which --against protects: of it \
                  documents that are stored as they stand there will be left out";
    dir.alike("dedup --dry-run copy.jsonl --against old=c", None).ok().says(loaded);
    let ran = dir.alike("dedup --dry-run other.jsonl --against c", None).ok();
    assert!(!ran.stderr.contains("the same bytes"), "{}", ran.stderr);
}

#[test]
fn a_name_with_an_equals_sign_is_no_path() {
    let dir = Dir::new();
    dir.write("we=ird.jsonl", line("o", &words(0, 30)));
    dir.write("new.jsonl", line("n", &words(50, 30)));
    for command in ["dedup --dry-run new.jsonl --against", "decontaminate --dry-run new.jsonl --benchmarks"] {
        dir.alike(&format!("{command} we=ird.jsonl"), None)
            .code(3)
            .says("ird.jsonl: no such file")
            .says("write ./we=ird.jsonl");
        dir.alike(&format!("{command} ./we=ird.jsonl"), None).ok();
        let ran = dir.alike(&format!("{command} we=other.jsonl"), None).code(3);
        assert!(!ran.stderr.contains("./"), "{}", ran.stderr);
    }
}

#[test]
fn sets_that_cannot_be_meant_are_refused_before_work() {
    let dir = Dir::new();
    dir.write("new.jsonl", (0..20).map(|at| line(&at.to_string(), &words(at * 9, 30))).collect::<String>());
    dir.write("old.jsonl", line("o", &words(0, 30)));
    fs::hard_link(dir.join("new.jsonl"), dir.join("linked.jsonl")).expect("a link");
    dir.write("none/a.jsonl", "");
    dir.write("dots.jsonl", line("1", "..."));
    dir.write("asked.jsonl", "{\"question\":\"what\"}\n");
    let cut = gzip(line("1", &words(0, 30_000)).as_bytes(), 1 << 20);
    dir.write("cut.jsonl.gz", &cut[..cut.len() - 9]);
    dir.alike("load three old.jsonl --ngram 3", None).ok();
    dir.alike("load gone old.jsonl", None).ok();
    dir.alike("delete gone --ids - --max-delete 100%", Some(b"o")).ok();
    dir.alike("load torn old.jsonl", None).ok();
    fs::write(dir.join("torn/manifest-00000001"), "{").unwrap();
    for (flags, code, parts) in [
        ("--against lost.jsonl", 3, &["lost.jsonl", "no such file"][..]),
        ("--against new.jsonl", 3, &["new.jsonl", "is an input", "nothing of it would be left"]),
        ("--against linked.jsonl", 3, &["new.jsonl", "is an input", "nothing of it would be left"]),
        ("--against old=none", 2, &["--against old", "nothing in it"]),
        ("--against dots.jsonl", 2, &["there are no documents in it"]),
        ("--against asked.jsonl", 3, &["of --against asked.jsonl", "protects nothing"]),
        ("--against cut.jsonl.gz", 3, &["cut.jsonl.gz", "is protected"]),
        ("--against three", 2, &["--against three", "text.ngram is 3, not 5", "load into a collection"]),
        ("--against three --ngram 3 --method minhash", 2, &["method is join, not minhash"]),
        ("--against gone", 2, &["no documents in the collection gone"]),
        ("--against a=three --against b=three --ngram 3", 3, &["three: is named twice"]),
        ("--against torn", 4, &["torn/manifest-00000001"]),
        ("--left-out out.jsonl", 2, &["--against"]),
        ("--against old.jsonl --left-out l.jsonl --rejected l.jsonl", 2, &["name the same file"]),
    ] {
        let mut ran = dir.alike(&format!("load c new.jsonl {flags}"), None);
        assert_eq!(ran.code, Some(code), "{flags}: {}", ran.stderr);
        for part in parts {
            ran = ran.says(part);
        }
        // A folder that was made stays, with nothing in it.
        assert_eq!(fs::read_dir(dir.join("c")).into_iter().flatten().count(), 0, "{flags}");
        assert!(!dir.join("out.jsonl").exists() && !dir.join("l.jsonl").exists(), "{flags}");
    }
    dir.alike("load c - --against -", Some(b"")).code(2).says("standard input can be read once");
    dir.alike("load c --abandon --against old.jsonl", None).code(2);
    dir.alike("launch -n 2 -- load c new.jsonl --against -", None).code(2).says("standard input");
    dir.alike("load c new.jsonl --against three --ngram 3", None).ok().says("1 record left out");
}
