//! Bytes to documents: finding the input, recognising what it is, and handing on its records.
//!
//! [`discover`] turns arguments into [`Source`]s, [`units`] cuts these into pieces that workers share,
//! a [`UnitReader`] hands the records of one piece to a [`Sink`], and [`reread`] brings single records back.
//! What is wrong with a record costs that record ([`Refusal`]), never the run.

mod checksum;
mod date;
mod decoder;
mod discover;
mod extract;
mod field;
mod input;
mod names;
mod object;
mod open;
mod recognise;
mod record;
mod rejected;
mod reread;
mod source;
mod spool;
mod unit;
mod window;

#[cfg(test)]
mod tests;

pub use checksum::{file_digest, file_digests};
pub use date::{Day, day};
pub use discover::{Discovery, discover};
pub use field::{FieldPath, Fields};
pub use input::Input;
pub use names::names_apart;
pub use open::{InputFile, open_decompressed};
pub use record::{Record, Refusal, Sink, Value};
pub use rejected::{Refused, Rejected, unread};
pub use reread::{record_text, reread};
pub use source::{Compression, Extent, Format, Source, Unit, units};
pub use unit::UnitReader;

/// Bytes read at once, and so about the work of one [`UnitReader::advance`].
const BLOCK: usize = 1 << 20;
/// The byte order mark that some programs put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";
