//! What reading hands on: records, refusals, and who takes them.

use std::borrow::Cow;
use std::fmt;

use super::date::Day;
use super::field::OBSERVED_FIELDS;
use crate::document::{DocumentName, Position};
use crate::limits::BYTES_OF_WORD;
use crate::printable::{counted, printable};

/// Most keys named in a message, and most characters of each.
pub(super) const SHOWN_KEYS: usize = 12;
const SHOWN_CHARS: usize = 40;

/// A value to compare documents by.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Value {
    /// A finite number: the greatest double that is not above it, and by how much it is above that. Integers of 64 bits are exact so, such
    /// as nanoseconds of today; of any other number the second is 0.
    Number(f64, u16),
    /// A string.
    Text(String),
}

impl Value {
    /// The value that a text is: a number if it is spelt as one.
    pub(super) fn spelt(text: &str) -> Value {
        Value::number(text).unwrap_or_else(|| Value::Text(text.to_owned()))
    }

    /// The number that a text spells, if it is finite.
    pub(super) fn number(text: &str) -> Option<Value> {
        match text.parse() {
            Ok(integer) => Some(Value::integer(integer)),
            Err(_) => text.parse().ok().and_then(Value::real),
        }
    }

    /// A number, if it is finite.
    pub(super) fn real(number: f64) -> Option<Value> {
        number.is_finite().then_some(Value::Number(number, 0))
    }

    /// An integer; one of more than 64 bits is the double next to it.
    pub fn integer(number: i128) -> Value {
        let nearest = number as f64;
        if number < i128::from(i64::MIN) || number > i128::from(u64::MAX) {
            return Value::Number(nearest, 0);
        }
        let floor = if nearest as i128 > number { nearest.next_down() } else { nearest };
        Value::Number(floor, (number - floor as i128) as u16)
    }
}

/// The integer that a value is whose number is no double.
pub fn exact_integer(floor: f64, above: u16) -> Option<i128> {
    (above > 0).then(|| floor as i128 + i128::from(above))
}

/// The values of observed fields, in their order: strings, or numbers spelt as in the input. Most runs observe none, and records
/// are made by the million: they carry a word more.
pub type ObservedValues<'a> = Option<Box<[Option<Cow<'a, str>>; OBSERVED_FIELDS]>>;

/// The values of all fields that are observed, if any are: `value` gives that of each by its place.
pub(super) fn observe<'a>(any: bool, value: impl FnMut(usize) -> Option<Cow<'a, str>>) -> ObservedValues<'a> {
    any.then(|| Box::new(std::array::from_fn(value)))
}

/// One document as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// Where it stands.
    pub position: Position,
    /// Its line, counted from 1 within the unit.
    pub line: u32,
    /// Its id: a string, or a number spelt as in the input. `None` when the field is absent or anything else.
    pub id: Option<DocumentName<'a>>,
    /// Its text.
    pub text: &'a str,
    /// What stands before the first record of its file and has to be known to read it; mostly nothing.
    pub header: &'a str,
    /// What it is in its file: a line as it stands, without its line feed and a byte order mark before it, or a whole
    /// text file. Formats that hold other than text may have any bytes here.
    pub raw: &'a [u8],
    /// The value asked for: a string or a number. `None` when the field is absent or anything else.
    pub value: Option<Value>,
    /// The value that documents must share to be compared, if it was asked for: a string, or a number spelt as in the input.
    pub within: Option<Cow<'a, str>>,
    /// The day it is dated, if it was asked for.
    pub day: Day,
    /// The values of observed fields, if any are.
    pub observed: ObservedValues<'a>,
    /// Whether it is a change that deletes the document of its id; its text is then empty.
    pub deleted: bool,
}

impl Record<'_> {
    /// All that it takes to read the record without its file: what a collection keeps of it.
    pub fn stored(&self) -> Cow<'_, [u8]> {
        match self.header {
            "" => Cow::Borrowed(self.raw),
            header => Cow::Owned([header.as_bytes(), self.raw].concat()),
        }
    }
}

/// The text that a record of bytes is.
///
/// # Errors
/// [`Refusal::not_utf8`].
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| Refusal::not_utf8(bytes))
}

