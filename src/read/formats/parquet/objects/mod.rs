//! Rows as JSON objects: all columns, whatever they hold.

mod bytes;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::{ParquetError, Result as ColumnsResult};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{RowIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use self::bytes::ObjectBytes;
use super::cell::{EPOCH, written_uuid};
use super::guard::guarded;
use super::pages::{HeldPages, PageUse};
use super::rewritten::ParquetSource;
use super::texts_as_bytes::{JULIAN, group_of, texts_as_bytes};
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::progress::Progress;
use crate::read::bytes::RecordRoom;
use crate::read::date::{written_day, written_moment, written_time};
use crate::read::source::{Source, UndecodableRows};

/// What to do with a file that cannot be written as JSON.
const ADVICE: &str = "leave --to out to have the rows as they are stored";
/// Rows that are decoded at once.
const BATCH: u64 = 64;
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Hands each row of a source to `each`, with its number from 0, as a JSON object of all its columns. What is decoded, and each
/// object, has to fit in some room.
///
/// What is no type of JSON is written so: dates and times as ISO 8601 has them, decimals as numbers, texts and bytes as text if they are
/// UTF-8 and else as hexadecimal digits, numbers that JSON does not know as null, and the keys of maps as strings.
///
/// # Errors
/// [`Error::Input`] of what cannot be decoded, and what `each` gives.
pub fn row_objects(
    source: &Source,
    room: &RecordRoom,
    each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    if source.is_refused() {
        return Ok(());
    }
    let rows = ObjectRows::open(source, room)?;
    for (group, stretch) in rows.groups() {
        let made = rows.group(group, &stretch, &mut |row, object| match object {
            Ok(object) => each(row, object),
            Err(why) => Err(rows.undecodable(&why)),
        });
        made.map_err(|fault| rows.told(fault))?;
    }
    Ok(())
}

/// The rows of a source that have no room to be decoded or written as such objects, or cannot be: a row whose object is too long, or all
/// of a row group whose pages are.
///
/// # Errors
/// Those of [`row_objects`].
pub fn unfit_objects(
    source: &Source,
    room: &RecordRoom,
    progress: &Progress,
) -> Result<Vec<UndecodableRows>> {
    let rows = ObjectRows::open(source, room)?;
    let mut found = Vec::new();
    for (group, stretch) in rows.groups() {
        let mut of_group = Vec::new();
        let made = rows.group(group, &stretch, &mut |row, object| {
            let unfit = object.err().map(|why| UndecodableRows { rows: row..row + 1, why });
            of_group.extend(unfit);
            progress.check()
        });
        match made {
            Ok(()) => found.append(&mut of_group),
            Err(ObjectFault::Unfit(error)) => {
                found.push(UndecodableRows { rows: stretch, why: super::rows::said(&error) });
            }
            Err(fault) => match rows.told(fault) {
                // What rows are decoded by is not what columns are.
                Error::Undecodable { reason, .. } => {
                    found.push(UndecodableRows { rows: stretch, why: reason });
                }
                other => return Err(other),
            },
        }
    }
    Ok(found)
}

/// What ends a row group before its end.
enum ObjectFault {
    /// What cannot be decoded.
    Columns(ParquetError),
    /// What has no room.
    Unfit(ParquetError),
    /// Whatever else.
    Known(Error),
}

/// Takes the number of a row, and its object, or why there is no room for it.
type TakeObject<'a> = dyn FnMut(u64, std::result::Result<&[u8], String>) -> Result<()> + 'a;

/// The rows of a file that become objects.
struct ObjectRows<'a> {
    source: &'a Source,
    file: ParquetSource,
    schema: Arc<SchemaDescriptor>,
}

