//! Manifests: their form, and that nothing but a manifest passes for one.

use std::path::Path;
use std::sync::Arc;

use crate::collection::tests::commits::{open, open_or_create, share, step};
use crate::collection::*;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hex;
use crate::storage::{Simulated, Storage};

/// One with something in every place.
fn sample() -> Manifest {
    let rows = [("contents".to_owned(), 3), ("postings".to_owned(), 40)].into();
    Manifest {
        commit: 1,
        load: 1,
        runs: vec![RunEntry { id: 1, bytes: 20480, digest: 0x0123_4567_89ab_cdef, rows, keeper: None }],
        changes: vec![ChangesEntry { commit: 1, bytes: 210, digest: 0xfedc_ba98_7654_3210, note: None }],
        next_content: 3,
        next_label: 2,
        next_run: 2,
        next_file: 1,
        counts: Counts { documents: 5, contents: 3, clusters: 1, ignored_keys: 0 },
        ..Manifest::first(0x0011_2233_4455_6677, Config::default(), true)
    }
}

fn parse(bytes: &[u8]) -> Result<Manifest> {
    Manifest::from_bytes(Path::new("m"), bytes)
}

#[test]
fn a_manifest_comes_back() {
    let mut capped = sample();
    capped.counts.ignored_keys = 7;
    for manifest in [sample(), capped, Manifest::first(u64::MAX, Config::default(), false)] {
        assert_eq!(parse(&manifest.to_bytes().expect("bytes")).expect("read"), manifest);
    }
}

/// A digest says that a manifest is as it was written, not that it makes sense.
#[test]
fn sizes_beyond_all_numbers_are_no_panic() {
    let mut manifest = sample();
    manifest.runs[0].bytes = u64::MAX;
    assert_eq!(manifest.bytes(), u64::MAX);
}

#[test]
fn the_form_is_the_one_described() {
    let described = include_str!("../../../docs/src/reference/format.md");
    let text = String::from_utf8(sample().to_bytes().expect("bytes")).expect("text");
    let indented: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    assert!(
        described.contains(&indented.join("\n")),
        "docs/src/reference/format.md has not this manifest:\n{text}"
    );
}

#[test]
fn every_bit_turned_over_is_noticed() {
    let bytes = sample().to_bytes().expect("bytes");
    let mut others = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            match parse(&damaged).expect_err("damaged") {
                Error::Damaged { offset, .. } => assert!(offset <= bytes.len() as u64),
                Error::NewerFormat { found, known, .. } => {
                    assert!(found > known);
                    others += 1;
                }
                Error::OlderFormat { found, known, .. } => {
                    assert!(found < known);
                    others += 1;
                }
                other => panic!("byte {at}, bit {bit}: {other}"),
            }
        }
    }
    assert_eq!(others, 3, "3 with one bit turned over is 1, 2, 7 or no digit");
}

#[test]
fn every_truncation_and_anything_more_is_noticed() {
    let bytes = sample().to_bytes().expect("bytes");
    for length in 0..bytes.len() {
        assert!(matches!(parse(&bytes[..length]), Err(Error::Damaged { .. })), "{length} bytes");
    }
    for more in [&b"\n"[..], b" ", b"{}"] {
        assert!(matches!(parse(&[&bytes[..], more].concat()), Err(Error::Damaged { .. })));
    }
}

/// A first line of this form, with the digest of `body`.
fn with_digest(start: &str, body: &str) -> Vec<u8> {
    let digest = hex::text(&xxhash_rust::xxh3::xxh3_128(body.as_bytes()));
    format!("{start}{digest}\n{body}").into_bytes()
}

#[test]
fn another_format_is_told_apart_from_damage() {
    let other = |bytes: &[u8]| match parse(bytes) {
        Err(Error::NewerFormat { found, known, .. } | Error::OlderFormat { found, known, .. }) => {
            Some((found, known))
        }
        Err(Error::Damaged { .. }) => None,
        other => panic!("{other:?}"),
    };
    let start = "alike collection, format ";
    for found in [1, 2, 4, u32::MAX] {
        let manifest = format!("{start}{found}, of which nothing is known");
        assert_eq!(other(manifest.as_bytes()), Some((found, FORMAT)));
    }
    for wrong in ["0", "01", "02", "4294967296", "-1", "+2", "x", ""] {
        assert_eq!(other(format!("{start}{wrong}, xxh3-128 ").as_bytes()), None, "{wrong}");
    }
}

