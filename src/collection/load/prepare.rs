//! A load: its epochs, each a dataflow on a part of the changes and what comes of it, then what they make of the clusters,
//! then the commit.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::collection::commit::changes::CommitCommand;
use crate::collection::commit::checkpoint::{Checkpoint, Consumed, LeftOutRecords, LoadInputs};
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::folder;
use crate::collection::commit::refused::{self, RefusedEntry, RefusedRow};
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::tally::LoadTally;
use crate::collection::commit::writer::Writer;
use crate::collection::distributed::protocol::LeaderCommand;
use crate::collection::load::load_base::LoadBase;
use crate::collection::load::load_base::earlier::EarlierEpochs;
use crate::collection::maintain::compact::between_epochs;
use crate::collection::maintain::local_runs::keep;
use crate::collection::recompute::replay::left;
use crate::collection::tables::frozen::frozen;
use crate::error::{Error, Result};
use crate::flow::{Components, LeftOutPositions, Loaded, Part};
use crate::lexicon::Lexicon;
use crate::limits::{MAX_FILES, sized};
use crate::method::FrozenTables;
use crate::progress::Progress;
use crate::read::{Extent, Rejected, Source, allow_refused, stands_alone};
use crate::resources::Resources;

/// What to load, and with what.
pub struct Batch {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Most bytes of input of an epoch, decompressed; `None`: what suits the memory.
    pub epoch_bytes: Option<u64>,
    /// Records of them that are passed over as if they were not there; a document of the same id counts as not mentioned.
    pub left_out: LeftOutPositions,
    /// Whether documents that the load does not mention go.
    pub delete_missing: bool,
    /// The lexicon that a collection is made with, if its method needs one; later loads have it already.
    pub lexicon: Option<Arc<Lexicon>>,
    /// How components are kept.
    pub components: Components,
    /// What the commit is noted as, with its time; `None`: it is not.
    pub command: Option<CommitCommand>,
    /// What this process may use, and the processes that take part with [`crate::collection::follow`], if there are any.
    pub resources: Resources,
}

/// A load that is worked out, and not committed yet: its refusals can still be looked at.
pub struct Prepared<'a> {
    pub(in crate::collection::load) writer: &'a mut Writer,
    pub(in crate::collection::load) batch: Batch,
    pub(in crate::collection::load) progress: Arc<Progress>,
    /// What the commit will be, as far as it has come.
    pub(in crate::collection::load) next: Manifest,
    /// The last commit, and the runs of the epochs.
    pub(in crate::collection::load) ahead: Snapshot,
    pub(in crate::collection::load) tally: LoadTally,
    pub(in crate::collection::load) epochs: u32,
    /// The numbers of the runs that the workers of all processes write in an epoch.
    pub(in crate::collection::load) workers_runs: Range<u64>,
    /// Runs that workers have written since this process began; once they are merged, the run that they become is none of these.
    pub(in crate::collection::load) newcomers_runs: HashSet<u64>,
    pub(in crate::collection::load) consumed: Vec<Consumed>,
    /// Records refused, in document order, and of which epochs they are durable.
    pub(in crate::collection::load) refused: Vec<RefusedRow>,
    pub(in crate::collection::load) kept: Vec<RefusedEntry>,
    /// Refused records that were there at the last checkpoint.
    pub(in crate::collection::load) noted: usize,
    /// What the last epoch left.
    pub(in crate::collection::load) last: Option<(Arc<LoadBase>, Loaded)>,
    pub(in crate::collection::load) frozen_tables: Option<Arc<FrozenTables>>,
    pub(in crate::collection::load) earlier: EarlierEpochs,
}

/// Runs the epochs of a load, or those that an interrupted one has left.
///
/// # Errors
/// [`Error::Unfinished`] if another load was interrupted; [`Error::Unreachable`] if a process that is not there keeps a run to
/// itself; those of reading, of the dataflow and of writing.
pub fn prepare<'a>(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
    let mut prepared = Prepared::begin(writer, batch, progress)?;
    match prepared.run_epochs() {
        Ok(()) => Ok(prepared),
        Err(error) => Err(prepared.writer.with_advice(error)),
    }
}

/// Part of the memory that the input of an epoch may be: short documents take several times their text.
const PART: u64 = 4;
/// Least bytes of an epoch, if nobody asks for fewer.
const LEAST: u64 = 1 << 20;
/// Least bytes of an epoch that is read again because it did not fit as it was.
const SMALLEST: u64 = 64 << 10;
/// Records to leave out that other processes are told of at a time.
const TOLD: usize = sized(1 << 20, 3);
/// Greatest label that a load may begin with: it leaves room for all that one load can take.
const MOST_LABELS: u32 = u32::MAX / 2;
/// Least documents that go at once.
pub(in crate::collection::load) const FEW: usize = 1 << 10;

