//! The rows of a unit.

use std::sync::Arc;

use parquet::errors::ParquetError;

use super::cell::Cell;
use super::fields::{FIELDS, FieldColumns, Leaves, StepCells};
use super::footer::ParquetFile;
use super::guard::between;
use super::pages::{PART, UnitMemory};
use crate::document::Position;
use crate::error::Result;
use crate::printable::printable;
use crate::read::bytes::RecordRoom;
use crate::read::codec::Records;
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::input::MissingText;
use crate::read::record::{Record, Refusal, Sink, observe};
use crate::read::source::{Source, Unit};

/// Most characters of what the crate for Parquet says.
const SAID: usize = 200;

/// The rows of a unit, read step by step.
pub(super) struct RowRecords {
    file: u32,
    source: Source,
    unit: Unit,
    fields: Arc<Fields>,
    memory: Arc<UnitMemory>,
    /// Opened by the first `advance`.
    opened: Option<(ParquetFile, Leaves)>,
    /// The columns of the present row group, from `row` on.
    columns: Option<FieldColumns>,
    /// The next row.
    row: u64,
    end: u64,
    count: u32,
    text_bytes: u64,
    /// Bytes of texts since the columns hold a long page.
    since: u64,
}

impl RowRecords {
    pub(super) fn new(file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> RowRecords {
        let memory = Arc::new(UnitMemory::new(&fields.room, fields.max_record_bytes));
        RowRecords {
            file,
            source: source.clone(),
            unit: *unit,
            fields,
            memory,
            opened: None,
            columns: None,
            row: unit.start,
            end: unit.end.min(source.length()),
            count: 0,
            text_bytes: 0,
            since: 0,
        }
    }

    /// Whether the columns hold a long page: other workers wait for their turn.
    fn holds_long(&self) -> bool {
        self.columns.as_ref().is_some_and(FieldColumns::is_long)
    }

    /// Lets others have long pages, unless one is held.
    fn give_back(&mut self) {
        if !self.holds_long() {
            self.since = 0;
            self.memory.give_back();
        }
    }

    fn position(&self, row: u64) -> Position {
        Position::new(self.file, row)
    }

    /// Opens the file; whether it can be read. What is wrong with it is refused once, with its first row.
    fn open(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.opened.is_some() {
            return Ok(true);
        }
        let file = match ParquetFile::open_and_keep(&self.source) {
            Ok(file) => Ok(file),
            Err(error) => match between(&self.source.path, error) {
                Ok(error) => return Err(error),
                Err(error) => Err(Refusal::Unreadable(said(&error))),
            },
        };
        let leaves = file.and_then(|file| {
            let rows = file.layout.rows();
            let none = |refusal: Refusal| Refusal::Rows { rows, why: refusal.to_string() };
            Leaves::find(&file, &self.fields).map_err(none).map(|leaves| (file, leaves))
        });
        match leaves {
            Ok(opened) => {
                self.opened = Some(opened);
                Ok(true)
            }
            Err(refusal) => {
                if self.unit.start == 0 {
                    sink.refuse(self.position(0), 1, refusal);
                }
                self.pass(self.end);
                Ok(false)
            }
        }
    }

    /// Goes on at a row.
    fn pass(&mut self, row: u64) {
        self.count = self.count.saturating_add(u32::try_from(row - self.row).unwrap_or(u32::MAX));
        self.row = row;
    }

    /// Refuses the rows up to `end`.
    fn refuse(&mut self, end: u64, why: String, sink: &mut dyn Sink) {
        self.columns = None;
        let refusal = Refusal::Rows { rows: end - self.row, why };
        sink.refuse(self.position(self.row), self.count.saturating_add(1), refusal);
        self.pass(end);
    }

    /// Reads some rows of the stretch that ends before `end`.
    fn step(&mut self, end: u64) -> parquet::errors::Result<StepCells> {
        let mut cells = StepCells::default();
        let Some((file, leaves)) = &self.opened else { return Ok(cells) };
        let layout = &file.layout;
        let group =
            layout.group_of(self.row).ok_or_else(|| ParquetError::EOF("a row that is not there".into()))?;
        let columns = match &mut self.columns {
            Some(columns) => columns,
            none => {
                let first = self.row - layout.groups[group].first;
                none.insert(FieldColumns::open(file, group, first, *leaves, &self.memory)?)
            }
        };
        columns.step(end - self.row, &mut cells)?;
        if self.row + cells.texts.len() as u64 == layout.groups[group].first + layout.groups[group].rows {
            self.columns = None;
        }
        Ok(cells)
    }

    /// What is wrong with the next rows. What is no fault of theirs is an error.
    fn fault(&self, error: ParquetError) -> Result<String> {
        match between(&self.source.path, error) {
            Ok(error) => Err(error),
            Err(error) => match self.memory.take_unfit() {
                Some(bytes) => Ok(no_room(self.row, bytes, &self.fields.room)),
                None => Ok(said(&error)),
            },
        }
    }

    /// Hands on what a step read.
    fn hand_on(&mut self, cells: &StepCells, sink: &mut dyn Sink) -> Result<()> {
        for (at, text) in cells.texts.iter().enumerate() {
            let number = self.count.saturating_add(1);
            let others = std::array::from_fn(|kind| kind).map(|kind| cells.others[kind].get(at));
            let (row, bytes) = (self.row, text.bytes());
            self.since = self.since.saturating_add(bytes);
            self.pass(row + 1);
            let position = self.position(row);
            let longest = self.fields.max_record_bytes as u64;
            let outcome = match bytes {
                bytes if bytes > longest => Err(Refusal::TooLong { limit: self.fields.max_record_bytes }),
                bytes if bytes > self.fields.room.most() as u64 => {
                    Err(Refusal::NoRoom(self.fields.room.refusal(bytes)))
                }
                _ => row_record(&self.fields, position, number, text, others),
            };
            match outcome {
                Ok(record) => {
                    self.text_bytes += record.text.len() as u64;
                    sink.document(&record);
                }
                Err(refusal) => sink.refuse(position, number, refusal),
            }
        }
        Ok(())
    }
}

impl Records for RowRecords {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.row < self.end && self.open(sink)? {
            let end = self.source.stretch_end(self.row, self.end);
            let step = match self.source.refusal_of(self.row) {
                Some(why) => Err(why),
                None => match self.step(end) {
                    Ok(cells) => Ok(cells),
                    Err(error) => Err(self.fault(error)?),
                },
            };
            match step {
                Ok(cells) => self.hand_on(&cells, sink)?,
                Err(why) => self.refuse(end, why, sink),
            }
        }
        self.give_back();
        if self.row < self.end {
            return Ok(true);
        }
        // A long page is read on by the next unit, rather than unpacked again for it; others wait no longer than for about one.
        if self.holds_long() && self.since >= self.memory.longest() {
            self.columns = None;
            self.give_back();
        }
        if self.end == self.source.length() {
            self.source.cuts.kept.forget();
        }
        Ok(false)
    }

