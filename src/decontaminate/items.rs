//! The items of benchmarks, read once before anything else.

use crate::limits::{MAX_VALUE_BYTES, sized};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::slice;
use std::sync::Arc;

use serde_json::Value;

use super::fields::{ItemFields, field_paths, id_of, names, text_of};
use super::index::{BenchmarkIndex, IndexBuilder, Item, TextOwner};
use super::rule::ContaminationRule;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::progress::{Progress, Stage};
use crate::read::{
    Extent, FieldPath, Fields, Format, Input, Record, Refusal, Sink, Source, UnitReader, column_names,
    open_decompressed, units,
};

/// A benchmark: some of the sources, which stand one behind the other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BenchmarkSet {
    /// What it is called.
    pub name: String,
    /// How many sources it has.
    pub sources: usize,
}

/// Names of fields that are shown.
const SHOWN: usize = 20;

/// Reads all items and makes an index of them.
///
/// # Errors
/// [`Error::Config`] of a benchmark without items, and of fields that none has; [`Error::Input`] of a file that cannot be
/// read to its end; [`Error::Refused`] if more than `percent` of the records are no items; [`Error::Limit`] if
/// the index takes more than `most` bytes.
pub fn read_benchmarks(
    (sets, sources): (&[BenchmarkSet], &[Source]),
    (fields, rule): (&ItemFields, ContaminationRule),
    (percent, most): (u64, u64),
    progress: &Progress,
) -> Result<BenchmarkIndex> {
    progress.enter(Stage::Open, 0);
    let paths = fields.paths()?;
    let mut reader = ItemReader {
        id: FieldPath::parse(&fields.id)?,
        is_met: vec![false; paths.len()],
        paths,
        fields,
        builder: IndexBuilder::new(rule, most),
        progress,
        names: Vec::new(),
        nested: None,
        unfit: 0,
        first_unfit: None,
        met: false,
        records: 0,
    };
    let mut file = 0;
    for (number, set) in sets.iter().enumerate() {
        (reader.met, reader.records, reader.unfit) = (false, 0, 0);
        (reader.first_unfit, reader.nested) = (None, None);
        reader.names.clear();
        reader.builder.begin(&set.name);
        for source in &sources[file..file + set.sources] {
            reader.read(source, number as u32, file as u32)?;
            file += 1;
        }
        reader.check(set, percent)?;
    }
    let nowhere = reader.is_met.iter().position(|met| !met);
    if let Some(at) = nowhere {
        let field = printable(&fields.texts[at]).into_owned();
        return Err(Error::config(format!(
            "--benchmark-fields {field}: no item of any benchmark has a text in it; {}",
            there_are(&reader.names, reader.nested.as_deref())
        )));
    }
    reader.builder.finish()
}

struct ItemReader<'a> {
    id: FieldPath,
    paths: Vec<FieldPath>,
    /// Which of them an item had.
    is_met: Vec<bool>,
    fields: &'a ItemFields,
    builder: IndexBuilder,
    progress: &'a Progress,
    /// Fields of the first record of the present benchmark.
    names: Vec<String>,
    /// What stands in a field of that benchmark that was asked for, if it is an object.
    nested: Option<String>,
    /// Records of the present benchmark that are no items, and the first of them with the reason.
    unfit: u64,
    first_unfit: Option<String>,
    /// Whether the present benchmark has any of the fields.
    met: bool,
    records: u64,
}

