//! Batches of Arrow that stay, shrink or go, and the files made of them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::groups::{Fate, fate};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::output::chosen::ChosenRows;
use crate::progress::Progress;
use crate::read::{ArrowSource, BatchFate, PutBatch, RecordRoom, Source};

/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);

/// What went wrong, for people: what the system says is about the file being written, as what is read was read before.
fn told(source: &Source, target: &Path, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::io(target, "write", error),
        None => ArrowSource::failed(source, error),
    }
}

/// A file that must not exist.
fn created(target: &Path) -> Result<BufWriter<File>> {
    let made = File::create_new(target).map_err(|error| Error::io(target, "create", error))?;
    Ok(BufWriter::with_capacity(BLOCK, made))
}

/// The batches of a source that lose some of their rows, and the bytes of each.
///
/// # Errors
/// Those of [`ArrowSource::open`].
pub(super) fn shrinking(source: &Source, chosen: ChosenRows<'_>) -> Result<Vec<(usize, u64)>> {
    let file = ArrowSource::open(source)?;
    let shrinks = file.batches().enumerate().filter(|(_, rows)| fate(rows, chosen) == Fate::Shrinks);
    Ok(shrinks.map(|(batch, _)| (batch, file.bytes(batch))).collect())
}

/// Writes what is left of a batch, as a message.
///
/// # Errors
/// [`Error::Input`] if the source cannot be decoded; [`Error::Io`] and [`Error::Interrupted`].
pub(super) fn write_batch(
    source: &Source,
    chosen: ChosenRows<'_>,
    (batch, room): (usize, &RecordRoom),
    target: &Path,
    progress: &Progress,
) -> Result<()> {
    let file = ArrowSource::open_and_keep(source)?;
    let rows = file.batches().nth(batch).ok_or_else(|| Error::Changed(source.path.clone()))?;
    let written = file.write_batch(batch, &chosen.stretches(&rows), created(target)?, (room, progress));
    written.map_err(|error| told(source, target, error))
}

/// Puts a file together, of the batches that stay as they are and those that were written to `parts`; its length.
///
/// # Errors
/// Those of [`write_batch`].
pub(super) fn assemble(
    source: &Source,
    chosen: ChosenRows<'_>,
    part: &dyn Fn(usize) -> PathBuf,
    target: &Path,
    progress: &Progress,
) -> Result<u64> {
    let file = ArrowSource::open(source)?;
    let mut out = created(target)?;
    let fates: Vec<Fate> = file.batches().map(|rows| fate(&rows, chosen)).collect();
    let mut fate = |batch: usize, put: PutBatch<'_>| match fates[batch] {
        Fate::Goes => put(BatchFate::Goes),
        Fate::Stays => put(BatchFate::Stays),
        Fate::Shrinks => {
            let path = part(batch);
            let mut written = File::open(&path)?;
            let bytes = written.metadata()?.len();
            put(BatchFate::Written(&mut written, bytes))?;
            fs::remove_file(&path)
        }
    };
    let made = file.assemble(&mut fate, &mut out, progress).and_then(|()| out.flush());
    made.map_err(|error| told(source, target, error))?;
    fs::metadata(target).map(|made| made.len()).map_err(|error| Error::io(target, "read", error))
}
