//! Row groups that stay, shrink or go, and the files made of them.

use std::fs::{self, File};
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::encode::write_column;
use super::failure::Failure;
use super::properties;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::read::{ParquetSource, Source};

/// Bytes that are written at once.
const BLOCK: usize = 256 << 10;

type Writer = SerializedFileWriter<BufWriter<File>>;

/// What becomes of a row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It loses nothing.
    Stays,
    /// It loses some rows.
    Shrinks,
    /// It loses all rows.
    Goes,
}

/// What becomes of rows of which those at the ascending places `removed` go.
fn fate(rows: &Range<u64>, removed: &[u64]) -> Fate {
    match lost(rows, removed).len() as u64 {
        0 if !rows.is_empty() => Fate::Stays,
        lost if lost == rows.end - rows.start => Fate::Goes,
        _ => Fate::Shrinks,
    }
}

/// Of the removed rows those that are among some.
fn lost<'a>(rows: &Range<u64>, removed: &'a [u64]) -> &'a [u64] {
    &removed[removed.partition_point(|row| *row < rows.start)..removed.partition_point(|row| *row < rows.end)]
}

/// The stretches of some rows that are left when others go, by their places among them.
fn stretches(rows: &Range<u64>, removed: &[u64]) -> Vec<Range<u64>> {
    let (mut left, mut from) = (Vec::new(), rows.start);
    for row in lost(rows, removed).iter().chain([&rows.end]) {
        if *row > from {
            left.push(from - rows.start..*row - rows.start);
        }
        from = row + 1;
    }
    left
}

/// The row groups of a source that lose some of their rows, and the bytes of each.
///
/// # Errors
/// Those of [`ParquetSource::open`].
pub(super) fn shrinking(source: &Source, removed: &[u64]) -> Result<Vec<(usize, u64)>> {
    let file = ParquetSource::open(source)?;
    let shrinks = file.groups().enumerate().filter(|(_, rows)| fate(rows, removed) == Fate::Shrinks);
    Ok(shrinks.map(|(group, _)| (group, file.packed(group))).collect())
}

/// Writes what is left of a row group, as a file of its own.
///
/// # Errors
/// [`Error::Input`] if the source cannot be decoded; [`Error::Io`] and [`Error::Interrupted`].
pub(super) fn write_group(
    source: &Source,
    removed: &[u64],
    group: usize,
    target: &Path,
    progress: &Progress,
) -> Result<()> {
    let file = ParquetSource::open(source)?;
    let rows = file.groups().nth(group).ok_or_else(|| Error::Changed(source.path.clone()))?;
    let stretches = stretches(&rows, removed);
    let made = || -> std::result::Result<(), Failure> {
        let mut writer = writer(&file, properties::of_group(&file, group)?, target)?;
        let mut of_group = writer.next_row_group()?;
        for leaf in 0..file.metadata().file_metadata().schema_descr().num_columns() {
            write_column(&file, group, leaf, &stretches, &mut of_group, progress)?;
        }
        of_group.close()?;
        writer.finish()?;
        Ok(())
    };
    made().map_err(|failure| failure.told(source, target))
}

/// Puts a file together, of the row groups that stay as they are and those that were written to `parts`; its length.
///
/// # Errors
/// Those of [`write_group`].
pub(super) fn assemble(
    source: &Source,
    removed: &[u64],
    part: &dyn Fn(usize) -> std::path::PathBuf,
    target: &Path,
    progress: &Progress,
) -> Result<u64> {
    let file = ParquetSource::open(source)?;
    let made = || -> std::result::Result<(), Failure> {
        let mut writer = writer(&file, properties::of_file(&file), target)?;
        for (group, rows) in file.groups().enumerate() {
            progress.check()?;
            match fate(&rows, removed) {
                Fate::Goes => {}
                Fate::Stays => copy(&file, group, writer.next_row_group()?)?,
                Fate::Shrinks => {
                    let path = part(group);
                    let bytes = fs::metadata(&path).map_err(ParquetError::from)?.len();
                    let written = Source { path: path.clone(), bytes, ..source.clone() };
                    copy(&ParquetSource::open(&written)?, 0, writer.next_row_group()?)?;
                    fs::remove_file(&path).map_err(ParquetError::from)?;
                }
            }
        }
        writer.finish()?;
        Ok(())
    };
    made().map_err(|failure| failure.told(source, target))?;
    fs::metadata(target).map(|made| made.len()).map_err(|error| Error::io(target, "read", error))
}

/// A writer of files with the schema of another one.
fn writer(
    file: &ParquetSource,
    properties: WriterProperties,
    target: &Path,
) -> std::result::Result<Writer, Failure> {
    let made = File::create_new(target).map_err(|error| Error::io(target, "create", error))?;
    let schema = file.metadata().file_metadata().schema_descr().root_schema_ptr();
    Ok(SerializedFileWriter::new(BufWriter::with_capacity(BLOCK, made), schema, Arc::new(properties))?)
}

/// Copies a row group as it is encoded.
fn copy(
    from: &ParquetSource,
    group: usize,
    mut to: SerializedRowGroupWriter<'_, BufWriter<File>>,
) -> std::result::Result<(), Failure> {
    for leaf in 0..from.metadata().file_metadata().schema_descr().num_columns() {
        let (bytes, column) = from.encoded(group, leaf)?;
        to.append_column(bytes, column)?;
    }
    to.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_in_stretches() {
        assert_eq!(stretches(&(10..20), &[]).first(), Some(&(0..10)));
        assert_eq!(stretches(&(10..20), &[9, 10, 13, 14, 19, 20]), [1..3, 5..9]);
        assert_eq!(stretches(&(10..12), &[10, 11]), []);
        assert_eq!(fate(&(10..12), &[10, 11, 12]), Fate::Goes);
        assert_eq!(fate(&(10..12), &[9, 12]), Fate::Stays);
        assert_eq!(fate(&(10..12), &[11]), Fate::Shrinks);
        assert_eq!(fate(&(10..10), &[]), Fate::Goes);
    }
}
