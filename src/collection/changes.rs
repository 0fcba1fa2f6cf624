//! Change logs: what a commit did to the documents, line by line. Here they are bytes.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::hex;
use super::names::Name;
use crate::error::{Error, Result};
use crate::storage::{Advice, Storage, Writer};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// A change log, as a manifest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesEntry {
    /// The commit that made the changes.
    pub commit: u64,
    /// Length of its file in bytes.
    pub bytes: u64,
    /// The 128-bit XXH3 of its file.
    #[serde(with = "hex")]
    pub digest: u128,
}

impl ChangesEntry {
    /// Hands the log's bytes to `each`, piece by piece; lines may span pieces.
    ///
    /// # Errors
    /// [`Error::Io`], what `each` gives, which ends the reading, and [`Error::Damaged`]: before the first piece if the
    /// length is not that of the log, and after the last one if the digest is not.
    pub(super) fn read(
        &self,
        storage: &dyn Storage,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let name = Name::Changes(self.commit).to_string();
        let path = storage.path(&name);
        let reader = match storage.open(&name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(Error::damaged(&path, 0, "the file is missing"));
            }
            opened => opened.map_err(|e| Error::io(&path, "open", e))?,
        };
        let bytes = reader.len().map_err(|e| Error::io(&path, "look at", e))?;
        if bytes != self.bytes {
            let what = format!("{bytes} bytes, where the manifest knows {}", self.bytes);
            return Err(Error::damaged(&path, bytes.min(self.bytes), what));
        }
        reader.advise(Advice::Sequential);
        let (mut digest, mut block) = (Xxh3::new(), vec![0; BLOCK]);
        for offset in (0..bytes).step_by(BLOCK) {
            let piece = &mut block[..(bytes - offset).min(BLOCK as u64) as usize];
            reader.read_exact_at(piece, offset).map_err(|e| Error::io(&path, "read", e))?;
            digest.update(piece);
            each(piece)?;
        }
        if digest.digest128() != self.digest {
            return Err(Error::damaged(
                &path,
                0,
                "the file does not have the digest that the manifest knows",
            ));
        }
        Ok(())
    }
}

/// Writes the change log of a commit that is being prepared.
pub struct ChangesWriter {
    writer: Box<dyn Writer>,
    path: PathBuf,
    entry: ChangesEntry,
    digest: Xxh3,
}

impl ChangesWriter {
    /// Begins the change log of commit `commit` in a new file.
    pub(super) fn create(storage: &dyn Storage, commit: u64) -> Result<ChangesWriter> {
        let name = Name::Changes(commit).to_string();
        let path = storage.path(&name);
        let writer = storage.create(&name).map_err(|e| Error::io(&path, "create", e))?;
        let entry = ChangesEntry { commit, bytes: 0, digest: 0 };
        Ok(ChangesWriter { writer, path, entry, digest: Xxh3::new() })
    }

    /// Adds bytes at the end. Each call is a write: the caller gathers lines.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.append(bytes).map_err(|e| Error::io(&self.path, "write", e))?;
        self.digest.update(bytes);
        self.entry.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Makes the contents durable: what the manifest has to say of the log.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<ChangesEntry> {
        self.writer.sync().map_err(|e| Error::io(&self.path, "sync", e))?;
        Ok(ChangesEntry { digest: self.digest.digest128(), ..self.entry })
    }
}
