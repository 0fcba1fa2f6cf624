//! An archive that is written again without some of its members: these go with all their bytes, the others stay as they are or get
//! another content, and the directory is made anew.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use super::super::rewritten::MemberFate;
use super::anew::Anew;
use super::directory::{DirectoryWindow, ZipFile};
use super::end::read_some;
use super::entry::RawEntry;
use super::numbers::senseless;
use crate::error::Error;
use crate::limits::sized;
use crate::printable::printable;
use crate::progress::Progress;
use crate::read::bytes::InputFile;
use crate::read::source::Source;
use crate::read::windowed::carries;

/// Bytes that are copied at once.
const COPIED: usize = sized(256 << 10, 100);
/// The place of a member that goes.
const GOES: u64 = u64::MAX;

/// An archive, opened to be written again.
pub struct ZipSource(ZipFile);

impl ZipSource {
    /// Opens a source.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not what it was when it was found.
    pub fn open(source: &Source) -> Result<ZipSource, Error> {
        ZipFile::open(source).map(ZipSource).map_err(|error| ZipSource::failed(source, error))
    }

    /// What is wrong with a source, for people.
    pub fn failed(source: &Source, error: io::Error) -> Error {
        match carries(&error) {
            true => Error::io(&source.path, "read", error),
            false => {
                let why = printable(&error.to_string()).into_owned();
                Error::input(&source.path, format!("cannot be written without some of its members: {why}"))
            }
        }
    }

    /// Writes the archive: `fate` is asked for each member by its number, in their order, with whether it has no content.
    ///
    /// # Errors
    /// What the system says of either file, and what is wrong with the archive; what `progress` stops for, within it.
    pub fn write(
        &self,
        fate: &mut dyn FnMut(u64, bool) -> MemberFate,
        out: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<()> {
        let ZipFile { file, index } = &self.0;
        let entries = || DirectoryWindow::new(file, index.end.directory.clone());
        let mut places = vec![GOES; index.slots()];
        let mut anew: BTreeMap<usize, Anew> = BTreeMap::new();
        let (mut window, mut row) = (entries(), 0);
        while let Some(raw) = window.next()? {
            let entry = raw.read(index.end.base);
            let fate = fate(row, entry.is_blank());
            // Bytes that are those of two members are no member's.
            if let Some((at, _)) = index.slot(entry.start).filter(|_| fate != MemberFate::Goes) {
                places[at] = 0;
                if let MemberFate::Replaced(content) = fate {
                    anew.insert(at, Anew::new(content, raw));
                }
            }
            row += 1;
        }
        let mut written = 0;
        for (at, place) in places.iter_mut().enumerate().filter(|(_, place)| **place != GOES) {
            *place = written;
            if let Some(anew) = anew.get_mut(&at) {
                written += anew.write(out)?;
                continue;
            }
            let slot = index.slot_at(at);
            written += slot.end - slot.start;
            copy(file, slot, out, progress)?;
        }
        let (mut window, mut members, mut length) = (entries(), 0, 0);
        while let Some(raw) = window.next()? {
            let slot = index.slot(raw.read(index.end.base).start).map(|(at, _)| at);
            let Some(at) = slot.filter(|at| places[*at] != GOES) else { continue };
            let entry = match anew.get(&at) {
                Some(anew) => anew.entry(raw)?,
                None => raw.0.to_vec(),
            };
            let entry =
                RawEntry(&entry).moved(places[at]).ok_or_else(|| senseless("it would be too long"))?;
            out.write_all(&entry)?;
            members += 1;
            length += entry.len() as u64;
        }
        out.write_all(&index.end.anew(written, length, members))
    }
}

/// Copies a range of a file.
fn copy(file: &InputFile, range: Range<u64>, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(COPIED).min(COPIED)];
    let mut at = range.start;
    while at < range.end {
        progress.check().map_err(io::Error::other)?;
        let left = usize::try_from(range.end - at).unwrap_or(COPIED).min(bytes.len());
        let read = read_some(file, &mut bytes[..left], at)?;
        if read == 0 {
            return Err(senseless("it is shorter than it was"));
        }
        out.write_all(&bytes[..read])?;
        at += read as u64;
    }
    Ok(())
}
