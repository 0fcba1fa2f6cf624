//! Folders that are not as a collection left them, or are none.

use std::sync::Arc;

use crate::collection::run::page::PAGE_BYTES;
use crate::collection::tests::commits::{open, open_or_create, rows, share};
use crate::collection::tests::snapshots::{on_each, write};
use crate::collection::*;
use crate::config::Config;
use crate::error::Error;
use crate::storage::{Local, Simulated, Storage};

/// How a reader is refused.
fn refused(storage: &Arc<dyn Storage>) -> Error {
    Snapshot::open(storage).expect_err("refused")
}

#[test]
fn runs_that_are_not_those_of_the_manifest_are_refused() {
    let folder = Simulated::new();
    let storage = share(&folder);
    write(&storage, 2);
    let id = open(&storage).manifest().runs[0].id;
    let name = format!("run-{id:08}");
    let whole = folder.contents(&name).expect("there");
    let collection = open(&storage).manifest().collection;
    let make = |collection, run, heaps: bool| {
        let other = Simulated::new();
        let mut run = RunWriter::create(&other, "run", collection, run).expect("created");
        if heaps {
            for kind in [1, 2] {
                run.heap(SectionKind(kind)).expect("begun");
                run.push(&[1]).expect("pushed");
            }
        } else {
            run.rows(SectionKind(1), Shape { width: 1, key: 1 }).expect("begun");
            [20, 2000].iter().for_each(|row| run.push(&[*row]).expect("pushed"));
        }
        run.finish().expect("finished");
        other.contents("run").expect("there")
    };
    assert_eq!(make(collection, id, false), whole);
    // As long as the run, and sound: of another collection, another run, and with other sections.
    let mut strangers = vec![make(collection + 1, id, false), make(collection, id + 1, false)];
    strangers.push(make(collection, id, true));
    assert!(strangers.iter().all(|stranger| stranger.len() == whole.len()));
    strangers.extend([whole[..whole.len() - PAGE_BYTES].to_vec(), whole[..100].to_vec(), Vec::new()]);
    for (number, stranger) in strangers.iter().enumerate() {
        folder.replace(&name, stranger).expect("replaced");
        assert!(matches!(refused(&storage), Error::Damaged { .. }), "stranger {number}");
    }
    folder.replace(&name, &whole).expect("replaced");
    assert_eq!(rows(&open(&storage).runs()[0]).expect("read").len(), 2);
    storage.remove(&name).expect("removed");
    assert!(refused(&storage).to_string().contains("missing"));
}

#[test]
fn change_logs_are_checked_when_they_are_read() {
    let folder = Simulated::new();
    let storage = share(&folder);
    write(&storage, 1);
    let name = "changes-00000001.jsonl";
    let whole = folder.contents(name).expect("there");
    let read = || open(&storage).changes(1, &mut |_| Ok(()));
    assert!(read().expect("whole"));
    assert!(!open(&storage).changes(0, &mut |_| Ok(())).expect("no such log"));
    for offset in 0..whole.len() as u64 {
        folder.flip(name, offset, 3).expect("flipped");
        assert!(matches!(read(), Err(Error::Damaged { .. })), "byte {offset}");
        folder.flip(name, offset, 3).expect("flipped back");
        folder.truncate(name, offset).expect("shorter");
        assert!(matches!(read(), Err(Error::Damaged { .. })), "{offset} bytes");
        folder.replace(name, &whole).expect("whole again");
    }
    storage.remove(name).expect("removed");
    assert!(matches!(read(), Err(Error::Damaged { .. })));
}

#[test]
fn a_folder_of_something_else_is_left_as_it_is() {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::write(root.path().join("letter.txt"), b"Dear").expect("written");
    let storage: Arc<dyn Storage> = Arc::new(Local::open(root.path()).expect("opened"));
    assert!(matches!(refused(&storage), Error::NotACollection(..)));
    assert!(matches!(Writer::open(&storage), Err(Error::NotACollection(..))));
    let created = Writer::create(&storage, Config::default(), true);
    assert!(matches!(created, Err(Error::NotACollection(_, reason)) if reason.contains("letter.txt")));
    assert_eq!(std::fs::read_dir(root.path()).expect("listed").count(), 1, "not even a lock");
}

#[test]
fn a_collection_is_created_once_and_strangers_in_it_are_left_alone() {
    on_each(|storage| {
        write(&storage, 1);
        let again = Writer::create(&storage, Config::default(), true);
        assert!(matches!(again, Err(Error::Config(_))));
        let strangers = ["README", "manifest-7", "new-papers", "run-1", "runs"];
        for name in strangers {
            storage.create(name).expect("created");
        }
        storage.create("run-00009999").expect("created").append(b"left over").expect("written");
        write(&storage, 5);
        let names = storage.names().expect("names");
        assert!(strangers.iter().all(|name| names.iter().any(|other| other == name)));
        assert!(!names.contains(&"run-00009999".to_owned()));
    });
}

#[test]
fn collections_are_told_apart() {
    let ids: std::collections::BTreeSet<u64> = (0..100)
        .map(|_| {
            let storage = share(&Simulated::new());
            open_or_create(&storage).expect("created").snapshot().manifest().collection
        })
        .collect();
    assert_eq!(ids.len(), 100);
}

#[test]
fn a_configuration_is_kept_as_it_will_be_read() {
    let storage = share(&Simulated::new());
    let config = Config { threshold: "0.85".parse().expect("a threshold"), ..Config::default() };
    let writer = Writer::create(&storage, config.clone(), false).expect("created");
    assert_eq!(writer.snapshot().manifest(), open(&storage).manifest());
    assert_eq!((&open(&storage).manifest().config, open(&storage).manifest().store_text), (&config, false));
    let wrong = Config { text: crate::config::Text { ngram: 0, ..config.text.clone() }, ..config };
    let refused = Writer::create(&share(&Simulated::new()), wrong, false);
    assert!(matches!(refused, Err(Error::Config(_))));
}
