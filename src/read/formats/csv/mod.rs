//! CSV and TSV: a header row, then a record a row. A quoted field may hold delimiters, doubled quotes and line breaks.
//!
//! Where rows end is found here, by the grammar of csv-core, which decodes the fields. A blank line is no row. Rows are
//! counted from the header, blank lines included.

mod by_content;
mod describer;
mod row_ends;
mod row_parser;
mod row_splitter;

use std::io;
use std::sync::Arc;

use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Delimiter, Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{cuts, next_cut};
use crate::read::windowed::Windowed;
use by_content::{is_of_rows_of_text, looks_like_table};
use describer::RowDescriber;
pub(super) use describer::column_names;
use row_ends::RowEnds;
use row_parser::RowParser;
use row_splitter::RowSplitter;

/// Delimiters that a header may have in place of commas.
const CANDIDATES: [u8; 3] = [b';', b'\t', b'|'];

/// Whether a file is CSV or TSV, by its name or else by its content.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let sniffed = || head.delimiter().unwrap_or_else(|| sniff(head.content()));
    let (certainty, delimiter) = match head.extension() {
        Some("csv") => (Certainty::Named, sniffed()),
        Some("tsv" | "tab") => (Certainty::Named, head.delimiter().unwrap_or(Delimiter::TAB)),
        // Spreadsheets call what they write between tabs a text.
        _ if head.is_called_text() && is_table_beyond_doubt(head, sniffed()) => {
            (Certainty::Proven, sniffed())
        }
        _ if !head.is_called_text() && is_table(head, sniffed()) => (Certainty::Likely, sniffed()),
        _ => return None,
    };
    Some((certainty, Format::Csv { delimiter }))
}

/// Whether a file begins like a table.
fn is_table(head: &FileHead, delimiter: Delimiter) -> bool {
    let text = head.text_of_head();
    // Whoever names a file means to have read what is in it; one in a folder may be anything.
    text.is_some_and(|text| looks_like_table(text, head.is_whole(), delimiter.byte(), !head.is_named()))
}

/// Whether a file that is called a text is a table all the same.
fn is_table_beyond_doubt(head: &FileHead, delimiter: Delimiter) -> bool {
    // Tables within texts have bars.
    delimiter.byte() != b'|'
        && head.text_of_head().is_some_and(|text| is_of_rows_of_text(text, head.is_whole(), delimiter.byte()))
}

/// The format of a file that is said to be CSV, whatever its name.
pub(super) fn said(head: &FileHead) -> Format {
    match recognise(head) {
        Some((_, format)) => format,
        None => Format::Csv { delimiter: head.delimiter().unwrap_or_else(|| sniff(head.content())) },
    }
}

/// The format of a file that is said to be TSV, whatever its name.
pub(super) fn said_tabs(head: &FileHead) -> Format {
    Format::Csv { delimiter: head.delimiter().unwrap_or(Delimiter::TAB) }
}

/// The delimiter of a header: a comma, unless it has none and exactly one of the candidates.
fn sniff(content: &[u8]) -> Delimiter {
    let (mut quoted, mut seen) = (false, [0; 256]);
    let begins = content.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(content.len());
    for &byte in &content[begins..] {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if !quoted => seen[usize::from(byte)] += 1,
            _ => {}
        }
    }
    let mut there = CANDIDATES.iter().filter(|candidate| seen[usize::from(**candidate)] > 0);
    match (seen[usize::from(b',')], there.next(), there.next()) {
        (0, Some(only), None) => Delimiter::of(*only).unwrap_or(Delimiter::COMMA),
        _ => Delimiter::COMMA,
    }
}

/// The number of the format on disk; the delimiter stands beside it.
pub(super) const CODE: u8 = 2;

/// CSV with a delimiter.
pub(super) struct Csv {
    pub(super) delimiter: Delimiter,
}

impl Codec for Csv {
    fn code(&self) -> [u8; 2] {
        [CODE, self.delimiter.byte()]
    }

    fn extension(&self) -> &'static str {
        if self.delimiter == Delimiter::TAB { "tsv" } else { "csv" }
    }

    fn numbering(&self) -> Numbering {
        Numbering::Rows
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        next_cut(source, at)
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        cuts(source, Box::new(RowEnds::new(self.delimiter)))
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let rows = RowSplitter::new(self.delimiter, file, fields);
        Box::new(Windowed::new(source, unit, rows))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(Box::new(RowEnds::new(self.delimiter)))
    }

    fn describer(&self, fields: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(RowDescriber::new(self.delimiter, fields)))
    }

    fn parser<'a>(&self, header: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(RowParser::new(self.delimiter, header, fields)))
    }
}
