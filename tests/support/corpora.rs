//! Texts of the repository's sample, and corpora outside the repository.
//!
//! `ALIKE_CORPORA` names the folder of the corpora. Only tests that are ignored by default ask for them, so that the tests
//! of a bare clone are the same everywhere.

use std::fs;
use std::io::BufRead;
use std::path::PathBuf;

use serde_json::Value;

/// The texts of the sample, which is always there.
pub(crate) fn sample() -> Vec<String> {
    let lines = include_str!("../../samples/licences.jsonl").lines();
    lines.map(|line| body(&serde_json::from_str(line).unwrap())).collect()
}

/// The texts of a corpus.
pub(crate) fn corpus(name: &str) -> Vec<String> {
    rows(name).iter().map(body).collect()
}

fn body(row: &Value) -> String {
    row["text"].as_str().unwrap().to_owned()
}

/// The rows of a corpus.
pub(crate) fn rows(name: &str) -> Vec<Value> {
    let folder = std::env::var_os("ALIKE_CORPORA").expect("ALIKE_CORPORA names the folder of the corpora");
    let path = PathBuf::from(folder).join(format!("{name}.jsonl.zst"));
    let file = fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let lines = std::io::BufReader::new(decoder);
    lines.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Whether `ALIKE_FULL` asks for many more cases of what is tested with a few of them.
pub(crate) fn full() -> bool {
    std::env::var_os("ALIKE_FULL").is_some()
}

/// A test that goes through all cases takes one in `few`, and each of them with `ALIKE_FULL`.
pub(crate) fn stride(few: usize) -> usize {
    if full() { 1 } else { few }
}
