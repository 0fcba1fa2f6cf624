//! Reading single records a second time.

use crate::limits::{MAX_PREAMBLE_BYTES, MAX_VALUE_BYTES, sized};
use std::io::{self, Read};
use std::ops::Range;

use super::bytes::{ReadFault, Turn, Window, open_decompressed};
use super::codec::{Boundaries, Parser};
use super::date::Day;
use super::field::Fields;
use super::format::{Compression, Format};
use super::formats::codec;
use super::record::{Record, Refusal, utf8};
use super::source::Source;
use super::windowed::packing_is_damaged;
use super::{BLOCK, BOM};
use crate::document::Position;
use crate::error::{Error, Result};

/// Gaps between wanted records below this are read through, larger ones are jumped over where that is possible.
const GAP: u64 = sized(256 << 10, 256);
/// Bytes read first after a jump: a record is seldom longer.
const FIRST: usize = sized(64 << 10, 64);

/// Reads the records at `offsets` (sorted) of `source`, file number `file`, again and hands on the index, the text
/// and the day of each; an error of `each` ends it. All of them were records the first time.
///
/// # Errors
/// [`Error::Changed`] if one of them is no record any more; [`Error::Io`], and what `each` gives.
pub fn reread(
    source: &Source,
    file: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut dyn FnMut(usize, &str, Day) -> Result<()>,
) -> Result<()> {
    reread_records(source, file, offsets, fields, &mut |index, record| each(index, record.text, record.day))
}

/// The same with all of each record, where it has more than its text when it is read again: a row has not.
///
/// # Errors
/// Those of [`reread`].
pub fn reread_records(
    source: &Source,
    file: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut dyn FnMut(usize, &Record<'_>) -> Result<()>,
) -> Result<()> {
    source.unchanged()?;
    if offsets.is_empty() {
        return Ok(());
    }
    if let Some(reread) = codec(source.format).rereader() {
        return reread(source, file, offsets, fields, each);
    }
    let window = Window::open_again(source, 0).map_err(|error| Error::io(&source.path, "read", error))?;
    let codec = codec(source.format);
    let mut again = Again { source, window, boundaries: codec.boundaries(), step: FIRST };
    let changed = || Error::Changed(source.path.clone());
    let follows_mark = again.boundaries.as_ref().is_none_or(|boundaries| boundaries.follows_mark());
    let header = again.header(fields)?;
    let mut parser = codec.parser(&header, fields).map_err(|_| changed())?;
    for (index, &offset) in offsets.iter().enumerate() {
        if again.boundaries.is_none() && offset != 0 {
            return Err(changed());
        }
        again.go_to(offset)?;
        let mut turn = None;
        let bytes = again.record(fields, &mut turn)?;
        let length = bytes.len();
        let bytes = without_mark(bytes, &*parser, offset == 0 && follows_mark);
        if turn.is_none() && fields.room.is_long(usize::try_from(parser.weight(bytes)).unwrap_or(usize::MAX))
        {
            turn = fields.room.turn()?;
        }
        let record = parser.record(Position::new(file, offset), 1, bytes).map_err(|_| changed())?;
        each(index, &record)?;
        if turn.is_some() {
            // Nothing of a long record is kept when others may have theirs.
            parser = codec.parser(&header, fields).map_err(|_| changed())?;
            again.window.consume(length);
            again.window.shrink();
        }
    }
    Ok(())
}

/// The text and the day of a record, given as [`Record::stored`](super::Record::stored) gave it.
///
/// # Errors
/// The [`Refusal`] of a record that is none.
pub fn record_text(
    format: Format,
    stored: &[u8],
    fields: &Fields,
) -> std::result::Result<(String, Day), Refusal> {
    stored_record(format, stored, fields, |record| (record.text.to_owned(), record.day))
}

/// What `take` takes of a record, given as [`Record::stored`] gave it.
///
/// # Errors
/// The [`Refusal`] of a record that is none.
pub fn stored_record<T>(
    format: Format,
    stored: &[u8],
    fields: &Fields,
    take: impl FnOnce(&Record<'_>) -> T,
) -> std::result::Result<T, Refusal> {
    let codec = codec(format);
    let follows_mark = codec.boundaries().is_none_or(|boundaries| boundaries.follows_mark());
    let (header, raw) = stored.split_at(header_end(codec.boundaries(), stored));
    let mut parser = codec.parser(utf8(header)?, fields)?;
    // Behind a header it is a part of the record.
    let raw = without_mark(raw, &*parser, header.is_empty() && follows_mark);
    parser.record(Position::new(0, 0), 1, raw).map(|record| take(&record))
}

/// A record as its parser takes it: without a byte order mark where one may stand before it, unless that says its character set.
fn without_mark<'a>(bytes: &'a [u8], parser: &dyn Parser, may_have: bool) -> &'a [u8] {
    let mark = if may_have && !parser.takes_mark() { BOM } else { b"" };
    bytes.strip_prefix(mark).unwrap_or(bytes)
}

