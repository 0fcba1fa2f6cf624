//! Copies of the members that hold records of their own.

use std::io;

use super::super::member::MemberFormats;
use super::ends::shown_path;
use super::scan::{MemberScan, TarFound};
use crate::limits::sized;
use crate::read::BLOCK;
use crate::read::bytes::Window;
use crate::read::codec::{MemberCopy, TakeCopies};
use crate::read::format::Compression;
use crate::read::head::wanted;
use crate::read::source::Source;
use crate::read::stretches::fault;
use crate::read::windowed::carries;

/// Bytes of a compressed archive that are looked through for such members, if there are none in them: all would be decompressed
/// twice.
const LOOKED: u64 = sized(64 << 20, 1 << 20);

/// What is known of the present member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberState {
    /// Nothing yet.
    Unknown,
    /// It is copied; so many bytes of its content were.
    Copied(u64),
    /// It is none to be copied.
    Passed,
}

/// Members as an archive passes by.
struct CopyScan<'a> {
    formats: MemberFormats,
    scan: MemberScan,
    state: MemberState,
    /// Where the record of the member began, and bytes of it that have passed by.
    start: u64,
    passed: u64,
    /// Whether any was copied, or begun.
    any: bool,
    into: &'a mut dyn TakeCopies,
}

/// Copies members of an archive. What stands behind damage is passed over: reading refuses it in its place.
pub(super) fn copy(formats: MemberFormats, source: &Source, into: &mut dyn TakeCopies) -> io::Result<()> {
    let (scan, state) = (MemberScan::new(true), MemberState::Unknown);
    let mut members = CopyScan { formats, scan, state, start: 0, passed: 0, any: false, into };
    let is_packed = source.compression != Compression::None;
    let mut window = Window::open(source, 0)?;
    loop {
        let read = match window.more(BLOCK).map_err(fault) {
            Ok(read) => read,
            Err(error) if carries(&error) => return Err(error),
            Err(_) => 0,
        };
        while let Some(end) = members.scan.end(window.pending()) {
            members.pass(&window.pending()[..end])?;
            if !members.end()? {
                return Ok(());
            }
            window.consume(end);
            (members.start, members.passed) = (window.offset(), 0);
        }
        let held = window.pending().len() - members.scan.undecided;
        members.pass(&window.pending()[..held])?;
        window.consume(held);
        if read == 0 || is_packed && !members.any && window.offset() > LOOKED {
            members.drop_begun();
            return Ok(());
        }
    }
}

impl CopyScan<'_> {
    /// Takes the next bytes of the record, which the scan has seen.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let from = self.passed;
        self.passed += bytes.len() as u64;
        self.decide()?;
        let MemberState::Copied(copied) = self.state else { return Ok(()) };
        let place = &self.scan.place;
        let (start, end) = ((place.start + copied).max(from), place.end.min(self.passed));
        if start < end {
            let at = |place: u64| usize::try_from(place - from).unwrap_or(usize::MAX);
            self.into.write(&bytes[at(start)..at(end)])?;
            self.state = MemberState::Copied(copied + end - start);
        }
        Ok(())
    }

    /// Finds out what the member is, once enough of it was seen.
    fn decide(&mut self) -> io::Result<()> {
        let MemberScan { head, place, found, path, .. } = &self.scan;
        let whole = place.end - place.start == head.len() as u64;
        let is_known = *found == Some(TarFound::File) && (whole || wanted(head) == 0);
        if self.state != MemberState::Unknown || !is_known {
            return Ok(());
        }
        let path = shown_path(path);
        self.state = MemberState::Passed;
        // A length that is said before the header would have to be said anew.
        if !self.scan.is_size_said() && self.formats.is_apart(&path, head, whole) {
            self.any = true;
            self.into.begin(&path)?;
            self.into.write(head)?;
            self.state = MemberState::Copied(head.len() as u64);
        }
        Ok(())
    }

    /// The record has ended; whether more may be copied.
    fn end(&mut self) -> io::Result<bool> {
        let state = std::mem::replace(&mut self.state, MemberState::Unknown);
        let place = &self.scan.place;
        match state {
            MemberState::Copied(copied) if copied == place.end - place.start => {
                let path = shown_path(&self.scan.path).into_owned();
                self.into.end(MemberCopy { path, place: self.start, before: place.start })
            }
            MemberState::Copied(_) => {
                self.into.discard();
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    /// Nothing more follows.
    fn drop_begun(&mut self) {
        if matches!(self.state, MemberState::Copied(_)) {
            self.into.discard();
        }
    }
}