#[test]
fn a_digest_does_not_make_a_manifest() {
    let start = "alike collection, format 3, xxh3-128 ";
    let text = String::from_utf8(sample().to_bytes().expect("bytes")).expect("text");
    let body = text.split_once('\n').expect("two lines or more").1;
    assert_eq!(parse(&with_digest(start, body)).expect("as it was"), sample());
    for (old, new) in [
        ("\"load\": 1", "\"load\": 1, \"more\": 1"),
        ("\"documents\": 5", "\"documents\": 5, \"more\": 1"),
        ("\"load\": 1,", ""),
        ("\"load\": 1", "\"load\": -1"),
        ("\"load\": 1", "\"load\": 1.5"),
        // Its change log would be that of a later commit.
        ("\"commit\": 1,\n  \"load\"", "\"commit\": 0,\n  \"load\""),
        ("\"commit\": 1,\n  \"load\"", "\"commit\": -1,\n  \"load\""),
        ("0011223344556677", "11223344556677"),
        ("0123456789abcdef", "0123456789ABCDEF"),
        ("\"next_run\": 2", "\"next_run\": 1"),
        ("\"threshold\": 0.8", "\"threshold\": 1.8"),
        ("\"ngram\": 5", "\"ngram\": 0"),
        ("\"forms\"", "\"accents\""),
        ("\"clusters\": 1\n  }\n}", "\"clusters\": 1\n  }\n}{}"),
    ] {
        assert!(body.contains(old), "{old}");
        let outcome = parse(&with_digest(start, &body.replacen(old, new, 1)));
        assert!(matches!(outcome, Err(Error::Damaged { .. })), "{new}: {outcome:?}");
    }
}

#[test]
fn commits_follow_each_other() {
    let mut last = Manifest { commit: 2, ..sample() };
    last.changes[0].commit = 2;
    let next = Manifest { commit: 3, ..last.clone() };
    let run = |id| RunEntry { id, ..last.runs[0].clone() };
    let log = |commit| ChangesEntry { commit, ..last.changes[0].clone() };
    let changed = |change: &dyn Fn(&mut Manifest)| {
        let mut next = next.clone();
        change(&mut next);
        next.check_after(&last)
    };
    let fine: [&dyn Fn(&mut Manifest); 5] = [
        &|_| {},
        &|m| m.runs.clear(),
        &|m| (m.runs, m.next_run) = (vec![run(3), run(2), run(1)], 4),
        &|m| m.changes.push(log(3)),
        &|m| m.changes = vec![log(3)],
    ];
    for (number, change) in fine.iter().enumerate() {
        assert_eq!(changed(change), Ok(()), "change {number}");
    }
    let wrong: [&dyn Fn(&mut Manifest); 16] = [
        &|m| m.commit = 2,
        &|m| m.commit = 4,
        &|m| m.collection += 1,
        &|m| m.store_text = false,
        &|m| m.config.text.ngram = 7,
        &|m| m.load = 0,
        &|m| m.next_content = 2,
        &|m| m.next_file = 0,
        &|m| (m.runs, m.next_run) = (Vec::new(), 1),
        &|m| m.runs.push(run(2)),
        &|m| m.runs[0].bytes += 1,
        &|m| (m.runs, m.next_run) = (vec![run(2), run(2)], 4),
        &|m| m.changes[0].digest += 1,
        &|m| m.changes.insert(0, log(1)),
        &|m| m.changes = vec![log(3), log(2)],
        &|m| m.changes.push(log(4)),
    ];
    for (number, change) in wrong.iter().enumerate() {
        assert!(changed(change).is_err(), "change {number}");
    }
}

/// A folder with a collection of some commits after that of creation.
fn collection(commits: u64) -> (Simulated, Arc<dyn Storage>) {
    let folder = Simulated::new();
    let storage = share(&folder);
    let mut writer = open_or_create(&storage).expect("created");
    (0..commits).for_each(|_| step(&mut writer).expect("committed"));
    (folder, storage)
}

fn refused(storage: &Arc<dyn Storage>) -> String {
    let read = Snapshot::open(storage).expect_err("for reading");
    let write = Writer::open(storage).expect_err("for writing");
    assert!(matches!(&read, Error::Damaged { .. }), "{read}");
    assert_eq!(read.to_string(), write.to_string());
    read.to_string()
}

#[test]
fn a_manifest_of_another_collection_is_refused() {
    // With runs, whose pages know whose they are; and without, where only the manifest before it does.
    for with_runs in [true, false] {
        let [(folder, storage), (other, _)] = [(); 2].map(|()| {
            let (folder, storage) = collection(if with_runs { 2 } else { 1 });
            let mut writer = Writer::open(&storage).expect("opened");
            let next = writer.next();
            assert_eq!(next.runs.is_empty(), !with_runs);
            writer.commit(next).expect("committed");
            if with_runs {
                storage.remove("manifest-00000002").expect("removed");
            }
            (folder, storage)
        });
        let name = if with_runs { "manifest-00000003" } else { "manifest-00000002" };
        folder.replace(name, &other.contents(name).expect("there")).expect("replaced");
        assert!(refused(&storage).contains("of collection"), "{}", refused(&storage));
    }
}

