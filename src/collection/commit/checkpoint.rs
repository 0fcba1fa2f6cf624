//! Checkpoints: what there is of a load that is not published yet, so that it need not begin anew. Readers never see them.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Name, names_in, sync_names};
use crate::collection::commit::refused::RefusedEntry;
use crate::collection::commit::sealed::{read_whole, seal, unseal};
use crate::collection::commit::tally::LoadTally;
use crate::error::{Error, Result};
use crate::flow::LeftOutPositions;
use crate::hex;
use crate::limits::{MAX_MANIFEST_BYTES, sized};
use crate::printable::counted;
use crate::progress::Progress;
use crate::read::{Extent, Source, bytes_of, from_anywhere};
use crate::storage::Storage;
use crate::threads::hand_out;

/// What every checkpoint begins with.
const START: &str = "alike checkpoint, format ";

/// A load between two of its epochs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// What the commit will be, as far as it has come.
    pub next: Manifest,
    /// How many epochs are done, from 1.
    pub epoch: u32,
    /// Whether documents that the load does not mention will go.
    pub delete_missing: bool,
    /// The inputs.
    pub inputs: LoadInputs,
    /// Which records of them are left out.
    #[serde(default, skip_serializing_if = "LeftOutRecords::is_none")]
    pub left_out: LeftOutRecords,
    /// What was read of them.
    pub consumed: Vec<Consumed>,
    /// Lines of the last file that was read in part.
    pub lines: u64,
    /// Where the records are that were refused.
    pub refused: Vec<RefusedEntry>,
    /// What was counted.
    pub tally: LoadTally,
}

/// The inputs of a load, as they are known again. There may be millions, so most are known by a digest of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadInputs {
    /// How many there are.
    pub count: u64,
    /// The 128-bit XXH3 of their paths, lengths, and what they are read as.
    #[serde(with = "hex")]
    pub digest: u128,
    /// The first of them, to be named.
    pub first: Vec<LoadInput>,
}

/// Inputs that are named one by one.
const NAMED: usize = 1000;

impl LoadInputs {
    /// Sources as inputs.
    pub fn of(sources: &[Source]) -> LoadInputs {
        let mut digest = Xxh3::new();
        for input in sources.iter().map(LoadInput::of) {
            digest.update(&(input.path.len() as u64).to_le_bytes());
            digest.update(input.path.as_bytes());
            digest.update(&input.bytes.to_le_bytes());
            digest.update(&input.format.to_le_bytes());
            digest.update(&input.compression.to_le_bytes());
        }
        let first = sources.iter().take(NAMED).map(LoadInput::of).collect();
        LoadInputs { count: sources.len() as u64, digest: digest.digest128(), first }
    }

    /// How other inputs differ from these, if they do.
    fn differ(&self, others: &LoadInputs) -> Option<String> {
        if self.count != others.count {
            return Some(format!("it had {} input files, not {}", self.count, others.count));
        }
        if let Some((was, is)) = self.first.iter().zip(&others.first).find(|(was, is)| was != is) {
            let LoadInput { path, bytes, .. } = was;
            if (path, bytes) == (&is.path, &is.bytes) {
                return Some(format!("it read {path} in another format"));
            }
            return Some(format!("it had {path} of {bytes} bytes, not {} of {}", is.path, is.bytes));
        }
        (self.digest != others.digest)
            .then(|| format!("an input file after the first {NAMED} has another name, length or format"))
    }
}

/// An input, as it is known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadInput {
    /// Its path, or what it is called.
    pub path: String,
    /// Its bytes on disk.
    pub bytes: u64,
    /// The number of the format that it is read in.
    #[serde(default)]
    pub format: u16,
    /// The number of its compression.
    #[serde(default)]
    pub compression: u32,
}

impl LoadInput {
    /// A source as an input.
    pub fn of(source: &Source) -> LoadInput {
        // What was spooled lies elsewhere each time.
        let path = from_anywhere(&source.path).unwrap_or_else(|_| source.path.clone());
        let path = if source.lasting { path.to_string_lossy().into_owned() } else { source.shown.clone() };
        let (format, compression) = (source.format.code(), source.compression.code());
        LoadInput { path, bytes: source.bytes, format, compression }
    }
}

/// The records that a load leaves out, as they are known again; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOutRecords {
    /// How many there are.
    pub count: u64,
    /// What [`LeftOutPositions::digest`] gives.
    #[serde(with = "hex")]
    pub digest: u128,
}

