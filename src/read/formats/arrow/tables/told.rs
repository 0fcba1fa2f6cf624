//! The schema of a table as Arrow has it, for readers that want to know: `ARROW:schema` of Parquet.

use parquet::basic::Type as Physical;

use super::super::metadata::letters::base64;
use super::declared::{BytesLayout, DeclaredField, DeclaredKeys, DeclaredKind, SaidPair};

/// The version of metadata: V5.
const VERSION: i16 = 4;
/// The type of a message that brings a schema.
const SCHEMA: u8 = 1;
/// Bytes that a field of a table is given, and what all of it is aligned to.
const SLOT: usize = 8;

/// A field of a table of FlatBuffers.
enum FlatField {
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    Text(Vec<u8>),
    Table(FlatFields),
    Tables(Vec<FlatFields>),
}

/// The fields of a table with their numbers, which ascend.
type FlatFields = Vec<(usize, FlatField)>;

/// The schema of fields, and of columns behind them that are of types of Parquet alone, as the text that stands in the metadata.
pub(super) fn told_schema(fields: &[DeclaredField], said: &[SaidPair], added: &[(&str, Physical)]) -> String {
    let mut id = 0;
    let mut all: Vec<FlatFields> = fields.iter().map(|field| told(field, &field.name, &mut id)).collect();
    all.extend(added.iter().map(|(name, physical)| {
        let (number, kind) = match physical {
            Physical::BOOLEAN => (6, Vec::new()),
            Physical::DOUBLE => (3, vec![(0, FlatField::Short(2))]),
            Physical::BYTE_ARRAY => (5, Vec::new()),
            _ => (2, integer(8, true)),
        };
        whole_field(name, true, (number, kind), Vec::new())
    }));
    let schema = vec![(1, FlatField::Tables(all)), (2, pairs(said))];
    let message = vec![
        (0, FlatField::Short(VERSION)),
        (1, FlatField::Byte(SCHEMA)),
        (2, FlatField::Table(schema)),
        (3, FlatField::Long(0)),
    ];
    let mut bytes = vec![0; SLOT];
    let root = put_table(&message, &mut bytes);
    lead(&mut bytes, 0, root);
    align(&mut bytes);
    let mut all = vec![0xff; 4];
    all.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    all.extend(bytes);
    base64(&all)
}

/// A field as it is stored: runs and units that Parquet does not have are what became of them.
fn told(field: &DeclaredField, name: &str, id: &mut i64) -> FlatFields {
    if field.kind == DeclaredKind::Runs {
        let of = &field.children[1];
        let nullable = field.nullable || of.nullable;
        return told(&DeclaredField { nullable, said: field.said.clone(), ..of.clone() }, name, id);
    }
    let children = field.children.iter().map(|child| told(child, &child.name, id)).collect();
    let mut all = whole_field(name, field.nullable, kind(&field.kind), children);
    let is_text = matches!(field.kind, DeclaredKind::Bytes { .. });
    if let Some(DeclaredKeys { width, signed, is_ordered }) = field.dictionary.filter(|_| is_text) {
        let keys = vec![
            (0, FlatField::Long(*id)),
            (1, FlatField::Table(integer(width, signed))),
            (2, FlatField::Byte(u8::from(is_ordered))),
        ];
        *id += 1;
        all.insert(4, (4, FlatField::Table(keys)));
    }
    if !field.said.is_empty() {
        all.push((6, pairs(&field.said)));
    }
    all
}

fn whole_field(
    name: &str,
    nullable: bool,
    (number, kind): (u8, FlatFields),
    children: Vec<FlatFields>,
) -> FlatFields {
    vec![
        (0, FlatField::Text(name.as_bytes().to_vec())),
        (1, FlatField::Byte(u8::from(nullable))),
        (2, FlatField::Byte(number)),
        (3, FlatField::Table(kind)),
        (5, FlatField::Tables(children)),
    ]
}

