//! Records in another form than that of their inputs, and with what was found: held against the lists of the same run.

use std::collections::BTreeMap;
use std::io::Read;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::output::{Output, jsonl, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, unpack, words, zst};

/// A document of the tests.
struct Document {
    id: String,
    text: String,
}

/// Documents of a few families, near-copies among them.
fn documents(count: usize) -> Vec<Document> {
    let document = |at: usize| {
        let text = format!("{} x{} <caf\u{e9} & co>", words(at * 5 % 11 * 100, 40), at % 3);
        Document { id: format!("d{at:03}"), text }
    };
    (0..count).map(document).collect()
}

fn warc(documents: &[Document]) -> String {
    let record = |Document { id, text }: &Document| {
        let text = format!("{text}\n");
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: {id}\r\nWARC-Target-URI: http://a/{id}\r\nWARC-Date: \
             2020-01-02T03:04:05Z\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let info = "WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: i\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    info.to_owned() + &documents.iter().map(record).collect::<String>()
}

fn message(Document { id, text }: &Document) -> String {
    format!(
        "From: A B <a@b>\nTo: c@d\nSubject: on {id}\nDate: Thu, 2 Jan 2020 03:04:05 +0000\nMessage-ID: <{id}>\n\
         MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{text}\n"
    )
}

fn page(Document { id, text }: &Document) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<!doctype html><html><head><title>on {id}\n</title></head><body><p>{text}</p></body></html>")
}

/// The object of a document.
type ObjectOf = fn(&Document, usize) -> Value;

/// Writes all documents in every format: names, and what the object of a document is there.
fn every_format(dir: &Dir, documents: &[Document]) -> Vec<(&'static str, ObjectOf)> {
    let line = |Document { id, text }: &Document| {
        format!("{{\"text\": {}, \"n\": 1.50, \"id\": \"{id}\"}}\r\n", json!(text))
    };
    dir.write("jsonl/a.jsonl.gz", gzip(documents.iter().map(line).collect::<String>().as_bytes(), 300));
    let row = |Document { id, text }: &Document| format!("1,\"{text}\"\t,{id}\r\n").replace("\"\t", "\"");
    dir.write("csv/a.csv", format!("n,text,id\r\n{}", documents.iter().map(row).collect::<String>()));
    dir.write("warc/a.warc.gz", gzip(warc(documents).as_bytes(), 5000));
    let stretch = |document: &Document| format!("From x Thu Jan  1 00:00:00 1970\n{}\n", message(document));
    dir.write("mbox/a.mbox", documents.iter().map(stretch).collect::<String>());
    for document in documents {
        dir.write(&format!("html/{}.html", document.id), page(document));
        dir.write(&format!("text/{}.txt.zst", document.id), zst(document.text.as_bytes(), 100));
        dir.write(&format!("mail/{}.eml", document.id), message(document));
    }
    vec![
        ("jsonl", |document, _| json!({"id": document.id, "text": document.text, "n": 1.50})),
        ("csv", |document, _| json!({"id": document.id, "text": document.text, "n": "1"})),
        ("warc", |document, _| {
            json!({"id": document.id, "file": "warc/a.warc.gz", "url": format!("http://a/{}", document.id),
                   "date": "2020-01-02T03:04:05Z", "text": format!("{}\n", document.text)})
        }),
        ("mbox", |document, _| mailed(document, "mbox/a.mbox", "\n\n")),
        ("html", |document, _| {
            let file = format!("html/{}.html", document.id);
            let (id, title) = (format!("{file}:1"), format!("on {}", document.id));
            json!({"id": id, "file": file, "title": title, "text": format!("{title}\n{}\n", document.text)})
        }),
        ("text", |document, _| {
            let file = format!("text/{}.txt.zst", document.id);
            json!({"id": format!("{file}:1"), "file": file, "text": document.text})
        }),
        ("mail", |document, _| mailed(document, &format!("mail/{}.eml", document.id), "\n")),
    ]
}

fn mailed(document: &Document, file: &str, end: &str) -> Value {
    json!({"id": document.id, "file": file, "from": "A B <a@b>", "to": "c@d", "date": "2020-01-02T03:04:05Z",
           "subject": format!("on {}", document.id), "text": format!("{}{end}", document.text)})
}

