//! What a run remembers of each document: a row in the segment of the worker that read it. Never its text.

mod keep_key;
mod names;
pub mod outlines;
mod positions;
pub mod rows;
pub mod segment;
mod signatures;

pub use keep_key::{by_field, stored_value};

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use hashbrown::HashMap;

use crate::config::Keep;
use crate::document::{Doc, DocumentName, Position};
use crate::error::Result;
use crate::flow::catalogue::names::Name;
use crate::flow::catalogue::rows::{FarRow, SegmentRows};
use crate::flow::catalogue::segment::Segment;
use crate::flow::distributed::topology::Topology;
use crate::flow::memory::store::RunMemory;
use crate::flow::records::Brought;
use crate::read::Source;

/// The segments of all workers; each is there from the moment its worker has read its last record, those of other
/// processes once all have.
#[derive(Debug)]
pub struct Catalogue {
    /// The number of the first document.
    base: Doc,
    topology: Topology,
    /// By worker.
    segments: Vec<OnceLock<Segment>>,
    /// Of a load, in process 0: documents that other processes have read, of which more than the size has to be known.
    far: OnceLock<HashMap<Doc, FarRow>>,
    keep: Keep,
    /// Whether a collection asks for the lengths of texts.
    load: bool,
    /// So many sources are protected, and so many rows of each worker are of them.
    protected_files: u32,
    protected: Vec<AtomicU32>,
    /// By source, what it is to be kept before: those with a greater number. Empty where all are alike.
    preferences: Vec<u32>,
}

/// A row of the catalogue: of a document the size of its set, and its signature.
#[derive(Clone, Copy)]
pub struct CatalogueRow<'a> {
    segment: &'a Segment,
    row: usize,
}

impl<'a> CatalogueRow<'a> {
    /// The size of the set that pairs of the document are measured on.
    pub fn size(self) -> u32 {
        self.segment.size(self.row)
    }

    /// The signature of the set, if it was signed.
    pub fn signature(self) -> &'a [u64] {
        self.segment.signature(self.row)
    }
}

impl Catalogue {
    /// A catalogue without segments yet, of a load of a collection or not.
    pub fn new(topology: Topology, keep: &Keep, load: bool, base: Doc) -> Catalogue {
        let segments = (0..topology.all()).map(|_| OnceLock::new()).collect();
        let protected = (0..topology.all()).map(|_| AtomicU32::new(0)).collect();
        let (keep, preferences, far) = (keep.clone(), Vec::new(), OnceLock::new());
        Catalogue { base, topology, segments, far, keep, load, protected_files: 0, protected, preferences }
    }

    /// The same, where so many sources, the first ones, are protected.
    pub fn with_protected(self, files: u32) -> Catalogue {
        Catalogue { protected_files: files, ..self }
    }

    /// The same, where documents of some sources are kept rather than those of others, as [`Source::preference`] says.
    pub fn with_preferences(self, sources: &[Source]) -> Catalogue {
        let preferences: Vec<u32> = sources.iter().map(|source| source.preference).collect();
        let differ = preferences.iter().any(|preference| *preference != preferences[0]);
        Catalogue { preferences: if differ { preferences } else { Vec::new() }, ..self }
    }

    /// A segment without rows, one of all that this process holds.
    pub fn empty_segment(&self, memory: &RunMemory) -> Segment {
        let segment = Segment::new(&self.keep, self.load, self.topology.workers_held(), memory);
        segment.with_protected(self.protected_files)
    }

    /// Hands in the finished segment of a worker, once.
    pub fn publish(&self, worker: usize, segment: Segment) {
        self.add_protected(worker, segment.protected());
        let first = self.segments[worker].set(segment).is_ok();
        debug_assert!(first, "a worker reads once");
    }

    /// Makes known how many rows of a worker are those of protected documents.
    pub fn add_protected(&self, worker: usize, rows: u32) {
        self.protected[worker].fetch_max(rows, Relaxed);
    }

    /// How many rows of a worker are known to be those of protected documents.
    pub fn protected_rows(&self, worker: usize) -> u32 {
        self.protected[worker].load(Relaxed)
    }

    /// Whether the documents are those of a load of a collection.
    pub fn is_load(&self) -> bool {
        self.load
    }

    /// Documents of sources below this number are protected.
    pub fn protected_files(&self) -> u32 {
        self.protected_files
    }

    /// Whether there are protected documents.
    pub fn has_protected(&self) -> bool {
        self.protected_files > 0
    }

