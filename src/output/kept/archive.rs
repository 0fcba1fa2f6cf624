//! zip archives that lose members, or some of whose members are written anew: the others are copied as they stand.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::{CountedWrite, MemberFate, Source, ZipSource};

/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);

/// Writes an archive, of each member what `fate` says; its length. Members have numbers, and may have no content.
///
/// # Errors
/// [`Error::Input`] if the source is not what it was; [`Error::Io`] and [`Error::Interrupted`].
pub(super) fn write_archive(
    source: &Source,
    fate: &mut dyn FnMut(u64, bool) -> MemberFate,
    target: &Path,
    progress: &Progress,
) -> Result<u64> {
    let archive = ZipSource::open(source)?;
    let file = File::create_new(target).map_err(|error| Error::io(target, "create", error))?;
    let mut out = CountedWrite::new(BufWriter::with_capacity(BLOCK, file));
    let written = archive.write(fate, &mut out, progress).and_then(|()| out.flush());
    // What the system says is about the file being written, as what is read was read before.
    written.map_err(|error| match error.raw_os_error() {
        Some(_) => Error::io(target, "write", error),
        None => ZipSource::failed(source, error),
    })?;
    Ok(out.bytes())
}
