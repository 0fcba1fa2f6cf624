//! The schema of Arrow that a file of another format carries along.

use std::io;

use super::flat::{FlatTable, damaged};
use super::letters::of_base64;
use super::message::CONTINUATION;
use super::schema::{ArrowField, ArrowKind, ArrowSchema};

/// The metadata of Parquet that has the schema of Arrow.
pub const CARRIED_SCHEMA: &str = "ARROW:schema";

/// A field at the top, and of each of its leaves whether its texts or bytes are those of a dictionary.
#[derive(Debug, PartialEq, Eq)]
pub struct CarriedField {
    /// What it is called.
    pub name: String,
    /// Of each of its leaves whether it is one.
    pub leaves: Vec<bool>,
}

/// The fields of a schema that is carried along.
///
/// # Errors
/// What is wrong with it.
pub fn carried_fields(text: &str) -> io::Result<Vec<CarriedField>> {
    let fields = carried_schema(text, |_, schema| Ok(schema.fields))?;
    Ok(fields
        .into_iter()
        .map(|field| {
            let mut leaves = Vec::new();
            add_leaves(&field, &mut leaves);
            CarriedField { name: field.name, leaves }
        })
        .collect())
}

/// Hands on a schema that is carried along, as it stands and as it is laid out.
///
/// # Errors
/// What is wrong with it, and what `take` gives.
pub(in crate::read::formats::arrow) fn carried_schema<T>(
    text: &str,
    take: impl FnOnce(FlatTable<'_>, ArrowSchema) -> io::Result<T>,
) -> io::Result<T> {
    let bytes = of_base64(text).ok_or_else(|| damaged("a schema in other letters"))?;
    // Before Arrow 0.15 only the length stood before it.
    let message = bytes.strip_prefix(&CONTINUATION).unwrap_or(&bytes);
    let message = message.get(4..).ok_or_else(|| damaged("a schema that is cut off"))?;
    let schema = FlatTable::root(message)?.table(2)?.ok_or_else(|| damaged("no schema in its place"))?;
    take(schema, ArrowSchema::of(schema, message.len())?)
}

/// Adds the leaves of a field, in the order in which Parquet has them.
fn add_leaves(field: &ArrowField, leaves: &mut Vec<bool>) {
    if field.dictionary.is_some() {
        leaves.push(matches!(field.kind, ArrowKind::Strings { .. } | ArrowKind::Views));
        return;
    }
    match field.kind {
        ArrowKind::Struct
        | ArrowKind::Union { .. }
        | ArrowKind::List { .. }
        | ArrowKind::Map
        | ArrowKind::ListView { .. }
        | ArrowKind::Tuple(_) => field.children.iter().for_each(|child| add_leaves(child, leaves)),
        // Their ends are not stored.
        ArrowKind::Runs => field.children.get(1).into_iter().for_each(|child| add_leaves(child, leaves)),
        _ => leaves.push(false),
    }
}

#[cfg(test)]
pub(in crate::read::formats::arrow) mod tests {
    use super::*;

    /// What pyarrow 26 writes for `id: string`, `c: dictionary<string>`, `l: list<dictionary<string>>`,
    /// `s: struct<d: dictionary<string>, s: string>`, and `n: dictionary<int64>`.
    pub(in crate::read::formats::arrow) const PYARROW: &str = "\
        /////zgCAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAARP7//wQAAAAFAAAA6AEAAIgBAAD4AAAAWAAAAAQAAACY/v//AAABAhQAAAA4AA\
        AAFAAAAAQAAAAAAAAAAQAAAG4AAADo/v//EAAAAAMAAAAAAAAAAAAAAIz+//8AAAABIAAAAJj+//8AAAABQAAAAIz+//8AAAENGAAAABwAAAAE\
        AAAAAgAAADgAAAAQAAAAAQAAAHMAAACE/v//uP7//wAAAQUQAAAAFAAAAAQAAAAAAAAAAQAAAHMAAACo/v//OP///wAAAQUUAAAAPAAAABwAAA\
        AEAAAAAAAAAAEAAABkAAAACAAQAAgABAAIAAAADAAAAAIAAAAAAAAAMP///wAAAAEIAAAA9P7//yj///8AAAEMFAAAABgAAAAEAAAAAQAAABAA\
        AAABAAAAbAAAABz///+s////AAABBRQAAABEAAAAIAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAACAAUAAgABAAIAAAAEAAAAAEAAAAAAAAAAAAAAK\
        z///8AAAABCAAAAHD///8QABgACAAGAAcADAAQABQAEAAAAAAAAQUUAAAAPAAAABwAAAAEAAAAAAAAAAEAAABjAAAACAAIAAAABAAIAAAADAAA\
        AAgADAAIAAcACAAAAAAAAAEIAAAAzP///xAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAYAAAABAAAAAAAAAACAAAAaWQAAAQABAAEAAAA";

    #[test]
    fn leaves_of_dictionaries_are_those_of_texts() {
        let fields = carried_fields(PYARROW).expect("a schema");
        let fields: Vec<_> = fields.iter().map(|field| (field.name.as_str(), &field.leaves[..])).collect();
        let expected: [(&str, &[bool]); 5] =
            [("id", &[false]), ("c", &[true]), ("l", &[true]), ("s", &[true, false]), ("n", &[false])];
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_schema_that_makes_no_sense_is_an_error() {
        for end in (0..PYARROW.len()).step_by(37) {
            // Whatever is left of it, and nothing that is behind its end.
            let _ = carried_fields(&PYARROW[..end]);
        }
        assert!(["", "AAAA", "!", "/////w=="].iter().all(|text| carried_fields(text).is_err()));
    }
}
