//! Small text files: a first line with the form and a digest, and then JSON. Manifests and checkpoints are such.

use std::cmp::Ordering;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};
use crate::hex;
use crate::limits::MAX_MANIFEST_BYTES;
use crate::storage::Storage;

/// The form of collections that this version writes and reads. Rows of earlier forms are not packed, and have sets in place of tokens.
pub const FORMAT: u32 = 3;

/// What stands between the number of the form and the digest.
const DIGEST: &str = ", xxh3-128 ";

/// The bytes of a file that begins with `start` and the number of the form.
pub(in crate::collection) fn seal<T: Serialize>(start: &str, value: &T) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec_pretty(value)?;
    let mut bytes = format!("{start}{FORMAT}{DIGEST}{}\n", hex::text(&xxh3_128(&body))).into_bytes();
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// What [`seal`] made `bytes` of, the contents of the file `path`, and where in them it begins. `what` says what is
/// expected, as in `a manifest`.
///
/// # Errors
/// [`Error::Damaged`], [`Error::NewerFormat`] and [`Error::OlderFormat`].
pub(in crate::collection) fn unseal<T: DeserializeOwned>(
    start: &str,
    what: &str,
    path: &Path,
    bytes: &[u8],
) -> Result<(T, usize)> {
    let damaged = |offset: usize, what: String| Error::damaged(path, offset as u64, what);
    let rest = bytes.strip_prefix(start.as_bytes());
    let rest = rest.ok_or_else(|| damaged(0, format!("{what} begins with {start:?}")))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let at = start.len() + digits;
    let format = number(&rest[..digits]).ok_or_else(|| damaged(start.len(), "no format".to_owned()))?;
    match format.cmp(&FORMAT) {
        Ordering::Less => {
            return Err(Error::OlderFormat { path: path.to_path_buf(), found: format, known: FORMAT });
        }
        Ordering::Equal => {}
        Ordering::Greater => {
            return Err(Error::NewerFormat { path: path.to_path_buf(), found: format, known: FORMAT });
        }
    }
    let (digest, body) = digest(&rest[digits..])
        .ok_or_else(|| damaged(at, format!("the first line goes on with {DIGEST:?} and 32 digits")))?;
    let at = bytes.len() - body.len();
    if xxh3_128(body) != digest {
        return Err(damaged(at, "what follows does not have the digest of the first line".to_owned()));
    }
    let value = serde_json::from_slice(body).map_err(|error| damaged(at, format!("not {what}: {error}")))?;
    Ok((value, at))
}

/// All bytes of a small file.
///
/// # Errors
/// [`Error::Io`], and [`Error::Damaged`] if it is longer than any such file.
pub(in crate::collection) fn read_whole(storage: &dyn Storage, name: &str) -> Result<Vec<u8>> {
    let path = storage.path(name);
    let reader = storage.open(name).map_err(|e| Error::io(&path, "open", e))?;
    let length = reader.len().map_err(|e| Error::io(&path, "look at", e))?;
    if length > MAX_MANIFEST_BYTES {
        return Err(Error::damaged(&path, MAX_MANIFEST_BYTES, "no such file is so long"));
    }
    let mut bytes = vec![0; length as usize];
    reader.read_exact_at(&mut bytes, 0).map_err(|e| Error::io(&path, "read", e))?;
    Ok(bytes)
}

/// A number from 1, written in the only way.
fn number(digits: &[u8]) -> Option<u32> {
    let number: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (digits.first() != Some(&b'0')).then_some(number)
}

/// The digest at the end of a first line, and what comes after the line.
fn digest(rest: &[u8]) -> Option<(u128, &[u8])> {
    let (digits, rest) = rest.strip_prefix(DIGEST.as_bytes())?.split_at_checked(2 * size_of::<u128>())?;
    Some((hex::parse(std::str::from_utf8(digits).ok()?)?, rest.strip_prefix(b"\n")?))
}