impl LeftOutRecords {
    /// Records as they are known again.
    pub fn of(left_out: &LeftOutPositions) -> LeftOutRecords {
        LeftOutRecords { count: left_out.len(), digest: left_out.digest() }
    }

    fn is_none(&self) -> bool {
        self.count == 0
    }

    /// How others differ from these, if they do.
    fn differ(&self, others: &LeftOutRecords) -> Option<String> {
        if self.count != others.count {
            let records = counted(self.count, "record");
            return Some(format!(
                "it left out {records} that resemble those of --against, not {}",
                others.count
            ));
        }
        (self.digest != others.digest)
            .then(|| "it left out other records that resemble those of --against".to_owned())
    }
}

/// What an epoch read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumed {
    /// The part of the inputs.
    pub extent: Extent,
    /// The 128-bit XXH3 of the digests of the pieces of its bytes on disk.
    #[serde(with = "hex")]
    pub digest: u128,
}

/// Bytes that are digested at a time: what was read is digested by several threads.
const PIECE: u64 = sized(16 << 20, 256);

impl Consumed {
    /// What reading `extent` of `sources` consumed; so many threads look at it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Changed`] and [`Error::Interrupted`].
    pub fn of(sources: &[Source], extent: Extent, threads: usize, progress: &Progress) -> Result<Consumed> {
        let mut pieces: Vec<(&Source, Range<u64>)> = Vec::new();
        for (file, source) in (0..).zip(sources) {
            let places = extent.of(file, source);
            if places.is_empty() {
                continue;
            }
            let bytes = bytes_of(source, places);
            let starts = (bytes.start..bytes.end.max(bytes.start + 1)).step_by(PIECE as usize);
            pieces.extend(starts.map(|start| (source, start..bytes.end.min(start + PIECE))));
        }
        let digest_of = |(source, bytes): &(&Source, Range<u64>)| -> Result<u128> {
            let mut digest = Xxh3::new();
            match source.version_digest() {
                Some(version) => digest.update(&version.to_le_bytes()),
                None => source.bytes_of(bytes.clone(), &mut |block| {
                    digest.update(block);
                    progress.check()
                })?,
            }
            Ok(digest.digest128())
        };
        let done = hand_out(pieces.len(), threads, || (), |(), at| digest_of(&pieces[at]))?;
        let mut digest = Xxh3::new();
        done.iter().for_each(|piece| digest.update(&piece.to_le_bytes()));
        Ok(Consumed { extent, digest: digest.digest128() })
    }
}

impl Checkpoint {
    /// Its file's name.
    pub(in crate::collection) fn name(&self) -> Name {
        Name::Checkpoint(self.next.commit, self.epoch)
    }

    /// Whether a file belongs to it.
    pub(in crate::collection) fn names(&self, name: Name) -> bool {
        let refused = |epoch| self.refused.iter().any(|entry| entry.epoch == epoch);
        match name {
            Name::Refused(commit, epoch) => commit == self.next.commit && refused(epoch),
            name => name == self.name() || self.next.names(name),
        }
    }

