//! What formats are called, how files are recognised, and which number a format has on disk.

use std::str::FromStr;

#[cfg(feature = "parquet")]
use super::arrow;
#[cfg(feature = "office")]
use super::office;
#[cfg(feature = "parquet")]
use super::parquet;
#[cfg(feature = "pdf")]
use super::pdf;
use super::{archive, csv, html, jsonl, mail, mediawiki, rtf, text, trec, warc};
use crate::read::codec::Certainty;
use crate::read::format::{Delimiter, Format, FormatName};
use crate::read::head::FileHead;

/// What is known of a format before there is a file of it.
struct FormatRow {
    /// Its number on disk.
    code: u8,
    /// The format, by what stands beside its number.
    of: fn(u8) -> Option<Format>,
    /// How sure it is of a file.
    recognise: fn(&FileHead) -> Option<(Certainty, Format)>,
    /// What people call it, and what that makes of a file, whatever its name.
    names: &'static [SaidFormat],
}

/// A name of a format.
struct SaidFormat {
    name: &'static str,
    about: &'static str,
    of: fn(&FileHead) -> Format,
}

/// All formats. Of those that are equally sure of a file the last one reads it.
static FORMATS: &[FormatRow] = &[
    FormatRow {
        code: jsonl::CODE,
        of: |beside| (beside == 0).then_some(Format::JsonLines),
        recognise: jsonl::recognise,
        names: &[SaidFormat { name: "jsonl", about: "One JSON object a line", of: |_| Format::JsonLines }],
    },
    FormatRow {
        code: text::CODE,
        of: |beside| (beside == 0).then_some(Format::Text),
        recognise: text::recognise,
        names: &[SaidFormat { name: "text", about: "One document a file", of: |_| Format::Text }],
    },
    FormatRow {
        code: csv::CODE,
        of: |beside| Delimiter::of(beside).map(|delimiter| Format::Csv { delimiter }),
        recognise: csv::recognise,
        names: &[
            SaidFormat { name: "csv", about: "A header row, and then one record a row", of: csv::said },
            SaidFormat { name: "tsv", about: "The same, with tabs between fields", of: csv::said_tabs },
        ],
    },
    #[cfg(feature = "parquet")]
    FormatRow {
        code: parquet::CODE,
        of: |beside| (beside == 0).then_some(Format::Parquet),
        recognise: parquet::recognise,
        names: &[SaidFormat {
            name: "parquet",
            about: "Columns: a record is a row",
            of: |_| Format::Parquet,
        }],
    },
    #[cfg(feature = "parquet")]
    FormatRow {
        code: arrow::CODE,
        of: |beside| (beside == 0).then_some(Format::Arrow),
        recognise: arrow::recognise,
        names: &[SaidFormat {
            name: "arrow",
            about: "Batches of columns, in a file (Feather) or a stream: a record is a row",
            of: |_| Format::Arrow,
        }],
    },
    FormatRow {
        code: warc::CODES[0],
        of: |beside| (beside == 0).then_some(Format::Warc),
        recognise: warc::recognise_warc,
        names: &[SaidFormat {
            name: "warc",
            about: "The records of a crawl, WARC or WET: pages, or their texts",
            of: |_| Format::Warc,
        }],
    },
    FormatRow {
        code: warc::CODES[1],
        of: |beside| (beside == 0).then_some(Format::Arc),
        recognise: warc::recognise_arc,
        names: &[SaidFormat { name: "arc", about: "What came before WARC", of: |_| Format::Arc }],
    },
    FormatRow {
        code: html::CODE,
        of: |beside| (beside == 0).then_some(Format::Html),
        recognise: html::recognise,
        names: &[SaidFormat { name: "html", about: "A page of HTML a file", of: |_| Format::Html }],
    },
    FormatRow {
        code: mail::CODES[0],
        of: |beside| (beside == 0).then_some(Format::Mbox),
        recognise: mail::recognise_mbox,
        names: &[SaidFormat {
            name: "mbox",
            about: "Messages of mail, one behind the other",
            of: |_| Format::Mbox,
        }],
    },
    FormatRow {
        code: mail::CODES[1],
        of: |beside| (beside == 0).then_some(Format::Message),
        recognise: mail::recognise_message,
        names: &[SaidFormat { name: "eml", about: "A message of mail a file", of: |_| Format::Message }],
    },
    FormatRow {
        code: trec::CODE,
        of: |beside| (beside == 0).then_some(Format::Trec),
        recognise: trec::recognise,
        names: &[SaidFormat {
            name: "trec",
            about: "SGML of TREC: one <DOC> behind the other",
            of: |_| Format::Trec,
        }],
    },
    FormatRow {
        code: mediawiki::CODE,
        of: |beside| (beside == 0).then_some(Format::MediaWiki),
        recognise: mediawiki::recognise,
        names: &[SaidFormat {
            name: "mediawiki",
            about: "A dump of a wiki: the pages of an export of MediaWiki",
            of: |_| Format::MediaWiki,
        }],
    },
    FormatRow {
        code: archive::TAR_CODE,
        of: |beside| (beside == 0).then_some(Format::Tar),
        recognise: archive::recognise_tar,
        names: &[SaidFormat {
            name: "tar",
            about: "An archive: a text, a page or a mail a member",
            of: |_| Format::Tar,
        }],
    },
    FormatRow {
        code: archive::ZIP_CODE,
        of: |beside| (beside == 0).then_some(Format::Zip),
        recognise: archive::recognise_zip,
        names: &[SaidFormat {
            name: "zip",
            about: "An archive: a text, a page or a mail a member",
            of: |_| Format::Zip,
        }],
    },
    #[cfg(feature = "office")]
    FormatRow {
        code: office::CODES[0],
        of: |beside| (beside == 0).then_some(Format::Docx),
        recognise: office::recognise_docx,
        names: &[SaidFormat { name: "docx", about: "A document of Word a file", of: |_| Format::Docx }],
    },
    #[cfg(feature = "office")]
    FormatRow {
        code: office::CODES[1],
        of: |beside| (beside == 0).then_some(Format::Odt),
        recognise: office::recognise_odt,
        names: &[SaidFormat {
            name: "odt",
            about: "A text in the OpenDocument format a file",
            of: |_| Format::Odt,
        }],
    },
    #[cfg(feature = "office")]
    FormatRow {
        code: office::CODES[2],
        of: |beside| (beside == 0).then_some(Format::Epub),
        recognise: office::recognise_epub,
        names: &[SaidFormat { name: "epub", about: "A book a file", of: |_| Format::Epub }],
    },
    FormatRow {
        code: rtf::CODE,
        of: |beside| (beside == 0).then_some(Format::Rtf),
        recognise: rtf::recognise,
        names: &[SaidFormat { name: "rtf", about: "A document of RTF a file", of: |_| Format::Rtf }],
    },
    #[cfg(feature = "pdf")]
    FormatRow {
        code: pdf::CODE,
        of: |beside| (beside == 0).then_some(Format::Pdf),
        recognise: pdf::recognise,
        names: &[SaidFormat { name: "pdf", about: "A PDF a file", of: |_| Format::Pdf }],
    },
];

