//! Lists in every form say the same, and one of them names every document.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::output::{Output, jsonl, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{gzip, line, text, words};

/// Two files of documents, some of which are no documents or have no id.
fn inputs(dir: &Dir) -> Vec<(String, String, u64)> {
    let mut documents = Vec::new();
    for (name, start) in [("in/a.jsonl", 0), ("in/b.jsonl.gz", 200)] {
        let mut text = String::new();
        for at in 0..200usize {
            let body = format!("{} x{}", words((start + at) * 7 % 23 * 100, 40), at % 2);
            match at % 50 {
                13 => text.push_str("no JSON\n"),
                21 => text.push('\n'),
                _ => {
                    let id = format!("d{}", start + at);
                    let unnamed = at % 50 == 7;
                    let called = if unnamed { format!("{name}:{}", at + 1) } else { id.clone() };
                    documents.push((called, name.to_owned(), at as u64 + 1));
                    let unnamed_line = format!("{}\n", json!({ "text": body }));
                    text.push_str(&if unnamed { unnamed_line } else { line(&id, &body) });
                }
            }
        }
        let packed = if name.ends_with(".gz") { gzip(text.as_bytes(), 2000) } else { text.into_bytes() };
        dir.write(name, packed);
    }
    documents
}

#[test]
fn every_document_is_assigned_as_the_other_lists_say() {
    let dir = Dir::new();
    let documents = inputs(&dir);
    for (flags, out) in
        [("", "one"), ("--keep longest --keep-per-cluster 3 --clustering transitive", "three")]
    {
        let output = dir.output(&format!("in {flags} --assignments -w 3"), out);
        let rows = jsonl(&std::fs::read(dir.join(out).join("assignments.jsonl")).unwrap());
        let places: Vec<(String, String, u64)> = rows
            .iter()
            .map(|row| (label(&row["id"]), label(&row["file"]), row["line"].as_u64().unwrap()))
            .collect();
        assert_eq!(places, documents, "all documents in their order");
        let removed: BTreeMap<String, &Value> =
            output.duplicates.iter().map(|row| (label(&row["id"]), row)).collect();
        let mut clusters = BTreeMap::new();
        for cluster in &output.clusters {
            for id in cluster["members"].as_array().unwrap() {
                clusters.insert(label(id), cluster);
            }
        }
        for row in &rows {
            let id = label(&row["id"]);
            let (cluster, removed) = (clusters.get(&id), removed.get(&id));
            assert_eq!(row["kept"], removed.is_none(), "{row}");
            assert_eq!(row["reason"], removed.map_or(Value::Null, |removed| removed["reason"].clone()));
            assert_eq!(row["size"], cluster.map_or(json!(1), |cluster| cluster["size"].clone()));
            for key in ["cluster", "representative"] {
                assert_eq!(row[key], cluster.map_or(Value::Null, |cluster| cluster[key].clone()), "{row}");
            }
            // Where the representative stands is where a row of that id does: ids are unique here.
            let place = |id: &Value| {
                let at = places.iter().find(|(other, ..)| *id == **other);
                at.map_or((Value::Null, Value::Null), |(_, file, line)| (json!(file), json!(line)))
            };
            let named =
                |row: &Value| (row["representative_file"].clone(), row["representative_line"].clone());
            assert_eq!(named(row), place(&row["representative"]), "{row}");
            if let Some(removed) = removed {
                assert_eq!(row["resemblance"], removed["resemblance"]);
                assert_eq!(named(removed), named(row), "{removed}");
            }
        }
    }
    dir.dedup("in --assignments --dry-run").ok();
    assert!(Output::read(&dir.join("one")).kept.len() == 2);
}

/// The ids of a text twice each: numbers as they are spelt, strings that look like them, and none.
const IDS: [&str; 8] = ["7", "\"7\"", "-1", "1.50", "123456789012345678901", "1e400", "\"a\"", "null"];

