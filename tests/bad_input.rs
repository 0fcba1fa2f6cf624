//! What wrong input costs: a counted row of `rejected.jsonl` with file, line and reason, or a clear error and nothing
//! written. Never a panic, never half an output.

use std::fs;

use serde_json::{Value, json};

use crate::support::output::Output;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{gzip, line, words, zst};

/// Nineteen good lines without duplicates: one bad line among them is 5 % of the records, three are more than 10 %.
const GOOD: usize = 19;

fn good() -> Vec<u8> {
    (0..GOOD).map(|i| line(&format!("good{i}"), &words(i * 100, 20))).collect::<String>().into_bytes()
}

/// The good lines with `bad` as the fourth, and where it starts.
fn with_fourth(bad: &[u8]) -> (Vec<u8>, usize) {
    let good = good();
    let start = good.split_inclusive(|byte| *byte == b'\n').take(3).map(<[u8]>::len).sum();
    ([&good[..start], bad, b"\n", &good[start..]].concat(), start)
}

/// The run failed with this code, and nothing but the inputs is there.
#[track_caller]
fn nothing_written(dir: &Dir, ran: Ran, code: i32, inputs: &[&str]) -> Ran {
    let ran = ran.code(code);
    assert_eq!(dir.names(), inputs, "alike {}\n{}", ran.line, ran.stderr);
    assert!(ran.stderr.len() > 10 && !ran.stderr.contains("panicked"), "no clear error: {:?}", ran.stderr);
    ran
}

/// A bad fourth line of twenty is a rejected row with this in its reason; all others are kept.
#[track_caller]
fn rejected(bad: &[u8], config: &str, reason: &[&str]) {
    let (bytes, offset) = with_fourth(bad);
    let dir = Dir::new();
    dir.write("in.jsonl", &bytes);
    dir.write("c.toml", config);
    let output = dir.output("in.jsonl --config c.toml", "out");
    assert_eq!(output.rejected.len(), 1, "{:?}", output.rejected);
    let row = &output.rejected[0];
    assert!(row["file"].as_str().unwrap().ends_with("in.jsonl"), "{row}");
    assert_eq!((&row["line"], &row["offset"]), (&json!(4), &json!(offset)), "{row}");
    let found = row["reason"].as_str().unwrap().to_lowercase();
    for part in reason {
        assert!(found.contains(&part.to_lowercase()), "expected {part:?} in {row}");
    }
    assert_eq!(output.kept("in.jsonl"), good(), "the refused line is left out, all others are untouched");
    assert_eq!(output.summary["rejected"], json!(1), "{}", output.summary);
    let strict =
        dir.dedup("in.jsonl --config c.toml --strict --out strict").code(3).says("in.jsonl").says("4");
    assert!(!dir.join("strict").exists(), "{}", strict.stderr);
    // One of twenty is 5 %.
    dir.dedup("in.jsonl --config c.toml --max-rejected 4% --out less")
        .code(3)
        .says("more than 4 %")
        .says("in.jsonl");
    dir.dedup("in.jsonl --config c.toml --max-rejected 5 --dry-run").ok();
}

#[test]
fn a_line_that_is_not_json() {
    for bad in
        [&b"hello"[..], b"{\"id\": \"x\", \"text\": \"y\"", b"{\"id\": 1, \"text\": \"y\"} trailing", b"[1,"]
    {
        rejected(bad, "", &["json"]);
    }
}

#[test]
fn json_that_is_no_record() {
    for bad in [&b"[1, 2]"[..], b"\"text\"", b"17", b"null"] {
        rejected(bad, "", &["object"]);
    }
}

