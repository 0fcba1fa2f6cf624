//! What is noted of all documents of the inputs of an output: where each stands, what it is called, and the words of its title.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::notes::{NoteFiles, NoteWriter};
use super::words::{TitleWords, WordIndex, WordRule};
use super::{FoundTitle, MEMORY, TitlesAsked, TitlesFound, shown_title};
use crate::document::{DocumentName, Position};
use crate::error::{Error, Result};
use crate::output::{FinishedRun, KnownDocument, KnownDocuments, PassSink, fields_of, read_all, unit_bytes};
use crate::passages::{RowSorter, SortedRun, one_run};
use crate::progress::{Progress, Stage};
use crate::read::{DocumentSink, FieldPath, Fields, Part, Record, Refusal, RunInputs, Sink, Source, Value};
use crate::simd::Simd;

/// What the rows of documents are sorted by, the words of titles, and the hashes of ids.
const SORTERS: usize = 3;

/// What is noted of a document, beside its place.
#[derive(Debug, Default, Serialize, Deserialize)]
struct InputNote {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<DocumentName<'static>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The bits of the value of the keep policy that is a number: as digits it might change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// By how much the number is above that.
    #[serde(default, skip_serializing_if = "is_nothing")]
    above: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    word: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
}

fn is_nothing(above: &u16) -> bool {
    *above == 0
}

impl InputNote {
    fn value(&self) -> Option<Value> {
        let number = self.number.map(|bits| Value::Number(f64::from_bits(bits), self.above));
        number.or_else(|| self.word.clone().map(Value::Text))
    }
}

/// All documents of the inputs of a run.
pub struct InputIndex {
    inputs: RunInputs,
    /// Position, line within its unit, place of the note.
    documents: SortedRun<3>,
    /// Hash of the id, position.
    ids: SortedRun<2>,
    words: WordIndex,
    notes: NoteFiles,
}

/// Where an index is made, and with what.
pub struct IndexPlace<'a> {
    /// Where its files lie, which have no names.
    pub folder: &'a Path,
    /// Threads.
    pub workers: usize,
    /// Vector instructions.
    pub simd: Simd,
}

impl InputIndex {
    /// Reads all inputs of a run once, which were found again. `title` says where titles are.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Interrupted`], and those of reading.
    pub fn new(
        run: &FinishedRun,
        sources: &[Source],
        title: &FieldPath,
        place: &IndexPlace<'_>,
        progress: &Arc<Progress>,
    ) -> Result<InputIndex> {
        let bytes = sources.iter().map(|source| source.bytes).sum();
        progress.enter(Stage::Read, bytes);
        let fields = Fields { observed: vec![title.clone()], ..fields_of(run)? };
        let mut sources = sources.to_vec();
        sources.iter_mut().for_each(|source| source.stopped_by(progress.stop_flag()));
        let inputs = RunInputs::new(sources, Arc::new(fields), Part::ALL, unit_bytes(bytes));
        let rule = WordRule { fold: run.config.text.fold, simd: place.simd };
        let bytes = MEMORY / SORTERS / place.workers.max(1);
        let sink = |number| {
            Ok(NotingSink {
                documents: RowSorter::new(bytes, place.folder, progress),
                ids: RowSorter::new(bytes, place.folder, progress),
                words: TitleWords::new(rule, bytes, place.folder, progress),
                notes: NoteWriter::new(number, place.folder)?,
                count: 0,
                failed: None,
            })
        };
        let taken = read_all(&inputs, place.workers, &sink, progress)?;
        let held = (MEMORY / SORTERS, place.folder);
        let (mut documents, mut ids, mut words, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for sink in taken {
            documents.extend(sink.documents.finish()?);
            ids.extend(sink.ids.finish()?);
            words.push(sink.words);
            notes.push(sink.notes);
        }
        Ok(InputIndex {
            documents: one_run(&documents, held.0, held.1, progress)?,
            ids: one_run(&ids, held.0, held.1, progress)?,
            words: WordIndex::new(rule, words, held, progress)?,
            notes: NoteFiles::new(notes, place.folder)?,
            inputs,
        })
    }

    /// How many of them have a title.
    pub fn titles(&self) -> u64 {
        self.words.titles()
    }

    /// The name of a source.
    pub fn file(&self, document: &KnownDocument) -> &str {
        &self.inputs.sources[document.position.file() as usize].shown
    }

    /// Documents by words of their titles, in document order.
    ///
    /// # Errors
    /// Those of [`WordIndex::page`].
    pub(in crate::serve) fn with_titles(
        &self,
        asked: TitlesAsked<'_>,
        progress: &Progress,
    ) -> Result<TitlesFound<KnownDocument>> {
        self.words.page(asked, progress, |position| {
            let (document, title) = self.known(self.documents.first([position, 0, 0])?)?;
            Ok(FoundTitle { document, title: title.unwrap_or_default() })
        })
    }

    /// How many documents have an id, as far as it matters whether these are more than one.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn has_repeats(&self, id: &str) -> Result<bool> {
        let mut count = 0;
        self.each_of(id, &mut |_| {
            count += 1;
            count < 2
        })?;
        Ok(count > 1)
    }

