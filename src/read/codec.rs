//! The seam between reading and the formats: what a format has to know. All else is the same for all of them.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::bytes::LineStream;
use super::field::Fields;
use super::format::Numbering;
use super::record::{Record, Refusal, Sink};
use super::source::{Cuts, Source, Unit};
use crate::document::Position;
use crate::error::Result;

/// How sure a format is that a file is of it. The surest format reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// The file can be read so.
    Possible,
    /// Some of the content looks so.
    Likely,
    /// The name promises it.
    Named,
    /// The first record proves it.
    Proven,
    /// The name promises it, and this format never doubts a name.
    Certain,
}

/// What a format knows.
pub(super) trait Codec {
    /// The number of the format on disk, and what it takes to read it beside that: 0 if that is nothing.
    fn code(&self) -> [u8; 2];

    /// How names of such files end.
    fn extension(&self) -> &'static str;

    /// Most bytes that a record may have as it stands in its file, where one may have so many otherwise: pictures are no text.
    fn most_bytes(&self, of_record: usize) -> usize {
        of_record
    }

    /// What numbers of records count.
    fn numbering(&self) -> Numbering;

    /// The first offset at or after `at` at which a unit of an uncompressed file may begin; the size of the file if there
    /// is none.
    fn unit_start(&self, source: &Source, at: u64) -> u64;

    /// Where units of an uncompressed file may begin, if the bytes around a place do not tell it: looked up once, when the
    /// file is found.
    fn cuts(&self, _: &Source) -> io::Result<Cuts> {
        Ok(Cuts::default())
    }

    /// About the bytes of memory that it takes to know where records of a file stand; found out before any of them is taken.
    fn memory_of_layout(&self, _: &Source) -> io::Result<u64> {
        Ok(0)
    }

    /// How much larger than others units should be: more where beginning one costs something.
    fn unit_factor(&self) -> u64 {
        1
    }

    /// The bytes on disk that the records at some places of an uncompressed file are read from.
    fn bytes_of(&self, _: &Source, places: Range<u64>) -> Range<u64> {
        places
    }

    /// Whether the file only says where rows are in others.
    ///
    /// # Errors
    /// If it cannot be read.
    fn is_summary(&self, _: &Source) -> io::Result<bool> {
        Ok(false)
    }

    /// The records of a unit. Opening must not touch the file.
    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records>;

    /// What reads records of lines that workers take in turn of a compressed file, where records are lines.
    fn line_reader(&self) -> Option<LineReader> {
        None
    }

    /// Copies the members of an archive that hold records of their own.
    fn copy_apart(&self, _: &Source, _: &mut dyn TakeCopies) -> io::Result<()> {
        Ok(())
    }

    /// Where records end; `None` if a file is one record.
    fn boundaries(&self) -> Option<Box<dyn Boundaries>>;

    /// The offsets of the records that go when those at the ascending offsets `removed` go: these, and what only speaks of
    /// them. Where there is an end, only the decompressed bytes before it can be read.
    fn with_companions(&self, _: &Source, removed: &[u64], _end: Option<u64>) -> io::Result<Vec<u64>> {
        Ok(removed.to_vec())
    }

    /// Whether compressed files have a member for each record, by custom.
    fn packs_records(&self) -> bool {
        false
    }

    /// Tells a first record that says what the file is, and is no document; `None` where there is none. A file of some of its records has
    /// it, too: without it nobody would know what it is.
    fn preamble(&self) -> Option<fn(&[u8]) -> bool> {
        None
    }

    /// Whether [`with_companions`](Codec::with_companions) finds any.
    fn has_companions(&self) -> bool {
        self.packs_records()
    }

    /// The most bytes that [`Boundaries::undecided`] may say; 0 if these are a few.
    fn lookahead(&self) -> usize {
        0
    }

    /// Reads single records of a file that begins with `header`, which is empty unless [`Boundaries::has_header`].
    ///
    /// # Errors
    /// The refusal of a header that is none.
    fn parser<'a>(
        &self,
        header: &str,
        fields: &'a Fields,
    ) -> std::result::Result<Box<dyn Parser + 'a>, Refusal>;

    /// What names what records say beside id and text, if they say anything.
    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        None
    }

    /// How single records are read again, where a record is no stretch of bytes.
    fn rereader(&self) -> Option<Rereader> {
        None
    }
}

/// Takes records that are read again: the place of each among those asked for, and as much of it as the format reads.
pub(super) type TakeAgain<'a> = dyn FnMut(usize, &Record<'_>) -> Result<()> + 'a;

