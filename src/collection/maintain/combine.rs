//! Several neighbouring runs written as one, row by row.
//!
//! A run can have one section open at a time, so the values of a heap cannot be written beside the rows that say where
//! they begin, and to remember where each begins would be memory for each row. Instead the table is read twice: once
//! to copy the values in the order of the rows, once to write the rows, whose starts then follow from the lengths.

use crate::collection::commit::manifest::Manifest;
use crate::collection::run::merge::Merge;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{
    CLUSTERS, COMPONENTS, CONTENTS, DEAD, DIGESTS, DOCUMENTS, LABELS, LEXICON, LINKS, MEMBERS, PARITIES,
    POSTINGS, RARITY, RECORDS, SCOPES, SEEN, SETS, SIGNATURES, SOURCES, TEXTS, Table,
};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::document::Document;
use crate::collection::tables::postings::{PostingForm, size_and_content};
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
use crate::document::Position;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::peers::Peers;
use crate::progress::Progress;

/// What live documents refer to: a bit for each content, record and file there ever was.
#[derive(Debug)]
pub struct Live {
    contents: Bits,
    versions: Bits,
    files: Bits,
    /// Whether other processes may have rows that say what is true no more: only they know which.
    shadows_others: bool,
}

impl Live {
    /// What is live in a commit, given all its tables.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn of(tables: &Tables, manifest: &Manifest) -> Result<Live> {
        let next = u64::from(manifest.next_content);
        let mut live = Live {
            contents: Bits::below(next),
            versions: Bits::below(next),
            files: Bits::below(u64::from(manifest.next_file)),
            shadows_others: false,
        };
        let mut rows = tables.scan(CONTENTS);
        while let Some(row) = rows.next_row()? {
            let content = StoredContent::of_row(row);
            if content.is_live() {
                live.contents.add(content.content);
            }
        }
        let mut rows = tables.scan(DOCUMENTS);
        while let Some(row) = rows.next_row()? {
            let document = Document::of_row(row);
            if document.live {
                live.versions.add(u64::from(document.version));
                live.files.add(u64::from(Position::from_bits(document.position).file()));
            }
        }
        Ok(live)
    }
}

impl Live {
    /// The same, where other processes keep rows that those of process 0 shadow.
    pub fn shadowing_others(self, shadows_others: bool) -> Live {
        Live { shadows_others, ..self }
    }

    /// Tells it to all other processes, in process 0.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`].
    pub fn tell(&self, peers: &Peers) -> Result<()> {
        [&self.contents, &self.versions, &self.files]
            .iter()
            .try_for_each(|bits| peers.broadcast_bytes(bits.to_bytes()))
    }

    /// What process 0 tells.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`].
    pub fn hear(peers: &Peers) -> Result<Live> {
        let [contents, versions, files] =
            [(); 3].map(|()| peers.receive_bytes().map(|bytes| Bits::of_bytes(&bytes)));
        Ok(Live { contents: contents?, versions: versions?, files: files?, shadows_others: false })
    }
}

/// Whether a row still says anything, if there is no older row that it has to shadow.
type Stays = fn(&[u64], &Live) -> bool;

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

/// Of every table the rows of one range of its keys: all ranges of a share are alike in size.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Which of them.
    pub part: u64,
    /// How many there are.
    pub parts: u64,
    /// What keys that are no hashes are below: contents and records, labels, and files.
    below: [u64; 3],
    /// What keys of postings are below.
    postings: u128,
}

impl Range {
    /// All rows.
    pub const ALL: Range = Range { part: 0, parts: 1, below: [0; 3], postings: 0 };

    /// Range number `part` of so many, of the tables of a commit.
    pub fn of(manifest: &Manifest, part: usize, parts: usize) -> Range {
        let below = [manifest.next_content, manifest.next_label, manifest.next_file];
        Range {
            part: part as u64,
            parts: parts as u64,
            below: below.map(u64::from),
            postings: PostingForm::of(&manifest.config).keys(),
        }
    }

    /// Where range number `part` of a table begins; none for the end of the last.
    fn start(&self, table: Table, part: u64) -> Option<u64> {
        let [contents, labels, files] = self.below.map(u128::from);
        let space = match table.kind {
            kind if [DOCUMENTS.kind, DIGESTS.kind, SEEN.kind].contains(&kind) => 1 << 64,
            kind if [COMPONENTS.kind, CLUSTERS.kind].contains(&kind) => labels,
            kind if kind == POSTINGS.kind => self.postings,
            kind if kind == SOURCES.kind => files,
            _ => contents,
        };
        (part < self.parts).then(|| (space * u128::from(part) / u128::from(self.parts)) as u64)
    }

    fn scan(&self, tables: &Tables, table: Table) -> Merge {
        let (from, to) = (self.start(table, self.part), self.start(table, self.part + 1));
        tables.scan_between(table, from.as_slice(), to.as_ref().map(std::slice::from_ref))
    }
}

