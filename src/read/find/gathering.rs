//! What is found, in order: files recognised and taken once, with the reasons why others are not.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::DirEntry;

use super::names::{NameWish, parts, unique};
use super::recognise::{Recognised, recognise, shown};
use super::unfold::unfold;
use crate::error::{Error, Result};
use crate::limits::{MAX_FILE_BYTES, MAX_FILES};
use crate::read::format::FormatHint;
use crate::read::head::FoundBy;
use crate::read::rejected::{Rejected, unread};
use crate::read::source::Source;
use crate::read::windowed::carries;

/// Why a file is skipped that is in no known format.
pub const NO_DOCUMENTS: &str = "holds no documents as far as one can see";
/// What the arguments led to.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The files to read, in document order.
    pub sources: Vec<Source>,
    /// By argument, how many of the files were found up to its end.
    pub found_by: Vec<usize>,
    /// Files in folders, or matched by patterns, that are not read, and folders of results; each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// Files and folders that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Files in folders that are of another format than named files are said to have, and are read as what they are.
    pub otherwise: Vec<PathBuf>,
}

impl Discovery {
    /// All that a run refused: files that could not be opened, then `records`.
    pub fn rejected(&self, records: Vec<Rejected>) -> Vec<Rejected> {
        unread(&self.unreadable).into_iter().chain(records).collect()
    }
}

/// A file that was found, and not looked into yet.
pub(super) struct FoundFile {
    path: PathBuf,
    canonical: io::Result<PathBuf>,
    found: FoundBy,
    /// Whether a link led to it.
    by_link: bool,
    /// The last so many parts of its path are its name.
    keep: usize,
}

impl FoundFile {
    /// A file that is called by the last `keep` parts of its path.
    pub(super) fn new(path: &Path, found: FoundBy, keep: usize) -> FoundFile {
        FoundFile { path: path.to_path_buf(), canonical: fs::canonicalize(path), found, by_link: false, keep }
    }

    /// A file in a folder that is walked. `last` is the folder of the one before it, and its canonical path: that need not be found
    /// out for each file of a folder.
    pub(super) fn walked(entry: &DirEntry, last: &mut Option<(PathBuf, PathBuf)>) -> FoundFile {
        let (found, keep) = (FoundBy::Walked, entry.depth());
        let path = entry.path();
        let Some(folder) = path.parent().filter(|_| !entry.path_is_symlink()) else {
            return FoundFile::new(path, found, keep);
        };
        if last.as_ref().is_none_or(|(known, _)| known != folder) {
            *last = fs::canonicalize(folder).ok().map(|canonical| (folder.to_path_buf(), canonical));
        }
        match last {
            Some((_, folder)) => {
                let canonical = Ok(folder.join(entry.file_name()));
                FoundFile { path: path.to_path_buf(), canonical, found, by_link: false, keep }
            }
            None => FoundFile::new(path, found, keep),
        }
    }
}

/// Notes which files of a folder that was walked were found by a link, to them or to a folder.
pub(super) fn note_links(folder: &Path, files: &mut [FoundFile]) {
    let Ok(root) = fs::canonicalize(folder) else { return };
    for file in files {
        let below = file.path.strip_prefix(folder).ok();
        file.by_link =
            !file.canonical.as_ref().is_ok_and(|own| below.is_some_and(|below| *own == root.join(below)));
    }
}

/// What was found so far.
pub(super) struct Gathering {
    /// What is known of inputs beside their names and contents.
    pub(super) hint: FormatHint,
    /// Where files are copied that stand in archives.
    spool: PathBuf,
    /// What was found, without names.
    pub(super) found: Discovery,
    /// How many of what cannot be read are damaged files.
    damaged: usize,
    /// What each source would like to be called.
    wishes: Vec<NameWish>,
    /// Canonical paths of everything reached.
    pub(super) seen: HashSet<PathBuf>,
}

