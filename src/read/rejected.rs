//! What was refused, for people: the file, the place in it, and why.

use std::fmt;
use std::path::{Path, PathBuf};

use super::format::Numbering;
use super::formats::codec;
use super::record::Refusal;
use super::source::Source;
use crate::document::Position;
use crate::error::{Error, Result};

/// A record that is not a document, as a reader of a unit found it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Refused {
    /// Where the record stands.
    pub position: Position,
    /// Its line, counted from 1 within its unit.
    pub line: u32,
    /// Why.
    pub refusal: Refusal,
}

impl Refused {
    /// The same, ready to be shown: `line` is its line in the file `source`.
    pub fn rejected(&self, source: &Source, line: u64) -> Rejected {
        let (file, offset) = (source.shown.clone(), self.position.offset());
        Rejected {
            file,
            line,
            offset,
            counted: codec(source.format).numbering(),
            reason: self.refusal.to_string(),
            no_text: matches!(self.refusal, Refusal::NoTextIn(_)),
            records: self.records(),
        }
    }

    /// How many records it tells of, as far as that is known.
    pub fn records(&self) -> u64 {
        match self.refusal {
            Refusal::Rows { rows, .. } => rows.max(1),
            _ => 1,
        }
    }
}

/// A refused record or file, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// The file.
    pub file: String,
    /// Line of the record, or its row, from 1; 0 for a file as a whole.
    pub line: u64,
    /// What the line counts.
    #[serde(default, skip_serializing_if = "Numbering::is_lines")]
    pub counted: Numbering,
    /// Offset of the record in the decompressed file.
    pub offset: u64,
    /// Why.
    pub reason: String,
    /// Whether it is a record without text, as files of its format have them, and so no sign of a wrong input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_text: bool,
    /// How many records it tells of, as far as that is known.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub records: u64,
}

fn one() -> u64 {
    1
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

impl Rejected {
    /// Those that are a sign of a wrong input.
    pub fn wrong(rejected: &[Rejected]) -> impl Iterator<Item = &Rejected> {
        rejected.iter().filter(|rejected| !rejected.no_text)
    }

    /// How many records refusals tell of.
    pub fn records<'a>(rejected: impl IntoIterator<Item = &'a Rejected>) -> u64 {
        rejected.into_iter().map(|rejected| rejected.records).fold(0, u64::saturating_add)
    }

    /// Whether nothing that stands behind it in its file was read.
    pub fn ends_file(&self) -> bool {
        let reason = &self.reason;
        reason.contains("nothing from here on was read") || reason.starts_with("cannot be read")
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rejected { file, line, counted, reason, .. } = self;
        match (line, counted) {
            (0, _) => write!(f, "{file}: {reason}"),
            (line, Numbering::Lines) => write!(f, "{file}, line {line}: {reason}"),
            (row, Numbering::Rows) => write!(f, "{file}, row {row}: {reason}"),
            (message, Numbering::Messages) => write!(f, "{file}, message {message}: {reason}"),
            (member, Numbering::Members) => write!(f, "{file}, member {member}: {reason}"),
            (record, Numbering::Records) => write!(f, "{file}, record {record}: {reason}"),
        }
    }
}

/// How many records of an input were refused, and what was wrong with the first.
#[derive(Clone, Debug, Default)]
pub struct RefusedCount {
    records: u64,
    first: Option<String>,
}

impl RefusedCount {
    /// That of a list.
    pub fn of<'a>(rejected: impl IntoIterator<Item = &'a Rejected>) -> RefusedCount {
        let mut count = RefusedCount::default();
        rejected.into_iter().for_each(|rejected| count.add(rejected));
        count
    }

    /// Counts what is refused next.
    pub fn add(&mut self, rejected: &Rejected) {
        self.records = self.records.saturating_add(rejected.records);
        self.first.get_or_insert_with(|| rejected.to_string());
    }

    /// Refuses an input of which more than so many of a hundred records were refused; `documents` were not.
    ///
    /// # Errors
    /// [`Error::Refused`] for the `reason`.
    pub fn allow(&self, percent: u64, documents: u64, reason: impl FnOnce() -> String) -> Result<()> {
        let Some(first) = &self.first else { return Ok(()) };
        let records = documents.saturating_add(self.records);
        if u128::from(self.records) * 100 <= u128::from(records) * u128::from(percent) {
            return Ok(());
        }
        Err(Error::Refused { rejected: self.records, records, reason: reason(), first: first.clone() })
    }
}

/// Bytes that a refused record takes until it is written, as it was found and as it is shown, beside the name of its file.
const REFUSED: u64 = 1 << 10;
/// One part in so many of the memory is for refused records: of each process, and of a load.
const PART: u64 = 4;

/// How many refused records a process has room to tell of, of files with names of up to so many bytes.
pub fn most_refused(memory: Option<u64>, name: usize) -> usize {
    let most = memory.map_or(u64::MAX, |memory| memory / PART / (REFUSED + name as u64));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Refuses an input of which so many records are refused that there is no room to tell of them; the last of them is `last`.
///
/// # Errors
/// [`Error::Input`]: to read less at a time would not help.
pub fn allow_refused(
    held: usize,
    (memory, name): (Option<u64>, usize),
    last: impl FnOnce() -> Option<Rejected>,
) -> Result<()> {
    let most = most_refused(memory, name);
    if held <= most {
        return Ok(());
    }
    let memory = memory.unwrap_or(u64::MAX) >> 20;
    let what = format!(
        "more than {most} records are refused, and the memory allowed, {memory} MiB, has no room to list them: mend the input, name its \
         fields (--text-field), or allow more with --memory"
    );
    Err(match last() {
        Some(last) => Error::input(Path::new(&last.file), format!("{}; {what}", last.reason)),
        None => Error::input(Path::new("all inputs"), what),
    })
}

/// Files that could not be opened.
pub fn unread(unreadable: &[(PathBuf, String)]) -> Vec<Rejected> {
    let file = |(path, why): &(PathBuf, String)| Rejected {
        file: path.display().to_string(),
        line: 0,
        counted: Numbering::default(),
        offset: 0,
        reason: format!("cannot be read: {why}"),
        no_text: false,
        records: 1,
    };
    unreadable.iter().map(file).collect()
}