    /// The document at a place among all, and its title.
    fn known(&self, at: u64) -> Result<(KnownDocument, Option<String>)> {
        let [position, line, place] = self.documents.row(at)?;
        let (position, note) = (Position::from_bits(position), self.notes.read::<InputNote>(place)?);
        let document = KnownDocument {
            position,
            line: self.inputs.line_at(position, line as u32),
            value: note.value(),
            id: note.id,
            within: note.within,
        };
        Ok((document, note.title))
    }

    /// Hands the documents of an id to `each`, in document order, as long as it says so.
    fn each_of(&self, id: &str, each: &mut dyn FnMut(KnownDocument) -> bool) -> Result<()> {
        let hash = xxh3_64(id.as_bytes());
        for at in self.ids.first([hash, 0])?..self.ids.len() {
            let [found, position] = self.ids.row(at)?;
            if found != hash {
                break;
            }
            let (document, _) = self.known(self.documents.first([position, 0, 0])?)?;
            if document.id.as_deref() == Some(id) && !each(document) {
                break;
            }
        }
        Ok(())
    }
}

impl KnownDocuments for InputIndex {
    fn of_id(&self, id: &str, most: usize) -> Result<Vec<KnownDocument>> {
        let mut found = Vec::new();
        self.each_of(id, &mut |document| {
            found.push(document);
            found.len() < most
        })?;
        Ok(found)
    }

    fn at_line(&self, file: u32, line: u64) -> Result<Option<KnownDocument>> {
        let begin = self.documents.first([Position::new(file, 0).to_bits(), 0, 0])?;
        let (mut low, mut high) =
            (begin, self.documents.first([Position::new(file + 1, 0).to_bits(), 0, 0])?);
        let end = high;
        let line_of = |at: u64| -> Result<u64> {
            let [position, line, _] = self.documents.row(at)?;
            Ok(self.inputs.line_at(Position::from_bits(position), line as u32))
        };
        while low < high {
            let middle = low.midpoint(high);
            if line_of(middle)? < line { low = middle + 1 } else { high = middle }
        }
        Ok(if low < end && line_of(low)? == line { Some(self.known(low)?.0) } else { None })
    }
}

/// A thread that notes documents.
struct NotingSink {
    documents: RowSorter<3>,
    ids: RowSorter<2>,
    words: TitleWords,
    notes: NoteWriter,
    count: u64,
    /// Why nothing more is noted.
    failed: Option<Error>,
}

impl NotingSink {
    fn note(&mut self, record: &Record<'_>) -> Result<()> {
        let title = record.observed.as_ref().and_then(|values| values[0].as_deref());
        let position = record.position.to_bits();
        let (number, above, word) = match &record.value {
            Some(Value::Number(floor, above)) => (Some(floor.to_bits()), *above, None),
            Some(Value::Text(word)) => (None, 0, Some(word.clone())),
            None => (None, 0, None),
        };
        let note = InputNote {
            id: record.id.clone().map(DocumentName::into_owned),
            title: title.map(shown_title),
            number,
            above,
            word,
            within: record.within.as_deref().map(str::to_owned),
        };
        let place = self.notes.add(&note)?;
        self.documents.push([position, u64::from(record.line), place])?;
        if let Some(id) = &record.id {
            self.ids.push([xxh3_64(id.as_bytes()), position])?;
        }
        title.map_or(Ok(()), |title| self.words.add(title, position))
    }
}

impl PassSink for NotingSink {
    fn takes(&mut self, _: usize) -> bool {
        true
    }

    fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl Sink for NotingSink {
    fn document(&mut self, record: &Record<'_>) {
        self.count += 1;
        if self.failed.is_none() {
            self.failed = self.note(record).err();
        }
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}

impl DocumentSink for NotingSink {
    fn documents(&self) -> u64 {
        self.count
    }
}
