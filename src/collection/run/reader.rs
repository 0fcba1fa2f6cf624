//! Opening a run: its last page, the directory, and the sections that it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::collection::run::directory::{
    DIRECTORY, ENTRIES_IN_PAGE, ENTRY_WORDS, MAGIC, RUN_VERSION, Section, SectionKind, Sort, TRAILER,
    sections,
};
use crate::collection::run::file::RunFile;
use crate::collection::run::heap::HeapReader;
use crate::collection::run::page::{PAGE_BYTES, PAGE_WORDS, PAYLOAD_WORDS, RawPage, Seal};
use crate::collection::run::rows::RowsReader;
use crate::collection::run::schema::{HEAPS, TABLES};
use crate::collection::run::verify::{verify_heap, verify_sum};
use crate::error::Result;
use crate::storage::Storage;

/// A section that can be read.
#[derive(Debug)]
enum SectionReader {
    Rows(RowsReader),
    Heap(HeapReader),
}

/// An open run.
#[derive(Debug)]
pub struct RunReader {
    /// In the order of the file.
    sections: Vec<(SectionKind, SectionReader)>,
    file: Arc<RunFile>,
    /// The hash of the checksums of all pages but the last.
    sum: u64,
    path: PathBuf,
    unreachable: Option<(u32, bool)>,
    values: Mutex<Vec<KnownValue>>,
}

/// A value of a heap that was read whole: where it starts, and its words.
type KnownValue = ((SectionKind, u64), Arc<Vec<u64>>);

/// Values of heaps that an open run keeps in memory.
const KEPT_VALUES: usize = 8;

impl RunReader {
    /// Opens the file `name` as run `run` of the collection `collection`, by their ids. Reads the last page and the
    /// directory and nothing else.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], and [`crate::error::Error::Damaged`] if the file is not this run.
    pub fn open(storage: &dyn Storage, name: &str, collection: u64, run: u64) -> Result<RunReader> {
        let file = RunFile::open(storage, name, Seal::new(collection, run))?;
        let (sections, sum) = read_directory(&file)?;
        let path = storage.path(name);
        Ok(RunReader::of(file, path, sections, sum))
    }

    /// A local run of a process, out of reach from here, whether or not others were asked for it: all that is known is how many rows, or words of a
    /// heap, each section has, by its name. Whatever is read from one that has any, [`crate::error::Error::Unreachable`] comes.
    pub(in crate::collection) fn unreachable(
        (path, whose): (PathBuf, (u32, bool)),
        (collection, run): (u64, u64),
        bytes: u64,
        rows: &BTreeMap<String, u64>,
    ) -> RunReader {
        let file = RunFile::unreachable((path.clone(), whose), Seal::new(collection, run), bytes);
        let tables = TABLES.iter().map(|table| (table.kind, table.name, Sort::Rows(table.shape)));
        let heaps = HEAPS.iter().map(|(kind, name)| (*kind, *name, Sort::Heap));
        let sections = tables.chain(heaps).filter_map(|(kind, name, sort)| {
            let count = rows.get(name).copied().filter(|count| *count > 0)?;
            // One page of rows is enough that whoever reads them finds that it is out of reach.
            let pages = if sort == Sort::Heap { count.div_ceil(PAYLOAD_WORDS as u64) } else { 1 };
            Some(Section { kind, sort, count, pages, first: 0, fences: 0 })
        });
        RunReader { unreachable: Some(whose), ..RunReader::of(file, path, sections.collect(), 0) }
    }

    fn of(file: RunFile, path: PathBuf, sections: Vec<Section>, sum: u64) -> RunReader {
        let file = Arc::new(file);
        let reader = |number, section: Section| match section.sort {
            Sort::Rows(shape) => {
                SectionReader::Rows(RowsReader::new(Arc::clone(&file), section, number, shape))
            }
            Sort::Heap => SectionReader::Heap(HeapReader::new(Arc::clone(&file), section, number)),
        };
        let sections =
            (0..).zip(sections).map(|(number, section)| (section.kind, reader(number, section))).collect();
        RunReader { sections, file, sum, path, unreachable: None, values: Mutex::default() }
    }

    /// The process that keeps the run to itself, if it is out of reach from here, and whether it was asked for.
    pub(in crate::collection) fn out_of_reach(&self) -> Option<(u32, bool)> {
        self.unreachable
    }

