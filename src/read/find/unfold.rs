//! Files of many records in an archive made sources: each is copied, and read as if it stood in a folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::names::member_parts;
use super::recognise::{Recognised, recognise};
use crate::error::{Error, Result};
use crate::limits::{MAX_FILES_OF_ARCHIVE, RATIO_FREE_BYTES, sized};
use crate::printable::printable;
use crate::read::codec::{MemberCopy, TakeCopies};
use crate::read::format::{Format, FormatHint};
use crate::read::formats::codec;
use crate::read::head::FoundBy;
use crate::read::source::{ArchivePlace, Source};
use crate::read::windowed::carries;
use crate::remote::ObjectState;

/// Bytes of a copy that are written at once.
const WRITTEN: usize = sized(256 << 10, 64);
/// Most bytes that may be copied for each byte of an archive, once they are more than what is never held against it: texts take
/// a twentieth when they are packed.
const MOST_OF_BYTE: u64 = 200;
/// Most characters that the file of a copy has of the name in the archive: its end says what it is.
const NAME: usize = 80;

/// The files of many records in an archive, as sources; the archive notes where they stand. They are copied to a new folder in
/// `spool`. An object is copied of where what is fetched is kept: as far as there is room, reading it afterwards fetches nothing again.
///
/// # Errors
/// [`Error::Io`] if there is no place for a copy, or the archive cannot be read for a reason that is not its own.
pub(super) fn unfold(archive: &mut Source, spool: &Path, hint: FormatHint) -> Result<Vec<Source>> {
    let is_read_here = !hint.shared && archive.object.as_ref().is_none_or(ObjectState::is_spooled);
    if !is_read_here || !matches!(archive.format, Format::Tar | Format::Zip) {
        return Ok(Vec::new());
    }
    let left = archive.bytes.saturating_mul(MOST_OF_BYTE).max(RATIO_FREE_BYTES);
    let mut copies =
        Copies { archive, spool, hint, folder: None, begun: None, failed: false, left, sources: Vec::new() };
    let copied = codec(copies.archive.format).copy_apart(copies.archive, &mut copies);
    let (place, failed, sources) = (copies.folder.clone(), copies.failed, copies.sources);
    copied.map_err(|error| match failed && !carries(&error) {
        true => Error::io(place.as_deref().unwrap_or(spool), "copy files of an archive to", error),
        false => Error::io(&archive.path, "read", error),
    })?;
    archive.apart = sources.iter().filter_map(|source| Some(source.within.as_ref()?.place)).collect();
    archive.apart.sort_unstable();
    Ok(sources)
}

/// Writes copies, and recognises what they are.
struct Copies<'a> {
    archive: &'a Source,
    spool: &'a Path,
    hint: FormatHint,
    /// Where copies go, once there are any.
    folder: Option<PathBuf>,
    /// The copy that is being written.
    begun: Option<(PathBuf, BufWriter<File>)>,
    /// Whether one could not be written.
    failed: bool,
    /// Bytes that may still be copied.
    left: u64,
    sources: Vec<Source>,
}

impl Copies<'_> {
    /// The folder for the copies of this archive: a new one, as several archives may have files of one name.
    fn folder(&mut self) -> io::Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        fs::create_dir_all(self.spool)?;
        for number in 1.. {
            let folder = self.spool.join(format!("archive-{number}"));
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made?;
                    self.folder = Some(folder.clone());
                    return Ok(folder);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn begin_copy(&mut self, path: &str) -> io::Result<()> {
        let harmless =
            |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
        let name: Vec<char> = path.rsplit('/').next().unwrap_or_default().chars().map(harmless).collect();
        let name: String = name[name.len().saturating_sub(NAME)..].iter().collect();
        let path = self.folder()?.join(format!("{}-{name}", self.sources.len()));
        let file = BufWriter::with_capacity(WRITTEN, File::create(&path)?);
        self.begun = Some((path, file));
        Ok(())
    }

    fn end_copy(&mut self, copy: &MemberCopy) -> io::Result<bool> {
        // None is left of one for which there was no room.
        let Some((path, mut file)) = self.begun.take() else { return Ok(false) };
        file.flush()?;
        drop(file);
        match self.source(path.clone(), copy)? {
            Some(source) => self.sources.push(source),
            None => fs::remove_file(&path)?,
        }
        Ok(self.sources.len() < MAX_FILES_OF_ARCHIVE)
    }

    /// What a copy is, if it is read by itself.
    fn source(&self, path: PathBuf, copy: &MemberCopy) -> io::Result<Option<Source>> {
        // Whoever names the archive says what that is, and not what is in it.
        let hint = FormatHint { format: None, ..self.hint };
        let source = match recognise(&path, None, FoundBy::Walked, hint) {
            Ok(Recognised::Source { source, .. }) => source,
            Ok(_) => return Ok(None),
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            // It stays in the archive, which counts it.
            Err(_) => return Ok(None),
        };
        if matches!(source.format, Format::Tar | Format::Zip) {
            return Ok(None);
        }
        let (archive, place, before) = (self.archive.path.clone(), copy.place, copy.before);
        Ok(Some(Source {
            path,
            shown: format!("{}/{}", self.archive.shown, printable(&copy.path)),
            name: member_parts(&copy.path).join("/"),
            lasting: false,
            within: Some(ArchivePlace { archive, place, before, lasting: self.archive.lasting }),
            ..source
        }))
    }
}

/// What fails here is where copies go, not the archive.
impl TakeCopies for Copies<'_> {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        self.begin_copy(path).inspect_err(|_| self.failed = true)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => {
                self.left = left;
                let written = self.begun.as_mut().map_or(Ok(()), |(_, file)| file.write_all(bytes));
                written.inspect_err(|_| self.failed = true)
            }
            None => {
                self.left = 0;
                self.discard();
                Ok(())
            }
        }
    }

    fn end(&mut self, copy: MemberCopy) -> io::Result<bool> {
        self.end_copy(&copy).inspect_err(|_| self.failed = true)
    }

    fn discard(&mut self) {
        if let Some((path, file)) = self.begun.take() {
            drop(file);
            // What stays goes with its folder.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Source::place_for(Path::new("a.tar"));
        let mut copies = Copies {
            archive: &archive,
            spool: folder.path(),
            hint: FormatHint::default(),
            folder: None,
            begun: None,
            failed: false,
            left: 30,
            sources: Vec::new(),
        };
        let copy = |path: &str| MemberCopy { path: path.to_owned(), place: 0, before: 512 };
        let line = b"{\"text\": \"a\"}\n";
        let mut put = |path: &str, times: usize| {
            copies.begin(path).expect("begun");
            (0..times).for_each(|_| copies.write(line).expect("written"));
            copies.end(copy(path)).expect("ended")
        };
        assert!(put("a/b.jsonl", 1) && !put("c.jsonl", 2));
        let [source] = &copies.sources[..] else { panic!("one source") };
        assert_eq!((&*source.shown, &*source.name, source.lasting), ("a.tar/a/b.jsonl", "a/b.jsonl", false));
        assert_eq!(fs::read(&source.path).expect("a copy"), line);
        let files = fs::read_dir(copies.folder.expect("a folder")).expect("read").count();
        assert_eq!(files, 1);
    }
}
