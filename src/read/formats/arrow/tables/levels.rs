//! How the columns of Arrow become columns of Parquet: of each field the type, and where its values and their levels go.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result as ColumnsResult;
use parquet::schema::types::{Type, TypePtr};

use super::declared::{DeclaredField, DeclaredKind};
use super::leaves::{LeafCells, StoredValue};
use crate::limits::MAX_TABLE_COLUMNS;

/// Seconds are no unit of time of Parquet: they become milliseconds.
const MILLIS: i64 = 1_000;
const MICROS: i64 = 1_000_000;

/// Where what a field holds goes.
pub(in crate::read::formats::arrow) struct LevelNode {
    /// Whether it may be null.
    pub(in crate::read::formats::arrow) optional: bool,
    /// The definition level where it is there.
    pub(in crate::read::formats::arrow) defined: i16,
    pub(in crate::read::formats::arrow) of: NodeOf,
}

/// What is within a field.
pub(in crate::read::formats::arrow) enum NodeOf {
    /// The values of a leaf, by its number, and how they are stored.
    Leaf(usize, StoredValue),
    Struct(Vec<LevelNode>),
    /// A list or a map: the repetition level of its values, and what these are.
    List(i16, Box<LevelNode>),
}

/// The columns of a table on their way.
#[derive(Default)]
pub(in crate::read::formats::arrow) struct LevelPlan {
    /// The types of the columns at the top.
    pub(in crate::read::formats::arrow) types: Vec<TypePtr>,
    pub(in crate::read::formats::arrow) nodes: Vec<LevelNode>,
    pub(in crate::read::formats::arrow) leaves: Vec<LeafCells>,
}

/// What is around a field.
#[derive(Clone, Copy)]
struct Around {
    defined: i16,
    repeated: i16,
    /// Whether a value may stand in a row several times, as runs have it: forward reading cannot go back into lists.
    in_runs: bool,
}

impl LevelPlan {
    /// The plan for some fields.
    ///
    /// # Errors
    /// What Parquet has no place for, as people call it.
    pub(in crate::read::formats::arrow) fn of(fields: &[DeclaredField]) -> Result<LevelPlan, String> {
        let mut plan = LevelPlan::default();
        for field in fields {
            let around = Around { defined: 0, repeated: 0, in_runs: false };
            let made = plan.field(field, &field.name, field.nullable, around);
            let (kind, node) = made.map_err(|what| format!("the column {:.40} is {what}", field.name))?;
            plan.types.push(kind);
            plan.nodes.push(node);
        }
        Ok(plan)
    }

    fn field(
        &mut self,
        field: &DeclaredField,
        name: &str,
        nullable: bool,
        around: Around,
    ) -> Result<(TypePtr, LevelNode), String> {
        if field.kind == DeclaredKind::Runs {
            let of = &field.children[1];
            let around = Around { in_runs: true, ..around };
            return self.field(of, name, nullable || of.nullable, around);
        }
        let optional = nullable || field.kind == DeclaredKind::Null;
        let around = Around { defined: around.defined + i16::from(optional), ..around };
        let (made, of) = match field.kind {
            _ if field.dictionary.is_some() && !is_plain(&field.kind) => {
                return Err("a dictionary of lists, structs or the like".to_owned());
            }
            DeclaredKind::Struct => self.structs(field, name, optional, around)?,
            DeclaredKind::List { .. } | DeclaredKind::Tuple(_) | DeclaredKind::Map { .. } => {
                self.lists(field, name, optional, around)?
            }
            _ => self.leaf(field, name, optional, around)?,
        };
        let made = made.map_err(|error| format!("nothing that Parquet has a place for: {error}"))?;
        Ok((Arc::new(made), LevelNode { optional, defined: around.defined, of }))
    }

    fn structs(&mut self, field: &DeclaredField, name: &str, optional: bool, around: Around) -> Made {
        if field.children.is_empty() {
            return Err("a struct without fields".to_owned());
        }
        let children =
            field.children.iter().map(|child| self.field(child, &child.name, child.nullable, around));
        let (types, nodes): (Vec<TypePtr>, _) = children.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let group = Type::group_type_builder(name).with_repetition(repetition(optional)).with_fields(types);
        Ok((group.build(), NodeOf::Struct(nodes)))
    }

