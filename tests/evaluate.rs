//! `alike evaluate`: figures worked out by hand, labels of each form, and what is refused.

use serde_json::Value;

use crate::support::output::jsonl;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, words};

/// Seven documents: a, b and c have the same words; d and e differ in the last one; f and g are long and share none.
fn corpus(dir: &Dir) {
    let (same, other, third) = (words(0, 30), words(100, 30), words(200, 600));
    let near = other.replace("w129", "x");
    let lines = [
        line("a", &same),
        line("b", &same.to_uppercase()),
        line("c", &format!("{same}!")),
        line("d", &other),
        line("e", &near),
        line("f", &third),
        line("g", &words(900, 600)),
    ];
    dir.write("in.jsonl", lines.concat());
}

fn evaluate(dir: &Dir, line: &str) -> Value {
    let ran = dir.alike(&format!("evaluate in.jsonl --format json {line}"), None).ok();
    let mut rows = jsonl(ran.stdout.as_bytes());
    assert_eq!(rows.len(), 1, "{}", ran.stdout);
    rows.remove(0)
}

fn refused(dir: &Dir, line: &str) -> Ran {
    dir.alike(&format!("evaluate in.jsonl {line}"), None)
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
}

/// The configuration that finds equal texts only.
const EXACT: &str = "method = \"exact\"\n[cluster]\nclustering = \"transitive\"\n";

#[test]
fn join_against_itself_is_right() {
    let dir = Dir::new();
    corpus(&dir);
    for pairs_of in ["clusters", "links"] {
        let told = evaluate(&dir, &format!("--preset web --pairs-of {pairs_of}"));
        let scores = &told["rows"][0]["ran"]["scores"];
        assert_eq!((&scores["found"], &scores["truth"], &scores["both"]), (&4.into(), &4.into(), &4.into()));
        for measure in ["precision", "recall", "f1", "rand", "exact"] {
            near(&scores[measure]["value"], 1.0);
        }
        near(&scores["bcubed"]["f1"]["value"], 1.0);
        assert_eq!((&scores["removed"], &scores["truth_removed"]), (&3.into(), &3.into()));
        assert_eq!(
            told["rows"].as_array().unwrap().len(),
            1,
            "the method is the join that others are compared with"
        );
        near(&told["rows"][0]["ran"]["speed_to_join"], 1.0);
    }
}

#[test]
fn equal_texts_against_the_exact_join_by_hand() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("exact.toml", EXACT);
    let told = evaluate(&dir, "--config exact.toml");
    let names: Vec<&Value> = told["rows"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["exact.toml", "join"], "a join is there to compare the speed with");
    let scores = &told["rows"][0]["ran"]["scores"];
    // {a b c} is found, {d e} is not: 3 of 4 pairs, 1 of 2 sets; 21 pairs of documents.
    near(&scores["precision"]["value"], 1.0);
    near(&scores["recall"]["value"], 0.75);
    near(&scores["f1"]["value"], 6.0 / 7.0);
    near(&scores["exact"]["value"], 0.5);
    near(&scores["rand"]["value"], (3.0 - 12.0 / 21.0) / (3.5 - 12.0 / 21.0));
    near(&scores["bcubed"]["precision"]["value"], 1.0);
    near(&scores["bcubed"]["recall"]["value"], 6.0 / 7.0);
    assert_eq!((&scores["removed"], &scores["truth_removed"]), (&2.into(), &3.into()));
    // One family was found and one was not: draws of two have neither, one or both of them.
    let [low, high] = [0, 1].map(|at| scores["recall"]["interval"][at].as_f64().unwrap());
    assert!(low == 0.0 && high == 1.0);
    let sizes: Vec<&Value> =
        scores["by_size"].as_array().unwrap().iter().map(|row| &row["words_from"]).collect();
    assert_eq!(sizes, [0, 500]);
    assert_eq!(
        (&scores["by_size"][0]["documents"], &scores["by_size"][1]["documents"]),
        (&5.into(), &2.into())
    );
    near(&scores["by_size"][0]["recall"]["value"], 0.75);
    assert!(scores["by_size"][1]["recall"].is_null(), "there is no pair of longer documents");
}

#[test]
fn labels_that_are_too_long_are_refused_unread() {
    let dir = Dir::new();
    corpus(&dir);
    // Nothing of it is on the disk.
    let file = std::fs::File::create(dir.join("huge.tsv")).unwrap();
    file.set_len(alike::limits::MAX_LABELS_BYTES + 1).unwrap();
    let ran = dir.alike("evaluate in.jsonl --preset web --labels huge.tsv", None);
    ran.code(3).says("huge.tsv").says("has more than 1073741824 bytes");
}

#[test]
fn judged_pairs_count_alone_unless_the_list_is_complete() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("pairs.tsv", "id_a\tid_b\tgrade\na\tb\t2\nd\te\t0\nf\tg\t1\nzz\ta\t1\n");
    let told = evaluate(&dir, "--preset web --labels pairs.tsv");
    let labels = &told["labels"];
    assert_eq!((&labels["form"], &labels["used"]), (&"pairs".into(), &3.into()));
    assert_eq!((&labels["unknown"]["count"], &labels["unknown"]["first"][0]), (&1.into(), &"zz".into()));
    assert_eq!((&labels["unlabelled"]["count"], &labels["unlabelled"]["first"][0]), (&1.into(), &"c".into()));
    let scores = &told["rows"][0]["ran"]["scores"];
    // Found (a, b) and (d, e); true are (a, b) and (f, g).
    near(&scores["precision"]["value"], 0.5);
    near(&scores["recall"]["value"], 0.5);
    assert!(scores["rand"].is_null() && scores["bcubed"].is_null() && scores["truth_removed"].is_null());
    let scores =
        &evaluate(&dir, "--preset web --labels pairs.tsv --unlisted distinct")["rows"][0]["ran"]["scores"];
    // Three pairs of a, b and c, and d with e.
    near(&scores["precision"]["value"], 0.25);
    near(&scores["recall"]["value"], 0.5);
    assert_eq!((&scores["truth_sets"], &scores["exact_sets"]), (&2.into(), &0.into()));
}

