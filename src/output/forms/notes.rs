//! What is said of each record: its cluster, how many are in it, who represents it, and whether the record is kept.
//!
//! What was found stands in a file in document order, while records are written: so whoever writes them, in whatever process,
//! reads along with them and holds one note at a time.

use crate::limits::sized;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document::DocumentName;
use crate::error::{Error, Result};
use crate::flow::{Outcome, Reason};
use crate::output::members::{ClusterMember, members};
use crate::similarity::{Measure, ReportedScores};

/// The columns that notes are, where records have columns.
pub(super) const COLUMNS: [&str; 8] = [
    "alike_cluster",
    "alike_size",
    "alike_kept",
    "alike_reason",
    "alike_representative",
    "alike_representative_file",
    "alike_representative_line",
    "alike_resemblance",
];

/// Columns of what decides where that is not the resemblance; of a run there is one at most.
pub(super) const DECIDING: [&str; 6] = [
    "alike_containment",
    "alike_edit_similarity",
    "alike_cosine",
    "alike_shared_features",
    "alike_shared_terms",
    "alike_hamming_distance",
];

/// How many of these are shares; the others are counts.
const SHARES: usize = 3;

/// The column of the protected set that a representative is of, if there are such sets.
pub(super) const AGAINST: &str = "alike_against";

/// Bytes of a note in a file before its JSON.
const HEAD: u64 = 32;

/// The columns that the notes of a run are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NoteColumns {
    /// Which of [`DECIDING`] is one of them.
    deciding: Option<usize>,
    /// Whether [`AGAINST`] is.
    against: bool,
}

impl NoteColumns {
    fn of(outcome: &Outcome) -> NoteColumns {
        let reported = outcome.run.context.rule.map(|rule| rule.last().reported(Measure::equal(1)));
        let deciding = reported.and_then(|shown| deciding(&shown)).map(|(column, _)| column);
        NoteColumns { deciding, against: !outcome.run.documents.protected.is_empty() }
    }

    /// Their names.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let deciding = self.deciding.map(|column| DECIDING[column]);
        COLUMNS.into_iter().chain(deciding).chain(self.against())
    }

    /// The name of the one of protected sets, if there are such.
    pub(super) fn against(self) -> Option<&'static str> {
        self.against.then_some(AGAINST)
    }

    /// The name of the one that decides, and whether it is a share, if it is not the resemblance.
    pub(super) fn deciding(self) -> Option<(&'static str, bool)> {
        self.deciding.map(|column| (DECIDING[column], column < SHARES))
    }
}

/// What decides where that is not the resemblance: its column, and the number.
fn deciding(shown: &ReportedScores) -> Option<(usize, f64)> {
    let count = |count: Option<u64>| count.map(|count| count as f64);
    let all = [
        shown.containment,
        shown.edit_similarity,
        shown.cosine,
        count(shown.shared_features),
        count(shown.shared_terms),
        count(shown.hamming_distance),
    ];
    all.into_iter().enumerate().find_map(|(column, number)| Some((column, number?)))
}

/// What is said of a record, as JSON.
#[derive(Serialize)]
struct NoteRow<'a> {
    cluster: Option<u64>,
    size: u64,
    kept: bool,
    reason: Option<Reason>,
    representative: Option<NotePlace<'a>>,
    #[serde(flatten)]
    shown: ReportedScores,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<NoteSet<&'a str>>,
}

/// The protected set that a representative is of.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NoteSet<T> {
    /// Its name.
    pub(super) set: T,
}

/// Where a representative stands.
#[derive(Serialize)]
struct NotePlace<'a> {
    id: &'a DocumentName<'a>,
    file: &'a str,
    line: u64,
}

/// The same, read back.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NoteCells {
    pub(super) cluster: Option<i64>,
    pub(super) size: Option<i64>,
    pub(super) kept: Option<bool>,
    pub(super) reason: Option<String>,
    pub(super) representative: Option<PlaceCells>,
    pub(super) against: Option<NoteSet<String>>,
}

