//! `--within`: documents of different values are never compared. Held against runs on each value by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::job::Shape;
use crate::support::methods::{METHODS, collection_with};
use crate::support::oracle::Doc;
use crate::support::output::{Output, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, line, pages, words};

/// What a document's `lang` is: strings, a number, and nothing at all.
fn language(at: usize) -> Option<Value> {
    match at % 7 {
        0..3 => Some(json!("en")),
        3 | 4 => Some(json!("de")),
        5 => Some(json!(5)),
        _ => None,
    }
}

fn record(doc: &Doc, language: Option<&Value>) -> String {
    let mut record = json!({"id": doc.id, "text": doc.text});
    language.into_iter().for_each(|language| record["meta"] = json!({"lang": language}));
    format!("{record}\n")
}

/// Documents of which each value has near-copies, and near-copies of other values; by value, and all of them.
fn documents() -> (BTreeMap<String, String>, String) {
    let (mut apart, mut all) = (BTreeMap::<String, String>::new(), String::new());
    for (at, doc) in collection_with(pages(12)).iter().enumerate() {
        let language = language(Random(at as u64).below(1 << 20));
        let row = record(doc, language.as_ref());
        all += &row;
        *apart.entry(language.map_or("none".into(), |language| label(&language))).or_default() += &row;
    }
    (apart, all)
}

/// What became of the removed documents: representative, reason and what was measured.
fn removed(output: &Output) -> BTreeMap<String, Value> {
    let row = |row: &Value| {
        let shown = ["representative", "reason", "resemblance", "parent"].map(|key| row[key].clone());
        (label(&row["id"]), json!(shown))
    };
    output.duplicates.iter().map(row).collect()
}

fn pairs(output: &Output) -> BTreeSet<String> {
    output.pairs.iter().map(Value::to_string).collect()
}

#[test]
fn like_runs_on_each_value() {
    let dir = Dir::new();
    let (apart, all) = documents();
    dir.write("all.jsonl", all);
    for (name, rows) in &apart {
        dir.write(&format!("{name}.jsonl"), rows);
    }
    let others =
        ["simhash", "winnow", "supershingles"].map(|method| (method, format!("method = '{method}'")));
    let methods = METHODS.iter().map(|(name, config)| (*name, (*config).to_owned())).chain(others);
    for (at, (name, config)) in methods.enumerate() {
        let is_capped = config.contains("common_cap");
        dir.write("m.toml", config);
        let clustering = ["guarantee", "transitive"][at % 2];
        for flags in ["", " --pairs"] {
            let flags = format!("--config m.toml --clustering {clustering} -w {}{flags}", at % 3 + 1);
            let together = dir.output(&format!("all.jsonl --within meta.lang {flags}"), "out");
            let (mut want, mut want_pairs, mut kept) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
            for of in apart.keys() {
                let alone = dir.output(&format!("{of}.jsonl {flags}"), "alone");
                want.append(&mut removed(&alone));
                want_pairs.append(&mut pairs(&alone));
                kept.extend(alone.kept_lines());
                std::fs::remove_dir_all(dir.join("alone")).unwrap();
            }
            assert!(want.len() > 20, "{name}: nothing to tell apart");
            let got = removed(&together);
            let differs = want.iter().find(|(id, row)| got.get(*id) != Some(row));
            assert!(differs.is_none(), "{name} {flags}: {differs:?}, {:?}", got.get(differs.unwrap().0));
            assert_eq!(got.len(), want.len(), "{name} {flags}");
            assert!(pairs(&together) == want_pairs, "{name} {flags}");
            assert!(together.kept_lines().into_iter().eq(kept), "{name} {flags}");
            assert_eq!(together.summary["missing_within"], apart["none"].lines().count());
            std::fs::remove_dir_all(dir.join("out")).unwrap();
        }
        let plain = dir.output("all.jsonl --config m.toml", &format!("plain-{name}"));
        let compared = plain.summary["removed"].as_u64().unwrap();
        let within = dir.output("all.jsonl --config m.toml --within meta.lang", &format!("within-{name}"));
        // A cap is one of what is compared: of all documents it leaves out more keys.
        assert!(
            is_capped || compared > within.summary["removed"].as_u64().unwrap() + 100,
            "{name}: nothing to tell apart"
        );
    }
}

