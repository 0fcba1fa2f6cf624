//! The directory of an archive: read in windows, and held against the file before anything is made of it.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::end::{ZipEnd, read_range, read_some, too_many};
use super::entry::{ENTRY_BYTES, MemberEntry, RawEntry, entry_length};
use super::numbers::senseless;
use super::unpack::HEADER;
use crate::limits::{MAX_ARCHIVE_MEMBERS, sized};
use crate::read::bytes::InputFile;
use crate::read::format::Compression;
use crate::read::payload::is_package_part;
use crate::read::source::{Cuts, RowCount, Source};

/// Bytes of the directory that are read at once.
const WINDOW: usize = sized(64 << 10, 100);
/// Members from one place to the next at which reading the directory may begin.
const APART: u64 = sized(256, 3);
/// Bytes that are read of members, and bytes on disk, from a place at which units may begin to the next one.
const BLOCK: (u64, u64) = sized((1 << 20, 16 << 10), (1 << 10, 64));
/// Members of an archive whose directory is not read again for each look at it.
const MANY: usize = sized(1 << 12, 4);

/// The entries of a directory, one after the other.
pub(super) struct DirectoryWindow {
    file: Arc<InputFile>,
    bytes: Vec<u8>,
    /// Where in these the next entry begins.
    at: usize,
    /// Where in the file the first byte behind them stands, and where the directory ends.
    read_to: u64,
    end: u64,
}

impl DirectoryWindow {
    /// The entries that stand in a range of a file.
    pub(super) fn new(file: &Arc<InputFile>, range: Range<u64>) -> DirectoryWindow {
        // An object is read at two places then.
        let file = file.again(range.clone()).map_or_else(|| Arc::clone(file), Arc::new);
        DirectoryWindow { file, bytes: Vec::new(), at: 0, read_to: range.start, end: range.end }
    }

    /// Where the next entry stands in the file.
    fn offset(&self) -> u64 {
        self.read_to - (self.bytes.len() - self.at) as u64
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// What the system says; that there is none, where there should be one.
    pub(super) fn next(&mut self) -> io::Result<Option<RawEntry<'_>>> {
        if self.offset() == self.end {
            return Ok(None);
        }
        let place = self.offset();
        let none = || senseless(format!("its directory is damaged at byte {place}"));
        self.hold(ENTRY_BYTES)?;
        let length = entry_length(&self.bytes[self.at..]).ok_or_else(none)?;
        self.hold(length)?;
        let entry = self.bytes.get(self.at..self.at + length).ok_or_else(none)?;
        self.at += length;
        Ok(Some(RawEntry(entry)))
    }