/// How large the next epoch is. One that did not fit is read again in smaller ones; these grow again, since what did not fit may be a
/// family in one place. Each time that a larger one does not fit, twice as many have to fit before the next attempt.
struct EpochSize {
    bytes: u64,
    most: u64,
    /// Epochs that fitted since the last change, and how many have to before the size grows.
    fitted: (u32, u32),
    /// Whether the size has grown since it last shrank.
    has_grown: bool,
}

impl EpochSize {
    fn new(bytes: u64) -> EpochSize {
        EpochSize { bytes, most: bytes, fitted: (0, 1), has_grown: false }
    }

    fn shrink(&mut self, bytes: u64) {
        let wanted = if self.has_grown { self.fitted.1.saturating_mul(2) } else { self.fitted.1 };
        (self.bytes, self.fitted, self.has_grown) = (bytes, (0, wanted), false);
    }

    fn grow(&mut self) {
        self.fitted.0 += 1;
        if self.fitted.0 >= self.fitted.1 && self.bytes < self.most {
            (self.bytes, self.fitted.0, self.has_grown) = ((2 * self.bytes).min(self.most), 0, true);
        }
    }
}

/// Bytes of an epoch that begins at the same place and ends earlier than one of `bytes`, if there is one.
fn smaller(sources: &[Source], from: (u32, u64), bytes: u64) -> Option<u64> {
    let to = Extent::next(sources, from, bytes).to;
    let sizes = (0..SMALLEST.leading_zeros()).rev().map(|doublings| SMALLEST << doublings);
    let mut smaller = sizes.filter(|size| *size < bytes);
    smaller.find(|size| Extent::next(sources, from, *size).to != to)
}

/// Refuses a load whose numbers would not fit: those of loads and components have 32 bits in rows.
fn check_room(next: &Manifest, files: usize) -> Result<()> {
    let what = if next.next_file as usize + files > MAX_FILES {
        format!("more than {MAX_FILES} files were ever loaded; load larger files")
    } else if next.load >= u64::from(u32::MAX) || next.next_label > MOST_LABELS {
        "there are no more numbers for loads or components".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Limit(format!("{what}, or load what is there into a new collection")))
}

/// What a process may use for a load beside the records that are left out.
///
/// # Errors
/// [`Error::Limit`].
pub(in crate::collection::load) fn beside(
    resources: Resources,
    left_out: &LeftOutPositions,
) -> Result<Resources> {
    if left_out.is_empty() {
        return Ok(resources);
    }
    let what = "the records that --against leaves out";
    let memory = left(resources.memory, left_out.bytes(), resources.workers, what)?;
    Ok(Resources { memory, ..resources })
}

impl<'a> Prepared<'a> {
    fn begin(writer: &'a mut Writer, mut batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
        batch.resources = beside(batch.resources, &batch.left_out)?;
        let mut next = writer.next();
        check_room(&next, batch.sources.len())?;
        next.load += 1;
        let ahead = writer.snapshot().clone();
        let bound = batch.sources.iter().find(|source| !stands_alone(source.format));
        if let Some(source) = bound.filter(|_| ahead.manifest().store_text) {
            return Err(Error::input(
                Path::new(&source.shown),
                "a record of it is nothing without its file, and the collection keeps records (--store-text): load it into one \
                 that does not, or convert it to JSON Lines; an archive can be unpacked",
            ));
        }
        let frozen_tables = frozen(&ahead.tables())?;
        let memory = batch.resources.memory.unwrap_or(u64::MAX) / 10;
        let earlier = EarlierEpochs::none(ahead.runs().len(), memory);
        Ok(Prepared {
            writer,
            batch,
            progress,
            next,
            ahead,
            tally: LoadTally::default(),
            epochs: 0,
            workers_runs: 0..0,
            newcomers_runs: HashSet::new(),
            consumed: Vec::new(),
            refused: Vec::new(),
            kept: Vec::new(),
            noted: 0,
            last: None,
            frozen_tables,
            earlier,
        })
    }

    fn run_epochs(&mut self) -> Result<()> {
        let (mut at, mut lines) = self.resume()?;
        self.ahead.check_within_reach()?;
        keep(self.writer, self.batch.resources.peers.as_deref())?;
        if let Some(peers) = self.batch.resources.peers.clone() {
            peers.broadcast(&LeaderCommand::inputs(&self.batch.sources)?)?;
            for some in self.batch.left_out.positions().chunks(TOLD) {
                peers.broadcast(&LeaderCommand::LeftOut(some.to_vec()))?;
            }
        }
        let mut size = EpochSize::new(self.epoch_bytes());
        loop {
            let extent = Extent::next(&self.batch.sources, at, size.bytes);
            let mark = self.mark();
            let is_least = || Extent::next(&self.batch.sources, at, SMALLEST).to == extent.to;
            let divisible = size.bytes > SMALLEST && self.batch.resources.memory.is_some() && !is_least();
            match self.epoch(Part { extent, lines, divisible }) {
                Ok(read) => (at, lines) = (extent.to, read),
                // How much memory an epoch takes shows only when it is read.
                Err(Error::Limit(what)) => {
                    let bytes = smaller(&self.batch.sources, at, size.bytes).ok_or(Error::Limit(what))?;
                    size.shrink(bytes);
                    continue;
                }
                Err(error) => return Err(error),
            }
            size.grow();
            let last = || self.refused.last().map(|row| row.rejected.clone());
            allow_refused(self.refused.len(), (self.batch.resources.memory, 0), last)?;
            if at.0 as usize >= self.batch.sources.len() {
                self.tell(&mark, true);
                return Ok(());
            }
            self.checkpoint(extent, lines)?;
            self.tell(&mark, false);
        }
    }

