//! What a schema declares beside how its values are laid out: what they mean in full, whether there may be nulls, and what is
//! said of each field.

use std::io;

use super::super::metadata::carried::carried_schema;
use super::super::metadata::flat::{FlatTable, damaged};
use super::super::metadata::layout::ArrowFile;
use super::super::metadata::message::{MessageHead, read_exact};
use super::super::metadata::schema::{ArrowField, ArrowKind, DictionaryKeys, FixedMeaning};

/// A key and a value, which need not be UTF-8.
pub(in crate::read::formats::arrow) type SaidPair = (Vec<u8>, Vec<u8>);

/// A schema with all that it says.
pub(in crate::read::formats::arrow) struct DeclaredSchema {
    pub(in crate::read::formats::arrow) fields: Vec<DeclaredField>,
    pub(in crate::read::formats::arrow) said: Vec<SaidPair>,
}

/// A field with all that its schema says of it.
#[derive(Clone)]
pub(in crate::read::formats::arrow) struct DeclaredField {
    pub(in crate::read::formats::arrow) name: String,
    pub(in crate::read::formats::arrow) nullable: bool,
    pub(in crate::read::formats::arrow) kind: DeclaredKind,
    pub(in crate::read::formats::arrow) dictionary: Option<DeclaredKeys>,
    pub(in crate::read::formats::arrow) children: Vec<DeclaredField>,
    pub(in crate::read::formats::arrow) said: Vec<SaidPair>,
}

/// How the values of a dictionary are named, and whether their order means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) struct DeclaredKeys {
    pub(in crate::read::formats::arrow) width: usize,
    pub(in crate::read::formats::arrow) signed: bool,
    pub(in crate::read::formats::arrow) is_ordered: bool,
}

/// What the values of a field are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum DeclaredKind {
    Null,
    Truth,
    /// A whole number of so many bytes.
    Whole {
        width: usize,
        signed: bool,
    },
    /// A number with a fraction, of so many bytes.
    Real(usize),
    Bytes {
        is_text: bool,
        layout: BytesLayout,
    },
    FixedBytes(usize),
    Decimal {
        width: usize,
        precision: i32,
        scale: i32,
    },
    /// Days since 1970-01-01.
    Days,
    /// The same in milliseconds.
    DaysInMillis,
    /// Times of a day, so many in a second.
    Time(i64),
    /// Moments since 1970-01-01, so many in a second.
    Moment {
        second: i64,
        zone: Option<String>,
    },
    /// Lengths of time, so many in a second.
    Duration(i64),
    List {
        wide: bool,
    },
    Tuple(u64),
    Map {
        is_sorted: bool,
    },
    Struct,
    Runs,
    /// What no other form has a place for, as people call it.
    Other(&'static str),
}

/// How texts and bytes of any length are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum BytesLayout {
    Narrow,
    Wide,
    Views,
}

impl DeclaredSchema {
    /// The schema of a file: in its footer, or at the beginning of its stream.
    pub(in crate::read::formats::arrow) fn read(file: &ArrowFile) -> io::Result<DeclaredSchema> {
        let changed = || damaged("no schema in its place");
        let fields = &file.layout.schema.fields;
        match &file.layout.footer {
            Some(place) => {
                let mut footer = vec![0; (place.end - place.start) as usize];
                read_exact(&file.file, &mut footer, place.start)?;
                let schema = FlatTable::root(&footer)?.table(1)?;
                DeclaredSchema::of(schema.ok_or_else(changed)?, fields)
            }
            None => {
                let head = MessageHead::read(&file.file, 0, file.layout.end)?.ok_or_else(changed)?;
                let schema = FlatTable::root(&head.bytes[head.prefix..])?.table(2)?;
                DeclaredSchema::of(schema.ok_or_else(changed)?, fields)
            }
        }
    }

    /// The schema that another file carries along.
    pub(in crate::read::formats::arrow) fn carried(text: &str) -> io::Result<DeclaredSchema> {
        carried_schema(text, |table, schema| DeclaredSchema::of(table, &schema.fields))
    }

    /// The same with keys of the usual width: where a file has several dictionaries of a field, all values may be more than its own keys
    /// can name.
    pub(in crate::read::formats::arrow) fn with_usual_keys(mut self) -> DeclaredSchema {
        fn widen(fields: &mut [DeclaredField]) {
            for field in fields {
                if let Some(keys) = &mut field.dictionary {
                    (keys.width, keys.signed) = (4, true);
                }
                widen(&mut field.children);
            }
        }
        widen(&mut self.fields);
        self
    }

    /// Whether a field, or one within another, has no other form.
    pub(in crate::read::formats::arrow) fn has_formless(&self) -> bool {
        fn formless(fields: &[DeclaredField]) -> bool {
            let is = |field: &DeclaredField| {
                matches!(field.kind, DeclaredKind::Other(_)) || formless(&field.children)
            };
            fields.iter().any(is)
        }
        formless(&self.fields)
    }

