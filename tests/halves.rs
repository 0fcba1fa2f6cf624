//! What is removed is written beside what is kept: both halves together are the input, in every form.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::support::output::Output;
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{gzip, unpack, words, zst};

/// A file as its records, one behind the other.
struct Records {
    name: &'static str,
    /// What stands before them.
    header: String,
    records: Vec<String>,
    /// The number of the first one in lists.
    first: u64,
}

impl Records {
    fn whole(&self) -> String {
        format!("{}{}", self.header, self.records.concat())
    }

    /// The records that a run kept and those that it did not, each behind the header; of the latter nothing if there are
    /// none.
    fn halves(&self, output: &Output) -> [String; 2] {
        let rows = output.duplicates.iter().chain(&output.rejected);
        let gone: BTreeSet<u64> = rows.map(|row| row["line"].as_u64().unwrap() - self.first).collect();
        [false, true].map(|removed| {
            let chosen = (0..).zip(&self.records).filter(|(at, _)| gone.contains(at) == removed);
            let chosen: Vec<&str> = chosen.map(|(_, record)| record.as_str()).collect();
            match removed && chosen.is_empty() {
                true => String::new(),
                false => format!("{}{}", self.header, chosen.concat()),
            }
        })
    }
}

/// A text of one of a few families.
fn body(family: u8) -> String {
    words(usize::from(family) * 100, 30)
}

/// A blank record, and those that are refused or hold what others do not.
const BLANK: u8 = 7;
const STRANGE: u8 = 8;
const OTHER: u8 = 9;

fn lines(families: &[u8]) -> Records {
    let record = |(at, family): (usize, &u8)| match *family {
        BLANK => "\n".to_owned(),
        STRANGE => "no JSON\n".to_owned(),
        OTHER => format!("{{\"id\": {at}, \"text\": 7}}\r\n"),
        family => format!("{{\"text\" : \"{}\", \"id\":\"d{at}\"}}\n", body(family)),
    };
    let records = families.iter().enumerate().map(record).collect();
    Records { name: "a.jsonl", header: String::new(), records, first: 1 }
}

fn rows(families: &[u8]) -> Records {
    let record = |(at, family): (usize, &u8)| match *family {
        BLANK => "\r\n".to_owned(),
        STRANGE => "ragged\r\n".to_owned(),
        OTHER => format!("{at},\"a \"\"quoted\"\"\r\n{}\",x\n", body(3)),
        family => format!("d{at},{},\"x,\ny\"\r\n", body(family)),
    };
    let records = families.iter().enumerate().map(record).collect();
    let header = "\u{feff}\r\n\"id\",text,\"an\nother\"\r\n".to_owned();
    Records { name: "a.csv", header, records, first: 3 }
}

fn messages(families: &[u8]) -> Records {
    let families = families.iter().filter(|family| **family < BLANK);
    let record = |(at, family): (usize, &u8)| {
        let body = body(*family);
        format!("From x Thu Jan  1 00:00:00 1970\nFrom: a@b\nMessage-ID: <{at}>\nSubject: s\n\n{body}\n\n")
    };
    let records = families.enumerate().map(record).collect();
    Records { name: "a.mbox", header: String::new(), records, first: 1 }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(8) })]

    #[test]
    fn both_halves_are_the_input(
        mut families in prop::collection::vec(0..BLANK, 30..60),
        blank in prop::collection::vec(0..60usize, 0..3),
        refused in prop::collection::vec((0..60usize, STRANGE..=OTHER), 0..3),
        workers in 1..4usize,
    ) {
        for (at, kind) in blank.into_iter().map(|at| (at, BLANK)).chain(refused) {
            families.insert(at.min(families.len()), kind);
        }
        for file in [lines(&families), rows(&families), messages(&families)] {
            let (dir, whole, name) = (Dir::new(), file.whole(), file.name);
            // Without the last line end.
            let cut = if name == "a.mbox" { &whole } else { whole.trim_end() };
            for (form, bytes) in [
                ("", whole.as_bytes().to_vec()),
                (".gz", gzip(whole.as_bytes(), 100)),
                (".zst", zst(cut.as_bytes(), 1000)),
            ] {
                dir.write(&format!("in{form}/{name}{form}"), bytes);
                let line = format!("in{form} -w {workers} --write-removed");
                let output = dir.output(&line, &format!("out{form}"));
                let expected = file.halves(&output);
                for (half, expected) in [&output.kept, &output.removed].into_iter().zip(expected) {
                    let found = half.values().next().map(|bytes| unpack(bytes)).unwrap_or_default();
                    let found = String::from_utf8(found).unwrap();
                    let ends = |text: &str| if form == ".zst" { text.trim_end().len() } else { text.len() };
                    prop_assert_eq!(&found[..ends(&found)], &expected[..ends(&expected)], "{}{}", form, name);
                }
            }
        }
    }
}

