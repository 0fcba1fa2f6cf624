//! The formats there are. A new one is a file here, a variant of [`Format`], an arm of [`codec`], and a row of the
//! table in `listed.rs`.

mod archive;
#[cfg(feature = "parquet")]
mod arrow;
mod csv;
mod depth;
mod extract;
mod find;
mod html;
mod jsonl;
mod listed;
mod mail;
mod mediawiki;
mod object;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "pdf")]
mod pdf;
mod plain;
mod properties;
#[cfg(feature = "parquet")]
mod row_files;
mod rtf;
mod text;
mod text_parts;
mod trec;
mod usual_object;
mod warc;
mod whole;

use std::io;

use super::codec::{Boundaries, Codec, Describer};
use super::field::Fields;
use super::find::Foreign;
use super::format::{Compression, Format};
use super::head::FileHead;
use super::source::Source;
use crate::error::Result;
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
pub use listed::format_names;
use listed::format_of_code;
pub(super) use listed::{differs_from_named, recognise};
use mail::Mail;
use mediawiki::MediaWiki;
#[cfg(feature = "office")]
use office::Office;
#[cfg(feature = "parquet")]
pub use parquet::{
    ColumnBatch, ColumnMemory, ColumnRows, FileRange, ParquetSource, StoredDictionary, refuses_panics,
};
#[cfg(feature = "pdf")]
pub use pdf::{PdfFault, PdfProgram, PdfText, read_pdf_answer, read_pdfs_with, serve_pdfs};
#[cfg(feature = "parquet")]
pub use row_files::{row_objects, undecodable_rows, unfit_objects, unfit_rows};
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
    if let Some(foreign) = (format == Some(Format::Mbox)).then(|| Foreign::of_mail(head)).flatten() {
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
    if end == Some(0) {
        return Ok(removed.to_vec());
    }
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

/// Whether compressed files of a format have a member for each record, by custom.
pub fn packs_records(format: Format) -> bool {
    codec(format).packs_records()
}
impl Format {
    /// The format as a number: the kind in the lower eight bits, what it takes to read it in the upper ones.
    pub fn code(self) -> u16 {
        u16::from_le_bytes(codec(self).code())
    }

    /// The format of a number that [`Format::code`] gave; `None` if there is none.
    pub fn of_code(code: u16) -> Option<Format> {
        format_of_code(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::format::Delimiter;

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
}
