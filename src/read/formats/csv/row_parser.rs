//! Rows of CSV to records.

use std::borrow::Cow;

use csv_core::{ReadFieldResult, ReadRecordResult, Reader, ReaderBuilder};

use crate::document::Position;
use crate::limits::sized;
use crate::read::codec::Parser;
use crate::read::date::{Day, day};
use crate::read::field::{FieldPath, Fields, OBSERVED_FIELDS};
use crate::read::format::Delimiter;
use crate::read::record::{Record, Refusal, SHOWN_KEYS, Value, observe, utf8};

/// Space for decoded rows that is kept from row to row.
const KEPT: usize = sized(8 << 20, 64);

/// The names of columns, one behind the other: of many columns each has few bytes.
pub(super) struct ColumnNames {
    text: String,
    ends: Vec<usize>,
}

impl ColumnNames {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The name of a column.
    pub(super) fn get(&self, at: usize) -> &str {
        &self.text[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]]
    }

    /// All names.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// How many fields a row has; none of it is held.
pub(super) fn count_fields(delimiter: Delimiter, row: &str) -> usize {
    let mut reader = ReaderBuilder::new().delimiter(delimiter.byte()).build();
    let (mut bytes, mut decoded, mut count) = (row.as_bytes(), [0; 1 << 10], 0);
    loop {
        let (result, read, _) = reader.read_field(bytes, &mut decoded);
        bytes = &bytes[read..];
        match result {
            ReadFieldResult::Field { .. } => count += 1,
            ReadFieldResult::End => return count,
            // Without more input the next call ends the field, and the one behind it the row.
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
        }
    }
}

/// Makes records of rows.
pub(super) struct RowParser {
    /// The header row as it stands in the file, without a byte order mark.
    header: String,
    columns: ColumnNames,
    text: Result<usize, Refusal>,
    id: Option<usize>,
    value: Option<usize>,
    within: Option<usize>,
    date: Option<usize>,
    observed: [Option<usize>; OBSERVED_FIELDS],
    op: Option<usize>,
    /// Why a row without an id is refused, if it has to have one.
    no_id: Option<Refusal>,
    reader: Reader,
    /// The fields of the last row, one after the other, and where each ends.
    decoded: Vec<u8>,
    ends: Vec<usize>,
}

impl RowParser {
    pub(super) fn new(delimiter: Delimiter, header: &str, fields: &Fields) -> RowParser {
        let reader = ReaderBuilder::new().delimiter(delimiter.byte()).build();
        let mut parser = RowParser {
            header: header.to_owned(),
            columns: ColumnNames { text: String::new(), ends: Vec::new() },
            text: Ok(0),
            id: None,
            value: None,
            within: None,
            date: None,
            observed: [None; OBSERVED_FIELDS],
            op: None,
            no_id: None,
            reader,
            decoded: Vec::new(),
            ends: vec![0; 16],
        };
        let count = parser.decode(header.trim_start_matches('\u{feff}'));
        let names = &parser.decoded[..count.checked_sub(1).map_or(0, |last| parser.ends[last])];
        let text = String::from_utf8_lossy(names).into_owned();
        parser.columns = ColumnNames { text, ends: parser.ends[..count].to_vec() };
        // Of columns of one name the last counts, as of equal keys in JSON.
        let column = |name: &str| parser.columns.iter().rposition(|column| column == name);
        let wanted = |path: Option<&FieldPath>| path.and_then(|path| column(path.as_str()));
        let (id, value) = (column(fields.id.as_str()), wanted(fields.value.as_ref()));
        let [within, date, op] = [&fields.within, &fields.date, &fields.op].map(|path| wanted(path.as_ref()));
        let observed = fields.observed().map(wanted);
        let shown: Vec<&str> = parser.columns.iter().take(SHOWN_KEYS).collect();
        let more = count - shown.len();
        let text = fields.text.as_str();
        let text = column(text).ok_or_else(|| Refusal::no_column(text, &shown, more));
        let no_id = fields.needs_id().then(|| Refusal::no_id(fields.id.as_str(), &shown, more));
        RowParser { text, id, value, within, date, observed, op, no_id, ..parser }
    }

    /// The names of the columns.
    pub(super) fn columns(&self) -> &ColumnNames {
        &self.columns
    }

    /// Decodes a row; how many fields it has.
    pub(super) fn decode(&mut self, raw: &str) -> usize {
        self.reader.reset();
        if self.decoded.len() < raw.len() || self.decoded.len() > KEPT {
            self.decoded.resize(raw.len().max(64), 0);
            self.decoded.shrink_to(KEPT);
        }
        // A blank line tells the reader that this is not the start of a file, where it would drop a byte order mark.
        self.reader.read_record(b"\n", &mut self.decoded, &mut self.ends);
        let (mut bytes, mut written, mut count) = (raw.as_bytes(), 0, 0);
        loop {
            let (result, read, wrote, ended) =
                self.reader.read_record(bytes, &mut self.decoded[written..], &mut self.ends[count..]);
            (bytes, written, count) = (&bytes[read..], written + wrote, count + ended);
            match result {
                ReadRecordResult::Record | ReadRecordResult::End => return count,
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::OutputFull => self.decoded.resize(2 * self.decoded.len(), 0),
                // Without more input this ends the row.
                ReadRecordResult::InputEmpty => {}
            }
        }
    }

    /// A field of the last row.
    pub(super) fn field(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        // Fields of UTF-8 are UTF-8: only quotes were taken out of it.
        std::str::from_utf8(&self.decoded[start..self.ends[at]]).unwrap_or_default()
    }

    /// A field of the last row that may be missing; an empty one is missing.
    fn filled(&self, at: Option<usize>) -> Option<&str> {
        at.map(|at| self.field(at)).filter(|field| !field.is_empty())
    }
}

impl Parser for RowParser {
    fn rest(&mut self) {
        self.decoded = Vec::new();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let fields = self.decode(utf8(raw)?);
        if fields != self.columns.len() {
            return Err(Refusal::Ragged { fields, columns: self.columns.len() });
        }
        let deleted = match self.filled(self.op) {
            None | Some("upsert") => false,
            Some("delete") => true,
            Some(other) => return Err(Refusal::unknown_op(other)),
        };
        let text = match &self.text {
            _ if deleted => "",
            Ok(text) => self.field(*text),
            Err(refusal) => return Err(refusal.clone()),
        };
        let id = self.filled(self.id).map(Into::into);
        if let (Some(refusal), None) = (&self.no_id, &id) {
            return Err(refusal.clone());
        }
        let within = self.filled(self.within).map(Cow::Borrowed);
        let value = self.filled(self.value).map(Value::spelt);
        let date = self.filled(self.date);
        let day = date.map_or(Day::None, |date| day(date).map_or(Day::Unclear, Day::Known));
        let any = self.observed.iter().any(Option::is_some);
        let observed = observe(any, |at| self.filled(self.observed[at]).map(Cow::Borrowed));
        let header = &self.header;
        Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
    }
}