/// The same, read back.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlaceCells {
    pub(super) id: DocumentName<'static>,
    pub(super) file: String,
    pub(super) line: i64,
}

/// What is said of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note {
    /// The offset of the record in its file.
    offset: u64,
    pub(super) json: Vec<u8>,
    /// Beside it, as reading JSON may change the last digit.
    pub(super) resemblance: Option<f64>,
    /// What decides, if that is something else.
    pub(super) deciding: Option<f64>,
}

impl Note {
    /// What is said of a record that is in no cluster.
    pub(super) fn of_none() -> Note {
        let row = NoteRow {
            cluster: None,
            size: 1,
            kept: true,
            reason: None,
            representative: None,
            shown: ReportedScores::default(),
            against: None,
        };
        Note::saying(serde_json::to_vec(&row).unwrap_or_default())
    }

    /// What is said of a record where no clusters were looked for.
    pub(super) fn saying(json: Vec<u8>) -> Note {
        Note { offset: 0, json, resemblance: None, deciding: None }
    }

    /// Nothing: what an earlier run has said goes, too.
    pub(super) fn silence() -> Note {
        Note::saying(Vec::new())
    }

    /// Bytes that it takes in a file.
    fn length(&self) -> u64 {
        HEAD + self.json.len() as u64
    }

    /// Cell by cell.
    pub(super) fn cells(&self) -> Result<NoteCells> {
        serde_json::from_slice(&self.json)
            .map_err(|error| Error::Worker(format!("a note that this run wrote: {error}")))
    }

    /// The same as text, in the order of the columns.
    pub(super) fn fields(&self, columns: NoteColumns) -> Result<Vec<String>> {
        let NoteCells { cluster, size, kept, reason, representative, against } = self.cells()?;
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        let line = representative.as_ref().map(|place| place.line);
        let PlaceCells { id, file, .. } = representative.unwrap_or_default();
        let kept = kept.map(|kept| kept.to_string()).unwrap_or_default();
        let resemblance = self.resemblance.and_then(|share| serde_json::to_string(&share).ok());
        let mut fields = vec![
            number(cluster),
            number(size),
            kept,
            reason.unwrap_or_default(),
            id.into(),
            file,
            number(line),
            resemblance.unwrap_or_default(),
        ];
        if let Some((_, is_share)) = columns.deciding() {
            let shown = |number: f64| {
                let whole = || Some((number as u64).to_string());
                if is_share { serde_json::to_string(&number).ok() } else { whole() }
            };
            fields.push(self.deciding.and_then(shown).unwrap_or_default());
        }
        if columns.against().is_some() {
            fields.push(against.map(|against| against.set).unwrap_or_default());
        }
        Ok(fields)
    }
}

/// The notes of a run in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NoteFile {
    path: PathBuf,
    /// Where the notes of each source begin that is not protected.
    starts: Vec<u64>,
    columns: NoteColumns,
}

impl NoteFile {
    /// The columns that they are, where records have columns.
    pub(super) fn columns(&self) -> NoteColumns {
        self.columns
    }

    /// Writes what was found out about the documents of clusters to a file in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(folder: &Path, outcome: &Outcome) -> Result<NoteFile> {
        let path = std::path::absolute(folder).map_err(|e| Error::io(folder, "find", e))?.join("notes");
        let failed = |e: io::Error| Error::io(&path, "write", e);
        let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        let mut out = BufWriter::with_capacity(sized(1 << 18, 64), file);
        let (mut at, mut starts) = (0, Vec::new());
        let documents = &outcome.run.documents;
        for member in members(outcome) {
            while starts.len() <= member.position.file() as usize - documents.protected_sources() {
                starts.push(at);
            }
            let note = note(outcome, &member)?;
            let bits = |number: Option<f64>| number.unwrap_or(f64::NAN).to_bits();
            let head = [note.offset, bits(note.resemblance), bits(note.deciding), note.json.len() as u64];
            for number in head {
                out.write_all(&number.to_le_bytes()).map_err(failed)?;
            }
            out.write_all(&note.json).map_err(failed)?;
            at += note.length();
        }
        out.flush().map_err(failed)?;
        starts.resize(documents.own_sources().len() + 1, at);
        Ok(NoteFile { path, starts, columns: NoteColumns::of(outcome) })
    }

    /// The notes of a source.
    pub(super) fn of(&self, source: usize) -> Result<SourceNotes> {
        let file = File::open(&self.path).map_err(|e| Error::io(&self.path, "read", e))?;
        let mut notes = SourceNotes {
            path: self.path.clone(),
            file: BufReader::new(file),
            at: 0,
            end: self.starts[source + 1],
            next: None,
            none: Note::of_none(),
        };
        notes.go_to(self.starts[source])?;
        Ok(notes)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| Error::io(&self.path, "remove", e))
    }
}