    /// Reads until so many bytes are there, if there are as many.
    fn hold(&mut self, bytes: usize) -> io::Result<()> {
        while self.bytes.len() - self.at < bytes && self.read_to < self.end {
            self.bytes.drain(..self.at);
            self.at = 0;
            let held = self.bytes.len();
            let left = usize::try_from(self.end - self.read_to).unwrap_or(usize::MAX);
            self.bytes.resize(held + left.min(WINDOW), 0);
            let read = read_some(&self.file, &mut self.bytes[held..], self.read_to)?;
            self.bytes.truncate(held + read);
            self.read_to += read as u64;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

/// Where the members of an archive stand.
#[derive(Debug)]
pub(super) struct ZipIndex {
    pub(super) end: ZipEnd,
    /// Where their headers stand in the file, ascending.
    starts: Vec<u64>,
    /// Where in the directory every [`APART`]th entry begins.
    marks: Vec<u64>,
    pub(super) members: u64,
}

impl ZipIndex {
    /// Reads the whole directory of a file; what there is to say of each member is handed to `each`.
    fn read(file: &Arc<InputFile>, bytes: u64, each: &mut dyn FnMut(MemberEntry)) -> io::Result<ZipIndex> {
        let end = ZipEnd::find(file, bytes)?;
        let mut window = DirectoryWindow::new(file, end.directory.clone());
        let (mut starts, mut marks, mut members) = (Vec::new(), Vec::new(), 0_u64);
        loop {
            let place = window.offset();
            let Some(entry) = window.next()? else { break };
            if members % APART == 0 {
                marks.push(place);
            }
            members += 1;
            if members > MAX_ARCHIVE_MEMBERS as u64 {
                return Err(too_many(members));
            }
            let entry = entry.read(end.base);
            starts.extend(entry.start.filter(|start| *start < end.directory.start));
            each(entry);
        }
        let is_said = end.members == members || end.wraps && members % (1 << 16) == end.members;
        if !is_said {
            return Err(senseless(format!(
                "a directory of {members} members, of which its end says {}",
                end.members
            )));
        }
        // Mostly they are in order.
        starts.sort();
        // Where something stands before the archive, only its members can tell that the end does not lie.
        if let Some(first) = starts.first().filter(|_| end.base > 0)
            && read_range(file, *first..first + HEADER.len() as u64)? != HEADER
        {
            return Err(senseless("its members are not where its directory says; bytes of it are missing"));
        }
        Ok(ZipIndex { end, starts, marks, members })
    }

    /// The number, by its place in the file, of the member whose header stands at `start`, and the bytes up to the next one, or
    /// to the directory; `None` if it is not there alone.
    pub(super) fn slot(&self, start: Option<u64>) -> Option<(usize, Range<u64>)> {
        let start = start?;
        let at = self.starts.partition_point(|other| *other < start);
        let end = self.starts.get(at + 1).copied().unwrap_or(self.end.directory.start);
        (self.starts.get(at) == Some(&start) && end > start).then_some((at, start..end))
    }

    /// The same of a number.
    pub(super) fn slot_at(&self, at: usize) -> Range<u64> {
        let end = self.starts.get(at + 1).copied().unwrap_or(self.end.directory.start);
        self.starts.get(at).map_or(0..0, |start| *start..end)
    }

    /// About the bytes of some members: those of them if all stand in the order of the directory.
    pub(super) fn about(&self, members: &Range<u64>) -> Range<u64> {
        let at = |member: u64| usize::try_from(member).unwrap_or(usize::MAX);
        let start = self.slot_at(at(members.start)).start;
        start..self.slot_at(at(members.end.saturating_sub(1))).end.max(start)
    }

    /// How many places there are at which headers stand.
    pub(super) fn slots(&self) -> usize {
        self.starts.len()
    }
}

/// An archive whose directory was read.
pub(super) struct ZipFile {
    pub(super) file: Arc<InputFile>,
    pub(super) index: Arc<ZipIndex>,
}

impl ZipFile {
    /// Opens a source.
    ///
    /// # Errors
    /// What the system says, and what is wrong with the directory.
    pub(super) fn open(source: &Source) -> io::Result<ZipFile> {
        ZipFile::open_and_tell(source, &mut |_| {})
    }

    /// The same; what was read of the directory of a large one stays with the source until somebody forgets it.
    pub(super) fn open_and_keep(source: &Source) -> io::Result<ZipFile> {
        let kept = source.cuts.kept.get().and_then(|kept| kept.downcast::<ZipIndex>().ok());
        if let Some(index) = kept {
            return Ok(ZipFile { file: Arc::new(source.open()?), index });
        }
        let zip = ZipFile::open(source)?;
        if zip.index.starts.len() > MANY {
            source.cuts.kept.set(Arc::clone(&zip.index) as Arc<dyn Any + Send + Sync>);
        }
        Ok(zip)
    }

    fn open_and_tell(source: &Source, each: &mut dyn FnMut(MemberEntry)) -> io::Result<ZipFile> {
        if source.compression != Compression::None {
            return Err(senseless(
                "it is compressed as a whole; decompress it: what is in it stands at its end",
            ));
        }
        let file = Arc::new(source.open()?);
        let index = Arc::new(ZipIndex::read(&file, source.bytes, each)?);
        Ok(ZipFile { file, index })
    }

    /// Where units of a source may begin.
    ///
    /// # Errors
    /// Those of [`ZipFile::open`].
    pub(super) fn cuts(source: &Source) -> io::Result<Cuts> {
        let (mut places, mut row, mut all) = (Vec::new(), 0, 0_u64);
        let (mut bytes, mut packed, mut is_package) = (BLOCK.0, BLOCK.1, false);
        let mut each = |entry: MemberEntry| {
            is_package |= is_package_part(&entry.name);
            if bytes >= BLOCK.0 && packed >= BLOCK.1 {
                places.push(row);
                (bytes, packed) = (0, 0);
            }
            bytes = bytes.saturating_add(entry.weight());
            packed = packed.saturating_add(entry.packed);
            all = all.saturating_add(entry.weight());
            row += 1;
        };
        let zip = ZipFile::open_and_tell(source, &mut each)?;
        if is_package {
            return Err(senseless(
                "it is a package of a document or a program; give its name the usual end, or unpack it, and name its folder",
            ));
        }
        // What members say that they unfold to only decides how much is read at a stretch.
        let all = all.clamp(1, source.bytes.saturating_mul(100));
        Ok(Cuts { places, rows: Some(RowCount { rows: zip.index.members, bytes: all }), ..Cuts::default() })
    }
}

/// The entries of an archive from any member on.
pub(super) struct EntryCursor {
    file: Arc<InputFile>,
    index: Arc<ZipIndex>,
    window: DirectoryWindow,
    /// The number of the next one.
    row: u64,
}

impl EntryCursor {
    /// Before the first member of an archive.
    pub(super) fn new(zip: &ZipFile) -> EntryCursor {
        let window = DirectoryWindow::new(&zip.file, zip.index.end.directory.clone());
        EntryCursor { file: Arc::clone(&zip.file), index: Arc::clone(&zip.index), window, row: 0 }
    }

    /// The entry of a member; `None` if there is none of that number.
    ///
    /// # Errors
    /// Those of [`DirectoryWindow::next`].
    pub(super) fn entry(&mut self, row: u64) -> io::Result<Option<RawEntry<'_>>> {
        let mark = row / APART;
        if row < self.row || mark > self.row / APART {
            let Some(start) = usize::try_from(mark).ok().and_then(|mark| self.index.marks.get(mark)) else {
                return Ok(None);
            };
            self.window = DirectoryWindow::new(&self.file, *start..self.index.end.directory.end);
            self.row = mark * APART;
        }
        while self.row < row {
            self.row += 1;
            if self.window.next()?.is_none() {
                return Ok(None);
            }
        }
        self.row += 1;
        self.window.next()
    }
}
