//! Reading single rows a second time.

use std::sync::Arc;

use super::fields::{FieldColumns, Leaves, StepCells};
use super::footer::ParquetFile;
use super::guard::between;
use super::pages::UnitMemory;
use super::rows::{no_room, row_record};
use super::thrift::damaged;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::codec::TakeAgain;
use crate::read::field::Fields;
use crate::read::source::Source;

/// Rows between wanted ones that are read rather than passed over.
const GAP: u64 = 4;

/// Hands on the rows at `offsets`, as [`reread`](crate::read::reread()) does. Those that stand close are read together.
pub(super) fn reread(
    source: &Source,
    file_number: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut TakeAgain<'_>,
) -> Result<()> {
    let changed = || Error::Changed(source.path.clone());
    // Whether it was a change, and of what, was settled the first time.
    let fields = &Fields { op: None, ..fields.clone() };
    let otherwise = |error| between(&source.path, error).unwrap_or_else(|_| changed());
    let file = ParquetFile::open(source).map_err(otherwise)?;
    let leaves = Leaves::find(&file, fields).map_err(|_| changed())?;
    let leaves = leaves.date_only();
    let memory = Arc::new(UnitMemory::new(&fields.room, fields.max_record_bytes));
    let mut rows = RowsAgain { file, leaves, memory, present: None };
    let mut at = 0;
    while let Some(&first) = offsets.get(at) {
        let end = rows.group_end(first).ok_or_else(changed)?;
        // Rows that follow each other closely. What is damaged in one stretch was no matter to the next the first time.
        let stretch = |row: u64| source.cuts.places.partition_point(|place| *place <= row);
        let is_close = |two: &&[u64]| {
            two[1] > two[0] && two[1] - two[0] <= GAP && two[1] < end && stretch(two[1]) == stretch(first)
        };
        let close = offsets[at..].windows(2).take_while(is_close);
        let last = offsets[at + close.count()];
        let cells = match rows.read(first, last) {
            Err(_) if rows.memory.unfit().is_none() => {
                // A row before this one in its page may be damaged, and a page that is passed over as a whole is not decoded.
                rows.present = None;
                rows.read(first, last)
            }
            read => read,
        };
        let cells = cells.map_err(|error| match rows.memory.unfit() {
            Some(bytes) => Error::input(&source.path, no_room(first, bytes, &fields.room)),
            None => otherwise(error),
        })?;
        let next = first + cells.texts.len() as u64;
        while let Some(&offset) = offsets.get(at).filter(|offset| **offset < next && **offset >= first) {
            let row = (offset - first) as usize;
            let others = cells.others.each_ref().map(|cells| cells.get(row));
            let record = row_record(fields, Position::new(file_number, offset), 1, &cells.texts[row], others);
            let record = record.map_err(|_| changed())?;
            each(at, &record)?;
            at += 1;
        }
        rows.give_back();
    }
    Ok(())
}

/// A file, and how far it was read.
struct RowsAgain {
    file: ParquetFile,
    leaves: Leaves,
    memory: Arc<UnitMemory>,
    /// A row group, its row that comes next, and its columns from there on.
    present: Option<(usize, u64, FieldColumns)>,
}

impl RowsAgain {
    /// Where the row group of a row ends.
    fn group_end(&self, row: u64) -> Option<u64> {
        let group = &self.file.layout.groups[self.file.layout.group_of(row)?];
        Some(group.first + group.rows)
    }

    /// Reads the rows from `first` to `last` of one row group, or the first of them.
    fn read(&mut self, first: u64, last: u64) -> parquet::errors::Result<StepCells> {
        let group = self.file.layout.group_of(first).ok_or_else(|| damaged("a row that is not there"))?;
        let (next, columns) = match &mut self.present {
            Some((same, next, columns)) if *same == group && *next <= first => (next, columns),
            none => {
                let from = first - self.file.layout.groups[group].first;
                let columns = FieldColumns::open(&self.file, group, from, self.leaves, &self.memory)?;
                let (_, next, columns) = none.insert((group, first, columns));
                (next, columns)
            }
        };
        columns.skip(first - *next)?;
        let mut cells = StepCells::default();
        columns.step(last + 1 - first, &mut cells)?;
        *next = first + cells.texts.len() as u64;
        Ok(cells)
    }

    /// Gives back the memory of what was read, unless a long page is held.
    fn give_back(&self) {
        if !self.present.as_ref().is_some_and(|(_, _, columns)| columns.is_long()) {
            self.memory.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::read::input::Input;
    use crate::read::{Extent, Sink, UnitReader, discover, units};

    /// A file of one column with `rows` texts, some to a page.
    fn file_of(rows: u64, to_a_page: usize) -> Vec<u8> {
        let schema = parse_message_type("message rows { optional binary text (STRING); }").expect("a schema");
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(to_a_page)
            .set_write_batch_size(1)
            .build();
        let mut writer =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("a column").expect("one");
        let texts: Vec<ByteArray> = (0..rows).map(|row| format!("text {row:02}").as_str().into()).collect();
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => {
                column.write_batch(&texts, Some(&vec![1; texts.len()]), None).expect("written");
            }
            _ => panic!("a column of texts"),
        }
        column.close().expect("closed");
        group.close().expect("closed");
        writer.into_inner().expect("a file")
    }

    /// The rows of documents.
    #[derive(Default)]
    struct Found(Vec<u64>);

    impl Sink for Found {
        fn document(&mut self, record: &crate::read::Record<'_>) {
            self.0.push(record.position.offset());
        }

        fn refuse(&mut self, _: Position, _: u32, _: crate::read::Refusal) {}
    }

    /// A row that is damaged costs what is left of its stretch. The next stretch begins within the page, or behind it.
    #[test]
    fn what_was_read_around_a_damaged_row_is_read_again() {
        let mut content = file_of(12, 6);
        let text = content.windows(7).position(|bytes| bytes == b"text 03").expect("the row");
        // Its length stands before it.
        content[text - 3] = 0x70;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, content).expect("written");
        let mut source = discover(&[path.to_str().expect("UTF-8").to_owned()], folder.path())
            .expect("found")
            .sources
            .remove(0);
        source.cuts.places = (1..12).collect();
        let fields = Arc::new(Fields::of(&Input::default()).expect("paths"));
        let mut found = Found::default();
        for unit in units(std::slice::from_ref(&source), Extent::ALL, u64::MAX) {
            let mut reader = UnitReader::open(0, &source, &unit, Arc::clone(&fields));
            while reader.advance(&mut found).expect("no bug") {}
        }
        assert_eq!(found.0, [0, 1, 2, 6, 7, 8, 9, 10, 11]);
        let mut again = Vec::new();
        let mut each = |at: usize, record: &crate::read::Record<'_>| {
            again.push((found.0[at], record.text.to_owned()));
            Ok(())
        };
        reread(&source, 0, &found.0, &fields, &mut each).expect("all of them");
        let expected: Vec<(u64, String)> =
            found.0.iter().map(|row| (*row, format!("text {row:02}"))).collect();
        assert_eq!(again, expected);
    }
}
