//! Stored documents for a run that takes them in again, with no text read: the same dataflow as for files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::collection::HeapCursor;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::distributed::scattered::follower_storage;
use crate::collection::recompute::overrides::{QueryOverrides, overridden};
use crate::collection::run::schema::{DOCUMENTS, TEXTS};
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::frozen::frozen;
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::StoredText;
use crate::collection::tables::sets::{SetCursors, has_scopes, missing, salts};
use crate::collection::tables::sources::{SourceEntry, sources};
use crate::document::{Doc, NO_DOC, Position};
use crate::error::{Error, Result};
use crate::flow::{self, Outcome, Replayed, Request, run};
use crate::limits::{BASE_MEMORY, LEAST_MEMORY, WORKER_MEMORY};
use crate::method::FrozenTables;
use crate::peers::Peers;
use crate::progress::Progress;
use crate::resources::Resources;
use crate::sketch::spread;
use crate::sketcher::Digest;
use crate::storage::Storage;

/// Looking again at the documents of a collection: what is asked, and with what.
#[derive(Clone)]
pub struct RecomputeRequest {
    /// What differs from the collection's configuration.
    pub overrides: QueryOverrides,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// What may be used, what is held of the documents included, and the processes that look again at the same commit.
    pub resources: Resources,
}

/// Documents read between two looks at whether to stop.
const CHECKED: usize = 1024;

/// Documents of a commit in document order: by the load that first brought the id, then the id. In memory are 56 bytes
/// and the id of each document, 24 bytes of each text (32 where not all documents are compared), and the names of the files; sets are read as they are asked for.
#[derive(Debug)]
pub struct Replay {
    tables: Tables,
    cursors: SetCursors,
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
    content: Doc,
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
        let row = |content: &Doc| ReplayRow { content: *content, ..ReplayRow::default() };
        replay.documents.extend(contents.iter().map(row));
        replay.finish()
    }

    /// Bytes of memory that so many contents take with [`Replay::of_contents`].
    pub fn bytes_of(contents: usize) -> u64 {
        let each = size_of::<ReplayRow>() + size_of::<ReplayText>() + 3 * size_of::<u64>();
        (contents * each) as u64
    }

    fn empty(tables: &Tables) -> Replay {
        Replay {
            tables: tables.clone(),
            cursors: SetCursors::default(),
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
            content: document.content,
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
        let names = &self.names;
        self.documents.sort_unstable_by(|a, b| {
            (a.first_load, a.strings(names).0).cmp(&(b.first_load, b.strings(names).0))
        });
        self.find_texts()?;
        self.members = self.documents.iter().map(|row| u64::from(self.size(row.content))).sum();
        Ok(self)
    }

    /// The same documents, to be met by documents of other origin: equal texts are then known by their digests.
    fn with_digests(mut self) -> Result<Replay> {
        let contents: Vec<u64> = self.texts.iter().map(|text| u64::from(text.content)).collect();
        let mut digests = vec![0; contents.len()];
        self.tables.newest(TEXTS, &contents, &mut |at, _, row| {
            digests[at] = StoredText::of_row(row).digest;
            Ok(())
        })?;
        self.digests = Some(digests);
        Ok(self)
    }

    /// The salt of a text, where not all documents are compared.
    fn salt(&self, content: Doc) -> Option<u64> {
        let at = || self.texts.binary_search_by_key(&content, |text| text.content).ok();
        self.salts.as_ref().and_then(|salts| salts.get(at()?).copied())
    }

    /// The digest of a text, or what its number is spread to.
    fn digest(&self, content: Doc) -> Digest {
        let at = || self.texts.binary_search_by_key(&content, |text| text.content).ok();
        let known = self.digests.as_ref().and_then(|digests| digests.get(at()?).copied());
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
        let contents = self.documents.iter().map(|row| row.content).filter(|content| *content != NO_DOC);
        let mut contents: Vec<u64> = contents.map(u64::from).collect();
        contents.sort_unstable();
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
        self.texts = texts;
        if has_scopes(&self.tables) {
            self.salts = Some(salts(&self.tables, &contents)?);
        }
        Ok(())
    }

    fn text(&self, content: Doc) -> Option<&ReplayText> {
        let at = self.texts.binary_search_by_key(&content, |text| text.content).ok()?;
        self.texts.get(at)
    }

    fn size(&self, content: Doc) -> u32 {
        self.text(content).map_or(0, |text| text.size)
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
        let (content, text_bytes, keep_key) = (row.content, row.text_bytes, row.worth);
        let digest = self.digest(content);
        let (salt, size) = (self.salt(content), self.size(content));
        Replayed { id, content, digest, salt, size, text_bytes, keep_key, value }
    }

    fn set(&self, content: Doc, set: &mut Vec<u64>) -> Result<()> {
        let text = self.text(content).ok_or_else(|| missing(&self.tables, content))?;
        let run = &self.tables.runs[text.run as usize];
        let ReplayText { ordinal, start, size, .. } = *text;
        self.cursors.read(
            run,
            &StoredText { content: u64::from(content), start, ordinal, size, digest: 0 },
            set,
        )
    }

    fn place(&self, at: usize) -> (String, u64) {
        let row = &self.documents[at];
        let source = self.sources.get(&Position::from_bits(row.position).file());
        (source.map_or_else(String::new, |source| source.shown.clone()), u64::from(row.line))
    }
}