impl<'a> ObjectRows<'a> {
    fn open(source: &'a Source, room: &RecordRoom) -> Result<ObjectRows<'a>> {
        let file = ParquetSource::open_for(PageUse::Objects, source, room)?;
        has_form(file.metadata().file_metadata().schema_descr()).map_err(|what| {
            Error::input(Path::new(&source.shown), format!("cannot be written as JSON: {what}; {ADVICE}"))
        })?;
        let schema = guarded(|| texts_as_bytes(file.metadata().file_metadata().schema_descr()));
        let schema = schema.map_err(|error| undecodable(source, &super::rows::said(&error)))?;
        Ok(ObjectRows { source, file, schema })
    }

    /// The row groups that are not refused, and the rows of each.
    fn groups(&self) -> impl Iterator<Item = (usize, Range<u64>)> {
        self.file.groups().enumerate().filter(|(_, rows)| !self.source.refuses(rows))
    }

    fn undecodable(&self, why: &str) -> Error {
        undecodable(self.source, why)
    }

    fn told(&self, fault: ObjectFault) -> Error {
        match fault {
            ObjectFault::Columns(error) | ObjectFault::Unfit(error) => {
                self.undecodable(&super::rows::said(&error))
            }
            ObjectFault::Known(error) => error,
        }
    }

    /// Hands on the objects of a row group. Where those of many rows have no room at a time, they are decoded one by one.
    fn group(
        &self,
        group: usize,
        rows: &Range<u64>,
        take: &mut TakeObject<'_>,
    ) -> std::result::Result<(), ObjectFault> {
        let mut next = rows.start;
        match self.batches(group, (rows, &mut next), BATCH, take) {
            Err(ObjectFault::Unfit(_)) => self.batches(group, (rows, &mut next), 1, take),
            done => done,
        }
    }

    /// The same from the row `next` on, so many of them at a time.
    fn batches(
        &self,
        group: usize,
        (rows, next): (&Range<u64>, &mut u64),
        batch: u64,
        take: &mut TakeObject<'_>,
    ) -> std::result::Result<(), ObjectFault> {
        let fault = |error| match self.file.memory().is_unfit() {
            true => ObjectFault::Unfit(error),
            false => ObjectFault::Columns(error),
        };
        self.file.memory().begin_objects(batch);
        let of_group = group_of(&self.schema, (rows.end - rows.start) as i64).map_err(fault)?;
        let types = self.file.metadata().file_metadata().schema_descr().root_schema().get_fields();
        let reader = ObjectGroup { file: &self.file, group, types: of_group, pages: Mutex::default() };
        let tree = TreeBuilder::new().with_batch_size(batch as usize);
        let mut decoded = guarded(|| tree.as_iter(Arc::clone(&self.schema), &reader)).map_err(fault)?;
        let memory = self.file.memory();
        let mut object = ObjectBytes::new(memory);
        for row in rows.clone() {
            // The values behind the last row of a batch are fetched with it.
            if (row - rows.start + 1).is_multiple_of(batch) {
                reader.step();
            }
            let decoded_row = guarded(|| decoded.next().transpose()).map_err(fault)?;
            let Some(decoded_row) = decoded_row else {
                return Err(ObjectFault::Known(Error::Changed(self.source.path.clone())));
            };
            if row < *next {
                continue;
            }
            *next = row + 1;
            // A row that had no room before is refused alone.
            if self.source.refuses(&(row..row + 1)) {
                continue;
            }
            guarded(|| {
                write_row(&decoded_row, types, &mut object);
                Ok(())
            })
            .map_err(fault)?;
            take(row, object.made()).map_err(ObjectFault::Known)?;
            object.end();
        }
        Ok(())
    }
}

fn undecodable(source: &Source, why: &str) -> Error {
    Error::undecodable(&source.shown, format!("cannot be written as JSON: {why}; {ADVICE}"))
}

/// Refuses columns that have no form in JSON: intervals, which the crate does not decode, and those of one name, of which it hands on
/// one for all.
fn has_form(schema: &SchemaDescriptor) -> std::result::Result<(), String> {
    let interval = schema.columns().iter().find(|column| column.converted_type() == ConvertedType::INTERVAL);
    if let Some(column) = interval {
        return Err(format!("the column {:.40} is an interval", printable(&column.path().string())));
    }
    names_differ(schema.root_schema())
}

fn names_differ(group: &Type) -> std::result::Result<(), String> {
    let mut names = BTreeSet::new();
    for field in group.get_fields() {
        if !names.insert(field.name()) {
            return Err(format!("two columns have the name {:.40}", printable(field.name())));
        }
        if field.is_group() {
            names_differ(field)?;
        }
    }
    Ok(())
}

/// A row group whose pages are read within bounds.
struct ObjectGroup<'a> {
    file: &'a ParquetSource,
    group: usize,
    types: RowGroupMetaData,
    /// What the pages of each column take.
    pages: Mutex<Vec<Arc<HeldPages>>>,
}