    /// Whether a document is protected; asked once every worker has read its input.
    pub fn is_protected(&self, doc: Doc) -> bool {
        let row = || (doc - self.base) as usize / self.segments.len();
        self.has_protected() && row() < self.protected_rows(self.topology.owner_of(doc)) as usize
    }

    /// Documents before the range are protected and those behind it are not, whoever read them: asked once every worker has
    /// read its input.
    pub fn perhaps_protected(&self) -> Range<Doc> {
        let workers = self.segments.len();
        let ends = || (0..workers).map(|worker| self.base + self.protected_rows(worker) * workers as Doc);
        ends().min().unwrap_or_default()..ends().max().unwrap_or_default()
    }

    /// Makes known, once, what is to be known of documents that other processes have read.
    pub fn publish_far(&self, rows: HashMap<Doc, FarRow>) {
        let first = self.far.set(rows).is_ok();
        debug_assert!(first, "they are published once");
    }

    /// What is known of a document that another process has read, in a load.
    fn far(&self, doc: Doc) -> Option<&FarRow> {
        let far = self.far.get().filter(|_| !self.topology.is_local(doc))?;
        far.get(&doc)
    }

    /// What process 0 has to know of a document of this process to settle it.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the ids are on disk and cannot be read.
    pub fn far_row(&self, doc: Doc) -> Result<FarRow> {
        let (line, label) = self.name(doc)?;
        let (worth, value) = self.keep_key(doc);
        Ok(FarRow {
            doc,
            position: self.position(doc).to_bits(),
            line,
            label: label.map(|name| (name.is_number(), name.into())),
            length: self.text_bytes(doc),
            keep_key: (worth, value.to_owned()),
            brought: self.brought(doc),
        })
    }

    fn segment(&self, doc: Doc) -> (&Segment, usize) {
        // Millions of sizes are looked up: one division of half a word finds both, as the first number is one of worker 0.
        let (number, workers) = (doc - self.base, self.segments.len() as Doc);
        let segment = self.segments[(number % workers) as usize].get();
        (segment.expect("asked only once every worker has read its input"), (number / workers) as usize)
    }