impl Gathering {
    /// Nothing yet.
    pub(super) fn new(hint: FormatHint, spool: &Path) -> Gathering {
        let (found, spool) = (Discovery::default(), spool.to_path_buf());
        Gathering { hint, spool, found, damaged: 0, wishes: Vec::new(), seen: HashSet::new() }
    }

    /// Notes how many sources there are up to the end of an argument.
    pub(super) fn end_of_argument(&mut self) {
        self.found.found_by.push(self.found.sources.len());
    }

    /// What was found, each source with a name that no other has.
    pub(super) fn named(self) -> Discovery {
        let mut found = self.found;
        let (mut names, mut archive) = (unique(self.wishes).into_iter(), String::new());
        let mut of_members: HashSet<String> = HashSet::new();
        for source in &mut found.sources {
            if source.within.is_none() {
                source.name = names.next().unwrap_or_default();
                archive.clone_from(&source.name);
                of_members.clear();
                continue;
            }
            source.name = member_name(&archive, &source.name, &mut of_members);
        }
        found
    }

    /// How many of what was found cannot be read, other than damaged files, and how many are skipped.
    pub(super) fn unusable(&self) -> (usize, usize) {
        (self.found.unreadable.len() - self.damaged, self.found.skipped.len())
    }

    /// Refuses what was named if it is now among what is [`unusable`](Gathering::unusable), of which there was so much before. A
    /// damaged file is counted, as one that a pattern matches: a shell may have put its name in the place of a pattern.
    pub(super) fn refuse_named(&self, path: &Path, (unreadable, skipped): (usize, usize)) -> Result<()> {
        let is_unreadable = self.unusable().0 > unreadable;
        if let Some((_, why)) = self.found.unreadable.last().filter(|_| is_unreadable) {
            return Err(Error::input(path, format!("cannot be read ({why}); mend it, or leave it out")));
        }
        match self.found.skipped.get(skipped) {
            Some((_, why)) if why != NO_DOCUMENTS => Err(Error::input(path, why)),
            Some(_) => Err(Error::input(
                path,
                "not recognised: no format that is read, and not UTF-8 text; convert it, as iconv does with text, or leave it out",
            )),
            None => Ok(()),
        }
    }

    /// Takes files; how many of them hold documents or cannot be read. One that is found by a link, and without one, has its own name,
    /// unless that says that it is none that is read.
    ///
    /// Nothing that stays is put into memory while they are recognised: it would lie among the buffers of their decoders, and keep
    /// each from being used for the next file. Of 30,000 files that came to 0.8 GB.
    pub(super) fn files(&mut self, files: Vec<FoundFile>) -> Result<usize> {
        let mut recognised = Vec::with_capacity(files.len());
        for file in &files {
            recognised.push(self.look_at(file).map(|known| known.map(Recognised::without_names)));
        }
        if files.iter().any(|file| file.by_link) {
            let is_read = |known: &io::Result<_>| matches!(known, Ok(Some(Recognised::Source { .. })));
            let own = files.iter().zip(&recognised).filter(|(file, known)| !file.by_link && is_read(known));
            let own: HashSet<PathBuf> =
                own.filter_map(|(file, _)| file.canonical.as_ref().ok().cloned()).collect();
            for (file, known) in files.iter().zip(&mut recognised).filter(|(file, _)| file.by_link) {
                if file.canonical.as_ref().is_ok_and(|canonical| own.contains(canonical)) {
                    *known = Ok(None);
                }
            }
        }
        let mut useful = 0;
        for (file, recognised) in files.into_iter().zip(recognised) {
            useful += usize::from(self.file(file, recognised)?);
        }
        Ok(useful)
    }

    /// What a file is, unless it was taken before.
    fn look_at(&self, file: &FoundFile) -> io::Result<Option<Recognised>> {
        match &file.canonical {
            Ok(canonical) if self.seen.contains(canonical) => Ok(None),
            Ok(_) => recognise(&file.path, None, file.found, self.hint).map(Some),
            // Told as it is where the file is taken.
            Err(_) => Ok(None),
        }
    }