impl ObjectGroup<'_> {
    fn held(&self) -> MutexGuard<'_, Vec<Arc<HeldPages>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins another batch of rows.
    fn step(&self) {
        self.held().iter().for_each(|pages| pages.step());
    }
}

impl RowGroupReader for ObjectGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        &self.types
    }

    fn num_columns(&self) -> usize {
        self.metadata().num_columns()
    }

    fn get_column_page_reader(&self, leaf: usize) -> ColumnsResult<Box<dyn PageReader>> {
        let (pages, held) = self.file.pages(self.group, leaf)?;
        self.held().push(held);
        Ok(Box::new(pages))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> ColumnsResult<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// Appends a row with fields of these types.
fn write_row(row: &Row, fields: &[TypePtr], out: &mut ObjectBytes<'_>) {
    out.push(b'{');
    for (at, ((name, value), of)) in row.get_column_iter().zip(fields).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        write_value(value, of, out);
    }
    out.push(b'}');
}

/// Appends a value of a type, or of what is in lists of it.
fn write_value(value: &Field, of: &Type, out: &mut ObjectBytes<'_>) {
    match value {
        Field::Null => out.extend_from_slice(b"null"),
        Field::Bytes(bytes) => match (julian(of, bytes.data()), uuid(of, bytes.data())) {
            // Nobody says of which zone they are.
            (Some(at), _) => write_time(at, 1, written_local, out),
            (_, Some(text)) => write_text(&text, out),
            _ => write_bytes(bytes.data(), out),
        },
        Field::Float16(number) => write_json(&f32::from(*number), out),
        Field::Float(number) => write_json(number, out),
        Field::Double(number) => write_json(number, out),
        // Without places behind the point there is still a point.
        Field::Decimal(_) => out.extend_from_slice(value.to_string().trim_end_matches('.').as_bytes()),
        Field::Date(day) => write_text(&written_day(*day), out),
        Field::TimeMillis(at) => write_time((*at).into(), 1_000_000, written_time, out),
        Field::TimeMicros(at) => write_time((*at).into(), 1_000, written_time, out),
        Field::TimestampMillis(at) => write_time((*at).into(), 1_000_000, moment_of(of), out),
        Field::TimestampMicros(at) => write_time((*at).into(), 1_000, moment_of(of), out),
        Field::Long(at) => match within(of, |_| false).get_basic_info().logical_type_ref() {
            Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => {
                write_time((*at).into(), 1, moment_of(of), out);
            }
            Some(LogicalType::Time(time)) if time.unit == TimeUnit::NANOS => {
                write_time((*at).into(), 1, written_time, out);
            }
            _ => write_json(at, out),
        },
        Field::Group(row) => {
            let names = || row.get_column_iter().map(|(name, _)| name.as_str());
            let is_its = |fields: &[TypePtr]| fields.iter().map(|field| field.name()).eq(names());
            write_row(row, fields(within(of, is_its)), out);
        }
        Field::ListInternal(list) => {
            write_all(list.elements(), (b'[', b']'), out, |element, out| write_value(element, of, out));
        }
        Field::MapInternal(map) => write_all(map.entries(), (b'{', b'}'), out, |(key, value), out| {
            let [key_type, value_type] = fields(within(of, |fields| fields.len() > 1)) else { return };
            let mut name = out.apart();
            write_value(key, key_type, &mut name);
            match name.made() {
                Ok(name) if name.first() == Some(&b'"') => out.extend_from_slice(name),
                Ok(name) => write_text(&String::from_utf8_lossy(name), out),
                Err(_) => out.end_with(&name),
            }
            out.push(b':');
            write_value(value, value_type, out);
        }),
        // Truths and whole numbers.
        number => out.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// The type of a value within groups that only say that it is in a list: a leaf, or a group that is the one that is looked for.
fn within(mut of: &Type, is_it: impl Fn(&[TypePtr]) -> bool) -> &Type {
    while let [only] = fields(of)
        && !is_it(fields(of))
    {
        of = only;
    }
    of
}

/// The fields of a group; a leaf has none.
fn fields(of: &Type) -> &[TypePtr] {
    if of.is_group() { of.get_fields() } else { &[] }
}

/// An identifier of that type as it is written.
fn uuid(of: &Type, bytes: &[u8]) -> Option<String> {
    let is_one = within(of, |_| false).get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid);
    written_uuid(bytes).filter(|_| is_one)
}

fn written_utc(nanoseconds: i128) -> Option<String> {
    written_moment(nanoseconds, true)
}

fn written_local(nanoseconds: i128) -> Option<String> {
    written_moment(nanoseconds, false)
}

/// How moments of a type are written. Those of the older types are of UTC (LogicalTypes.md, "Timestamp").
fn moment_of(of: &Type) -> fn(i128) -> Option<String> {
    match within(of, |_| false).get_basic_info().logical_type_ref() {
        Some(LogicalType::Timestamp(time)) if !time.is_adjusted_to_u_t_c => written_local,
        _ => written_utc,
    }
}

/// The nanoseconds since 1970-01-01 of a moment of INT96.
fn julian(of: &Type, bytes: &[u8]) -> Option<i128> {
    let leaf = within(of, |_| false);
    let bytes: [u8; JULIAN] = bytes.try_into().ok()?;
    if leaf.is_group() || leaf.get_physical_type() != Physical::INT96 {
        return None;
    }
    let [nanos @ .., a, b, c, d] = bytes;
    let day = i128::from(u32::from_le_bytes([a, b, c, d])) - i128::from(EPOCH);
    Some(day * 86_400_000_000_000 + i128::from(u64::from_le_bytes(nanos)))
}

fn write_all<T>(
    some: &[T],
    (open, close): (u8, u8),
    out: &mut ObjectBytes<'_>,
    each: impl Fn(&T, &mut ObjectBytes<'_>),
) {
    out.push(open);
    for (at, one) in some.iter().enumerate() {
        if out.is_ended() {
            return;
        }
        if at > 0 {
            out.push(b',');
        }
        each(one, out);
    }
    out.push(close);
}

/// A time in units of so many nanoseconds, or what stands for it where it is beyond all days or years.
fn write_time(at: i128, unit: i128, written: fn(i128) -> Option<String>, out: &mut ObjectBytes<'_>) {
    match written(at * unit) {
        Some(time) => write_text(&time, out),
        None => write_json(&at, out),
    }
}

/// Bytes as text, if they are UTF-8, and else as hexadecimal digits.
fn write_bytes(bytes: &[u8], out: &mut ObjectBytes<'_>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => write_text(text, out),
        Err(_) => {
            out.push(b'"');
            for byte in bytes {
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
            out.push(b'"');
        }
    }
}

fn write_text(text: &str, out: &mut ObjectBytes<'_>) {
    write_json(text, out);
}

/// Writing to memory never fails, unless there is to be no more of it.
fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut ObjectBytes<'_>) {
    let _ = serde_json::to_writer(out, value);
}