/// What has to be written of a record, given as [`Record::stored`](super::Record::stored) gave it, where a file is made of
/// such records one after the other: `first` of all, or behind others.
pub fn stored_pieces(format: Format, stored: &[u8], first: bool) -> [&[u8]; 2] {
    let boundaries = codec(format).boundaries();
    let end = boundaries.as_ref().map_or(&b""[..], |boundaries| boundaries.line_end());
    let end = if stored.ends_with(b"\n") { b"" } else { end };
    let header = if first { 0 } else { header_end(boundaries, stored) };
    [&stored[header..], end]
}

/// What a file of the format ends with that is put together of records.
pub fn file_end(format: Format) -> &'static [u8] {
    codec(format).boundaries().map_or(b"", |boundaries| boundaries.file_end())
}

/// What stands before all records of a file that has a header, or a record that says what the file is: the decompressed bytes up to
/// its end, a byte order mark and blank rows included. Nothing of a file that has neither. A header that is longer than [`MAX_VALUE_BYTES`]
/// is none, nor is such a record that is longer than [`MAX_PREAMBLE_BYTES`].
///
/// # Errors
/// What the system says of the file.
pub fn file_header(source: &Source) -> io::Result<Vec<u8>> {
    let codec = codec(source.format);
    let preamble = codec.preamble();
    let has_header = codec.boundaries().is_some_and(|ends| ends.has_header());
    if !has_header && preamble.is_none() {
        return Ok(Vec::new());
    }
    let mut input = open_decompressed(source)?;
    let mut header = Vec::new();
    loop {
        let more = (header.len() as u64).max(FIRST as u64);
        // Whether the file has ended, and all of it is there.
        let has_ended = match input.by_ref().take(more).read_to_end(&mut header) {
            Ok(read) => (read == 0).then_some(true),
            // It costs the records that it meets, and was told with them.
            Err(error) if packing_is_damaged(source, &error) => Some(false),
            Err(error) => return Err(error),
        };
        // A record that says what a file is says nothing else: it counts as blank.
        let first_end = |mut ends: Box<dyn Boundaries>| match has_header {
            true => first_record_end(&header, ends),
            false => ends.end(&header),
        };
        if let Some(end) = codec.boundaries().and_then(first_end) {
            header.truncate(end);
            let is_one = end <= MAX_PREAMBLE_BYTES && preamble.is_some_and(|is_one| is_one(&header));
            return Ok(if has_header || is_one { header } else { Vec::new() });
        }
        let most = if has_header { MAX_VALUE_BYTES } else { MAX_PREAMBLE_BYTES };
        match has_ended {
            // It is the header, if it is one, and nothing ends its row.
            Some(is_whole) => return Ok(if has_header && is_whole { header } else { Vec::new() }),
            None if header.len() > most => return Ok(Vec::new()),
            None => {}
        }
    }
}

/// Where the first record of a file that is not blank ends, if it does in its first bytes.
fn first_record_end(bytes: &[u8], mut ends: Box<dyn Boundaries>) -> Option<usize> {
    let mut start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    while let Some(length) = ends.end(&bytes[start..]) {
        let end = start + length;
        if !ends.is_blank(&bytes[start..end]) {
            return Some(end);
        }
        start = end;
    }
    None
}

/// Whether a file of the format is one record, which goes with all of it.
pub fn is_one_record(format: Format) -> bool {
    let codec = codec(format);
    codec.boundaries().is_none() && codec.rereader().is_none()
}

/// How many rows a source has, where a record is a row and no stretch of bytes.
///
/// # Errors
/// [`Error::Io`].
pub fn rows(source: &Source) -> Result<Option<u64>> {
    if stands_alone(source.format) {
        return Ok(None);
    }
    let cuts = codec(source.format).cuts(source).map_err(|error| Error::io(&source.path, "read", error))?;
    Ok(cuts.rows.map(|rows| rows.rows))
}

