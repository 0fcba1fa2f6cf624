//! Reading: the same records however a file is cut, compressed, or read again, and never a panic.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use alike::read::{Compression, FieldPath, Fields, Format, FormatHint, MissingText, RecordRoom, Source};
use tempfile::TempDir;

use crate::reading::{Seen, check, put};
use crate::take;

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Nothing is known beside name and content.
const ANY: FormatHint = FormatHint { format: None, delimiter: None, shared: false, memory: None };

/// The first bytes say what fields are wanted and how long a record may be, how large units are, and how compressed
/// forms are damaged; the rest is the content of a file.
pub fn reader(mut data: &[u8]) {
    let [wanted, max, unit, damage, at] = take(&mut data);
    let path = |text| FieldPath::parse(text).expect("a path");
    let (text, id) =
        [("text", "id"), ("a.b", "a.id"), ("a", "a"), ("a.b.c", "text")][usize::from(wanted % 4)];
    let fields = Arc::new(Fields {
        id: path(id),
        text: path(text),
        missing_text: if wanted & 64 == 0 { MissingText::Reject } else { MissingText::Keep },
        main_text: wanted & 1 == 0,
        strip_quotes: wanted & 2 == 0,
        line_ids: wanted & 2 != 0,
        date: Some(path("date")),
        value: (wanted & 4 != 0).then(|| path("v")),
        within: None,
        observed: vec![path("a.b"), path(id)],
        op: (wanted & 16 != 0).then(|| path("op")),
        without_ids: false,
        max_record_bytes: if max == 0 { 1 << 20 } else { usize::from(max) },
        room: RecordRoom::default(),
    });
    let found = FOLDER.with(|folder| {
        let name = if wanted & 8 == 0 { "a.jsonl" } else { "a.txt" };
        forms(folder.path(), name, data, damage, at, &fields);
        // A file of a format that is not read is no file of lines, whatever its name.
        let plain = put(folder.path(), "a.jsonl", data, ANY)?;
        let whole = check(&plain, u64::MAX, &fields);
        // By content it may be one that is compressed, and then is one unit.
        let size = data.len() as u64;
        for target in [size / 50, u64::from(unit) + 1, size / 2, size.saturating_sub(1)] {
            assert_eq!(check(&plain, target, &fields), whole, "units of {target}");
        }
        Some((plain, whole?))
    });
    // By content it may also be an archive, whatever its name.
    let are_lines =
        |plain: &Source| plain.compression == Compression::None && plain.format == Format::JsonLines;
    if let Some((_, whole)) = found.filter(|(plain, _)| are_lines(plain)) {
        against_values(data, &whole, &fields);
    }
}