    /// The row of a document.
    pub fn row(&self, doc: Doc) -> CatalogueRow<'_> {
        let (segment, row) = self.segment(doc);
        CatalogueRow { segment, row }
    }

    /// The worker that has read a document, and its row there.
    pub fn row_of(&self, doc: Doc) -> (usize, usize) {
        (self.topology.owner_of(doc), (doc - self.base) as usize / self.segments.len())
    }

    /// The number of the first document, a multiple of the number of workers; smaller ones are stored contents'.
    pub fn base(&self) -> Doc {
        self.base
    }

    /// Where the document stands.
    pub fn position(&self, doc: Doc) -> Position {
        if let Some(far) = self.far(doc) {
            return Position::from_bits(far.position);
        }
        let (segment, row) = self.segment(doc);
        segment.position(row)
    }

    /// What the document's record brings, of a load.
    pub fn brought(&self, doc: Doc) -> Brought {
        if let Some(far) = self.far(doc) {
            return far.brought;
        }
        let (segment, row) = self.segment(doc);
        segment.brought(row)
    }

    /// The document's line, counted from 1 within its unit of reading.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the lines are on disk and cannot be read.
    pub fn line(&self, doc: Doc) -> Result<u32> {
        self.name(doc).map(|(line, _)| line)
    }

    /// Bytes of the document's text, the greatest number for more; 0 if neither the keep policy nor a collection asks.
    pub fn text_bytes(&self, doc: Doc) -> u32 {
        if let Some(far) = self.far(doc) {
            return far.length;
        }
        let (segment, row) = self.segment(doc);
        segment.length(row)
    }

    /// The size of the set that pairs of the document are measured on.
    pub fn size(&self, doc: Doc) -> u32 {
        self.row(doc).size()
    }

    /// What makes the keys of a document of this process differ from those of documents that it is not to be compared with; 0
    /// where all are.
    pub fn salt(&self, doc: Doc) -> u64 {
        let (segment, row) = self.segment(doc);
        segment.salt(row)
    }

    /// The signature of a document's set, if it was signed.
    pub fn signature(&self, doc: Doc) -> &[u64] {
        self.row(doc).signature()
    }

    /// Some rows of a worker for another process: all that is known of them but their signatures, or their sizes alone.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the ids are on disk and cannot be read.
    pub fn some_rows(&self, worker: usize, range: Range<usize>, whole: bool) -> Result<SegmentRows> {
        self.segments[worker]
            .get()
            .map_or_else(|| Ok(SegmentRows::default()), |segment| segment.rows(range, whole))
    }

    /// Bytes of memory that the rows of all workers take that are known by now.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().filter_map(OnceLock::get).map(Segment::bytes).sum()
    }

    /// Rows of a worker.
    pub fn rows(&self, worker: usize) -> usize {
        self.segments[worker].get().map_or(0, Segment::len)
    }

    /// One more than the greatest number of any document.
    pub fn doc_limit(&self) -> usize {
        let rows = self.segments.iter().map(|segment| segment.get().map_or(0, Segment::len));
        let ends = (1..).zip(rows).filter(|(_, rows)| *rows > 0);
        let ends = ends.map(|(worker, rows)| (rows - 1) * self.segments.len() + worker);
        self.base as usize + ends.max().unwrap_or(0)
    }

    /// The documents of a worker, in document order.
    pub fn docs_of(&self, worker: usize) -> impl Iterator<Item = Doc> + use<> {
        let (base, workers) = (self.base, self.segments.len());
        (0..self.rows(worker)).map(move |row| base + (row * workers + worker) as Doc)
    }

    /// The documents of all workers, in no order that means anything.
    pub fn docs(&self) -> impl Iterator<Item = Doc> {
        let workers = self.segments.len();
        let of =
            move |worker| (0..self.rows(worker)).map(move |row| (row * workers + worker) as Doc + self.base);
        (0..workers).flat_map(of)
    }

    /// The documents of all workers in document order.
    pub fn docs_in_order(&self) -> impl Iterator<Item = Doc> {
        let workers = self.segments.len();
        let doc = move |worker: usize, row: usize| (row * workers + worker) as Doc + self.base;
        // The rows of each worker are in document order.
        let next = move |worker: usize, row: usize| {
            (row < self.rows(worker)).then(|| Reverse((self.position(doc(worker, row)), worker, row)))
        };
        let mut waiting: BinaryHeap<_> = (0..workers).filter_map(|worker| next(worker, 0)).collect();
        std::iter::from_fn(move || {
            let Reverse((_, worker, row)) = waiting.pop()?;
            waiting.extend(next(worker, row + 1));
            Some(doc(worker, row))
        })
    }

    /// The document's id, if its record has one.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the ids are on disk and cannot be read.
    pub fn label(&self, doc: Doc) -> Result<Option<DocumentName<'_>>> {
        self.name(doc).map(|(_, name)| name)
    }

    /// The document's line, counted from 1 within its unit of reading, and its id, if its record has one.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if they are on disk and cannot be read.
    pub fn name(&self, doc: Doc) -> Result<Name<'_>> {
        if let Some(far) = self.far(doc) {
            return Ok(far.name());
        }
        let (segment, row) = self.segment(doc);
        segment.name(row)
    }

    /// The documents of a worker of this process with lines and ids, in document order.
    ///
    /// # Errors
    /// Those of [`Catalogue::name`] and of `take`.
    pub fn each_name(&self, worker: usize, mut take: impl FnMut(Doc, Name<'_>) -> Result<()>) -> Result<()> {
        let Some(segment) = self.segments[worker].get() else { return Ok(()) };
        let mut docs = self.docs_of(worker);
        segment.each_name(|name| docs.next().map_or(Ok(()), |doc| take(doc, name)))
    }

    /// What the keep policy compares, as a number that orders as it does, and the string beside it if it is one. Where it compares
    /// a field, that is 0 for none, the greatest number for a string, else the value. Otherwise it is the bytes of the text, if
    /// they are compared.
    pub fn keep_key(&self, doc: Doc) -> (u64, &str) {
        if let Some(far) = self.far(doc) {
            return (far.keep_key.0, &far.keep_key.1);
        }
        let (segment, row) = self.segment(doc);
        segment.keep_key(&self.keep, row)
    }

    /// Whether the earlier one of two documents is kept, whatever they are.
    pub fn keeps_first(&self) -> bool {
        self.preferences.is_empty() && self.keep.is_first()
    }

    /// Orders documents by the keep policy, the one to keep first; ties go to the earlier position. Protected ones come before
    /// all others, and those of preferred sources before those of others.
    pub fn keep_order(&self, a: Doc, b: Doc) -> Ordering {
        let (left, i) = self.segment(a);
        let (right, j) = self.segment(b);
        let preference =
            |segment: &Segment, row| self.preferences.get(segment.position(row).file() as usize).copied();
        let protected = self.is_protected(b).cmp(&self.is_protected(a));
        protected
            .then_with(|| match self.preferences.is_empty() {
                true => Ordering::Equal,
                false => preference(left, i).cmp(&preference(right, j)),
            })
            .then_with(|| left.keep_order(&self.keep, i, right, j))
    }
}
