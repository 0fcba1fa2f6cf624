//! Verdicts on pairs of documents, which people give while they look at them: a file of labels that only ever grows.
//!
//! A line is written whole and is on disk before it is answered; one that could not be is taken back. Of a pair the last verdict
//! counts, here and for `alike evaluate --labels`, which takes the file by its column [`JUDGED_AT`] for a log.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::evaluate::{JUDGED_AT, UNSURE};
use crate::limits::MAX_LABELS_BYTES;
use crate::storage::sync_name_if_allowed;

/// What somebody says of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairVerdict {
    /// They are duplicates.
    Same,
    /// They are none.
    Different,
    /// It cannot be said.
    Unsure,
}

impl PairVerdict {
    /// All of them, in the order in which they are offered.
    pub const ALL: [PairVerdict; 3] = [PairVerdict::Same, PairVerdict::Different, PairVerdict::Unsure];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            PairVerdict::Same => "same",
            PairVerdict::Different => "different",
            PairVerdict::Unsure => UNSURE,
        }
    }

    /// The grade that it is in a file of labels.
    fn grade(self) -> Value {
        match self {
            PairVerdict::Same => Value::from(1),
            PairVerdict::Different => Value::from(0),
            PairVerdict::Unsure => Value::from(UNSURE),
        }
    }
}

impl FromStr for PairVerdict {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<PairVerdict, String> {
        let found = PairVerdict::ALL.into_iter().find(|verdict| verdict.name() == text);
        found.ok_or_else(|| "expected same, different or unsure".to_owned())
    }
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictLine {
    /// The id of a document.
    pub id_a: String,
    /// The id of another one.
    pub id_b: String,
    /// 1 for duplicates, 0 for others, or `unsure`.
    pub grade: Value,
    /// When that was said.
    pub judged_at: String,
}

impl VerdictLine {
    /// What the line says, if its grade is one that this program writes.
    fn verdict(&self) -> Option<PairVerdict> {
        PairVerdict::ALL.into_iter().find(|verdict| verdict.grade() == self.grade)
    }
}

/// The last verdict of each pair, whose lesser id stands first.
type LastVerdicts = HashMap<(String, String), PairVerdict>;

/// A pair by its lesser id.
fn ordered(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_owned(), a.max(b).to_owned())
}

/// The file of verdicts, to which nobody else writes.
pub struct VerdictFile {
    path: PathBuf,
    log: Mutex<OpenLog>,
}

/// What is known of the file while it is written to.
struct OpenLog {
    file: File,
    last: LastVerdicts,
    /// Whether half a line could not be taken back.
    broken: bool,
}

impl VerdictFile {
    /// Opens a file of verdicts, or makes one. Half a line at its end, of a process that was cut off, is taken away: nobody
    /// was told that it was written. Says how many bytes that were.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no file of verdicts, [`Error::Config`] if another process writes to it, [`Error::Io`].
    pub fn open(path: &Path) -> Result<(VerdictFile, u64)> {
        let failed = |action: &'static str| move |e| Error::io(path, action, e);
        // Opening a pipe would wait for its other end.
        if std::fs::metadata(path).is_ok_and(|told| !told.is_file()) {
            return Err(Error::input(path, "is no regular file; name one that may be written to"));
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = file.map_err(failed("open for verdicts"))?;
        take_alone(&file, path)?;
        let (whole, open) = lines_of(&mut file).map_err(failed("read"))?;
        let refused = |what: String| Error::input(path, what);
        // Nothing is changed in a file before all of it has proved to be verdicts.
        let mut last = last_verdicts(&whole).map_err(refused)?;
        let mut cut = 0;
        if is_cut_off(&open) {
            file.set_len(whole.len() as u64).map_err(failed("write"))?;
            cut = open.len() as u64;
        } else if !open.is_empty() {
            let all = [whole.as_bytes(), &open].concat();
            last = last_verdicts(&String::from_utf8_lossy(&all)).map_err(refused)?;
            file.write_all(b"\n").map_err(failed("write"))?;
        }
        file.sync_all().and_then(|()| sync_name_if_allowed(path)).map_err(failed("sync"))?;
        let log = Mutex::new(OpenLog { file, last, broken: false });
        Ok((VerdictFile { path: path.to_owned(), log }, cut))
    }

    fn lock(&self) -> MutexGuard<'_, OpenLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last verdict on two documents.
    pub fn last(&self, a: &str, b: &str) -> Option<PairVerdict> {
        self.lock().last.get(&ordered(a, b)).copied()
    }

    /// The last verdicts on a document and each of some others, of those that were judged with it, by these others.
    pub fn last_of<'a>(
        &self,
        one: &str,
        others: impl Iterator<Item = &'a str>,
    ) -> BTreeMap<String, PairVerdict> {
        let log = self.lock();
        let judged = |other: &'a str| Some((other.to_owned(), *log.last.get(&ordered(one, other))?));
        others.filter_map(judged).collect()
    }

