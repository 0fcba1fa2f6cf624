//! fsck finds every way in which the tables of a collection can contradict each other: each is written, with good
//! checksums, and must be named.

use std::collections::BTreeMap;

use alike::collection::{Manifest, RunEntry, SectionKind, Shape, Snapshot, Writer};
use alike::config::Method;
use alike::error::Error;
use alike::progress::Progress;

use crate::support::history::{Bench, config};
use crate::support::tables::{HEAPS, commit, kind, of_all_runs, oldest, says};
use crate::support::upkeep::{findings, first, load, put};

const RARITY: u32 = 34;

/// Two clusters, one of them held together by its middle, a document that is in none, and one that is gone.
fn bench(method: Method) -> Bench {
    let mut bench = Bench::new(config(method));
    let mut all = first();
    all.ops.push(put(6, "u v w"));
    bench.load(&all);
    bench.load(&load(vec![crate::support::history::Op::Delete(6)]));
    assert_eq!(findings(&bench.storage).expect("read"), []);
    bench
}

/// What a row is turned into: `true` if it is to be written.
type Change = fn(&mut Vec<u64>) -> bool;

/// Rows of the first load that are written again as they should not be: in the whole table, those that `Change` takes
/// and changes. First the invariant that is broken, as fsck says it, and the place that it says it of.
const WRONG_ROWS: [(&str, &str, &str, Change); 40] = [
    ("a content that is yet to come", "contents", "contents", |row| set(row, 0, 1 << 20)),
    ("a label that is yet to come", "contents", "contents", |row| set(row, 2, 1 << 20)),
    ("it has another number of documents", "contents", "contents", |row| add(row, 1, 1)),
    ("its content is not live", "documents", "contents", |row| set(row, 1, 0)),
    ("its content is not live", "members", "contents", |row| set(row, 1, 0)),
    ("its content is not live", "digests", "contents", |row| set(row, 1, 0)),
    ("its content is not live", "components", "contents", |row| set(row, 1, 0)),
    ("its content has another label", "components", "contents", |row| row[2] > 0 && set(row, 2, 0)),
    ("its ends are in two components", "links", "contents", |row| row[0] == 0 && set(row, 2, 3)),
    ("its id has another digest", "documents", "documents", |row| add(row, 0, 1)),
    ("it comes from loads that cannot be", "documents", "documents", |row| add(row, 3, 1 << 40)),
    ("it comes from loads that cannot be", "documents", "documents", |row| add(row, 3, 9)),
    ("it comes from a file that is yet to come", "documents", "documents", |row| set(row, 4, u64::MAX)),
    ("its content is not live", "documents", "documents", |row| add(row, 2, 1 << 40)),
    ("they are not the documents that have this content", "members", "documents", |row| {
        add(row, 2, u64::MAX)
    }),
    ("it has another number of documents", "contents", "documents", |row| add(row, 2, u64::MAX)),
    ("they are not the documents that have this content", "members", "members", |row| set(row, 3, 0)),
    ("they are not the documents that have this content", "members", "members", |row| add(row, 2, 1)),
    ("its content is not live", "members", "members", |row| set(row, 0, 1 << 20)),
    ("its content is not live", "digests", "digests", |row| set(row, 2, 1 << 20)),
    ("its content has another digest too", "digests", "digests", |row| add(row, 0, 1)),
    ("its digest names another content, or none", "texts", "digests", |row| set(row, 2, 0xffff_ffff)),
    ("its digest names another content, or none", "texts", "texts", |row| add(row, 3, 1)),
    ("a content that is yet to come", "texts", "texts", |row| set(row, 0, 1 << 20)),
    ("its set is not in order", "texts", "texts", |row| row[1] > 0 && add(row, 1, u64::MAX)),
    ("they are not those that its set gives", "postings", "texts", |row| row[2] > 1 && add(row, 2, u64::MAX)),
    ("they are not those that its set gives", "postings", "postings", |row| add(row, 0, 1)),
    ("a content that is yet to come", "postings", "postings", |row| add(row, 1, u64::MAX << 20)),
    ("they are not the same from the other end", "links", "links", |row| add(row, 2, 1)),
    ("a link that cannot be", "links", "links", |row| set(row, 1, 1 << 20)),
    ("a link that cannot be", "links", "links", |row| row[0] == 1 && set(row, 1, 1)),
    ("a live content is in no component", "components", "components", |row| set(row, 2, 0)),
    ("its content has another label", "components", "components", |row| add(row, 0, 1 << 10)),
    ("its contents have another number of documents", "clusters", "clusters", |row| add(row, 3, 1)),
    ("it has a number that cannot be", "clusters", "clusters", |row| set(row, 2, 7)),
    ("it is not represented by the best of its documents", "clusters", "clusters", |row| add(row, 5, 1)),
    ("a file that is yet to come", "sources", "sources", |row| set(row, 0, 1 << 20)),
    ("its version is yet to come, or another document's too", "documents", "documents", |row| {
        set(row, 10, u64::MAX)
    }),
    ("it stands in a line that cannot be", "documents", "documents", |row| {
        let version = row[10] & !0xffff_ffff;
        set(row, 10, version)
    }),
    ("a content that is live", "dead", "dead", |row| set(row, 0, 0)),
];