/// The message helps to find the right field: it names those that the record has.
#[test]
fn a_missing_text_field() {
    rejected(br#"{"id": "x", "body": "words", "url": "u"}"#, "", &["text", "id", "body", "url"]);
    rejected(b"{}", "", &["text"]);
}

#[test]
fn a_text_field_that_is_no_string() {
    for bad in ["17", "null", "true", "[\"a\"]", "{\"a\": \"b\"}"] {
        rejected(format!("{{\"id\": \"x\", \"text\": {bad}}}").as_bytes(), "", &["text", "string"]);
    }
}

#[test]
fn invalid_utf8() {
    for bad in
        [&b"{\"id\": \"x\", \"text\": \"caf\xe9 au lait\"}"[..], b"{\"id\": \"\xff\", \"text\": \"fine\"}"]
    {
        rejected(bad, "", &["utf-8"]);
    }
}

/// Asked for, records without a text stay, and are compared with nothing.
#[test]
fn a_missing_text_may_stay() {
    let dir = Dir::new();
    let empty = "{\"id\": \"n\", \"text\": null}\n{\"id\": \"m\"}\n{\"id\": \"o\"}\n";
    let lines = good();
    let lines = std::str::from_utf8(&lines).expect("text");
    dir.write("in.jsonl", format!("{lines}{empty}"));
    dir.dedup("in.jsonl --out no").code(3).says("the field text is null");
    let output = dir.output("in.jsonl --missing-text keep", "out");
    assert_eq!(output.kept("in.jsonl"), format!("{lines}{empty}").as_bytes());
    assert_eq!((&output.summary["empty"], &output.summary["rejected"]), (&json!(3), &json!(0)));
    assert_eq!(output.summary["configuration"]["input"]["missing_text"], json!("keep"));
    dir.write("c.toml", "[input]\nmissing_text = \"keep\"\n");
    let again = dir.output("in.jsonl --config c.toml", "again");
    assert_eq!(again.kept("in.jsonl"), output.kept("in.jsonl"));
    dir.alike("load c in.jsonl --missing-text keep", None).ok().says("22 added");
    dir.alike("load c in.jsonl", None).ok().says("22 unchanged");
    dir.alike("repetition in.jsonl --dry-run --missing-text keep", None).ok().says("of 22 documents");
    dir.alike("lexicon build in.jsonl --out no --min-df 1", None).code(3).says("the field text is null");
    let built = dir
        .alike("lexicon build in.jsonl --missing-text keep --terms alphanumeric --min-df 1 --out l", None)
        .ok();
    built.says("19 documents with a word, 3 without; 0 records refused");
}

/// With `--missing-text keep` nothing is refused for a field that no record has. It is said.
#[test]
fn a_field_that_no_record_has_is_said() {
    let dir = Dir::new();
    let is_right = "is the text field right (--text-field)?";
    dir.write("in.jsonl", good());
    dir.write("items.jsonl", line("q", &words(0, 20)));
    for command in [
        "dedup in.jsonl --dry-run",
        "load c in.jsonl",
        "repetition in.jsonl --dry-run",
        "passages in.jsonl --dry-run",
        "decontaminate in.jsonl --benchmarks items.jsonl --benchmark-fields text --dry-run",
    ] {
        dir.alike(&format!("{command} --text-field none --missing-text keep"), None).ok().says(is_right);
        let wordy = command.replace("load c", "load wordy");
        let ran = dir.alike(&format!("{wordy} --missing-text keep"), None).ok();
        assert!(!ran.stderr.contains(is_right), "{command}: {}", ran.stderr);
    }
    let lexicon = "lexicon build in.jsonl --missing-text keep --min-df 1 --out l --text-field none";
    assert!(dir.alike(lexicon, None).stderr.contains(is_right));
    let ran = dir.alike("delete wordy --ids - --max-delete 100%", Some(b"0\n")).ok();
    assert!(!ran.stderr.contains(is_right), "{}", ran.stderr);
}

#[test]
fn a_line_over_the_cap() {
    let long = line("x", &words(0, 500));
    rejected(long.trim_end().as_bytes(), "[input]\nmax_record_bytes = 1000\n", &["1000"]);
}

/// A text file is one document: over the cap or not UTF-8, it is refused whole.
#[test]
fn bad_text_files() {
    let dir = Dir::new();
    for i in 0..GOOD {
        dir.write(&format!("in/{i:02}.txt"), words(i * 100, 20));
    }
    dir.write("in/bad.txt", b"caf\xe9");
    let output = dir.output("in", "out");
    assert_eq!(output.rejected.len(), 1);
    assert!(output.rejected[0]["file"].as_str().unwrap().ends_with("bad.txt"));
    assert!(output.kept.keys().all(|name| !name.ends_with("bad.txt")), "{:?}", output.kept.keys());
    assert_eq!(output.kept.len(), GOOD);
}

/// What stands before the damage is good: it is read and kept, and the damage is one refusal that says where.
#[test]
fn truncated_compression() {
    // Texts that do not compress, so that much stands before the cut, and frames of their own.
    let lines: String = (0..200).map(|i| line(&format!("d{i}"), &words(i * 1_000_003, 20))).collect();
    for (name, packed) in
        [("in.jsonl.gz", gzip(lines.as_bytes(), 10_000)), ("in.jsonl.zst", zst(lines.as_bytes(), 10_000))]
    {
        let dir = Dir::new();
        dir.write(name, &packed[..packed.len() - packed.len() / 20]);
        let output = dir.output(name, "out");
        assert_eq!(output.rejected.len(), 1, "{name}: {:?}", output.rejected);
        let row = &output.rejected[0];
        assert!(row["file"].as_str().unwrap().ends_with(name), "{row}");
        assert!(row["offset"].as_u64() > Some(10_000), "{row}");
        let reason = row["reason"].as_str().unwrap().to_lowercase();
        assert!(reason.contains("truncated") || reason.contains("end"), "{row}");
        let kept = output.kept(name);
        assert!(kept.len() > 10_000 && lines.as_bytes().starts_with(&kept), "{name}: {} bytes", kept.len());
        let whole =
            |id: usize| kept.ends_with(line(&format!("d{id}"), &words(id * 1_000_003, 20)).as_bytes());
        assert!((100..200).any(whole), "{name}: half a record was kept");
        dir.dedup(&format!("{name} --strict --out strict")).code(3).says(name);
        assert!(!dir.join("strict").exists());
    }
}

/// Nothing at all is readable of this one, so it is above the limit of refusals.
#[test]
fn compression_without_a_whole_record() {
    let packed = gzip(&good(), usize::MAX);
    let dir = Dir::new();
    dir.write("in.jsonl.gz", &packed[..14]);
    nothing_written(&dir, dir.dedup("in.jsonl.gz --out out"), 3, &["in.jsonl.gz"]).says("in.jsonl.gz");
}

/// Bytes after the header that no compressor wrote.
#[test]
fn damaged_compression() {
    let mut packed = zst(&good(), usize::MAX);
    let middle = packed.len() / 2;
    for byte in &mut packed[8..middle] {
        *byte ^= 0x5a;
    }
    let dir = Dir::new();
    dir.write("in.jsonl.zst", &packed);
    nothing_written(&dir, dir.dedup("in.jsonl.zst --out out"), 3, &["in.jsonl.zst"]).says("in.jsonl.zst");
}

/// A file that is listed but cannot be opened, as whoever runs this: a symbolic link to nothing.
#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    let dir = Dir::new();
    dir.write("in/a.jsonl", good());
    std::os::unix::fs::symlink("nowhere", dir.join("in/b.jsonl")).unwrap();
    let ran = dir.dedup("in --out out");
    if ran.code == Some(0) {
        let output = Output::read(&dir.join("out"));
        assert_eq!(output.rejected.len(), 1, "passed over in silence");
        assert!(output.rejected[0]["file"].as_str().unwrap().ends_with("b.jsonl"), "{:?}", output.rejected);
        assert_eq!(output.kept("a.jsonl"), good());
    } else {
        nothing_written(&dir, ran, 3, &["in"]).says("b.jsonl");
    }
    dir.dedup("in --strict --out strict").code(3).says("b.jsonl");
    assert!(!dir.join("strict").exists());
}