    fn can_go_on(&self) -> bool {
        self.columns.is_some()
    }

    fn go_on(&mut self, unit: &Unit) -> bool {
        let Some((file, _)) = &self.opened else { return false };
        if unit.start < self.row || file.layout.group_of(unit.start) != file.layout.group_of(self.row) {
            return false;
        }
        // What cannot be passed over is met again by a new reader, and refused by it.
        let between = unit.start - self.row;
        if self.columns.as_mut().is_none_or(|columns| columns.skip(between).is_err()) {
            return false;
        }
        self.unit = *unit;
        (self.row, self.end) = (unit.start, unit.end.min(self.source.length()));
        (self.count, self.text_bytes) = (0, 0);
        true
    }

    fn lines(&self) -> u64 {
        u64::from(self.count)
    }

    fn bytes(&self) -> u64 {
        let of = |row: u64| self.source.bytes_before(row);
        of(self.row) - of(self.unit.start)
    }

    fn text_bytes(&self) -> u64 {
        self.text_bytes
    }
}

/// The record of a row.
pub(in crate::read::formats) fn row_record<'a>(
    fields: &Fields,
    position: Position,
    line: u32,
    text: &'a Cell,
    [id, value, date, op, within, observed @ ..]: [Option<&'a Cell>; FIELDS],
) -> std::result::Result<Record<'a>, Refusal> {
    let deleted = op.map_or(Ok(false), deletes)?;
    let text = match text {
        _ if deleted => "",
        Cell::Text(text) => std::str::from_utf8(text.data()).map_err(|_| Refusal::NotUtf8)?,
        Cell::Null if fields.missing_text == MissingText::Keep => "",
        other => {
            let field = fields.text.as_str().to_owned();
            return Err(Refusal::TextNotString { field, found: other.kind().into() });
        }
    };
    let id = id.and_then(Cell::id);
    if fields.needs_id() && id.is_none() {
        return Err(Refusal::no_id::<&str>(fields.id.as_str(), &[], 0));
    }
    let (value, within) = (value.and_then(Cell::value), within.and_then(Cell::spelt));
    let day = date.map_or(Day::None, Cell::day);
    let (header, raw) = ("", text.as_bytes());
    let observed = observe(!fields.observed.is_empty(), |at| observed[at].and_then(Cell::observed));
    Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
}

/// Whether a change is a deletion.
fn deletes(op: &Cell) -> std::result::Result<bool, Refusal> {
    let text = match op {
        Cell::Null => return Ok(false),
        Cell::Text(text) => std::str::from_utf8(text.data()).map_err(|_| Refusal::NotUtf8)?,
        other => other.kind(),
    };
    match text {
        "upsert" => Ok(false),
        "delete" => Ok(true),
        other => Err(Refusal::unknown_op(other)),
    }
}

