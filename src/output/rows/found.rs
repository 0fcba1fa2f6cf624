//! What is found document by document, in files: each worker has one, in document order, and they are read together.

use crate::limits::sized;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::document::Position;
use crate::error::{Error, Result};

/// What is found of a document. Its field `position` says where it stands.
pub trait DocumentFinding: Serialize + DeserializeOwned {
    /// Where the document stands.
    fn position(&self) -> Position;
}

/// Where names of such files begin.
const PREFIX: &str = "found-";

/// A file of findings that grows in document order.
pub(crate) struct FindingWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl FindingWriter {
    /// Creates the file of a worker of a process.
    pub(crate) fn create(folder: &Path, process: usize, worker: usize) -> Result<FindingWriter> {
        let path = folder.join(format!("{PREFIX}{process}-{worker}"));
        let file = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        Ok(FindingWriter { path, file: BufWriter::with_capacity(sized(1 << 16, 64), file) })
    }

    /// Appends what was found of a document.
    pub(crate) fn write<T: DocumentFinding>(&mut self, finding: &T) -> Result<()> {
        let written = serde_json::to_writer(&mut self.file, finding).map_err(io::Error::from);
        let written = written.and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|e| Error::io(&self.path, "write", e))
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(|e| Error::io(&self.path, "write", e))
    }
}

/// All that was found, in files of a folder.
pub struct FindingFiles<T> {
    files: Vec<PathBuf>,
    of: PhantomData<T>,
}

impl<T: DocumentFinding> FindingFiles<T> {
    /// What the workers of all processes have left in a folder.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn of(folder: &Path) -> Result<FindingFiles<T>> {
        let failed = |e| Error::io(folder, "read", e);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(FindingFiles { files, of: PhantomData })
    }

    /// Hands all findings to `each`, in document order.
    ///
    /// # Errors
    /// [`Error::Io`], and what `each` gives.
    pub fn each(&self, each: &mut dyn FnMut(T) -> Result<()>) -> Result<()> {
        let mut readers =
            self.files.iter().map(|path| FindingReader::open(path)).collect::<Result<Vec<_>>>()?;
        loop {
            let heads = readers.iter().enumerate();
            let first = heads
                .filter_map(|(at, reader): (_, &FindingReader<T>)| {
                    Some((reader.next.as_ref()?.position(), at))
                })
                .min();
            let Some((_, at)) = first else { return Ok(()) };
            if let Some(finding) = readers[at].take()? {
                each(finding)?;
            }
        }
    }

    /// The offsets of the documents of which something was found, for each of `sources` files, ascending.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn offsets(&self, sources: usize) -> Result<Vec<Vec<u64>>> {
        let mut offsets = vec![Vec::new(); sources];
        let places = FindingFiles { files: self.files.clone(), of: PhantomData };
        places.each(&mut |FindingPlace { position }| {
            offsets[position.file() as usize].push(position.offset());
            Ok(())
        })?;
        Ok(offsets)
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

/// Where any finding stands; all else of it is passed over.
#[derive(Serialize, Deserialize)]
struct FindingPlace {
    position: Position,
}

impl DocumentFinding for FindingPlace {
    fn position(&self) -> Position {
        self.position
    }
}

struct FindingReader<T> {
    path: PathBuf,
    file: BufReader<File>,
    line: String,
    next: Option<T>,
}

impl<T: DocumentFinding> FindingReader<T> {
    fn open(path: &Path) -> Result<FindingReader<T>> {
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        let (file, line) = (BufReader::new(file), String::new());
        let mut reader = FindingReader { path: path.to_path_buf(), file, line, next: None };
        reader.take()?;
        Ok(reader)
    }

    /// Gives the next finding away, and reads the one behind it.
    fn take(&mut self) -> Result<Option<T>> {
        self.line.clear();
        let failed = |e| Error::io(&self.path, "read", e);
        let read = self.file.read_line(&mut self.line).map_err(failed)?;
        let next = (read > 0).then(|| serde_json::from_str(&self.line)).transpose();
        let next = next.map_err(|e| Error::io(&self.path, "read", e.into()))?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}
