//! A schema whose texts are bytes: the crate that decodes gives up a file for one text that is not UTF-8. Moments of INT96 are bytes,
//! too, of which it would leave milliseconds.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

/// Bytes of a moment of INT96.
pub(super) const JULIAN: usize = 12;

/// The same columns, whose texts and moments of INT96 are bytes.
pub(super) fn texts_as_bytes(schema: &SchemaDescriptor) -> Result<SchemaDescPtr> {
    let root = retyped(schema.root_schema(), false)?;
    Ok(Arc::new(SchemaDescriptor::new(root)))
}

/// As much of a row group of so many rows as tells the types of its columns.
pub(super) fn group_of(schema: &SchemaDescPtr, rows: i64) -> Result<RowGroupMetaData> {
    let columns =
        schema.columns().iter().map(|column| ColumnChunkMetaData::builder(Arc::clone(column)).build());
    RowGroupMetaData::builder(Arc::clone(schema))
        .set_num_rows(rows)
        .set_column_metadata(columns.collect::<Result<_>>()?)
        .build()
}

fn retyped(field: &Type, is_within: bool) -> Result<TypePtr> {
    let about = field.get_basic_info();
    let repetition = if about.has_repetition() { about.repetition() } else { Repetition::REQUIRED };
    let id = about.has_id().then(|| about.id());
    if field.is_group() {
        let fields = field.get_fields().iter().map(|field| retyped(field, true)).collect::<Result<_>>()?;
        let group = Type::group_type_builder(about.name())
            .with_converted_type(about.converted_type())
            .with_logical_type(about.logical_type_ref().cloned())
            .with_id(id)
            .with_fields(fields);
        let group = if is_within { group.with_repetition(repetition) } else { group };
        return group.build().map(Arc::new);
    }
    let bytes = match field.get_physical_type() {
        Physical::INT96 => {
            let bytes = Type::primitive_type_builder(about.name(), Physical::FIXED_LEN_BYTE_ARRAY);
            bytes.with_length(JULIAN as i32)
        }
        _ if is_text(field) => Type::primitive_type_builder(about.name(), Physical::BYTE_ARRAY),
        _ => return Ok(Arc::new(field.clone())),
    };
    bytes.with_repetition(repetition).with_id(id).build().map(Arc::new)
}

/// Whether the crate makes a `String` of the values of a column.
fn is_text(field: &Type) -> bool {
    let about = field.get_basic_info();
    field.get_physical_type() == Physical::BYTE_ARRAY
        && (matches!(about.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON)
            || matches!(
                about.logical_type_ref(),
                Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
            ))
}

#[cfg(test)]
mod tests {
    use parquet::schema::parser::parse_message_type;

    use super::*;

    #[test]
    fn texts_and_moments_of_int96_become_bytes() {
        let message = "message m {
            required binary a (STRING); optional binary b (JSON); required binary c; required int32 d (DATE);
            optional group e (LIST) { repeated group list { optional binary element (ENUM); } }
            optional binary f (DECIMAL(9, 2)); optional int96 g;
        }";
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(message).expect("a schema")));
        let made = texts_as_bytes(&schema).expect("a schema");
        let kinds: Vec<_> = made.columns().iter().map(|column| column.converted_type()).collect();
        use ConvertedType::{DATE, DECIMAL, NONE};
        assert_eq!(kinds, [NONE, NONE, NONE, DATE, NONE, DECIMAL, NONE]);
        for (one, other) in made.columns().iter().zip(schema.columns()) {
            assert_eq!(one.path(), other.path());
            let levels = |column: &parquet::schema::types::ColumnDescPtr| {
                (column.max_def_level(), column.max_rep_level())
            };
            assert_eq!(levels(one), levels(other));
            let is_same = one.physical_type() == other.physical_type();
            assert_eq!(is_same, other.physical_type() != Physical::INT96);
        }
        assert_eq!(
            (made.column(6).physical_type(), made.column(6).type_length()),
            (Physical::FIXED_LEN_BYTE_ARRAY, 12)
        );
        assert_eq!(group_of(&made, 7).expect("a row group").num_rows(), 7);
    }
}
