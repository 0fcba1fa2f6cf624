//! Which column of a Parquet file a field of a record is.

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};

use crate::read::field::FieldPath;

/// The number of the leaf that a path leads to. Lists on the way have no name of their own: `messages.content` is the
/// content of each message. A column at the top that is spelt like the whole path goes first.
pub(super) fn find(schema: &SchemaDescriptor, path: &FieldPath) -> Option<usize> {
    let top = schema.root_schema().get_fields();
    let mut leaf = 0;
    for field in top {
        if field.name() == path.as_str()
            && let Some(at) = below(field, &[])
        {
            return Some(leaf + at);
        }
        leaf += leaves(field);
    }
    among(top, path.parts())
}

/// The leaf that names lead to, among all those of `fields`.
fn among(fields: &[std::sync::Arc<Type>], names: &[String]) -> Option<usize> {
    let (first, rest) = names.split_first()?;
    let mut leaf = 0;
    for field in fields {
        if field.name() == first
            && let Some(at) = below(field, rest)
        {
            return Some(leaf + at);
        }
        leaf += leaves(field);
    }
    None
}

/// The leaf that names lead to below a field.
fn below(field: &Type, names: &[String]) -> Option<usize> {
    if field.is_primitive() {
        return names.is_empty().then_some(0);
    }
    let fields = field.get_fields();
    match list_element(field) {
        Some(element) => below(element, names),
        None => among(fields, names),
    }
}

/// What a list is a list of: the rules for lists that the format has had.
fn list_element(field: &Type) -> Option<&Type> {
    let info = field.get_basic_info();
    let is_list = matches!(info.logical_type_ref(), Some(LogicalType::List))
        || info.converted_type() == ConvertedType::LIST;
    let [repeated] = field.get_fields() else { return None };
    if !is_list || !is_repeated(repeated) {
        return None;
    }
    match repeated.is_group() {
        true => match repeated.get_fields() {
            [element] if repeated.name() != "array" && !repeated.name().ends_with("_tuple") => Some(element),
            _ => Some(repeated),
        },
        false => Some(repeated),
    }
}

fn is_repeated(field: &Type) -> bool {
    let info = field.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// How many leaves a field has.
fn leaves(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|field| leaves(field)).sum() }
}

/// What the values of a leaf mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Text,
    Signed,
    Unsigned,
    Real,
    /// Days since 1970-01-01.
    Days,
    /// Moments since 1970-01-01, so many in a second.
    Moments(i64),
    /// Julian day and nanoseconds of it.
    Julian,
    /// Identifiers of 16 bytes, which people write as 32 digits.
    Uuid,
    /// Numbers with so many digits behind the point.
    Decimal(u32),
    /// Anything else, as people call it.
    Other(&'static str),
}

impl Meaning {
    pub(super) fn of(column: &ColumnDescriptor) -> Meaning {
        let scale = u32::try_from(column.type_scale()).unwrap_or(0);
        match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
            (Physical::BOOLEAN, ..) => Meaning::Other("true or false"),
            (_, Some(LogicalType::Decimal(_)), _) | (_, _, ConvertedType::DECIMAL) => Meaning::Decimal(scale),
            (Physical::BYTE_ARRAY, ..) => Meaning::Text,
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), _) => Meaning::Uuid,
            (Physical::FIXED_LEN_BYTE_ARRAY, ..) => Meaning::Other("bytes of a fixed length"),
            (Physical::INT96, ..) => Meaning::Julian,
            (Physical::FLOAT | Physical::DOUBLE, ..) => Meaning::Real,
            (Physical::INT32, Some(LogicalType::Date), _) | (Physical::INT32, _, ConvertedType::DATE) => {
                Meaning::Days
            }
            (Physical::INT64, Some(LogicalType::Timestamp(time)), _) => Meaning::Moments(match time.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            }),
            (Physical::INT64, _, ConvertedType::TIMESTAMP_MILLIS) => Meaning::Moments(1_000),
            (Physical::INT64, _, ConvertedType::TIMESTAMP_MICROS) => Meaning::Moments(1_000_000),
            (_, Some(LogicalType::Time(_)), _)
            | (_, _, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
                Meaning::Other("a time of day")
            }
            (_, Some(LogicalType::Integer(int)), _) if !int.is_signed => Meaning::Unsigned,
            (
                _,
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Meaning::Unsigned,
            _ => Meaning::Signed,
        }
    }
}

/// The names of the columns, as they are written in paths.
pub(super) fn names(schema: &SchemaDescriptor) -> Vec<String> {
    schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn paths_pass_through_lists_and_prefer_whole_names() {
        let schema = "message m {
            optional binary id (STRING);
            optional group meta { optional binary text (STRING); required group deep { required int64 n; } }
            optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
            optional group messages (LIST) { repeated group list { optional group element {
                optional binary role (STRING); optional binary content (STRING); } } }
            repeated binary old (STRING);
            optional group older (LIST) { repeated group array { required binary content (STRING); } }
            optional binary meta.text (STRING);
            optional group pairs (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }
        }";
        let schema = parse_message_type(schema).expect("a schema");
        let schema = SchemaDescriptor::new(Arc::new(schema));
        let at = |path: &str| find(&schema, &FieldPath::parse(path).expect("a path"));
        let leaf = |path: &str| at(path).map(|leaf| schema.column(leaf).path().string());
        assert_eq!(leaf("id").as_deref(), Some("id"));
        assert_eq!(leaf("meta.text").as_deref(), Some("meta.text"));
        assert_eq!(at("meta.text"), Some(8));
        assert_eq!(leaf("meta.deep.n").as_deref(), Some("meta.deep.n"));
        assert_eq!(leaf("tags").as_deref(), Some("tags.list.element"));
        assert_eq!(leaf("messages.content").as_deref(), Some("messages.list.element.content"));
        assert_eq!(leaf("old").as_deref(), Some("old"));
        assert_eq!(leaf("older.content").as_deref(), Some("older.array.content"));
        assert_eq!(leaf("pairs.key_value.value").as_deref(), Some("pairs.key_value.value"));
        for none in ["meta", "messages", "id.x", "tags.list", "nothing", "meta.deep"] {
            assert_eq!(leaf(none), None, "{none}");
        }
        assert_eq!(names(&schema).len(), 8);
    }
}