#[test]
fn ids_are_in_json_what_they_were_in_the_input() {
    let dir = Dir::new();
    let lines = IDS.iter().flat_map(|id| [*id, "\"last\""]).enumerate().map(|(at, id)| {
        // Each id has a text of its own, of which another document is a copy.
        format!("{{\"id\": {id}, \"text\": {}}}\n", json!(words(at / 2 * 100, 40)))
    });
    dir.write("in.jsonl", lines.collect::<String>());
    let found = alike_in_all(&dir, "in.jsonl --assignments --pairs --keep last", &[(1, 3), (2, 2)]);
    let list = |name: &str| text(found[name].clone());
    let (duplicates, pairs) = (list("duplicates.jsonl"), list("pairs.jsonl"));
    let (clusters, assignments) = (list("clusters.jsonl"), list("assignments.jsonl"));
    for (at, id) in IDS.iter().enumerate() {
        let place = format!("\"in.jsonl:{}\"", 2 * at + 1);
        let said = if *id == "null" { &place } else { *id };
        assert!(duplicates.contains(&format!("{{\"id\":{said},\"file\":")), "{id}: {duplicates}");
        assert!(pairs.contains(&format!("{{\"a\":{said},\"b\":\"last\",")), "{id}: {pairs}");
        assert!(clusters.contains(&format!("\"members\":[{said},\"last\"]")), "{id}: {clusters}");
        assert!(assignments.contains(&format!("{{\"id\":{said},\"file\":")), "{id}: {assignments}");
    }
    // By the first one, so that what stands for a cluster is a number.
    dir.dedup("in.jsonl --annotate --out marked").ok();
    let marked = text(std::fs::read(dir.join("marked/annotated/in.jsonl")).unwrap());
    assert!(marked.contains("\"representative\":{\"id\":1.50,\"file\":"), "{marked}");
    let asked = |line: &str| -> Value { serde_json::from_str(&dir.alike(line, None).ok().stdout).unwrap() };
    let explained = asked("explain marked in.jsonl:2 --format json");
    assert_eq!((&explained["representative"], &explained["document"]["id"]), (&json!(7), &json!("last")));
    assert_eq!(asked("show marked 2 --format json")["representative"]["id"], json!("7"));
    // Tables have their letters alone; what is found in the inputs is called as it is there.
    #[cfg(feature = "parquet")]
    {
        let flags = "--keep-per-cluster 2 --lists parquet";
        dir.dedup(&format!("in.jsonl {flags} --out tables -q")).ok();
        let explained = asked("explain tables in.jsonl:1 --format json");
        assert_eq!((&explained["representative"], &explained["document"]["cluster"]), (&json!(7), &json!(1)));
        let beside = asked("explain tables in.jsonl:5 --format json");
        assert_eq!((&beside["document"]["id"], &beside["document"]["cluster"]), (&json!(-1), &json!(3)));
    }
    // Whoever types 7 may mean either, and is told so.
    dir.alike("explain marked 7", None).code(2).says("2 documents have the id \"7\": in.jsonl:1, in.jsonl:3");
}

#[cfg(feature = "parquet")]
mod tables {
    use parquet::record::{Field, Row};

    use super::*;
    use crate::support::columns::read_back;
    use crate::support::output::reread;

    fn value(field: &Field) -> Value {
        match field {
            Field::Null => Value::Null,
            Field::Bool(truth) => json!(truth),
            Field::Long(number) => json!(number),
            Field::Double(number) => json!(number),
            Field::Str(text) => json!(text),
            Field::ListInternal(list) => list.elements().iter().map(value).collect(),
            other => panic!("no list has {other}"),
        }
    }

    fn object(row: &Row) -> Value {
        Value::Object(row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect())
    }

    /// A row without what it does not say.
    fn said(row: &Value) -> Value {
        let said = row.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        Value::Object(said.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    #[test]
    fn tables_say_what_lines_say() {
        let dir = Dir::new();
        inputs(&dir);
        for (at, flags) in [
            "--pairs --kinds --keep-per-cluster 2",
            "--pairs --clustering transitive --threshold 0.7",
            "--method minhash --pairs",
            "--method simhash",
            "--method exact --strict --input-format text",
        ]
        .into_iter()
        .enumerate()
        {
            let line = format!("in {flags} --assignments").replace(" --strict --input-format text", "");
            dir.output(&line, &format!("lines{at}"));
            dir.dedup(&format!("{line} --lists parquet -w 2 --out tables{at}")).ok();
            let lists = ["duplicates", "clusters", "pairs", "rejected", "assignments"];
            for name in lists.into_iter().filter(|name| *name != "pairs" || flags.contains("--pairs")) {
                let lines = std::fs::read(dir.join(&format!("lines{at}/{name}.jsonl"))).unwrap();
                let table = std::fs::read(dir.join(&format!("tables{at}/{name}.parquet"))).unwrap();
                let found: Vec<Value> = read_back(&table).0.iter().map(|row| said(&object(row))).collect();
                let (found, expected) = (reread(&found), jsonl(&lines));
                let expected: Vec<Value> = expected.iter().map(said).collect();
                assert_eq!(found.len(), expected.len(), "{name}");
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found, expected, "{flags}: {name}");
                }
            }
            assert!(!dir.join(&format!("tables{at}/duplicates.jsonl")).exists());
        }
        alike_in_all(&dir, "in --lists parquet --assignments --pairs", &[(1, 3), (2, 2)]);
        dir.alike("load c in", None).ok();
        dir.alike("export c --out export --lists parquet --assignments", None).ok();
        let table = std::fs::read(dir.join("export/assignments.parquet")).unwrap();
        // A load takes no record without an id.
        assert_eq!(read_back(&table).0.len(), 2 * (192 - 4));
    }
}
