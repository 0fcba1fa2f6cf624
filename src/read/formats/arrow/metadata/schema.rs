//! The fields of a file, as its schema has them.

use std::io;

use super::flat::{FlatTable, damaged};
use crate::read::field::FieldPath;

/// Deepest nesting of fields. What reads them calls itself for each level.
const DEEPEST: usize = 64;
/// Least bytes of metadata to a field: what points to one field many times does not make many of it.
const FIELD: usize = 8;

/// The fields at the top, and what the numbers of the format are.
pub(in crate::read::formats::arrow) struct ArrowSchema {
    pub(in crate::read::formats::arrow) fields: Vec<ArrowField>,
}

/// A field.
#[derive(Clone)]
pub(in crate::read::formats::arrow) struct ArrowField {
    pub(in crate::read::formats::arrow) name: String,
    pub(in crate::read::formats::arrow) kind: ArrowKind,
    /// Where its values are those of a dictionary: which, and how many bytes a key has, and whether it may be negative.
    pub(in crate::read::formats::arrow) dictionary: Option<DictionaryKeys>,
    pub(in crate::read::formats::arrow) children: Vec<ArrowField>,
}

/// How the values of a dictionary are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) struct DictionaryKeys {
    pub(in crate::read::formats::arrow) id: i64,
    pub(in crate::read::formats::arrow) width: usize,
    pub(in crate::read::formats::arrow) signed: bool,
}

/// How the values of a field are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum ArrowKind {
    Null,
    Truth,
    /// Values of so many bytes.
    Fixed(usize, FixedMeaning),
    /// Texts or bytes behind offsets, of eight bytes each or of four.
    Strings {
        wide: bool,
    },
    /// Texts or bytes that are named by their beginnings and places.
    Views,
    List {
        wide: bool,
    },
    /// A list of pairs.
    Map,
    /// Lists whose offsets need not ascend.
    ListView {
        wide: bool,
    },
    /// Lists of so many.
    Tuple(u64),
    Struct,
    /// One of several kinds, by the row: all are as long as it, or those that are named have offsets.
    Union {
        dense: bool,
    },
    /// Runs of equal values, with ends of so many bytes.
    Runs,
}

/// What values of a fixed size mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum FixedMeaning {
    Signed,
    Unsigned,
    Real,
    /// Days since 1970-01-01.
    Days,
    /// Moments since 1970-01-01: `second` of them are a second. Those that are not `utc` are what a clock shows somewhere.
    Moments {
        second: i64,
        utc: bool,
    },
    /// Times of a day, so many in a second.
    Times(i64),
    /// Lengths of time.
    Duration,
    /// Numbers with so many digits behind the point.
    Decimal(i32),
    Bytes,
    Interval,
    /// Bytes that are handed on as they stand, whatever they mean.
    Encoded,
}

impl ArrowSchema {
    /// The schema that a table is.
    pub(in crate::read::formats::arrow) fn of(table: FlatTable<'_>, bytes: usize) -> io::Result<ArrowSchema> {
        if table.short(0, 0)? != 0 {
            return Err(damaged("its numbers begin with the highest byte, which alike does not read"));
        }
        let mut left = bytes / FIELD;
        let fields = table.tables(1)?.map(|field| ArrowField::of(field?, 1, &mut left));
        Ok(ArrowSchema { fields: fields.collect::<io::Result<_>>()? })
    }

    /// The way to the field that a path leads to, by numbers of children. Lists on it have no name of their own. A field at
    /// the top that is spelt like the whole path goes first.
    pub(in crate::read::formats::arrow) fn find(&self, path: &FieldPath) -> Option<Vec<usize>> {
        let whole = self.fields.iter().enumerate().filter(|(_, field)| field.name == path.as_str());
        let mut whole =
            whole.filter_map(|(at, field)| below(field, &[]).map(|rest| [&[at], &rest[..]].concat()));
        whole.next().or_else(|| among(&self.fields, path.parts()))
    }
}

/// The way among some fields.
fn among(fields: &[ArrowField], names: &[String]) -> Option<Vec<usize>> {
    let (first, rest) = names.split_first()?;
    let named = fields.iter().enumerate().filter(|(_, field)| field.name == *first);
    named.filter_map(|(at, field)| below(field, rest).map(|rest| [&[at], &rest[..]].concat())).next()
}

/// The way below a field.
fn below(field: &ArrowField, names: &[String]) -> Option<Vec<usize>> {
    let through = |child: usize| {
        let rest = below(field.children.get(child)?, names)?;
        Some([&[child], &rest[..]].concat())
    };
    match field.kind {
        _ if field.dictionary.is_some() => names.is_empty().then(Vec::new),
        ArrowKind::Struct => among(&field.children, names),
        ArrowKind::List { .. } | ArrowKind::Map | ArrowKind::Tuple(_) => through(0),
        ArrowKind::Runs => through(1),
        _ => names.is_empty().then(Vec::new),
    }
}

