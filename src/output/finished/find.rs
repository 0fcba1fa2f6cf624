//! Single documents of the inputs of a finished run, found in one pass: by id, and by file and line.

use crate::limits::sized;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::document::{FinishedDocument, KnownDocuments, PlaceInFile, PlaceKind};
use super::folder::FinishedRun;
use super::lists::FinishedMember;
use super::pass::{PassSink, read_all};
use super::record::InputRow;
use crate::document::{DocumentName, Position};
use crate::error::Result;
use crate::method::FrozenTables;
use crate::progress::{Progress, Stage};
use crate::read::{
    Day, DocumentSink, FieldPath, Fields, Part, Record, Refusal, RunInputs, Sink, Source, Unit,
};
use crate::simd::Simd;
use crate::sketcher::Sketcher;

/// Stretches that inputs are cut into, unless these would be too short or too long, and the bounds of their bytes.
const UNITS: u64 = 256;
const UNIT: (u64, u64) = sized((256 << 10, 1 << 20), (100, 1 << 10));
/// Texts of documents of one id that a worker keeps: of two or more nobody shows any.
pub(super) const TEXTS: usize = 2;
/// Documents of one id that are found at most: whoever asks is told that there are as many, and names one by its place.
pub const MOST_OF_ID: usize = sized(1000, 3);

impl FinishedRun {
    /// The place that `FILE:LINE` names, if the run read such a file or may have had it from a collection: in the file of the run,
    /// if both have the name.
    pub fn place(&self, text: &str) -> Option<PlaceInFile> {
        let (file, line) = text.rsplit_once(':')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        let has = |is: &dyn Fn(&InputRow) -> bool| self.inputs.iter().any(is);
        let at = if has(&|row| row.file == file && !row.stream && !row.collection) {
            PlaceKind::Input
        } else if has(&|row| row.file == file && row.stream) {
            PlaceKind::Stream
        } else if has(&|row| row.collection) {
            PlaceKind::Collection
        } else {
            return None;
        };
        Some(PlaceInFile { file: file.to_owned(), line, at })
    }

    /// The place that lists name of a document, which is of a protected set or of none.
    pub(super) fn listed_place(&self, file: String, line: u64, set: Option<&str>) -> PlaceInFile {
        let is_it = |row: &&InputRow| row.file == file && !row.collection && row.against.as_deref() == set;
        let at = match self.inputs.iter().find(is_it) {
            Some(row) if row.stream => PlaceKind::Stream,
            Some(_) => PlaceKind::Input,
            None if set.is_some() => PlaceKind::Collection,
            // Of a list that was written by hand; it is looked for, and not found.
            None => PlaceKind::Input,
        };
        PlaceInFile { file, line, at }
    }

    /// The number of a file among all inputs, by which documents are in order; of a file that was loaded into a collection that of
    /// the first collection.
    fn number_of(&self, file: &str) -> usize {
        let number = |is: &dyn Fn(&InputRow) -> bool| self.inputs.iter().position(is);
        number(&|row| row.file == file).or_else(|| number(&|row| row.collection)).unwrap_or_default()
    }

    /// The protected set that a source is of.
    pub fn set_of(&self, source: &Source) -> Option<&str> {
        self.inputs.get(self.number_of(&source.shown)).and_then(|row| row.against.as_deref())
    }

    /// A document that is not at hand, as the lists have it.
    pub fn listed(&self, member: &FinishedMember, place: &PlaceInFile) -> FinishedDocument {
        let has_id = *member.name != *place.to_string();
        FinishedDocument {
            id: has_id.then(|| member.name.clone()),
            place: place.clone(),
            position: Position::new(self.number_of(&place.file) as u32, place.line.min(u32::MAX.into())),
            text: None,
            text_bytes: 0,
            day: Day::None,
            value: None,
            within: None,
            digest: None,
            set: member.set.clone(),
            preference: 0,
        }
    }
}

/// Finding documents of a finished run.
pub struct FinishedFind<'a> {
    /// The run.
    pub run: &'a FinishedRun,
    /// Its inputs, as they were found again, protected ones first.
    pub sources: &'a [Source],
    /// What texts are sketched by.
    pub tables: &'a FrozenTables,
    /// Threads.
    pub workers: usize,
    /// Vector instructions.
    pub simd: Simd,
    /// Who has seen all documents of the inputs, if somebody has: then single ones are found without reading all.
    pub known: Option<&'a dyn KnownDocuments>,
}

