//! Standard input made a file, because some records are read twice.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::recognise::{Recognised, recognise};
use crate::error::{Error, Result};
use crate::read::format::FormatHint;
use crate::read::formats::codec;
use crate::read::head::FoundBy;
use crate::read::record::NOT_UTF_8;
use crate::read::source::Source;

/// How standard input is shown to people.
pub(crate) const STDIN: &str = "stdin";

/// Copies `input` to a file in the folder `spool`, as it is, and names it by its content.
pub(super) fn spool(input: &mut dyn Read, spool: &Path, hint: FormatHint) -> Result<Source> {
    fs::create_dir_all(spool).map_err(|error| Error::io(spool, "create", error))?;
    let raw = spool.join("stdin");
    let mut file = File::create_new(&raw).map_err(|error| Error::io(&raw, "create", error))?;
    io::copy(input, &mut file).map_err(|error| Error::io(&raw, "copy standard input to", error))?;
    drop(file);
    let known = recognise(&raw, None, FoundBy::Named, hint).map_err(|error| match error.raw_os_error() {
        Some(_) => Error::io(&raw, "read", error),
        None => Error::input(Path::new(STDIN), format!("cannot be read: {error}")),
    })?;
    let mut source = match known {
        Recognised::Source { source, .. } => source,
        Recognised::Foreign(foreign) => return Err(Error::input(Path::new("-"), foreign.reason())),
        Recognised::Nothing => {
            let reason = format!("standard input is of no kind that is read, and {NOT_UTF_8}");
            return Err(Error::input(Path::new("-"), reason));
        }
    };
    let format = codec(source.format).extension();
    source.name = format!("stdin.{format}{}", source.compression.suffix());
    source.path = spool.join(&source.name);
    source.shown = STDIN.to_owned();
    source.lasting = false;
    fs::rename(&raw, &source.path).map_err(|error| Error::io(&source.path, "create", error))?;
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(content: &[u8]) -> Result<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let source = spool(&mut &*content, &folder.path().join("new"), FormatHint::default())?;
        assert_eq!(fs::read(&source.path).expect("spooled"), content);
        source.unchanged()?;
        Ok(source.name)
    }

    #[test]
    fn is_named_by_content() {
        assert_eq!(name(b"{\"text\": \"a\"}\n").expect("known"), "stdin.jsonl");
        assert_eq!(name(b"").expect("known"), "stdin.jsonl");
        assert_eq!(name(b"hello").expect("known"), "stdin.txt");
        let zst = zstd::encode_all(&b"hello"[..], 1).expect("compressed");
        assert_eq!(name(&zst).expect("known"), "stdin.txt.zst");
        assert!(matches!(name(b"a\0b"), Err(Error::Input { .. })));
        // What is damaged is told as standard input, and not as a copy of it.
        #[cfg(feature = "parquet")]
        {
            let error = name(b"PAR1\x15\x04\x15\x00 and no end").expect_err("no table").to_string();
            assert!(error.starts_with("stdin: cannot be read: "), "{error}");
        }
    }
}