    /// Writes a verdict on two documents. It is on disk when this returns.
    ///
    /// # Errors
    /// [`Error::Limit`] if the file is full; [`Error::Io`], after which nothing of the verdict is in the file.
    pub fn add(&self, a: &str, b: &str, verdict: PairVerdict) -> Result<VerdictLine> {
        let judged_at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let line = VerdictLine { id_a: a.to_owned(), id_b: b.to_owned(), grade: verdict.grade(), judged_at };
        let failed = |e: io::Error| Error::io(&self.path, "write a verdict", e);
        let written = serde_json::to_string(&line).map_err(|e| failed(e.into()))? + "\n";
        let mut log = self.lock();
        let log = &mut *log;
        if log.broken {
            return Err(failed(io::Error::other(
                "half a line stands at its end since a failure; start the server again",
            )));
        }
        is_still(&log.file, &self.path).map_err(failed)?;
        let length = log.file.metadata().map_err(failed)?.len();
        // Somebody may have edited the file, and left its last line open.
        let begin = if ends_line(&mut log.file, length).map_err(failed)? { "" } else { "\n" };
        if length + (begin.len() + written.len()) as u64 > MAX_LABELS_BYTES {
            let what = format!("a file of verdicts has {MAX_LABELS_BYTES} bytes at most");
            return Err(Error::Limit(format!("{what}; start the server with another one")));
        }
        let done =
            log.file.write_all((begin.to_owned() + &written).as_bytes()).and_then(|()| log.file.sync_data());
        if let Err(error) = done {
            log.broken = log.file.set_len(length).and_then(|()| log.file.sync_data()).is_err();
            return Err(failed(error));
        }
        log.last.insert(ordered(a, b), verdict);
        Ok(line)
    }
}

/// Makes sure that no other process writes to a file of verdicts.
#[expect(clippy::disallowed_methods, reason = "it is no file of a collection, and nobody waits")]
fn take_alone(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let what = "another process writes to it; name another file";
            Err(Error::config(format!("--verdicts {}: {what}", path.display())))
        }
        Err(TryLockError::Error(error)) => Err(Error::io(path, "lock", error)),
    }
}

/// Whether the last of so many bytes ends a line, or there is none.
fn ends_line(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.seek(SeekFrom::Start(last))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

/// The whole lines of a file, and the bytes of a last one that has no end.
fn lines_of(file: &mut File) -> io::Result<(String, Vec<u8>)> {
    let mut whole = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    Read::take(&mut *file, MAX_LABELS_BYTES + 1).read_to_end(&mut whole)?;
    if whole.len() as u64 > MAX_LABELS_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {MAX_LABELS_BYTES} bytes"),
        ));
    }
    let open = whole.split_off(whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    let whole = String::from_utf8(whole);
    Ok((whole.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?, open))
}

/// Whether a line without an end is one of ours that a process was cut off in: it begins as these do, and JSON ends in its middle.
/// What is whole, or of another shape, is somebody's and not to be taken away.
fn is_cut_off(open: &[u8]) -> bool {
    let begin: &[u8] = b"{\"id_a\":\"";
    let is_ours = open.starts_with(begin) || begin.starts_with(open);
    let ends = || serde_json::from_slice::<serde::de::IgnoredAny>(open).is_err_and(|error| error.is_eof());
    !open.is_empty() && is_ours && ends()
}

/// The last verdict of each pair, or which line is none.
fn last_verdicts(text: &str) -> std::result::Result<LastVerdicts, String> {
    let mut last = LastVerdicts::new();
    for (number, line) in (1_u64..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let read = serde_json::from_str::<VerdictLine>(line).ok();
        let verdict = read.and_then(|line| Some((ordered(&line.id_a, &line.id_b), line.verdict()?)));
        let (pair, verdict) = verdict.ok_or_else(|| {
            format!(
                "line {number} is no verdict: expected id_a, id_b, grade (1, 0 or {UNSURE:?}) and {JUDGED_AT} as JSON; \
                 name a new file, or one that alike serve --verdicts wrote"
            )
        })?;
        last.insert(pair, verdict);
    }
    Ok(last)
}

