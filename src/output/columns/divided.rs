//! A Parquet file written as one or several, with the columns that it has or more. Row groups that lose nothing are copied as they
//! are encoded, unless one is larger than a file may be.

use std::fs::{self, File};
use std::io::BufWriter;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use xxhash_rust::xxh3::xxh3_64;

use super::annotated::{AddedColumns, write_added, writer};
use super::failure::Failure;
use super::groups::{append, write_rows};
use super::table::TableColumn;
use crate::error::{Error, Result};
use crate::output::chosen::ChosenRows;
use crate::progress::Progress;
use crate::read::{ParquetSource, RecordRoom, Source};

/// Columns that are added, and their cells.
pub(in crate::output) type Added<'a> = (&'a [TableColumn], &'a mut dyn AddedColumns);

/// Where the files go that a source is written as.
pub(in crate::output) struct Targets<'a> {
    /// The path of the next one.
    pub(in crate::output) next: &'a mut dyn FnMut() -> PathBuf,
    /// About how many bytes each may have, if there may be several.
    pub(in crate::output) limit: Option<u64>,
    /// Whether there is one without rows if no rows are chosen.
    pub(in crate::output) wanted: bool,
    /// What is decoded has to fit in it.
    pub(in crate::output) room: &'a RecordRoom,
}

/// What of a row group becomes one of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GroupShare {
    group: usize,
    /// Of the source.
    rows: Range<u64>,
    /// Whether the row group is copied as it is encoded.
    is_whole: bool,
}

/// Writes the chosen rows of a source, with more columns if there are any; files and their bytes. Cells of added columns are those of
/// all rows.
///
/// # Errors
/// [`Error::Input`] if the source is not what it was; [`Error::Io`] and [`Error::Interrupted`], and what `added` gives.
pub(in crate::output) fn write_divided(
    source: &Source,
    chosen: ChosenRows<'_>,
    mut added: Option<Added<'_>>,
    targets: Targets<'_>,
    progress: &Progress,
) -> Result<(u64, u64)> {
    if source.is_refused() {
        return Ok((0, 0));
    }
    let file = ParquetSource::open(source)?;
    let columns = added.as_ref().map_or(&[][..], |(columns, _)| columns);
    let mut files =
        Files { source, file: &file, chosen, columns, targets, open: None, done: (0, 0), progress };
    for share in group_shares(&file, chosen, files.targets.limit) {
        progress.check()?;
        match &mut added {
            Some((_, cells)) => files.write(&share, Some(&mut **cells))?,
            None => files.write(&share, None)?,
        }
    }
    if files.targets.wanted && files.done.0 == 0 {
        files.opened()?;
    }
    files.close()?;
    Ok(files.done)
}

/// What row groups become row groups, and what parts of them where one alone is much larger than a file may be.
fn group_shares(file: &ParquetSource, chosen: ChosenRows<'_>, limit: Option<u64>) -> Vec<GroupShare> {
    let of_group = |(group, rows): (usize, Range<u64>)| {
        let (count, all) = (chosen.count(&rows), rows.end - rows.start);
        let bytes = u128::from(file.packed(group)) * u128::from(count) / u128::from(all.max(1));
        let parts = match limit.map(u128::from) {
            Some(limit) if bytes > limit + limit / 4 => bytes.div_ceil(limit.max(1)).min(u128::from(all)),
            _ => 1,
        };
        let at = move |part: u128| rows.start + (u128::from(all) * part / parts) as u64;
        let share = move |part| GroupShare {
            group,
            rows: at(part)..at(part + 1),
            is_whole: parts == 1 && count == all,
        };
        (0..parts).map(share).filter(|share| chosen.count(&share.rows) > 0).collect::<Vec<_>>()
    };
    file.groups().enumerate().flat_map(of_group).collect()
}

/// Files on their way.
struct Files<'a, 'b> {
    source: &'a Source,
    file: &'a ParquetSource,
    chosen: ChosenRows<'a>,
    /// Columns that are added.
    columns: &'a [TableColumn],
    targets: Targets<'b>,
    open: Option<(SerializedFileWriter<BufWriter<File>>, PathBuf)>,
    /// Files, and their bytes.
    done: (u64, u64),
    progress: &'a Progress,
}

impl Files<'_, '_> {
    fn opened(&mut self) -> Result<&mut (SerializedFileWriter<BufWriter<File>>, PathBuf)> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let path = (self.targets.next)();
                let writer = writer(self.file, self.columns, &path);
                self.done.0 += 1;
                (writer.map_err(|failure| failure.told(self.source, &path))?, path)
            }
        };
        Ok(self.open.insert(open))
    }

    fn write(&mut self, share: &GroupShare, mut cells: Option<&mut dyn AddedColumns>) -> Result<()> {
        let part = match share.is_whole {
            true => None,
            false => {
                let path = part_beside(&self.opened()?.1);
                let group = (share.group, true, self.targets.room);
                write_rows(self.source, self.chosen, group, &share.rows, &path, self.progress)?;
                let bytes = fs::metadata(&path).map_err(|e| Error::io(&path, "read", e))?.len();
                Some((ParquetSource::open(&self.source.written_to(path.clone(), bytes))?, path))
            }
        };
        let (columns, progress, source) = (self.columns, self.progress, self.source);
        let from = part.as_ref().map_or((self.file, share.group), |(part, _)| (part, 0));
        let (writer, path) = self.opened()?;
        let mut made = || -> std::result::Result<u64, Failure> {
            let mut to = writer.next_row_group()?;
            append(from.0, from.1, &mut to)?;
            if let Some(cells) = &mut cells {
                add(columns, &mut **cells, &share.rows, &mut to, progress)?;
            }
            to.close()?;
            Ok(writer.bytes_written() as u64)
        };
        let written = made().map_err(|failure| failure.told(source, path))?;
        if let Some((_, path)) = part {
            fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e))?;
        }
        if self.targets.limit.is_some_and(|limit| written >= limit) { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<()> {
        let Some((mut writer, path)) = self.open.take() else { return Ok(()) };
        writer.finish().map_err(|error: ParquetError| Failure::from(error).told(self.source, &path))?;
        self.done.1 += fs::metadata(&path).map_err(|e| Error::io(&path, "read", e))?.len();
        Ok(())
    }
}

/// Where a part of a file is written. Its name is short whatever that of the file is, which may differ from others in what looks like an extension
/// only.
fn part_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    path.with_file_name(format!("{:016x}.part", xxh3_64(name)))
}

/// Adds the columns of some rows to their row group.
fn add(
    columns: &[TableColumn],
    cells: &mut dyn AddedColumns,
    rows: &Range<u64>,
    to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    progress: &Progress,
) -> std::result::Result<(), Failure> {
    for column in columns.iter().copied().enumerate() {
        cells.go_to(rows.start)?;
        write_added(column, rows.end - rows.start, cells, to, progress)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_different_files_have_different_names() {
        let long = "x".repeat(240);
        let files =
            ["kept/data.2024-00001", "kept/data.2025-00001", "kept/data", &format!("kept/{long}.y-00001")];
        let parts: Vec<PathBuf> = files.iter().map(|file| part_beside(Path::new(file))).collect();
        for (at, part) in parts.iter().enumerate() {
            assert_eq!((part.parent(), part.extension()), (Some(Path::new("kept")), Some("part".as_ref())));
            assert!(!parts[..at].contains(part) && part.as_os_str().len() < 30, "{}", part.display());
        }
    }
}
