//! The formats there are. A new one is a file here, a variant of [`Format`], an arm of [`codec`], and a row of [`FORMATS`].

mod archive;
#[cfg(feature = "parquet")]
mod arrow;
mod csv;
mod depth;
mod extract;
mod find;
mod html;
mod jsonl;
mod mail;
mod mediawiki;
mod object;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "pdf")]
mod pdf;
mod properties;
mod rtf;
mod text;
mod text_parts;
mod trec;
mod usual_object;
mod warc;
mod whole;

use std::io;
use std::str::FromStr;

#[cfg(feature = "parquet")]
use super::bytes::RecordRoom;
use super::codec::{Boundaries, Certainty, Codec, Describer};
use super::field::Fields;
use super::find::Foreign;
use super::format::{Compression, Delimiter, Format, FormatName};
use super::head::FileHead;
use super::source::Source;
#[cfg(feature = "parquet")]
use super::source::UndecodableRows;
use crate::error::Result;
#[cfg(feature = "parquet")]
use crate::progress::Progress;
pub use archive::{MemberFate, NewContent, ZipSource, rewrite_tar};
use archive::{MemberFormats, MemberKind, Tar, Zip};
#[cfg(feature = "parquet")]
pub use arrow::{
    ArrowSource, ArrowTable, BatchFate, CARRIED_SCHEMA, CarriedField, LeafCells, LeafValues, PutBatch,
    carried_fields, carried_with,
};
use csv::Csv;
pub use find::text_member;
use html::Html;
use jsonl::JsonLines;
use mail::Mail;
use mediawiki::MediaWiki;
#[cfg(feature = "office")]
use office::Office;
#[cfg(feature = "parquet")]
pub use parquet::{ColumnBatch, ColumnMemory, ColumnRows, FileRange, ParquetSource, StoredDictionary};
#[cfg(feature = "pdf")]
pub use pdf::{PdfFault, PdfProgram, PdfText, read_pdf_answer, read_pdfs_with, serve_pdfs};
use rtf::Rtf;
use text::WholeText;
use trec::Trec;
use warc::Crawl;

/// What a format knows.
pub(super) fn codec(format: Format) -> Box<dyn Codec> {
    match format {
        Format::JsonLines => Box::new(JsonLines),
        Format::Text => Box::new(WholeText),
        Format::Csv { delimiter } => Box::new(Csv { delimiter }),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet),
        #[cfg(feature = "parquet")]
        Format::Arrow => Box::new(arrow::Arrow),
        Format::Warc => Box::new(Crawl::Warc),
        Format::Arc => Box::new(Crawl::Arc),
        Format::Html => Box::new(Html),
        Format::Mbox => Box::new(Mail::Mbox),
        Format::Message => Box::new(Mail::Message),
        Format::Trec => Box::new(Trec),
        Format::MediaWiki => Box::new(MediaWiki),
        Format::Tar => Box::new(Tar { members: MEMBERS }),
        Format::Zip => Box::new(Zip { members: MEMBERS }),
        #[cfg(feature = "office")]
        Format::Docx => Box::new(Office::Docx),
        #[cfg(feature = "office")]
        Format::Odt => Box::new(Office::Odt),
        #[cfg(feature = "office")]
        Format::Epub => Box::new(Office::Epub),
        Format::Rtf => Box::new(Rtf),
        #[cfg(feature = "pdf")]
        Format::Pdf => Box::new(pdf::Pdf),
    }
}

/// How members of archives are read.
const MEMBERS: MemberFormats = MemberFormats { kind: member_kind, codec };

/// What a member of an archive is.
fn member_kind(head: &FileHead) -> MemberKind {
    if Compression::of(head.bytes()) != Compression::None {
        return MemberKind::Records("a compressed file".to_owned());
    }
    let format = recognise(head);
    if let Some(foreign) = foreign(head, format) {
        return MemberKind::NoText(foreign.name());
    }
    let Some(format) = format else { return MemberKind::NoText("a file of no known format") };
    // One line of JSON is one record, and one document: a text, if it is called so.
    if format == Format::JsonLines && head.is_called_text() && head.is_one_line() {
        return MemberKind::Document(Format::Text);
    }
    let codec = codec(format);
    match codec.boundaries().is_none() && codec.rereader().is_none() {
        true => MemberKind::Document(format),
        false if matches!(format, Format::Tar | Format::Zip) => MemberKind::Archive,
        false => MemberKind::Records(format!("a file of many records, {}", codec.extension())),
    }
}

/// The format of a file that is not read, whatever takes it: `format`, or nothing.
pub(super) fn foreign(head: &FileHead, format: Option<Format>) -> Option<Foreign> {
    if matches!(format, None | Some(Format::Text | Format::JsonLines | Format::Csv { .. }))
        && let Some(foreign) = Foreign::of_text(head, format == Some(Format::Text))
    {
        return Some(foreign);
    }
    let doubtful = match format {
        // No JSON begins like any of those.
        None | Some(Format::JsonLines) => true,
        Some(Format::Text) => !head.is_called_text() || !head.is_text(),
        Some(Format::Csv { .. }) => !head.is_text(),
        // What is in it stands at its end.
        Some(Format::Zip) => head.is_compressed(),
        Some(_) => false,
    };
    let package = || head.package().and_then(Foreign::of_package);
    doubtful.then(|| package().or_else(|| Foreign::of(head.content(), head.is_compressed()))).flatten()
}

/// Where the records of a file end; `None` if the file is one record. The first byte that is looked at begins a record, and
/// is no byte order mark.
pub fn boundaries(format: Format) -> Option<Box<dyn Boundaries>> {
    codec(format).boundaries()
}