/// Why a record, or the rest of a file, could not be used. Its `Display` is the reason for people.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// The line is not JSON: what was expected, and where.
    NotJson(String),
    /// The line is JSON but not an object.
    NotAnObject,
    /// The file has no such column: the name that was looked for, and the columns that there are.
    NoColumn {
        /// The name of the column.
        field: String,
        /// The columns, as shown to people: bounded, control characters escaped.
        columns: String,
    },
    /// The record has no text field.
    NoText {
        /// The path of the text that was looked for.
        field: String,
        /// The keys that the record has, as shown to people: bounded, control characters escaped.
        keys: String,
    },
    /// The text field holds something else than a string.
    TextNotString {
        /// The path of the text.
        field: String,
        /// What it holds.
        found: Cow<'static, str>,
    },
    /// The record is a change, and has no id.
    NoId {
        /// The path of the id that was looked for.
        field: String,
        /// The keys that the record has, or the columns, as shown to people: bounded, control characters escaped.
        keys: String,
    },
    /// The record is a change of a kind that does not exist: what it says, as shown to people.
    UnknownOp(String),
    /// The row has fewer or more fields than the header.
    Ragged {
        /// Fields of the row.
        fields: usize,
        /// Fields of the header.
        columns: usize,
    },
    /// A quoted field is not closed. Nothing after it was read.
    OpenQuote,
    /// The record is of a kind that holds no text: which, as shown to people.
    NoTextIn(String),
    /// The record is a file that is not read where it stands in an archive: what it is.
    NotUnpacked(String),
    /// The id has a line break, and ids are written one a line.
    LineBreakInId,
    /// No text could be read within the limits of a process that does nothing else: the reason.
    NotExtracted(String),
    /// The record does not begin as records of its file do, or its parts are not where it says: what is wrong.
    Malformed(String),
    /// The line, or the text file, is not UTF-8.
    NotUtf8,
    /// The line, or the text file, is longer than allowed.
    TooLong {
        /// The length allowed, in bytes.
        limit: usize,
    },
    /// The file is one document with pictures, and longer than such a file may be.
    FileTooLong {
        /// The length allowed, in bytes.
        limit: usize,
    },
    /// The text has more words than a record may have.
    TooManyWords {
        /// The number allowed.
        limit: usize,
    },
    /// The memory allowed has no room for the record: what it takes, and what to do.
    NoRoom(String),
    /// Compressed data was damaged: how. What stands behind it was read.
    PassedOver(String),
    /// Compressed data ends too early or is damaged: the reason. Nothing after it was read.
    Truncated(String),
    /// The file cannot be opened or read on: the reason. Nothing after it was read.
    Unreadable(String),
    /// Some rows cannot be read; what stands behind them can.
    Rows {
        /// How many.
        rows: u64,
        /// The reason.
        why: String,
    },
}

impl Refusal {
    /// Whether such a record stays in the files that are written: it is none that is broken, and nothing is known against it. Where
    /// damage was passed over there is none: what stands at its place is the next one.
    pub fn stays(&self) -> bool {
        matches!(
            self,
            Refusal::NoTextIn(_)
                | Refusal::NotUnpacked(_)
                | Refusal::NotExtracted(_)
                | Refusal::PassedOver(_)
        )
    }

    /// The refusal of a record that has `keys`, and so many more, but not the text's.
    pub(super) fn no_text<S: AsRef<str>>(field: &str, keys: &[S], more: usize) -> Refusal {
        Refusal::NoText { field: field.to_owned(), keys: show_all(keys, more) }
    }

    /// The refusal of a change that has `keys`, and so many more, but not the id's.
    pub(super) fn no_id<S: AsRef<str>>(field: &str, keys: &[S], more: usize) -> Refusal {
        Refusal::NoId { field: field.to_owned(), keys: show_all(keys, more) }
    }

    /// The same where records may have these fields: this one lacks the id's.
    pub(super) fn lacks_id(field: &str, known: &[&str]) -> Refusal {
        let others: Vec<&str> = known.iter().copied().filter(|name| *name != field).collect();
        Refusal::no_id(field, &others, 0)
    }

    /// The refusal of a record in a file that has `columns`, and so many more, but not the text's.
    pub(super) fn no_column<S: AsRef<str>>(field: &str, columns: &[S], more: usize) -> Refusal {
        Refusal::NoColumn { field: field.to_owned(), columns: show_all(columns, more) }
    }

    /// The refusal of bytes that are no UTF-8.
    pub(super) fn not_utf8(bytes: &[u8]) -> Refusal {
        match bytes.contains(&0) {
            true => Refusal::Malformed(NO_TEXT.to_owned()),
            false => Refusal::NotUtf8,
        }
    }

    /// The refusal of a record whose content is of this media type.
    pub(super) fn no_text_in(media: &str) -> Refusal {
        Refusal::NoTextIn(show(media))
    }

    /// The refusal of a record that says it is a change of this kind.
    pub(super) fn unknown_op(op: &str) -> Refusal {
        Refusal::UnknownOp(show(op))
    }

