//! Writing a run: sections streamed into pages, pages into large appends.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::Xxh3;

use crate::collection::run::directory::{
    DIRECTORY, ENTRIES_IN_PAGE, ENTRY_WORDS, FENCES, MAGIC, MAX_SECTIONS, RUN_VERSION, Section, SectionKind,
    Shape, Sort, TRAILER, TRAILER_WORDS,
};
use crate::collection::run::page::{PAYLOAD_WORDS, RawPage, Seal};
use crate::collection::run::rows::packed::RowPacker;
use crate::collection::run::schema::{RARITY, Table, section_name};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;
use crate::storage::{FileWriter, Storage};

/// Pages appended at once: 1 MiB.
const APPEND: usize = sized(256, 2);

/// What a finished run holds.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunSummary {
    /// The sections in the order they were written: rows, or words of a heap.
    pub sections: Vec<(SectionKind, u64)>,
}

impl RunSummary {
    /// Whether no section has a row or a word; but a rarity table without entries is one.
    pub(in crate::collection) fn is_empty(&self) -> bool {
        self.sections.iter().all(|(kind, rows)| *rows == 0 && *kind != RARITY)
    }

    /// The rows or words of each section, by name.
    pub(in crate::collection) fn by_name(&self) -> BTreeMap<String, u64> {
        self.sections.iter().map(|(kind, rows)| (section_name(*kind), *rows)).collect()
    }
}

/// Pages on their way to the file.
struct PageStream {
    writer: Box<dyn FileWriter>,
    path: PathBuf,
    seal: Seal,
    buffer: Vec<RawPage>,
    /// How many of the buffer are complete.
    full: usize,
    /// How many pages of the file are complete, those in the buffer included.
    pages: u64,
    /// Their checksums, one after another.
    sum: Xxh3,
    /// What counts the bytes that are appended, if somebody is told of them.
    told: Option<Arc<AtomicU64>>,
}

impl PageStream {
    /// The payload of the page that comes next.
    #[inline]
    fn payload(&mut self) -> &mut [u64] {
        &mut self.buffer[self.full][2..]
    }

    /// Makes the next page, of which `used` words of payload are set, a page of the file.
    fn close(&mut self, section: u32, used: usize) -> Result<()> {
        let raw = &mut self.buffer[self.full];
        self.seal.close(raw, self.pages, section, used);
        self.sum.update(bytemuck::bytes_of(&raw[0]));
        (self.full, self.pages) = (self.full + 1, self.pages + 1);
        if self.full == self.buffer.len() { self.append() } else { Ok(()) }
    }

