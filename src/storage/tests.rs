//! What every storage does. Each test runs on a real folder and on the simulated one.

use std::io::ErrorKind;

use super::*;

/// Runs a test on an empty folder of each kind.
fn on_each(test: fn(&dyn Storage)) {
    let root = tempfile::tempdir().expect("a folder");
    test(&Local::create(root.path()).expect("created"));
    test(&Simulated::new());
}

fn put(storage: &dyn Storage, name: &str, bytes: &[u8]) {
    let mut writer = storage.create(name).expect("created");
    writer.append(bytes).expect("appended");
    writer.sync().expect("synced");
}

fn get(storage: &dyn Storage, name: &str) -> io::Result<Vec<u8>> {
    let reader = storage.open(name)?;
    let mut bytes = vec![0; usize::try_from(reader.len()?).expect("a length")];
    reader.read_exact_at(&mut bytes, 0).map(|()| bytes)
}

fn kind<T>(outcome: io::Result<T>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

#[test]
fn names_are_sorted_and_without_the_lock() {
    on_each(|storage| {
        assert!(storage.names().expect("names").is_empty());
        let _lock = storage.lock().expect("asked").expect("free");
        for name in ["b", "a10", "c", "a9", "lock2", "B"] {
            put(storage, name, b"");
        }
        storage.link("c", "a").expect("linked");
        storage.remove("c").expect("removed");
        storage.sync_names().expect("synced");
        assert_eq!(storage.names().expect("names"), ["B", "a", "a10", "a9", "b", "lock2"]);
        assert_eq!(storage.path("a").file_name(), Some("a".as_ref()));
    });
}

#[test]
fn only_plain_names_are_taken() {
    on_each(|storage| {
        put(storage, "a", b"a");
        for name in ["", ".", "..", "lock", "a/b", "/a", "../a", "a/", "a\0"] {
            assert_eq!(kind(storage.create(name)), Some(ErrorKind::InvalidInput), "create {name:?}");
            assert_eq!(kind(storage.open(name)), Some(ErrorKind::InvalidInput), "open {name:?}");
            assert_eq!(kind(storage.link("a", name)), Some(ErrorKind::InvalidInput), "link to {name:?}");
            assert_eq!(kind(storage.link(name, "b")), Some(ErrorKind::InvalidInput), "link from {name:?}");
            assert_eq!(kind(storage.remove(name)), Some(ErrorKind::InvalidInput), "remove {name:?}");
        }
        assert_eq!(storage.names().expect("names"), ["a"]);
    });
}

#[test]
fn what_is_appended_is_read() {
    on_each(|storage| {
        let mut writer = storage.create("a").expect("created");
        let reader = storage.open("a").expect("opened");
        assert!(reader.is_empty().expect("a length"));
        writer.append(b"01234").expect("appended");
        writer.append(b"").expect("appended");
        assert_eq!(reader.len().expect("a length"), 5);
        writer.sync().expect("synced");
        writer.append(b"56789").expect("appended");
        assert_eq!(reader.len().expect("a length"), 10);
        assert!(!reader.is_empty().expect("a length"));
        for advice in [Advice::Random, Advice::Sequential] {
            reader.advise(advice);
            let mut bytes = [0; 4];
            reader.read_exact_at(&mut bytes, 3).expect("read");
            assert_eq!(&bytes, b"3456");
            reader.read_exact_at(&mut bytes, 6).expect("read up to the end");
            assert_eq!(&bytes, b"6789");
        }
    });
}

#[test]
fn reading_past_the_end_is_an_error() {
    on_each(|storage| {
        put(storage, "a", b"0123456789");
        let reader = storage.open("a").expect("opened");
        for offset in [7, 10, 11, 1 << 40] {
            let outcome = reader.read_exact_at(&mut [0; 4], offset);
            assert_eq!(kind(outcome), Some(ErrorKind::UnexpectedEof), "at {offset}");
            reader.read_exact_at(&mut [], offset).expect("nothing is everywhere");
        }
    });
}

#[test]
fn a_reader_serves_several_threads() {
    on_each(|storage| {
        let all: Vec<u8> = (0..=255).cycle().take(1 << 16).collect();
        put(storage, "a", &all);
        let reader = storage.open("a").expect("opened");
        std::thread::scope(|scope| {
            for first in 0..4 {
                let (reader, all) = (&reader, &all);
                scope.spawn(move || {
                    for offset in (first..all.len() - 100).step_by(997) {
                        let mut bytes = [0; 100];
                        reader.read_exact_at(&mut bytes, offset as u64).expect("read");
                        assert_eq!(bytes, all[offset..offset + 100]);
                    }
                });
            }
        });
    });
}

#[test]
fn nothing_is_replaced() {
    on_each(|storage| {
        put(storage, "a", b"a");
        put(storage, "b", b"b");
        assert_eq!(kind(storage.create("a")), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind(storage.link("a", "b")), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind(storage.link("a", "a")), Some(ErrorKind::AlreadyExists));
        assert_eq!(get(storage, "a").expect("read"), b"a");
        assert_eq!(get(storage, "b").expect("read"), b"b");
    });
}

#[test]
fn what_is_not_there_is_not_found() {
    on_each(|storage| {
        assert_eq!(kind(storage.open("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(storage.remove("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(storage.link("a", "b")), Some(ErrorKind::NotFound));
        put(storage, "a", b"a");
        storage.remove("a").expect("removed");
        assert_eq!(kind(storage.open("a")), Some(ErrorKind::NotFound));
        assert_eq!(kind(storage.remove("a")), Some(ErrorKind::NotFound));
        assert!(storage.names().expect("names").is_empty());
    });
}

#[test]
fn a_link_is_the_same_file() {
    on_each(|storage| {
        let mut writer = storage.create("a").expect("created");
        writer.append(b"one").expect("appended");
        storage.link("a", "b").expect("linked");
        writer.append(b" two").expect("appended");
        storage.remove("a").expect("removed");
        writer.append(b" three").expect("appended");
        assert_eq!(get(storage, "b").expect("read"), b"one two three");
        assert_eq!(storage.names().expect("names"), ["b"]);
    });
}

#[test]
fn a_reader_outlives_the_name() {
    on_each(|storage| {
        put(storage, "a", b"old");
        let reader = storage.open("a").expect("opened");
        storage.remove("a").expect("removed");
        put(storage, "a", b"newer");
        let mut bytes = [0; 3];
        reader.read_exact_at(&mut bytes, 0).expect("read");
        assert_eq!((&bytes, reader.len().expect("a length")), (b"old", 3));
        assert_eq!(get(storage, "a").expect("read"), b"newer");
    });
}

#[test]
fn one_holds_the_lock() {
    on_each(|storage| {
        let held = storage.lock().expect("asked").expect("free");
        assert!(storage.lock().expect("asked").is_none());
        assert!(storage.lock().expect("asked").is_none(), "asking in vain takes nothing");
        drop(held);
        assert!(storage.lock().expect("asked").is_some(), "and is free again when dropped at once");
        assert!(storage.lock().expect("asked").is_some());
    });
}