#[test]
fn a_manifest_of_another_commit_is_refused() {
    let (folder, storage) = collection(4);
    let older = folder.contents("manifest-00000003").expect("there");
    folder.replace("manifest-00000004", &older).expect("replaced");
    assert!(refused(&storage).contains("of commit 3"));
    storage.link("manifest-00000003", "manifest-00000009").expect("linked");
    assert!(refused(&storage).contains("manifest-00000009"));
}

#[test]
fn a_damaged_newest_manifest_is_no_step_back() {
    let (folder, storage) = collection(4);
    let length = folder.contents("manifest-00000004").expect("there").len() as u64;
    for offset in 0..length {
        folder.flip("manifest-00000004", offset, 1).expect("flipped");
        match Snapshot::open(&storage) {
            Err(Error::Damaged { .. } | Error::NewerFormat { .. } | Error::OlderFormat { .. }) => {}
            other => panic!("byte {offset}: {other:?}"),
        }
        folder.flip("manifest-00000004", offset, 1).expect("flipped back");
    }
    assert_eq!(open(&storage).manifest().commit, 4);
    for length in [0, 1, 100, length - 1] {
        folder.truncate("manifest-00000004", length).expect("shorter");
        refused(&storage);
        let (whole, _) = (folder.contents("manifest-00000003").expect("there"), length);
        folder.replace("manifest-00000004", &whole).expect("replaced");
    }
}

#[test]
fn a_damaged_manifest_before_the_newest_stops_nobody() {
    let (folder, storage) = collection(4);
    // The digit of the format among them: it is then the manifest of a format that is yet to come.
    for offset in [0, 25, 200] {
        let last = open(&storage).manifest().commit;
        let [before, unfinished] =
            [format!("manifest-{:08}", last - 1), format!("new-manifest-{:08}", last + 1)];
        let names = storage.names().expect("names");
        folder.flip(&before, offset, 3).expect("flipped");
        drop(storage.create(&unfinished).expect("created"));
        drop(storage.create("run-00000999").expect("created"));
        assert_eq!(open(&storage).manifest().commit, last);
        // It cannot tell which files it keeps, so all that may be its own stay; what cannot be goes.
        let mut writer = Writer::open(&storage).expect("opened");
        let told = writer.untidied().expect("it says so").to_string();
        assert!(told.contains(&before), "{told}");
        assert_eq!(storage.names().expect("names"), names);
        step(&mut writer).expect("committed");
        assert!(writer.untidied().is_none() && !storage.names().expect("names").contains(&before));
        step(&mut writer).expect("committed");
    }
}

/// A lost manifest is no step back to the commit before it, and no leave to remove what it named.
#[test]
fn a_lost_newest_manifest_is_noticed() {
    for commits in 1..6 {
        let (_, storage) = collection(commits);
        let names = storage.names().expect("names");
        let lost = format!("manifest-{commits:08}");
        storage.remove(&lost).expect("removed");
        assert!(refused(&storage).contains(&lost), "{}", refused(&storage));
        let found = broken_files(&storage).expect("looked");
        assert!(found.iter().any(|finding| finding.place.contains(&lost)), "{found:?}");
        let left: Vec<String> = names.into_iter().filter(|name| *name != lost).collect();
        assert_eq!(storage.names().expect("names"), left, "nothing was removed");
        // Unless somebody says that there was no such commit.
        drop(Writer::open_and_abandon(&storage).expect("opened"));
        assert_eq!(open(&storage).manifest().commit, commits - 1);
        // A load that is under way, or was killed, is then what it is.
        let writer = Writer::open(&storage).expect("opened");
        drop(writer.begin_run(&mut writer.next()).expect("begun"));
        assert_eq!(open(&storage).manifest().commit, commits - 1);
        drop(writer);
        step(&mut Writer::open(&storage).expect("opened")).expect("committed");
        assert_eq!(open(&storage).manifest().commit, commits);
    }
}

/// What a killed writer leaves of its commit is not what a lost manifest leaves.
#[test]
fn an_unfinished_commit_is_no_lost_one() {
    for commits in 0..5 {
        let (_, storage) = collection(commits);
        let writer = Writer::open(&storage).expect("opened");
        let mut next = writer.next();
        let (_, run) = writer.begin_run(&mut next).expect("begun");
        assert_eq!(open(&storage).manifest().commit, commits);
        run.finish().expect("finished");
        assert_eq!(open(&storage).manifest().commit, commits);
        drop(writer);
        let mut writer = Writer::open(&storage).expect("opened");
        step(&mut writer).expect("committed");
        assert_eq!(open(&storage).manifest().commit, commits + 1);
    }
}