/// The notes of a source, in the order of its records.
pub(super) struct SourceNotes {
    path: PathBuf,
    file: BufReader<File>,
    /// Where the note behind the next one is.
    at: u64,
    end: u64,
    next: Option<Note>,
    none: Note,
}

impl SourceNotes {
    /// What is said of the record at an offset, which is behind those asked for before.
    pub(super) fn at(&mut self, offset: u64) -> Result<&Note> {
        self.pass(offset)?;
        Ok(self.next.as_ref().filter(|note| note.offset == offset).unwrap_or(&self.none))
    }

    /// Where the next note is.
    #[cfg(feature = "parquet")]
    pub(super) fn place(&self) -> u64 {
        self.at - self.next.as_ref().map_or(0, Note::length)
    }

    /// Where the first note of a record at or behind an offset is.
    #[cfg(feature = "parquet")]
    pub(super) fn place_of(&mut self, offset: u64) -> Result<u64> {
        self.pass(offset)?;
        Ok(self.place())
    }

    /// Goes on at a place, where a note is, or the end of all.
    pub(super) fn go_to(&mut self, place: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(place)).map_err(|e| Error::io(&self.path, "read", e))?;
        self.at = place;
        self.advance()
    }

    /// Passes over the notes of records before an offset.
    fn pass(&mut self, offset: u64) -> Result<()> {
        while self.next.as_ref().is_some_and(|note| note.offset < offset) {
            self.advance()?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<()> {
        self.next = None;
        if self.at < self.end {
            let note = read(&mut self.file).map_err(|e| Error::io(&self.path, "read", e))?;
            self.at += note.length();
            self.next = Some(note);
        }
        Ok(())
    }
}

fn read(file: &mut impl Read) -> io::Result<Note> {
    let mut number = || {
        let mut bytes = [0; 8];
        file.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    };
    let (offset, resemblance, deciding, length) = (number()?, number()?, number()?, number()?);
    let mut json = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact(&mut json)?;
    let number = |bits: u64| Some(f64::from_bits(bits)).filter(|number| !number.is_nan());
    Ok(Note { offset, json, resemblance: number(resemblance), deciding: number(deciding) })
}

fn note(outcome: &Outcome, member: &ClusterMember<'_>) -> Result<Note> {
    let (documents, shown) = (&outcome.run.documents, member.shown(outcome));
    let representative = member.cluster.representative;
    let set = documents.protected_set(representative);
    let against = set.map(|set| NoteSet { set: &*documents.protected[set].name });
    let representative = NotePlace {
        id: &documents.name(representative)?,
        file: &documents.file(representative),
        line: documents.line(representative)?,
    };
    let row = NoteRow {
        cluster: Some(member.number),
        size: member.cluster.members.len() as u64,
        kept: member.kept,
        reason: member.reason(),
        representative: Some(representative),
        shown,
        against,
    };
    let json = serde_json::to_vec(&row).map_err(|error| Error::Worker(error.to_string()))?;
    let (offset, resemblance) = (member.position.offset(), shown.resemblance);
    Ok(Note { offset, json, resemblance, deciding: deciding(&shown).map(|(_, number)| number) })
}
