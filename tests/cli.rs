//! The command line: every flag and subcommand of `dedup`, files in and files out.

use serde_json::{Value, json};

use crate::support::output::{jsonl, reread};
use crate::support::program::Dir;
use crate::support::texts::{gzip, line, text, words, zst};

/// Two texts of which the second is a near-copy, and a third unlike them.
fn trio() -> [String; 3] {
    [words(0, 100), words(2, 100), words(1000, 100)]
}

/// The trio as JSONL with ids a, b, c: b is removed at the default threshold.
fn trio_jsonl() -> String {
    ["a", "b", "c"].iter().zip(trio()).map(|(id, body)| line(id, &body)).collect()
}

#[test]
fn help_and_version() {
    let dir = Dir::new();
    let help = dir.alike("--help", None).ok().stdout;
    assert!(help.contains("dedup"), "{help}");
    let help = dir.alike("dedup --help", None).ok().stdout;
    let flags = "--out --method --threshold --ngram --preset --config --keep --clustering --memory --id-field --text-field \
                 --pairs --dry-run --strict --quiet --json-progress --tokens --workers --simd";
    for flag in flags.split_whitespace() {
        assert!(help.contains(flag), "{flag} is missing in\n{help}");
    }
    let version = dir.alike("--version", None).ok().stdout;
    assert_eq!(version.trim(), concat!("alike ", env!("CARGO_PKG_VERSION")));
    dir.alike("", None).code(2);
    dir.alike("dedupe", None).code(2);
}

