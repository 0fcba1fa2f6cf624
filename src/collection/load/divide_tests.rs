use std::path::Path;

use super::*;
use crate::collection::tables::components::components;
use crate::collection::{Snapshot, Writer, prepare};
use crate::config::{Clustering, Criterion};
use crate::flow::Components;
use crate::read::discover;
use crate::resources::Resources;
use crate::simd::Simd;
use crate::storage::{Simulated, Storage};

/// Twelve words of an endless sequence.
fn words(from: usize) -> String {
    (from..from + 12).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ")
}

/// Contents 0 - 1 - 2 and 5 - 6, each like those beside it only, 3 and 4 like no other. Document c2 has the text of c.
fn batch(folder: &Path) -> Batch {
    let rows = [
        ("a", words(0)),
        ("b", words(2) + "!!!"),
        ("c", words(4)),
        ("c2", words(4).to_uppercase()),
        ("d", words(100)),
        ("e", words(200)),
        ("f", words(300)),
        ("g", words(302)),
    ];
    let lines: Vec<String> =
        rows.iter().map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")).collect();
    let path = folder.join("in.jsonl");
    std::fs::write(&path, lines.concat()).expect("written");
    Batch {
        epoch_bytes: None,
        sources: discover(&[path.to_str().expect("UTF-8").to_owned()], folder).expect("found").sources,
        left_out: Default::default(),
        delete_missing: false,
        lexicon: None,
        components: Components::Forest,
        command: None,
        resources: Resources {
            workers: 1,
            memory: None,
            simd: Simd::Scalar,
            scratch: folder.to_path_buf(),
            peers: None,
        },
    }
}

fn config() -> Config {
    let mut config = Config::default();
    config.cluster.clustering = Clustering::Transitive;
    config.text.ngram = 1;
    config.threshold = "0.6".parse().expect("a threshold");
    config
}

/// The contents of documents, in the order of their ids.
fn contents(snapshot: &Snapshot) -> Vec<Doc> {
    let replay = Replay::of(snapshot, &Progress::default()).expect("read");
    (0..replay.documents()).map(|at| replay.document(at).content).collect()
}

#[test]
fn chains_are_cut_whatever_is_taken_in_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    let mut writer = Writer::create(&storage, config(), false).expect("a collection");
    let prepared = prepare(&mut writer, batch(folder.path()), Arc::default()).expect("worked out");
    prepared.commit().expect("committed");
    let snapshot = Snapshot::open(&storage).expect("opened");
    let tables = snapshot.tables();
    let [a, b, c, copy, _, _, _, g] = contents(&snapshot)[..] else { panic!("eight documents") };
    assert_eq!(c, copy);
    let components = components(&tables, &(0..8).collect()).expect("read");
    assert_eq!(components.values().map(Vec::len).max(), Some(3));
    // What is kept first, and who is then not with a, the first content, or with it though not kept first.
    for (keep, expected) in [
        (Criterion::First, vec![(c, c)]),
        (Criterion::Last, vec![(b, b), (c, b)]),
        (Criterion::Longest, vec![]),
        (Criterion::Shortest, vec![(c, c)]),
    ] {
        for (most, workers) in [(1, 1), (4, 2), (1000, 3)] {
            let mut config = config();
            (config.cluster.clustering, config.cluster.keep) = (Clustering::Guarantee, keep.clone().into());
            let mut batch = batch(folder.path());
            batch.resources.workers = workers;
            let mut divide = Guarantee { most, ..Guarantee::new(&config, None, &batch, &Arc::default()) };
            let places = divide.divide(&tables, &components).expect("divided");
            let mut places: Vec<(Doc, u32)> = places.into_iter().collect();
            places.sort_unstable();
            assert_eq!(places, expected, "{keep} by {most}; {a} {g}");
        }
    }
}

#[test]
fn a_copy_may_be_what_is_kept_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    let mut config = config();
    config.cluster.clustering = Clustering::Guarantee;
    let mut writer = Writer::create(&storage, config, false).expect("a collection");
    let mut batch = batch(folder.path());
    let path = folder.path().join("in.jsonl");
    let lines = std::fs::read_to_string(&path).expect("read").replace("\"c2\"", "\"0\"");
    std::fs::write(&path, lines).expect("written");
    batch.sources =
        discover(&[path.to_str().expect("UTF-8").to_owned()], folder.path()).expect("found").sources;
    prepare(&mut writer, batch, Arc::default()).expect("worked out").commit().expect("committed");
    let mut found = Vec::new();
    let snapshot = Snapshot::open(&storage).expect("opened");
    let read = snapshot.clusters(&mut |cluster| {
        found.push((cluster.representative, cluster.members));
        Ok(())
    });
    read.expect("clusters");
    found.sort();
    let expected = [("0", vec!["0", "b", "c"]), ("f", vec!["f", "g"])];
    assert_eq!(
        found,
        expected.map(|(leader, all)| (leader.to_owned(), all.into_iter().map(str::to_owned).collect()))
    );
}