impl ItemReader<'_> {
    /// Reads a file.
    fn read(&mut self, source: &Source, benchmark: u32, file: u32) -> Result<()> {
        source.unchanged()?;
        let place = (benchmark, file);
        match source.format {
            Format::JsonLines => self.read_lines(source, place)?,
            #[cfg(feature = "parquet")]
            Format::Parquet | Format::Arrow => self.read_rows(source, place)?,
            Format::Csv { .. } => self.read_columns(source, place)?,
            _ => self.read_texts(source, place)?,
        }
        source.unchanged()
    }

    /// Objects, one a line.
    fn read_lines(&mut self, source: &Source, place: (u32, u32)) -> Result<()> {
        let failed = |error: std::io::Error| {
            Error::input(
                Path::new(&source.shown),
                format!("is a benchmark, and cannot be read to its end ({error}); mend it, or leave it out"),
            )
        };
        let limit = MAX_VALUE_BYTES as u64;
        let mut lines =
            BufReader::with_capacity(sized(1 << 18, 64), open_decompressed(source).map_err(failed)?);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            if lines.by_ref().take(limit).read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(());
            }
            number += 1;
            if line.len() as u64 == limit && !line.ends_with(b"\n") {
                let why = format!("line {number} is longer than the {limit} bytes allowed of a record");
                return Err(Error::input(Path::new(&source.shown), why));
            }
            let bytes =
                if number == 1 { line.strip_prefix(crate::read::BOM).unwrap_or(&line) } else { &line };
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            self.progress.check()?;
            // The line, and what is made of it.
            self.builder.has_room(3 * bytes.len() as u64)?;
            match serde_json::from_slice::<Value>(bytes) {
                Ok(object) if object.is_object() => self.object(&object, source, place, number)?,
                Ok(_) => self.refuse(source, number, "JSON, but not an object"),
                Err(error) => self.refuse(source, number, &format!("not JSON: {error}")),
            }
        }
    }

    /// Rows of Parquet or Arrow as objects.
    #[cfg(feature = "parquet")]
    fn read_rows(&mut self, source: &Source, place: (u32, u32)) -> Result<()> {
        crate::read::row_objects(source, &crate::read::RecordRoom::default(), &mut |row, object| {
            self.progress.check()?;
            match serde_json::from_slice::<Value>(object) {
                Ok(object) => self.object(&object, source, place, row + 1),
                Err(error) => {
                    self.refuse(source, row + 1, &format!("not JSON: {error}"));
                    Ok(())
                }
            }
        })
    }

    /// An item that is an object.
    fn object(&mut self, object: &Value, source: &Source, place: (u32, u32), line: u64) -> Result<()> {
        if self.names.is_empty() {
            self.names = field_paths(object);
        }
        let texts: Vec<_> = self.paths.iter().map(|path| text_of(object, path)).collect();
        if texts.iter().all(Option::is_none) {
            let nested = self.paths.iter().find_map(|path| nested(object, path));
            let why = self.no_text(&field_paths(object), nested.as_deref());
            self.refuse(source, line, &why);
            self.nested = self.nested.take().or(nested);
            return Ok(());
        }
        self.item((source, line), id_of(object, &self.id), texts, place)
    }

    /// Why a record with fields of these names has no text.
    fn no_text(&self, names: &[String], nested: Option<&str>) -> String {
        format!("no text in {}; {}", self.fields.texts.join(", "), there_are(names, nested))
    }

    /// Rows of fields: a pass for each column, as a reader hands on one text of each record.
    fn read_columns(&mut self, source: &Source, place: (u32, u32)) -> Result<()> {
        let columns = column_names(source)?;
        if self.names.is_empty() {
            self.names.clone_from(&columns);
        }
        let mut rows: BTreeMap<u64, PlainRow> = BTreeMap::new();
        for (at, path) in self.paths.iter().enumerate() {
            if !columns.iter().any(|column| column == path.as_str()) {
                continue;
            }
            for (offset, taken) in self.plain(source, path.as_str())? {
                let row = rows.entry(offset).or_insert_with(|| PlainRow {
                    texts: vec![None; self.paths.len()],
                    line: taken.line,
                    ..PlainRow::default()
                });
                match taken.read {
                    Ok((id, text)) => (row.id, row.texts[at]) = (id, Some(text)),
                    Err(why) => row.refused = Some(why),
                }
            }
        }
        for row in rows.into_values() {
            match row.refused {
                Some(why) => self.refuse(source, row.line, &why),
                None if row.texts.iter().all(Option::is_none) => {
                    let why = self.no_text(&columns, None);
                    self.refuse(source, row.line, &why);
                }
                None => self.item((source, row.line), row.id, row.texts, place)?,
            }
        }
        Ok(())
    }

    /// Records that are texts, whatever fields are asked for.
    fn read_texts(&mut self, source: &Source, place: (u32, u32)) -> Result<()> {
        for (_, PlainItem { line, read }) in self.plain(source, "text")? {
            match read {
                Ok((id, text)) => {
                    self.is_met.fill(true);
                    self.item((source, line), id, vec![Some(text)], place)?;
                }
                Err(why) => self.refuse(source, line, &why),
            }
        }
        Ok(())
    }

    /// What a reader of records takes from one field of a file.
    fn plain(&self, source: &Source, field: &str) -> Result<Vec<(u64, PlainItem)>> {
        let input = Input {
            text_field: field.to_owned(),
            id_field: self.fields.id.clone(),
            max_record_bytes: MAX_VALUE_BYTES,
            ..Input::default()
        };
        let fields = Arc::new(Fields::of(&input)?);
        let mut taken = PlainItems::default();
        for unit in units(slice::from_ref(source), Extent::ALL, u64::MAX) {
            let mut reader = UnitReader::open(0, source, &unit, Arc::clone(&fields));
            while reader.advance(&mut taken)? {
                self.progress.check()?;
                self.builder.has_room(taken.bytes)?;
            }
        }
        match taken.ended {
            Some(why) => Err(Error::input(
                Path::new(&source.shown),
                format!("is a benchmark, and cannot be read to its end ({why}); mend it, or leave it out"),
            )),
            None => Ok(taken.items),
        }
    }

    /// Takes an item in.
    fn item(
        &mut self,
        (source, line): (&Source, u64),
        id: Option<String>,
        texts: Vec<Option<String>>,
        (benchmark, file): (u32, u32),
    ) -> Result<()> {
        (self.met, self.records) = (true, self.records + 1);
        let id = id.unwrap_or_else(|| format!("{}:{line}", source.shown));
        let item = self.builder.item(Item { id, benchmark, file, line })?;
        if self.builder.is_scored() {
            texts.iter().zip(&mut self.is_met).for_each(|(text, met)| *met |= text.is_some());
            let part = |at: usize| texts.get(at).and_then(Option::as_deref).unwrap_or_default();
            return self.builder.parts([part(0), part(1), part(2)], TextOwner { item, field: 0 });
        }
        if self.fields.join {
            texts.iter().zip(&mut self.is_met).for_each(|(text, met)| *met |= text.is_some());
            let whole = texts.into_iter().flatten().collect::<Vec<_>>().join("\n");
            return self.builder.text(&whole, TextOwner { item, field: 0 });
        }
        for (field, text) in texts.iter().enumerate() {
            if let Some(text) = text {
                self.is_met[field] = true;
                self.builder.text(text, TextOwner { item, field: field as u32 })?;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, source: &Source, line: u64, why: &str) {
        self.records += 1;
        self.unfit += 1;
        self.first_unfit.get_or_insert_with(|| format!("{}, line {line}: {}", source.shown, printable(why)));
    }

    /// Refuses a benchmark that is none.
    fn check(&self, set: &BenchmarkSet, percent: u64) -> Result<()> {
        let name = printable(&set.name);
        if !self.met && !self.names.is_empty() {
            let asked = self.fields.texts.join(", ");
            let keys = there_are(&self.names, self.nested.as_deref());
            return Err(Error::config(format!(
                "--benchmarks {name}: no item has a text in {asked}; {keys}; name them with --benchmark-fields"
            )));
        }
        let Some(first) = &self.first_unfit else {
            let what = "there are no items in it; name a file or a folder with records";
            let error = || Error::config(format!("--benchmarks {name}: {what}"));
            return if self.met { Ok(()) } else { Err(error()) };
        };
        let (rejected, records) = (self.unfit, self.records);
        if rejected * 100 <= records * percent {
            return Ok(());
        }
        let reason = match percent {
            0 => format!("--strict allows none; they are of --benchmarks {name}"),
            _ => format!(
                "of --benchmarks {name}: what cannot be read is not found in any document; more than {percent} % is a sign of \
                 wrong fields (--benchmark-fields); --max-rejected allows more"
            ),
        };
        Err(Error::Refused { rejected, records, reason, first: first.clone() })
    }
}

/// The fields that there are, for people.
fn there_are(names: &[String], nested: Option<&str>) -> String {
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| printable(name).into_owned()).collect();
    if names.len() > SHOWN {
        shown.push("and more".to_owned());
    }
    let all = if shown.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are: {}", shown.join(", "))
    };
    nested.map_or(all.clone(), |nested| format!("{nested}; {all}"))
}