/// Texts of pages and mails may have other blanks around them than the documents they were made of.
fn trimmed(mut object: Value) -> Value {
    let text = object["text"].as_str().unwrap().trim().to_owned();
    object["text"] = json!(text);
    object
}

/// The documents that a run kept, or those that it did not, in the order of the input.
fn chosen<'a>(documents: &'a [Document], output: &Output, removed: bool) -> Vec<&'a Document> {
    let gone = output.removed_ids();
    // A page is called by its file and line.
    let is_gone = |id: &str| {
        gone.iter().any(|name| name == id || name.rsplit('/').next().unwrap().split('.').next() == Some(id))
    };
    documents.iter().filter(|document| is_gone(&document.id) == removed).collect()
}

#[test]
fn every_format_becomes_lines_and_ids() {
    let (dir, documents) = (Dir::new(), documents(60));
    for (at, (name, object)) in every_format(&dir, &documents).into_iter().enumerate() {
        let line = format!("{name} --write-removed -w {} --strict", 1 + at % 3);
        let output = dir.output(&format!("{line} --to jsonl"), &format!("{name}-lines"));
        assert!(output.duplicates.len() > 20, "{name}");
        for (files, removed) in [(&output.kept, false), (&output.removed, true)] {
            let [(file, bytes)] = files.iter().collect::<Vec<_>>()[..] else { panic!("{name}: {files:?}") };
            let whole = if ["html", "text", "mail"].contains(&name) { "documents.jsonl" } else { "a.jsonl" };
            assert_eq!(file, whole);
            let found: Vec<Value> = jsonl(bytes).into_iter().map(trimmed).collect();
            let expected = chosen(&documents, &output, removed).into_iter().enumerate();
            let expected: Vec<Value> = expected.map(|(at, document)| trimmed(object(document, at))).collect();
            assert_eq!(found, expected, "{name}");
            // The names of records are those of the lists.
            let ids: Vec<String> =
                expected.iter().map(|object| format!("{}\n", label(&object["id"]))).collect();
            let listed = dir.output(&format!("{line} --to ids"), &format!("{name}-ids-{removed}"));
            let listed = if removed { &listed.removed } else { &listed.kept };
            let ids_file = listed.values().next().unwrap();
            assert_eq!(String::from_utf8(ids_file.clone()).unwrap(), ids.concat(), "{name}");
        }
        for form in ["jsonl.gz", "jsonl.zst"] {
            let packed = dir.output(&format!("{line} --to {form}"), &format!("{name}-{form}"));
            let [(file, bytes)] = packed.kept.iter().collect::<Vec<_>>()[..] else { panic!("{name}") };
            assert!(file.ends_with(&format!(".{form}")), "{file}");
            // One member, one frame: whoever reads only the first of them has all.
            let mut first = Vec::new();
            match form {
                "jsonl.gz" if name != "jsonl" => {
                    flate2::read::GzDecoder::new(&**bytes).read_to_end(&mut first).unwrap();
                }
                "jsonl.gz" => first = unpack(bytes),
                _ => {
                    let decoder = zstd::Decoder::new(&**bytes).unwrap().single_frame();
                    decoder.take(u64::MAX).read_to_end(&mut first).unwrap();
                }
            }
            let plain = output.kept.values().next().unwrap();
            // Lines that are copied keep the blanks around them.
            let lines = |bytes: &[u8]| -> Vec<Value> { jsonl(bytes) };
            assert_eq!(lines(&first), lines(plain), "{name}");
            assert_eq!(packed.summary["form"]["to"], form);
        }
    }
}

/// What is said of each document, by what the lists of a run say.
fn notes(output: &Output) -> BTreeMap<String, Value> {
    let mut notes = BTreeMap::new();
    for cluster in &output.clusters {
        let place = |id: &str| json!({"id": id});
        let representative = label(&cluster["representative"]);
        for id in cluster["members"].as_array().unwrap().iter().map(label) {
            let row = output.duplicates.iter().find(|row| label(&row["id"]) == id);
            let mut note = json!({
                "cluster": cluster["cluster"], "size": cluster["size"], "kept": row.is_none(),
                "reason": row.map_or(Value::Null, |row| row["reason"].clone()),
                "representative": place(&representative),
            });
            if let Some(row) = row {
                note["resemblance"] = row["resemblance"].clone();
            } else if id == representative {
                note["resemblance"] = json!(1.0);
            }
            notes.insert(id, note);
        }
    }
    notes
}