/// Reads records of a source again, as [`reread_records`](super::reread_records) has it.
pub(super) type Rereader = Box<dyn Fn(&Source, u32, &[u64], &Fields, &mut TakeAgain<'_>) -> Result<()>>;

/// What reads the records of the file of that number: a worker's share of its lines.
pub(super) type LineReader = fn(u32, Arc<LineStream>, Arc<Fields>) -> Box<dyn Records>;

/// The records of a unit, read step by step: a step is about a mebibyte.
pub(super) trait Records: Send {
    /// Hands on the records of one step; `false` when the unit is exhausted. A fault in the file is refused and ends the
    /// unit.
    ///
    /// # Errors
    /// [`Error::Input`](crate::error::Error::Input) if the memory has no room for a record. Any other is a bug.
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool>;

    /// Whether something is at hand, behind the end of the unit, that reading a later unit of the file would make anew.
    fn can_go_on(&self) -> bool {
        false
    }

    /// Goes on with a later unit of the file, if that gives what a new reader would; whether it does.
    fn go_on(&mut self, _unit: &Unit) -> bool {
        false
    }

    /// What numbers of records count, as far as it was seen: blank and refused ones included.
    fn lines(&self) -> u64;

    /// Bytes of the file consumed so far; those of all units sum up to the file's size.
    fn bytes(&self) -> u64;

    /// Decompressed bytes seen so far.
    fn text_bytes(&self) -> u64;
}

/// Finds where records end as the bytes of a file pass by.
pub trait Boundaries: Send {
    /// Where the present record ends, if it ends in `bytes`, its line end included. The next call is then about the next
    /// record. If it does not, the next call goes on behind `bytes`.
    fn end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// After a call that found no end: how many of the last bytes may be the beginning of the next record. They are to be
    /// looked at again, together with what follows them, unless nothing does.
    fn undecided(&self) -> usize {
        0
    }

    /// Whether a record of these bytes, or of which these bytes are a part, says nothing so far. They are those that were
    /// looked at last.
    fn is_blank(&self, bytes: &[u8]) -> bool;

    /// Whether records that say nothing have numbers, too.
    fn numbers_blank(&self) -> bool {
        true
    }

    /// Whether the first record that is not blank is the header of the file.
    fn has_header(&self) -> bool;

    /// What has to follow a record that was taken out of its file: its line end, if the record is without it.
    fn line_end(&self) -> &'static [u8];

    /// Whether a byte order mark may stand before the first record, and is no part of it.
    fn follows_mark(&self) -> bool {
        true
    }

    /// Why the record that was looked at last is refused, if that is known without all of its bytes. It has ended, or no
    /// bytes follow.
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    /// After a call that found no end: whether the record is all there nevertheless, and nothing of it would follow but blanks.
    fn is_complete(&self) -> bool {
        false
    }

    /// Where bytes are missing behind a record that is complete: begins with the next one. Whether it can, because how a record begins
    /// shows what it is.
    fn begins_anew(&mut self) -> bool {
        false
    }

    /// What a file ends with that is put together of records.
    fn file_end(&self) -> &'static [u8] {
        b""
    }
}

/// Names what records say beside id and text.
pub trait Describer {
    /// Hands on names and values of a record, in its order.
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str));
}

/// A member that was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemberCopy {
    /// What it is called in the archive.
    pub(super) path: String,
    /// Its place there, as records have one.
    pub(super) place: u64,
    /// Bytes from there to its content, where these stand before it.
    pub(super) before: u64,
}

/// Takes copies of members.
pub(super) trait TakeCopies {
    /// Begins the copy of a member that is called so.
    fn begin(&mut self, path: &str) -> io::Result<()>;

    /// Takes bytes of it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes what was begun for whole; whether more may be copied.
    fn end(&mut self, copy: MemberCopy) -> io::Result<bool>;

    /// Drops what was begun: the member is damaged.
    fn discard(&mut self);
}

/// Reads single records.
pub(super) trait Parser {
    /// Gives back what a long record was copied to.
    fn rest(&mut self) {}

    /// As how many bytes a record counts against what is allowed of one: more than it has, where it is unpacked.
    fn weight(&self, raw: &[u8]) -> u64 {
        raw.len() as u64
    }

    /// Whether a byte order mark says something to it.
    fn takes_mark(&self) -> bool {
        false
    }

    /// The record that `raw` is, number `line` of its unit. A byte order mark is no part of it, unless the parser takes it.
    ///
    /// # Errors
    /// The refusal of what is no record.
    fn record<'a>(
        &'a mut self,
        position: Position,
        line: u32,
        raw: &'a [u8],
    ) -> std::result::Result<Record<'a>, Refusal>;
}
