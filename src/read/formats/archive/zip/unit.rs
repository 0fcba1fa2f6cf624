//! The members of a unit.

use std::io;
use std::sync::Arc;

use super::super::member::{MemberFormats, MemberParser};
use super::contents::{MemberContents, MemberFault};
use super::directory::{EntryCursor, ZipFile};
use super::entry::{ENTRY_BYTES, MemberEntry};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::printable::printable;
use crate::read::codec::Records;
use crate::read::field::Fields;
use crate::read::record::{Refusal, Sink};
use crate::read::source::{Source, Unit};
use crate::read::windowed::carries;

/// Bytes of members that are read in one step.
const STEP: u64 = sized(1 << 20, 1 << 10);

/// The members of a unit, read step by step.
pub(super) struct ZipUnit {
    file: u32,
    source: Source,
    unit: Unit,
    fields: Arc<Fields>,
    formats: MemberFormats,
    parser: MemberParser,
    /// Opened by the first `advance`.
    opened: Option<OpenArchive>,
    /// The next member.
    row: u64,
    end: u64,
    count: u32,
    text_bytes: u64,
}

/// An archive that members are read of.
struct OpenArchive {
    base: u64,
    cursor: EntryCursor,
    contents: MemberContents,
}

impl OpenArchive {
    /// What the directory says of a member.
    fn entry(&mut self, row: u64) -> io::Result<MemberEntry> {
        let entry = self.cursor.entry(row)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(entry.read(self.base))
    }
}

impl ZipUnit {
    pub(super) fn new(
        file: u32,
        source: &Source,
        unit: &Unit,
        fields: Arc<Fields>,
        formats: MemberFormats,
    ) -> ZipUnit {
        ZipUnit {
            file,
            source: source.clone(),
            unit: *unit,
            parser: MemberParser::new(formats, &fields).of_archive(&source.name),
            fields,
            formats,
            opened: None,
            row: unit.start,
            end: unit.end.min(source.length()),
            count: 0,
            text_bytes: 0,
        }
    }

    fn position(&self, row: u64) -> Position {
        Position::new(self.file, row)
    }

    /// Goes on at a member.
    fn pass(&mut self, row: u64) {
        self.count = self.count.saturating_add(u32::try_from(row - self.row).unwrap_or(u32::MAX));
        self.row = row;
    }

    /// Opens the archive; whether it can be read. What is wrong with it is refused once, with its first member.
    fn open(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.opened.is_some() {
            return Ok(true);
        }
        match ZipFile::open_and_keep(&self.source) {
            Ok(zip) => {
                let (base, cursor) = (zip.index.end.base, EntryCursor::new(&zip));
                let contents = MemberContents::new(&zip, Some(self.row..self.end), self.formats);
                self.opened = Some(OpenArchive { base, cursor, contents });
                Ok(true)
            }
            Err(error) => {
                let error = no_damage(&self.source, error)?;
                if self.unit.start == 0 {
                    let refusal = Refusal::Unreadable(printable(&error.to_string()).into_owned());
                    sink.refuse(self.position(0), 1, refusal);
                }
                self.pass(self.end);
                Ok(false)
            }
        }
    }

    /// Hands on the next member; about how many bytes that took.
    fn hand_on(&mut self, open: &mut OpenArchive, sink: &mut dyn Sink) -> Result<u64> {
        let (row, number) = (self.row, self.count.saturating_add(1));
        let position = self.position(row);
        let entry = match open.entry(row) {
            Ok(entry) => entry,
            Err(error) => {
                let why = printable(&no_damage(&self.source, error)?.to_string()).into_owned();
                sink.refuse(position, number, Refusal::Rows { rows: self.end - row, why });
                self.pass(self.end);
                return Ok(0);
            }
        };
        self.pass(row + 1);
        let outcome = match open.contents.member(&entry, &self.fields) {
            Ok(None) => return Ok(ENTRY_BYTES as u64),
            Ok(Some(member)) => {
                self.text_bytes += member.content.len() as u64;
                self.parser.record(position, number, member)
            }
            Err(MemberFault::Refused(refusal)) => Err(refusal),
            Err(MemberFault::NoRoom) => Err(Refusal::NoRoom(self.fields.room.refusal(entry.unpacked))),
            Err(MemberFault::System(error)) => {
                let error = no_damage(&self.source, error)?.to_string();
                Err(Refusal::Malformed(format!("it cannot be read: {}", printable(&error))))
            }
            Err(MemberFault::Stopped(error)) => return Err(error),
        };
        match outcome {
            Ok(record) => sink.document(&record),
            Err(refusal) => sink.refuse(position, number, refusal),
        }
        if open.contents.rest() {
            self.parser.rest();
        }
        Ok(entry.weight().max(ENTRY_BYTES as u64))
    }
}

/// An error that is a fault of an archive. One of what is between ends the run.
///
/// # Errors
/// The other.
pub(super) fn no_damage(source: &Source, error: io::Error) -> Result<io::Error> {
    if carries(&error) { Err(Error::io(&source.path, "read", error)) } else { Ok(error) }
}

impl Records for ZipUnit {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.row < self.end && self.open(sink)? {
            let (mut open, mut bytes) = (self.opened.take(), 0);
            while let Some(open) = open.as_mut().filter(|_| self.row < self.end && bytes < STEP) {
                bytes += self.hand_on(open, sink)?;
            }
            self.opened = open;
        }
        if self.row < self.end {
            return Ok(true);
        }
        self.opened = None;
        if self.end == self.source.length() {
            self.source.cuts.kept.forget();
        }
        Ok(false)
    }

    fn lines(&self) -> u64 {
        u64::from(self.count)
    }

    fn bytes(&self) -> u64 {
        let of = |row: u64| self.source.bytes_before(row);
        of(self.row) - of(self.unit.start)
    }

    fn text_bytes(&self) -> u64 {
        self.text_bytes
    }
}