fn set(row: &mut [u64], at: usize, value: u64) -> bool {
    row[at] = value;
    true
}

fn add(row: &mut [u64], at: usize, value: u64) -> bool {
    row[at] = row[at].wrapping_add(value);
    true
}

#[test]
fn every_wrong_row_is_named() {
    for (number, (what, place, table, change)) in WRONG_ROWS.into_iter().enumerate() {
        let (shape, mut rows, heap) = oldest(&bench(Method::Shingles), table);
        if heap.is_empty() {
            rows = of_all_runs(&bench(Method::Shingles), table);
        }
        let changed: Vec<Vec<u64>> =
            rows.into_iter().filter_map(|mut row| change(&mut row).then_some(row)).collect();
        // One row is enough, and says that it is this one: the first of which a later run says nothing else.
        let told: Vec<_> = changed
            .into_iter()
            .map(|row| {
                let bench = bench(Method::Shingles);
                commit(&bench, table, shape, &[row], &heap, |_| {});
                says(&bench, place, what)
            })
            .collect();
        assert!(told.iter().any(Result::is_ok), "row {number}, {table}: {told:?}");
    }
}

/// What takes several rows.
#[test]
fn what_takes_several_rows_is_named() {
    // A text, a component and a cluster that are not there: of a content that the manifest has been made to know.
    let ghost = bench(Method::Shingles);
    let next = Snapshot::open(&ghost.storage).expect("opened").manifest().next_content;
    let (shape, ..) = oldest(&ghost, "contents");
    commit(&ghost, "contents", shape, &[vec![u64::from(next), 2, 0]], &[], |next| next.next_content += 1);
    says(&ghost, "texts", "a live content has no text").expect("named");
    says(&ghost, "components", "a live content is in no component").expect("named");
    says(&ghost, "contents", "it has another number of documents").expect("named");
    says(&ghost, "links", "none hold it and its component together").expect("named");

    let undead = bench(Method::Shingles);
    let next = Snapshot::open(&undead.storage).expect("opened").manifest().next_content;
    let (shape, rows, _) = oldest(&undead, "postings");
    let posting = vec![rows[0][0], !(2 << 32 | u64::from(next))];
    commit(&undead, "postings", shape, &[posting], &[], |manifest| manifest.next_content += 1);
    says(&undead, "postings", "a content that is neither live nor dead").expect("named");

    let signed = bench(Method::Join);
    let (shape, rows, mut words) = oldest(&signed, "signatures");
    words[0] ^= 1;
    commit(&signed, "signatures", shape, &rows, &words, |_| {});
    says(&signed, "signatures", "it is not that of its set").expect("named");

    let lone = bench(Method::Shingles);
    let (shape, rows, _) = oldest(&lone, "clusters");
    let gone: Vec<Vec<u64>> =
        rows.iter().map(|row| vec![row[0], row[1], row[2], 0, row[4], row[5]]).collect();
    commit(&lone, "clusters", shape, &gone, &[], |_| {});
    says(&lone, "clusters", "contents of several documents have none").expect("named");

    let twins = bench(Method::Shingles);
    let (shape, mut rows, _) = oldest(&twins, "clusters");
    assert!(rows.len() > 1);
    rows[1][2] = rows[0][2];
    commit(&twins, "clusters", shape, &rows, &[], |_| {});
    says(&twins, "clusters", "it has a number that cannot be").expect("named");
}

#[test]
fn wrong_numbers_of_the_manifest_are_named() {
    type Change = fn(&mut Manifest);
    let changes: [(&str, &str, Change); 6] = [
        ("manifest", "it counts 7 documents", |next| next.counts.documents += 1),
        ("manifest", "contents, and there are", |next| next.counts.contents += 1),
        ("manifest", "clusters, and there are", |next| next.counts.clusters += 1),
        ("run-", "the manifest knows another number of rows or words", |next| {
            next.runs.last_mut().expect("a run").rows.clear();
        }),
        ("rarity", "0 tables of it, where there is one", |next| {
            next.runs.retain(|run| !run.rows.contains_key("rarity"));
        }),
        ("contents", "a content that is yet to come", |_| {}),
    ];
    for (place, what, change) in changes {
        let bench = bench(Method::Shingles);
        let (shape, mut rows, _) = oldest(&bench, "contents");
        if what.starts_with("a content") {
            rows[0][0] = 1 << 30;
        }
        commit(&bench, "contents", shape, &rows[..1], &[], change);
        says(&bench, place, what).unwrap_or_else(|found| panic!("{found}"));
    }
}