    /// Writes it, so that it and all that it names are durable. One that is too long to be read again is not begun.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Limit`].
    pub(in crate::collection) fn write(&self, storage: &dyn Storage) -> Result<()> {
        let name = self.name().to_string();
        let path = storage.path(&name);
        let bytes = seal(START, self).map_err(|e| Error::io(&path, "write", e))?;
        if bytes.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(Error::Limit(format!(
                "{}: a checkpoint of {} epochs would have more than {MAX_MANIFEST_BYTES} bytes; load with larger \
                 epochs, or split the input",
                path.display(),
                self.epoch
            )));
        }
        // It must not outlive the names that it speaks of.
        sync_names(storage)?;
        let mut file = storage.create(&name).map_err(|e| Error::io(&path, "create", e))?;
        file.append(&bytes).map_err(|e| Error::io(&path, "write", e))?;
        file.sync().map_err(|e| Error::io(&path, "sync", e))?;
        storage.sync_names().map_err(|e| Error::io(&path, "sync", e))
    }

    /// The last checkpoint of the commit after `last` that is whole. One that was being written when the power went is
    /// not, and its epoch is done again.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NewerFormat`] and [`Error::OlderFormat`].
    pub(in crate::collection) fn newest(
        storage: &dyn Storage,
        last: &Manifest,
    ) -> Result<Option<Checkpoint>> {
        let mut names = names_in(storage)?;
        names.retain(|name| matches!(name, Name::Checkpoint(commit, _) if *commit == last.commit + 1));
        names.sort_unstable();
        for name in names.into_iter().rev() {
            match Checkpoint::read(storage, name, last) {
                Err(Error::Damaged { .. }) => {}
                read => return read.map(Some),
            }
        }
        Ok(None)
    }

    fn read(storage: &dyn Storage, name: Name, last: &Manifest) -> Result<Checkpoint> {
        let path = storage.path(&name.to_string());
        let bytes = read_whole(storage, &name.to_string())?;
        let (checkpoint, at): (Checkpoint, usize) = unseal(START, "a checkpoint", &path, &bytes)?;
        let damaged = |what: String| Error::damaged(&path, at as u64, what);
        checkpoint.next.check_after(last).map_err(damaged)?;
        if checkpoint.name() != name || !checkpoint.next.runs.starts_with(&last.runs) {
            return Err(damaged("it does not go on from the last commit".to_owned()));
        }
        Ok(checkpoint)
    }

    /// Where reading goes on: index of a source and a byte of it.
    pub(in crate::collection) fn at(&self) -> (u32, u64) {
        self.consumed.last().map_or((0, 0), |consumed| consumed.extent.to)
    }

    /// Whether a load of these sources is the one that was interrupted; if not, what differs.
    ///
    /// # Errors
    /// Those of [`Consumed::of`].
    pub(in crate::collection) fn differs(
        &self,
        sources: &[Source],
        left_out: &LeftOutPositions,
        delete_missing: bool,
        (threads, progress): (usize, &Progress),
    ) -> Result<Option<String>> {
        if self.delete_missing != delete_missing {
            let said = if self.delete_missing { "with" } else { "without" };
            return Ok(Some(format!("it was begun {said} --delete-missing")));
        }
        if let Some(differs) = self.inputs.differ(&LoadInputs::of(sources)) {
            return Ok(Some(differs));
        }
        for consumed in &self.consumed {
            if Consumed::of(sources, consumed.extent, threads, progress)? != *consumed {
                let file = &sources[consumed.extent.from.0 as usize].shown;
                return Ok(Some(format!("{file} or a file after it has changed since")));
            }
        }
        Ok(self.left_out.differ(&LeftOutRecords::of(left_out)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::storage::Simulated;

    #[test]
    fn one_that_is_too_long_is_not_begun() {
        let inputs = LoadInputs {
            count: 1,
            digest: 0,
            first: vec![LoadInput {
                path: "x".repeat(MAX_MANIFEST_BYTES as usize),
                bytes: 1,
                format: 0,
                compression: 0,
            }],
        };
        let checkpoint = Checkpoint {
            next: Manifest::first(7, Config::default(), false),
            epoch: 1,
            delete_missing: false,
            inputs,
            left_out: LeftOutRecords::default(),
            consumed: Vec::new(),
            lines: 0,
            refused: Vec::new(),
            tally: LoadTally::default(),
        };
        let storage = Simulated::new();
        assert!(matches!(checkpoint.write(&storage), Err(Error::Limit(_))));
        assert!(storage.names().expect("names").is_empty());
    }

    #[test]
    fn left_out_records_are_told_apart_and_old_checkpoints_have_none() {
        let records = |positions: &[u64]| LeftOutRecords::of(&LeftOutPositions::new(positions.to_vec()));
        assert_eq!(records(&[3, 7]).differ(&records(&[7, 3])), None);
        assert!(records(&[3]).differ(&records(&[])).is_some_and(|differs| differs.contains("1 record that")));
        assert!(
            records(&[3]).differ(&records(&[4])).is_some_and(|differs| differs.contains("other records"))
        );
        assert_eq!(records(&[]), LeftOutRecords::default());
        assert!(records(&[]).is_none() && !records(&[0]).is_none());
    }

    #[test]
    fn inputs_that_are_not_named_are_told_apart_all_the_same() {
        let inputs = |digest| LoadInputs { count: 1001, digest, first: Vec::new() };
        assert_eq!(inputs(1).differ(&inputs(1)), None);
        assert!(inputs(1).differ(&inputs(2)).is_some_and(|differs| differs.contains("after the first 1000")));
        let others = LoadInputs { count: 3, ..inputs(1) };
        assert!(inputs(1).differ(&others).is_some_and(|differs| differs.contains("1001 input files, not 3")));
    }
}
