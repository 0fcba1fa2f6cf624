//! Copies of the members that hold records of their own.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use flate2::Crc;

use super::super::member::MemberFormats;
use super::directory::{DirectoryWindow, ZipFile};
use super::entry::MemberEntry;
use super::unpack::{MemberDamage, MemberReader, Unpacking, not_unpacked};
use crate::limits::sized;
use crate::read::codec::{MemberCopy, TakeCopies};
use crate::read::head::wanted;
use crate::read::source::Source;
use crate::read::windowed::carries;

/// Bytes that are unpacked at once.
const COPIED: u64 = sized(256 << 10, 100);

/// Copies members of an archive. Damage is passed over: reading refuses it in its place.
pub(super) fn copy(formats: MemberFormats, source: &Source, into: &mut dyn TakeCopies) -> io::Result<()> {
    let Some(zip) = unless_damaged(ZipFile::open_and_keep(source))? else { return Ok(()) };
    // Of an object all is fetched that stands before the directory: reading needs it afterwards.
    let file = Arc::new(source.open()?.expect(0..zip.index.end.directory.start));
    let mut reader = MemberReader::new(&file);
    let mut window = DirectoryWindow::new(&zip.file, zip.index.end.directory.clone());
    let (mut row, mut content) = (0, Vec::new());
    while let Some(entry) = unless_damaged(window.next())?.flatten() {
        let entry = entry.read(zip.index.end.base);
        if is_copied(formats, &zip, &entry, &mut reader, (&mut content, into))? {
            let copy = MemberCopy { path: entry.path().into_owned(), place: row, before: 0 };
            if !into.end(copy)? {
                break;
            }
        }
        row += 1;
    }
    Ok(())
}

/// Copies a member, if it is one that is; whether it was copied whole.
fn is_copied(
    formats: MemberFormats,
    zip: &ZipFile,
    entry: &MemberEntry,
    reader: &mut MemberReader,
    (content, into): (&mut Vec<u8>, &mut dyn TakeCopies),
) -> io::Result<bool> {
    let fits = entry.packed.max(entry.unpacked) < u64::from(u32::MAX);
    let is_file = fits && !entry.is_blank() && not_unpacked(entry).is_none();
    let Some((_, slot)) = zip.index.slot(entry.start).filter(|_| is_file) else { return Ok(false) };
    let Some(mut unpacking) = begun(reader, entry, slot, content)? else { return Ok(false) };
    let path = entry.path();
    if !formats.is_apart(&path, content, unpacking.is_over) {
        return Ok(false);
    }
    into.begin(&path)?;
    let mut sum = Crc::new();
    loop {
        sum.update(content);
        into.write(content)?;
        content.clear();
        if unpacking.is_over {
            break;
        }
        if unless_damaged(reader.more(&mut unpacking, content, COPIED))?.is_none() {
            into.discard();
            return Ok(false);
        }
    }
    let is_whole = unpacking.is_all() && sum.sum() == entry.sum;
    if !is_whole {
        into.discard();
    }
    Ok(is_whole)
}

/// Unpacks as much of a member as shows what it is; nothing of a damaged one.
fn begun(
    reader: &mut MemberReader,
    entry: &MemberEntry,
    slot: Range<u64>,
    content: &mut Vec<u8>,
) -> io::Result<Option<Unpacking>> {
    content.clear();
    let Some(mut unpacking) = unless_damaged(reader.begin(entry, slot))? else { return Ok(None) };
    while !unpacking.is_over {
        match wanted(content) {
            0 => break,
            more if unless_damaged(reader.more(&mut unpacking, content, more as u64))?.is_none() => {
                return Ok(None);
            }
            _ => {}
        }
    }
    Ok(Some(unpacking))
}

/// What was read, or nothing of what is damaged.
///
/// # Errors
/// That of what is between, which says nothing of the archive.
fn unless_damaged<T>(read: Result<T, impl Into<MemberDamage>>) -> io::Result<Option<T>> {
    match read.map_err(Into::into) {
        Ok(read) => Ok(Some(read)),
        Err(MemberDamage::System(error)) if carries(&error) => Err(error),
        Err(_) => Ok(None),
    }
}