#[test]
fn tables_of_another_form_and_missing_heaps_are_named() {
    let narrow = bench(Method::Shingles);
    let shape = Shape { width: 2, key: 1 };
    commit(&narrow, "contents", shape, &[vec![0, 1]], &[], |_| {});
    says(&narrow, "run-", "a table with rows of another form").expect("named");

    for (table, _, _) in HEAPS {
        let bench = bench(Method::Join);
        let (shape, rows, _) = oldest(&bench, table);
        let mut writer = Writer::open(&bench.storage).expect("opened");
        let mut next = writer.next();
        let (id, mut run) = writer.begin_run(&mut next).expect("begun");
        run.rows(kind(table), shape).and_then(|()| run.push(&rows[0])).expect("written");
        run.finish().expect("written");
        let counts = BTreeMap::from([(table.to_owned(), 1)]);
        next.runs.push(RunEntry::of(&**writer.storage(), id, None, counts).expect("an entry"));
        writer.commit(next).expect("committed");
        let what = match table {
            "texts" => "without their sets",
            "signatures" => "without their words",
            _ => "without a label",
        };
        says(&bench, "run-", what).expect("named");
    }

    let two = bench(Method::Shingles);
    let mut writer = Writer::open(&two.storage).expect("opened");
    let mut next = writer.next();
    let (id, mut run) = writer.begin_run(&mut next).expect("begun");
    run.heap(SectionKind(RARITY)).and_then(|()| run.push(&[1])).expect("written");
    run.finish().expect("written");
    let counts = BTreeMap::from([("rarity".to_owned(), 1)]);
    next.runs.push(RunEntry::of(&**writer.storage(), id, None, counts).expect("an entry"));
    writer.commit(next).expect("committed");
    says(&two, "rarity", "2 tables of it, where there is one").expect("named");
}

/// What fuzzing found: whoever asks and loads ends with an answer or with what is damaged.
#[test]
fn nobody_panics_at_tables_that_contradict_each_other() {
    let twice = bench(Method::Shingles);
    let (shape, mut rows, _) = oldest(&twice, "clusters");
    (rows[1][4], rows[1][5], rows[1][3]) = (rows[0][4], rows[0][5], u64::MAX);
    commit(&twice, "clusters", shape, &rows, &[], |_| {});
    let snapshot = Snapshot::open(&twice.storage).expect("opened");
    let stats = snapshot.stats(&Progress::default()).expect("figures");
    assert_eq!((stats.largest.len(), stats.clustered), (2, u64::MAX));

    let both = bench(Method::Shingles);
    let (shape, rows, _) = oldest(&both, "components");
    let mut labels: Vec<u64> = rows.iter().map(|row| row[0]).collect();
    labels.dedup();
    assert!(labels.len() > 1);
    let everywhere: Vec<Vec<u64>> = labels.iter().map(|label| vec![*label, 0, 1]).collect();
    commit(&both, "components", shape, &everywhere, &[], |_| {});
    let snapshot = Snapshot::open(&both.storage).expect("opened");
    snapshot.clusters(&mut |_| Ok(())).expect("clusters");

    let full: [fn(&mut Manifest); 2] =
        [|next| next.load = u64::from(u32::MAX), |next| next.next_label = u32::MAX];
    for change in full {
        let mut worn = bench(Method::Shingles);
        let (shape, rows, _) = oldest(&worn, "contents");
        commit(&worn, "contents", shape, &rows, &[], change);
        let outcome = worn.try_load(&load(vec![put(7, "a b c d e f")]));
        assert!(matches!(outcome, Err(Error::Limit(_))), "{outcome:?}");
    }

    for (table, at, content) in
        [("postings", 1, u64::MAX << 32), ("digests", 2, 1 << 20), ("digests", 2, 1 << 40)]
    {
        let mut far = bench(Method::Shingles);
        let (shape, mut rows, _) = oldest(&far, table);
        rows.iter_mut().for_each(|row| row[at] = content);
        rows.sort_unstable();
        rows.dedup();
        commit(&far, table, shape, &rows, &[], |_| {});
        let more = load(vec![put(7, "a b c d e f"), put(8, "p q r s t u")]);
        let outcome = far.try_load(&more);
        assert!(matches!(outcome, Err(Error::Damaged { .. })), "{table}: {outcome:?}");
    }
}

#[test]
fn change_logs_that_say_nothing_are_named() {
    for bytes in [&b"{\"change\":\"nonsense\"}\n"[..], b"no line feed", b"\n"] {
        let bench = bench(Method::Shingles);
        let mut writer = Writer::open(&bench.storage).expect("opened");
        let mut next = writer.next();
        let mut log = writer.begin_changes(&next).expect("begun");
        log.append(bytes).expect("written");
        next.changes.push(log.finish(None).expect("written"));
        writer.commit(next).expect("committed");
        says(&bench, "changes", "a change log with lines that say nothing").expect("named");
    }
}
