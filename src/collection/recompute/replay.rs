//! Stored documents for a run that takes them in again, with no text read: the same dataflow as for files.

use std::collections::{BTreeMap, VecDeque};

use crate::collection::HeapCursor;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::schema::{DOCUMENTS, TEXTS, TOKENS};
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::StoredText;
use crate::collection::tables::run_cursors::MOST_PLACES;
use crate::collection::tables::sets::{SetCursor, SetCursors, has_scopes, missing, salts};
use crate::collection::tables::sources::{SourceEntry, sources};
use crate::collection::tables::tokens::{BlockPlace, KeptBlocks};
use crate::document::{Doc, NO_DOC, Position};
use crate::error::{Error, Result};
use crate::flow::{self, Replayed, ReplayedSets};
use crate::limits::{BASE_MEMORY, LEAST_MEMORY, WORKER_MEMORY};
use crate::progress::Progress;
use crate::sketch::spread;
use crate::sketcher::Digest;

/// Of so many bytes of memory one may be taken by unpacked blocks.
const KEPT_OF: u64 = 4;
/// Where the row was that was moved to a place: nothing is left to be done there.
const MOVED: u32 = u32::MAX;
/// Documents read between two looks at whether to stop.
const CHECKED: usize = 1024;

/// Documents of a commit in document order: by the load that first brought the id, then the id. In memory are 56 bytes
/// and the id of each document, 24 bytes of each text (32 where not all documents are compared), and the names of the files; sets are read as they are asked for.
#[derive(Debug)]
pub struct Replay {
    tables: Tables,
    cursors: SetCursors,
    /// What is unpacked of the tokens, where the documents are in another order than these.
    kept: Option<KeptBlocks>,
    documents: Vec<ReplayRow>,
    /// The files that the documents came from.
    sources: BTreeMap<u32, SourceEntry>,
    /// Ids, each with the value that its document is compared by behind it.
    names: String,
    /// By content, ascending.
    texts: Vec<ReplayText>,
    /// The salts of these texts, where not all documents are compared.
    salts: Option<Vec<u64>>,
    /// The digests of these texts, if documents of other origin are met.
    digests: Option<Vec<Digest>>,
    /// Members of the sets of all documents.
    members: u64,
}

/// What a run needs of a document.
#[derive(Clone, Copy, Debug, Default)]
struct ReplayRow {
    first_load: u32,
    /// The content; once the texts are found, the number of its text among them. [`NO_DOC`] where there is none.
    text: Doc,
    position: u64,
    worth: u64,
    name: u64,
    lengths: (u32, u32),
    line: u32,
    version: u32,
    text_bytes: u32,
}

/// Where a document's record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The number of its file among all that the collection ever read.
    pub file: u32,
    /// Its first byte in the decompressed file.
    pub offset: u64,
    /// Its number, by which [`Snapshot::record`] finds it, if records are kept.
    pub version: u32,
}

/// Where the set of a content is.
#[derive(Clone, Copy, Debug)]
struct ReplayText {
    content: Doc,
    /// The run, its place among those of the tables.
    run: u32,
    ordinal: u32,
    start: u64,
    size: u32,
}

impl Replay {
    /// Bytes of memory that a document takes beside its id.
    pub(super) const EACH_DOCUMENT: u64 = size_of::<ReplayRow>() as u64;
    /// Bytes of memory that a text takes where all documents are compared.
    pub(super) const EACH_TEXT: u64 = size_of::<ReplayText>() as u64;

    /// All live documents of a commit, for a run with a configuration that [`crate::collection::overridden`] gave.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Io`] and [`Error::Damaged`].
    pub fn of(snapshot: &Snapshot, progress: &Progress) -> Result<Replay> {
        let tables = snapshot.tables();
        let runs: Vec<_> = tables.having(DOCUMENTS).collect();
        let mut rows = tables.scan(DOCUMENTS);
        let mut replay = Replay::empty(&tables);
        let mut cursor = HeapCursor::default();
        replay.documents.reserve_exact(snapshot.manifest().counts.documents as usize);
        while let Some(document) = rows.next_row()?.map(Document::of_row) {
            if replay.documents.len().is_multiple_of(CHECKED) {
                progress.check()?;
            }
            if document.live {
                let (name, value) = document.names(runs[rows.source()], &mut cursor)?;
                replay.push(&document, &name, &value);
            }
        }
        replay.find_sources()?;
        replay.finish()
    }

