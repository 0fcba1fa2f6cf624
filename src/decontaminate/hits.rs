//! What is found, in files: each worker has one, in document order, and they are read together.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document::Position;
use crate::error::{Error, Result};

/// A document with texts of benchmarks in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContaminatedDocument {
    /// Where it stands.
    pub position: Position,
    /// Its line, counted from 1 within its unit.
    pub line: u32,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The texts that stand in it, or those of which most stands there.
    pub items: Vec<ItemPassage>,
    /// How many more there are.
    pub unlisted: u64,
    /// First byte of each stretch that a text stands in, and the byte behind its last: ascending, and without common bytes.
    pub stretches: Vec<[u64; 2]>,
}

/// The best of the stretches of a document that a text stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemPassage {
    /// The number of the text.
    pub text: u32,
    /// How many stretches there are.
    pub passages: u32,
    /// How many of its n-grams were found in this one.
    pub found: u32,
    /// The first byte of the stretch in the text of the document.
    pub start: u64,
    /// The byte behind its last.
    pub end: u64,
    /// What stands there, or how it begins.
    pub excerpt: String,
}

/// Where names of such files begin.
const PREFIX: &str = "found-";

/// A file of documents that grows in document order.
pub(super) struct HitWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl HitWriter {
    /// Creates the file of a worker of a process.
    pub(super) fn create(folder: &Path, process: usize, worker: usize) -> Result<HitWriter> {
        let path = folder.join(format!("{PREFIX}{process}-{worker}"));
        let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        Ok(HitWriter { path, file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Appends a document.
    pub(super) fn write(&mut self, document: &ContaminatedDocument) -> Result<()> {
        let written = serde_json::to_writer(&mut self.file, document).map_err(io::Error::from);
        let written = written.and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|e| Error::io(&self.path, "write", e))
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(|e| Error::io(&self.path, "write", e))
    }
}

/// All that was found, in files of a folder.
pub struct Hits {
    files: Vec<PathBuf>,
}

impl Hits {
    /// What the workers of all processes have left in a folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn of(folder: &Path) -> Result<Hits> {
        let failed = |e| Error::io(folder, "read", e);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(Hits { files })
    }

    /// Hands all documents to `each`, in document order.
    ///
    /// # Errors
    /// [`Error::Io`], and what `each` gives.
    pub fn each(&self, each: &mut dyn FnMut(ContaminatedDocument) -> Result<()>) -> Result<()> {
        let mut readers = self.files.iter().map(|path| HitReader::open(path)).collect::<Result<Vec<_>>>()?;
        loop {
            let heads = readers.iter().enumerate();
            let first = heads.filter_map(|(at, reader)| Some((reader.next.as_ref()?.position, at))).min();
            let Some((_, at)) = first else { return Ok(()) };
            if let Some(document) = readers[at].take()? {
                each(document)?;
            }
        }
    }

    /// Removes the files.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(self) -> Result<()> {
        let remove = |path: &PathBuf| fs::remove_file(path).map_err(|e| Error::io(path, "remove", e));
        self.files.iter().try_for_each(remove)
    }
}

struct HitReader {
    path: PathBuf,
    file: BufReader<File>,
    line: String,
    next: Option<ContaminatedDocument>,
}

impl HitReader {
    fn open(path: &Path) -> Result<HitReader> {
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        let (file, line) = (BufReader::new(file), String::new());
        let mut reader = HitReader { path: path.to_path_buf(), file, line, next: None };
        reader.take()?;
        Ok(reader)
    }

    /// Gives the next document away, and reads the one behind it.
    fn take(&mut self) -> Result<Option<ContaminatedDocument>> {
        self.line.clear();
        let failed = |e| Error::io(&self.path, "read", e);
        let read = self.file.read_line(&mut self.line).map_err(failed)?;
        let next = (read > 0).then(|| serde_json::from_str(&self.line)).transpose();
        let next = next.map_err(|e| Error::io(&self.path, "read", e.into()))?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}