/// Refuses to write to a file that is not there any more under its name: nobody would find what is written.
fn is_still(file: &File, path: &Path) -> io::Result<()> {
    let (open, named) = (file.metadata()?, std::fs::metadata(path)?);
    match (open.dev(), open.ino()) == (named.dev(), named.ino()) {
        true => Ok(()),
        false => Err(io::Error::other("another file is in its place; start the server again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{LabelOptions, LabelRows, Labels};

    const HOSTILE: [&str; 7] = [
        "a\tb",
        "line\nbreak\r",
        "\"quoted\\\"",
        "\u{202e}txt.exe",
        "nul\u{0}",
        " \u{feff}blank ",
        "\u{2028}",
    ];

    fn opened(path: &Path) -> VerdictFile {
        VerdictFile::open(path).expect("a file of verdicts").0
    }

    /// What is written is what is remembered, what the next server reads, and what `evaluate` reads.
    #[test]
    fn verdicts_are_labels_whatever_ids_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("verdicts.jsonl");
        let (file, mut expected) = (opened(&path), Vec::new());
        for (at, id) in HOSTILE.iter().enumerate() {
            let other = HOSTILE[(at + 1) % HOSTILE.len()];
            file.add(id, other, PairVerdict::Unsure).expect("written");
            file.add(other, id, PairVerdict::Same).expect("written");
            let verdict = PairVerdict::ALL[at % 3];
            let line = file.add(id, other, verdict).expect("written");
            assert_eq!((line.verdict(), file.last(other, id)), (Some(verdict), Some(verdict)));
            if verdict != PairVerdict::Unsure {
                expected.push(((*id).to_owned(), other.to_owned(), verdict == PairVerdict::Same));
            }
        }
        let labels = Labels::load(&path, &LabelOptions::default()).expect("labels");
        assert_eq!(labels.rows, LabelRows::Pairs(expected));
        assert_eq!((labels.replaced, labels.unsure), (14, 2));
        // Nobody else may write as long as this one does.
        assert!(matches!(VerdictFile::open(&path), Err(Error::Config(_))));
        drop(file);
        let again = opened(&path);
        assert_eq!(again.last(HOSTILE[0], HOSTILE[1]), Some(PairVerdict::Same));
        assert_eq!(again.last(HOSTILE[0], HOSTILE[2]), None);
    }

    /// Wherever a process was cut off while it wrote, all verdicts before are there, and the next one is a line of its own.
    #[test]
    fn half_a_line_is_taken_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("verdicts.jsonl");
        opened(&path).add("a", "b", PairVerdict::Same).expect("written");
        let first = std::fs::read(&path).expect("bytes");
        opened(&path).add("c", "d\u{e9}", PairVerdict::Different).expect("written");
        let both = std::fs::read(&path).expect("bytes");
        for cut in 0..both.len() {
            std::fs::write(&path, &both[..cut]).expect("written");
            let (file, taken) = VerdictFile::open(&path).expect("a file of verdicts");
            let whole = if cut + 1 >= both.len() { 2 } else { usize::from(cut + 1 >= first.len()) };
            let lines = [0, first.len(), both.len()][whole];
            assert_eq!(taken as usize, cut.saturating_sub(lines), "{cut}");
            file.add("e", "f", PairVerdict::Same).expect("written");
            let text = std::fs::read_to_string(&path).expect("text");
            assert_eq!((text.lines().count(), text.ends_with('\n')), (whole + 1, true), "{cut}: {text}");
            assert!(text.as_bytes().starts_with(&both[..lines]));
            Labels::load(&path, &LabelOptions::default()).expect("labels");
        }
    }

    /// A file of other labels is not written to, and stays as it is.
    #[test]
    fn what_is_no_file_of_verdicts_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let whole = "{\"id_a\":\"a\",\"id_b\":\"b\",\"grade\":1,\"judged_at\":\"t\"}\n";
        for wrong in [
            "id_a\tid_b\tgrade\na\tb\t1\n".to_owned(),
            "id_a\tid_b\tgrade\na\tb\t1".to_owned(),
            "{\"id_a\":\"a\",\"id_b\":\"b\",\"grade\":1}\n".to_owned(),
            // Whole objects without a line's end are somebody's.
            "{\"id_a\":\"a\",\"id_b\":\"b\",\"grade\":1}".to_owned(),
            "{\"id_a\":\"a\",\"id_b\":\"b\",\"grade\":1}\n{\"id_a\":\"c\",\"id_b\":\"d\",\"grade\":1}"
                .to_owned(),
            "{\"id_a\":\"a\",\"id_b\":\"b\",\"grade\":1}\n{\"id_a\":\"c".to_owned(),
            format!("{whole}{}", whole.trim_end().replace('}', ",\"judge\":\"me\"}")),
            format!("{whole}{{\"id_a\": \"c"),
            whole.replace(":1,", ":2,"),
            format!("{whole}nonsense\n"),
        ] {
            std::fs::write(&path, &wrong).expect("written");
            let Err(Error::Input { reason, .. }) = VerdictFile::open(&path) else {
                panic!("{wrong} is taken")
            };
            assert!(reason.contains("is no verdict"), "{reason}");
            assert_eq!(std::fs::read_to_string(&path).expect("text"), wrong);
        }
        assert!(matches!(VerdictFile::open(folder.path()), Err(Error::Input { .. })));
        // An editor may leave the last line open while the server runs.
        std::fs::write(&path, whole).expect("written");
        let file = opened(&path);
        std::fs::write(&path, whole.trim_end()).expect("written");
        file.add("c", "d", PairVerdict::Same).expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("text").lines().count(), 2);
        // What nobody would find is not written.
        std::fs::remove_file(&path).expect("removed");
        assert!(file.add("c", "d", PairVerdict::Unsure).is_err() && !path.exists());
        assert_eq!(file.last("c", "d"), Some(PairVerdict::Same));
    }
}