/// Holds the note of a document against the lists.
fn check_note(note: &Value, expected: Option<&Value>, places: &BTreeMap<String, (String, u64)>) {
    let Some(expected) = expected else {
        let none = json!({"cluster": null, "size": 1, "kept": true, "reason": null, "representative": null,
                          "resemblance": null});
        assert_eq!(*note, none);
        return;
    };
    for key in ["cluster", "size", "kept", "reason"] {
        assert_eq!(note[key], expected[key], "{key}: {note}");
    }
    let id = expected["representative"]["id"].as_str().unwrap();
    let (file, line) = &places[id];
    assert_eq!(note["representative"], json!({"id": id, "file": file, "line": line}));
    match expected.get("resemblance") {
        Some(resemblance) => assert_eq!(note["resemblance"], *resemblance),
        // One that is kept beside the representative.
        None => assert!(note["resemblance"].as_f64().unwrap() >= 0.8),
    }
}

/// A line of a document, with blanks and members that others do not have.
fn odd_line(at: usize, family: usize, kind: u8) -> String {
    let text = json!(format!("{} x{}", words(family * 100, 40), at % 2));
    match kind {
        0 => format!("{{\"id\":\"d{at}\",\"text\":{text}}}\n"),
        1 => format!("  {{ \"text\" : {text} , \"id\": \"d{at}\", \"n\": 1.0e2  }} \r\n"),
        2 => format!("{{\"alike\": {{\"x\": [1]}}, \"id\":\"d{at}\",\"text\":{text},\"m\":-0.0}}\n"),
        3 => format!("{{\"id\":\"d{at}\",\"more\":{{\"alike\":1}},\"text\":{text}}}\n\n"),
        _ => format!("{{\"id\":\"d{at}\",\"\\u0061like\":0,\"text\":{text}}}\n"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10) })]

    #[test]
    fn annotated_lines_are_the_lines_with_what_the_lists_say(
        kinds in prop::collection::vec((0..7usize, 0..5u8), 1..40),
        workers in 1..4usize,
        most in 1..4usize,
        packed in any::<bool>(),
    ) {
        let dir = Dir::new();
        let whole: String = kinds.iter().enumerate().map(|(at, (family, kind))| odd_line(at, *family, *kind)).collect();
        let name = if packed { "in.jsonl.gz" } else { "in.jsonl" };
        dir.write(name, if packed { gzip(whole.as_bytes(), 200) } else { whole.clone().into_bytes() });
        let line = format!("{name} -w {workers} --keep-per-cluster {most}");
        let output = dir.output(&line, "lists");
        dir.dedup(&format!("{line} --annotate --out out")).ok();
        let annotated = Output::read(&dir.join("out"));
        prop_assert!(annotated.kept.is_empty());
        prop_assert_eq!(&annotated.duplicates, &output.duplicates);
        let bytes = unpack(&std::fs::read(dir.join("out/annotated").join(name)).unwrap());
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).collect();
        let numbers: Vec<u64> =
            (1..).zip(whole.lines()).filter(|(_, line)| !line.trim().is_empty()).map(|(at, _)| at).collect();
        let places = (0..lines.len()).map(|at| (format!("d{at}"), (name.to_owned(), numbers[at]))).collect();
        let notes = notes(&output);
        prop_assert_eq!(text.lines().count(), lines.len());
        for (at, (found, line)) in text.lines().zip(&lines).enumerate() {
            // Nothing of the record is written anew, unless a member goes.
            if kinds[at].1 != 2 && kinds[at].1 != 4 {
                let members = line.trim().strip_suffix('}').unwrap().trim_end();
                prop_assert!(found.starts_with(&format!("{members},\"alike\":")), "{} from {}", found, line);
            }
            let (mut found, mut line): (Value, Value) =
                (serde_json::from_str(found).unwrap(), serde_json::from_str(line).unwrap());
            let note = found.as_object_mut().unwrap().remove("alike").unwrap();
            line.as_object_mut().unwrap().remove("alike");
            prop_assert_eq!(found, line);
            check_note(&note, notes.get(&format!("d{at}")), &places);
        }
    }
}

