//! Records that a load refused, as far as it had come when it was interrupted. They have files of their own, one for each
//! epoch that refused any: there may be as many of them as there are records.

use serde::{Deserialize, Serialize};

use crate::collection::commit::log::{LogWriter, read_log};
use crate::collection::commit::names::Name;
use crate::error::{Error, Result};
use crate::hex;
use crate::read::Rejected;
use crate::storage::Storage;

/// The refused records of an epoch, as a checkpoint names their file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedEntry {
    /// The epoch, from 1.
    pub epoch: u32,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// The 128-bit XXH3 of the file.
    #[serde(with = "hex")]
    pub digest: u128,
}

/// A record that was refused, or the rest of an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::collection) struct RefusedRow {
    /// What is reported of it.
    pub(in crate::collection) rejected: Rejected,
    /// The index of the input, if it could not be read to its end.
    pub(in crate::collection) unread: Option<u32>,
}

/// Writes the refused records of an epoch of commit `commit`, so that they are durable as soon as their name is.
///
/// # Errors
/// [`Error::Io`].
pub(in crate::collection) fn write(
    storage: &dyn Storage,
    commit: u64,
    epoch: u32,
    rows: &[RefusedRow],
) -> Result<RefusedEntry> {
    let name = Name::Refused(commit, epoch);
    let mut log = LogWriter::create(storage, name)?;
    rows.iter().try_for_each(|row| log.line(row))?;
    let (bytes, digest) = log.finish()?;
    Ok(RefusedEntry { epoch, bytes, digest })
}

impl RefusedEntry {
    /// Adds the records to `rows`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub(in crate::collection) fn read(
        &self,
        storage: &dyn Storage,
        commit: u64,
        rows: &mut Vec<RefusedRow>,
    ) -> Result<()> {
        let name = Name::Refused(commit, self.epoch);
        let (mut begun, mut offset): (Vec<u8>, u64) = (Vec::new(), 0);
        let mut parse = |line: &[u8]| {
            let damaged = |e: serde_json::Error| {
                Error::damaged(&storage.path(&name.to_string()), offset, e.to_string())
            };
            rows.push(serde_json::from_slice(line).map_err(damaged)?);
            offset += line.len() as u64;
            Ok(())
        };
        read_log(storage, name, (self.bytes, self.digest), &mut |piece| {
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                begun.extend_from_slice(part);
                if begun.ends_with(b"\n") {
                    parse(&begun)?;
                    begun.clear();
                }
            }
            Ok(())
        })?;
        if begun.is_empty() { Ok(()) } else { parse(&begun) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Numbering;
    use crate::storage::Simulated;

    fn row(line: u64, reason: &str) -> RefusedRow {
        let rejected = Rejected {
            file: "a\nb".to_owned(),
            line,
            counted: Numbering::default(),
            offset: 7,
            reason: reason.to_owned(),
            no_text: false,
            records: line + 1,
        };
        RefusedRow { rejected, unread: (line == 0).then_some(3) }
    }

    #[test]
    fn rows_come_back_whatever_their_length() {
        let storage = Simulated::new();
        let long = "x".repeat(700_000);
        for (epoch, rows) in [(1, vec![]), (2, vec![row(1, ""), row(0, &long), row(2, &long), row(3, "y")])] {
            let entry = write(&storage, 5, epoch, &rows).expect("written");
            let mut read = Vec::new();
            entry.read(&storage, 5, &mut read).expect("read");
            assert_eq!(read, rows);
            let other = RefusedEntry { digest: 1, ..entry };
            assert!(matches!(other.read(&storage, 5, &mut read), Err(Error::Damaged { .. })));
            assert!(matches!(entry.read(&storage, 6, &mut read), Err(Error::Damaged { .. })));
        }
    }
}