    /// Where the file is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.pages() * PAGE_BYTES as u64
    }

    /// The kinds of all sections, in the order they were written.
    pub fn kinds(&self) -> impl Iterator<Item = SectionKind> {
        self.sections.iter().map(|(kind, _)| *kind)
    }

    fn section(&self, kind: SectionKind) -> Option<&SectionReader> {
        self.sections.iter().find(|section| section.0 == kind).map(|(_, reader)| reader)
    }

    /// Reads every page: each must be sound, and all together those that were written when the run was finished.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] for the first that is not as it was written, and [`crate::error::Error::Io`].
    pub(in crate::collection) fn verify(&self) -> Result<()> {
        self.sections.iter().try_for_each(|(_, reader)| match reader {
            SectionReader::Rows(rows) => rows.verify(),
            SectionReader::Heap(heap) => verify_heap(heap),
        })?;
        verify_sum(&self.file, self.sum)
    }

    /// The rows of this kind, if the run has any such section.
    pub fn rows(&self, kind: SectionKind) -> Option<&RowsReader> {
        match self.section(kind)? {
            SectionReader::Rows(rows) => Some(rows),
            SectionReader::Heap(_) => None,
        }
    }

    /// The `count` words of a heap from `start` on, which several readers want again and again: the run keeps the values that were
    /// wanted last.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], also if there is no such heap or it has no such words; [`crate::error::Error::Io`].
    pub(in crate::collection) fn value(
        &self,
        kind: SectionKind,
        start: u64,
        count: u64,
    ) -> Result<Arc<Vec<u64>>> {
        let known = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let is = |(place, words): &KnownValue| *place == (kind, start) && words.len() as u64 == count;
        let take = |values: &mut Vec<KnownValue>| {
            let at = values.iter().position(is)?;
            // The last one wanted stays longest.
            values[..=at].rotate_right(1);
            values.first().map(|(_, words)| Arc::clone(words))
        };
        if let Some(words) = take(&mut known()) {
            return Ok(words);
        }
        let heap = self.heap(kind).ok_or_else(|| self.file.damaged(0, "rows without their heap"))?;
        if count > heap.len() {
            return Err(self.file.damaged(0, "a value is longer than its heap"));
        }
        let mut words = Vec::new();
        heap.read(start, count as usize, &mut words)?;
        let words = Arc::new(words);
        let mut values = known();
        // Another thread may have been faster.
        if let Some(words) = take(&mut values) {
            return Ok(words);
        }
        values.truncate(KEPT_VALUES - 1);
        values.insert(0, ((kind, start), Arc::clone(&words)));
        Ok(words)
    }

    /// The heap of this kind, if the run has one.
    pub fn heap(&self, kind: SectionKind) -> Option<&HeapReader> {
        match self.section(kind)? {
            SectionReader::Heap(heap) => Some(heap),
            SectionReader::Rows(_) => None,
        }
    }
}

/// Reads the trailer and the directory: the sections, and the hash of the checksums of all pages but the last.
fn read_directory(file: &RunFile) -> Result<(Vec<Section>, u64)> {
    let last = file.pages() - 1;
    let mut raw = [[0; PAGE_WORDS]];
    file.fetch(last, file.pages(), &mut raw)?;
    let stranger = stranger(&raw[0], file.seal());
    let trailer = file.check(&mut raw[0], last, TRAILER).map_err(|error| match stranger {
        Some(what) => file.damaged(last, what),
        None => error,
    })?;
    let &[MAGIC, version, _, _, directory, count, pages, sum] = trailer.payload() else {
        return Err(file.damaged(last, "the last page is not that of a run"));
    };
    if version != RUN_VERSION {
        let what = format!("a run of version {version}, and this alike knows version {RUN_VERSION}");
        return Err(file.damaged(last, what));
    }
    let directory_pages = count.div_ceil(ENTRIES_IN_PAGE as u64);
    if pages != file.pages() || directory > last || last - directory != directory_pages {
        return Err(file.damaged(last, "the last page is not that of a file of this length"));
    }
    let words = count as usize * ENTRY_WORDS;
    let entries = file.load(directory, DIRECTORY, words, ENTRIES_IN_PAGE * ENTRY_WORDS)?;
    let sections = sections(&entries, directory).map_err(|what| file.damaged(directory, what))?;
    Ok((sections, sum))
}

/// Whether a page that may not pass is the trailer of another run, in words.
fn stranger(raw: &RawPage, seal: Seal) -> Option<String> {
    let [magic, collection, run] = [2, 4, 5].map(|at| u64::from_le(raw[at]));
    let other = magic == MAGIC && (collection, run) != (seal.collection(), seal.run());
    other.then(|| {
        let (wanted, wanted_run) = (seal.collection(), seal.run());
        format!("run {run:016x} of collection {collection:016x}, not {wanted_run:016x} of {wanted:016x}")
    })
}
