//! Which documents are compared with each other, where not all are: those of one value of a field, or of one file.
//!
//! Keys and digests of others are made different by a *salt*, so that they never meet.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::read::{Input, Record};
use crate::sketcher::Digest;

/// Within what documents are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// All of them.
    Everything,
    /// Each file by itself.
    Files,
    /// Each value of a field by itself, as it is spelt; documents without one make a group of their own.
    Values,
}

/// Seeds of hashes: a value and a file of the same bytes are different, and so is no value.
const VALUE: u64 = 1;
const FILE: u64 = 2;
const NOTHING: u64 = 3;
/// The last bit of a key may say whether it indexes its set, so it is left as it is.
const LAST: u64 = 1;

impl Within {
    /// What a configuration asks for.
    pub fn of(input: &Input) -> Within {
        if input.within_field.is_empty() {
            Within::Everything
        } else if input.is_within_files() {
            Within::Files
        } else {
            Within::Values
        }
    }

    /// The salt of a record; `None` where all documents are compared.
    pub fn salt(self, record: &Record<'_>) -> Option<u64> {
        match self {
            Within::Everything => None,
            Within::Files => Some(xxh3_64_with_seed(&record.position.file().to_le_bytes(), FILE) & !LAST),
            Within::Values => Some(value_salt(record.within.as_deref())),
        }
    }
}

/// The salt of a value of the field that documents must share, or of none.
pub fn value_salt(value: Option<&str>) -> u64 {
    let salt = match value {
        None => xxh3_64_with_seed(&[], NOTHING),
        Some(value) => xxh3_64_with_seed(value.as_bytes(), VALUE),
    };
    salt & !LAST
}

/// The digest of a text among those of its salt.
pub fn salted(digest: Digest, salt: u64) -> Digest {
    xxh3_128(bytemuck::cast_slice(&[digest, u128::from(salt)]))
}
