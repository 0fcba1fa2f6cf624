use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::{Batch, QueryOverrides, RecomputeRequest, Snapshot, Writer, prepare};
use crate::config::Config;
use crate::flow::{Components, ReplayedDocuments as _, id_digest};
use crate::limits::sized;
use crate::read::discover;
use crate::resources::Resources;
use crate::simd::Simd;
use crate::storage::{Simulated, Storage};

/// A collection of two loads, the second of which replaces a document and brings another one.
fn collection(folder: &Path) -> Snapshot {
    collection_of(
        folder,
        &[
            r#"{"id":"b","text":"one two three four five six"}
{"id":"c","text":"..."}
{"id":"a","text":"One, two, three; four five six!"}
{"id":"d","text":"nothing of the kind in this one"}
"#,
            r#"{"id":"d","text":"another text than before in here"}
{"id":"0","text":"a document that comes late"}
"#,
        ],
    )
}

/// A collection of these loads.
fn collection_of(folder: &Path, loads: &[&str]) -> Snapshot {
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    let mut writer = Writer::create(&storage, Config::default(), false).expect("a collection");
    for (at, lines) in loads.iter().enumerate() {
        let path = folder.join(format!("{at}.jsonl"));
        std::fs::write(&path, lines).expect("written");
        let batch = Batch {
            epoch_bytes: None,
            sources: discover(&[path.to_str().expect("UTF-8").to_owned()], folder).expect("found").sources,
            left_out: Default::default(),
            delete_missing: false,
            lexicon: None,
            components: Components::Forest,
            command: None,
            resources: Resources {
                workers: 1 + at,
                memory: None,
                simd: Simd::Scalar,
                scratch: folder.to_path_buf(),
                peers: None,
            },
        };
        let prepared = prepare(&mut writer, batch, Arc::default()).expect("worked out");
        prepared.commit().expect("committed");
    }
    Snapshot::open(&storage).expect("opened")
}

fn ids(replay: &Replay) -> Vec<&str> {
    (0..replay.documents()).map(|at| replay.document(at).id).collect()
}

#[test]
fn documents_stand_in_document_order_with_all_that_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = collection(folder.path());
    let replay = Replay::of(&snapshot, &Progress::default()).expect("read");
    assert_eq!(ids(&replay), ["a", "b", "c", "d", "0"], "the load that brought the id, then the id");
    let [a, b, c] = [0, 1, 2].map(|at| replay.document(at));
    assert_eq!((a.content, a.size, a.text_bytes), (b.content, 2, 31));
    assert_eq!((c.content, c.size), (NO_DOC, 0));
    let (file, line) = replay.place(3);
    assert!(file.ends_with("1.jsonl") && line == 1, "a replaced document is where it was replaced");
    assert_eq!((replay.origin(0).file, replay.place(0).1, replay.sources().len()), (0, 3, 2));
    let mut set = vec![1];
    replay.sets().set(0, &mut set).expect("read");
    assert!(set.len() == 2 && set.is_sorted());
    assert!(matches!(replay.sets().set(2, &mut set), Err(Error::Damaged { .. })), "a text without a set");
    assert_eq!(replay.bytes(), (0..5).map(|at| u64::from(replay.document(at).size) * 8).sum::<u64>());
}

#[test]
fn some_documents_are_as_they_are_among_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = collection(folder.path());
    let tables = snapshot.tables();
    let all = Replay::of(&snapshot, &Progress::default()).expect("read");
    let mut wanted = ["0", "d", "b"].map(id_digest);
    wanted.sort_unstable();
    let members = stored_documents(&tables, &wanted).expect("read");
    let some = Replay::new(&tables, members.values()).expect("read");
    assert_eq!(ids(&some), ["b", "d", "0"]);
    for (at, in_all) in [1, 3, 4].into_iter().enumerate() {
        let document = some.document(at);
        assert_eq!(document, all.document(in_all));
        let (mut x, mut y) = (Vec::new(), Vec::new());
        some.sets().set(at, &mut x).expect("read");
        all.sets().set(in_all, &mut y).expect("read");
        assert_eq!(x, y);
    }
}

