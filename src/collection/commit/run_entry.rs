//! What a manifest says of a run, and opening a run as the one that it means.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::collection::RunReader;
use crate::collection::commit::names::{Keeper, Name};
use crate::collection::run::page::PAGE_BYTES;
use crate::error::{Error, Result};
use crate::hex;
use crate::storage::Storage;

/// A run, as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunEntry {
    /// Its id; no other run of the collection ever has it.
    pub id: u64,
    /// Length of its file in bytes.
    pub bytes: u64,
    /// The 64-bit XXH3 of its last page.
    #[serde(with = "hex")]
    pub digest: u64,
    /// How many rows, or words of a heap, are in each section, by the section's name.
    pub rows: BTreeMap<String, u64>,
    /// The process that keeps it to itself; `None` if it is in the folder of the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<Keeper>,
}

impl RunEntry {
    /// The entry of run `id`, which is finished. It is a local run of process `keeper`, if there is one.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] if the file is shorter than any run.
    pub fn of(
        storage: &dyn Storage,
        id: u64,
        keeper: Option<Keeper>,
        rows: BTreeMap<String, u64>,
    ) -> Result<RunEntry> {
        let name = Name::of_run(id, keeper).to_string();
        let path = storage.path(&name);
        match last_page(storage, &name).map_err(|e| Error::io(&path, "read", e))? {
            (bytes, Some(digest)) => Ok(RunEntry { id, bytes, digest, rows, keeper }),
            (bytes, None) => Err(too_short(&path, bytes)),
        }
    }

    /// The name of its file.
    pub(in crate::collection) fn name(&self) -> Name {
        Name::of_run(self.id, self.keeper)
    }

    /// Opens the run, whose file must be the one that was committed. A local run of a process that is out of reach from
    /// here, opens too: [`Error::Unreachable`] comes when any of its rows are asked for.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub(in crate::collection) fn open(&self, storage: &dyn Storage, collection: u64) -> Result<RunReader> {
        let name = self.name().to_string();
        let page = last_page(storage, &name);
        // Who has it is known once it was looked for.
        let path = storage.path(&name);
        let (bytes, digest) = match (page, self.keeper) {
            (Err(e), Some(keeper)) if e.kind() == io::ErrorKind::NotFound => {
                let whose = (keeper.process, storage.is_scattered());
                return Ok(RunReader::unreachable(
                    (path, whose),
                    (collection, self.id),
                    self.bytes,
                    &self.rows,
                ));
            }
            (page, _) => page.map_err(|e| Error::io(&path, "open", e))?,
        };
        if bytes != self.bytes {
            let what = format!("{bytes} bytes, where the manifest knows {}", self.bytes);
            return Err(Error::damaged(&path, bytes.min(self.bytes), what));
        }
        let digest = digest.ok_or_else(|| too_short(&path, bytes))?;
        // First, because it knows to say whose run a stranger is.
        let run = RunReader::open(storage, &name, collection, self.id)?;
        if digest != self.digest {
            let what = "the last page is sound, but not the one that was committed";
            return Err(Error::damaged(&path, bytes - PAGE_BYTES as u64, what));
        }
        Ok(run)
    }
}

/// The length of a file, and the digest of its last page if it has one.
fn last_page(storage: &dyn Storage, name: &str) -> io::Result<(u64, Option<u64>)> {
    let reader = storage.open(name)?;
    let bytes = reader.len()?;
    let Some(offset) = bytes.checked_sub(PAGE_BYTES as u64) else { return Ok((bytes, None)) };
    let mut page = [0; PAGE_BYTES];
    reader.read_exact_at(&mut page, offset)?;
    Ok((bytes, Some(xxh3_64(&page))))
}

fn too_short(path: &Path, bytes: u64) -> Error {
    Error::damaged(path, bytes, format!("{bytes} bytes are no run, which has a page at least"))
}