    /// Some live documents of these tables, for a run with such a configuration. Which files they came from is not looked
    /// up: while a load is worked out, its own are not stored yet.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn new<'a>(tables: &Tables, members: impl IntoIterator<Item = &'a Member>) -> Result<Replay> {
        let mut replay = Replay::empty(tables);
        members.into_iter().for_each(|member| replay.push(&member.document, &member.name, &member.value));
        replay.finish()
    }

    /// Stored contents, each as one document without a name, where all that is asked is how they are linked.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn of_contents(tables: &Tables, contents: &[Doc]) -> Result<Replay> {
        let mut replay = Replay::empty(tables);
        let row = |content: &Doc| ReplayRow { text: *content, ..ReplayRow::default() };
        replay.documents.extend(contents.iter().map(row));
        replay.finish()
    }

    /// Bytes of memory that so many contents take with [`Replay::of_contents`].
    pub fn bytes_of(contents: usize) -> u64 {
        let each = size_of::<ReplayRow>() + size_of::<ReplayText>() + 4 * size_of::<u64>();
        (contents * each) as u64
    }

    fn empty(tables: &Tables) -> Replay {
        Replay {
            tables: tables.clone(),
            cursors: SetCursors::default(),
            kept: None,
            documents: Vec::new(),
            sources: BTreeMap::new(),
            names: String::new(),
            texts: Vec::new(),
            salts: None,
            digests: None,
            members: 0,
        }
    }

    fn push(&mut self, document: &Document, name: &str, value: &str) {
        self.documents.push(ReplayRow {
            first_load: document.loads.0,
            text: document.content,
            position: document.position,
            worth: document.worth,
            name: self.names.len() as u64,
            lengths: (name.len() as u32, value.len() as u32),
            line: document.line,
            version: document.version,
            text_bytes: document.text_bytes.min(u64::from(u32::MAX)) as u32,
        });
        self.names.push_str(name);
        self.names.push_str(value);
    }

    /// Puts the documents in order and finds their sets.
    fn finish(mut self) -> Result<Replay> {
        self.sort();
        self.find_texts()?;
        self.members = self.documents.iter().map(|row| u64::from(self.size(row))).sum();
        Ok(self)
    }

    /// Sorts the documents by the load that brought the id first, then by the id. Ids are far from each other in memory: most are told
    /// apart by a word of each, behind what all have in common.
    fn sort(&mut self) {
        let names = &self.names;
        let id = |row: &ReplayRow| row.strings(names).0.as_bytes();
        let same = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let first = self.documents.first().map_or(&[][..], id);
        let common = self.documents.iter().map(|row| same(first, id(row))).min().unwrap_or(0);
        let word = |row: &ReplayRow| {
            let mut word = [0; 8];
            id(row)[common..].iter().zip(&mut word).for_each(|(byte, place)| *place = *byte);
            u64::from_be_bytes(word)
        };
        let mut order: Vec<(u32, u32, u64)> =
            (0..).zip(&self.documents).map(|(at, row)| (row.first_load, at, word(row))).collect();
        let row = |at: u32| &self.documents[at as usize];
        order.sort_unstable_by(|a, b| {
            (a.0, a.2).cmp(&(b.0, b.2)).then_with(|| id(row(a.1)).cmp(id(row(b.1))))
        });
        for start in 0..order.len() {
            let (first, mut at) = (self.documents[start], start);
            // Along the cycle that it is in, unless that was gone through.
            while order[at].1 != MOVED {
                let from = std::mem::replace(&mut order[at].1, MOVED) as usize;
                self.documents[at] = if from == start { first } else { self.documents[from] };
                at = from;
            }
        }
    }

    /// The same documents, to be met by documents of other origin: equal texts are then known by their digests.
    pub(super) fn with_digests(mut self) -> Result<Replay> {
        let contents: Vec<u64> = self.texts.iter().map(|text| u64::from(text.content)).collect();
        let mut digests = vec![0; contents.len()];
        self.tables.newest(TEXTS, &contents, &mut |at, _, row| {
            digests[at] = StoredText::of_row(row).digest;
            Ok(())
        })?;
        self.digests = Some(digests);
        Ok(self)
    }

    /// Keeps what is unpacked of the tokens, in at most so many bytes, if the documents are in another order than these; how many
    /// bytes that takes.
    fn keep_blocks(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let places = self.places();
        let (none, all) = KeptBlocks::bytes_of(places.len());
        if places.is_empty() || none > most || !self.is_scattered(places.len()) {
            return 0;
        }
        let bytes = all.min(most);
        self.kept = Some(KeptBlocks::new(places, bytes - none));
        bytes
    }

    /// The same within a part of the memory that is left; what is left then.
    pub(super) fn keep_blocks_within(&mut self, memory: Option<u64>, workers: usize) -> Option<u64> {
        let most = memory.map_or(u64::MAX, |memory| memory.saturating_sub(least(workers)) / KEPT_OF);
        let taken = self.keep_blocks(most);
        memory.map(|memory| memory - taken)
    }

    /// Where the blocks of the texts are, ascending; none where sets are stored as they are.
    fn places(&self) -> Vec<BlockPlace> {
        let mut places: Vec<BlockPlace> = Vec::new();
        for text in self.texts.iter().filter(|text| self.has_tokens(text)) {
            if places.last() != Some(&(text.run, text.start)) {
                places.push((text.run, text.start));
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Whether a text is stored by its tokens.
    fn has_tokens(&self, text: &ReplayText) -> bool {
        self.tables.runs[text.run as usize].heap(TOKENS).is_some()
    }

    /// Whether documents in their order would have each of so many blocks unpacked more than twice, where a cursor has some at hand.
    fn is_scattered(&self, blocks: usize) -> bool {
        let (mut unpacked, mut at_hand) = (0, VecDeque::with_capacity(MOST_PLACES + 1));
        let texts = self.documents.iter().filter_map(|row| self.text(row));
        for text in texts.filter(|text| self.has_tokens(text)) {
            let place = (text.run, text.start);
            if !at_hand.contains(&place) {
                unpacked += 1;
                at_hand.push_back(place);
                at_hand.drain(..at_hand.len().saturating_sub(MOST_PLACES));
            }
        }
        unpacked > 2 * blocks
    }

    /// The salt of a document's text, where not all documents are compared.
    fn salt(&self, row: &ReplayRow) -> Option<u64> {
        self.salts.as_ref().and_then(|salts| salts.get(row.text as usize).copied())
    }

    /// The digest of a document's text, or what its number is spread to.
    fn digest(&self, row: &ReplayRow, content: Doc) -> Digest {
        let known = self.digests.as_ref().and_then(|digests| digests.get(row.text as usize).copied());
        // A content is one text and no other: its number does for a digest, once it is spread over the workers.
        let number = u64::from(content);
        known.unwrap_or_else(|| u128::from(spread(number)) << 64 | u128::from(number))
    }

    fn find_sources(&mut self) -> Result<()> {
        let files = self.documents.iter().map(|row| u64::from(Position::from_bits(row.position).file()));
        let mut files: Vec<u64> = files.collect();
        files.sort_unstable();
        files.dedup();
        self.sources = sources(&self.tables, &files)?;
        Ok(())
    }

    fn find_texts(&mut self) -> Result<()> {
        let rows = (0u64..).zip(&self.documents).filter(|(_, row)| row.text != NO_DOC);
        let mut of_content: Vec<u64> = rows.map(|(at, row)| u64::from(row.text) << 32 | at).collect();
        of_content.sort_unstable();
        let mut contents: Vec<u64> = of_content.iter().map(|pair| pair >> 32).collect();
        contents.dedup();
        let mut texts = Vec::with_capacity(contents.len());
        let runs = &self.tables.runs;
        self.tables.newest(TEXTS, &contents, &mut |_, run, row| {
            let place = runs.iter().position(|of| std::ptr::eq(&**of, run)).unwrap_or_default();
            let StoredText { content, start, ordinal, size, .. } = StoredText::of_row(row);
            texts.push(ReplayText { content: content as Doc, run: place as u32, ordinal, start, size });
            Ok(())
        })?;
        texts.sort_unstable_by_key(|text| text.content);
        let lost = contents.iter().zip(&texts).find(|(content, text)| **content != u64::from(text.content));
        let lost = lost.map(|(content, _)| content).or_else(|| contents.get(texts.len()));
        if let Some(content) = lost {
            return Err(missing(&self.tables, *content as Doc));
        }
        for (at, pairs) in (0..).zip(of_content.chunk_by(|a, b| a >> 32 == b >> 32)) {
            pairs.iter().for_each(|pair| self.documents[*pair as u32 as usize].text = at);
        }
        drop(of_content);
        self.texts = texts;
        if has_scopes(&self.tables) {
            self.salts = Some(salts(&self.tables, &contents)?);
        }
        Ok(())
    }

    fn text(&self, row: &ReplayRow) -> Option<&ReplayText> {
        self.texts.get(row.text as usize)
    }

    fn size(&self, row: &ReplayRow) -> u32 {
        self.text(row).map_or(0, |text| text.size)
    }

    /// The files that the documents came from, by number.
    pub fn sources(&self) -> &BTreeMap<u32, SourceEntry> {
        &self.sources
    }

    /// Where the record of document number `at` is.
    ///
    /// # Panics
    /// If there are no more than `at` documents.
    pub fn origin(&self, at: usize) -> Origin {
        let ReplayRow { position, version, .. } = self.documents[at];
        let position = Position::from_bits(position);
        Origin { file: position.file(), offset: position.offset(), version }
    }

    /// Bytes of memory that the documents take.
    pub fn held(&self) -> u64 {
        let digests = self.digests.as_ref().map_or(0, |digests| digests.capacity() * size_of::<Digest>());
        let rows = self.documents.capacity() * size_of::<ReplayRow>()
            + self.texts.capacity() * size_of::<ReplayText>()
            + self.salts.as_ref().map_or(0, |salts| salts.capacity() * size_of::<u64>())
            + digests;
        (rows + self.names.capacity()) as u64
    }
}

impl ReplayRow {
    /// The id, and the value the document is compared by.
    fn strings<'a>(&self, names: &'a str) -> (&'a str, &'a str) {
        let (start, (name, value)) = (self.name as usize, self.lengths);
        let (name, value) = (name as usize, value as usize);
        (&names[start..start + name], &names[start + name..start + name + value])
    }
}

impl flow::ReplayedDocuments for Replay {
    fn documents(&self) -> usize {
        self.documents.len()
    }

    fn bytes(&self) -> u64 {
        self.members * 8
    }

    fn document(&self, at: usize) -> Replayed<'_> {
        let row = &self.documents[at];
        let (id, value) = row.strings(&self.names);
        let content = self.text(row).map_or(NO_DOC, |text| text.content);
        let (text_bytes, keep_key) = (row.text_bytes, row.worth);
        let (digest, salt, size) = (self.digest(row, content), self.salt(row), self.size(row));
        Replayed { id, content, digest, salt, size, text_bytes, keep_key, value }
    }

    fn sets(&self) -> Box<dyn ReplayedSets + '_> {
        Box::new(ReplaySets { replay: self, cursor: self.cursors.take() })
    }

    fn place(&self, at: usize) -> (String, u64) {
        let row = &self.documents[at];
        let source = self.sources.get(&Position::from_bits(row.position).file());
        (source.map_or_else(String::new, |source| source.shown.clone()), u64::from(row.line))
    }
}