#[test]
fn inputs_that_are_not_there() {
    let dir = Dir::new();
    dir.write("in.jsonl", good());
    std::fs::create_dir(dir.join("empty")).unwrap();
    let there = ["empty", "in.jsonl"];
    nothing_written(&dir, dir.dedup("missing.jsonl --out out"), 3, &there).says("missing.jsonl");
    nothing_written(&dir, dir.dedup("empty --out out"), 3, &there).says("empty");
    nothing_written(&dir, dir.dedup("none-*.jsonl --out out"), 3, &there).says("none-*.jsonl");
    // One wrong input among good ones is not passed over either.
    nothing_written(&dir, dir.dedup("in.jsonl missing.jsonl --out out"), 3, &there).says("missing.jsonl");
}

#[test]
fn nothing_on_standard_input() {
    let dir = Dir::new();
    let ran = dir.alike("dedup - --out out", Some(b""));
    if ran.code == Some(0) {
        let output = Output::read(&dir.join("out"));
        assert_eq!((output.summary["documents"].clone(), output.kept_lines().len()), (json!(0), 0));
    } else {
        nothing_written(&dir, ran, 3, &[]).says("standard input");
    }
}

/// Whatever has the name of the output is left as it was.
#[test]
fn an_output_that_exists() {
    let dir = Dir::new();
    dir.write("in.jsonl", good());
    dir.write("full/mine.txt", "mine");
    dir.write("file", "mine too");
    std::fs::create_dir(dir.join("bare")).unwrap();
    let there = ["bare", "file", "full", "in.jsonl"];
    for name in ["full", "file", "bare"] {
        nothing_written(&dir, dir.dedup(&format!("in.jsonl --out {name}")), 2, &there)
            .says(name)
            .says("exists");
    }
    assert_eq!(std::fs::read(dir.join("full/mine.txt")).unwrap(), b"mine");
    assert_eq!(std::fs::read(dir.join("file")).unwrap(), b"mine too");
    assert_eq!(std::fs::read_dir(dir.join("bare")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(dir.join("full")).unwrap().count(), 1);
}

#[test]
fn wrong_use() {
    let dir = Dir::new();
    dir.write("in.jsonl", good());
    dir.write("unknown.toml", "methd = 'join'");
    dir.write("wrong.toml", "threshold = 1.5");
    let there = ["in.jsonl", "unknown.toml", "wrong.toml"];
    for (flags, says) in [
        ("in.jsonl --out out --preset no-such", "no-such"),
        ("in.jsonl --out out --preset web --config wrong.toml", "--config"),
        ("in.jsonl --out out --config absent.toml", "absent.toml"),
        ("in.jsonl --out out --config unknown.toml", "methd"),
        ("in.jsonl --out out --config wrong.toml", "threshold"),
        ("in.jsonl --out out --threshold 0", "threshold"),
        ("in.jsonl --out out --threshold 1.01", "threshold"),
        ("in.jsonl --out out --threshold often", "threshold"),
        ("in.jsonl --out out --ngram 0", "ngram"),
        ("in.jsonl --out out --method magic", "magic"),
        ("in.jsonl --out out --clustering loose", "loose"),
        ("in.jsonl --out out --keep best", "best"),
        ("in.jsonl --out out --keep field:score:most", "field:score:most"),
        ("in.jsonl --out out -w 0", "0"),
        ("in.jsonl --out out --memory lots", "lots"),
        ("in.jsonl --out out -w 3 --memory 40M", "52 MiB"),
        ("in.jsonl --out out --quiet --json-progress", "--json-progress"),
        ("in.jsonl --out out --no-such-flag", "--no-such-flag"),
        ("in.jsonl", "--out"),
        ("--out out", "input"),
    ] {
        nothing_written(&dir, dir.dedup(flags), 2, &there).says(says);
    }
}

/// What cannot go to disk, and does not fit, is an error that says what would do; with that it works.
#[test]
fn too_little_memory() {
    let dir = Dir::new();
    dir.write("in.jsonl", (0..250_000).map(|i| line("x", &format!("w{i}"))).collect::<String>());
    let flags = "in.jsonl --threshold 0.9 -w 1";
    let ran = nothing_written(&dir, dir.dedup(&format!("{flags} --memory 36M --out out")), 3, &["in.jsonl"]);
    let (_, rest) = ran.stderr.split_once("allow about ").unwrap();
    let enough: u64 = rest.split_once(" MiB").unwrap().0.parse().unwrap();
    assert!((37..60).contains(&enough), "{enough}");
    dir.output(&format!("{flags} --memory {}M", enough + 1), "out");
}

/// The limit is above 10 %, not at it.
#[test]
fn too_many_refused() {
    let mut bytes: Vec<u8> =
        (0..18).map(|i| line(&format!("g{i}"), &words(i * 100, 20))).collect::<String>().into();
    bytes.extend(b"bad\nworse\n");
    let dir = Dir::new();
    dir.write("in.jsonl", &bytes);
    assert_eq!(dir.output("in.jsonl", "at-the-limit").rejected.len(), 2);
    std::fs::remove_dir_all(dir.join("at-the-limit")).unwrap();
    bytes.extend(b"worst\n");
    dir.write("in.jsonl", &bytes);
    let ran = nothing_written(&dir, dir.dedup("in.jsonl --out out"), 3, &["in.jsonl"]);
    // How many, of how many, and where the first one is.
    ran.says("3").says("21").says("in.jsonl").says("19");
}

/// The share is that of all files together, and the rows name each file.
#[test]
fn refusals_are_counted_over_all_files() {
    let dir = Dir::new();
    dir.write("in/a.jsonl", [&good()[..], b"bad\n"].concat());
    dir.write("in/b.jsonl", "worse\n");
    for workers in 1..4 {
        let output = dir.output(&format!("in -w {workers}"), &format!("out{workers}"));
        let place = |row: &Value| {
            (row["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(), row["line"].clone())
        };
        let mut places: Vec<_> =
            output.rejected.iter().map(place).map(|(file, line)| format!("{file}:{line}")).collect();
        places.sort();
        assert_eq!(places, ["a.jsonl:20", "b.jsonl:1"], "{workers} workers");
    }
}

/// Documents without any word are kept, match nothing, and are counted.
#[test]
fn texts_without_words() {
    let dir = Dir::new();
    let texts = ["", " ", "\n\t", "...", "", "?!"];
    dir.write(
        "in.jsonl",
        texts.iter().enumerate().map(|(i, text)| line(&i.to_string(), text)).collect::<String>(),
    );
    for method in ["join", "exact", "minhash", "shingles"] {
        for clustering in ["guarantee", "transitive"] {
            let flags = format!("in.jsonl --pairs --method {method} --clustering {clustering}");
            let output = dir.output(&flags, &format!("{method}-{clustering}"));
            assert_eq!(output.kept_lines().len(), texts.len(), "{flags}");
            assert_eq!(
                (output.duplicates.len(), output.clusters.len(), output.pairs.len()),
                (0, 0, 0),
                "{flags}"
            );
            assert_eq!(output.summary["empty"], json!(texts.len()), "{flags}");
        }
    }
}

#[test]
fn fields_that_documents_lack_are_told() {
    let dir = Dir::new();
    let document = |i: usize| json!({"id": format!("d{i}"), "text": words(i * 100, 20), "stars": i});
    let mut lines: Vec<Value> = (0..5).map(document).collect();
    lines[1].as_object_mut().unwrap().remove("stars");
    lines[2]["stars"] = json!([2]);
    dir.write("in.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let told = |args: &str, ids: u64, values: u64, warnings: &[&str]| {
        let ran = dir.dedup(&format!("in.jsonl --out out {args}")).ok();
        let found: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(found.len(), warnings.len(), "{args}: {found:?}");
        assert!(found.iter().zip(warnings).all(|(found, part)| found.contains(part)), "{args}: {found:?}");
        let summary = Output::read(&dir.join("out")).summary;
        fs::remove_dir_all(dir.join("out")).unwrap();
        assert_eq!(
            (&summary["missing_id"], &summary["missing_value"]),
            (&json!(ids), &json!(values)),
            "{args}"
        );
    };
    told("", 0, 0, &[]);
    told("--id-field url", 5, 0, &["5 documents without an id in the field url"]);
    told("--keep field:stars:max", 0, 2, &["2 documents without a number or a string in the field stars"]);
    lines.iter_mut().skip(1).for_each(|line| drop(line.as_object_mut().unwrap().remove("id")));
    dir.write("in.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    told("", 4, 0, &["4 documents without an id in the field id"]);
    // Nobody asked for an id, and there is none.
    lines[0].as_object_mut().unwrap().remove("id");
    dir.write("in.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    told("", 5, 0, &[]);
}

/// A run of no documents ends well and warns.
#[test]
fn an_input_without_documents_warns() {
    let dir = Dir::new();
    dir.write("empty.jsonl", "");
    let warning = "warning: the input holds no documents";
    dir.dedup("empty.jsonl --out out").ok().says("removed 0 of 0 documents").says(warning);
    dir.write("one.jsonl", line("a", "a few words of text"));
    let ran = dir
        .dedup("one.jsonl --dry-run")
        .ok()
        .says("would remove 0 of 1 document (")
        .says("1 distinct text, 0 repeats");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}

/// A URL is one also where none is read, and no name of a file that is not there.
#[cfg(not(feature = "remote"))]
#[test]
fn urls_are_refused_by_a_build_that_reads_none() {
    let dir = Dir::new();
    for url in ["s3://bucket/a.jsonl", "gs://b/*.gz", "https://h/a?key=secret", "hf://datasets/o/n/x"] {
        let ran = dir.dedup(&format!("{url} --dry-run")).code(3).says("build alike with --features full");
        let shown = url.split('?').next().unwrap();
        assert!(
            ran.stderr.contains(&format!("{shown}: ")) && !ran.stderr.contains("secret"),
            "{}",
            ran.stderr
        );
    }
}

/// Files in formats that are known and not read: the message names the format and what to do instead.
#[test]
fn formats_that_are_not_read_are_named() {
    // What a build reads that has it, and does not read compressed as a whole.
    let parquet = if cfg!(feature = "parquet") {
        ("a.parquet.gz", gzip(b"PAR1\x15\x04\x15\0", 10), "decompress it")
    } else {
        (
            "a.parquet",
            b"PAR1\x15\x04\x15\0".to_vec(),
            "build alike with --features full, or convert it to JSON Lines",
        )
    };
    let mut formats: Vec<(&str, &[u8], &str, &str)> = vec![
        ("a.jsonl.lz4", b"\x02\x21\x4c\x18\x64\x40\xa7\x02\0", "LZ4 of the legacy form", "decompress it"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", "7z", "unpack it"),
        (parquet.0, &parquet.1, "Parquet", parquet.2),
    ];
    if !cfg!(feature = "pdf") {
        formats.push(("a.pdf", b"%PDF-1.4\0", "PDF", "extract its text"));
    }
    for (name, bytes, format, advice) in formats {
        let dir = Dir::new();
        dir.write(&format!("in/{name}"), bytes);
        let says = |ran: Ran, code: i32| ran.code(code).says(&format!("format {format},")).says(advice);
        for input in [format!("in/{name}"), "in".to_owned(), "in/*".to_owned()] {
            says(dir.dedup(&format!("{input} --out out")), 3).says(name);
        }
        says(dir.alike("dedup - --out out", Some(bytes)), 3);
        dir.write("in/good.jsonl", line("a", "a few words of text"));
        says(dir.dedup("in --out out"), 0).says(&format!("{name} skipped"));
    }
}

/// A mistyped field is told with the fields that there are.
#[test]
fn fields_that_no_record_has_are_told_with_those_there_are() {
    let dir = Dir::new();
    let row = |n: usize| format!("{{\"id\":\"d{n}\",\"text\":\"some words {n}\",\"score\":{n}}}\n");
    dir.write("in.jsonl", (0..3).map(row).collect::<String>());
    dir.write("in.csv", "id,text,score\na,some words,1\n");
    for (file, there) in [("in.jsonl", "id, score, text"), ("in.csv", "id, text, score")] {
        for (flags, said) in [
            ("--keep field:nosuch:max", "--keep: no document has a number or a string in the field nosuch"),
            ("--id-field nosuch", "--id-field: no document has a number or a string in the field nosuch"),
        ] {
            let ran = dir.dedup(&format!("{file} --dry-run {flags}")).ok().says(said);
            let names = ran.stderr.split("record has: ").nth(1).unwrap().lines().next().unwrap();
            let mut names: Vec<&str> = names.split(", ").collect();
            let mut there: Vec<&str> = there.split(", ").collect();
            names.sort_unstable();
            there.sort_unstable();
            assert_eq!(names, there, "{file}");
        }
        let ran = dir.dedup(&format!("{file} --dry-run --keep field:score:max")).ok();
        assert!(!ran.stderr.contains("no document has"), "{}", ran.stderr);
    }
}

/// A record longer than `--max-record-bytes` is refused and counted by all commands that read records, and the others are read.
#[test]
fn longer_records_are_refused_by_all_commands() {
    let dir = Dir::new();
    let (bytes, _) = with_fourth(line("long", &words(5000, 400)).trim_end().as_bytes());
    dir.write("in.jsonl", bytes);
    dir.write("items.jsonl", line("item", &words(7000, 20)));
    for command in [
        "dedup in.jsonl --out o",
        "load c in.jsonl",
        "passages in.jsonl --out o",
        "repetition in.jsonl --dry-run",
        "decontaminate in.jsonl --benchmarks items.jsonl --out o",
    ] {
        let whole = dir.alike(command, None).ok();
        assert!(!whole.stderr.contains("refused"), "{}", whole.stderr);
        drop(fs::remove_dir_all(dir.join("o")));
        drop(fs::remove_dir_all(dir.join("c")));
        let ran = dir.alike(&format!("{command} --max-record-bytes 1K"), None).ok();
        ran.says("in.jsonl, line 4");
        drop(fs::remove_dir_all(dir.join("o")));
        drop(fs::remove_dir_all(dir.join("c")));
    }
    dir.alike("dedup in.jsonl --dry-run --max-record-bytes 0", None).code(2).says("every record");
    dir.alike("passages in.jsonl --dry-run --max-record-bytes some", None).code(2).says("512m");
}

/// A text under the name of something else is no document of its own, and neither is an array of records.
#[test]
fn what_is_not_what_its_name_says_is_refused() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123451\n";
    let dir = Dir::new();
    for name in ["p.parquet", "p.arrow", "p.warc.gz", "p.jsonl.gz", "p.csv.gz", "p"] {
        dir.write(name, pointer);
        dir.dedup(&format!("{name} --dry-run")).code(3).says("Git LFS pointer").says("git lfs pull");
    }
    for name in ["t.arc", "t.avro", "t.docx", "t.exe", "t.gz", "t.png", "t.xlsx", "t.zst", "t.mbox"] {
        dir.write(name, "one line of text\n");
        dir.dedup(&format!("{name} --dry-run"))
            .code(3)
            .says("not what its name says")
            .says("--input-format text");
        dir.dedup(&format!("{name} --dry-run --input-format text")).ok();
    }
    dir.write("h.warc", "\n\nWARC/1.0\nWARC-Type: conversion\nContent-Length: 5\n\nhello\n\n");
    dir.dedup("h.warc --dry-run").code(3).says("not what its name says");
    let long =
        format!("[{}]", (0..1000).map(|at| format!("{{\"id\": {at}}}")).collect::<Vec<_>>().join(", "));
    for array in ["[{\"text\": \"a b\"},\n{\"text\": \"c\"}]\n", "[\"a\", \"b\"]", &long] {
        dir.write("array", array);
        dir.dedup("array --dry-run").code(3).says("JSON array").says("jq");
        dir.alike("dedup - --dry-run", Some(array.as_bytes())).code(3).says("JSON array").says("jq");
        dir.write("array.json", array);
        dir.dedup("array.json --dry-run").code(3).says("JSON array").says("jq");
    }
    let long = format!("{{\n \"text\": \"{}\",\n \"id\": 1}}\n", "x ".repeat(20_000));
    for object in [
        "{\n  \"text\": \"a b\"\n}\n",
        "{\"id\": 1,\n\"text\": \"a\"}\n{\"id\": 2,\n\"text\": \"a\"}\n",
        &long,
    ] {
        for name in ["object", "object.json", "object.jsonl"] {
            dir.write(name, object);
            dir.dedup(&format!("{name} --dry-run")).code(3).says("JSON over several lines").says("jq -c");
        }
    }
    // Lines that are damaged are no reason to refuse those that are not.
    for lines in [
        "{\"id\": 1,\n{\"text\": \"a\"}\n",
        "[\n{\"text\": \"a\"}\n{\"text\": \"b\"}\n",
        "{\n{\"text\": \"a\"}\n",
    ] {
        dir.write("lines.jsonl", lines);
        dir.dedup("lines.jsonl --dry-run --max-rejected 60%").ok();
    }
    dir.alike("dedup - --dry-run", Some(b"sep=;\r\nid;text\r\n1;a b\r\n"))
        .code(3)
        .says("delete it")
        .says("say --delimiter");
    let quotation = format!("[\"{}", "x".repeat(300_000));
    for text in [&quotation, "[1] a note", "[a link](b)", "[\"a\"] is a list", "[{", "[\"a", "[]", "a text"] {
        dir.write("text", text);
        dir.dedup("text --dry-run").ok();
    }
}

/// Mail in boxes of other kinds is refused by name: read as it is, all messages would be one text, or one message.
#[test]
fn boxes_of_mail_that_are_not_read_are_named() {
    let dir = Dir::new();
    let message = |at: u32| {
        format!("From: a{at}@b\nMessage-ID: <{at}@b>\nSubject: s\n\nthe text number {at} has some words\n")
    };
    let from = "From a@b Thu Jan  1 00:00:00 2026\n";
    let box_of = |before: &str, behind: &str| -> String {
        (0..3).map(|at| format!("{before}{}{behind}", message(at))).collect()
    };
    let parted = "\u{1}\u{1}\u{1}\u{1}\n";
    let boxes = [
        (box_of(parted, parted), "MMDF", "mailbox of Python"),
        (box_of(&format!("{parted}{from}"), parted), "MMDF", "mutt"),
        (box_of(from, "\n").replace('\n', "\r"), "mbox whose lines end in CR", "tr '\\r' '\\n'"),
        (box_of(from, ""), "mbox without blank lines between messages", "formail -ds"),
        (box_of(from, "").replace('\n', "\r\n"), "mbox without blank lines between messages", "formail -ds"),
    ];
    for (content, name, advice) in &boxes {
        for path in ["box", "a.mbox"] {
            dir.write(path, content);
            dir.dedup(&format!("{path} --dry-run")).code(3).says(name).says(advice);
        }
    }
    dir.write("a.mbox", boxes[2].0.replace('\r', "\n"));
    dir.write("b.mbox", box_of(from, "\n").replace('\n', "\r\n"));
    // A line that is not quoted, in the text of a message.
    dir.write("c.mbox", box_of(from, "From here at 10:30\nword: more\n\n"));
    dir.dedup("a.mbox b.mbox c.mbox --dry-run").ok().says("of 9 documents");
}

/// A text in another encoding is refused with what makes it UTF-8.
#[test]
fn other_encodings_are_refused_with_what_to_do() {
    let dir = Dir::new();
    let table = "id,text\r\n1,caf\u{e9} and more words\r\n";
    let wide: Vec<u8> = table.encode_utf16().flat_map(u16::to_le_bytes).collect();
    dir.write("wide.csv", [b"\xff\xfe", &wide[..]].concat());
    dir.write("latin.csv", table.chars().map(|letter| letter as u8).collect::<Vec<u8>>());
    dir.write("latin.txt", b"caf\xe9 and more words");
    for name in ["wide.csv", "latin.csv", "latin.txt"] {
        dir.dedup(&format!("{name} --dry-run"))
            .code(3)
            .says("not UTF-8; convert it, with iconv -f WINDOWS-1252 -t UTF-8");
    }
}

/// What is refused names what helps in the case at hand.
#[test]
fn refusals_name_what_helps() {
    let dir = Dir::new();
    let rows = |separator: &str| {
        let row = |at: u32| format!("{at}{separator}words of a text {at}\n");
        format!("id{separator}text\n{}", (0..12).map(row).collect::<String>()).into_bytes()
    };
    let objects = |between: &str| {
        let object =
            |at: u32| format!("{}{between}", line(&at.to_string(), &words(at as usize, 9)).trim_end());
        (0..12).map(object).collect::<String>().into_bytes()
    };
    let cut = format!("{}{}", line("a", &words(0, 9)), &line("b", &words(20, 9))[..30]);
    let wide: Vec<u8> = rows(",").into_iter().flat_map(|byte| [byte, 0]).collect();
    let packed = gzip(&good(), 999);
    let cases: [(&str, &[u8], &str, &str); 11] = [
        ("page.jsonl", b"<!DOCTYPE html>\n<p>a text</p>\n", "", "--input-format html"),
        ("table.jsonl", &rows(","), "", "--input-format csv"),
        ("behind.jsonl", &objects(""), "", "jq -c ."),
        ("commas.jsonl", &objects(",\n"), "", "not even a comma"),
        ("cut.jsonl", cut.as_bytes(), "", "the file is cut off here"),
        ("semicolons.csv", &rows(";"), "--delimiter ,", "--delimiter ';'"),
        ("tabs.csv", &rows("\t"), "--delimiter ,", "--delimiter 'tab'"),
        ("wide.csv", &wide, "", "iconv -f UTF-16LE -t UTF-8"),
        ("binary.jsonl", b"\x00\xff\xfe\n", "--input-format jsonl", "binary data"),
        ("number.jsonl", b"{\"text\": 1}\n", "", "--text-field"),
        ("cut.jsonl.gz", &packed[..packed.len() / 2], "", "get the file again"),
    ];
    for (name, content, flags, says) in cases {
        dir.write(name, content);
        dir.dedup(&format!("{name} {flags} --dry-run --max-rejected 0%")).code(3).says(says);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", dir.join("link.jsonl")).unwrap();
        dir.dedup("link.jsonl --dry-run").code(3).says("a link to what is not there");
    }
}

/// What was to write an input may have failed; of files in folders some are empty by custom.
#[test]
fn inputs_that_are_empty_are_named() {
    let dir = Dir::new();
    dir.write("in.jsonl", good());
    dir.write("empty.jsonl", "");
    dir.write("folder/empty.jsonl", "");
    dir.write("folder/in.jsonl", good());
    for command in ["dedup in.jsonl empty.jsonl --dry-run", "load c empty.jsonl in.jsonl"] {
        dir.alike(command, None).ok().says("warning: 1 input is empty: empty.jsonl");
    }
    dir.alike("dedup - in.jsonl empty.jsonl --dry-run", Some(b""))
        .ok()
        .says("warning: 2 inputs are empty: -, empty.jsonl");
    dir.alike("load d folder", None).ok();
    dir.alike("load d folder --delete-missing", None).ok().says("1 file is empty: folder/empty.jsonl");
    // No compressed file has no byte.
    dir.write("folder/cut.jsonl.gz", "");
    dir.alike("load d folder --delete-missing", None).code(3).says("the file is empty");
    fs::remove_file(dir.join("folder/cut.jsonl.gz")).unwrap();
    for command in [
        "dedup in.jsonl folder --dry-run",
        "dedup folder --dry-run",
        "dedup in.jsonl empty.jsonl --dry-run -q",
    ] {
        let ran = dir.alike(command, None).ok();
        assert!(!ran.stderr.contains("empty:"), "{}", ran.stderr);
    }
}

/// What a folder holds beside documents is named, with what reads it.
#[test]
fn files_that_are_skipped_are_named_with_what_reads_them() {
    let dir = Dir::new();
    dir.write("in/a.jsonl", good());
    for name in ["b.rs", "c.rs", "d.toml"] {
        dir.write(&format!("in/deep/{name}"), format!("some text of {name}"));
    }
    dir.write("items.jsonl", line("q", &words(0, 20)));
    for command in [
        "dedup in --dry-run",
        "load c in",
        "repetition in --dry-run",
        "passages in --dry-run",
        "decontaminate in --benchmarks items.jsonl --benchmark-fields text --dry-run",
        "lexicon build in --min-df 1 --terms alphanumeric --out l",
    ] {
        let ran = dir.alike(command, None).ok();
        ran.says("in/deep/b.rs skipped").says("'FOLDER/**/*.rs'");
    }
    // What was loaded and is something else now is not deleted for that.
    dir.write("in/deep/e.jsonl", line("e", &words(7000, 20)));
    dir.alike("load c in", None).ok().says("1 added");
    dir.write("in/deep/e.jsonl", format!("[{}]", line("e", &words(7000, 20)).trim_end()));
    dir.alike("load c in --delete-missing", None).code(3).says("in/deep/e.jsonl").says("was loaded before");
    fs::remove_file(dir.join("in/deep/e.jsonl")).unwrap();
    let ran = dir.alike("load c in --delete-missing", None).ok().says("1 removed");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["skipped_files"], 3);
    dir.write("benchmarks/a.json", "[{\"text\": \"an item\"},\n{\"text\": \"another\"}]");
    dir.write("benchmarks/b.jsonl", line("q", &words(0, 20)));
    dir.alike("decontaminate in/a.jsonl --benchmarks benchmarks --benchmark-fields text --dry-run", None)
        .ok()
        .says("benchmarks/a.json skipped");
    dir.alike("dedup in/**/*.rs --dry-run", None).ok().says("of 2 documents");
    for command in ["dedup in --dry-run -q", "load c in -q"] {
        assert_eq!(dir.alike(command, None).ok().stderr, "");
    }
}

/// A first load says what cannot be mended later.
#[test]
fn first_loads_say_what_is_lost() {
    let dir = Dir::new();
    let same: String = (0..9).map(|at| line("one", &words(at, 20))).collect();
    dir.alike("load c -", Some(&good())).ok().says("begun with --store-text");
    let ran = dir.alike("load c -", Some(same.as_bytes())).ok().says("is the id field right (--id-field)?");
    assert!(!ran.stderr.contains("--store-text"), "{}", ran.stderr);
    let ran = dir.alike("load d - --store-text", Some(&good())).ok();
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}