impl FinishedFind<'_> {
    /// Documents of these ids, with their texts, and at these places, with their texts where that is true; in document order.
    /// Where many have one id, some come without a text, and only the first [`MOST_OF_ID`] of them come.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`], and [`crate::error::Error::Io`].
    pub fn find(
        &self,
        ids: &BTreeSet<String>,
        places: &BTreeMap<PlaceInFile, bool>,
        progress: &Progress,
    ) -> Result<Vec<FinishedDocument>> {
        let fields = Arc::new(fields_of(self.run)?);
        if let Some(known) = self.known {
            return self.find_known(known, (ids, places), &fields, progress);
        }
        let mut sources = self.sources.to_vec();
        if ids.is_empty() {
            sources.retain(|source| places.keys().any(|place| place.file == source.shown));
        }
        let lines_of = |source: &Source| -> BTreeMap<u64, bool> {
            let of = places.iter().filter(|(place, _)| place.file == source.shown);
            of.map(|(place, text)| (place.line, *text)).collect()
        };
        let wanted: Vec<BTreeMap<u64, bool>> = sources.iter().map(lines_of).collect();
        let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
        progress.enter(Stage::Read, bytes);
        sources.iter_mut().for_each(|source| source.stopped_by(progress.stop_flag()));
        let inputs = RunInputs::new(sources, fields, Part::ALL, unit_bytes(bytes));
        let mut found = self.pass(&inputs, ids, &WantedLines::Head(&wanted), progress)?;
        let behind = lines_behind(&inputs, &wanted, &found);
        if !behind.is_empty() {
            found.extend(self.pass(&inputs, &BTreeSet::new(), &WantedLines::Units(&behind), progress)?);
        }
        // Of one that was found twice the one with a text.
        found.sort_by_key(|found| (found.position, found.document.text.is_none()));
        found.dedup_by_key(|found| found.position);
        // Each thread has brought its first ones.
        let mut of_ids = CountedIds::default();
        found.retain(|LocatedRecord { position, line, document }| {
            let number = document.id.as_deref().and_then(|id| of_ids.number(ids, id));
            let is_placed = wanted[position.file() as usize].contains_key(&inputs.line_at(*position, *line));
            is_placed || number.is_none_or(|number| number <= MOST_OF_ID)
        });
        Ok(found.into_iter().map(|found| self.document(found, &inputs)).collect())
    }

    /// Reads units with several threads.
    fn pass(
        &self,
        inputs: &RunInputs,
        ids: &BTreeSet<String>,
        asked: &WantedLines<'_>,
        progress: &Progress,
    ) -> Result<Vec<LocatedRecord>> {
        let sink = |_| {
            let sketcher = Sketcher::new(&self.run.config, self.tables, self.simd);
            let (lines, found) = (BTreeMap::new(), Vec::new());
            Ok(FindSink {
                inputs,
                asked,
                ids,
                lines,
                sketcher,
                found,
                documents: 0,
                texts: 0,
                of_ids: CountedIds::default(),
            })
        };
        let read = read_all(inputs, self.workers, &sink, progress)?;
        Ok(read.into_iter().flat_map(|sink| sink.found).collect())
    }

    fn document(&self, found: LocatedRecord, inputs: &RunInputs) -> FinishedDocument {
        let source = &inputs.sources[found.position.file() as usize];
        let place = PlaceInFile {
            file: source.shown.clone(),
            line: inputs.line_at(found.position, found.line),
            at: PlaceKind::Input,
        };
        self.of_source(FinishedDocument { place, ..found.document }, source)
    }

    /// Adds to a document what is known of its source.
    pub(super) fn of_source(&self, document: FinishedDocument, source: &Source) -> FinishedDocument {
        let number = self.run.number_of(&source.shown);
        FinishedDocument {
            position: Position::new(number as u32, document.position.offset()),
            set: self.run.set_of(source).map(str::to_owned),
            preference: source.preference,
            within: match self.run.config.input.is_within_files() {
                true => Some(source.shown.clone()),
                false => document.within,
            },
            ..document
        }
    }
}

/// What questions about a run read of records.
///
/// # Errors
/// [`crate::error::Error::Config`] of a configuration that no run can have.
pub fn fields_of(run: &FinishedRun) -> Result<Fields> {
    let value = run.config.cluster.keep.field().map(FieldPath::parse).transpose()?;
    Ok(Fields { value, ..Fields::of(&run.config.input)? })
}

/// About how many bytes a unit has of so many.
pub fn unit_bytes(bytes: u64) -> u64 {
    (bytes / UNITS).clamp(UNIT.0, UNIT.1)
}