/// Reads of sets with a cursor of their own.
struct ReplaySets<'a> {
    replay: &'a Replay,
    cursor: SetCursor,
}

impl ReplayedSets for ReplaySets<'_> {
    fn set(&mut self, at: usize, set: &mut Vec<u64>) -> Result<()> {
        let Self { replay, cursor } = self;
        let text = replay.text(&replay.documents[at]).ok_or_else(|| missing(&replay.tables, NO_DOC))?;
        let ReplayText { content, run: place, ordinal, start, size } = *text;
        let (run, content) = (&replay.tables.runs[place as usize], u64::from(content));
        let text = StoredText { content, start, ordinal, size, digest: 0 };
        match &replay.kept {
            Some(kept) => cursor.read_anywhere(kept, (place, run), &text, set)?,
            None => cursor.read(run, &text, set)?,
        }
        cursor.rest();
        Ok(())
    }
}

impl Drop for ReplaySets<'_> {
    fn drop(&mut self) {
        self.replay.cursors.give_back(std::mem::take(&mut self.cursor));
    }
}

/// The least memory that a run of so many workers has.
fn least(workers: usize) -> u64 {
    BASE_MEMORY + WORKER_MEMORY * workers as u64 + LEAST_MEMORY
}

/// What is left of the memory allowed once `held` bytes are taken by `what`.
pub(in crate::collection) fn left(
    memory: Option<u64>,
    held: u64,
    workers: usize,
    what: &str,
) -> Result<Option<u64>> {
    let Some(memory) = memory else { return Ok(None) };
    let needed = held.saturating_add(least(workers));
    if memory >= needed {
        return Ok(Some(memory - held));
    }
    Err(Error::Limit(format!(
        "{what} do not fit in the memory allowed, {} MiB: allow at least {} MiB with --memory",
        memory >> 20,
        (needed >> 20) + 1
    )))
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
