//! Archives that hold files of many records: these are written like any others, and then put in the place of what they were.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::archive::write_archive;
use super::metered::Metered;
use super::packer::Packer;
use crate::error::{Error, Result};
use crate::output::chosen::{Chosen, Side};
use crate::progress::Progress;
use crate::read::{Format, MemberFate, NewContent, Source, file_end, is_one_record, rewrite_tar};

/// Which sources stand in which archives among them.
pub(super) struct Nesting {
    /// For each source the archive that it stands in.
    home: Vec<Option<usize>>,
    /// For each source that is an archive the sources that stand in it.
    members: BTreeMap<usize, Vec<usize>>,
}

impl Nesting {
    pub(super) fn of(sources: &[Source]) -> Nesting {
        let unfolded = sources.iter().enumerate().filter(|(_, source)| source.is_unfolded());
        let archives: HashMap<&Path, usize> = unfolded.map(|(at, source)| (&*source.path, at)).collect();
        let archive = |source: &Source| archives.get(source.archive()?).copied();
        let home: Vec<Option<usize>> = sources.iter().map(archive).collect();
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, archive) in home.iter().enumerate() {
            if let Some(archive) = archive {
                members.entry(*archive).or_default().push(at);
            }
        }
        Nesting { home, members }
    }

    /// Whether a source stands in an archive that is written.
    pub(super) fn is_inside(&self, source: usize) -> bool {
        self.home[source].is_some()
    }

    /// The sources that stand in one.
    fn members(&self, source: usize) -> &[usize] {
        self.members.get(&source).map_or(&[], Vec::as_slice)
    }

    /// What is removed, with the members that go, or are all that goes, as a whole: files of one record, and those that are refused.
    pub(super) fn with_whole_members<'a>(
        &self,
        sources: &[Source],
        chosen: Chosen<'a>,
    ) -> Cow<'a, [Vec<u64>]> {
        let mut removed = Cow::Borrowed(chosen.removed);
        for (archive, members) in &self.members {
            let goes = |member: &&usize| {
                let is_written = leaves_file(sources, chosen, **member);
                let source = &sources[**member];
                let is_whole = is_one_record(source.format) || source.is_refused();
                is_whole && is_written == (chosen.side == Side::Removed)
            };
            let places = members.iter().filter(goes).filter_map(|at| sources[*at].place_in_archive());
            let places: Vec<u64> = places.map(|(place, _)| place).collect();
            if !places.is_empty() {
                let all = &mut removed.to_mut()[*archive];
                all.extend(places);
                all.sort_unstable();
            }
        }
        removed
    }
}

/// Whether a source leaves a file by itself: of what is kept, unless it is one record, which goes, or is refused as a whole.
fn leaves_file(sources: &[Source], chosen: Chosen<'_>, source: usize) -> bool {
    if sources[source].is_refused() {
        return false;
    }
    let loses = !chosen.removed[source].is_empty();
    let one = is_one_record(sources[source].format);
    match chosen.side {
        Side::Kept | Side::Annotated => !one || !loses && chosen.ends[source].is_none(),
        Side::Removed => loses && (!one || chosen.ends[source].is_none()),
    }
}

/// Archives that are put together.
#[derive(Clone, Copy)]
pub(super) struct NestedArchives<'a> {
    pub(super) folder: &'a Path,
    pub(super) sources: &'a [Source],
    pub(super) nesting: &'a Nesting,
    pub(super) chosen: Chosen<'a>,
    pub(super) progress: &'a Progress,
}

impl NestedArchives<'_> {
    /// The folder where what stands in archives is written first.
    fn parts(&self) -> PathBuf {
        self.folder.with_file_name(".files-of-archives")
    }

    /// Where a source is written. Nobody sees what a part of an archive is called, and its own name may be too long for a file.
    pub(super) fn target(&self, source: usize) -> PathBuf {
        match self.nesting.is_inside(source) {
            true => self.parts().join(source.to_string()),
            false => self.folder.join(&self.sources[source].name),
        }
    }

    /// Whether a source in an archive is written anew: it loses something, and does not go as a whole.
    fn is_part(&self, source: usize) -> bool {
        let loses = !self.chosen.removed[source].is_empty() || self.chosen.ends[source].is_some();
        loses
            && self.nesting.is_inside(source)
            && !is_one_record(self.sources[source].format)
            && leaves_file(self.sources, self.chosen, source)
    }

    /// Whether an archive is put together of what it was and of files that were written anew.
    pub(super) fn is_composed(&self, source: usize) -> bool {
        self.nesting.members(source).iter().any(|member| self.is_part(*member))
    }

    /// Puts an archive together; returns the bytes written.
    pub(super) fn compose(&self, source: usize) -> Result<u64> {
        let (of, target) = (&self.sources[source], self.target(source));
        let Chosen { side, removed, ends } = self.chosen;
        let removed = &*removed[source];
        let parts = self.nesting.members(source).iter().filter(|member| self.is_part(**member));
        let content = |member: &usize| {
            let (place, before) = self.sources[*member].place_in_archive()?;
            Some((place, NewContent { path: self.target(*member), before }))
        };
        let parts: BTreeMap<u64, NewContent> = parts.filter_map(content).collect();
        let mut fate = |place: u64, is_blank: bool| match (parts.get(&place), side) {
            (Some(content), _) => MemberFate::Replaced(content.clone()),
            (None, Side::Removed) if is_blank || removed.binary_search(&place).is_err() => MemberFate::Goes,
            (None, Side::Kept | Side::Annotated) if !is_blank && removed.binary_search(&place).is_ok() => {
                MemberFate::Goes
            }
            _ => MemberFate::Stays,
        };
        of.unchanged()?;
        let bytes = match of.format {
            Format::Zip => {
                self.progress.advance(of.bytes);
                write_archive(of, &mut fate, &target, self.progress)?
            }
            _ => self.compose_tar(source, ends[source], &mut |place| fate(place, false))?,
        };
        of.unchanged()?;
        Ok(bytes)
    }

    /// Whether a source leaves a file, in its place or to be put into an archive.
    pub(super) fn is_written(&self, source: usize) -> bool {
        match self.nesting.is_inside(source) {
            true => self.is_part(source),
            false => {
                leaves_file(self.sources, self.chosen, source)
                    || self.chosen.side == Side::Removed && self.is_composed(source)
            }
        }
    }

    fn compose_tar(
        &self,
        source: usize,
        end: Option<u64>,
        fate: &mut dyn FnMut(u64) -> MemberFate,
    ) -> Result<u64> {
        let (of, target) = (&self.sources[source], self.target(source));
        let output = File::create_new(&target).map_err(|error| Error::io(&target, "create", error))?;
        let mut metered =
            Metered { output, written: 0, left: of.bytes, progress: self.progress, failed: false };
        let mut rewrite = || -> io::Result<()> {
            let mut packer = Packer::new(of.format, of.compression, &mut metered)?;
            rewrite_tar(of, end, fate, &mut packer, self.progress)?;
            if self.chosen.side == Side::Removed {
                packer.write_all(file_end(of.format))?;
            }
            packer.finish().map(|_| ())
        };
        let rewritten = rewrite();
        rewritten.map_err(|error| match metered.failed {
            true => Error::io(&target, "write", error),
            false => Error::io(&of.path, "read", error),
        })?;
        self.progress.advance(metered.left);
        Ok(metered.written)
    }

    /// Removes what was written of files in archives, once these are there.
    pub(super) fn remove_parts(&self) -> Result<()> {
        let parts = self.parts();
        match fs::remove_dir_all(&parts) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(&parts, "remove", error)),
            _ => Ok(()),
        }
    }
}
