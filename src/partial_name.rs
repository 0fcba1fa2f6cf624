//! What output is called until it is complete.

use std::ffi::{OsStr, OsString};

use xxhash_rust::xxh3::xxh3_64;

/// Most bytes of the output's name that the temporary one repeats: file systems allow names of 255 bytes.
const LONGEST: usize = 200;

/// What the name of a temporary file or folder for the output `name` begins with: `.NAME.partial-`. Of a long name it has a digest.
pub(crate) fn partial_name(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    if name.len() > LONGEST {
        prefix.push(format!("{:016x}", xxh3_64(name.as_encoded_bytes())));
    } else {
        prefix.push(name);
    }
    prefix.push(".partial-");
    prefix
}