/// Both compressed forms of `content` give what the plain one gives; damaged ones give something, without a panic.
fn forms(folder: &Path, name: &str, content: &[u8], damage: u8, at: u8, fields: &Arc<Fields>) {
    let Some(plain) = put(folder, name, content, ANY) else { return };
    // A file that is one document is a change under its own name, and these have other names.
    let op = fields.op.clone().filter(|_| plain.format == Format::JsonLines);
    let fields = &Arc::new(Fields { op, ..(**fields).clone() });
    let whole = check(&plain, u64::MAX, fields);
    for (end, mut bytes) in
        [("gz", gzip(content)), ("zst", zstd::encode_all(content, 1).expect("compressed"))]
    {
        let name = format!("{name}.{end}");
        let Some(source) = put(folder, &name, &bytes, ANY) else {
            // What is compressed twice is refused, and Parquet that is compressed.
            let is_lines = matches!(plain.format, Format::JsonLines | Format::Text);
            assert!(
                plain.compression != Compression::None || !is_lines,
                "{name} is not found: {plain:?}, {content:?}"
            );
            continue;
        };
        if plain.compression == Compression::None {
            assert_eq!(source.format, plain.format, "{name}");
            assert_eq!(check(&source, 1, fields), whole, "{name}");
        }
        let at = bytes.len() * usize::from(at) / 256;
        match damage {
            0 => continue,
            1..128 => bytes[at] ^= damage,
            _ => bytes.truncate(at),
        }
        if let Some(damaged) = put(folder, &name, &bytes, ANY) {
            check(&damaged, 1, fields);
        }
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

/// Line by line through `serde_json::Value`, the obvious way: what it can parse, the reader must understand alike.
/// (It cannot parse some that the reader takes: it looks into values that nobody asked for.)
fn against_values(content: &[u8], seen: &[Seen], fields: &Fields) {
    let mut offset = 0;
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        let here = seen.iter().find(|seen| match seen {
            Seen::Document { offset: at, .. } | Seen::Refused { offset: at, .. } => *at == offset,
        });
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let bom: &[u8] = b"\xef\xbb\xbf";
        let is_blank = |body: &[u8]| body.iter().all(|byte| b" \t\r".contains(byte));
        let blank = is_blank(if offset == 0 { body.strip_prefix(bom).unwrap_or(body) } else { body });
        // Files with a mark may have been put behind one another.
        let body = body.strip_prefix(bom).unwrap_or(body);
        offset += line.len() as u64;
        let kind = match here {
            Some(Seen::Refused { kind, .. }) => Some(*kind),
            _ => None,
        };
        let Ok(body_text) = std::str::from_utf8(body) else {
            assert_eq!(
                kind,
                Some(if body.len() > fields.max_record_bytes { "too long" } else { "not UTF-8" })
            );
            continue;
        };
        if body.len() > fields.max_record_bytes {
            assert_eq!(kind, Some("too long"));
        } else if blank {
            assert_eq!(here, None);
        } else if let Ok(value) = serde_json::from_str::<serde_json::Value>(body_text) {
            let understood = understood(&value, fields);
            match (here, &understood) {
                (Some(Seen::Document { text, id, .. }), Ok((expected, expected_id))) => {
                    assert_eq!(text, expected, "{body_text:?}");
                    match expected_id {
                        // Numbers keep their digits, whatever a value makes of them.
                        Some(serde_json::Value::Number(_)) => assert!(id.is_some(), "{body_text:?}"),
                        other => {
                            assert_eq!(
                                id.as_deref(),
                                other.as_ref().and_then(|id| id.as_str()),
                                "{body_text:?}"
                            );
                        }
                    }
                }
                (Some(Seen::Refused { kind, .. }), Err(expected)) => {
                    assert_eq!(kind, expected, "{body_text:?}")
                }
                (other, _) => panic!("{body_text:?}: {other:?}, and not {understood:?}"),
            }
        } else {
            assert!(here.is_some(), "{body_text:?} is neither blank nor anything");
        }
    }
}

/// The text of a record, empty if it deletes, and its id; or the kind of refusal.
fn understood(
    value: &serde_json::Value,
    fields: &Fields,
) -> Result<(String, Option<serde_json::Value>), &'static str> {
    if !value.is_object() {
        return Err("not an object");
    }
    let op = fields.op.as_ref().and_then(|op| at(value, op.as_str())).filter(|op| !op.is_null());
    let text = match (op.map(|op| op.as_str()), at(value, fields.text.as_str())) {
        (Some(Some("delete")), _) => String::new(),
        (Some(op), _) if op != Some("upsert") => return Err("unknown op"),
        (_, None | Some(serde_json::Value::Null)) if fields.missing_text == MissingText::Keep => {
            String::new()
        }
        (_, None) => return Err("no text"),
        (_, Some(serde_json::Value::String(text))) => text.clone(),
        (_, Some(_)) => return Err("text not a string"),
    };
    let id = at(value, fields.id.as_str()).filter(|id| id.is_string() || id.is_number());
    match id {
        None if fields.op.is_some() => Err("no id"),
        id => Ok((text, id.cloned())),
    }
}

/// The value at a path: under a key spelt like all of it, or else from name to name.
fn at<'a>(value: &'a serde_json::Value, path: &str) -> Option<&'a serde_json::Value> {
    value.get(path).or_else(|| path.split('.').try_fold(value, |value, name| value.as_object()?.get(name)))
}