    /// Whether nothing after it was read of the file.
    pub fn ends_file(&self) -> bool {
        matches!(self, Refusal::Truncated(_) | Refusal::Unreadable(_) | Refusal::OpenQuote)
    }

    /// Whether records were lost with it of which nothing more is known.
    pub fn loses_others(&self) -> bool {
        self.ends_file() || matches!(self, Refusal::PassedOver(_))
    }

    /// A short name of the kind of refusal, for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::NotJson(_) => "not JSON",
            Refusal::NotAnObject => "not an object",
            Refusal::NoColumn { .. } => "no column",
            Refusal::NoText { .. } => "no text",
            Refusal::Ragged { .. } => "ragged row",
            Refusal::OpenQuote => "open quote",
            Refusal::TextNotString { .. } => "text not a string",
            Refusal::NoId { .. } => "no id",
            Refusal::UnknownOp(_) => "unknown op",
            Refusal::NoTextIn(_) => "not a text",
            Refusal::NotUnpacked(_) => "not unpacked",
            Refusal::LineBreakInId => "line break in id",
            Refusal::NotExtracted(_) => "not extracted",
            Refusal::Malformed(_) => "malformed",
            Refusal::NotUtf8 => "not UTF-8",
            Refusal::TooLong { .. } | Refusal::FileTooLong { .. } => "too long",
            Refusal::TooManyWords { .. } => "too many words",
            Refusal::NoRoom(_) => "no room",
            Refusal::PassedOver(_) => "damaged",
            Refusal::Truncated(_) => "truncated or damaged",
            Refusal::Unreadable(_) => "unreadable",
            Refusal::Rows { .. } => "unreadable rows",
        }
    }
}

/// Names from the input, and that there are so many more, made fit for a terminal.
fn show_all<S: AsRef<str>>(names: &[S], more: usize) -> String {
    let mut shown: Vec<String> = names.iter().map(|name| show(name.as_ref())).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// What to do with text in another encoding.
pub(super) const NOT_UTF_8: &str = "not UTF-8; convert it, with iconv -f WINDOWS-1252 -t UTF-8 what Windows wrote, and with iconv -f UTF-16 -t UTF-8 what begins with FF FE";

/// What is said of bytes that are no text in any encoding that is written byte for byte.
const NO_TEXT: &str = "not UTF-8, and with bytes that are zero: binary data, or UTF-16 without a mark, which iconv -f UTF-16LE -t UTF-8 converts";

/// What to do with JSON that is not lines of it.
const ONE_A_LINE: &str =
    "a record is an object in one line, as jq -c '.[]' makes them of an array, and jq -c . of other JSON";

/// What to do with objects that are not one a line.
const JQ: &str = "jq -c . writes each object in a line of its own";

/// A name from the input made fit for a terminal: bounded, and without characters that steer it.
fn show(name: &str) -> String {
    let start: String = name.chars().take(SHOWN_CHARS).collect();
    let mut shown = printable(&start).into_owned();
    if name.chars().nth(SHOWN_CHARS).is_some() {
        shown.push_str("...");
    }
    shown
}

/// How a byte of zero is shown in a name.
const ZERO: &str = "\\u{0}";

/// What may separate the fields of a line whose columns were taken for one, as they are shown.
fn separator_within(columns: &str) -> Option<&'static str> {
    let is_one = !columns.contains(", ");
    let known = [(";", ";"), ("\\t", "tab"), ("|", "|"), (",", ",")];
    known.into_iter().find(|(shown, _)| is_one && columns.contains(shown)).map(|(_, name)| name)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotJson(why) if why.starts_with("EOF while parsing") => {
                write!(
                    f,
                    "not JSON: {why}; either the file is cut off here, or its objects take several lines, and {JQ}"
                )
            }
            Refusal::NotJson(why) if why.starts_with("trailing characters") => {
                write!(f, "not JSON: {why}; nothing may follow an object in its line, not even a comma; {JQ}")
            }
            Refusal::NotJson(why) => write!(f, "not JSON: {why}"),
            Refusal::NotAnObject => write!(f, "JSON, but not an object; {ONE_A_LINE}"),
            // As Excel says it.
            Refusal::NoColumn { columns, .. } if columns.starts_with("sep=") => write!(
                f,
                "the first line only says what separates fields; delete it, so that names of columns stand there, and say --delimiter"
            ),
            Refusal::NoColumn { columns, .. } if columns.contains(ZERO) => write!(
                f,
                "the first line has bytes that are zero: it is UTF-16 without a mark; iconv -f UTF-16LE -t UTF-8 converts it"
            ),
            Refusal::NoColumn { field, columns } => {
                let field = show(field);
                write!(f, "no column {field}; ")?;
                match separator_within(columns) {
                    Some(separator) => write!(f, "is the delimiter right (--delimiter '{separator}')?")?,
                    None => f.write_str("is the text field right (--text-field)?")?,
                }
                write!(f, " the columns are: {columns}")
            }
            Refusal::Ragged { fields, columns } => {
                write!(f, "a row of {fields} fields under a header of {columns}; is the delimiter right?")
            }
            Refusal::OpenQuote => f.write_str("a quoted field is not closed; nothing from here on was read"),
            Refusal::NoText { field, keys } if keys.is_empty() => {
                write!(f, "no field {}; the record is empty", show(field))
            }
            Refusal::NoText { field, keys } => {
                let field = show(field);
                write!(f, "no field {field}; is the text field right (--text-field)? the record has: {keys}")
            }
            Refusal::TextNotString { field, found } => {
                let field = show(field);
                write!(
                    f,
                    "the field {field} is {found}, expected a string; is the text field right (--text-field)?"
                )
            }
            Refusal::NoId { field, keys } => {
                let field = show(field);
                write!(f, "no id: {field} is no field with a string or a number; the record has: {keys}")
            }
            Refusal::UnknownOp(op) => write!(f, "op is {op}, expected upsert or delete"),
            Refusal::NoTextIn(media) => write!(f, "no text: {media}"),
            Refusal::NotUnpacked(what) => {
                write!(f, "not unpacked: it is {what}; unpack the archive, and name its folder")
            }
            Refusal::LineBreakInId => f.write_str(
                "its id has a line break, so it cannot be a line of a list of ids; use --to jsonl",
            ),
            Refusal::NotExtracted(why) => write!(f, "no text was extracted: {why}"),
            Refusal::Malformed(what) => write!(f, "malformed: {what}"),
            Refusal::NotUtf8 => f.write_str(NOT_UTF_8),
            Refusal::TooLong { limit } => {
                write!(f, "longer than the {limit} bytes allowed of a record (--max-record-bytes)")
            }
            Refusal::FileTooLong { limit } => write!(
                f,
                "longer than the {limit} bytes allowed of a file with pictures, a multiple of --max-record-bytes"
            ),
            Refusal::TooManyWords { limit } => write!(
                f,
                "more than the {limit} words allowed of a record, one for {BYTES_OF_WORD} bytes of --max-record-bytes"
            ),
            Refusal::NoRoom(why) => f.write_str(why),
            Refusal::PassedOver(why) => write!(f, "damaged, and passed over: {why}"),
            Refusal::Truncated(why) => {
                write!(f, "truncated or damaged; nothing from here on was read: {why}")
            }
            Refusal::Unreadable(why) => write!(f, "cannot be read from here on: {why}"),
            Refusal::Rows { rows, why } => {
                write!(f, "{} from here on cannot be read: {why}", counted(*rows, "row"))
            }
        }
    }
}

