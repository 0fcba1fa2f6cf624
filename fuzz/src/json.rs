//! Small files of JSON behind a first line with a digest: good ones, changed and sealed again.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::take;

/// The bytes of such a file.
pub(crate) fn sealed(start: &str, body: &[u8]) -> Vec<u8> {
    let line = format!("{start}1, xxh3-128 {:032x}\n", xxh3_128(body));
    [line.as_bytes(), body].concat()
}

/// The value in such a file.
pub(crate) fn body(bytes: &[u8]) -> Value {
    let at = bytes.iter().position(|byte| *byte == b'\n').expect("a first line") + 1;
    serde_json::from_slice(&bytes[at..]).expect("a value")
}

/// Changes a value: each time some bytes say where, the next what, and more with which number.
pub(crate) fn change(value: &mut Value, data: &mut &[u8]) {
    while !data.is_empty() {
        let [steps, what, small] = take(data);
        let place = place(value, steps % 6, data);
        let number: [u8; 8] = take(data);
        *place = match what % 12 {
            0 => Value::from(small),
            1 => Value::from(u64::from_le_bytes(number)),
            2 => Value::from(-i64::from(small)),
            3 => Value::from(u32::MAX - u32::from(small)),
            4 => Value::from(f64::from(small) / 7.0),
            5 => Value::Null,
            6 => Value::from(format!("{:016x}", u64::from_le_bytes(number))),
            7 => Value::from(
                ["", "join", "a", "0.5", "\u{0}", "exact", "-", "minhash"][usize::from(small % 8)],
            ),
            8 => Value::from(small & 1 == 0),
            9 => match place.take() {
                Value::Array(mut items) => {
                    let at = usize::from(small) % items.len().max(1);
                    if let Some(item) = items.get(at).cloned() {
                        items.insert(at, item);
                    }
                    Value::Array(items)
                }
                other => other,
            },
            10 => match place.take() {
                Value::Array(mut items) => {
                    items.pop();
                    Value::Array(items)
                }
                Value::Object(mut fields) => {
                    let key = fields.keys().nth(usize::from(small) % fields.len().max(1)).cloned();
                    key.into_iter().for_each(|key| drop(fields.remove(&key)));
                    Value::Object(fields)
                }
                other => other,
            },
            _ => match place.as_u64() {
                Some(before) => Value::from(before.wrapping_add(u64::from(small)).wrapping_sub(2)),
                None => place.take(),
            },
        };
    }
}

/// A place in a value, some steps down.
fn place<'a>(mut value: &'a mut Value, steps: u8, data: &mut &[u8]) -> &'a mut Value {
    for _ in 0..steps {
        let [step] = take(data);
        let length = value.as_array().map(Vec::len).or(value.as_object().map(serde_json::Map::len));
        let Some(at) = usize::from(step).checked_rem(length.unwrap_or(0)) else { break };
        value = match value {
            Value::Array(items) => &mut items[at],
            Value::Object(fields) => fields.values_mut().nth(at).expect("a field"),
            _ => unreachable!("it has parts"),
        };
    }
    value
}
