//! Bytes to documents: finding the input, recognising what it is, and handing on its records.
//!
//! [`discover`] turns arguments into [`Source`]s, [`units`] cuts these into pieces that workers share,
//! a [`UnitReader`] hands the records of one piece to a [`Sink`], and [`reread`] brings single records back.
//! What is wrong with a record costs that record ([`Refusal`]), never the run.

mod bytes;
mod codec;
mod date;
mod field;
mod find;
mod format;
mod formats;
mod head;
mod input;
mod inputs;
mod payload;
mod record;
mod rejected;
mod reread;
mod source;
mod stretches;
mod unit;
mod windowed;

#[cfg(test)]
mod records_tests;
#[cfg(test)]
mod stretches_tests;
#[cfg(test)]
mod tests;

pub use bytes::{
    CountedWrite, InputFile, PackedMember, RecordCost, RecordRoom, admit_read_ahead, admit_windows,
    file_digest, file_digests, open_decompressed, open_decompressed_again, packed_members, read_short,
};
pub use codec::{Boundaries, Describer};
pub use date::{Day, day, month_of, written_month};
pub use field::{FieldPath, Fields, OBSERVED_FIELDS};
pub(crate) use find::STDIN;
pub use find::{Discovery, NO_DOCUMENTS, discover, discover_as, names_apart};
pub use format::{Compression, Delimiter, Format, FormatHint, FormatName, Numbering};
#[cfg(feature = "parquet")]
pub use formats::{
    ArrowSource, ArrowTable, BatchFate, CARRIED_SCHEMA, CarriedField, ColumnBatch, ColumnMemory, ColumnRows,
    FileRange, LeafCells, LeafValues, ParquetSource, PutBatch, StoredDictionary, carried_fields,
    carried_with, refuses_panics, row_objects, undecodable_rows, unfit_objects, unfit_rows,
};
pub use formats::{MemberFate, NewContent, ZipSource, rewrite_tar, text_member};
#[cfg(feature = "pdf")]
pub use formats::{PdfFault, PdfProgram, PdfText, read_pdf_answer, read_pdfs_with, serve_pdfs};
pub use formats::{
    boundaries, column_names, describer, format_names, has_companions, lookahead, packs_records,
    with_companions,
};
pub use input::{Input, MissingText};
pub use inputs::{DocumentSink, Part, RunInputs};
pub use record::{Record, Refusal, Sink, Value, exact_integer};
pub use rejected::{Refused, RefusedCount, Rejected, allow_refused, unread};
pub use reread::{
    bytes_of, file_end, file_header, is_one_record, record_text, reread, reread_records, rows, stands_alone,
    stays_empty, stored_pieces, stored_record,
};
pub(crate) use source::from_anywhere;
pub use source::{Extent, Source, UndecodableRows, Unit};
pub(crate) use unit::begins_anywhere;
pub use unit::{UnitReader, units};

use crate::limits::sized;

/// Bytes read at once, and so about the work of one [`UnitReader::advance`].
const BLOCK: usize = sized(1 << 20, 1 << 10);
/// The byte order mark that some programs put before UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";