impl ArrowField {
    fn of(table: FlatTable<'_>, depth: usize, left: &mut usize) -> io::Result<ArrowField> {
        if depth > DEEPEST {
            return Err(damaged(format!("fields nested more than {DEEPEST} deep")));
        }
        *left = left.checked_sub(1).ok_or_else(|| damaged("more fields than its schema has room for"))?;
        let name = table.text(0)?.unwrap_or_default().to_owned();
        let number = table.byte(2, 0)?;
        let of_kind = table.table(3)?.ok_or_else(|| damaged(format!("the field {name:.40} has no type")))?;
        let dictionary = table.table(4)?.map(DictionaryKeys::of).transpose()?;
        let children = table.tables(5)?.map(|child| ArrowField::of(child?, depth + 1, left));
        let children: Vec<ArrowField> = children.collect::<io::Result<_>>()?;
        let kind = kind(number, of_kind)?;
        let wanted = match kind {
            ArrowKind::List { .. } | ArrowKind::Map | ArrowKind::ListView { .. } | ArrowKind::Tuple(_) => 1,
            ArrowKind::Runs => 2,
            ArrowKind::Struct | ArrowKind::Union { .. } => children.len(),
            _ => 0,
        };
        if children.len() != wanted {
            return Err(damaged(format!("the field {name:.40} has {} fields, not {wanted}", children.len())));
        }
        Ok(ArrowField { name, kind, dictionary, children })
    }
}

impl DictionaryKeys {
    /// Those that a table is.
    pub(in crate::read::formats::arrow) fn of(table: FlatTable<'_>) -> io::Result<DictionaryKeys> {
        let (width, signed) = table.table(1)?.map_or(Ok((4, true)), integer)?;
        Ok(DictionaryKeys { id: table.long(0)?, width, signed })
    }
}

/// Bytes of a whole number, and whether it may be negative.
fn integer(table: FlatTable<'_>) -> io::Result<(usize, bool)> {
    let width = match table.int(0, 0)? {
        bits @ (8 | 16 | 32 | 64) => bits as usize / 8,
        bits => return Err(damaged(format!("a whole number of {bits} bits"))),
    };
    Ok((width, table.byte(1, 0)? != 0))
}

/// How many of a unit of time are in a second.
fn per_second(unit: i16) -> io::Result<i64> {
    match unit {
        0 => Ok(1),
        1 => Ok(1_000),
        2 => Ok(1_000_000),
        3 => Ok(1_000_000_000),
        unit => Err(damaged(format!("a unit of time {unit}"))),
    }
}

fn kind(number: u8, of: FlatTable<'_>) -> io::Result<ArrowKind> {
    use ArrowKind::{Fixed, List, ListView, Map, Null, Runs, Strings, Struct, Truth, Tuple, Union, Views};
    let positive = |number: i32| usize::try_from(number).map_err(|_| damaged("a size of less than nothing"));
    Ok(match number {
        1 => Null,
        2 => {
            let (width, signed) = integer(of)?;
            Fixed(width, if signed { FixedMeaning::Signed } else { FixedMeaning::Unsigned })
        }
        3 => match of.short(0, 0)? {
            precision @ 0..=2 => Fixed(2 << precision, FixedMeaning::Real),
            precision => return Err(damaged(format!("a number of the precision {precision}"))),
        },
        4 | 5 => Strings { wide: false },
        6 => Truth,
        7 => match of.int(2, 128)? {
            bits @ (32 | 64 | 128 | 256) => Fixed(bits as usize / 8, FixedMeaning::Decimal(of.int(1, 0)?)),
            bits => return Err(damaged(format!("a decimal of {bits} bits"))),
        },
        8 => match of.short(0, 1)? {
            0 => Fixed(4, FixedMeaning::Days),
            _ => Fixed(8, FixedMeaning::Moments { second: 1_000, utc: false }),
        },
        9 => {
            let width = if of.int(1, 32)? == 64 { 8 } else { 4 };
            Fixed(width, FixedMeaning::Times(per_second(of.short(0, 1)?)?))
        }
        10 => {
            let second = per_second(of.short(0, 0)?)?;
            Fixed(8, FixedMeaning::Moments { second, utc: of.text(1)?.is_some_and(|zone| !zone.is_empty()) })
        }
        11 => match of.short(0, 0)? {
            unit @ 0..=2 => Fixed(4 << unit, FixedMeaning::Interval),
            unit => return Err(damaged(format!("an interval of the unit {unit}"))),
        },
        12 => List { wide: false },
        13 => Struct,
        14 => Union { dense: of.short(0, 0)? == 1 },
        15 => Fixed(positive(of.int(0, 0)?)?, FixedMeaning::Bytes),
        16 => Tuple(positive(of.int(0, 0)?)? as u64),
        17 => Map,
        18 => Fixed(8, FixedMeaning::Duration),
        19 | 20 => Strings { wide: true },
        21 => List { wide: true },
        22 => Runs,
        23 | 24 => Views,
        25 => ListView { wide: false },
        26 => ListView { wide: true },
        number => return Err(damaged(format!("a type {number} that alike does not know"))),
    })
}
