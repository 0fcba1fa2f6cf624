//! The input files without the removed records, or these alone: same names, same compression, records byte for byte.

mod archive;
mod filter;
mod gzip;
mod job;
mod lz4;
mod members;
mod metered;
mod nested;
mod packer;
mod plan;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use super::chosen::{Chosen, Side};
#[cfg(feature = "parquet")]
use super::columns::KeptColumns;
use super::hands::{Hands, hand_out_among};
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::read::{
    Compression, Format, InputFile, RecordRoom, Source, boundaries, file_header, has_companions,
    is_one_record, lookahead, open_decompressed_again, stands_alone, with_companions,
};
use crate::threads::hand_out;
use filter::{RecordFilter, fill};
use job::{Job, KeptShare};
use metered::Metered;
use nested::{NestedArchives, Nesting};
use plan::{CopyPiece, CopySizes, Loss, between, cuts, measure, pieces};

pub use packer::Packer;

/// What [`write_kept`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct KeptTally {
    /// Files written.
    pub files: u64,
    /// Bytes of all inputs on disk.
    pub bytes_in: u64,
    /// Bytes of the written files on disk.
    pub bytes_out: u64,
    /// Records that are not written as nothing but blanks is left of their texts.
    #[serde(skip)]
    pub emptied: u64,
}

/// Writes `kept/NAME` under `staging` for each source, without its removed records, or `removed/NAME` for each that loses
/// something, with these alone.
///
/// A removed line goes with its newline; a plain-text source with any removed offset goes as a whole. What stands before
/// all records of a file, as the header of CSV does, is in both.
///
/// A compressed source that loses nothing is copied as it is; any other is compressed anew by one worker. Where there are
/// fewer of them than workers, gzip and Zstandard are compressed on several threads. Large uncompressed files are divided
/// among the workers. Progress is counted in bytes of the sources on disk. Other processes take part with [`assist_kept`].
/// What is decoded to be written again has to fit in some room.
///
/// # Errors
/// [`Error::Changed`] if a source is not what it was when it was opened, before or after; [`Error::Input`] if a name leads
/// out of the output folder; [`Error::Io`], [`Error::Interrupted`], and [`Error::Worker`] if a worker panics. Of several
/// processes [`Error::Lost`] and [`Error::GaveUp`].
pub fn write_kept(
    staging: &Path,
    sources: &[Source],
    chosen: Chosen<'_>,
    (hands, room): (Hands<'_>, &RecordRoom),
    progress: &Progress,
) -> Result<KeptTally> {
    write_kept_sized(staging, sources, chosen, (hands, room), progress, CopySizes::USUAL)
}

/// [`write_kept`] with other sizes of pieces and blocks, so that tests meet their borders.
fn write_kept_sized(
    staging: &Path,
    sources: &[Source],
    chosen: Chosen<'_>,
    (hands, room): (Hands<'_>, &RecordRoom),
    progress: &Progress,
    sizes: CopySizes,
) -> Result<KeptTally> {
    let Chosen { side, removed, ends } = chosen;
    assert!(removed.len() == sources.len() && ends.len() == sources.len(), "one entry a source");
    let folder = staging.join(side.folder());
    let nesting = Nesting::of(sources);
    let removed = &*nesting.with_whole_members(sources, chosen);
    let removed = &*all_removed(sources, removed, ends, hands.workers, progress)?;
    let chosen = Chosen { removed, ..chosen };
    let kept = KeptWriter { folder, sources, nesting, chosen, hands, room, progress, sizes };
    let written = kept.make_folders()?;
    let (composed, others): (Vec<usize>, Vec<usize>) =
        written.iter().partition(|&&i| kept.archives().is_composed(i));
    let (assembled, others): (Vec<usize>, Vec<usize>) = others.iter().partition(|&&i| kept.is_assembled(i));
    let (divided, whole): (Vec<usize>, Vec<usize>) = others.iter().partition(|&&i| kept.is_divided(i));
    let mut jobs: Vec<Job> = whole.iter().map(|&source| Job::Whole { source }).collect();
    kept.divide(&divided, &mut jobs)?;
    let (columns, archives): (Vec<usize>, Vec<usize>) =
        assembled.iter().partition(|&&source| sources[source].format != Format::Zip);
    jobs.extend(archives.iter().map(|&source| Job::Archive { source }));
    let mut last: Vec<Job> = Vec::new();
    debug_assert!(cfg!(feature = "parquet") || columns.is_empty());
    #[cfg(feature = "parquet")]
    {
        let groups = kept.columns().divide(&columns)?;
        let beside = groups.len() < kept.hands.all();
        let job = |(source, group, bytes)| Job::Group { source, group, bytes, beside };
        jobs.extend(groups.into_iter().map(job));
        last.extend(columns.iter().map(|&source| Job::Assembled { source }));
    }
    // Large jobs first, so that no worker is left with one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(kept.effort(job)));
    last.sort_by_key(|job| std::cmp::Reverse(kept.effort(job)));
    let composed = composed.into_iter().map(|source| Job::Composed { source }).collect();
    let bytes = kept.work_all(&[jobs, last, composed])?;
    kept.archives().remove_parts()?;
    #[cfg(feature = "parquet")]
    kept.columns().remove_parts()?;
    // Another process may have put them together.
    assembled.iter().for_each(|&source| sources[source].cuts.kept.forget());
    for &source in &divided {
        sources[source].unchanged()?;
    }
    Ok(KeptTally {
        files: written.iter().filter(|&&source| !kept.nesting.is_inside(source)).count() as u64,
        bytes_in: (0..sources.len())
            .filter(|&source| !kept.nesting.is_inside(source))
            .map(|source| sources[source].bytes)
            .sum(),
        bytes_out: bytes,
        emptied: 0,
    })
}

/// For each source the offsets of the records that are not written: the removed ones, and what only speaks of them.
fn all_removed<'a>(
    sources: &[Source],
    removed: &'a [Vec<u64>],
    ends: &[Option<u64>],
    workers: usize,
    progress: &Progress,
) -> Result<Cow<'a, [Vec<u64>]>> {
    let loses_more = |source: usize| !removed[source].is_empty() && has_companions(sources[source].format);
    if !(0..sources.len()).any(loses_more) {
        return Ok(Cow::Borrowed(removed));
    }
    let one = |(): &mut (), source: usize| {
        progress.check()?;
        if !loses_more(source) {
            return Ok(removed[source].clone());
        }
        let path = &sources[source].path;
        with_companions(&sources[source], &removed[source], ends[source])
            .map_err(|e| Error::io(path, "read", e))
    };
    hand_out(sources.len(), workers, || (), one).map(Cow::Owned)
}

