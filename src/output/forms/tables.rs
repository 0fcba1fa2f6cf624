//! Records as rows of tables, and notes as columns.
//!
//! Every table has the same columns, whatever the records are: id, text, file and line, and the whole record as JSON. Columns
//! made of the members of objects would have to suit all records before the first one is written, and one record of a
//! million may have a number where the others have a text.

use super::encoders::{Encoder, Outgoing};
use super::notes::{COLUMNS, Note, NoteCells, NoteColumns, SourceNotes};
use super::objects::RecordObjects;
use super::shards::{ShardNames, Written};
use crate::error::Result;
use crate::output::chosen::{ChosenRows, Side};
use crate::output::columns::{
    AddedColumns, CellKind, TableCell, TableColumn, TableFile, Targets, group_bytes, write_divided,
};
use crate::progress::Progress;
use crate::read::{Fields, Format, RecordRoom, Source};

/// The columns of records. JSON is a text to Parquet: as a type of its own some readers make bytes of it.
const RECORD: [TableColumn; 5] = [
    ("id", CellKind::Text),
    ("text", CellKind::LongText),
    ("file", CellKind::Text),
    ("line", CellKind::Whole),
    ("record", CellKind::LongText),
];

/// The columns of all notes.
const NOTES: [TableColumn; 8] = [
    (COLUMNS[0], CellKind::Whole),
    (COLUMNS[1], CellKind::Whole),
    (COLUMNS[2], CellKind::Truth),
    (COLUMNS[3], CellKind::Text),
    (COLUMNS[4], CellKind::Text),
    (COLUMNS[5], CellKind::Text),
    (COLUMNS[6], CellKind::Whole),
    (COLUMNS[7], CellKind::Real),
];

/// The columns of notes.
pub(super) fn columns(of: NoteColumns) -> Vec<TableColumn> {
    let deciding =
        of.deciding().map(|(name, is_share)| (name, if is_share { CellKind::Real } else { CellKind::Whole }));
    let against = of.against().map(|name| (name, CellKind::Text));
    NOTES.into_iter().chain(deciding).chain(against).collect()
}

/// A note in the order of its columns.
pub(super) fn cells<'a>(
    note: &'a NoteCells,
    columns: NoteColumns,
    (resemblance, deciding): (Option<f64>, Option<f64>),
) -> Vec<TableCell<'a>> {
    let place = note.representative.as_ref();
    let mut cells = vec![
        note.cluster.into(),
        note.size.into(),
        note.kept.map_or(TableCell::Nothing, TableCell::Truth),
        note.reason.as_deref().into(),
        place.map(|place| &*place.id).into(),
        place.map(|place| &*place.file).into(),
        place.map(|place| place.line).into(),
        resemblance.into(),
    ];
    cells.extend(columns.deciding().map(|(_, is_share)| match deciding {
        Some(count) if !is_share => TableCell::from(count as u64),
        share => share.into(),
    }));
    let set = note.against.as_ref().map(|against| &*against.set);
    cells.extend(columns.against().map(|_| TableCell::from(set)));
    cells
}

/// Writes records as rows.
pub(super) struct TableEncoder<'a> {
    names: ShardNames<'a>,
    fields: &'a Fields,
    columns: Option<NoteColumns>,
    objects: Option<(RecordObjects, Format)>,
    object: Vec<u8>,
    open: Option<TableFile>,
    written: Written,
}

impl<'a> TableEncoder<'a> {
    pub(super) fn new(
        names: ShardNames<'a>,
        fields: &'a Fields,
        columns: Option<NoteColumns>,
    ) -> TableEncoder<'a> {
        let (objects, object, open, written) = (None, Vec::new(), None, Written::default());
        TableEncoder { names, fields, columns, objects, object, open, written }
    }

    fn opened(&mut self) -> Result<&mut TableFile> {
        if self.open.is_none() {
            let notes = self.columns.map(columns).unwrap_or_default();
            let columns = [&RECORD[..], &notes].concat();
            self.open =
                Some(TableFile::create(self.names.next(), &columns, group_bytes(self.names.limit()))?);
            self.written.files += 1;
        }
        match &mut self.open {
            Some(table) => Ok(table),
            None => unreachable!("it was opened above"),
        }
    }

    fn close(&mut self) -> Result<()> {
        if let Some(table) = self.open.take() {
            self.written.bytes += table.finish()?;
        }
        Ok(())
    }
}

