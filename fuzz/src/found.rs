//! Finding: any file under any name is read, or refused by its name.

use std::fs;

use alike::read::{Compression, Format, FormatHint, discover_as, format_names};
use tempfile::TempDir;

use crate::reading::{check, fields, put};
use crate::take;

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// How names of files end, of kinds that are read and of others.
const ENDS: [&str; 30] = [
    "",
    ".jsonl",
    ".json",
    ".txt",
    ".md",
    ".csv",
    ".tsv",
    ".parquet",
    ".warc",
    ".wet",
    ".arc",
    ".html",
    ".xhtml",
    ".mbox",
    ".eml",
    ".pdf",
    ".docx",
    ".zip",
    ".xml",
    ".arrow",
    ".gz",
    ".zst",
    ".csv.gz",
    ".html.xz",
    ".tar",
    ".tgz",
    ".odt",
    ".epub",
    ".rtf",
    ".docx.zst",
];
/// How files begin, of kinds that are read and of others.
const MAGIC: [&[u8]; 24] = [
    b"",
    b"\xef\xbb\xbf",
    b"{\"text\": \"",
    b"PAR1",
    b"PARE",
    b"WARC/1.0\r\n",
    b"filedesc://",
    b"<!DOCTYPE html>",
    b"From a\nSubject: s\nFrom: a\n",
    b"From: a\nTo: b\nSubject: s\n",
    b"%PDF-",
    b"PK\x03\x04",
    b"{\\rtf",
    b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\x14\0\0\0\x08\0\0\0mimetypeapplication/epub+zip",
    b"PK\x03\x04\x14\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x11\0\0\0word/document.xml",
    b"\xd0\xcf\x11\xe0",
    b"ARROW1\0\0",
    b"\xff\xff\xff\xff",
    b"Obj\x01",
    b"<?xml version='1.0'?>",
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"BZh91AY&SY",
    b"\xfd7zXZ\0",
];

/// The first bytes say what fields are wanted, what the file is called, how it begins, and what it is said to be.
pub fn found(mut data: &[u8]) {
    let [wanted, end, magic, said] = take(&mut data);
    let content = [MAGIC[usize::from(magic) % MAGIC.len()], data].concat();
    let names: Vec<&str> = format_names().map(|(name, _)| name).collect();
    let format = names.get(usize::from(said)).map(|name| name.parse().expect("a format"));
    let hint = FormatHint { format, ..FormatHint::default() };
    let name = format!("a{}", ENDS[usize::from(end) % ENDS.len()]);
    let fields = fields(wanted, 0);
    FOLDER.with(|folder| {
        let named = put(folder.path(), &name, &content, hint);
        if let Some(source) = &named {
            let whole = check(source, u64::MAX, &fields);
            assert_eq!(check(source, 1, &fields), whole, "{source:?}");
        }
        // In a folder a file counts as what it looks like, or is left out with a reason.
        let path = folder.path().to_str().expect("UTF-8").to_owned();
        match discover_as(&[path], folder.path(), hint) {
            Ok(all) => {
                let refused = all.skipped.iter().chain(&all.unreadable);
                assert_eq!(all.sources.len() + refused.count(), 1, "one file");
                assert!(all.skipped.iter().chain(&all.unreadable).all(|(_, why)| !why.is_empty()));
                for source in &all.sources {
                    // The memory that runs have here has no room for the process that reads PDFs, so one that is named is refused.
                    let same = match &named {
                        Some(named) => named.format == source.format,
                        None => source.format == Format::Pdf,
                    };
                    assert!(
                        format.is_some() || same || source.compression != Compression::None,
                        "{source:?}"
                    );
                }
            }
            Err(error) => assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "{error}"),
        }
        fs::remove_file(folder.path().join(&name)).expect("removed");
    });
}
