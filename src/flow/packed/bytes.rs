//! Packed bytes, which serde writes and reads as a whole: a list of them goes one by one.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Visitor};

/// Reads what `serialize_bytes` has written.
///
/// # Errors
/// Those of the deserializer.
pub(super) fn deserialize_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_byte_buf(PackedBytes)
}

struct PackedBytes;

impl Visitor<'_> for PackedBytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packed numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