impl Encoder for TableEncoder<'_> {
    fn begin(&mut self, source: &Source) -> Result<()> {
        self.objects = Some((RecordObjects::new(source.format, self.fields), source.format));
        Ok(())
    }

    fn record(&mut self, record: &Outgoing<'_>) -> Result<()> {
        let mut object = std::mem::take(&mut self.object);
        object.clear();
        if let Some((objects, _)) = &mut self.objects {
            objects.write(record.record, record.name, record.file, &mut object);
        }
        let numbers = |note: &Note| (note.resemblance, note.deciding);
        let note = record.note.map(|note| note.cells().map(|cells| (cells, numbers(note)))).transpose()?;
        let columns = self.columns.unwrap_or_default();
        // It was read as text, or is made of texts.
        let json = std::str::from_utf8(&object).unwrap_or_default();
        let mut row = vec![
            TableCell::Text(record.name),
            TableCell::Text(record.record.text),
            TableCell::Text(record.file),
            TableCell::from(u64::from(record.record.line)),
            TableCell::Text(json),
        ];
        row.extend(note.iter().flat_map(|(note, numbers)| cells(note, columns, *numbers)));
        let table = self.opened()?;
        table.row(&row)?;
        let written = table.written();
        self.object = object;
        if self.names.is_full(written) { self.close() } else { Ok(()) }
    }

    fn object(&mut self, _: &[u8], _: Option<&Note>) -> Result<()> {
        unreachable!("rows of Parquet stay as they are")
    }

    fn finish(mut self: Box<Self>, wanted: bool) -> Result<Written> {
        if wanted && self.written.files == 0 {
            self.opened()?;
        }
        self.close()?;
        Ok(self.written)
    }
}

/// Writes a source of columns: the chosen rows, or, with notes, all of them, each with its own.
pub(super) fn write_columns(
    source: &Source,
    chosen: ChosenRows<'_>,
    notes: Option<(SourceNotes, NoteColumns)>,
    mut names: ShardNames<'_>,
    (room, progress): (&RecordRoom, &Progress),
) -> Result<Written> {
    let (limit, wanted) = (names.limit(), chosen.side != Side::Removed);
    let targets = Targets { next: &mut || names.next(), limit, wanted, room };
    let (files, bytes) = match notes {
        None => write_divided(source, chosen, None, targets, progress)?,
        Some((notes, of)) => {
            let (begin, rejected) = (notes.place(), chosen.removed);
            let mut added = AddedNotes { notes, columns: of, rejected, row: 0, group: (0, begin) };
            let all = ChosenRows { side: Side::Annotated, removed: &[] };
            write_divided(source, all, Some((&columns(of), &mut added)), targets, progress)?
        }
    };
    Ok(Written { files, bytes, ..Written::default() })
}

/// The notes of a source as columns.
struct AddedNotes<'a> {
    notes: SourceNotes,
    columns: NoteColumns,
    /// Rows that were refused, ascending.
    rejected: &'a [u64],
    /// The next row.
    row: u64,
    /// The first row of the present row group, and where its notes begin.
    group: (u64, u64),
}

impl AddedColumns for AddedNotes<'_> {
    fn go_to(&mut self, row: u64) -> Result<()> {
        if row == self.group.0 {
            self.notes.go_to(self.group.1)?;
        } else {
            self.group = (row, self.notes.place_of(row)?);
        }
        self.row = row;
        Ok(())
    }

    fn next(&mut self, column: usize, take: &mut dyn FnMut(TableCell<'_>)) -> Result<()> {
        let row = self.row;
        self.row += 1;
        if self.rejected.binary_search(&row).is_ok() {
            let (kept, reason) = (Some(false), Some("rejected".to_owned()));
            let note = NoteCells { kept, reason, ..NoteCells::default() };
            take(cells(&note, self.columns, (None, None))[column]);
            return Ok(());
        }
        let note = self.notes.at(row)?;
        let numbers = (note.resemblance, note.deciding);
        take(cells(&note.cells()?, self.columns, numbers)[column]);
        Ok(())
    }
}