    fn lists(&mut self, field: &DeclaredField, name: &str, optional: bool, around: Around) -> Made {
        if around.in_runs {
            return Err("runs of lists".to_owned());
        }
        let (of, repeated) = (&field.children[0], around.repeated + 1);
        let within = Around { defined: around.defined + 1, repeated, ..around };
        let is_map = matches!(field.kind, DeclaredKind::Map { .. });
        let (fields, node) = if is_map {
            let [key, value] = &of.children[..] else { return Err("a map without pairs".to_owned()) };
            let (key, keys) = self.field(key, "key", false, within)?;
            let (value, values) = self.field(value, "value", value.nullable, within)?;
            let pairs = NodeOf::Struct(vec![keys, values]);
            (vec![key, value], LevelNode { optional: false, defined: within.defined, of: pairs })
        } else {
            let (element, node) = self.field(of, "element", of.nullable, within)?;
            (vec![element], node)
        };
        let made = || -> ColumnsResult<Type> {
            let group = Type::group_type_builder(if is_map { "key_value" } else { "list" });
            let group = group.with_repetition(Repetition::REPEATED).with_fields(fields).build()?;
            let (logical, converted) = match is_map {
                true => (LogicalType::Map, ConvertedType::MAP),
                false => (LogicalType::List, ConvertedType::LIST),
            };
            Type::group_type_builder(name)
                .with_repetition(repetition(optional))
                .with_logical_type(Some(logical))
                .with_converted_type(converted)
                .with_fields(vec![Arc::new(group)])
                .build()
        };
        Ok((made(), NodeOf::List(repeated, Box::new(node))))
    }

    fn leaf(&mut self, field: &DeclaredField, name: &str, optional: bool, around: Around) -> Made {
        if self.leaves.len() >= MAX_TABLE_COLUMNS {
            return Err(format!("one of more than {MAX_TABLE_COLUMNS}, as many as a table may have"));
        }
        let LeafType { physical, logical, stored, length, decimal } = LeafType::of(&field.kind)?;
        let (precision, scale) = decimal;
        let made = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition(optional))
            .with_logical_type(logical)
            .with_length(length)
            .with_precision(precision)
            .with_scale(scale);
        self.leaves.push(LeafCells::new(physical, around.defined, around.repeated));
        Ok((made.build(), NodeOf::Leaf(self.leaves.len() - 1, stored)))
    }
}

/// A type that Parquet may refuse, and what is within it.
type Made = Result<(ColumnsResult<Type>, NodeOf), String>;

fn repetition(optional: bool) -> Repetition {
    if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED }
}

/// Whether dictionaries of such values are read.
fn is_plain(kind: &DeclaredKind) -> bool {
    use DeclaredKind::{List, Map, Other, Runs, Struct, Tuple};
    !matches!(kind, Struct | List { .. } | Tuple(_) | Map { .. } | Runs | Other(_))
}

/// The type of a leaf.
struct LeafType {
    physical: Physical,
    logical: Option<LogicalType>,
    stored: StoredValue,
    length: i32,
    /// Digits of a decimal, and how many of them are behind the point.
    decimal: (i32, i32),
}

impl LeafType {
    fn new(physical: Physical, logical: Option<LogicalType>, stored: StoredValue) -> LeafType {
        LeafType { physical, logical, stored, length: -1, decimal: (-1, -1) }
    }

    fn fixed(length: usize, logical: Option<LogicalType>, stored: StoredValue) -> Result<LeafType, String> {
        let length = i32::try_from(length).map_err(|_| "bytes of too great a length")?;
        let fixed = LeafType::new(Physical::FIXED_LEN_BYTE_ARRAY, logical, stored);
        Ok(LeafType { length, ..fixed })
    }

