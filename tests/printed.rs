//! What commands print: the forms of data, fields of members, the log of commits, colours; and waiting for a lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use alike::collection::Writer;
use alike::storage::{Local, Storage};
use serde_json::{Value, json};

use crate::support::meeting::free;
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::words;

fn record(id: &str, title: &str, text: &str) -> String {
    json!({"id": id, "title": title, "meta": {"n": id.len()}, "text": text}).to_string() + "\n"
}

/// A collection `c` of a and b, which resemble each other, and d, which is unlike them.
fn made(flags: &str) -> Dir {
    let dir = Dir::new();
    let lines = [
        record("a", "A\tfirst", &words(0, 100)),
        record("b", "B", &words(2, 100)),
        record("d", "D", &words(1000, 100)),
    ];
    dir.write("first.jsonl", lines.concat());
    dir.alike(&format!("load c first.jsonl {flags}"), None).ok();
    dir
}

/// Commands that print rows, and commands that print an object.
const ROWS: [&str; 8] = [
    "clusters c",
    "documents c",
    "pairs c",
    "recluster c",
    "changes c",
    "check c first.jsonl",
    "log c",
    "group c ids.txt",
];
const OBJECTS: [&str; 4] = ["info c", "stats c", "explain c a b", "explain c a"];

#[test]
fn every_form_of_data_says_the_same() {
    let dir = made("");
    dir.write("ids.txt", "a\nb\nx\n");
    let printed = |line: &str| dir.alike(line, None).ok().stdout;
    for command in ROWS.into_iter().chain(["presets", "fsck c"]) {
        let lines = printed(&format!("{command} --format jsonl"));
        assert_eq!(lines, printed(&format!("{command} --json")), "{command}");
        let array: Value = serde_json::from_str(&printed(&format!("{command} --format json"))).unwrap();
        if command != "fsck c" {
            assert_eq!(array, Value::Array(jsonl(lines.as_bytes())), "{command}");
        }
        let table = printed(&format!("{command} --format table"));
        assert!(!table.is_empty() && !table.starts_with(['{', '[']), "{command}: {table}");
    }
    for command in ROWS {
        let usual = printed(command);
        let text = command.starts_with("group");
        assert_eq!(usual == printed(&format!("{command} --format jsonl")), !text, "{command}");
    }
    for command in ROWS.into_iter().chain(OBJECTS).chain(["presets", "fsck c"]) {
        let tsv = printed(&format!("{command} --format tsv"));
        let columns: Vec<usize> = tsv.lines().map(|line| line.split('\t').count()).collect();
        let least = if command == "fsck c" { 1 } else { 2 };
        assert!(columns.len() >= least && columns.windows(2).all(|two| two[0] == two[1]), "{command}: {tsv}");
    }
    for command in OBJECTS {
        let (one, other) =
            ["json", "jsonl"].map(|form| printed(&format!("{command} --format {form}"))).into();
        assert_eq!(one, other);
    }
    let info: BTreeMap<String, String> = printed("info c --format tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert_eq!((info["documents"].as_str(), info["configuration.text.ngram"].as_str()), ("3", "5"));
    assert_eq!(
        printed("clusters c --format tsv"),
        "cluster\tsize\trepresentative\tmember\n1.1\t2\ta\ta\n1.1\t2\ta\tb\n"
    );
    assert_eq!(printed("group c ids.txt --format tsv").lines().last(), Some("x\tx\t\tfalse"));
    dir.alike("clusters c --format yaml", None).code(2).says("jsonl");
    dir.alike("clusters c --format tsv --json", None).code(2);
    dir.alike("presets web --json", None).code(2).says("TOML");
}

#[test]
fn nothing_is_nothing_in_every_form() {
    let dir = made("");
    let printed =
        |form: &str| dir.alike(&format!("clusters c --min-size 9 --format {form}"), None).ok().stdout;
    assert_eq!(["json", "jsonl"].map(printed), ["[]\n", ""]);
    assert_eq!(printed("tsv"), "cluster\tsize\trepresentative\tmember\n");
    assert_eq!(printed("table"), "CLUSTER  SIZE  REPRESENTATIVE  MEMBERS\n");
}

#[test]
fn tables_of_methods_have_rows_too() {
    let dir = made("");
    let rows = |line: &str| {
        let tsv = dir.alike(line, None).ok().stdout;
        let mut lines = tsv.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        let names = lines.next().unwrap();
        lines.map(|cells| names.iter().cloned().zip(cells).collect::<BTreeMap<_, _>>()).collect::<Vec<_>>()
    };
    let evaluated = rows("evaluate first.jsonl --preset web --preset news --format tsv");
    let names: Vec<&str> = evaluated.iter().map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["web", "news"]);
    assert_eq!(evaluated[0]["ran.scores.recall.value"], "1.0", "{evaluated:?}");
    let one = dir.alike("evaluate first.jsonl --preset web --format jsonl", None).ok().stdout;
    assert_eq!(jsonl(one.as_bytes())[0]["name"], "web");
    assert_eq!(rows("tune sample first.jsonl --threshold 0.5 --threshold 0.9 --format tsv").len(), 2);
    assert_eq!(rows("tune threshold first.jsonl --words 2,3 --chars 0 --format tsv").len(), 2);
    assert!(rows("tune filter --threshold 0.8 --format tsv").len() > 1);
    dir.alike("tune filter --threshold 0.8 --toml --format tsv", None).code(2);
    dir.alike("lexicon build first.jsonl --out l --min-df 1 --terms alphanumeric", None).ok();
    let terms = rows("lexicon show l --top 3 --format tsv");
    assert!(terms.len() == 3 && terms.iter().all(|row| row["documents"] == "1"), "{terms:?}");
    assert!(rows("lexicon compare l l --format tsv").iter().any(|row| row["name"] == "agreement.shared"));
}