    fn of(table: FlatTable<'_>, fields: &[ArrowField]) -> io::Result<DeclaredSchema> {
        Ok(DeclaredSchema { fields: declared(table, 1, fields)?, said: said(table, 2)? })
    }
}

/// The fields in a list of tables, which are laid out as it was found.
fn declared(table: FlatTable<'_>, slot: usize, fields: &[ArrowField]) -> io::Result<Vec<DeclaredField>> {
    let tables: Vec<FlatTable<'_>> = table.tables(slot)?.collect::<io::Result<_>>()?;
    if tables.len() != fields.len() {
        return Err(damaged("a schema that is another one by now"));
    }
    tables.into_iter().zip(fields).map(|(table, field)| DeclaredField::of(table, field)).collect()
}

/// The pairs in a list.
fn said(table: FlatTable<'_>, slot: usize) -> io::Result<Vec<SaidPair>> {
    let pair = |pair: io::Result<FlatTable<'_>>| {
        let pair = pair?;
        let of = |slot| Ok::<Vec<u8>, io::Error>(pair.raw(slot)?.unwrap_or_default().to_vec());
        Ok((of(0)?, of(1)?))
    };
    table.tables(slot)?.map(pair).collect()
}

impl DeclaredField {
    fn of(table: FlatTable<'_>, field: &ArrowField) -> io::Result<DeclaredField> {
        let of_kind = table.table(3)?.ok_or_else(|| damaged("a field without a type"))?;
        let keys = |table: FlatTable<'_>| -> io::Result<DeclaredKeys> {
            let is_ordered = table.byte(2, 0)? != 0;
            let DictionaryKeys { width, signed, .. } = DictionaryKeys::of(table)?;
            Ok(DeclaredKeys { width, signed, is_ordered })
        };
        Ok(DeclaredField {
            name: field.name.clone(),
            nullable: table.byte(1, 0)? != 0,
            kind: kind(table.byte(2, 0)?, of_kind, field.kind)?,
            dictionary: table.table(4)?.map(keys).transpose()?,
            children: declared(table, 5, &field.children)?,
            said: said(table, 6)?,
        })
    }
}

/// What a type means, whose layout is known.
fn kind(number: u8, of: FlatTable<'_>, laid: ArrowKind) -> io::Result<DeclaredKind> {
    let is_text = matches!(number, 5 | 20 | 24);
    let bytes = |layout| DeclaredKind::Bytes { is_text, layout };
    Ok(match laid {
        ArrowKind::Null => DeclaredKind::Null,
        ArrowKind::Truth => DeclaredKind::Truth,
        ArrowKind::Strings { wide: false } => bytes(BytesLayout::Narrow),
        ArrowKind::Strings { wide: true } => bytes(BytesLayout::Wide),
        ArrowKind::Views => bytes(BytesLayout::Views),
        ArrowKind::List { wide } => DeclaredKind::List { wide },
        ArrowKind::Map => DeclaredKind::Map { is_sorted: of.byte(0, 0)? != 0 },
        ArrowKind::ListView { .. } => DeclaredKind::Other("a list of views"),
        ArrowKind::Tuple(size) => DeclaredKind::Tuple(size),
        ArrowKind::Struct => DeclaredKind::Struct,
        ArrowKind::Union { .. } => DeclaredKind::Other("a union"),
        ArrowKind::Runs => DeclaredKind::Runs,
        ArrowKind::Fixed(width, meaning) => match meaning {
            FixedMeaning::Signed => DeclaredKind::Whole { width, signed: true },
            FixedMeaning::Unsigned => DeclaredKind::Whole { width, signed: false },
            FixedMeaning::Real => DeclaredKind::Real(width),
            FixedMeaning::Days => DeclaredKind::Days,
            FixedMeaning::Moments { .. } if number == 8 => DeclaredKind::DaysInMillis,
            FixedMeaning::Moments { second, .. } => {
                let zone = of.text(1)?.filter(|zone| !zone.is_empty());
                DeclaredKind::Moment { second, zone: zone.map(str::to_owned) }
            }
            FixedMeaning::Times(second) => DeclaredKind::Time(second),
            FixedMeaning::Duration => {
                // Its unit is that of the type, whose default is the millisecond.
                let second = [1, 1_000, 1_000_000, 1_000_000_000];
                let unit = usize::try_from(of.short(0, 1)?).ok().and_then(|unit| second.get(unit));
                DeclaredKind::Duration(*unit.ok_or_else(|| damaged("a length of time without a unit"))?)
            }
            FixedMeaning::Decimal(scale) => DeclaredKind::Decimal { width, precision: of.int(0, 0)?, scale },
            FixedMeaning::Bytes | FixedMeaning::Encoded => DeclaredKind::FixedBytes(width),
            FixedMeaning::Interval => DeclaredKind::Other("an interval"),
        },
    })
}
