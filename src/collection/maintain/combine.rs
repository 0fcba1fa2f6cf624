//! Several neighbouring runs written as one, row by row.
//!
//! A run can have one section open at a time, so the values of a heap cannot be written beside the rows that say where
//! they begin, and to remember where each begins would be memory for each row. Instead the table is read twice: once
//! to copy the values in the order of the rows, once to write the rows, whose starts then follow from the lengths.

use std::path::Path;

use crate::collection::maintain::copied_tokens::CopiedTokens;
use crate::collection::maintain::live::Live;
use crate::collection::maintain::merged_rows::{MergedRow, MergedRows, Range, ReadValue, Stays};
use crate::collection::maintain::new_keys::NewKeys;
use crate::collection::run::schema::{
    CLUSTERS, COMPONENTS, CONTENTS, DEAD, DIGESTS, DOCUMENTS, LABELS, LEXICON, LINKS, MEMBERS, PARITIES,
    POSTINGS, RARITY, RECORDS, SCOPES, SEEN, SETS, SIGNATURES, SOURCES, TEXTS, Table,
};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::frozen::packed_rarity;
use crate::collection::tables::postings::size_and_content;
use crate::collection::tables::records::blocks::{RecordBlocks, RecordCursor};
use crate::collection::tables::rows::{
    StoredCluster, StoredComponent, StoredContent, StoredDigest, StoredLink, StoredMember, StoredRecord,
    StoredScope, StoredSignature, StoredText,
};
use crate::collection::tables::run_cursors::RunCursors;
use crate::collection::tables::sources::{SourceEntry, name_words};
use crate::collection::tables::tokens::{TokenCursor, TokenWriter};
use crate::collection::{HeapCursor, HeapReader, SectionKind};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;

/// The tables without heaps.
const PLAIN: [(Table, Stays); 10] = [
    (CONTENTS, |row, live| live.contents.has(StoredContent::of_row(row).content)),
    (DIGESTS, |row, live| live.contents.has(StoredDigest::of_row(row).content)),
    (POSTINGS, |row, live| live.contents.has(u64::from(size_and_content(row).1))),
    (MEMBERS, |row, live| {
        let member = StoredMember::of_row(row);
        live.contents.has(member.content) && (member.is || live.shadows_others)
    }),
    (SCOPES, |row, live| live.contents.has(StoredScope::of_row(row).content)),
    (LINKS, |row, live| {
        let link = StoredLink::of_row(row);
        live.contents.has(link.content) && live.contents.has(link.other)
    }),
    (COMPONENTS, |row, live| {
        let component = StoredComponent::of_row(row);
        live.contents.has(component.content) && (component.is || live.shadows_others)
    }),
    (CLUSTERS, |row, _| StoredCluster::of_row(row).1.documents > 0),
    // Nothing is left of those who are dead, and nobody asks any more what a load has mentioned.
    (DEAD, |_, _| false),
    (SEEN, |_, _| false),
];

/// A table whose rows say where a value begins in a heap.
struct Heaped {
    table: Table,
    stays: Stays,
    /// The column that says where the value begins.
    start: usize,
    /// The words of the value of a row.
    words: fn(&[u64]) -> usize,
}

/// By heap: of one heap there is one section, which values of several tables share.
const HEAPED: [(SectionKind, &[Heaped]); 2] = [
    (
        LABELS,
        &[
            Heaped {
                table: DOCUMENTS,
                stays: |row, live| live.versions.has(u64::from(Document::of_row(row).version)),
                start: Document::LABEL,
                words: |row| {
                    let (id, value) = Document::of_row(row).lengths;
                    (id as usize + value as usize).div_ceil(8)
                },
            },
            Heaped {
                table: SOURCES,
                stays: |row, live| live.files.has(SourceEntry::file_of(row)),
                start: SourceEntry::NAMES,
                words: name_words,
            },
        ],
    ),
    (
        PARITIES,
        &[Heaped {
            table: SIGNATURES,
            stays: |row, live| live.contents.has(StoredSignature::of_row(row).content),
            start: StoredSignature::START,
            words: |row| StoredSignature::of_row(row).words as usize,
        }],
    ),
];