/// Who takes what is read.
pub trait Sink {
    /// A document.
    fn document(&mut self, record: &Record<'_>);
    /// Something that is no document, at a position and a line counted from 1 within the unit.
    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal);
    /// Whether the next record, of so many bytes as it stands in its file, is passed over. Where records lie one behind the other,
    /// this is asked before one is parsed, which takes longer than to find its end. Who wants all records leaves it as it is.
    fn skips_next(&mut self, _bytes: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_keys_there_are() {
        let refusal = Refusal::no_text("text", &["id", "body", "url"], 0);
        assert_eq!(
            refusal.to_string(),
            "no field text; is the text field right (--text-field)? the record has: id, body, url"
        );
        assert_eq!(
            Refusal::no_text::<&str>("text", &[], 0).to_string(),
            "no field text; the record is empty"
        );
    }

    #[test]
    fn columns_that_are_one_name_their_delimiter() {
        for (columns, says) in [
            (&["id;text"][..], "--delimiter ';'"),
            (&["id\ttext"], "--delimiter 'tab'"),
            (&["id,text"], "--delimiter ','"),
            (&["id", "a;b"], "--text-field"),
            (&["i\0d\0"], "iconv -f UTF-16LE"),
        ] {
            let message = Refusal::no_column("text", columns, 0).to_string();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn messages_are_bounded_and_harmless() {
        let keys: Vec<String> =
            (0..SHOWN_KEYS).map(|n| format!("\u{1b}[31m\n\u{202e}{n}{}", "x".repeat(9000))).collect();
        let message = Refusal::no_text("te\u{7}xt", &keys, 988).to_string();
        assert!(message.len() < 2000, "{}", message.len());
        assert!(message.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{message}");
        assert!(message.ends_with("and 988 more"), "{message}");
    }
}