/// The offsets of the records that go when those at the ascending offsets `removed` go: these, and what only speaks of them.
/// Where there is an end, only the decompressed bytes before it can be read.
///
/// # Errors
/// What the system says of the file.
pub fn with_companions(source: &Source, removed: &[u64], end: Option<u64>) -> io::Result<Vec<u64>> {
    codec(source.format).with_companions(source, removed, end)
}

/// What names what records of a format say beside id and text, if they say anything.
pub fn describer(format: Format, fields: &Fields) -> Option<Box<dyn Describer>> {
    codec(format).describer(fields)
}

/// The names of the columns of a source, where it has columns.
///
/// # Errors
/// [`Error::Input`](crate::error::Error::Input) if the file is not what it was when it was found.
pub fn column_names(source: &Source) -> Result<Vec<String>> {
    match source.format {
        Format::Csv { delimiter } => Ok(csv::column_names(source, delimiter)),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::column_names(source),
        #[cfg(feature = "parquet")]
        Format::Arrow => arrow::column_names(source),
        _ => Ok(Vec::new()),
    }
}

/// Whether records of a format may go with others.
pub fn has_companions(format: Format) -> bool {
    codec(format).has_companions()
}

/// The most bytes that [`Boundaries::undecided`] may say of a format; 0 if these are a few.
pub fn lookahead(format: Format) -> usize {
    codec(format).lookahead()
}

/// Hands each row of a source whose records are rows to `each`, with its number from 0, as a JSON object of all its columns.
///
/// # Errors
/// [`Error::Input`](crate::error::Error::Input) of what cannot be decoded or has no form in JSON, and what `each` gives.
#[cfg(feature = "parquet")]
pub fn row_objects(
    source: &Source,
    room: &RecordRoom,
    each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    match source.format {
        Format::Arrow => arrow::row_objects(source, room, each),
        _ => parquet::row_objects(source, room, each),
    }
}

/// The rows of a source that have no room to be written as such objects, if its records are rows.
///
/// # Errors
/// Those of [`row_objects`].
#[cfg(feature = "parquet")]
pub fn unfit_objects(
    source: &Source,
    room: &RecordRoom,
    progress: &Progress,
) -> Result<Vec<UndecodableRows>> {
    match source.format {
        Format::Parquet => parquet::unfit_objects(source, room, progress),
        Format::Arrow => arrow::unfit_objects(source, room, progress),
        _ => Ok(Vec::new()),
    }
}

/// The rows of a source that cannot be written again, if its records are rows: as reading divides them, or by whole row groups.
///
/// # Errors
/// [`Error::Undecodable`](crate::error::Error::Undecodable) of a file that makes no sense as a whole, and what is no fault of it.
#[cfg(feature = "parquet")]
pub fn undecodable_rows(
    source: &Source,
    whole_groups: bool,
    (room, progress): (&RecordRoom, &Progress),
) -> Result<Vec<UndecodableRows>> {
    match source.format {
        Format::Parquet => parquet::undecodable_rows(source, whole_groups, (room, progress)),
        Format::Arrow => arrow::undecodable_rows(source, (room, progress)),
        _ => Ok(Vec::new()),
    }
}

/// Whether compressed files of a format have a member for each record, by custom.
pub fn packs_records(format: Format) -> bool {
    codec(format).packs_records()
}

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

impl Format {
    /// The format as a number: the kind in the lower eight bits, what it takes to read it in the upper ones.
    pub fn code(self) -> u16 {
        u16::from_le_bytes(codec(self).code())
    }

    /// The format of a number that [`Format::code`] gave; `None` if there is none.
    pub fn of_code(code: u16) -> Option<Format> {
        let [code, beside] = code.to_le_bytes();
        FORMATS.iter().find(|format| format.code == code).and_then(|format| (format.of)(beside))
    }
}

/// Whether a file in a folder is of another format than named files are said to have.
pub(super) fn differs_from_named(head: &FileHead, format: Format) -> bool {
    let said = head.said_of_named();
    let said = said.and_then(|FormatName(name)| names().find(|said| said.name == name));
    said.is_some_and(|said| (said.of)(head) != format)
}

/// The format of a file: the one that it is said to have, or the one that is surest of it, if any takes it.
pub(super) fn recognise(head: &FileHead) -> Option<Format> {
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
    fn codes_are_those_of_stored_collections() {
        let csv = Format::Csv { delimiter: Delimiter::COMMA };
        for (format, code) in [(Format::JsonLines, 0), (Format::Text, 1), (csv, 0x2c02)] {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        #[cfg(feature = "parquet")]
        for (format, code) in [(Format::Parquet, 3), (Format::Arrow, 9)] {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        for (format, code) in
            [(Format::Trec, 16), (Format::MediaWiki, 17), (Format::Tar, 18), (Format::Zip, 24)]
        {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        assert_eq!((Format::Rtf.code(), Format::of_code(23)), (23, Some(Format::Rtf)));
        #[cfg(feature = "office")]
        for (format, code) in [(Format::Docx, 20), (Format::Odt, 21), (Format::Epub, 22)] {
            assert_eq!((format.code(), Format::of_code(code)), (code, Some(format)));
        }
        #[cfg(feature = "pdf")]
        assert_eq!((Format::Pdf.code(), Format::of_code(25)), (25, Some(Format::Pdf)));
        assert!([0xff, 0x0100, 0x2202, 2].iter().all(|code| Format::of_code(*code).is_none()));
    }

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