/// The note of a row of CSV, by its last eight fields.
fn note_of(fields: &[String]) -> Value {
    let number = |text: &String| text.parse::<f64>().ok();
    let whole = |text: &String| text.parse::<u64>().ok();
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    json!({
        "cluster": whole(&fields[0]), "size": whole(&fields[1]), "kept": fields[2] == "true",
        "reason": text(&fields[3]),
        "representative": text(&fields[4]).map(|id| json!({"id": id, "file": fields[5], "line": whole(&fields[6])})),
        "resemblance": number(&fields[7]),
    })
}

#[test]
fn annotated_rows_have_columns_more() {
    let (dir, documents) = (Dir::new(), documents(50));
    let row = |Document { id, text }: &Document| format!("\"{id};\"; \"x\" ;\"{text};\n\"\"\"\r\n");
    let rows: Vec<String> = documents.iter().map(row).collect();
    let header = "\u{feff}id;\" x\";text\n";
    dir.write(
        "in.csv",
        format!("{header}{}\r\nragged;row\n{}", rows[..20].concat(), rows[20..].concat().trim_end()),
    );
    let output = dir.output("in.csv --delimiter ;", "lists");
    dir.dedup("in.csv --delimiter ; --annotate -w 2 --out out").ok();
    let text = std::fs::read_to_string(dir.join("out/annotated/in.csv")).unwrap();
    let names = "alike_cluster;alike_size;alike_kept;alike_reason;alike_representative;alike_representative_file;\
                 alike_representative_line;alike_resemblance";
    let mut rest = text.strip_prefix(&format!("\u{feff}id;\" x\";text;{names}\n")).expect("a header");
    let numbers = (2..22).chain(24..54);
    let places = documents
        .iter()
        .zip(numbers)
        .map(|(document, at)| (format!("{};", document.id), ("in.csv".to_owned(), at)));
    let (places, notes) = (places.collect(), notes(&output));
    for (at, row) in rows.iter().enumerate() {
        let end = if at + 1 == rows.len() { "\n" } else { "\r\n" };
        let (line, behind) =
            rest.strip_prefix(row.trim_end()).expect("the row").split_once(end).expect("an end");
        let fields: Vec<String> = line[1..].split(';').map(str::to_owned).collect();
        // An id with a delimiter is quoted.
        let fields = match &fields[..] {
            [a, b, c, d, id, more, file, number, share] => {
                assert_eq!((&id[..1], &**more), ("\"", "\""));
                let id = format!("{};", &id[1..]);
                [a, b, c, d, &id, file, number, share].map(Clone::clone).to_vec()
            }
            fields => fields.to_vec(),
        };
        check_note(&note_of(&fields), notes.get(&format!("{};", documents[at].id)), &places);
        rest = behind;
    }
    assert_eq!(rest, "");
    dir.dedup("in.csv --delimiter ; --annotate --dry-run").ok().says("would be annotated (dry run");
    dir.write("has.csv", "id,text,alike_size\n1,a b c,2\n");
    dir.dedup("has.csv --annotate --out no").code(3).says("it has a column alike_size already");
    dir.dedup("has.csv --annotate --to jsonl --out yes").ok();
}