#[test]
fn members_are_shown_with_fields_of_their_records() {
    for flags in ["", "--store-text"] {
        let dir = made(flags);
        let printed = |line: &str| dir.alike(line, None).ok();
        let rows = jsonl(printed("clusters c --fields title,meta.n,nosuch").stdout.as_bytes());
        let of = |id: &str, title: &str| json!({"id": id, "title": title, "meta.n": 1, "nosuch": null});
        assert_eq!(rows[0]["records"], json!([of("a", "A\tfirst"), of("b", "B")]));
        printed("clusters c --fields title,nosuch").says("nosuch").says("id, meta, text, title");
        assert_eq!(
            printed("clusters c --fields title --format tsv").stdout,
            "cluster\tsize\trepresentative\tmember\ttitle\n1.1\t2\ta\ta\tA\\tfirst\n1.1\t2\ta\tb\tB\n"
        );
        std::fs::remove_file(dir.join("first.jsonl")).unwrap();
        let gone = printed("clusters c --fields title");
        let title = jsonl(gone.stdout.as_bytes())[0]["records"][1]["title"].clone();
        match flags {
            "" => assert_eq!((title, gone.stderr.contains("first.jsonl")), (Value::Null, true)),
            _ => assert_eq!(title, json!("B")),
        }
    }
    let dir = Dir::new();
    let row = |id: &str, from| format!("{id},\"{}\",T{id}\n", words(from, 60));
    dir.write("in.csv", format!("id,text,title\n{}{}", row("1", 0), row("2", 1)));
    for flags in ["", "--store-text"] {
        dir.alike(&format!("load c{} in.csv {flags}", flags.len()), None).ok();
        let shown = dir.alike(&format!("clusters c{} --fields title", flags.len()), None).ok().stdout;
        assert_eq!(jsonl(shown.as_bytes())[0]["records"][1], json!({"id": "2", "title": "T2"}));
    }
}

#[test]
fn rows_of_parquet_have_fields() {
    let dir = made("");
    // Rows of the text's own columns.
    dir.alike("dedup first.jsonl --to parquet --keep first --threshold 1 --out p", None).ok();
    dir.alike("load q p/kept/first.parquet", None).ok();
    let shown = dir.alike("clusters q --fields file,line", None).ok().stdout;
    let records = jsonl(shown.as_bytes())[0]["records"].clone();
    assert_eq!(records[1], json!({"id": "b", "file": "first.jsonl", "line": 2}));
}