#[test]
fn any_workers_and_processes() {
    let dir = Dir::new();
    let (apart, all) = documents();
    dir.write("all.jsonl", all);
    dir.write("de.jsonl", &apart["de"]);
    dir.write("en.jsonl", &apart["en"]);
    let shapes: [Shape; 4] = [(1, 3), (2, 1), (2, 2), (3, 1)];
    for flags in [
        "all.jsonl --within meta.lang --pairs",
        "all.jsonl --within meta.lang --method exact",
        "de.jsonl en.jsonl --within :file",
        "all.jsonl --against de.jsonl --within meta.lang --clustering transitive",
    ] {
        alike_in_all(&dir, flags, &shapes);
    }
}

#[test]
fn files_and_formats() {
    let dir = Dir::new();
    dir.write("a.jsonl", line("1", &words(0, 40)) + &line("2", &words(0, 40)));
    dir.write("b.jsonl", line("3", &words(0, 40)) + &line("4", &words(90, 40)));
    let files = dir.output("a.jsonl b.jsonl --within :file", "files");
    assert_eq!(files.removed_ids(), ["2"]);
    assert!(files.summary.get("missing_within").is_none());

    let text = words(0, 40);
    dir.write(
        "t.csv",
        format!("id,lang,text\n1,en,{text}\n2,de,{text}\n3,en,{text}\n4,,{text}\n5,,{text}\n"),
    );
    let table = dir.output("t.csv --within lang", "table");
    assert_eq!(table.removed_ids(), ["3", "5"]);
    // Values are what is spelt, in whatever format: numbers are not rounded.
    dir.write("n.csv", format!("id,lang,text\nx,9007199254740993,{text}\nz,09007199254740993,{text}\n"));
    let numbers = [json!(9007199254740993u64), json!("9007199254740993"), json!(9007199254740992u64)];
    let rows = numbers.iter().enumerate();
    let rows = rows
        .map(|(at, number)| format!("{}\n", json!({"id": format!("y{at}"), "lang": number, "text": text})));
    dir.write("n.jsonl", rows.collect::<String>());
    assert_eq!(dir.output("n.csv n.jsonl --within lang", "numbers").removed_ids(), ["y0", "y1"]);

    let page = |host: &str| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{host}/\r\nX-Site: {host}\r\n"
        );
        format!(
            "{head}Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    dir.write("c.warc", ["a.org", "b.org", "a.org"].map(page).concat());
    let crawl = dir.output("c.warc --within X-Site", "crawl");
    assert_eq!(crawl.duplicates.len(), 1, "{:?}", crawl.duplicates);
    let mail =
        |list: &str| format!("From x Thu Jan  1 00:00:00 1970\nFrom: a@b\nList-Id: {list}\n\n{text}\n\n");
    dir.write("m.mbox", ["<a>", "<b>", "<b>"].map(mail).concat());
    assert_eq!(dir.output("m.mbox --within List-Id", "mail").duplicates.len(), 1);
}