    /// Goes on where an interrupted load ended: at a byte of a source, after so many lines of it.
    fn resume(&mut self) -> Result<((u32, u64), u64)> {
        let Some(pending) = self.writer.pending().cloned() else { return Ok(((0, 0), 0)) };
        let Batch { sources, left_out, delete_missing, resources, .. } = &self.batch;
        let threads = (resources.workers, &*self.progress);
        if let Some(differs) = pending.differs(sources, left_out, *delete_missing, threads)? {
            let folder = folder(&**self.writer.storage());
            return Err(Error::unfinished(&folder, pending.tally.records, &differs));
        }
        let at = (pending.at(), pending.lines);
        let Checkpoint { next, epoch, consumed, refused, tally, .. } = pending;
        self.earlier = EarlierEpochs::unknown(self.writer.snapshot().runs().len());
        self.ahead = self.writer.ahead(&next)?;
        self.frozen_tables = frozen(&self.ahead.tables())?;
        for entry in &refused {
            entry.read(&**self.writer.storage(), next.commit, &mut self.refused)?;
        }
        (self.kept, self.noted) = (refused, self.refused.len());
        (self.next, self.epochs, self.consumed, self.tally) = (next, epoch, consumed, tally);
        Ok(at)
    }

    fn epoch_bytes(&self) -> u64 {
        let suits = self.batch.resources.memory.map_or(u64::MAX, |memory| (memory / PART).max(LEAST));
        self.batch.epoch_bytes.unwrap_or(suits)
    }

    /// Makes the epochs so far durable, and sees to it that their runs are not too many.
    fn checkpoint(&mut self, extent: Extent, lines: u64) -> Result<()> {
        let first = self.writer.snapshot().runs().len();
        let others = (self.batch.resources.peers.as_deref(), &*self.progress);
        let merged = between_epochs(self.writer, &mut self.next, &self.ahead, first, others)?;
        if merged {
            self.ahead = self.ahead.advance(self.next.clone())?;
        }
        let Batch { sources, resources, .. } = &self.batch;
        self.consumed.push(Consumed::of(sources, extent, resources.workers, &self.progress)?);
        if self.refused.len() > self.noted {
            let (storage, new) = (self.writer.storage(), &self.refused[self.noted..]);
            self.kept.push(refused::write(&**storage, self.next.commit, self.epochs, new)?);
            self.noted = self.refused.len();
        }
        let checkpoint = Checkpoint {
            next: self.next.clone(),
            epoch: self.epochs,
            delete_missing: self.batch.delete_missing,
            inputs: LoadInputs::of(&self.batch.sources),
            left_out: LeftOutRecords::of(&self.batch.left_out),
            consumed: self.consumed.clone(),
            lines,
            refused: self.kept.clone(),
            tally: self.tally.clone(),
        };
        self.writer.checkpoint(checkpoint)?;
        if merged { keep(self.writer, self.batch.resources.peers.as_deref()) } else { Ok(()) }
    }

    /// Records refused, in document order.
    pub fn rejected(&self) -> impl ExactSizeIterator<Item = &Rejected> {
        self.refused.iter().map(|row| &row.rejected)
    }

    /// Records that were not.
    pub fn records(&self) -> u64 {
        self.tally.records
    }

    /// Takes away what was begun, because of an error; but only a refusal takes away epochs that are durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn give_up(self, error: &Error) -> Result<()> {
        match error {
            Error::Refused { .. } | Error::Input { .. } => self.abandon(),
            _ if self.writer.pending().is_none() => self.abandon(),
            _ => Ok(()),
        }
    }

    /// Takes away what was begun: nothing is committed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn abandon(self) -> Result<()> {
        self.writer.abandon()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_grow_again_and_seldom_in_vain() {
        let mut size = EpochSize::new(64);
        let (mut fitted, mut failed) = (0, 0);
        // A family of which no more than 5 bytes fit.
        while fitted < 1000 {
            if size.bytes > 5 {
                failed += 1;
                size.shrink(size.bytes / 2);
            } else {
                fitted += 1;
                size.grow();
            }
        }
        assert!(failed < 16, "{failed}");
        // What comes behind it fits.
        let mut read = 0;
        while size.bytes < 64 {
            size.grow();
            read += 1;
            assert!(read < 2500);
        }
    }
}