#[test]
fn other_forms_are_annotated_as_lines() {
    let (dir, documents) = (Dir::new(), documents(40));
    for (name, object) in every_format(&dir, &documents) {
        let lists = dir.output(&format!("{name} -w 2"), &format!("lists-{name}"));
        let ran = dir.dedup(&format!("{name} --annotate --out own-{name}"));
        if ["jsonl", "csv"].contains(&name) {
            ran.ok();
        } else {
            ran.code(3).says("add --to jsonl");
            assert!(!dir.join(&format!("own-{name}")).exists());
        }
        dir.dedup(&format!("{name} --annotate --to jsonl.zst -w 2 --out out-{name}")).ok();
        let file =
            std::fs::read_dir(dir.join(&format!("out-{name}/annotated"))).unwrap().next().unwrap().unwrap();
        let found = jsonl(&unpack(&std::fs::read(file.path()).unwrap()));
        let notes = notes(&lists);
        assert_eq!(found.len(), documents.len());
        for (at, mut record) in found.into_iter().enumerate() {
            let note = record.as_object_mut().unwrap().remove("alike").unwrap();
            let expected = object(&documents[at], at);
            let id = label(&expected["id"]);
            assert_eq!(
                note["cluster"],
                notes.get(&id).map_or(Value::Null, |note| note["cluster"].clone()),
                "{name}"
            );
            assert_eq!(note["kept"], notes.get(&id).is_none_or(|note| note["kept"] == true), "{name}");
            assert_eq!(trimmed(record), trimmed(expected), "{name}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_the_work() {
    let dir = Dir::new();
    dir.write("in.jsonl", "{\"id\":\"a\\nb\",\"text\":\"one\"}\n");
    dir.dedup("in.jsonl --to xml --out no").code(2).says("[possible values: jsonl, jsonl.gz, jsonl.zst");
    dir.dedup("in.jsonl --to ids --annotate --out no").code(2).says("no place in a list of ids");
    dir.dedup("in.jsonl --write-removed --annotate --out no").code(2).says("cannot be used with");
    assert_eq!(dir.names(), ["in.jsonl"]);
    dir.dedup("in.jsonl --to jsonl.zst --dry-run").ok().says("form").says("jsonl.zst");
    // Inputs that would be called alike are told apart.
    dir.write("x/a.csv", "id,text\n1,one two three\n");
    dir.write("x/a.jsonl.gz", gzip(b"{\"id\":2,\"text\":\"four five six\"}\n", 10));
    dir.write("x/a.tsv", "id\ttext\n3\tseven eight nine\n");
    dir.write("x/b.jsonl", "{\"id\":4,\"text\":\"ten eleven\"}\n");
    dir.write("x/c.txt", "twelve");
    let output = dir.output("x --to jsonl", "out");
    let names: Vec<&String> = output.kept.keys().collect();
    assert_eq!(names, ["a.csv.jsonl", "a.jsonl.gz.jsonl", "a.tsv.jsonl", "b.jsonl", "documents.jsonl"]);
    assert_eq!(output.kept_ids().len(), 5);
    // What cannot be read further is written up to there; what is refused is left out.
    let packed = gzip(b"{\"id\":2,\"text\":\"four five six\"}\nno\n{\"id\":3,\"text\":\"seven\"}\n", 1000);
    dir.write(
        "cut.jsonl.gz",
        [&gzip(b"{\"id\":1,\"text\":\"one\"}\n", 100)[..], &packed[..packed.len() - 5]].concat(),
    );
    let ran = dir.dedup("cut.jsonl.gz --to jsonl --out cut");
    assert!(ran.code == Some(0) || ran.code == Some(3), "{}", ran.stderr);
}

#[test]
fn an_id_with_a_line_break_is_in_no_list_of_ids() {
    let dir = Dir::new();
    let ids = ["one", "two\\nlines", "three", "four\\r", "five"];
    let lines = ids
        .map(|id| format!("{{\"id\":\"{id}\",\"text\":\"a text with the word {id} that no other has\"}}\n"))
        .concat();
    dir.write("in.jsonl", lines);
    dir.write(
        "bench.jsonl",
        "{\"id\":1,\"text\":\"which river runs through the old town and how long is it\"}\n",
    );
    for (line, expected) in [
        ("dedup in.jsonl", "one\nthree\nfive\n"),
        ("repetition in.jsonl", "one\nthree\nfive\n"),
        ("decontaminate in.jsonl --benchmarks q=bench.jsonl --benchmark-fields text", "one\nthree\nfive\n"),
    ] {
        let out = line.split(' ').next().expect("a command");
        let ran = dir.alike(&format!("{line} --to ids --max-rejected 50% --out {out}"), None);
        ran.ok().says("its id has a line break, so it cannot be a line of a list of ids; use --to jsonl");
        assert_eq!(
            std::fs::read_to_string(dir.join(&format!("{out}/kept/in.ids"))).unwrap(),
            expected,
            "{line}"
        );
    }
    assert_eq!(dir.output("in.jsonl --to jsonl", "lines").kept_ids().len(), 5);
    // What new documents are held against is not written.
    dir.write("old.jsonl", "{\"id\":\"o\\nld\",\"text\":\"a text with the word one that no other has\"}\n");
    let ran = dir.alike("dedup in.jsonl --against old.jsonl --to ids --max-rejected 50% --out new", None);
    ran.ok();
    assert_eq!(std::fs::read_to_string(dir.join("new/kept/in.ids")).unwrap(), "three\nfive\n");
}

#[test]
fn every_shape_writes_the_same() {
    let (dir, documents) = (Dir::new(), documents(300));
    for (name, _) in every_format(&dir, &documents) {
        std::fs::rename(dir.join(name), dir.join(&format!("in-{name}"))).unwrap();
    }
    let inputs = "in-jsonl in-csv in-warc in-mbox in-html in-text in-mail";
    let shapes = [(1, 3), (2, 2)];
    let lines = alike_in_all(&dir, &format!("{inputs} --to jsonl.zst --write-removed"), &shapes);
    assert!(lines.keys().any(|name| name.starts_with("removed/")));
    alike_in_all(&dir, &format!("{inputs} --to jsonl --annotate --keep-per-cluster 2"), &shapes);
    alike_in_all(&dir, "in-jsonl in-csv --annotate", &shapes);
    alike_in_all(&dir, &format!("{inputs} --to ids"), &shapes);
    #[cfg(feature = "parquet")]
    alike_in_all(&dir, &format!("{inputs} --to parquet --annotate"), &shapes);
}

#[test]
fn parts_are_about_as_large_as_asked_for_and_together_the_whole() {
    let (dir, mut random) = (Dir::new(), Random(7));
    let mut documents = documents(900);
    for document in &mut documents {
        // Hardly compressible, so that there are several parts in any case.
        document.text = (0..30).map(|_| format!("{:x} ", random.below(1 << 40))).collect::<String>() + "end";
    }
    every_format(&dir, &documents);
    for (name, form, end) in [
        ("jsonl", "", ".jsonl.gz"),
        ("csv", "", ".csv"),
        ("mbox", "", ".mbox"),
        ("csv", "--annotate", ".csv"),
        ("jsonl", "--to jsonl", ".jsonl"),
        ("warc", "--to jsonl.zst", ".jsonl.zst"),
        ("html", "--to jsonl --annotate", ".jsonl"),
        ("mail", "--to ids", ".ids"),
    ] {
        let out = format!("out-{name}-{}", form.replace(' ', ""));
        let whole = dir.output(&format!("{name} {form} --method exact"), &format!("{out}-whole"));
        let parts = dir.output(&format!("{name} {form} --method exact --shard-size 1k -w 3"), &out);
        let files = |output: &Output, out: &str| match form.contains("annotate") {
            false => output.kept.clone(),
            true => {
                let entries = std::fs::read_dir(dir.join(out).join("annotated")).unwrap().map(Result::unwrap);
                let read = |entry: std::fs::DirEntry| {
                    (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
                };
                entries.map(read).collect()
            }
        };
        let (whole, parts) = (files(&whole, &format!("{out}-whole")), files(&parts, &out));
        let stem = if ["html", "mail"].contains(&name) { "documents" } else { "a" };
        let names: Vec<String> = (1..=parts.len()).map(|at| format!("{stem}-{at:05}{end}")).collect();
        assert_eq!(parts.keys().cloned().collect::<Vec<_>>(), names, "{name} {form}");
        assert!(parts.len() > 1, "{name} {form}");
        let header = match (name, form) {
            ("csv", "--annotate") => text_of(&whole).split_once('\n').unwrap().0.len() + 1,
            ("csv", "") => "n,text,id\r\n".len(),
            _ => 0,
        };
        let mut together = String::new();
        for (at, part) in parts.values().enumerate() {
            let text = String::from_utf8(unpack(part)).unwrap();
            assert!(
                at + 1 == parts.len() || part.len() >= 1024 && part.len() < 200_000,
                "{name}: {}",
                part.len()
            );
            together.push_str(if at == 0 { &text } else { &text[header..] });
        }
        assert_eq!(together, text_of(&whole), "{name} {form}");
    }
    dir.dedup("warc --shard-size 1k --out no").code(3).says("add --to jsonl, or leave --shard-size out");
    dir.dedup("jsonl --shard-size 7 --out no").code(2).says("less than 1024");
    alike_in_all(&dir, "jsonl csv mbox text --shard-size 2k --write-removed", &[(1, 3), (2, 2)]);
    // Rows that end as those of old spreadsheets do stay as they are.
    let row = |at: usize| format!("{at},\"{}\"\r", words(at * 100, 40));
    let table = format!("id,text\r{}", (0..60).map(row).collect::<String>());
    dir.write("returns.csv", &table);
    dir.dedup("returns.csv --shard-size 4k --out returns -q").ok();
    let parts = Output::read(&dir.join("returns")).kept;
    let rows: String = parts
        .values()
        .map(|part| std::str::from_utf8(part).unwrap().strip_prefix("id,text\r").unwrap())
        .collect();
    assert!(parts.len() > 2 && format!("id,text\r{rows}") == table);
}

/// The text of the one file of an output.
fn text_of(files: &BTreeMap<String, Vec<u8>>) -> String {
    assert_eq!(files.len(), 1);
    String::from_utf8(unpack(files.values().next().unwrap())).unwrap()
}

#[test]
fn annotated_records_name_the_protected_set() {
    let dir = Dir::new();
    let (old, new) = (words(0, 60), words(500, 60));
    dir.write("old.jsonl", line("o", &old));
    let texts = [("a", &old), ("b", &new), ("c", &new), ("d", &words(900, 60))];
    dir.write("in.jsonl", texts.iter().map(|(id, text)| line(id, text)).collect::<String>());
    let rows: String = texts.iter().map(|(id, text)| format!("{id},{text}\n")).collect();
    dir.write("in.csv", format!("id,text\n{rows}"));
    let command = "--against previous=old.jsonl --annotate --out";
    dir.dedup(&format!("in.jsonl {command} lines")).ok();
    let lines = jsonl(&std::fs::read(dir.join("lines/annotated/in.jsonl")).unwrap());
    let sets: Vec<&Value> = lines.iter().map(|row| &row["alike"]["against"]).collect();
    assert_eq!(sets, [&json!({"set": "previous"}), &Value::Null, &Value::Null, &Value::Null]);
    assert!(lines[1]["alike"].get("against").is_none());
    dir.dedup(&format!("in.csv {command} rows")).ok();
    let text = std::fs::read_to_string(dir.join("rows/annotated/in.csv")).unwrap();
    let last: Vec<&str> = text.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(last, ["alike_against", "previous", "", "", ""]);
    dir.write("has.csv", "id,text,alike_against\n1,a b c,2\n");
    dir.dedup(&format!("has.csv {command} no")).code(3).says("it has a column alike_against already");
}

#[test]
fn rows_have_the_number_that_decided() {
    let dir = Dir::new();
    let book: Vec<String> = (0..60).map(|at| format!("w{at}")).collect();
    let (quote, book) = (book[10..40].join(" "), book.join(" "));
    dir.write("in.csv", format!("id,text\nq,{quote}\nb,{book}\nx,nothing of the kind\n"));
    let ran = dir.dedup("in.csv --measure containment --threshold 0.9 --annotate --out out").ok();
    ran.says("1 removed document is larger than what was kept").says("--keep longest");
    let text = std::fs::read_to_string(dir.join("out/annotated/in.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][9..], ["alike_resemblance", "alike_containment"]);
    assert_eq!((rows[2][4], rows[2][10], rows[3][10]), ("false", "1.0", ""));
    assert!(rows[2][9].parse::<f64>().unwrap() < 0.5, "{rows:?}");
    let ran = dir.dedup("in.csv --measure containment --threshold 0.9 --keep longest --dry-run").ok();
    assert!(!ran.stderr.contains("larger than what was kept"), "{}", ran.stderr);
    dir.dedup("in.csv --method simhash --annotate --out counted").ok();
    let text = std::fs::read_to_string(dir.join("counted/annotated/in.csv")).unwrap();
    assert!(text.lines().next().unwrap().ends_with("alike_resemblance,alike_hamming_distance"), "{text}");
    dir.write("has.csv", "id,text,alike_containment\n1,a b c,2\n");
    dir.dedup("has.csv --annotate --out no").code(3).says("it has a column alike_containment already");
}