fn names() -> impl Iterator<Item = &'static SaidFormat> {
    FORMATS.iter().flat_map(|format| format.names)
}

/// What formats are called, and what each is in a line.
pub fn format_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    names().map(|said| (said.name, said.about))
}

impl FromStr for FormatName {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<FormatName, String> {
        let named = names().find(|said| said.name == text);
        named.map(|said| FormatName(said.name)).ok_or_else(|| format!("there is no format {text:?}"))
    }
}

/// The format of a number on disk; `None` if there is none.
pub(super) fn format_of_code(code: u16) -> Option<Format> {
    let [code, beside] = code.to_le_bytes();
    FORMATS.iter().find(|format| format.code == code).and_then(|format| (format.of)(beside))
}

/// Whether a file in a folder is of another format than named files are said to have.
pub(in crate::read) fn differs_from_named(head: &FileHead, format: Format) -> bool {
    let said = head.said_of_named();
    let said = said.and_then(|FormatName(name)| names().find(|said| said.name == name));
    said.is_some_and(|said| (said.of)(head) != format)
}

/// The format of a file: the one that it is said to have, or the one that is surest of it, if any takes it.
pub(in crate::read) fn recognise(head: &FileHead) -> Option<Format> {
    if let Some(FormatName(name)) = head.said() {
        return names().find(|said| said.name == name).map(|said| (said.of)(head));
    }
    let claims = FORMATS.iter().filter_map(|format| (format.recognise)(head));
    claims.max_by_key(|(certainty, _)| *certainty).map(|(_, format)| format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_distinct() {
        for (at, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..at].iter().all(|other| other.code != format.code));
        }
        let named: Vec<&str> = format_names().map(|(name, _)| name).collect();
        let parquet: &[&str] = if cfg!(feature = "parquet") { &["parquet", "arrow"] } else { &[] };
        let office: &[&str] = if cfg!(feature = "office") { &["docx", "odt", "epub"] } else { &[] };
        let lines = &["jsonl", "text", "csv", "tsv"][..];
        let files = &["warc", "arc", "html", "mbox", "eml", "trec", "mediawiki", "tar", "zip"][..];
        let pdf: &[&str] = if cfg!(feature = "pdf") { &["pdf"] } else { &[] };
        assert_eq!(named, [lines, parquet, files, office, &["rtf"], pdf].concat());
        assert!(named.iter().all(|name| name.parse() == Ok(FormatName(name))));
        assert!("xml".parse::<FormatName>().is_err());
    }
}