/// Why a page does not fit in the memory, and what to do.
pub(super) fn no_room(row: u64, bytes: u64, room: &RecordRoom) -> String {
    let advice = room.advice(bytes.div_ceil(PART as u64));
    format!(
        "the page with row {} has {bytes} bytes, which {advice}, or write the file with smaller pages",
        row + 1
    )
}

/// What is wrong, for people: bounded, and without characters that steer a terminal.
pub(super) fn said(error: &ParquetError) -> String {
    let said = match error {
        ParquetError::General(said) | ParquetError::EOF(said) | ParquetError::NYI(said) => said.clone(),
        ParquetError::External(error) => error.to_string(),
        other => other.to_string(),
    };
    printable(&said.chars().take(SAID).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use parquet::basic::Compression;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::read::input::Input;
    use crate::read::{Extent, UnitReader, discover, units};

    const ROWS: u64 = 60;

    /// A file of ids and texts in one row group: a few to a page, and no more values in a dictionary than its first pages have.
    fn file(packed: Compression) -> Vec<u8> {
        let schema = "message rows { required binary id (STRING); optional binary text (STRING); }";
        let properties = WriterProperties::builder()
            .set_compression(packed)
            .set_dictionary_page_size_limit(200)
            .set_data_page_row_count_limit(7)
            .set_write_batch_size(1)
            .build();
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        for column in ["id", "text"] {
            let mut to = group.next_column().expect("a column").expect("one");
            let value = |row: u64| ByteArray::from(format!("{column} {}", row / 2).as_str());
            let values: Vec<ByteArray> = (0..ROWS).map(value).collect();
            let defined = (column == "text").then(|| vec![1; values.len()]);
            match to.untyped() {
                ColumnWriter::ByteArrayColumnWriter(to) => {
                    to.write_batch(&values, defined.as_deref(), None).expect("written");
                }
                _ => panic!("a column of texts"),
            }
            to.close().expect("closed");
        }
        group.close().expect("closed");
        writer.into_inner().expect("a file")
    }

    /// Documents, and what was refused.
    #[derive(Default, PartialEq, Debug)]
    struct Found(Vec<(u64, String)>);

    impl Sink for Found {
        fn document(&mut self, record: &Record<'_>) {
            let id = record.id.as_deref().unwrap_or_default();
            self.0.push((record.position.offset(), format!("{id}: {}", record.text)));
        }

        fn refuse(&mut self, position: Position, _: u32, refusal: Refusal) {
            self.0.push((position.offset(), refusal.to_string()));
        }
    }

    /// What workers read that take the units of a file in turn; each goes on with what it has at hand, or begins anew.
    fn read(source: &Source, workers: usize, goes_on: bool) -> Found {
        let fields = Arc::new(Fields::of(&Input::default()).expect("paths"));
        let (mut found, mut at_hand) = (Found::default(), Vec::new());
        at_hand.resize_with(workers, || None);
        for (at, unit) in units(std::slice::from_ref(source), Extent::ALL, 1).iter().enumerate() {
            let earlier = &mut at_hand[at % workers];
            let mut reader = UnitReader::open_after(earlier, source, unit, Arc::clone(&fields));
            while reader.advance(&mut found).expect("no bug") {}
            *earlier = reader.at_hand().filter(|_| goes_on);
        }
        found
    }

    /// Those are the same, whatever is damaged: pages, dictionaries, and headers of both.
    #[test]
    fn readers_that_go_on_read_what_new_ones_do() {
        let (mut most, mut least, mut went_on) = (0, ROWS, 0);
        for packed in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let content = file(packed);
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("a.parquet");
            for at in 0..content.len() - 800 {
                let mut damaged = content.clone();
                damaged[at] ^= if at == 0 { 0 } else { 0x41 };
                std::fs::write(&path, damaged).expect("written");
                let Ok(mut inputs) = discover(&[path.to_str().expect("UTF-8").to_owned()], folder.path())
                else {
                    continue;
                };
                let mut source = inputs.sources.remove(0);
                source.cuts.places = (0..ROWS).step_by(5).collect();
                let want = read(&source, 1, false);
                if at == 0 {
                    let rows = (0..ROWS).map(|row| (row, format!("id {}: text {}", row / 2, row / 2)));
                    assert_eq!(want.0, rows.collect::<Vec<_>>());
                }
                for workers in 1..4 {
                    assert_eq!(
                        read(&source, workers, true),
                        want,
                        "{packed:?}, byte {at}, {workers} workers"
                    );
                }
                let documents = want.0.iter().filter(|(_, what)| what.starts_with("id ")).count() as u64;
                (most, least, went_on) = (most.max(documents), least.min(documents), went_on + 1);
            }
        }
        assert!(most == ROWS && least < ROWS / 2 && went_on > 1000, "{most} {least} {went_on}");
    }
}
