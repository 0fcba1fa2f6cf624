//! Where documents came from: the files that loads read, and opening them again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{LABELS, SOURCES};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::Tables;
use crate::collection::tables::document::{pack, unpack, wide, words_of};
use crate::collection::tables::rows::columns;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::read::{Compression, Format, STDIN, Source, file_digests, from_anywhere};

/// A file that a load read, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its number among all files that the collection ever read.
    pub file: u32,
    /// Where it was, an absolute path; empty if it was made for the load only, as standard input is.
    pub path: String,
    /// The path as it is shown to people.
    pub shown: String,
    /// Where its documents go when they are written out: a relative path, unique among the files of its load.
    pub name: String,
    /// How documents stand in it.
    pub format: Format,
    /// How it is compressed.
    pub compression: Compression,
    /// Its size on disk.
    pub bytes: u64,
    /// The 128-bit XXH3 of the file as it lay on disk; 0 if it could not be read to its end.
    pub digest: u128,
    /// Whether it may be opened again: not what was made for the load only, what has a path that is not UTF-8, and
    /// what could not be read to its end.
    pub reopens: bool,
}

/// The files of a load, whose first number is `first_file`, but for the digests of those that are `unread`. They are taken
/// now, after the files were read, by `threads` threads.
///
/// # Errors
/// Those of [`crate::read::file_digest`].
pub fn sources_of(
    sources: &[Source],
    unread: &[u32],
    first_file: u32,
    threads: usize,
    progress: &Progress,
) -> Result<Vec<SourceEntry>> {
    let readable = |at: usize| !unread.contains(&(at as u32));
    let digests = file_digests(sources, threads, &readable, progress)?;
    let numbered = (first_file..).zip(sources.iter().zip(digests));
    Ok(numbered.map(|(file, (source, digest))| SourceEntry::new(file, source, digest)).collect())
}

impl SourceEntry {
    /// The column that says where the names start.
    pub(in crate::collection) const NAMES: usize = 4;

    /// The number of a row's file, as it stands there.
    pub(in crate::collection) fn file_of(row: &[u64]) -> u64 {
        let [file] = columns(row);
        file
    }

    fn new(file: u32, source: &Source, digest: Option<u128>) -> SourceEntry {
        let absolute = from_anywhere(&source.path).ok().filter(|_| source.lasting);
        let utf8 = absolute.as_ref().is_some_and(|path| path.to_str().is_some());
        SourceEntry {
            file,
            path: absolute.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            shown: source.shown.clone(),
            name: source.name.clone(),
            format: source.format,
            compression: source.compression,
            bytes: source.bytes,
            digest: digest.unwrap_or_default(),
            reopens: utf8 && digest.is_some(),
        }
    }

    /// The file, to be read again. Size and digest of all of it are held against what was loaded.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be opened again, or is gone; [`Error::Changed`] if it is another one now;
    /// [`Error::Io`].
    pub fn open(&self) -> Result<Source> {
        self.open_watched(&Progress::default())
    }

    /// [`SourceEntry::open`] for who needs the file: if it is not what was loaded, the error says what to do.
    ///
    /// # Errors
    /// [`Error::Input`] in place of [`Error::Changed`]; [`Error::Interrupted`] if `progress` is stopped; else those of [`SourceEntry::open`].
    pub fn open_or_advise(&self, progress: &Progress) -> Result<Source> {
        self.open_watched(progress).map_err(|error| lost(self, error))
    }

    fn open_watched(&self, progress: &Progress) -> Result<Source> {
        if !self.reopens {
            return Err(Error::input(Path::new(&self.shown), self.why_gone()));
        }
        let source = Source {
            shown: self.shown.clone(),
            name: self.name.clone(),
            ..Source::new(PathBuf::from(&self.path), self.format, self.compression, self.bytes)
        };
        source.again(self.digest, progress)
    }

    /// Why a file that does not reopen cannot be read again, and what to do.
    fn why_gone(&self) -> String {
        let (why, instead) = match self.path.as_str() {
            "" if self.shown == STDIN => ("it was standard input", "load its documents from a file"),
            "" => (
                "it stood in an archive, and its copy went with the load",
                "unpack the archive, and load the folder into a new collection",
            ),
            _ => (
                "its path is not UTF-8, or it could not be read to its end when it was loaded",
                "load its documents from another file",
            ),
        };
        format!(
            "cannot be read again: {why}; {instead}, or make the collection with --store-text, which keeps all records"
        )
    }

    /// Writes the names into the heap being written: where they start.
    pub(in crate::collection) fn write_names(&self, run: &mut RunWriter) -> Result<u64> {
        let start = run.position();
        let names = [self.path.as_str(), &self.shown, &self.name].concat();
        run.push(&words_of(names.as_bytes()).collect::<Vec<_>>())?;
        Ok(start)
    }

