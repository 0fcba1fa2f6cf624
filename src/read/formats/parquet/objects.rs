//! Rows as JSON objects: all columns, whatever they hold.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::ConvertedType;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::Result as ColumnsResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{RowIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::guard::guarded;
use super::rewritten::ParquetSource;
use super::texts_as_bytes::{group_of, texts_as_bytes};
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::read::date::written_moment;
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
    let (mut row, mut object) = (0, Vec::new());
    for group in 0..file.metadata().num_row_groups() {
        let rows = file.metadata().row_group(group).num_rows().max(0);
        let end = row + rows as u64;
        if source.refuses(&(row..end)) {
            row = end;
            continue;
        }
        let types = group_of(&schema, rows).map_err(failed)?;
        let reader = ObjectGroup { file: &file, group, types };
        let tree = TreeBuilder::new().with_batch_size(BATCH);
        let mut decoded = guarded(|| tree.as_iter(Arc::clone(&schema), &reader)).map_err(failed)?;
        for _ in 0..rows {
            object.clear();
            let next = guarded(|| decoded.next().transpose()).map_err(failed)?;
            let Some(next) = next else { return Err(Error::Changed(source.path.clone())) };
            guarded(|| {
                write_row(&next, &mut object);
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

fn write_row(row: &Row, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, value)) in row.get_column_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

fn write_value(value: &Field, out: &mut Vec<u8>) {
    match value {
        Field::Null => out.extend_from_slice(b"null"),
        Field::Bytes(bytes) => write_bytes(bytes.data(), out),
        Field::Float16(number) => write_json(&f32::from(*number), out),
        Field::Float(number) => write_json(number, out),
        Field::Double(number) => write_json(number, out),
        // Without places behind the point there is still a point.
        Field::Decimal(_) => out.extend_from_slice(value.to_string().trim_end_matches('.').as_bytes()),
        Field::Date(_) | Field::TimeMillis(_) | Field::TimeMicros(_) => write_text(&value.to_string(), out),
        Field::TimestampMillis(at) => write_time(*at, 1_000_000, out),
        Field::TimestampMicros(at) => write_time(*at, 1_000, out),
        Field::Group(row) => write_row(row, out),
        Field::ListInternal(list) => {
            write_all(list.elements(), (b'[', b']'), out, write_value);
        }
        Field::MapInternal(map) => write_all(map.entries(), (b'{', b'}'), out, |(key, value), out| {
            match key {
                Field::Bytes(key) => write_bytes(key.data(), out),
                key => write_text(&key.to_string(), out),
            }
            out.push(b':');
            write_value(value, out);
        }),
        // Truths and whole numbers.
        number => out.extend_from_slice(number.to_string().as_bytes()),
    }
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

/// A time in units of so many nanoseconds, or what stands for it where it is beyond all years.
fn write_time(at: i64, unit: i128, out: &mut Vec<u8>) {
    match written_moment(i128::from(at) * unit) {
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