    /// Notes what cannot be read.
    pub(super) fn unreadable(&mut self, path: PathBuf, error: &io::Error) {
        self.damaged += usize::from(file_is_damaged(error));
        self.found.unreadable.push((path, error.to_string()));
    }

    /// Takes one file, unless it was taken before, or notes why it is skipped; whether it is of use: holds documents, or
    /// cannot be read.
    fn file(&mut self, file: FoundFile, recognised: io::Result<Option<Recognised>>) -> Result<bool> {
        let FoundFile { path, canonical, keep, .. } = file;
        let path = &*path;
        let recognised = canonical.and_then(|canonical| {
            let new = !self.seen.contains(&canonical);
            Ok((canonical, recognised?.filter(|_| new)))
        });
        let mut skip = |why: String| {
            self.found.skipped.push((path.to_path_buf(), why));
            Ok(false)
        };
        match recognised {
            Ok((_, None)) => Ok(true),
            Ok((_, Some(Recognised::Nothing))) => skip(NO_DOCUMENTS.to_owned()),
            Ok((_, Some(Recognised::Foreign(foreign)))) => skip(foreign.reason()),
            Ok((canonical, Some(Recognised::Source { source, differs }))) => {
                let source = Source { path: path.to_path_buf(), shown: shown(path), ..source };
                self.seen.insert(canonical);
                if differs {
                    self.found.otherwise.push(path.to_path_buf());
                }
                let parts = parts(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
                self.add(source, NameWish { parts, keep })?;
                Ok(true)
            }
            Err(error) => {
                self.unreadable(path.to_path_buf(), &error);
                Ok(true)
            }
        }
    }

    /// Takes a source, and those that an archive is unfolded to.
    pub(super) fn add(&mut self, mut source: Source, wish: NameWish) -> Result<()> {
        let members = unfold(&mut source, &self.spool, self.hint)?;
        self.wishes.push(wish);
        self.take(source)?;
        members.into_iter().try_for_each(|member| self.take(member))
    }

    fn take(&mut self, source: Source) -> Result<()> {
        if source.bytes > MAX_FILE_BYTES {
            let path = source.path.display();
            return Err(Error::Limit(format!(
                "{path}: larger than the {MAX_FILE_BYTES} bytes allowed of a file; split it"
            )));
        }
        if self.found.sources.len() >= MAX_FILES {
            return Err(Error::Limit(format!("more than {MAX_FILES} input files; join some of them")));
        }
        self.found.sources.push(source);
        Ok(())
    }
}

/// Whether a file cannot be read for what it holds, and not for the system, the memory allowed, or what is between.
pub(super) fn file_is_damaged(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() != io::ErrorKind::OutOfMemory && !carries(error)
}

/// A name for what is written of a file in an archive: where it stands there, with a number if another one has that name, or is a
/// folder in it.
fn member_name(archive: &str, member: &str, taken: &mut HashSet<String>) -> String {
    let member = if member.is_empty() { "file" } else { member };
    let folders =
        |name: &str| name.match_indices('/').map(|(end, _)| name[..end].to_owned()).collect::<Vec<_>>();
    let mut name = member.to_owned();
    // A name is taken by a file, and by what stands in a folder of that name, which has a slash behind it.
    let clashes = |name: &str, taken: &HashSet<String>| {
        taken.contains(name)
            || taken.contains(&format!("{name}/"))
            || folders(name).iter().any(|folder| taken.contains(folder))
    };
    for number in 2.. {
        if !clashes(&name, taken) {
            break;
        }
        name = format!("{number}/{member}");
    }
    taken.extend(folders(&name).into_iter().map(|folder| format!("{folder}/")));
    taken.insert(name.clone());
    format!("{archive}/{name}")
}
