//! The formats there are. A new one is a file here, a name in [`Format`], and a line in each of the two lists below.

mod csv;
mod extract;
mod find;
mod jsonl;
mod object;
mod text;

use super::codec::{Boundaries, Certainty, Codec};
use super::format::{Format, FormatName};
use super::head::FileHead;
use csv::Csv;
use jsonl::JsonLines;
use text::WholeText;

/// What a format knows.
pub(super) fn codec(format: Format) -> Box<dyn Codec> {
    match format {
        Format::JsonLines => Box::new(JsonLines),
        Format::Text => Box::new(WholeText),
        Format::Csv { delimiter } => Box::new(Csv { delimiter }),
    }
}

/// Where the records of a file end; `None` if the file is one record. The first byte that is looked at begins a record, and
/// is no byte order mark.
pub fn boundaries(format: Format) -> Option<Box<dyn Boundaries>> {
    codec(format).boundaries()
}

/// The format that is surest of a file, if any takes it.
pub(super) fn recognise(head: &FileHead) -> Option<Format> {
    match head.said() {
        Some(FormatName::Jsonl) => return Some(Format::JsonLines),
        Some(FormatName::Text) => return Some(Format::Text),
        Some(FormatName::Csv) => return Some(csv::said(head)),
        None => {}
    }
    let claims: [Option<(Certainty, Format)>; 3] =
        [jsonl::recognise(head), text::recognise(head), csv::recognise(head)];
    claims.into_iter().flatten().max_by_key(|(certainty, _)| *certainty).map(|(_, format)| format)
}