#[test]
fn files_of_one_record_go_to_one_half() {
    let dir = Dir::new();
    for at in 0..6u8 {
        dir.write(&format!("in/{at}.txt"), body(at / 3));
        dir.write(&format!("in/deep/{at}.txt.gz"), gzip(body(at / 3 + 4).as_bytes(), 50));
        dir.write(&format!("in/{at}.html"), format!("<!doctype html><p>{}</p>", body(at / 2 + 10)));
    }
    // Bytes that are no text are refused, and written as they are.
    dir.write("in/none.txt", b"caf\xe9 au lait");
    let output = dir.output("in --write-removed -w 2", "out");
    assert_eq!((output.kept.len(), output.removed.len(), output.rejected.len()), (7, 12, 1));
    for (name, bytes) in output.kept.iter().chain(&output.removed) {
        assert_eq!(&std::fs::read(dir.join("in").join(name)).unwrap(), bytes, "{name}");
    }
    assert!(output.kept.keys().all(|name| !output.removed.contains_key(name)));
    assert_eq!(
        output.summary["removed_bytes"].as_u64().unwrap(),
        output.removed.values().map(Vec::len).sum::<usize>() as u64
    );
}

#[test]
fn both_halves_are_the_same_in_every_shape() {
    let dir = Dir::new();
    let families: Vec<u8> = (0..90_000u32)
        .map(|at| if at % 3 == 0 { (at % 7) as u8 } else { OTHER + 1 + (at % 200) as u8 })
        .collect();
    // Large enough to be divided among workers.
    dir.write("in/a.jsonl", lines(&families).whole());
    dir.write("in/b.csv", rows(&families[..5000]).whole());
    dir.write("in/c.mbox.gz", gzip(messages(&[0, 1, 2, 0, 1, 2]).whole().as_bytes(), 1000));
    let output = alike_in_all(&dir, "in --write-removed --method exact", &[(1, 3), (2, 2)]);
    assert!(output["removed/a.jsonl"].len() > 16 << 20, "{}", output["removed/a.jsonl"].len());
    assert_eq!(
        output["removed/a.jsonl"].len() + output["kept/a.jsonl"].len(),
        std::fs::read(dir.join("in/a.jsonl")).unwrap().len()
    );
}

#[test]
fn without_the_flag_nothing_is_written_and_in_a_dry_run_neither() {
    let dir = Dir::new();
    dir.write("a.jsonl", lines(&[1, 1, 2]).whole());
    let output = dir.output("a.jsonl", "out");
    assert!(output.removed.is_empty() && output.summary.get("removed_bytes").is_none());
    dir.dedup("a.jsonl --write-removed --dry-run").ok();
    dir.write("b.jsonl", lines(&[1, 2]).whole());
    let output = dir.output("b.jsonl --write-removed", "none");
    assert!(output.removed.is_empty(), "nothing is removed");
    assert!(!dir.join("none/removed/b.jsonl").exists());
}