/// Writes the runs of `tables`, neighbours, into `run`, of a collection of this configuration: of each key of a range the newest row. `live` is given if no older
/// run is left: then nothing has to be shadowed any more, and all that is gone is left out.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
pub fn combine(
    run: RunWriter,
    config: &Config,
    (tables, range): (&Tables, Range),
    live: Option<&Live>,
    progress: &Progress,
) -> Result<RunSummary> {
    let mut combining = Combining { run, tables, range, live, progress };
    for kind in [RARITY, LEXICON].into_iter().filter(|_| range.part == 0) {
        if let Some(table) = tables.runs.iter().find_map(|run| run.heap(kind)) {
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
    for (table, stays) in PLAIN {
        combining.run.rows(table.kind, table.shape)?;
        combining.each(table, stays, &mut |run, row, _| run.push(row))?;
    }
    combining.run.finish()
}

/// Words copied, or rows, between two looks at whether to stop.
const STEP: usize = sized(1 << 14, 7);

/// What takes rows, with the runs they come from.
type EachRow<'a> = dyn FnMut(&mut RunWriter, &[u64], &RunReader) -> Result<()> + 'a;

struct Combining<'a> {
    run: RunWriter,
    tables: &'a Tables,
    range: Range,
    live: Option<&'a Live>,
    progress: &'a Progress,
}

impl Combining<'_> {
    fn copy_whole(&mut self, heap: &HeapReader) -> Result<()> {
        let mut words = Vec::new();
        for start in (0..heap.len()).step_by(STEP) {
            self.progress.check()?;
            words.clear();
            heap.read(start, (heap.len() - start).min(STEP as u64) as usize, &mut words)?;
            self.run.push(&words)?;
        }
        self.progress.advance(heap.len() * 8);
        Ok(())
    }

    /// Writes a heap, and the tables whose values are in it.
    fn heaped(&mut self, heap: SectionKind, tables: &[Heaped]) -> Result<()> {
        let (mut words, mut cursor) = (Vec::new(), HeapCursor::default());
        self.run.heap(heap)?;
        for of in tables {
            self.each(of.table, of.stays, &mut |run, row, from| {
                let heap = from.heap(heap);
                let heap = heap.ok_or_else(|| Error::damaged(from.path(), 0, "rows without their heap"))?;
                words.clear();
                cursor.read(heap, row[of.start], (of.words)(row), &mut words)?;
                run.push(&words)
            })?;
        }
        let (mut start, mut new) = (0, Vec::new());
        for of in tables {
            self.run.rows(of.table.kind, of.table.shape)?;
            self.each(of.table, of.stays, &mut |run, row, _| {
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
        self.each(RECORDS, record_stays, &mut |run, row, from| {
            let record = StoredRecord::of_row(row);
            cursors.of(from).each_part(from, &record, &mut |part| blocks.push(part, run))
        })?;
        blocks.finish(&mut self.run)?;
        let mut before = 0;
        self.run.rows(RECORDS.kind, RECORDS.shape)?;
        self.each(RECORDS, record_stays, &mut |run, row, _| {
            let record = StoredRecord { place: blocks.place(before), ..StoredRecord::of_row(row) };
            before += record.bytes;
            run.push(&record.to_row())
        })
    }

    /// Writes the tokens of texts anew, in vocabularies of this run, and the texts.
    fn tokens(&mut self, ngram: usize) -> Result<()> {
        let mut writer = TokenWriter::begin(ngram, &mut self.run)?;
        let mut cursors = RunCursors::<TokenCursor>::default();
        self.each(TEXTS, text_stays, &mut |run, row, from| {
            writer.push(cursors.of(from).tokens(from, &StoredText::of_row(row))?, run)
        })?;
        writer.finish(&mut self.run)?;
        let mut places = writer.places();
        self.run.rows(TEXTS.kind, TEXTS.shape)?;
        self.each(TEXTS, text_stays, &mut |run, row, _| {
            let mut text = StoredText::of_row(row);
            text.put(places.next().expect("each text has been written"));
            run.push(&text.to_row())
        })
    }

    /// Hands on the rows that stay, with the runs they come from.
    fn each(&mut self, table: Table, stays: Stays, each: &mut EachRow<'_>) -> Result<()> {
        let runs: Vec<_> = self.tables.having(table).collect();
        let mut rows = self.range.scan(self.tables, table);
        let mut seen = 0;
        loop {
            if seen % STEP == 0 {
                self.progress.check()?;
            }
            let Some((source, row)) = rows.next_of_source()? else { break };
            seen += 1;
            if self.live.is_none_or(|live| stays(row, live)) {
                each(&mut self.run, row, runs[source])?;
            }
        }
        self.progress.advance((seen * table.shape.width * 8) as u64);
        Ok(())
    }
}
