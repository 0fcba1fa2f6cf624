//! What sets resemble, found by keys in little room, against all contents looked at one by one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{DEAD, POSTINGS, SCOPES, SETS, TEXTS};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::rows::{StoredScope, StoredText};
use crate::flow::{Posting, value_salt};
use crate::method::{JoinMeasure, Method};
use crate::sketch::spread;
use crate::storage::Simulated;

/// A content of a test: the members of its set, which of two scopes it is in, and whether it is dead.
type TestContent = (BTreeSet<u64>, bool, bool);

/// The members as hashes, ascending.
fn words(members: &BTreeSet<u64>) -> Vec<u64> {
    let mut words: Vec<u64> = members.iter().map(|member| spread(member + 1)).collect();
    words.sort_unstable();
    words
}

/// A join of one measure or the other, or a method by which keys that are shared decide; with scopes or without.
fn config(method: usize, scoped: bool, threshold: &str) -> Config {
    let mut config = Config { threshold: threshold.parse().expect("a threshold"), ..Config::default() };
    match method {
        0 => {}
        1 => config.join.measure = JoinMeasure::Containment,
        _ => config.method = Method::Minhash,
    }
    config.input.within_field = if scoped { "site".to_owned() } else { String::new() };
    config
}

fn salt(scoped: bool, second: bool) -> u64 {
    if scoped { value_salt(Some(if second { "second" } else { "first" })) } else { 0 }
}

/// A run with what is said of every `step`-th content from `first` on, and with one row of postings that another run has, too.
fn run(
    storage: &Simulated,
    config: &Config,
    contents: &[TestContent],
    (first, step): (usize, usize),
) -> Arc<RunReader> {
    let name = format!("run-{first}");
    let (form, scoped) = (PostingForm::of(config), !config.input.within_field.is_empty());
    let mut sketcher = Sketcher::new(config, &FrozenTables::default(), Simd::Scalar);
    let (mut texts, mut heap, mut postings) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (content, (members, second, _)) in contents.iter().enumerate() {
        let (keys, size) = sketcher.keys_of(&words(members));
        let of_content = keys.iter().map(|key| Posting {
            key: spread(*key) ^ salt(scoped, *second),
            size,
            doc: content as Doc,
        });
        let rows = of_content.map(|posting| form.to_row(&posting));
        let own = content % step == first;
        postings.extend(rows.take(if own { usize::MAX } else { 1 }));
        if own {
            let (start, size) = (heap.len() as u64, members.len() as u32);
            texts.push(StoredText { content: content as u64, start, ordinal: 0, size, digest: 7 });
            heap.extend(words(members));
        }
    }
    let mut writer = RunWriter::create(storage, &name, 1, first as u64).expect("created");
    let mut write = |kind, shape, rows: Vec<Vec<u64>>| {
        writer.rows(kind, shape).expect("begun");
        rows.iter().for_each(|row| writer.push(row).expect("written"));
    };
    let own = |content: &usize| content % step == first;
    let all = || (0..contents.len()).filter(own);
    write(TEXTS.kind, TEXTS.shape, texts.iter().map(|text| text.to_row().to_vec()).collect());
    write(POSTINGS.kind, POSTINGS.shape, postings.iter().map(|row| row.to_vec()).collect());
    write(DEAD.kind, DEAD.shape, all().filter(|at| contents[*at].2).map(|at| vec![at as u64]).collect());
    if scoped {
        let scope = |at: usize| StoredScope { content: at as u64, salt: salt(true, contents[at].1) };
        write(SCOPES.kind, SCOPES.shape, all().map(|at| scope(at).to_row().to_vec()).collect());
    }
    writer.heap(SETS).and_then(|()| writer.push(&heap)).expect("written");
    writer.finish().expect("finished");
    Arc::new(RunReader::open(storage, &name, 1, first as u64).expect("opened"))
}

fn members() -> impl Strategy<Value = BTreeSet<u64>> {
    prop_oneof![prop::collection::btree_set(0..12u64, 0..12), prop::collection::btree_set(0..60u64, 0..40)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_found_in_little_room_is_what_is_found_one_by_one(
        contents in prop::collection::vec((members(), any::<bool>(), prop::bool::weighted(0.2)), 0..40),
        asked in prop::collection::vec((members(), any::<bool>()), 0..8),
        method in 0..3usize, scoped in any::<bool>(), looked_up in any::<bool>(),
        threshold in prop::sample::select(vec!["0.2", "0.5", "0.8", "1"]),
        (pairs, keys) in (2..40usize, 1..50usize),
    ) {
        let (storage, config) = (Simulated::default(), config(method, scoped, threshold));
        let runs = (0..3).map(|first| run(&storage, &config, &contents, (first, 3))).collect();
        let (tables, frozen) = (Tables { runs }, FrozenTables::default());
        let dead = Dead::of(&tables, contents.len() as Doc, if looked_up { 0 } else { MOST }).expect("read");
        let mut resembling = Resembling::beside(&tables, Arc::new(dead), &config, &frozen);
        let sets: Vec<(Vec<u64>, u64)> =
            asked.iter().map(|(members, second)| (words(members), salt(scoped, *second))).collect();
        let sets: Vec<AskedSet<'_>> = sets.iter().map(|(words, salt)| AskedSet { words, salt: *salt }).collect();
        let (wanted, progress) = (|content: Doc| content % 5 != 3, Progress::default());
        let plenty = resembling.to(&sets, &wanted, &progress).expect("found");
        resembling.room = MeetingRoom { pairs, keys };
        let little = resembling.to(&sets, &wanted, &progress).expect("found");
        let live = (0..contents.len()).filter(|at| !contents[*at].2 && wanted(*at as Doc));
        let live: Vec<u64> = live.map(|at| at as u64).collect();
        for (at, set) in sets.iter().enumerate() {
            let mut one_by_one = resembling.among(*set, &live, &progress).expect("found");
            one_by_one.sort_unstable_by_key(|(content, _)| *content);
            prop_assert_eq!(&plenty[at], &one_by_one, "set {}", at);
            prop_assert_eq!(&little[at], &one_by_one, "set {}", at);
        }
    }
}