fn pairs(said: &[SaidPair]) -> FlatField {
    let pair = |(key, value): &SaidPair| {
        vec![(0, FlatField::Text(key.clone())), (1, FlatField::Text(value.clone()))]
    };
    FlatField::Tables(said.iter().map(pair).collect())
}

fn integer(width: usize, signed: bool) -> FlatFields {
    vec![(0, FlatField::Int(width as i32 * 8)), (1, FlatField::Byte(u8::from(signed)))]
}

/// The number of a unit of time that Parquet has.
fn unit(second: i64) -> FlatField {
    FlatField::Short(match second {
        1_000_000 => 2,
        1_000_000_000 => 3,
        _ => 1,
    })
}

/// The number of a type, and what it says.
fn kind(kind: &DeclaredKind) -> (u8, FlatFields) {
    use FlatField::{Byte, Int, Short, Text};
    match kind {
        DeclaredKind::Null | DeclaredKind::Runs | DeclaredKind::Other(_) => (1, Vec::new()),
        DeclaredKind::Whole { width, signed } => (2, integer(*width, *signed)),
        DeclaredKind::Real(width) => (3, vec![(0, Short(width.ilog2() as i16 - 1))]),
        DeclaredKind::Bytes { is_text, layout } => {
            let of_bytes = match layout {
                BytesLayout::Narrow => 4,
                BytesLayout::Wide => 19,
                BytesLayout::Views => 23,
            };
            (of_bytes + u8::from(*is_text), Vec::new())
        }
        DeclaredKind::Truth => (6, Vec::new()),
        DeclaredKind::Decimal { width, precision, scale } => {
            (7, vec![(0, Int(*precision)), (1, Int(*scale)), (2, Int(*width as i32 * 8))])
        }
        DeclaredKind::Days | DeclaredKind::DaysInMillis => (8, vec![(0, Short(0))]),
        DeclaredKind::Time(second) => {
            let bits = if *second <= 1_000 { 32 } else { 64 };
            (9, vec![(0, unit(*second)), (1, Int(bits))])
        }
        DeclaredKind::Moment { second, zone } => {
            let zone = zone.iter().map(|zone| (1, Text(zone.as_bytes().to_vec())));
            (10, std::iter::once((0, unit(*second))).chain(zone).collect())
        }
        DeclaredKind::List { wide: false } => (12, Vec::new()),
        DeclaredKind::Struct => (13, Vec::new()),
        DeclaredKind::FixedBytes(width) => (15, vec![(0, Int(*width as i32))]),
        DeclaredKind::Tuple(size) => (16, vec![(0, Int(*size as i32))]),
        DeclaredKind::Map { is_sorted } => (17, vec![(0, Byte(u8::from(*is_sorted)))]),
        DeclaredKind::Duration(1) => (18, vec![(0, Short(0))]),
        DeclaredKind::Duration(second) => (18, vec![(0, unit(*second))]),
        DeclaredKind::List { wide: true } => (21, Vec::new()),
    }
}

fn align(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(SLOT), 0);
}

/// Lets what is at a place lead to another one.
fn lead(out: &mut [u8], place: usize, to: usize) {
    out[place..place + 4].copy_from_slice(&((to - place) as u32).to_le_bytes());
}