#[test]
fn labels_of_clusters_leave_out_documents_without_one() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("clusters.jsonl", "{\"id\":\"a\",\"cluster\":1}\n{\"id\":\"b\",\"cluster\":1}\n{\"id\":\"d\",\"cluster\":2}\n{\"id\":\"f\",\"cluster\":1}\n");
    let told = evaluate(&dir, "--preset web --labels clusters.jsonl");
    assert_eq!(told["labels"]["unlabelled"]["count"], 3);
    let scores = &told["rows"][0]["ran"]["scores"];
    assert_eq!((&scores["documents"], &scores["found"], &scores["truth"]), (&4.into(), &1.into(), &3.into()));
    near(&scores["recall"]["value"], 1.0 / 3.0);
    near(&scores["bcubed"]["recall"]["value"], (2.0 / 3.0 + 2.0 / 3.0 + 1.0 + 1.0 / 3.0) / 4.0);
}

#[test]
fn marks_are_held_against_what_is_removed() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("marks.tsv", "id\tmark\na\tkeep\nb\tcopy\nc\tcopy\nd\tkeep\ne\tkeep\ng\tcopy\n");
    let told = evaluate(&dir, "--preset web --labels marks.tsv --duplicate copy");
    let scores = &told["rows"][0]["ran"]["scores"];
    // Removed are b, c and e; f has no mark.
    assert_eq!((&scores["found"], &scores["truth"], &scores["both"]), (&3.into(), &3.into(), &2.into()));
    near(&scores["precision"]["value"], 2.0 / 3.0);
    assert_eq!((&told["labels"]["form"], &scores["truth_removed"]), (&"marks".into(), &3.into()));
}

#[test]
fn what_is_told_depends_on_neither_workers_nor_time() {
    let dir = Dir::new();
    corpus(&dir);
    let mut all = Vec::new();
    for workers in [1, 2, 5] {
        for pairs_of in ["clusters", "links"] {
            let told = evaluate(&dir, &format!("--all -w {workers} --pairs-of {pairs_of}"));
            let rows = told["rows"].as_array().unwrap().iter();
            let rows: Vec<String> = rows
                .map(|row| format!("{} {} {}", row["name"], row["truth_threshold"], row["ran"]["scores"]))
                .collect();
            all.push((pairs_of, rows));
        }
    }
    assert!(all.iter().skip(2).zip(&all).all(|(a, b)| a == b), "{all:#?}");
    // No term is in five of so few documents.
    let lexical = ["imatch", "cooper2002", "conrad2003", "kolcz"].map(|name| format!("\"{name}"));
    let ran = |row: &String| row.contains("precision") != lexical.iter().any(|name| row.starts_with(name));
    assert!(all[0].1.iter().all(ran), "every other preset ran: {:#?}", all[0].1);
}

#[test]
fn tables_have_a_line_for_each_method() {
    let dir = Dir::new();
    corpus(&dir);
    let ran =
        dir.alike("evaluate in.jsonl --preset web --preset datatrove --by-size --format table", None).ok();
    for part in ["METHOD", "web", "datatrove", "1.0000", "500-1000", "7 documents", "join 0.8"] {
        assert!(ran.stdout.contains(part), "{part} in\n{}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.len() <= 130), "{}", ran.stdout);
    let ran = dir.alike("evaluate in.jsonl --preset web --format markdown", None).ok();
    assert!(ran.stdout.starts_with("| method | precision |"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let dir = Dir::new();
    corpus(&dir);
    dir.write("other.toml", "[input]\ntext_field = \"body\"\n");
    dir.write("none.tsv", "id\tcluster\nzz\t1\n");
    dir.write("two.tsv", "id\tcluster\na\t1\na\t2\n");
    dir.write("self.tsv", "id_a\tid_b\na\ta\n");
    dir.write("grades.tsv", "id_a\tid_b\tgrade\na\tb\t1\nb\ta\t0\n");
    refused(&dir, "--preset web --config other.toml").code(2).says("read other fields");
    refused(&dir, "--preset nothing").code(2).says("no preset is called");
    refused(&dir, "--threshold 1.5").code(2).says("threshold");
    refused(&dir, "--labels none.tsv").code(3).says("no document of the input");
    dir.write("commas.csv", "id,cluster\na,1\n");
    refused(&dir, "--labels commas.csv")
        .code(2)
        .says("the first line has commas: write the file with tabulators");
    refused(&dir, "--labels two.tsv").code(3).says("line 3: \"a\" has another label above");
    refused(&dir, "--labels self.tsv").code(3).says("paired with itself");
    refused(&dir, "--labels grades.tsv").code(3).says("another grade above");
    refused(&dir, "--labels two.tsv --unlisted distinct").code(2).says("--unlisted");
    dir.write("in.jsonl", [line("a", "one two"), line("a", "three")].concat());
    refused(&dir, "--labels two.tsv").code(3).says("2 documents have the id");
}