/// Which lines are asked for.
enum WantedLines<'a> {
    /// Those of each file, as far as they are in its first unit: of others the number of lines before them is not known yet.
    Head(&'a [BTreeMap<u64, bool>]),
    /// Those of some units, counted from their beginnings.
    Units(&'a BTreeMap<usize, BTreeMap<u64, bool>>),
}

/// The lines that stand behind the first units of their files, by unit, now that the lines of all units are known.
fn lines_behind(
    inputs: &RunInputs,
    wanted: &[BTreeMap<u64, bool>],
    found: &[LocatedRecord],
) -> BTreeMap<usize, BTreeMap<u64, bool>> {
    // What was found by its id needs no second look.
    let known: BTreeSet<(u32, u64)> = found
        .iter()
        .filter(|found| found.document.text.is_some())
        .map(|found| (found.position.file(), inputs.line_at(found.position, found.line)))
        .collect();
    let lines: BTreeMap<u64, u64> = inputs.units_read().collect();
    let mut behind: BTreeMap<usize, BTreeMap<u64, bool>> = BTreeMap::new();
    let (mut file, mut before) = (u32::MAX, 0);
    for (at, unit) in inputs.units.iter().enumerate() {
        if unit.file != file {
            (file, before) = (unit.file, 0);
        }
        let own = lines.get(&(at as u64)).copied().unwrap_or_default();
        if unit.start > 0 {
            let here = wanted[file as usize].range(before + 1..before + 1 + own);
            for (line, text) in here.filter(|(line, _)| !known.contains(&(file, **line))) {
                behind.entry(at).or_default().insert(line - before, *text);
            }
        }
        before += own;
    }
    behind
}

/// A document that was found, before the lines of its file are all known.
struct LocatedRecord {
    position: Position,
    line: u32,
    document: FinishedDocument,
}

/// A worker that looks for documents.
struct FindSink<'a> {
    inputs: &'a RunInputs,
    asked: &'a WantedLines<'a>,
    ids: &'a BTreeSet<String>,
    /// Lines of the unit that is read, and whether their texts are wanted.
    lines: BTreeMap<u64, bool>,
    sketcher: Sketcher,
    found: Vec<LocatedRecord>,
    documents: u64,
    /// Texts that were kept for their ids.
    texts: usize,
    /// Documents that were found by each id. Units come in ascending order, so these are the first.
    of_ids: CountedIds,
}

/// How many documents there were of each id that is asked for.
#[derive(Default)]
struct CountedIds(BTreeMap<String, usize>);

impl CountedIds {
    /// The number of a document among those of its id, from 1, if the id is asked for.
    fn number(&mut self, ids: &BTreeSet<String>, id: &str) -> Option<usize> {
        if !ids.contains(id) {
            return None;
        }
        if !self.0.contains_key(id) {
            self.0.insert(id.to_owned(), 0);
        }
        let count = self.0.get_mut(id)?;
        *count += 1;
        Some(*count)
    }
}

impl PassSink for FindSink<'_> {
    fn takes(&mut self, unit: usize) -> bool {
        let Unit { file, start, .. } = self.inputs.units[unit];
        let lines = match self.asked {
            WantedLines::Head(wanted) if start == 0 => Some(&wanted[file as usize]),
            WantedLines::Head(_) => None,
            WantedLines::Units(lines) if !lines.contains_key(&unit) => return false,
            WantedLines::Units(lines) => lines.get(&unit),
        };
        self.lines = lines.cloned().unwrap_or_default();
        true
    }

    fn check(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Sink for FindSink<'_> {
    fn document(&mut self, record: &Record<'_>) {
        self.documents += 1;
        let by_line = self.lines.get(&u64::from(record.line)).copied();
        let id = if self.ids.is_empty() { None } else { record.id.as_deref() };
        let number = id.and_then(|id| self.of_ids.number(self.ids, id));
        let by_id = number.is_some_and(|number| number <= MOST_OF_ID);
        if by_line.is_none() && !by_id {
            return;
        }
        let room = by_id && self.texts < TEXTS * self.ids.len();
        self.texts += usize::from(room);
        let text = (room || by_line == Some(true)).then(|| record.text.to_owned());
        let digest = self.sketcher.read(record.text, record.day);
        self.found.push(LocatedRecord {
            position: record.position,
            line: record.line,
            document: FinishedDocument {
                id: record.id.clone().map(DocumentName::into_owned),
                place: PlaceInFile { file: String::new(), line: 0, at: PlaceKind::Input },
                position: record.position,
                text,
                text_bytes: record.text.len() as u64,
                day: record.day,
                value: record.value.clone(),
                within: record.within.as_deref().map(str::to_owned),
                digest,
                set: None,
                preference: 0,
            },
        });
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}

impl DocumentSink for FindSink<'_> {
    fn documents(&self) -> u64 {
        self.documents
    }
}