/// Texts of several blocks, one of which goes through some; the ids are scattered or in the order of the texts.
fn texts(scattered: bool) -> String {
    let random = |number: usize| xxh3_64(&(number as u64).to_le_bytes());
    let text = |at: usize| {
        let words = if at == 100 { sized(20_000, 60) } else { sized(60, 6) };
        let word = |word: usize| format!("{:x} ", random(at << 16 | word) % sized(5000, 5));
        let words: String = (0..words).map(word).collect();
        let id = if scattered { format!("{:016x}", random(at)) } else { format!("{at:016}") };
        format!("{{\"id\":\"{id}\",\"text\":\"{words}\"}}\n")
    };
    (0..sized(5000, 300)).map(text).collect()
}

#[test]
fn sets_are_the_same_whatever_is_kept_of_the_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_order = collection_of(folder.path(), &[&texts(false)]);
    let replay = Replay::of(&in_order, &Progress::default()).expect("read");
    assert!(ids(&replay).is_sorted() && !replay.is_scattered(replay.places().len()));
    let snapshot = collection_of(folder.path(), &[&texts(true)]);
    let with_kept = |most| {
        let mut replay = Replay::of(&snapshot, &Progress::default()).expect("read");
        assert!(ids(&replay).is_sorted() && replay.is_scattered(replay.places().len()));
        let bytes = replay.keep_blocks(most);
        assert!(bytes <= most && (bytes > 0) == replay.kept.is_some());
        let (mut sets, mut all) = (replay.sets(), Vec::new());
        for at in (0..replay.documents()).chain(0..replay.documents()) {
            let mut set = vec![7];
            sets.set(at, &mut set).expect("read");
            assert_eq!(set.len(), replay.document(at).size as usize);
            all.push(set);
        }
        drop(sets);
        let places = replay.places();
        let is_kept =
            |place: &&BlockPlace| replay.kept.as_ref().is_some_and(|kept| kept.get(**place).is_some());
        (all, places.iter().filter(is_kept).count(), places.len())
    };
    let (expected, kept, blocks) = with_kept(0);
    assert!(kept == 0 && blocks > 2 * MOST_PLACES);
    let (some, few, _) = with_kept(KeptBlocks::bytes_of(blocks).0 + sized(200_000, 3000));
    assert!(some == expected && few > 0, "{few} of {blocks}");
    // Not those of which only texts were read that go on behind.
    let (all, kept, _) = with_kept(u64::MAX);
    assert!(all == expected && kept > few && kept > blocks / 2, "{kept} of {blocks}");
}

#[test]
fn documents_are_sorted_by_load_and_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids_of = |ids: &[&str]| -> String {
        ids.iter().map(|id| format!("{{\"id\":\"{id}\",\"text\":\"of {id}\"}}\n")).collect()
    };
    let loads = [
        ids_of(&[
            "https://b/2",
            "https://b",
            "https://a/123456789",
            "https://a/12345678",
            "https://a/1234567",
        ]),
        ids_of(&[
            "https://b/2/3",
            "https://b/2",
            "https://",
            "https://a/123456789/10",
            "https://a/12345678/9",
        ]),
    ];
    let snapshot = collection_of(folder.path(), &[&loads[0], &loads[1]]);
    let replay = Replay::of(&snapshot, &Progress::default()).expect("read");
    let first =
        ["https://a/1234567", "https://a/12345678", "https://a/123456789", "https://b", "https://b/2"];
    let second = ["https://", "https://a/12345678/9", "https://a/123456789/10", "https://b/2/3"];
    assert_eq!(ids(&replay), [&first[..], &second].concat());
}

#[test]
fn too_little_memory_and_a_stop_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = collection(folder.path());
    let asked = |memory| RecomputeRequest {
        overrides: QueryOverrides::default(),
        pairs: true,
        resources: Resources {
            workers: 2,
            memory,
            simd: Simd::Scalar,
            scratch: folder.path().to_path_buf(),
            peers: None,
        },
    };
    let least = BASE_MEMORY + 2 * WORKER_MEMORY + LEAST_MEMORY;
    assert!(matches!(snapshot.recompute(asked(Some(least)), Arc::default()), Err(Error::Limit(_))));
    let outcome = snapshot.recompute(asked(Some(least + (1 << 20))), Arc::default()).expect("a run");
    assert_eq!((outcome.tally.documents, outcome.findings.removed.len()), (5, 1));
    let stopped = Arc::new(Progress::default());
    stopped.stop();
    assert!(matches!(snapshot.recompute(asked(None), stopped), Err(Error::Interrupted)));
}