    /// The type of the values of a kind that are not made of others.
    fn of(kind: &DeclaredKind) -> Result<LeafType, String> {
        use StoredValue::{
            Bytes, DaysOfMillis, Double, Fixed, Float, Int, IntOfSeconds, Long, LongOfSeconds, Nothing, Text,
            Truth,
        };
        let (int, long) = (Physical::INT32, Physical::INT64);
        let new = |physical, logical, stored| Ok(LeafType::new(physical, logical, stored));
        match kind {
            DeclaredKind::Null => new(int, Some(LogicalType::Unknown), Nothing),
            DeclaredKind::Truth => new(Physical::BOOLEAN, None, Truth),
            DeclaredKind::Whole { width: 4, signed: true } => new(int, None, Int(true)),
            DeclaredKind::Whole { width: 8, signed: true } => new(long, None, Long),
            DeclaredKind::Whole { width, signed } => {
                let logical = Some(LogicalType::integer(*width as i8 * 8, *signed));
                if *width == 8 { new(long, logical, Long) } else { new(int, logical, Int(*signed)) }
            }
            DeclaredKind::Real(2) => LeafType::fixed(2, Some(LogicalType::Float16), Fixed),
            DeclaredKind::Real(4) => new(Physical::FLOAT, None, Float),
            DeclaredKind::Real(_) => new(Physical::DOUBLE, None, Double),
            DeclaredKind::Bytes { is_text: true, .. } => {
                new(Physical::BYTE_ARRAY, Some(LogicalType::String), Text)
            }
            DeclaredKind::Bytes { .. } => new(Physical::BYTE_ARRAY, None, Bytes),
            DeclaredKind::FixedBytes(0) => Err("bytes of no length".to_owned()),
            DeclaredKind::FixedBytes(width) => LeafType::fixed(*width, None, Fixed),
            DeclaredKind::Decimal { precision, scale, width } => {
                LeafType::decimal(*precision, *scale, *width)
            }
            DeclaredKind::Days => new(int, Some(LogicalType::Date), Int(true)),
            DeclaredKind::DaysInMillis => new(int, Some(LogicalType::Date), DaysOfMillis),
            DeclaredKind::Time(second) => {
                let logical = Some(LogicalType::time(false, unit(*second)));
                match *second {
                    1 => new(int, logical, IntOfSeconds),
                    MILLIS => new(int, logical, Int(true)),
                    _ => new(long, logical, Long),
                }
            }
            DeclaredKind::Moment { second, zone } => {
                let logical = Some(LogicalType::timestamp(zone.is_some(), unit(*second)));
                new(long, logical, if *second == 1 { LongOfSeconds } else { Long })
            }
            DeclaredKind::Duration(_) => new(long, None, Long),
            DeclaredKind::Other(what) => Err((*what).to_owned()),
            _ => Err("made of others".to_owned()),
        }
    }

    fn decimal(precision: i32, scale: i32, width: usize) -> Result<LeafType, String> {
        // As many digits as so many bytes have room for.
        let most = (((width * 8 - 1) as f64) * 2f64.log10()).floor() as i32;
        if !(1..=most).contains(&precision) {
            return Err(format!("a decimal of {precision} digits; {most} are allowed"));
        }
        if !(0..=precision).contains(&scale) {
            return Err(format!("a decimal of {precision} digits with {scale} behind the point"));
        }
        let length = ((f64::from(precision) * 10f64.log2() + 1.0) / 8.0).ceil() as usize;
        let logical = Some(LogicalType::decimal(scale, precision));
        let fixed = LeafType::fixed(length, logical, StoredValue::Decimal(length))?;
        Ok(LeafType { decimal: (precision, scale), ..fixed })
    }
}

/// The unit that times get of which so many are in a second.
fn unit(second: i64) -> TimeUnit {
    match second {
        1 | MILLIS => TimeUnit::MILLIS,
        MICROS => TimeUnit::MICROS,
        _ => TimeUnit::NANOS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_take_the_least_bytes_that_hold_their_digits() {
        for (precision, bytes) in
            [(1, 1), (2, 1), (3, 2), (9, 4), (18, 8), (19, 9), (38, 16), (39, 17), (76, 32)]
        {
            let made = LeafType::decimal(precision, 0, 32).map(|leaf| leaf.length);
            assert_eq!(made, Ok(bytes), "{precision} digits");
        }
        for (precision, scale, width) in
            [(0, 0, 16), (39, 0, 16), (77, 0, 32), (10, 0, 4), (5, -1, 16), (5, 6, 16)]
        {
            assert!(LeafType::decimal(precision, scale, width).is_err(), "{precision}, {scale}, {width}");
        }
    }
}
