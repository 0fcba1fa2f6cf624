//! Files that grow line by line and are known by their length and digest: change logs, and refused records of a load.

use std::io;
use std::path::PathBuf;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::collection::commit::names::Name;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::storage::{Advice, FileWriter, Storage};

/// Bytes read at once.
const BLOCK: usize = sized(256 << 10, 100);
/// Bytes of lines written at once.
const AT_ONCE: usize = sized(1 << 20, 64);

/// What a finished log is known by: its length in bytes, and the 128-bit XXH3 of all of them.
pub(in crate::collection) type Seal = (u64, u128);

/// Hands the bytes of a log to `each`, piece by piece; lines may span pieces.
///
/// # Errors
/// [`Error::Io`], what `each` gives, which ends the reading, and [`Error::Damaged`]: before the first piece if the
/// length is not that of the log, and after the last one if the digest is not.
pub(in crate::collection) fn read_log(
    storage: &dyn Storage,
    name: Name,
    (length, sum): Seal,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let name = name.to_string();
    let path = storage.path(&name);
    let reader = match storage.open(&name) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(Error::damaged(&path, 0, "the file is missing"));
        }
        opened => opened.map_err(|e| Error::io(&path, "open", e))?,
    };
    let bytes = reader.len().map_err(|e| Error::io(&path, "look at", e))?;
    if bytes != length {
        let what = format!("{bytes} bytes, where the manifest knows {length}");
        return Err(Error::damaged(&path, bytes.min(length), what));
    }
    reader.advise(Advice::Sequential);
    let (mut digest, mut block) = (Xxh3::new(), vec![0; BLOCK]);
    for offset in (0..bytes).step_by(BLOCK) {
        let piece = &mut block[..(bytes - offset).min(BLOCK as u64) as usize];
        reader.read_exact_at(piece, offset).map_err(|e| Error::io(&path, "read", e))?;
        digest.update(piece);
        each(piece)?;
    }
    if digest.digest128() != sum {
        return Err(Error::damaged(&path, 0, "the file does not have the digest that the manifest knows"));
    }
    Ok(())
}

/// Writes a log.
pub(in crate::collection) struct LogWriter {
    writer: Box<dyn FileWriter>,
    path: PathBuf,
    bytes: u64,
    digest: Xxh3,
    /// Lines that are not written yet.
    lines: Vec<u8>,
}

impl LogWriter {
    /// Begins a log in a new file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::collection) fn create(storage: &dyn Storage, name: Name) -> Result<LogWriter> {
        let name = name.to_string();
        let path = storage.path(&name);
        let writer = storage.create(&name).map_err(|e| Error::io(&path, "create", e))?;
        Ok(LogWriter { writer, path, bytes: 0, digest: Xxh3::new(), lines: Vec::new() })
    }

    /// Adds a line of JSON at the end.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::collection) fn line(&mut self, row: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.lines, row).map_err(|e| Error::io(&self.path, "write", e.into()))?;
        self.lines.push(b'\n');
        if self.lines.len() > AT_ONCE { self.write_lines() } else { Ok(()) }
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::collection) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.lines.extend_from_slice(bytes);
        self.write_lines()
    }

    fn write_lines(&mut self) -> Result<()> {
        self.writer.append(&self.lines).map_err(|e| Error::io(&self.path, "write", e))?;
        self.digest.update(&self.lines);
        self.bytes += self.lines.len() as u64;
        self.lines.clear();
        Ok(())
    }

    /// Makes the contents durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::collection) fn finish(mut self) -> Result<Seal> {
        self.write_lines()?;
        self.writer.sync().map_err(|e| Error::io(&self.path, "sync", e))?;
        Ok((self.bytes, self.digest.digest128()))
    }
}