impl Snapshot {
    /// The live documents, to hold others against in a run with these resources, of whose memory they take a part.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if processes keep parts of the collection to themselves; [`Error::Limit`] if the documents do not fit in
    /// memory; [`Error::Interrupted`]; [`Error::Io`] and [`Error::Damaged`].
    pub fn protected(
        &self,
        resources: &mut Resources,
        progress: &Progress,
    ) -> Result<Arc<dyn flow::ReplayedDocuments>> {
        self.check_within_reach()?;
        let each = (size_of::<ReplayRow>() + size_of::<ReplayText>() + size_of::<Digest>()) as u64;
        left(
            resources.memory,
            self.manifest().counts.documents.saturating_mul(each),
            resources.workers,
            DOCUMENTS_HELD,
        )?;
        let replay = Replay::of(self, progress)?.with_digests()?;
        resources.memory = left(resources.memory, replay.held(), resources.workers, DOCUMENTS_HELD)?;
        Ok(Arc::new(replay))
    }

    /// The tables that the collection was created with; `None` if nothing was ever loaded into it.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn frozen_tables(&self) -> Result<Option<Arc<FrozenTables>>> {
        frozen(&self.tables())
    }

    /// Finds the near-duplicates among the live documents anew, by their stored sets: what [`run`] finds on files that
    /// have the same documents in document order. Nothing is stored.
    ///
    /// # Errors
    /// [`Error::Config`] if the choice cannot be made ([`crate::collection::overridden`]); [`Error::Limit`] if the documents do not fit in
    /// memory; [`Error::Interrupted`]; [`Error::Io`] and [`Error::Damaged`].
    pub fn recompute(&self, asked: RecomputeRequest, progress: Arc<Progress>) -> Result<Outcome> {
        self.recompute_with_origins(asked, progress).map(|(outcome, _)| outcome)
    }

    /// The same, and the documents: the offset of a document's position in the outcome is its number among them.
    ///
    /// # Errors
    /// Those of [`Snapshot::recompute`].
    pub fn recompute_with_origins(
        &self,
        asked: RecomputeRequest,
        progress: Arc<Progress>,
    ) -> Result<(Outcome, Arc<Replay>)> {
        if let Some(peers) = &asked.resources.peers {
            peers.broadcast(self.manifest())?;
        }
        let (request, replay) = self.request(asked, &progress)?;
        Ok((run(request, progress)?, replay))
    }

    /// Takes part where process 0 looks [`Snapshot::recompute`] at the collection in `storage`, asking the same.
    ///
    /// # Errors
    /// Those of [`Snapshot::recompute`]; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn follow_recompute(
        storage: &dyn Fn() -> Result<Arc<dyn Storage>>,
        asked: RecomputeRequest,
        peers: &Arc<Peers>,
        progress: Arc<Progress>,
    ) -> Result<()> {
        let manifest: Manifest = peers.receive()?;
        let snapshot = Snapshot::ahead_of(&follower_storage(manifest.collection, peers, storage)?, manifest)?;
        let (request, _) = snapshot.request(asked, &progress)?;
        flow::assist(request, progress).map(drop)
    }

    /// What is asked of the dataflow, and the documents.
    fn request(&self, asked: RecomputeRequest, progress: &Arc<Progress>) -> Result<(Request, Arc<Replay>)> {
        let config = overridden(&self.manifest().config, &asked.overrides)?;
        let rows = self.manifest().counts.documents.saturating_mul(size_of::<ReplayRow>() as u64);
        left(asked.resources.memory, rows, asked.resources.workers, DOCUMENTS_HELD)?;
        let replay = Arc::new(Replay::of(self, progress)?);
        let memory = left(asked.resources.memory, replay.held(), asked.resources.workers, DOCUMENTS_HELD)?;
        let request = Request {
            pairs: asked.pairs,
            frozen_tables: frozen(&self.tables())?,
            replays: vec![(0, Arc::clone(&replay) as Arc<dyn flow::ReplayedDocuments>)],
            ..Request::new(Vec::new(), config, Resources { memory, ..asked.resources })
        };
        Ok((request, replay))
    }
}

/// What is held of stored documents, as people are told.
const DOCUMENTS_HELD: &str = "the documents";

/// What is left of the memory allowed once `held` bytes are taken by `what`.
pub(in crate::collection) fn left(
    memory: Option<u64>,
    held: u64,
    workers: usize,
    what: &str,
) -> Result<Option<u64>> {
    let Some(memory) = memory else { return Ok(None) };
    let needed = held.saturating_add(BASE_MEMORY + WORKER_MEMORY * workers as u64 + LEAST_MEMORY);
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