fn read(dir: &Dir, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn a_filter_is_chosen_and_used() {
    let dir = Dir::new();
    let ran = dir.alike("tune filter --threshold 0.9 --compare 6,14,2 --svg curve.svg", None).ok();
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let best = |key: &str| told["best"][key].as_u64().unwrap();
    assert_eq!((best("k"), best("s"), best("r")), (6, 15, 2), "{told}");
    assert!((told["compared"]["half"].as_f64().unwrap() - 0.90937).abs() < 1e-5, "{told}");
    assert_eq!(told["by_features"].as_array().unwrap().len(), 6);
    assert!(read(&dir, "curve.svg").contains("2 of 6 features of 14"));
    let toml = dir.alike("tune filter --threshold 0.9 --toml", None).ok().stdout;
    dir.write("filter.toml", toml);
    dir.write("in.jsonl", trio_jsonl());
    dir.alike("dedup in.jsonl --config filter.toml --out out -q", None).ok();
    let summary: Value = serde_json::from_str(&read(&dir, "out/summary.json")).unwrap();
    assert_eq!(summary["configuration"]["minhash"]["s"], 15, "{summary}");
    for wrong in [
        "--threshold 1",
        "--threshold 0",
        "--threshold nan",
        "--threshold 0.9 --bytes 7",
        "--threshold 0.9 --bytes 520",
        "--threshold 0.9 --values 0",
        "--threshold 0.9 --missed 0 --wrong 0",
        "--threshold 0.9 --missed inf",
        "--threshold 0.9 --compare 6,14,7",
        "--threshold 0.9 --compare 6,14",
        "--threshold 0.9 --compare 64,65,1",
        "",
    ] {
        dir.alike(&format!("tune filter {wrong}"), None).code(2);
    }
    dir.alike("tune filter --threshold 0.9 --svg curve.svg", None).code(2).says("curve.svg");
}

#[test]
fn every_preset_runs() {
    let dir = Dir::new();
    dir.write("in.jsonl", trio_jsonl());
    let list = dir.alike("presets", None).ok().stdout;
    let names = "broder1997 broder2000 fetterly2003 datatrove marin nemo text-dedup web news short";
    for name in names.split(' ') {
        assert!(list.contains(name), "{name} is missing in\n{list}");
        let output = dir.output(&format!("in.jsonl --preset {name}"), name);
        assert_eq!(output.summary["documents"], json!(3), "{name}");
        assert!(output.kept_ids().contains(&"c".to_owned()), "{name}: {:?}", output.duplicates);
    }
    // A flag goes over the preset: nothing but equal text reaches 1.
    let output = dir.output("in.jsonl --preset short --threshold 1", "strict");
    assert_eq!(output.removed_ids(), Vec::<String>::new());
}

#[test]
fn the_rows_of_a_plain_run() {
    let dir = Dir::new();
    dir.write("in.jsonl", format!("{}{}", trio_jsonl(), line("d", &trio()[0].to_uppercase())));
    let output = dir.output("in.jsonl --pairs", "out");
    // 96 shingles each, 94 of them shared.
    let near = 94.0 / 98.0;
    let file = output.duplicates[0]["file"].clone();
    assert!(file.as_str().unwrap().ends_with("in.jsonl"));
    let row = |id: &str, line: u64, resemblance: f64, reason: &str| {
        json!({"id": id, "file": file, "line": line, "cluster": 1, "representative": "a",
               "representative_file": file, "representative_line": 1, "resemblance": resemblance, "reason": reason})
    };
    assert_eq!(output.duplicates, reread(&[row("b", 2, near, "near"), row("d", 4, 1.0, "exact")]));
    assert_eq!(
        output.clusters,
        [json!({"cluster": 1, "size": 3, "representative": "a", "members": ["a", "b", "d"]})]
    );
    let pair = |b: &str, resemblance: f64| json!({"a": "a", "b": b, "resemblance": resemblance});
    assert_eq!(*output.pairs, reread(&[pair("b", near), pair("d", 1.0)]));
    assert_eq!(output.kept_ids(), ["a", "c"]);
    assert_eq!(output.rejected, Vec::<Value>::new());
    let summary = &output.summary;
    for (key, want) in
        [("documents", 4), ("kept", 2), ("removed", 2), ("clusters", 1), ("pairs", 2), ("rejected", 0)]
    {
        assert_eq!(summary[key], json!(want), "{key} in {summary}");
    }
    assert_eq!(summary["version"], json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(summary["configuration"]["method"], json!("join"));
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let dir = Dir::new();
    let copies = (0..137).map(|i| line(&i.to_string(), &words(i % 114 * 1000, 50)));
    dir.write("in.jsonl", copies.collect::<String>());
    let ran = dir.dedup("in.jsonl --out out --dry-run").ok();
    let said = format!("{}{}", ran.stdout, ran.stderr);
    for count in ["137", "23", "114"] {
        assert!(said.contains(count), "{count} is missing in\n{said}");
    }
    assert_eq!(dir.names(), ["in.jsonl"]);
}

#[test]
fn quiet_says_nothing() {
    let dir = Dir::new();
    dir.write("in.jsonl", trio_jsonl());
    let ran = dir.dedup("in.jsonl --out out --quiet").ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let ran = dir.dedup("in.jsonl --out loud").ok();
    assert_eq!(ran.stdout, "", "text goes to standard error");
    assert!(ran.stderr.contains("removed 1 of 3"), "{}", ran.stderr);
    // A failure is reported nevertheless.
    dir.dedup("missing.jsonl --out other --quiet").code(3).says("missing.jsonl");
}

#[test]
fn json_progress_is_json() {
    let dir = Dir::new();
    dir.write("in.jsonl", trio_jsonl());
    let ran = dir.dedup("in.jsonl --out out --json-progress").ok();
    let rows = jsonl(ran.stderr.as_bytes());
    assert!(!rows.is_empty() && rows.iter().all(Value::is_object), "{}", ran.stderr);
    // A short stage may pass unseen, but not all of them.
    let stages = ["open", "read", "collide", "verify", "cluster", "write"];
    let is_stage = |row: &Value| row["stage"].as_str().is_some_and(|stage| stages.contains(&stage));
    assert!(rows.iter().any(is_stage), "{}", ran.stderr);
    // The last line is the summary, the same as in the file.
    let last = &rows.last().unwrap()["summary"];
    assert_eq!((&last["documents"], &last["removed"]), (&json!(3), &json!(1)), "{}", ran.stderr);
}

#[test]
fn standard_input() {
    let dir = Dir::new();
    let whole = trio_jsonl();
    let want: String =
        whole.lines().filter(|line| !line.contains("\"b\"")).map(|line| format!("{line}\n")).collect();
    let forms = [whole.clone().into_bytes(), gzip(whole.as_bytes(), 200), zst(whole.as_bytes(), 200)];
    for (name, bytes) in ["plain", "gz", "zst"].iter().zip(forms) {
        dir.alike(&format!("dedup - --out {name}"), Some(&bytes)).ok();
        let output = crate::support::output::Output::read(&dir.join(name));
        assert_eq!(output.removed_ids(), ["b"], "{name}");
        let (file, packed) = output.kept.iter().next().unwrap();
        assert_eq!((output.kept.len(), text(output.kept(file))), (1, want.clone()), "{name}");
        assert_eq!(packed[..2], bytes[..2], "{name}: another compression than that of the input");
    }
}

/// Folders are walked in the order of paths, and that is document order.
#[test]
fn folders_and_globs() {
    let dir = Dir::new();
    let [a, b, c] = trio();
    dir.write("in/b.jsonl", line("second", &b));
    dir.write("in/a/deep.ndjson", line("first", &a));
    dir.write("in/c.json", line("third", &c));
    dir.write("in/d.txt", a.to_uppercase());
    dir.write("in/e.md", words(5000, 30));
    for inputs in ["in", "in/a in/*.jsonl in/*.json in/*.txt in/*.md", "in/**/*.*"] {
        let output = dir.output(inputs, "out");
        assert_eq!(output.summary["documents"], json!(5), "{inputs}");
        let clusters: Vec<&Value> = output.clusters.iter().map(|row| &row["representative"]).collect();
        assert_eq!(clusters, ["first"], "{inputs}");
        assert_eq!(output.kept("deep.ndjson"), line("first", &a).into_bytes(), "{inputs}");
        assert_eq!(text(output.kept("e.md")), words(5000, 30), "{inputs}");
        assert!(
            !output.kept.keys().any(|name| name.ends_with("d.txt")),
            "{inputs}: {:?}",
            output.kept.keys()
        );
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
    // Given in another order, the other one is first.
    let output = dir.output("in/b.jsonl in/a/deep.ndjson", "turned");
    assert_eq!(output.clusters[0]["representative"], "second");
}

/// Files of one name in different folders do not overwrite each other.
#[test]
fn equal_names_in_different_folders() {
    let dir = Dir::new();
    dir.write("x/in.jsonl", line("x", &words(0, 30)));
    dir.write("y/in.jsonl", line("y", &words(100, 30)));
    for (i, inputs) in ["x/in.jsonl y/in.jsonl", "x y", "*/in.jsonl"].iter().enumerate() {
        let output = dir.output(inputs, &format!("out-{i}"));
        assert_eq!(output.kept.len(), 2, "{inputs}: {:?}", output.kept.keys());
        assert_eq!(output.kept_ids(), ["x", "y"], "{inputs}");
    }
}

#[test]
fn nested_fields() {
    let dir = Dir::new();
    let record = |id: Value, body: &str, rank: i64| {
        format!("{}\n", json!({"meta": {"id": id, "rank": rank}, "body": {"content": body}}))
    };
    let [a, b, c] = trio();
    dir.write("in.jsonl", record(json!("a"), &a, 1) + &record(json!(17), &b, 3) + &record(json!("c"), &c, 2));
    let flags = "in.jsonl --id-field meta.id --text-field body.content";
    let output = dir.output(flags, "first");
    assert_eq!(output.removed_ids(), ["17"]);
    let output = dir.output(&format!("{flags} --keep field:meta.rank:max"), "max");
    assert_eq!(output.removed_ids(), ["a"]);
    let output = dir.output(&format!("{flags} --keep field:meta.rank:min"), "min");
    assert_eq!(output.removed_ids(), ["17"]);
}

/// A document is its position: ids may be missing, numbers, or the same for all.
#[test]
fn ids_are_labels() {
    let dir = Dir::new();
    let [a, b, c] = trio();
    dir.write("missing.jsonl", [&a, &b, &c].map(|body| format!("{}\n", json!({"text": body}))).concat());
    let output = dir.output("missing.jsonl", "missing");
    assert_eq!(output.removed_ids(), ["missing.jsonl:2"]);
    assert_eq!(output.clusters[0]["members"], json!(["missing.jsonl:1", "missing.jsonl:2"]));
    dir.write("same.jsonl", [&a, &b, &c].map(|body| line("same", body)).concat());
    let output = dir.output("same.jsonl", "same");
    assert_eq!((output.removed_ids(), output.kept_lines().len()), (vec!["same".to_owned()], 2));
    dir.write(
        "number.jsonl",
        [(1, &a), (2, &b), (3, &c)]
            .map(|(id, body)| format!("{}\n", json!({"id": id, "text": body})))
            .concat(),
    );
    assert_eq!(dir.output("number.jsonl", "number").removed_ids(), ["2"]);
}

/// Every byte of a kept record is as it was, and so is what stands between records.
#[test]
fn kept_bytes_are_untouched() {
    let [a, b, c] = trio();
    let kept = [
        format!("{{\"text\":\"{a}\" ,\t\"id\" : \"a\", \"x\":1.50}}\r\n"),
        "\n".to_owned(),
        format!("  {{ \"z\": [1,  2], \"text\": \"{c} caf\\u00e9 \\/ \u{e9}\", \"a\": null }}  \n"),
        "   \r\n".to_owned(),
        format!("{{\"id\":\"last\",\"text\":\"{}\"}}", words(3000, 20)),
    ];
    let dropped = format!("{{\"id\": \"b\", \"text\": \"{b}\"}}\r\n");
    let [first, second, third, fourth, fifth] = &kept;
    let whole = [first, second, &dropped, third, fourth, fifth].map(String::as_str).concat();
    let dir = Dir::new();
    dir.write("in.jsonl", &whole);
    dir.write("in.jsonl.gz", gzip(whole.as_bytes(), 300));
    dir.write("in.jsonl.zst", zst(whole.as_bytes(), 300));
    // Compression is known by content: these names say something else.
    dir.write("gz-inside.jsonl", gzip(whole.as_bytes(), 100_000));
    dir.write("plain-inside.jsonl.gz", &whole);
    for name in ["in.jsonl", "in.jsonl.gz", "in.jsonl.zst", "gz-inside.jsonl", "plain-inside.jsonl.gz"] {
        for workers in [1, 3] {
            let out = format!("{name}-{workers}");
            let output = dir.output(&format!("{name} -w {workers}"), &out);
            assert_eq!(text(output.kept(name)), kept.concat(), "{name}");
            let (before, after) = (std::fs::read(dir.join(name)).unwrap(), &output.kept[name]);
            assert_eq!(before[..2], after[..2], "{name}: another compression than that of the input");
            assert_eq!(output.removed_ids(), ["b"], "{name}");
        }
    }
    assert_eq!(std::fs::read(dir.join("in.jsonl")).unwrap(), whole.as_bytes(), "the input is never changed");
}

/// Scripts without spaces, accents, case and apostrophes: what is the same text and what is not.
#[test]
fn texts_of_all_scripts() {
    let same = [
        ("Stra\u{df}e und Gr\u{fc}\u{df}e an alle", "STRASSE  und GRU\u{308}SSE, an alle!"),
        (
            "\u{6771}\u{4eac}\u{90fd}\u{306f}\u{65e5}\u{672c}\u{306e}\u{9996}\u{90fd}",
            "\u{6771}\u{4eac}\u{90fd}\u{306f}\u{3001}\u{65e5}\u{672c}\u{306e}\u{9996}\u{90fd}\u{3002}",
        ),
        ("we don't know what we don't know", "We don\u{2019}t know; what we don't know?"),
    ];
    let other = [
        "we dont know what we dont know",
        "\u{6771}\u{4eac}\u{3068}\u{5927}\u{962a}\u{306f}\u{90fd}\u{5e02}\u{3067}\u{3059}",
    ];
    let texts: Vec<&str> = same.iter().flat_map(|(a, b)| [*a, *b]).chain(other).collect();
    let dir = Dir::new();
    dir.write(
        "in.jsonl",
        texts.iter().enumerate().map(|(i, body)| line(&i.to_string(), body)).collect::<String>(),
    );
    let output = dir.output("in.jsonl --method exact", "out");
    assert_eq!(output.partition(), [["0", "1"], ["2", "3"], ["4", "5"]]);
    // With characters as tokens a long common part of a script without spaces, or of one word, is found.
    dir.write(
        "chars.jsonl",
        line("a", "abcdefghijklmnopqrstuvwxyz") + &line("b", "abcdefghijklmnopqrstuvwxy."),
    );
    let flags = "chars.jsonl --ngram 5 --threshold 0.9";
    assert_eq!(dir.output(flags, "words").removed_ids(), Vec::<String>::new());
    assert_eq!(dir.output(&format!("{flags} --tokens chars"), "chars").removed_ids(), ["b"]);
}

/// Standard input is called `stdin`, its copy is gone with the run, and two runs do not differ in a byte.
#[test]
fn standard_input_leaves_no_trace_of_where_it_was_kept() {
    let dir = Dir::new();
    let records: String = trio().iter().map(|body| format!("{}\n", json!({ "text": body }))).collect();
    for name in ["one", "two"] {
        dir.alike(&format!("dedup - --out {name} --pairs"), Some(records.as_bytes())).ok();
    }
    let list = |name: &str, file: &str| text(std::fs::read(dir.join(name).join(file)).unwrap());
    for file in ["duplicates.jsonl", "clusters.jsonl", "pairs.jsonl", "rejected.jsonl", "kept/stdin.jsonl"] {
        assert_eq!(list("one", file), list("two", file), "{file}");
    }
    let row = &jsonl(list("one", "duplicates.jsonl").as_bytes())[0];
    assert_eq!((&row["id"], &row["file"]), (&json!("stdin:2"), &json!("stdin")));
    let mut names: Vec<String> = std::fs::read_dir(dir.join("one"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "clusters.jsonl",
        "duplicates.jsonl",
        "inputs.jsonl",
        "kept",
        "pairs.jsonl",
        "rejected.jsonl",
        "summary.json",
    ];
    assert_eq!(names, expected);
}

/// One bad first line does not make a plain text of all the records behind it.
#[test]
fn a_bad_first_line_is_one_refused_record() {
    let dir = Dir::new();
    let records: String = (0..30).map(|i| line(&i.to_string(), &words(i * 500, 60))).collect();
    dir.alike("dedup - --out out", Some(format!("no header is wanted\n{records}").as_bytes())).ok();
    let summary: Value =
        serde_json::from_str(&text(std::fs::read(dir.join("out/summary.json")).unwrap())).unwrap();
    assert_eq!((&summary["documents"], &summary["rejected"]), (&json!(30), &json!(1)));
}

/// A result that lies within the input is not read as input.
#[test]
fn results_of_earlier_runs_are_passed_over() {
    let dir = Dir::new();
    dir.write("data/in.jsonl", trio_jsonl());
    dir.dedup("data --out data/out").ok();
    let again = dir.output("data", "again");
    assert_eq!(again.summary["documents"], json!(3));
    assert_eq!(again.summary["skipped"][0]["reason"], json!("the result of an earlier run"));
}

#[test]
fn what_newcomers_type_is_answered() {
    let dir = Dir::new();
    dir.write("in.jsonl", "{\"id\":\"a\",\"text\":\"a b c\"}\n");
    dir.alike("load c in.jsonl -q", None).ok();
    for (line, code, answer) in [
        ("passages in.jsonl --cut --out o", 2, "--action cut"),
        ("decontaminate in.jsonl --benchmarks b --fields question --dry-run", 2, "'--benchmark-fields'"),
        ("decontaminate in.jsonl --benchmarks b --annotate --dry-run", 2, "--action mark"),
        ("decontaminate in.jsonl --benchmarks b --measure containment --dry-run", 2, "--any-ngram"),
        ("passages in.jsonl --unit words:13 --dry-run", 2, "tokens:13"),
        ("passages c --dry-run", 3, "is a collection"),
        ("dedup c --dry-run", 3, "is a collection"),
        ("load d in.jsonl --measure containment-of-protected", 2, "take --measure containment here"),
        ("load c in.jsonl --fold none", 2, "text.fold is forms, not none"),
    ] {
        dir.alike(line, None).code(code).says(answer);
    }
}