#[test]
fn a_field_that_is_not_there_is_told_and_wrong_names_are_refused() {
    let dir = Dir::new();
    dir.write("a.jsonl", line("1", &words(0, 40)) + &line("2", &words(0, 40)));
    let refused = "no document has a number or a string in the field nosuch; the first record has: id, text";
    dir.dedup("a.jsonl --within nosuch --dry-run").code(3).says(refused);
    // In many epochs, of which nothing is left.
    let many = (0..400).map(|at| line(&at.to_string(), &words(at * 50, 40))).collect::<String>();
    dir.write("many.jsonl", many);
    for load in ["load c a.jsonl", "load c many.jsonl --epoch 16K -w 1"] {
        dir.alike(&format!("{load} --within nosuch"), None).code(3).says("in the field nosuch; name a field");
        assert_eq!(std::fs::read_dir(dir.join("c")).unwrap().count(), 0, "{load}");
    }
    dir.write("gone.jsonl", "{\"op\":\"delete\",\"id\":\"1\"}\n");
    dir.alike("load deleted gone.jsonl --within nosuch", None).ok();
    dir.write("alone.jsonl", line("1", &words(0, 40)));
    dir.dedup("alone.jsonl --within nosuch --dry-run").ok();
    std::fs::remove_dir(dir.join("c")).unwrap();
    dir.write("b.jsonl", line("3", &words(0, 40)));
    let one = serde_json::json!({ "id": "4", "lang": "de", "text": words(0, 40) });
    dir.write("one.jsonl", format!("{one}\n"));
    dir.dedup("a.jsonl one.jsonl --against b.jsonl --within lang --dry-run")
        .ok()
        .says("2 documents without a number or a string in the field lang")
        .says("1 protected document without");
    dir.dedup("a.jsonl --within a..b --dry-run").code(2).says("input.within_field");
    dir.dedup("a.jsonl --within :files --dry-run").code(2).says(":file to compare");
    let loads = "load c a.jsonl --within";
    dir.alike(&format!("{loads} :file"), None).code(2).says("within_field").says("from load to load");
    assert!(!dir.join("c").exists());
    dir.write("within.toml", "[input]\nwithin_field = 'lang'");
    dir.alike("load c a.jsonl one.jsonl --config within.toml", None)
        .ok()
        .says("2 records without a number or a string in the field lang");
    dir.alike(&format!("{loads} site"), None).code(2).says("input.within_field is lang, not site");
    dir.alike("load c b.jsonl", None).ok();
    dir.alike("load plain a.jsonl", None).ok();
    let against = "dedup b.jsonl --dry-run --against";
    dir.alike(&format!("{against} plain --within lang"), None).code(2).says("does not store");
    dir.alike(&format!("{against} c --within site"), None).code(2).says("of the same lang");
    dir.alike(&format!("{against} c --against plain"), None)
        .code(2)
        .says("within_field is what it is by default, not lang");
    dir.alike("load plain b.jsonl --against c", None)
        .code(2)
        .says("within_field is lang, not what it is by default");
}