/// The bytes on disk that what stands at some places of a source is read from.
pub fn bytes_of(source: &Source, places: Range<u64>) -> Range<u64> {
    if source.compression == Compression::None {
        codec(source.format).bytes_of(source, places)
    } else {
        places
    }
}

/// Whether a record of the format is all that it is without its file.
pub fn stands_alone(format: Format) -> bool {
    codec(format).rereader().is_none()
}

/// Whether a file without records is written at all, where records come from a collection: it is nothing if it was one
/// record, and there is no header.
pub fn stays_empty(format: Format) -> bool {
    codec(format).boundaries().is_some_and(|boundaries| !boundaries.has_header())
}

/// Where the header ends with which a stored record begins.
fn header_end(boundaries: Option<Box<dyn Boundaries>>, stored: &[u8]) -> usize {
    let with_header = boundaries.filter(|boundaries| boundaries.has_header());
    with_header.map_or(0, |mut boundaries| boundaries.end(stored).unwrap_or(stored.len()))
}

struct Again<'a> {
    source: &'a Source,
    window: Window,
    /// `None` where the file is one record.
    boundaries: Option<Box<dyn Boundaries>>,
    /// Bytes to read next: more and more, as long as reading goes straight on.
    step: usize,
}

impl Again<'_> {
    fn changed<T>(&self) -> Result<T> {
        Err(Error::Changed(self.source.path.clone()))
    }

    /// Reads more; whether there was more.
    fn more(&mut self) -> Result<bool> {
        let read = self.window.more(self.step);
        self.step = (2 * self.step).min(BLOCK);
        match read {
            Ok(read) => Ok(read > 0),
            Err(ReadFault::Io(error)) => Err(Error::io(&self.source.path, "read", error)),
            Err(ReadFault::Panic(what)) => Err(Error::Worker(what)),
        }
    }

    /// Makes `offset` the first pending byte.
    fn go_to(&mut self, offset: u64) -> Result<()> {
        let back = offset < self.window.offset();
        if (back || offset.saturating_sub(self.window.read_to()) >= GAP) && self.window.seek(offset) {
            self.step = FIRST;
        }
        while self.window.read_to() < offset {
            self.window.consume(usize::MAX);
            if !self.more()? {
                return self.changed();
            }
        }
        match offset.checked_sub(self.window.offset()) {
            Some(gap) => {
                self.window.consume(usize::try_from(gap).unwrap_or(usize::MAX));
                Ok(())
            }
            None => self.changed(),
        }
    }

    /// The header of the file, if it has one.
    fn header(&mut self, fields: &Fields) -> Result<String> {
        if !self.boundaries.as_ref().is_some_and(|boundaries| boundaries.has_header()) {
            return Ok(String::new());
        }
        self.more()?;
        if self.window.pending().starts_with(BOM) {
            self.window.consume(BOM.len());
        }
        loop {
            let row = self.record(fields, &mut None)?.to_vec();
            let blank = self.boundaries.as_ref().is_some_and(|boundaries| boundaries.is_blank(&row));
            if row.is_empty() || !blank {
                return String::from_utf8(row).map_err(|_| Error::Changed(self.source.path.clone()));
            }
            self.window.consume(row.len());
        }
    }

    /// The bytes of the record that starts with the first pending byte, with its line end. A long one has its `turn`.
    fn record(&mut self, fields: &Fields, turn: &mut Option<Turn>) -> Result<&[u8]> {
        let mut searched = 0;
        let most = codec(self.source.format).most_bytes(fields.max_record_bytes);
        let length = loop {
            let pending = self.window.pending();
            if let Some(end) = self.boundaries.as_mut().and_then(|found| found.end(&pending[searched..])) {
                break searched + end;
            }
            searched = pending.len() - self.boundaries.as_ref().map_or(0, |found| found.undecided());
            if searched > most.saturating_add(BOM.len()) {
                return self.changed();
            }
            if turn.is_none() && fields.room.is_long(searched) {
                *turn = fields.room.turn()?;
            }
            let is_complete = self.boundaries.as_ref().is_some_and(|found| found.is_complete());
            let more = match self.more() {
                // What cannot be read is behind the record.
                Err(Error::Io { .. }) if is_complete => false,
                more => more?,
            };
            if !more {
                // The end of the file is the end of the record: the next one begins anew.
                self.boundaries = codec(self.source.format).boundaries();
                break self.window.pending().len();
            }
        };
        Ok(&self.window.pending()[..length])
    }
}