    /// Appends what is complete to the file.
    fn append(&mut self) -> Result<()> {
        let bytes = bytemuck::cast_slice(&self.buffer[..self.full]);
        // Also after a failure, so that there is room for what comes: the file then refuses all of it.
        self.full = 0;
        self.writer.append(bytes).map_err(|e| Error::io(&self.path, "write", e))?;
        if let Some(told) = &self.told {
            told.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes `words` as pages of `section`, `piece` words a page.
    fn write(&mut self, section: u32, words: &[u64], piece: usize) -> Result<()> {
        for words in words.chunks(piece) {
            self.payload()[..words.len()].copy_from_slice(words);
            self.close(section, words.len())?;
        }
        Ok(())
    }
}

/// Its buffer would fill the screen.
impl fmt::Debug for PageStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageStream")
            .field("path", &self.path)
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

/// Writes one run file, section after section. What is not finished is no run: the caller removes the file.
#[derive(Debug)]
pub struct RunWriter {
    stream: PageStream,
    /// The last one is being written.
    sections: Vec<Section>,
    /// The fences of each section.
    fences: Vec<Vec<u64>>,
    /// Words used of the payload of the page being written, of a heap.
    used: usize,
    /// The rows of the page being written.
    packer: RowPacker,
    /// The last row of the page before this one; empty in the first page of a section.
    last: Vec<u64>,
}

impl RunWriter {
    /// Begins the run `run` of the collection `collection`, by their ids, in a new file. Holds 1 MiB, and 8 bytes for
    /// each word of key and page.
    ///
    /// # Errors
    /// [`Error::Io`], also if there is a file of this name.
    pub fn create(storage: &dyn Storage, name: &str, collection: u64, run: u64) -> Result<RunWriter> {
        let path = storage.path(name);
        let writer = storage.create(name).map_err(|e| Error::io(&path, "create", e))?;
        let stream = PageStream {
            writer,
            path,
            seal: Seal::new(collection, run),
            // No page of it is touched before it is written: most runs of small loads have a few.
            buffer: bytemuck::zeroed_vec(APPEND),
            full: 0,
            pages: 0,
            sum: Xxh3::new(),
            told: None,
        };
        let (sections, fences, packer, last) = (Vec::new(), Vec::new(), RowPacker::default(), Vec::new());
        Ok(RunWriter { stream, sections, fences, used: 0, packer, last })
    }

    /// Has the bytes that are appended to the file counted as work of a stage.
    pub(in crate::collection) fn tell(&mut self, progress: &Progress) {
        self.stream.told = Some(Arc::clone(progress.counter()));
    }

    /// Begins a section of rows, which ends the one before.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If there is a section of this kind, or no row has this shape.
    pub fn rows(&mut self, kind: SectionKind, shape: Shape) -> Result<()> {
        assert!(shape.is_sound(), "no row has {shape:?}");
        self.begin(kind, Sort::Rows(shape))?;
        self.packer = RowPacker::new(shape.width);
        Ok(())
    }

    /// Writes a table: all of its rows, ascending.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// Those of [`RunWriter::rows`] and [`RunWriter::push`].
    pub fn table<const WIDTH: usize>(
        &mut self,
        table: Table,
        mut rows: impl Iterator<Item = [u64; WIDTH]>,
    ) -> Result<()> {
        self.rows(table.kind, table.shape)?;
        rows.try_for_each(|row| self.push(&row))
    }

    /// Begins a heap, which ends the section before.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If there is a section of this kind.
    pub fn heap(&mut self, kind: SectionKind) -> Result<()> {
        self.begin(kind, Sort::Heap)
    }

    fn begin(&mut self, kind: SectionKind, sort: Sort) -> Result<()> {
        assert!(self.sections.iter().all(|section| section.kind != kind), "two sections of {kind:?}");
        assert!(self.sections.len() < MAX_SECTIONS, "too many sections");
        self.end()?;
        self.sections.push(Section { kind, sort, count: 0, pages: 0, first: self.stream.pages, fences: 0 });
        self.fences.push(Vec::new());
        self.last.clear();
        Ok(())
    }

    /// Adds one row, or any number of words to a heap.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If no section was begun, or a row has another width than the others or does not come after the last one.
    #[inline]
    pub fn push(&mut self, words: &[u64]) -> Result<()> {
        match self.sections.last().expect("a section is begun before anything is pushed").sort {
            Sort::Rows(shape) => self.push_row(shape, words),
            Sort::Heap => self.push_words(words),
        }
    }

    #[inline]
    fn push_row(&mut self, shape: Shape, row: &[u64]) -> Result<()> {
        assert!(row.len() == shape.width, "a row of {} words among such of {}", row.len(), shape.width);
        if let Some(last) = self.packer.last_row() {
            assert!(last.first() < row.first() || last < row, "rows are not in order");
            if self.packer.push(row) {
                self.count(1);
                return Ok(());
            }
            self.close_page()?;
        }
        // An empty one comes before every row.
        assert!(self.last[..] < *row, "rows are not in order");
        if let Some(fences) = self.fences.last_mut() {
            fences.extend_from_slice(&row[..shape.key]);
        }
        // An empty page has room for any row.
        self.packer.push(row);
        self.count(1);
        Ok(())
    }

    fn push_words(&mut self, mut words: &[u64]) -> Result<()> {
        while !words.is_empty() {
            if self.used == PAYLOAD_WORDS {
                self.close_page()?;
            }
            let (now, later) = words.split_at(words.len().min(PAYLOAD_WORDS - self.used));
            self.stream.payload()[self.used..self.used + now.len()].copy_from_slice(now);
            self.used += now.len();
            self.count(now.len());
            words = later;
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, more: usize) {
        if let Some(section) = self.sections.last_mut() {
            section.count += more as u64;
        }
    }

    /// How many words the heap being written has so far: where the next value begins.
    ///
    /// # Panics
    /// If no heap is being written.
    pub fn position(&self) -> u64 {
        match self.sections.last() {
            Some(Section { sort: Sort::Heap, count, .. }) => *count,
            _ => panic!("only a heap has positions"),
        }
    }

    /// Ends the page being written.
    fn close_page(&mut self) -> Result<()> {
        let number = (self.sections.len() - 1) as u32;
        if let Some(last) = self.packer.last_row() {
            self.last.clear();
            self.last.extend_from_slice(last);
            self.used = self.packer.pack(self.stream.payload());
        }
        self.stream.close(number, self.used)?;
        self.used = 0;
        if let Some(section) = self.sections.last_mut() {
            section.pages += 1;
        }
        Ok(())
    }

    /// Ends the section being written.
    fn end(&mut self) -> Result<()> {
        if self.used > 0 || self.packer.last_row().is_some() {
            self.close_page()?;
        }
        Ok(())
    }

    /// Whether no section has anything yet.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.count == 0)
    }

    /// Writes what finds the rows again, and makes the file durable; its name is not until the folder is synced.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<RunSummary> {
        self.end()?;
        let stream = &mut self.stream;
        for (number, (section, fences)) in (0..).zip(self.sections.iter_mut().zip(&self.fences)) {
            if let Sort::Rows(shape) = section.sort {
                section.fences = stream.pages;
                stream.write(number | FENCES, fences, shape.fences_in_page() * shape.key)?;
            }
        }
        let directory = stream.pages;
        let entries: Vec<u64> = self.sections.iter().flat_map(|section| section.to_words()).collect();
        stream.write(DIRECTORY, &entries, ENTRIES_IN_PAGE * ENTRY_WORDS)?;
        let seal = stream.seal;
        let count = self.sections.len() as u64;
        let (pages, sum) = (stream.pages + 1, stream.sum.digest());
        let trailer: [u64; TRAILER_WORDS] =
            [MAGIC, RUN_VERSION, seal.collection(), seal.run(), directory, count, pages, sum];
        stream.write(TRAILER, &trailer, TRAILER_WORDS)?;
        stream.append()?;
        stream.writer.sync().map_err(|e| Error::io(&stream.path, "sync", e))?;
        Ok(RunSummary {
            sections: self.sections.iter().map(|section| (section.kind, section.count)).collect(),
        })
    }
}