/// The sets of texts, where they are not derived from tokens.
const SETS_OF_TEXTS: &[Heaped] = &[Heaped {
    table: TEXTS,
    stays: text_stays,
    start: StoredText::START,
    words: |row| StoredText::of_row(row).size as usize,
}];

fn record_stays(row: &[u64], live: &Live) -> bool {
    live.versions.has(StoredRecord::of_row(row).version)
}

fn text_stays(row: &[u64], live: &Live) -> bool {
    live.contents.has(StoredText::of_row(row).content)
}

/// Writes the runs of `tables`, neighbours, into `run`, of a collection of this configuration: of each key of a range the newest row. `live` is given if no older
/// run is left: then nothing has to be shadowed any more, and all that is gone is left out. If these are all runs of the collection, a folder for
/// spill files may be given: then keys are made anew where another rarity table is better.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
pub fn combine(
    run: RunWriter,
    config: &Config,
    (tables, range): (&Tables, Range),
    live: Option<&Live>,
    spills: Option<&Path>,
    progress: &Progress,
) -> Result<RunSummary> {
    let rows = MergedRows { tables, range, live, only: None, progress };
    let new_keys = spills.map(|_| NewKeys::if_better(rows, config, text_stays));
    let new_keys = new_keys.transpose()?.flatten();
    let mut combining = Combining { run, rows };
    combining.run.tell(progress);
    for kind in [RARITY, LEXICON].into_iter().filter(|_| range.is_first()) {
        if let Some(new_keys) = new_keys.as_ref().filter(|_| kind == RARITY) {
            combining.run.heap(kind)?;
            combining.run.push(&packed_rarity(new_keys.rarity())?)?;
        } else if let Some(table) = tables.runs.iter().find_map(|run| run.heap(kind)) {
            combining.run.heap(kind)?;
            combining.copy_whole(table)?;
        }
    }
    for (heap, tables) in HEAPED {
        combining.heaped(heap, tables)?;
    }
    combining.records()?;
    match config.sketched_by_tokens() {
        Some(ngram) => combining.tokens(ngram)?,
        None => combining.heaped(SETS, SETS_OF_TEXTS)?,
    }
    for of in PLAIN {
        combining.run.rows(of.0.kind, of.0.shape)?;
        match new_keys.as_ref().zip(spills).filter(|_| of.0.kind == POSTINGS.kind) {
            Some((new_keys, folder)) => new_keys.write(&mut combining.run, range, folder)?,
            None => combining.each(of, &mut |run, row| run.push(row))?,
        }
    }
    combining.run.finish()
}

/// Words copied between two looks at whether to stop.
const STEP: usize = sized(1 << 14, 7);

struct Combining<'a> {
    run: RunWriter,
    rows: MergedRows<'a>,
}