#[test]
fn the_log_has_every_commit_that_changed_documents() {
    let dir = made("");
    dir.write("more.jsonl", record("d", "other", &words(1000, 100)) + &record("e", "E", &words(2000, 100)));
    dir.alike("load c more.jsonl first.jsonl", None).ok();
    dir.write("gone.txt", "d\n");
    dir.alike("delete c --ids gone.txt", None).ok();
    dir.alike("compact c", None).ok();
    let log = jsonl(dir.alike("log c", None).ok().stdout.as_bytes());
    let commands: Vec<&str> = log.iter().map(|row| row["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["delete", "load", "load"]);
    let first = &log[2];
    assert_eq!(
        (&first["commit"], &first["added"], &first["documents_before"]),
        (&json!(1), &json!(3), &json!(0))
    );
    assert_eq!(first["sources"], json!(["first.jsonl"]));
    assert_eq!((&log[0]["removed"], &log[0]["documents"]), (&json!(1), &json!(3)));
    assert!(log.iter().all(|row| row["time"].as_str().is_some_and(|time| time.ends_with('Z'))), "{log:?}");
    // It was in no cluster.
    let changes = jsonl(dir.alike("changes c", None).ok().stdout.as_bytes());
    let last = changes.last().unwrap();
    assert_eq!((&last["change"], &last["id"]), (&json!("deleted"), &json!("d")));
    dir.alike("fsck c", None).ok();
}

#[test]
fn colours_are_as_was_said() {
    let dir = made("");
    let shown = |line: &str| dir.alike(line, None).ok().stdout.contains('\u{1b}');
    assert!(!shown("explain c a b --format table"));
    assert!(shown("explain c a b --format table --color always") && shown("--color=always clusters --help"));
    assert!(!shown("explain c a b --format table --color never"));
    let forbidden = [("NO_COLOR", "1".to_owned())];
    let ran = dir.alike_with("explain c a b --format table --color always", None, &forbidden).ok();
    assert!(ran.stdout.contains('\u{1b}'), "the flag goes before the variable");
    dir.alike("clusters c --color sometimes", None).code(2).says("never");
}

#[test]
fn a_writer_is_waited_for() {
    let dir = made("");
    dir.write("gone.txt", "d\n");
    let storage: Arc<dyn Storage> = Arc::new(Local::open(&dir.join("c")).unwrap());
    let held = Writer::open(&storage).unwrap();
    dir.alike("delete c --ids gone.txt", None).code(4).says("--wait");
    dir.alike("compact c --wait 1", None).code(4).says("is writing to it; waiting up to 1 second\n");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| dir.alike("load c first.jsonl --wait 60", None).ok());
        thread::sleep(Duration::from_secs(1));
        drop(held);
        let ran = waiting.join().unwrap();
        // The test itself holds the lock.
        assert!(ran.stderr.contains(&format!("process {} ", std::process::id())), "{}", ran.stderr);
    });
    dir.alike("delete c --ids gone.txt --wait 60", None).ok();
}

#[test]
fn a_process_listens_where_it_is_told() {
    let dir = Dir::new();
    dir.write("in.jsonl", record("a", "", &words(0, 60)) + &record("b", "", &words(0, 60)));
    // The name leads to this machine; what is listened on is said in another way.
    let hosts: Vec<String> = free(2).iter().map(|host| host.replace("127.0.0.1", "localhost")).collect();
    dir.write("hosts", hosts.join("\n"));
    let line = |process: usize| {
        let port = hosts[process].rsplit_once(':').unwrap().1;
        format!("dedup in.jsonl --out out --hosts hosts -p {process} --insecure -w 1 --listen 0.0.0.0:{port}")
    };
    thread::scope(|scope| {
        scope.spawn(|| dir.alike(&line(1), None).ok());
        dir.alike(&line(0), None).ok();
    });
    assert!(dir.join("out/summary.json").exists());
    dir.alike("dedup in.jsonl --dry-run --listen 0.0.0.0:1", None).code(2).says("--listen");
    dir.alike("dedup in.jsonl --dry-run -n 2 -p 0 --insecure --listen here", None).code(2).says("host:port");
}
