//! Change logs: what a commit did to the documents, line by line. Here they are bytes.

use serde::{Deserialize, Serialize};

use crate::collection::commit::log::{LogWriter, read_log};
use crate::collection::commit::names::Name;
use crate::error::Result;
use crate::hex;
use crate::storage::Storage;

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
    /// Those of [`read_log`].
    pub(in crate::collection) fn read(
        &self,
        storage: &dyn Storage,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        read_log(storage, Name::Changes(self.commit), (self.bytes, self.digest), each)
    }
}

/// Writes the change log of a commit that is being prepared.
pub struct ChangesWriter {
    commit: u64,
    log: LogWriter,
}

impl ChangesWriter {
    /// Begins the change log of commit `commit` in a new file.
    pub(in crate::collection) fn create(storage: &dyn Storage, commit: u64) -> Result<ChangesWriter> {
        Ok(ChangesWriter { commit, log: LogWriter::create(storage, Name::Changes(commit))? })
    }

    /// Adds bytes at the end. Each call is a write: the caller gathers lines.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.log.append(bytes)
    }

    /// Makes the contents durable: what the manifest has to say of the log.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn finish(self) -> Result<ChangesEntry> {
        let (bytes, digest) = self.log.finish()?;
        Ok(ChangesEntry { commit: self.commit, bytes, digest })
    }
}