impl Combining<'_> {
    fn copy_whole(&mut self, heap: &HeapReader) -> Result<()> {
        let mut words = Vec::new();
        for start in (0..heap.len()).step_by(STEP) {
            self.rows.progress.check()?;
            words.clear();
            heap.read(start, (heap.len() - start).min(STEP as u64) as usize, &mut words)?;
            self.run.push(&words)?;
        }
        Ok(())
    }

    /// Writes a heap, and the tables whose values are in it.
    fn heaped(&mut self, heap: SectionKind, tables: &'static [Heaped]) -> Result<()> {
        self.run.heap(heap)?;
        for of in tables {
            let reader = || value_of_heap(heap, of);
            let (mut value, mut words) = (reader(), Vec::new());
            let Combining { run, rows } = self;
            rows.each_read((of.table, of.stays), &reader, &mut |row| match row {
                MergedRow::Read(words) => run.push(words),
                MergedRow::Found(row, from) => {
                    words.clear();
                    value(row, from, usize::MAX, &mut words)?;
                    run.push(&words)
                }
            })?;
        }
        let (mut start, mut new) = (0, Vec::new());
        for of in tables {
            self.run.rows(of.table.kind, of.table.shape)?;
            self.each((of.table, of.stays), &mut |run, row| {
                new.clear();
                new.extend_from_slice(row);
                new[of.start] = start;
                start += (of.words)(row) as u64;
                run.push(&new)
            })?;
        }
        Ok(())
    }

    /// Writes records anew in blocks of this run, and where they are.
    fn records(&mut self) -> Result<()> {
        let mut blocks = RecordBlocks::begin(&mut self.run)?;
        let mut cursors = RunCursors::<RecordCursor>::default();
        let Combining { run, rows } = self;
        rows.each((RECORDS, record_stays), &mut |row, from| {
            let record = StoredRecord::of_row(row);
            // One without bytes begins anywhere.
            if record.bytes == 0 {
                return Ok(());
            }
            cursors.of(from, record.place.start).each_part(from, &record, &mut |part| blocks.push(part, run))
        })?;
        blocks.finish(&mut self.run)?;
        let mut before = 0;
        self.run.rows(RECORDS.kind, RECORDS.shape)?;
        self.each((RECORDS, record_stays), &mut |run, row| {
            let record = StoredRecord { place: blocks.place(before), ..StoredRecord::of_row(row) };
            before += record.bytes;
            run.push(&record.to_row())
        })
    }

    /// Writes the tokens of texts and the texts: with their vocabularies what is whole, and what is left of others anew.
    fn tokens(&mut self, ngram: usize) -> Result<()> {
        let mut writer = TokenWriter::begin(ngram, &mut self.run)?;
        let Combining { run, rows } = self;
        let of = (TEXTS, text_stays as Stays);
        let copied = CopiedTokens::copy(*rows, of, (&mut writer, run))?;
        if !copied.are_all {
            let is_left = |source, row: &[u64]| !copied.has(source, &StoredText::of_row(row));
            let mut cursors = RunCursors::<TokenCursor>::default();
            let left = MergedRows { only: Some(&is_left), ..*rows };
            left.each_read(of, &tokens_of_text, &mut |row| match row {
                MergedRow::Read(tokens) => writer.push(tokens, run),
                MergedRow::Found(row, from) => {
                    let text = StoredText::of_row(row);
                    writer.push(cursors.of(from, text.start).tokens(from, &text)?, run)?;
                    // The next long one is looked at before it comes here.
                    cursors.rest();
                    Ok(())
                }
            })?;
        }
        writer.finish(run)?;
        let mut places = writer.places();
        run.rows(TEXTS.kind, TEXTS.shape)?;
        rows.each_of_source(of, &mut |row, source| {
            let mut text = StoredText::of_row(row);
            match copied.start(source, &text) {
                Some(start) => text.start = start,
                None => text.put(places.next().expect("each text has been written")),
            }
            run.push(&text.to_row())
        })
    }

    /// Hands on the rows that stay.
    fn each(
        &mut self,
        of: (Table, Stays),
        each: &mut dyn FnMut(&mut RunWriter, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let Combining { run, rows } = self;
        rows.each_row(of, &mut |row| each(run, row))
    }
}

/// Reads the values of rows in a heap.
fn value_of_heap(heap: SectionKind, of: &'static Heaped) -> ReadValue {
    let mut cursor = HeapCursor::default();
    Box::new(move |row, from, most, words| {
        let (start, count) = (row[of.start], (of.words)(row));
        if count > most {
            return Ok(false);
        }
        let heap = from.heap(heap);
        let heap = heap.ok_or_else(|| Error::damaged(from.path(), 0, "rows without their heap"))?;
        cursor.read(heap, start, count, words).map(|()| true)
    })
}

/// Reads the tokens of texts.
fn tokens_of_text() -> ReadValue {
    let mut cursors = RunCursors::<TokenCursor>::default();
    Box::new(move |row, from, most, words| {
        let text = StoredText::of_row(row);
        let tokens = cursors.of(from, text.start).tokens(from, &text)?;
        let fits = tokens.len() <= most;
        match fits {
            true => words.extend_from_slice(tokens),
            false => cursors.rest(),
        }
        Ok(fits)
    })
}
