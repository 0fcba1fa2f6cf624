use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::{Batch, QueryOverrides, Snapshot, Writer, prepare};
use crate::config::Config;
use crate::flow::{Components, ReplayedDocuments as _, id_digest};
use crate::read::discover;
use crate::resources::Resources;
use crate::simd::Simd;
use crate::storage::{Simulated, Storage};

/// A collection of two loads, the second of which replaces a document and brings another one.
fn collection(folder: &Path) -> Snapshot {
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    let mut writer = Writer::create(&storage, Config::default(), false).expect("a collection");
    let loads = [
        r#"{"id":"b","text":"one two three four five six"}
{"id":"c","text":"..."}
{"id":"a","text":"One, two, three; four five six!"}
{"id":"d","text":"nothing of the kind in this one"}
"#,
        r#"{"id":"d","text":"another text than before in here"}
{"id":"0","text":"a document that comes late"}
"#,
    ];
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
    replay.set(a.content, &mut set).expect("read");
    assert!(set.len() == 2 && set.is_sorted());
    assert!(matches!(replay.set(9999, &mut set), Err(Error::Damaged { .. })));
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
        some.set(document.content, &mut x).expect("read");
        all.set(document.content, &mut y).expect("read");
        assert_eq!(x, y);
    }
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
