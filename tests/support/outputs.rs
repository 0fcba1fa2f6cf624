//! What a job wrote, read whole and compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::corpora::full;
use crate::support::job::{Shape, done};
use crate::support::program::Dir;

/// What an output folder holds: files as they are, but lists of lines in order, and of the summary what does not tell
/// of time, memory and shape.
pub(crate) fn written(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let content = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(entry.path()).unwrap();
        let bytes = match name.as_str() {
            "summary.json" => figures(&bytes),
            list if list.ends_with(".jsonl") && !list.contains('/') => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                lines.sort_unstable();
                lines.concat()
            }
            _ => bytes,
        };
        (name, bytes)
    };
    files.map(content).collect()
}

/// The figures that are those of the input and the configuration.
pub(crate) fn figures(summary: &[u8]) -> Vec<u8> {
    let mut summary: Value = serde_json::from_slice(summary).unwrap();
    let of_the_run = [
        "run",
        "workers",
        "processes",
        "wire_bytes",
        "memory_limit_bytes",
        "peak_memory_bytes",
        "seconds",
        "stages",
        "documents_per_second",
        "megabytes_per_second",
    ];
    of_the_run.iter().for_each(|key| drop(summary.as_object_mut().unwrap().remove(*key)));
    serde_json::to_vec_pretty(&summary).unwrap()
}

/// Two outputs must be the same; the first line that is not is shown.
#[track_caller]
pub(crate) fn assert_same(want: &BTreeMap<String, Vec<u8>>, got: &BTreeMap<String, Vec<u8>>, what: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(want), names(got), "{what}: other files");
    for ((name, want), got) in want.iter().zip(got.values()) {
        if want != got {
            let (want, got) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
            let other = |a: &str, b: &str| a.lines().find(|row| !b.contains(row)).map(str::to_owned);
            panic!("{what}: {name}\nmissing: {:?}\nextra: {:?}", other(&want, &got), other(&got, &want));
        }
    }
}

/// Runs a job in several shapes and holds the outputs against that of one worker, which is returned: in one of one process and in one of
/// several, or in all with `ALIKE_FULL`.
#[track_caller]
pub(crate) fn alike_in_all(dir: &Dir, flags: &str, shapes: &[Shape]) -> BTreeMap<String, Vec<u8>> {
    let run = |shape| {
        done(dir, shape, &format!("dedup {flags} --out out"));
        let output = written(&dir.join("out"));
        fs::remove_dir_all(dir.join("out")).unwrap();
        output
    };
    let want = run((1, 1));
    // Other flags take others.
    let turn = xxhash_rust::xxh3::xxh3_64(flags.as_bytes()) as usize;
    let others = shapes.iter().filter(|shape| **shape != (1, 1));
    let (several, one): (Vec<Shape>, Vec<Shape>) = others.partition(|shape| shape.0 > 1);
    for shapes in [one, several] {
        let some = if full() { shapes.len() } else { shapes.len().min(1) };
        for shape in shapes.iter().cycle().skip(turn % shapes.len().max(1)).take(some) {
            assert_same(&want, &run(*shape), &format!("{flags}, {} x {}", shape.0, shape.1));
        }
    }
    want
}
