//! What the program wrote, read back.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::texts::{text, unpack};

/// An output folder, read back.
pub(crate) struct Output {
    /// Files below `kept/`, by their path there, as they stand on disk.
    pub(crate) kept: BTreeMap<String, Vec<u8>>,
    /// The same below `removed/`; empty without `--write-removed`.
    pub(crate) removed: BTreeMap<String, Vec<u8>>,
    pub(crate) duplicates: Vec<Value>,
    pub(crate) clusters: Vec<Value>,
    /// Empty without `--pairs`.
    pub(crate) pairs: Pairs,
    pub(crate) rejected: Vec<Value>,
    pub(crate) summary: Value,
}

/// The rows of `pairs.jsonl` in the order of its lines. There may be hundreds of thousands: they are parsed when somebody
/// looks at them.
#[derive(Debug)]
pub(crate) struct Pairs {
    file: Vec<u8>,
    rows: OnceLock<Vec<Value>>,
}

impl Deref for Pairs {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        self.rows.get_or_init(|| {
            let mut lines: Vec<&[u8]> = self.file.split_inclusive(|byte| *byte == b'\n').collect();
            lines.sort_unstable();
            jsonl(&lines.concat())
        })
    }
}

impl Output {
    pub(crate) fn read(folder: &Path) -> Output {
        let file = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
        let rows = |name: &str| sorted(jsonl(&file(name)));
        for name in ["duplicates.jsonl", "clusters.jsonl", "summary.json"] {
            assert!(folder.join(name).is_file(), "{name} is missing");
        }
        let pairs = file("pairs.jsonl");
        assert!(pairs.is_empty() || pairs.ends_with(b"\n"), "pairs.jsonl is cut off");
        Output {
            kept: files(&folder.join("kept")),
            removed: files(&folder.join("removed")),
            duplicates: rows("duplicates.jsonl"),
            clusters: rows("clusters.jsonl"),
            pairs: Pairs { file: pairs, rows: OnceLock::new() },
            rejected: rows("rejected.jsonl"),
            summary: serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap(),
        }
    }

    /// The one kept file whose name ends so, decompressed.
    #[track_caller]
    pub(crate) fn kept(&self, end: &str) -> Vec<u8> {
        let found: Vec<&String> = self.kept.keys().filter(|name| name.ends_with(end)).collect();
        assert_eq!(found.len(), 1, "{end} among {:?}", self.kept.keys());
        unpack(&self.kept[found[0]])
    }

    /// All kept records of all files, decompressed, sorted.
    pub(crate) fn kept_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .kept
            .values()
            .flat_map(|file| text(unpack(file)).lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines.sort();
        lines
    }

    /// Ids of the kept records, sorted.
    pub(crate) fn kept_ids(&self) -> Vec<String> {
        let id = |line: &String| label(&serde_json::from_str::<Value>(line).unwrap()["id"]);
        let mut ids: Vec<String> = self.kept_lines().iter().map(id).collect();
        ids.sort();
        ids
    }

    /// Ids of the removed records, sorted.
    pub(crate) fn removed_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.duplicates.iter().map(|row| label(&row["id"])).collect();
        ids.sort();
        ids
    }

    /// The clusters as sorted sets of ids, sorted: what does not depend on document order.
    pub(crate) fn partition(&self) -> Vec<Vec<String>> {
        let mut sets: Vec<Vec<String>> = self
            .clusters
            .iter()
            .map(|row| {
                let mut members: Vec<String> = row["members"].as_array().unwrap().iter().map(label).collect();
                members.sort();
                members
            })
            .collect();
        sets.sort();
        sets
    }
}

/// All files below a folder, by their path there; none where there is no such folder.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root).into_iter().filter(|_| root.exists()) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Every line of JSONL, parsed; a line that does not parse is a failure.
pub(crate) fn jsonl(bytes: &[u8]) -> Vec<Value> {
    std::str::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Rows in the order of their text.
pub(crate) fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_cached_key(Value::to_string);
    rows
}

/// Rows as they read once written. serde_json's parser may be off by one in the last digit of a float, always in the
/// same way, so equal decimals compare equal after this; decimals that differ only there may do so too.
pub(crate) fn reread(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(|row| serde_json::from_str(&row.to_string()).unwrap()).collect()
}

/// An id as a label, whether it was written as a string or a number.
pub(crate) fn label(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}