    /// The row, given where the names start.
    pub(in crate::collection) fn to_row(&self, start: u64) -> [u64; 7] {
        let [path, shown, name] = [&self.path, &self.shown, &self.name].map(|name| name.len() as u32);
        let compression = self.compression.code();
        let [kind, parameter] = self.format.code().to_le_bytes().map(u32::from);
        let form = kind | compression << 8 | u32::from(self.reopens) << 16 | parameter << 24;
        let digest = [(self.digest >> 64) as u64, self.digest as u64];
        let file = u64::from(self.file);
        [file, self.bytes, digest[0], digest[1], start, pack(path, shown), pack(name, form)]
    }

    /// What a row says, with the names that stand in its run.
    pub(in crate::collection) fn of_row(row: &[u64], run: &RunReader) -> Result<SourceEntry> {
        let damaged = |what: &str| Error::damaged(run.path(), 0, what);
        let [file, bytes_on_disk, high, low, start, path_shown, name_form] = columns(row);
        let ((path, shown), (_, form)) = (unpack(path_shown), unpack(name_form));
        let mut words = Vec::new();
        let heap = run.heap(LABELS).ok_or_else(|| damaged("a source without its names"))?;
        heap.read(start, name_words(row), &mut words)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = name_bytes(row);
        let (path, shown) = (path as usize, path as usize + shown as usize);
        let name = |bytes: &[u8]| {
            std::str::from_utf8(bytes)
                .map(str::to_owned)
                .map_err(|_| damaged("a source with a name that is not UTF-8"))
        };
        let code = (form & 0xff) as u16 | ((form >> 24) as u16) << 8;
        let format =
            Format::of_code(code).ok_or_else(|| damaged("a source of a format that is not known"))?;
        let compression = Compression::of_code(form >> 8 & 0xff)
            .ok_or_else(|| damaged("a source of a compression that is not known"))?;
        Ok(SourceEntry {
            file: file as u32,
            path: name(&bytes[..path])?,
            shown: name(&bytes[path..shown])?,
            name: name(&bytes[shown..end])?,
            format,
            compression,
            bytes: bytes_on_disk,
            digest: wide(high, low),
            reopens: form >> 16 & 1 == 1,
        })
    }
}

/// Bytes of the names of a source's row.
fn name_bytes(row: &[u64]) -> usize {
    let [_, _, _, _, _, path_shown, name_form] = columns(row);
    let ((path, shown), (name, _)) = (unpack(path_shown), unpack(name_form));
    path as usize + shown as usize + name as usize
}

/// Words that the names of a source's row take.
pub(in crate::collection) fn name_words(row: &[u64]) -> usize {
    name_bytes(row).div_ceil(8)
}

/// A source that is not what it was, with what can be done about it.
fn lost(entry: &SourceEntry, error: Error) -> Error {
    let (path, what) = match error {
        Error::Changed(path) => (path, "is not the file that was loaded any more"),
        Error::Input { path, .. } if entry.reopens => (path, "the file that was loaded is gone"),
        other => return other,
    };
    Error::input(
        &path,
        format!(
            "{what}; restore it, or load into a collection made with --store-text, which keeps all records \
             (documents that are loaded again unchanged stay with the file that brought them)"
        ),
    )
}

/// The sources of ascending, distinct numbers of files.
///
/// # Errors
/// [`Error::Damaged`], also if one of them is in no run, and [`Error::Io`].
pub fn sources(tables: &Tables, files: &[u64]) -> Result<BTreeMap<u32, SourceEntry>> {
    let mut found = BTreeMap::new();
    tables.newest(SOURCES, files, &mut |_, run, row| {
        let source = SourceEntry::of_row(row, run)?;
        found.insert(source.file, source);
        Ok(())
    })?;
    match files.iter().find(|file| !found.contains_key(&(**file as u32))) {
        Some(file) => {
            let path = tables.runs.last().map_or_else(Default::default, |run| run.path().to_path_buf());
            Err(Error::damaged(&path, 0, format!("file {file} is in no run up to this one")))
        }
        None => Ok(found),
    }
}

impl Snapshot {
    /// The files that documents came from, ascending by number. Files without live documents may be among them until
    /// the runs are compacted.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Io`].
    pub fn sources(&self) -> Result<Vec<SourceEntry>> {
        let tables = self.tables();
        let runs: Vec<_> = tables.having(SOURCES).collect();
        let (mut rows, mut sources) = (tables.scan(SOURCES), Vec::new());
        while let Some((source, row)) = rows.next_of_source()? {
            sources.push(SourceEntry::of_row(row, runs[source])?);
        }
        Ok(sources)
    }
}
