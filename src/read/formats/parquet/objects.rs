//! Rows as JSON objects: all columns, whatever they hold.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::Result as ColumnsResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{RowIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::cell::EPOCH;
use super::guard::guarded;
use super::rewritten::ParquetSource;
use super::texts_as_bytes::{JULIAN, group_of, texts_as_bytes};
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::read::date::{written_day, written_moment, written_time};
use crate::read::source::Source;

/// What to do with a file that cannot be written as JSON.
const ADVICE: &str = "leave --to out to have the rows as they are stored";
/// Rows that are decoded at once.
const BATCH: usize = 64;

/// Hands each row of a source to `each`, with its number from 0, as a JSON object of all its columns.
///
/// What is no type of JSON is written so: dates and times as ISO 8601 has them, decimals as numbers, texts and bytes as text if they are
/// UTF-8 and else as hexadecimal digits, numbers that JSON does not know as null, and the keys of maps as strings.
///
/// # Errors
/// [`Error::Input`] of what cannot be decoded, and what `each` gives.
pub fn row_objects(source: &Source, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let failed = |error| {
        let said = super::rows::said(&error);
        Error::undecodable(&source.shown, format!("cannot be written as JSON: {said}; {ADVICE}"))
    };
    let file = ParquetSource::open(source)?;
    has_form(file.metadata().file_metadata().schema_descr()).map_err(|what| {
        Error::input(Path::new(&source.shown), format!("cannot be written as JSON: {what}; {ADVICE}"))
    })?;
    let schema =
        guarded(|| texts_as_bytes(file.metadata().file_metadata().schema_descr())).map_err(failed)?;
    let types = file.metadata().file_metadata().schema_descr().root_schema().get_fields();
    let (mut row, mut object) = (0, Vec::new());
    for group in 0..file.metadata().num_row_groups() {
        let rows = file.metadata().row_group(group).num_rows().max(0);
        let end = row + rows as u64;
        if source.refuses(&(row..end)) {
            row = end;
            continue;
        }
        let of_group = group_of(&schema, rows).map_err(failed)?;
        let reader = ObjectGroup { file: &file, group, types: of_group };
        let tree = TreeBuilder::new().with_batch_size(BATCH);
        let mut decoded = guarded(|| tree.as_iter(Arc::clone(&schema), &reader)).map_err(failed)?;
        for _ in 0..rows {
            object.clear();
            let next = guarded(|| decoded.next().transpose()).map_err(failed)?;
            let Some(next) = next else { return Err(Error::Changed(source.path.clone())) };
            guarded(|| {
                write_row(&next, types, &mut object);
                Ok(())
            })
            .map_err(failed)?;
            each(row, &object)?;
            row += 1;
        }
    }
    Ok(())
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
}

impl RowGroupReader for ObjectGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        &self.types
    }

    fn num_columns(&self) -> usize {
        self.metadata().num_columns()
    }

    fn get_column_page_reader(&self, leaf: usize) -> ColumnsResult<Box<dyn PageReader>> {
        self.file.pages(self.group, leaf).map(|(pages, _)| Box::new(pages) as Box<dyn PageReader>)
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> ColumnsResult<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// Appends a row with fields of these types.
fn write_row(row: &Row, fields: &[TypePtr], out: &mut Vec<u8>) {
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
fn write_value(value: &Field, of: &Type, out: &mut Vec<u8>) {
    match value {
        Field::Null => out.extend_from_slice(b"null"),
        Field::Bytes(bytes) => match julian(of, bytes.data()) {
            Some(at) => write_time(at, 1, written_moment, out),
            None => write_bytes(bytes.data(), out),
        },
        Field::Float16(number) => write_json(&f32::from(*number), out),
        Field::Float(number) => write_json(number, out),
        Field::Double(number) => write_json(number, out),
        // Without places behind the point there is still a point.
        Field::Decimal(_) => out.extend_from_slice(value.to_string().trim_end_matches('.').as_bytes()),
        Field::Date(day) => write_text(&written_day(*day), out),
        Field::TimeMillis(at) => write_time((*at).into(), 1_000_000, written_time, out),
        Field::TimeMicros(at) => write_time((*at).into(), 1_000, written_time, out),
        Field::TimestampMillis(at) => write_time((*at).into(), 1_000_000, written_moment, out),
        Field::TimestampMicros(at) => write_time((*at).into(), 1_000, written_moment, out),
        Field::Long(at) => match within(of, |_| false).get_basic_info().logical_type_ref() {
            Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => {
                write_time((*at).into(), 1, written_moment, out);
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
            let mut name = Vec::new();
            write_value(key, key_type, &mut name);
            if name.first() == Some(&b'"') {
                out.extend_from_slice(&name);
            } else {
                write_text(&String::from_utf8_lossy(&name), out);
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

fn write_all<T>(some: &[T], (open, close): (u8, u8), out: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    out.push(open);
    for (at, one) in some.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        each(one, out);
    }
    out.push(close);
}

/// A time in units of so many nanoseconds, or what stands for it where it is beyond all days or years.
fn write_time(at: i128, unit: i128, written: fn(i128) -> Option<String>, out: &mut Vec<u8>) {
    match written(at * unit) {
        Some(time) => write_text(&time, out),
        None => write_json(&at, out),
    }
}

/// Bytes as text, if they are UTF-8, and else as hexadecimal digits.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => write_text(text, out),
        Err(_) => write_text(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), out),
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_json(text, out);
}

/// Writing to memory never fails.
fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out.by_ref(), value);
}
