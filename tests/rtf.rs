//! RTF: the same documents as in other formats, kept files, and damage.

use std::collections::BTreeSet;

use crate::support::job::done;
use crate::support::output::{Output, jsonl, label};
use crate::support::program::Dir;
use crate::support::texts::{gzip, zst};

/// RTF.
fn rtf(text: &str, title: &str, [year, month, day]: [u16; 3]) -> String {
    let mut spelt = String::new();
    for unit in text.encode_utf16() {
        match unit {
            0x0a => spelt.push_str("\\par\n"),
            0x5c | 0x7b | 0x7d => spelt.push_str(&format!("\\'{unit:02x}")),
            0x20..=0x7e => spelt.push(char::from(u8::try_from(unit).unwrap())),
            unit => spelt.push_str(&format!("\\u{}?", unit.cast_signed())),
        }
    }
    format!(
        "{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0\\fcharset0 Serif;}}}}{{\\info{{\\title {title}}}\
         {{\\revtim\\yr{year}\\mo{month}\\dy{day}}}}}\\pard\\f0 {spelt}\\par}}\n"
    )
}

/// Ids and texts of the sample.
fn documents() -> Vec<(String, String)> {
    let sample =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    let texts = jsonl(sample.as_bytes()).into_iter().map(|row| row["text"].as_str().unwrap().to_owned());
    texts.enumerate().map(|(at, text)| (format!("{at:05}"), text)).collect()
}

/// Which documents go, and for which, by the numbers that are their names.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let number = |id: String| id.rsplit('/').next().unwrap()[..5].to_owned();
    let rows = output.duplicates.iter();
    rows.map(|row| (number(label(&row["id"])), number(label(&row["representative"])))).collect()
}

#[test]
fn the_same_documents_are_the_same_clusters() {
    let dir = Dir::new();
    let mut lines = String::new();
    for (name, text) in documents() {
        dir.write(&format!("in/{name}.rtf"), rtf(&text, "A title", [2024, 1, 2]));
        lines += &format!("{}\n", serde_json::json!({"id": name, "text": text}));
    }
    dir.write("a.jsonl", lines);
    let expected = decided(&dir.output("a.jsonl", "jsonl"));
    assert!(expected.len() > 100);
    for workers in [1, 2, 3] {
        let found = dir.output(&format!("in -w {workers}"), &format!("out{workers}"));
        assert!(found.rejected.is_empty() && decided(&found) == expected, "{workers} workers");
        assert_eq!(found.kept.len(), documents().len() - expected.len());
        let same =
            |(name, bytes): (&String, &Vec<u8>)| std::fs::read(dir.join("in").join(name)).unwrap() == *bytes;
        assert!(found.kept.iter().all(same));
    }
    done(&dir, (2, 2), &format!("dedup {} --out two", dir.join("in").display()));
    assert_eq!(decided(&Output::read(&dir.join("two"))), expected);
}

#[test]
fn wherever_it_is_met_it_is_the_same() {
    let dir = Dir::new();
    let file = rtf("Caf\u{e9} {\u{1f600}}\nsecond", "Title", [2024, 1, 2]);
    let text = "Caf\u{e9} {\u{1f600}}\nsecond\n";
    for (name, bytes) in [
        ("a.rtf", file.clone().into_bytes()),
        ("no-name", file.clone().into_bytes()),
        ("a.txt", file.clone().into_bytes()),
        ("a.rtf.gz", gzip(file.as_bytes(), 99)),
        ("b.zst", zst(file.as_bytes(), 99)),
    ] {
        dir.write(&format!("{name}/{name}"), bytes);
        for input in [name.to_owned(), format!("{name}/{name}"), format!("{name}/*")] {
            let out = format!("out-{}", input.replace(['/', '*'], "-"));
            let ran = dir.output(&format!("{input} --to jsonl"), &out);
            let written = jsonl(&ran.kept.values().next().unwrap().clone());
            assert_eq!(
                (&written[0]["title"], &written[0]["date"]),
                (&"Title".into(), &"2024-01-02".into()),
                "{input}"
            );
            assert_eq!((written.len(), written[0]["text"].as_str()), (1, Some(text)), "{input}");
        }
    }
    for flag in ["", "--input-format rtf"] {
        let out = format!("piped{}", flag.len());
        dir.alike(&format!("dedup - {flag} --to jsonl --out {out}"), Some(file.as_bytes())).ok();
        let found = Output::read(&dir.join(&out));
        assert_eq!(jsonl(found.kept.values().next().unwrap())[0]["text"], text);
    }
    // Whoever says that it is text, has it read as text.
    assert_eq!(dir.output("no-name/no-name --input-format text", "as-text").summary["documents"], 1);
}

#[test]
fn damage_costs_a_file_and_no_run() {
    let dir = Dir::new();
    let file = rtf("Some text\nin lines \u{e9}", "T", [2024, 1, 2]);
    let end = file.trim_end().len();
    for length in 1..end {
        dir.write(&format!("cut/{length:05}.rtf"), &file.as_bytes()[..length]);
    }
    let ran = dir.output("cut --max-rejected 100%", "cut-out");
    assert_eq!((&ran.summary["documents"], ran.rejected.len()), (&0.into(), end - 1));
    for at in 0..end {
        let mut bytes = file.clone().into_bytes();
        bytes[at] ^= 0x08;
        dir.write(&format!("flipped/{at:05}.rtf"), bytes);
    }
    let ran = dir.output("flipped --max-rejected 100% --method exact", "flipped-out");
    let documents = ran.summary["documents"].as_u64().unwrap() as usize;
    assert_eq!(documents + ran.rejected.len(), end);
    assert!(documents > end / 2, "{documents} of {end}");
    let deep = format!("{{\\rtf1 {}x{}}}", "{".repeat(1 << 20), "}".repeat(1 << 20));
    dir.write("deep.rtf", deep);
    dir.dedup("deep.rtf --out deep").code(3).says("groups within each other");
}

#[test]
fn titles_and_dates_are_fields() {
    let dir = Dir::new();
    for (name, title, date) in
        [("a", "one", [2024, 1, 2]), ("b", "two", [2025, 1, 2]), ("c", "three", [2023, 1, 2])]
    {
        dir.write(&format!("{name}.rtf"), rtf("the same text in all of them", title, date));
    }
    let newest = dir.output("a.rtf b.rtf c.rtf --keep field:date:max --id-field title", "newest");
    assert_eq!(newest.removed_ids(), ["one", "three"]);
}