/// A collection whose documents are compared within a value: what is asked of it is what `dedup --within` says of the same
/// documents, and texts are held against those of their value.
#[test]
fn collections_compare_within_a_value_too() {
    let dir = Dir::new();
    let (apart, all) = documents();
    dir.write("all.jsonl", &all);
    let mut rows: Vec<&str> = all.lines().collect();
    // Then the order of the documents is the same after one load.
    rows.sort_unstable_by_key(|row| label(&serde_json::from_str::<Value>(row).unwrap()["id"]));
    for (at, part) in rows.chunks(rows.len().div_ceil(3)).enumerate() {
        dir.write(&format!("{at}.jsonl"), part.join("\n") + "\n");
    }
    for at in 0..3 {
        let lines =
            dir.alike(&format!("load c {at}.jsonl --within meta.lang -w {}", at + 1), None).ok().stderr;
        assert!(lines.contains("records without a number or a string in the field meta.lang"), "{lines}");
    }
    dir.alike("load whole all.jsonl --within meta.lang", None).ok();
    dir.alike("compact whole", None).ok();
    dir.alike("fsck whole", None).ok();
    let sorted = |line: &str| {
        let mut lines: Vec<String> = dir.alike(line, None).ok().stdout.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let (of_loads, of_one) = (sorted("pairs c"), sorted("pairs whole"));
    assert!(of_loads.len() > 50 && of_loads == of_one, "{} and {} pairs", of_loads.len(), of_one.len());
    // Clusters of one run, and those of the collection exported and clustered again.
    let clusters = |output: &Output| -> BTreeSet<BTreeSet<String>> {
        let members = |row: &Value| row["members"].as_array().unwrap().iter().map(label).collect();
        output.clusters.iter().map(members).collect()
    };
    let want = dir.output("all.jsonl --within meta.lang --clustering transitive", "out");
    let of_collection: BTreeSet<BTreeSet<String>> = sorted("clusters c --json")
        .iter()
        .map(|row| serde_json::from_str::<Value>(row).unwrap())
        .map(|row| row["members"].as_array().unwrap().iter().map(label).collect())
        .collect();
    assert!(of_collection == clusters(&want), "other clusters");
    // Each document of another value is new to the collection; each of its own is known.
    let row =
        |id: &str, lang: &str| json!({"id": id, "text": words(9000, 60), "meta": {"lang": lang}}).to_string();
    let (known, other) = (row("solo", "en"), row("other", "de"));
    dir.write("solo.jsonl", format!("{known}\n"));
    dir.alike("load c solo.jsonl", None).ok();
    dir.write("known.jsonl", format!("{known}\n"));
    dir.write("other.jsonl", format!("{other}\n"));
    let checked = |file: &str| dir.alike(&format!("check c {file} --json"), None).ok().stdout;
    assert!(checked("known.jsonl").contains("\"same_text\":true"), "{}", checked("known.jsonl"));
    assert!(!checked("other.jsonl").contains("\"same_text\":true"), "{}", checked("other.jsonl"));
    let removed =
        |file: &str| dir.output(&format!("{file} --against c"), &format!("{file}-out")).duplicates.len();
    assert_eq!((removed("known.jsonl"), removed("other.jsonl")), (1, 0));
    let left_out = dir.alike("load c other.jsonl --against old=c --json", None).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&left_out).unwrap()["left_out"], 0, "{left_out}");
    // Equal texts of two values are apart, and the answer says why.
    let explain = "explain c solo other";
    let told: Value = serde_json::from_str(&dir.alike(explain, None).ok().stdout).unwrap();
    assert_eq!((&told["answer"], &told["ends"]["kept_apart"]), (&json!("apart"), &json!("within")), "{told}");
    assert_eq!((&told["rule"]["within"], &told["best"]), (&json!("meta.lang"), &json!(null)));
    let lines = dir.alike(&format!("{explain} --format table"), None).ok().stdout;
    assert!(lines.contains("same text; --within keeps them apart"), "{lines}");
    // Without a value a text is held against documents that have none, and that is said.
    dir.write("bare.jsonl", line("bare", &words(9000, 60)));
    let bare = dir
        .alike("check c bare.jsonl --json", None)
        .ok()
        .says("1 text without a number or a string in the field meta.lang");
    assert!(!bare.stdout.contains("\"same_text\":true"), "{}", bare.stdout);
    // A document that changes its value only is another one.
    dir.write("moved.jsonl", row("solo", "de") + "\n");
    let moved = dir.alike("load c moved.jsonl --json", None).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&moved).unwrap()["replaced"], 1, "{moved}");
    let told: Value = serde_json::from_str(&dir.alike(explain, None).ok().stdout).unwrap();
    assert_eq!(
        (&told["answer"], &told["chain"][0]["same_text"]),
        (&json!("together"), &json!(true)),
        "{told}"
    );
    dir.alike("fsck c", None).ok();
    // An output says it as the collection does.
    dir.dedup("known.jsonl other.jsonl --within meta.lang --out two -q").ok();
    let told: Value = serde_json::from_str(&dir.alike("explain two solo other", None).ok().stdout).unwrap();
    assert_eq!(told["ends"]["kept_apart"], "within", "{told}");
    assert_eq!(
        (&told["ends"]["same_text"], &told["ends"]["measures"]["linked"]),
        (&json!(true), &json!(false))
    );
    assert!(apart.len() > 3);
    // Of a document that is not at hand no value is known, so nothing is said of it.
    dir.write("near.jsonl", row("near", "en").replace("w9000 ", "x "));
    dir.alike("load other-c known.jsonl --within meta.lang", None).ok();
    dir.dedup("near.jsonl --against other-c --within meta.lang --out listed -q").ok();
    let told: Value = serde_json::from_str(&dir.alike("explain listed near solo", None).ok().stdout).unwrap();
    assert_eq!(
        (&told["answer"], &told["chain"][0]["kept_apart"]),
        (&json!("together"), &json!(null)),
        "{told}"
    );
    for command in ["dedup known.jsonl --dry-run --within=", "load empty known.jsonl --within="] {
        dir.alike(command, None).code(2).says("--within");
    }
    assert!(!dir.join("empty").exists());
}
