//! Row groups that stay, shrink or go, and the files made of them.

use std::fs::{self, File};
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::dictionaries::DictionaryColumns;
use super::encode::GroupRows;
use super::failure::Failure;
use super::properties;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::output::chosen::ChosenRows;
use crate::progress::Progress;
use crate::read::{ParquetSource, RecordRoom, Source};

/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);

type Writer = SerializedFileWriter<BufWriter<File>>;

/// What becomes of a row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It loses nothing.
    Stays,
    /// It loses some rows.
    Shrinks,
    /// It loses all rows.
    Goes,
}

/// What becomes of some rows.
pub(super) fn fate(rows: &Range<u64>, chosen: ChosenRows<'_>) -> Fate {
    match chosen.count(rows) {
        0 => Fate::Goes,
        written if written == rows.end - rows.start => Fate::Stays,
        _ => Fate::Shrinks,
    }
}

/// The row groups of a source that lose some of their rows, and the bytes of each.
///
/// # Errors
/// Those of [`ParquetSource::open`].
pub(super) fn shrinking(source: &Source, chosen: ChosenRows<'_>) -> Result<Vec<(usize, u64)>> {
    let file = ParquetSource::open(source)?;
    let shrinks = file.groups().enumerate().filter(|(_, rows)| fate(rows, chosen) == Fate::Shrinks);
    Ok(shrinks.map(|(group, _)| (group, file.packed(group))).collect())
}

/// Writes what is left of a row group, as a file of its own; `beside` if a thread is free to decode meanwhile.
/// What is decoded has to fit in some room.
///
/// # Errors
/// [`Error::Input`] if the source cannot be decoded; [`Error::Io`] and [`Error::Interrupted`].
pub(super) fn write_group(
    source: &Source,
    chosen: ChosenRows<'_>,
    (group, beside, room): (usize, bool, &RecordRoom),
    target: &Path,
    progress: &Progress,
) -> Result<()> {
    write_rows(source, chosen, (group, beside, room), &(0..u64::MAX), target, progress)
}

/// The same of those rows alone that are among others of the source.
pub(super) fn write_rows(
    source: &Source,
    chosen: ChosenRows<'_>,
    (group, beside, room): (usize, bool, &RecordRoom),
    among: &Range<u64>,
    target: &Path,
    progress: &Progress,
) -> Result<()> {
    let file = ParquetSource::open_within(source, room)?;
    let rows = file.groups().nth(group).ok_or_else(|| Error::Changed(source.path.clone()))?;
    let among = rows.start.max(among.start)..rows.end.min(among.end);
    let before = among.start - rows.start;
    let placed = |stretch: Range<u64>| stretch.start + before..stretch.end + before;
    let stretches: Vec<Range<u64>> = chosen.stretches(&among).into_iter().map(placed).collect();
    let made = || -> std::result::Result<(), Failure> {
        let properties = properties::of_group(&file, group)?;
        let dictionaries = DictionaryColumns::of(&file, &properties, target);
        let mut writer = writer(&file, properties, target)?;
        let mut of_group = writer.next_row_group()?;
        let rows = GroupRows { file: &file, group, stretches: &stretches, beside, progress };
        for leaf in 0..file.metadata().file_metadata().schema_descr().num_columns() {
            if !dictionaries.write(&rows, leaf, &mut of_group)? {
                rows.write_column(leaf, &mut of_group)?;
            }
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
    chosen: ChosenRows<'_>,
    part: &dyn Fn(usize) -> std::path::PathBuf,
    target: &Path,
    progress: &Progress,
) -> Result<u64> {
    let file = ParquetSource::open(source)?;
    let made = || -> std::result::Result<(), Failure> {
        let mut writer = writer(&file, properties::of_file(&file), target)?;
        for (group, rows) in file.groups().enumerate() {
            progress.check()?;
            match fate(&rows, chosen) {
                Fate::Goes => {}
                Fate::Stays => copy(&file, group, writer.next_row_group()?)?,
                Fate::Shrinks => {
                    let path = part(group);
                    let bytes = fs::metadata(&path).map_err(ParquetError::from)?.len();
                    let written = source.written_to(path.clone(), bytes);
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
    append(from, group, &mut to)?;
    to.close()?;
    Ok(())
}

/// Adds the columns of a row group to another one as they are encoded.
pub(super) fn append(
    from: &ParquetSource,
    group: usize,
    to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
) -> std::result::Result<(), Failure> {
    for leaf in 0..from.metadata().file_metadata().schema_descr().num_columns() {
        let (bytes, column) = from.encoded(group, leaf)?;
        to.append_column(bytes, column)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::chosen::Side;

    #[test]
    fn row_groups_stay_shrink_or_go() {
        let fates = |rows: Range<u64>, removed: &[u64]| {
            [Side::Kept, Side::Removed].map(|side| fate(&rows, ChosenRows { side, removed }))
        };
        assert_eq!(fates(10..12, &[10, 11, 12]), [Fate::Goes, Fate::Stays]);
        assert_eq!(fates(10..12, &[9, 12]), [Fate::Stays, Fate::Goes]);
        assert_eq!(fates(10..12, &[11]), [Fate::Shrinks; 2]);
        assert_eq!(fates(10..10, &[]), [Fate::Goes; 2]);
    }
}
