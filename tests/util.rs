//! Folders, inputs, runs of the program and what they wrote. Nothing here knows what an answer should be.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A temporary folder, removed at the end. The program runs in it, so inputs and outputs are named relative to it.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    pub(crate) fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, making its folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Names directly in this folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `alike dedup` in this folder with the arguments of `line`, split at spaces.
    pub(crate) fn dedup(&self, line: &str) -> Ran {
        self.alike(&format!("dedup {line}"), None)
    }

    /// Runs `alike` in this folder with the arguments of `line`, split at spaces, and `stdin` as standard input.
    pub(crate) fn alike(&self, line: &str, stdin: Option<&[u8]>) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
            .args(line.split_whitespace())
            .current_dir(self.path())
            .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let feeder = stdin.map(|bytes| {
            let mut pipe = child.stdin.take().unwrap();
            let bytes = bytes.to_vec();
            // A program that refuses its arguments closes the pipe early, and that is its right.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let output = child.wait_with_output().unwrap();
        if let Some(feeder) = feeder {
            feeder.join().unwrap();
        }
        Ran {
            line: line.to_owned(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `alike dedup LINE --out NAME`, which must succeed, and reads what it wrote.
    pub(crate) fn output(&self, line: &str, name: &str) -> Output {
        self.dedup(&format!("{line} --out {name}")).ok();
        Output::read(&self.join(name))
    }
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The run must have succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        self.code(0)
    }

    /// The run must have ended with this exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "alike {}\n{}{}", self.line, self.stdout, self.stderr);
        self
    }

    /// Standard error must hold this, whatever the case.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Ran {
        let found = self.stderr.to_lowercase().contains(&part.to_lowercase());
        assert!(found, "alike {}: expected {part:?} in\n{}", self.line, self.stderr);
        self
    }
}

/// An output folder, read back.
pub(crate) struct Output {
    /// Files below `kept/`, by their path there, as they stand on disk.
    pub(crate) kept: BTreeMap<String, Vec<u8>>,
    pub(crate) duplicates: Vec<Value>,
    pub(crate) clusters: Vec<Value>,
    /// Empty without `--pairs`.
    pub(crate) pairs: Vec<Value>,
    pub(crate) rejected: Vec<Value>,
    pub(crate) summary: Value,
}

impl Output {
    pub(crate) fn read(folder: &Path) -> Output {
        let rows = |name: &str| sorted(jsonl(&fs::read(folder.join(name)).unwrap_or_default()));
        for name in ["duplicates.jsonl", "clusters.jsonl", "summary.json"] {
            assert!(folder.join(name).is_file(), "{name} is missing");
        }
        let mut kept = BTreeMap::new();
        let root = folder.join("kept");
        for entry in walkdir::WalkDir::new(&root) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let name = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                kept.insert(name, fs::read(entry.path()).unwrap());
            }
        }
        Output {
            kept,
            duplicates: rows("duplicates.jsonl"),
            clusters: rows("clusters.jsonl"),
            pairs: rows("pairs.jsonl"),
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

/// Bytes that must be UTF-8.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// One JSONL line of a document with these fields and a line feed.
pub(crate) fn line(id: &str, body: &str) -> String {
    format!("{}\n", json!({"id": id, "text": body}))
}

/// `count` distinct words from `start`: texts of different ranges share none.
pub(crate) fn words(start: usize, count: usize) -> String {
    (start..start + count).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ")
}

/// The bytes as gzip members of at most `member` bytes each.
pub(crate) fn gzip(bytes: &[u8], member: usize) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in bytes.chunks(member) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        packed.extend(encoder.finish().unwrap());
    }
    packed
}

/// The bytes as zstd frames of at most `frame` bytes each.
pub(crate) fn zst(bytes: &[u8], frame: usize) -> Vec<u8> {
    bytes.chunks(frame).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect()
}

/// Decompresses gzip or zstd, known by the first bytes; anything else is returned as it is.
pub(crate) fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::Decoder::new(bytes).unwrap().read_to_end(&mut plain).unwrap();
    } else {
        plain.extend_from_slice(bytes);
    }
    plain
}

/// The texts of a corpus of `../shared/data` (or of the folder in ALIKE_TEST_DATA), or `None`, said on standard
/// error, where it is absent.
pub(crate) fn corpus(name: &str) -> Option<Vec<String>> {
    let body = |row: &Value| row["text"].as_str().unwrap().to_owned();
    Some(rows(name)?.iter().map(body).collect())
}

/// The rows of such a corpus.
pub(crate) fn rows(name: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("ALIKE_TEST_DATA")
        .unwrap_or_else(|| OsString::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")));
    let path = PathBuf::from(folder).join(format!("{name}.jsonl.zst"));
    let Ok(file) = fs::File::open(&path) else {
        // Written directly, since the test harness would hide what a passing test prints.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "skipped: the corpus {name} is absent ({})", path.display()).unwrap();
        return None;
    };
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let lines = std::io::BufReader::new(decoder);
    Some(lines.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect())
}

/// About one in `n` of the texts, families together: those whose least word hash falls into one class of `n`. Texts
/// that share most of their words mostly share the least of them, so near-duplicates stay or go as one.
pub(crate) fn families(texts: Vec<String>, n: u64) -> Vec<String> {
    let least = |body: &String| {
        body.split_whitespace().map(|word| xxhash_rust::xxh3::xxh3_64(word.as_bytes())).min().unwrap_or(0)
    };
    texts.into_iter().filter(|body| least(body) % n == 0).collect()
}

/// A small deterministic generator (SplitMix64), so that the same seed gives the same texts for ever.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// Puts the items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