/// What is said of a field that is an object: its fields are named among those that there are.
fn nested(object: &Value, path: &FieldPath) -> Option<String> {
    let inner = path.find_in(object).filter(|value| value.is_object())?;
    let kind = if names(inner).is_empty() { "an empty object" } else { "an object" };
    Some(format!("{} is {kind}", printable(path.as_str())))
}

/// A row as several passes find it.
#[derive(Default)]
struct PlainRow {
    id: Option<String>,
    line: u64,
    texts: Vec<Option<String>>,
    refused: Option<String>,
}

/// A record as a reader hands it on: its id and its text, or why it is none.
struct PlainItem {
    line: u64,
    read: std::result::Result<(Option<String>, String), String>,
}

/// The records of a file.
#[derive(Default)]
struct PlainItems {
    items: Vec<(u64, PlainItem)>,
    /// Bytes that they take.
    bytes: u64,
    /// Why it could not be read to its end.
    ended: Option<String>,
}

impl Sink for PlainItems {
    fn document(&mut self, record: &Record<'_>) {
        let id = record.id.as_ref().map(ToString::to_string);
        self.bytes += (record.text.len() + size_of::<(u64, PlainItem)>()) as u64;
        let read = Ok((id, record.text.to_owned()));
        self.items.push((record.position.offset(), PlainItem { line: u64::from(record.line), read }));
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        if refusal.loses_others() {
            self.ended = Some(refusal.to_string());
        } else if !matches!(refusal, Refusal::NoTextIn(_)) {
            let read = Err(refusal.to_string());
            self.items.push((position.offset(), PlainItem { line: u64::from(line), read }));
        }
    }
}