/// Appends a table, and what it leads to; where it is. Each field has a slot of its own.
fn put_table(fields: &FlatFields, out: &mut Vec<u8>) -> usize {
    let slots = fields.last().map_or(0, |(number, _)| number + 1);
    align(out);
    let places = out.len();
    out.extend_from_slice(&((4 + 2 * slots) as u16).to_le_bytes());
    out.extend_from_slice(&((SLOT * (fields.len() + 1)) as u16).to_le_bytes());
    out.resize(places + 4 + 2 * slots, 0);
    align(out);
    let table = out.len();
    out.extend_from_slice(&((table - places) as i32).to_le_bytes());
    out.resize(table + SLOT * (fields.len() + 1), 0);
    for (at, (number, field)) in fields.iter().enumerate() {
        let offset = SLOT * (at + 1);
        let place = table + offset;
        out[places + 4 + 2 * number..][..2].copy_from_slice(&(offset as u16).to_le_bytes());
        match field {
            FlatField::Byte(byte) => out[place] = *byte,
            FlatField::Short(number) => out[place..place + 2].copy_from_slice(&number.to_le_bytes()),
            FlatField::Int(number) => out[place..place + 4].copy_from_slice(&number.to_le_bytes()),
            FlatField::Long(number) => out[place..place + 8].copy_from_slice(&number.to_le_bytes()),
            FlatField::Text(text) => {
                lead_behind(out, place);
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text);
                out.push(0);
            }
            FlatField::Table(fields) => {
                let to = put_table(fields, out);
                lead(out, place, to);
            }
            FlatField::Tables(tables) => {
                let list = lead_behind(out, place);
                out.extend_from_slice(&(tables.len() as u32).to_le_bytes());
                out.resize(list + 4 + 4 * tables.len(), 0);
                for (at, fields) in tables.iter().enumerate() {
                    let to = put_table(fields, out);
                    lead(out, list + 4 + 4 * at, to);
                }
            }
        }
    }
    table
}

/// Lets what is at a place lead to what is appended next; where that is.
fn lead_behind(out: &mut Vec<u8>, place: usize) -> usize {
    align(out);
    let to = out.len();
    lead(out, place, to);
    to
}

#[cfg(test)]
mod tests {
    use super::super::super::metadata::carried::tests::PYARROW;
    use super::super::super::metadata::carried::{CarriedField, carried_fields};
    use super::super::carried_with;
    use super::super::declared::DeclaredSchema;
    use super::*;

    #[test]
    fn a_carried_schema_is_the_same_with_columns_behind() {
        let before = carried_fields(PYARROW).expect("a schema");
        let text = carried_with(PYARROW, &[("size", Physical::INT64), ("why", Physical::BYTE_ARRAY)]);
        let after = carried_fields(&text.expect("told")).expect("a schema");
        let added = ["size", "why"].map(|name| CarriedField { name: name.to_owned(), leaves: vec![false] });
        assert_eq!(after, before.into_iter().chain(added).collect::<Vec<_>>());
        assert_eq!(carried_with("AAAA", &[]), None);
    }

    #[test]
    fn views_and_keys_of_dictionaries_are_told_as_they_are() {
        let field = |is_text: bool, layout, keys: Option<(usize, bool)>| DeclaredField {
            name: "a".to_owned(),
            nullable: true,
            kind: DeclaredKind::Bytes { is_text, layout },
            dictionary: keys.map(|(width, signed)| DeclaredKeys { width, signed, is_ordered: true }),
            children: Vec::new(),
            said: Vec::new(),
        };
        for (is_text, layout) in
            [(true, BytesLayout::Views), (false, BytesLayout::Views), (true, BytesLayout::Wide)]
        {
            for keys in [None, Some((1, true)), Some((2, false)), Some((8, true))] {
                let told = told_schema(&[field(is_text, layout, keys)], &[], &[("b", Physical::DOUBLE)]);
                let [first, second] = &DeclaredSchema::carried(&told).expect("a schema").fields[..] else {
                    panic!("two")
                };
                assert_eq!(first.kind, DeclaredKind::Bytes { is_text, layout });
                assert_eq!(first.dictionary.map(|keys| (keys.width, keys.signed)), keys);
                assert_eq!((&*second.name, &second.kind), ("b", &DeclaredKind::Real(8)));
                let usual = DeclaredSchema::carried(&told).expect("a schema").with_usual_keys();
                assert_eq!(
                    usual.fields[0].dictionary.map(|keys| (keys.width, keys.signed)),
                    keys.map(|_| (4, true))
                );
            }
        }
    }
}