/// Takes part in what process 0 writes with [`write_kept`]; `sources` are the same.
///
/// # Errors
/// Those of [`write_kept`]; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
pub fn assist_kept(
    sources: &[Source],
    (workers, room): (usize, &RecordRoom),
    peers: &Peers,
    progress: &Progress,
) -> Result<()> {
    let shared: KeptShare<'_> = peers.receive()?;
    let hands = Hands { workers, peers: Some(peers) };
    let chosen = Chosen { side: shared.side, removed: &shared.removed, ends: &shared.ends };
    let kept = KeptWriter {
        folder: shared.folder.into_owned(),
        sources,
        nesting: Nesting::of(sources),
        chosen,
        hands,
        room,
        progress,
        sizes: CopySizes::USUAL,
    };
    kept.work_all(&shared.jobs)?;
    // Another process may have put together what this one wrote parts of.
    sources.iter().for_each(|source| source.cuts.kept.forget());
    Ok(())
}

struct KeptWriter<'a> {
    folder: PathBuf,
    sources: &'a [Source],
    nesting: Nesting,
    chosen: Chosen<'a>,
    hands: Hands<'a>,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "lines are copied in blocks"))]
    room: &'a RecordRoom,
    progress: &'a Progress,
    sizes: CopySizes,
}

impl KeptWriter<'_> {
    /// Does all jobs, with the other processes if there are any, and then those that build on them; returns the bytes that
    /// were written.
    fn work_all(&self, jobs: &[Vec<Job>; 3]) -> Result<u64> {
        let leads = self.hands.peers.filter(|peers| peers.mesh().process() == 0);
        if let Some(peers) = leads {
            let folder = std::path::absolute(&self.folder).map_err(|e| Error::io(&self.folder, "find", e))?;
            let Chosen { side, removed, ends } = self.chosen;
            peers.broadcast(&KeptShare {
                folder: folder.into(),
                side,
                removed: removed.into(),
                ends: ends.into(),
                jobs: Cow::Borrowed(jobs),
            })?;
        }
        let [first, rest @ ..] = jobs;
        let mut bytes = self.work_some(first);
        for jobs in rest.iter().filter(|jobs| !jobs.is_empty()) {
            // Process 0 has heard from all others whether the parts are there, and says so.
            let goes_on = match (leads, self.hands.peers) {
                (Some(peers), _) => {
                    peers.broadcast(&bytes.is_ok())?;
                    bytes.is_ok()
                }
                // Who has failed has told nobody, and leaves the job.
                (None, Some(_)) if bytes.is_err() => false,
                (None, Some(peers)) => peers.receive()?,
                (None, None) => bytes.is_ok(),
            };
            if !goes_on {
                break;
            }
            bytes = bytes.and_then(|sum| Ok(sum + self.work_some(jobs)?));
        }
        bytes
    }

    /// Does all jobs of a list; returns the bytes that all processes have written.
    fn work_some(&self, jobs: &[Job]) -> Result<u64> {
        let threads = self.packing_threads(jobs);
        let work = |buffer: &mut Vec<u8>, i: usize| {
            let bytes = self.work(&jobs[i], threads, buffer)?;
            // What is put into an archive counts there.
            Ok(if self.nesting.is_inside(jobs[i].source()) { 0 } else { bytes })
        };
        hand_out_among(jobs.len(), self.hands, || self.buffer(), work, |sum, bytes| sum + bytes)
    }

    /// How many threads compress each source that is compressed anew: where there are few, those of workers that have none.
    fn packing_threads(&self, jobs: &[Job]) -> usize {
        let is_packed = |job: &&Job| matches!(job, Job::Whole { source } if !self.is_copied(*source));
        let packed = jobs.iter().filter(is_packed).count();
        (self.hands.all() / packed.max(1)).clamp(1, self.hands.workers.max(1))
    }

    /// Creates all folders; returns the sources that leave a file.
    fn make_folders(&self) -> Result<Vec<usize>> {
        let mut written = Vec::with_capacity(self.sources.len());
        let mut folders = BTreeSet::from([self.folder.clone()]);
        for (i, source) in self.sources.iter().enumerate() {
            if !self.archives().is_written(i) {
                // Removed because of what it said: it must still say it.
                source.unchanged()?;
                self.progress.advance(source.bytes);
                continue;
            }
            let inside = Path::new(&source.name).components().all(|c| matches!(c, Component::Normal(_)));
            if !inside || source.name.is_empty() {
                return Err(Error::input(&source.path, "cannot be given a name under the output folder"));
            }
            folders.extend(self.target(i).parent().map(Path::to_path_buf));
            written.push(i);
        }
        for folder in &folders {
            fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        }
        Ok(written)
    }

    fn archives(&self) -> NestedArchives<'_> {
        let KeptWriter { sources, chosen, progress, .. } = *self;
        NestedArchives { folder: &self.folder, sources, nesting: &self.nesting, chosen, progress }
    }

    fn target(&self, source: usize) -> PathBuf {
        self.archives().target(source)
    }

    fn buffer(&self) -> Vec<u8> {
        // It holds more than it may take to tell where a record ends.
        let most = self.sources.iter().map(|source| lookahead(source.format)).max().unwrap_or_default();
        vec![0; self.sizes.block.max(2 * most)]
    }

    /// Whether the source's bytes on disk are copied, rather than decompressed, filtered and compressed anew.
    fn is_copied(&self, source: usize) -> bool {
        let untouched = self.chosen.removed[source].is_empty() && self.chosen.ends[source].is_none();
        untouched
            || is_one_record(self.sources[source].format)
            || (matches!(self.sources[source].compression, Compression::None) && !self.is_assembled(source))
    }

    /// Whether the source is put together of parts: it loses records, and says elsewhere where these are.
    fn is_assembled(&self, source: usize) -> bool {
        !stands_alone(self.sources[source].format) && !self.chosen.removed[source].is_empty()
    }

    fn is_divided(&self, source: usize) -> bool {
        // To find where records end, some bytes are read twice, and an object comes from afar.
        let is_near = !self.sources[source].is_remote();
        is_near
            && self.hands.all() > 1
            && self.is_copied(source)
            && self.sources[source].bytes > self.sizes.piece
    }

    /// Good bytes of a source that is copied.
    fn len(&self, source: usize) -> u64 {
        let bytes = self.sources[source].bytes;
        self.chosen.ends[source].map_or(bytes, |end| end.min(bytes))
    }

    /// A measure of the time a job takes: compressing costs some thirty times as much as copying.
    fn effort(&self, job: &Job) -> u64 {
        match job {
            Job::Piece { piece, .. } => piece.end - piece.start,
            Job::Whole { source } if self.is_copied(*source) => self.sources[*source].bytes,
            Job::Whole { source } => self.sources[*source].bytes.saturating_mul(30),
            #[cfg(feature = "parquet")]
            Job::Group { bytes, .. } => bytes.saturating_mul(30),
            #[cfg(feature = "parquet")]
            Job::Assembled { source } => self.sources[*source].bytes,
            Job::Archive { source } | Job::Composed { source } => self.sources[*source].bytes,
        }
    }

    /// Adds the pieces of divided sources to `jobs` and creates their files in their final length.
    fn divide(&self, divided: &[usize], jobs: &mut Vec<Job>) -> Result<()> {
        for &source in divided {
            self.sources[source].unchanged()?;
            let (len, removed) = (self.len(source), &self.chosen.removed[source]);
            let losses = if removed.is_empty() {
                vec![Loss::default(); cuts(len, self.sizes)]
            } else {
                hand_out(
                    cuts(len, self.sizes),
                    self.hands.workers,
                    || self.buffer(),
                    |buffer, cut| {
                        self.progress.check()?;
                        let mut file = self.open(source)?;
                        let ends = boundaries(self.sources[source].format).expect("a file of records");
                        measure(&mut file, len, removed, cut, self.sizes, ends, buffer)
                            .map_err(|e| self.unread(source, e))
                    },
                )?
            };
            let target = self.target(source);
            let mut file = File::create_new(&target).map_err(|e| Error::io(&target, "create", e))?;
            let header = self.write_header(source, &mut file)?;
            let pieces = pieces(self.chosen.side, len, &losses, header, self.sizes);
            let written: u64 = pieces.iter().map(|piece| piece.written).sum();
            file.set_len(header + written).map_err(|e| Error::io(&target, "write", e))?;
            // What no piece covers counts as done: lines that fill whole cuts, a bad end.
            let covered: u64 = pieces.iter().map(|p| p.end - p.start).sum();
            self.progress.advance(self.sources[source].bytes - covered);
            jobs.extend(pieces.into_iter().map(|piece| Job::Piece { source, piece }));
        }
        Ok(())
    }

    /// Writes what stands before all records of a source, if they are written without it; returns how many bytes that are.
    fn write_header(&self, source: usize, output: &mut dyn Write) -> Result<u64> {
        if self.chosen.side != Side::Removed {
            return Ok(0);
        }
        let header = file_header(&self.sources[source]).map_err(|e| self.unread(source, e))?;
        output.write_all(&header).map_err(|e| Error::io(&self.target(source), "write", e))?;
        Ok(header.len() as u64)
    }

    /// Does a job; returns the bytes written.
    fn work(&self, job: &Job, threads: usize, buffer: &mut [u8]) -> Result<u64> {
        match *job {
            Job::Piece { source, piece } => self.copy_piece(source, piece, buffer),
            #[cfg(feature = "parquet")]
            Job::Group { source, group, bytes, beside } => {
                self.columns().write_group(source, group, bytes, beside)
            }
            #[cfg(feature = "parquet")]
            Job::Assembled { source } => self.columns().assemble(source, &self.target(source)),
            Job::Archive { source } | Job::Composed { source } => self.archives().compose(source),
            Job::Whole { source } => {
                self.sources[source].unchanged()?;
                let bytes = self.write_whole(source, threads, buffer)?;
                self.sources[source].unchanged()?;
                Ok(bytes)
            }
        }
    }

    /// The sources that are put together of parts.
    #[cfg(feature = "parquet")]
    fn columns(&self) -> KeptColumns<'_> {
        let KeptWriter { sources, chosen, room, progress, .. } = *self;
        KeptColumns { folder: &self.folder, sources, chosen, room, progress }
    }

    fn copy_piece(&self, source: usize, piece: CopyPiece, buffer: &mut [u8]) -> Result<u64> {
        let (mut input, target) = (self.open(source)?, self.target(source));
        input.seek(SeekFrom::Start(piece.start)).map_err(|e| self.unread(source, e))?;
        let mut output =
            OpenOptions::new().write(true).open(&target).map_err(|e| Error::io(&target, "write", e))?;
        output.seek(SeekFrom::Start(piece.to)).map_err(|e| Error::io(&target, "write", e))?;
        let mut filter =
            self.filter(source, between(&self.chosen.removed[source], piece.start, piece.end), piece.start);
        let len = Some(piece.end - piece.start);
        let written = self.pump(source, &mut input, &mut output, &mut filter, len, buffer)?;
        // The lines are not where they were when they were measured.
        if written == piece.written {
            Ok(written)
        } else {
            Err(Error::Changed(self.sources[source].path.clone()))
        }
    }

    fn write_whole(&self, source: usize, threads: usize, buffer: &mut [u8]) -> Result<u64> {
        let target = self.target(source);
        let failed = |e| Error::io(&target, "write", e);
        let mut output = File::create_new(&target).map_err(|e| Error::io(&target, "create", e))?;
        let mut filter = self.filter(source, &self.chosen.removed[source], 0);
        if self.is_copied(source) {
            let len = Some(self.len(source));
            self.progress.advance(self.sources[source].bytes - self.len(source));
            let header = self.write_header(source, &mut output)?;
            let input = &mut self.open(source)?.expect(0..self.len(source));
            return Ok(header + self.pump(source, input, &mut output, &mut filter, len, buffer)?);
        }
        if let Some(members) = self.members(source)? {
            return self.write_members(source, &members, &mut output);
        }
        let len = self.chosen.ends[source];
        // Where nothing is good, it may be that nothing can be opened.
        let mut input: Box<dyn Read + Send> = match len {
            Some(0) => Box::new(io::empty()),
            _ => open_decompressed_again(&self.sources[source]).map_err(|e| self.unread(source, e))?,
        };
        let mut metered = Metered {
            output,
            written: 0,
            left: self.sources[source].bytes,
            progress: self.progress,
            failed: false,
        };
        let Source { format, compression, .. } = self.sources[source];
        let mut packer = Packer::with_threads(format, compression, threads, &mut metered).map_err(failed)?;
        if len != Some(0) {
            self.write_header(source, &mut packer)?;
        }
        self.pump(source, &mut *input, &mut packer, &mut filter, len, buffer)?;
        packer.finish().map_err(failed)?;
        self.progress.advance(metered.left);
        Ok(metered.written)
    }

    /// Passes `input`, all of it or its first `len` bytes, through `filter` to `output`; returns the bytes written.
    fn pump(
        &self,
        source: usize,
        input: &mut dyn Read,
        output: &mut dyn Write,
        filter: &mut RecordFilter<'_>,
        len: Option<u64>,
        buffer: &mut [u8],
    ) -> Result<u64> {
        let (mut left, mut total, mut held) = (len.unwrap_or(u64::MAX), 0, 0);
        while left > 0 {
            self.progress.check()?;
            let want = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len() - held);
            let read = fill(input, &mut buffer[held..held + want]).map_err(|e| self.unread(source, e))?;
            if read == 0 && len.is_none() {
                break;
            }
            if read == 0 {
                return Err(Error::Changed(self.sources[source].path.clone()));
            }
            let filled = held + read;
            let kept = filter.apply(&mut buffer[..filled]);
            output.write_all(&buffer[..kept]).map_err(|e| Error::io(&self.target(source), "write", e))?;
            if self.is_copied(source) {
                self.progress.advance(read as u64);
            }
            held = filter.held();
            buffer.copy_within(filled - held..filled, 0);
            left -= read as u64;
            total += kept as u64;
        }
        // Nothing follows that could begin a record with them.
        let last = &buffer[..filter.rest()];
        output.write_all(last).map_err(|e| Error::io(&self.target(source), "write", e))?;
        Ok(total + last.len() as u64)
    }

    /// Drops the records at `removed` from a source's bytes, which begin at `position`, or all others.
    fn filter<'a>(&self, source: usize, removed: &'a [u64], position: u64) -> RecordFilter<'a> {
        RecordFilter::new(self.chosen.side, removed, position, boundaries(self.sources[source].format))
    }

    fn open(&self, source: usize) -> Result<InputFile> {
        self.sources[source].open().map_err(|e| self.unread(source, e))
    }

    fn unread(&self, source: usize, error: io::Error) -> Error {
        let path = &self.sources[source].path;
        // What is copied is read by lengths known beforehand: it ends early only if it shrank.
        if error.kind() == io::ErrorKind::UnexpectedEof && self.is_copied(source) {
            return Error::Changed(path.clone());
        }
        Error::io(path, "read", error)
    }
}
