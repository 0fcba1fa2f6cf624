//! An input file as found, and parts of it.

use std::any::Any;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::format::{Compression, Format};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::remote::{ObjectState, ObjectUrl, StopFlag};

/// Largest window that any file may ask for: what `zstd --long=31` writes.
pub(super) const MOST_WINDOW: u64 = 1 << 31;
/// Most bytes that are decompressed ahead of whoever reads a file.
pub(super) const DECODED_AHEAD: usize = sized(6 << 20, 6 << 10);

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Source {
    /// The path as it is opened, or a URL.
    pub path: PathBuf,
    /// The path as it is shown to people: as it was named, or `stdin`.
    pub shown: String,
    /// Where its kept documents go: a relative path, parts joined by `/`, unique among the sources of a run.
    pub name: String,
    /// How documents stand in it.
    pub format: Format,
    /// How it is compressed.
    pub compression: Compression,
    /// Its size on disk.
    pub bytes: u64,
    /// Bytes of the window that decompressing it takes, as its first frame says; 0 where that is little or not known.
    pub window: u64,
    /// Bytes of the largest window that any of its frames may take.
    pub most_window: u64,
    /// Bytes that are decompressed ahead of whoever reads it.
    pub(crate) decoded_ahead: usize,
    /// Whether the file is meant to outlast the run; what was made a file for one run only, as standard input is, is not.
    pub lasting: bool,
    /// Its documents are kept rather than like ones of sources with a greater number.
    pub preference: u32,
    /// Where units may begin, of a file that cannot be cut anywhere.
    pub(crate) cuts: Cuts,
    /// When it was last written to, as far as the system knows.
    pub(crate) modified: Option<SystemTime>,
    /// What is known of it if it is an object, and no file.
    pub(crate) object: Option<ObjectState>,
    /// Where it stands in an archive, if it is a copy of a file there.
    pub(crate) within: Option<ArchivePlace>,
    /// Of an archive the places, ascending, of the files that are sources of their own.
    pub(crate) apart: Vec<u64>,
    /// Whether its records are only held against others, so that none of them is ever written.
    pub(crate) protected: bool,
}

/// Where a file of many records stands in an archive.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ArchivePlace {
    /// The path of the archive as it is opened.
    pub(crate) archive: PathBuf,
    /// Its place there, as records have one.
    pub(crate) place: u64,
    /// Bytes from there to its content, where these stand before it.
    pub(crate) before: u64,
    /// Whether the archive outlasts the run.
    pub(crate) lasting: bool,
}

/// Where units of a file may begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cuts {
    /// The places, ascending.
    pub(crate) places: Vec<u64>,
    /// How many rows there are, if places are rows, and not bytes.
    pub(crate) rows: Option<RowCount>,
    /// The rows, ascending, that are refused whatever stands in the columns that are read.
    pub(crate) undecodable: Vec<UndecodableRows>,
    /// What was read of the file when it was opened.
    #[serde(skip)]
    pub(crate) kept: FromBefore,
}

/// Rows of which some column cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UndecodableRows {
    /// Which.
    pub rows: Range<u64>,
    /// The reason.
    pub why: String,
}

/// Rows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct RowCount {
    /// How many.
    pub(crate) rows: u64,
    /// Bytes that they are, decompressed.
    pub(crate) bytes: u64,
}

/// What a format keeps of a file from unit to unit. It says nothing that the file does not, so any two are equal.
#[derive(Clone, Default)]
pub(crate) struct FromBefore(Arc<Mutex<Option<Arc<dyn Any + Send + Sync>>>>);

impl FromBefore {
    /// What is kept.
    pub(crate) fn get(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps something.
    pub(crate) fn set(&self, what: Arc<dyn Any + Send + Sync>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Forgets it.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl fmt::Debug for FromBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromBefore")
    }
}

impl PartialEq for FromBefore {
    fn eq(&self, _: &FromBefore) -> bool {
        true
    }
}

impl Eq for FromBefore {}

impl Source {
    /// A file of which no more is known than how to read it. It is shown by its path, and has no name among the outputs.
    pub(crate) fn new(path: PathBuf, format: Format, compression: Compression, bytes: u64) -> Source {
        Source {
            shown: path.display().to_string(),
            path,
            name: String::new(),
            format,
            compression,
            bytes,
            window: 0,
            most_window: MOST_WINDOW,
            decoded_ahead: DECODED_AHEAD,
            lasting: true,
            preference: 0,
            cuts: Cuts::default(),
            modified: None,
            object: None,
            within: None,
            apart: Vec::new(),
            protected: false,
        }
    }

    /// A place among the inputs for documents that come from elsewhere: nothing is read of it.
    pub fn place_for(path: &Path) -> Source {
        Source::new(path.to_path_buf(), Format::JsonLines, Compression::None, 0)
    }

    /// Where its last place ends: its size on disk, or its rows if places are rows.
    pub(crate) fn length(&self) -> u64 {
        self.cuts.rows.map_or(self.bytes, |rows| rows.rows)
    }

    /// Whether its texts are read again about as fast as its bytes: lines that are not compressed.
    pub(crate) fn is_read_again_soon(&self) -> bool {
        let of_lines = matches!(self.format, Format::JsonLines | Format::Csv { .. });
        of_lines && self.compression == Compression::None && self.object.is_none()
    }

    /// Refuses some rows, which are ascending, beside those that are refused already; whether any of them was not.
    pub fn refuse_rows(&mut self, rows: Vec<UndecodableRows>) -> bool {
        let known = &mut self.cuts.undecodable;
        let mut is_new = false;
        for UndecodableRows { rows: Range { mut start, end }, why } in rows {
            while start < end {
                let at = known.partition_point(|earlier| earlier.rows.end <= start);
                // What is known keeps its reason.
                start = match known.get(at).map(|earlier| earlier.rows.clone()) {
                    Some(earlier) if earlier.start <= start => earlier.end,
                    next => {
                        let gap = start..next.map_or(end, |next| next.start.min(end));
                        known.insert(at, UndecodableRows { rows: gap.clone(), why: why.clone() });
                        is_new = true;
                        gap.end
                    }
                };
            }
        }
        is_new
    }

    /// The rows that are refused whatever they hold, ascending.
    pub fn undecodable_rows(&self) -> &[UndecodableRows] {
        &self.cuts.undecodable
    }

    /// Refuses all rows that are not refused already; whether there were any.
    pub fn refuse_all_rows(&mut self, why: &str) -> bool {
        let mut from = 0;
        let mut rest = Vec::new();
        let ends = self.cuts.undecodable.iter().map(|refused| (refused.rows.start, refused.rows.end));
        for (start, end) in ends.chain([(self.length(), self.length())]) {
            rest.push(UndecodableRows { rows: from..start, why: why.to_owned() });
            from = end;
        }
        self.refuse_rows(rest)
    }

    /// The rows that are refused whatever they hold, from the one that has `row` on.
    pub(crate) fn refused_from(&self, row: u64) -> Option<&UndecodableRows> {
        let refused = &self.cuts.undecodable;
        refused.get(refused.partition_point(|refused| refused.rows.end <= row))
    }

    /// Why a row is refused whatever it holds, if it is.
    #[cfg(feature = "parquet")]
    pub(crate) fn refusal_of(&self, row: u64) -> Option<String> {
        let refused = self.refused_from(row).filter(|refused| refused.rows.start <= row);
        refused.map(|refused| refused.why.clone())
    }

    /// Where the stretch ends that a row is in, at `end` at the latest: a fault costs what is left of it.
    #[cfg(feature = "parquet")]
    pub(crate) fn stretch_end(&self, row: u64, end: u64) -> u64 {
        let after = self.cuts.places.partition_point(|place| *place <= row);
        let end = self.cuts.places.get(after).copied().unwrap_or(end).min(end);
        let refused = self.refused_from(row).map(|refused| refused.rows.clone());
        refused.map_or(end, |rows| if rows.start > row { rows.start } else { rows.end }.min(end))
    }

    /// Whether all of some rows are refused whatever they hold.
    pub(crate) fn refuses(&self, rows: &Range<u64>) -> bool {
        let mut row = rows.start;
        while let Some(refused) = self.refused_from(row).filter(|refused| refused.rows.start <= row) {
            row = refused.rows.end;
        }
        row >= rows.end
    }

    /// Whether all of its rows are refused whatever they hold, so that nothing of it can be written.
    pub(crate) fn is_refused(&self) -> bool {
        !self.cuts.undecodable.is_empty() && self.refuses(&(0..self.length()))
    }

    /// The stretches of some rows, as units and faults divide them.
    #[cfg(feature = "parquet")]
    pub(crate) fn stretches(&self, rows: &Range<u64>) -> Vec<Range<u64>> {
        let within = self.cuts.places.iter().filter(|place| rows.start < **place && **place < rows.end);
        let mut from = rows.start;
        let ends = within.copied().chain([rows.end]);
        ends.map(|end| std::mem::replace(&mut from, end)..end).filter(|stretch| !stretch.is_empty()).collect()
    }

    /// Whether its places are rows of columns.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.cuts.rows.is_some()
    }

    /// How far a stretch of about so many bytes goes, in places.
    pub(crate) fn places_of(&self, bytes: u64) -> u64 {
        match self.cuts.rows {
            Some(rows) => scaled(bytes, rows.rows, rows.bytes).max(1),
            None => bytes,
        }
    }

    /// About how many bytes a stretch of so many places is when it is read.
    pub(crate) fn bytes_of_places(&self, places: u64) -> u64 {
        self.cuts.rows.map_or(places, |rows| scaled(places, rows.bytes, rows.rows))
    }

    /// The bytes on disk that stand for what is before a place.
    pub(crate) fn bytes_before(&self, place: u64) -> u64 {
        self.cuts.rows.map_or(place, |rows| scaled(place, self.bytes, rows.rows))
    }

    /// The same source under a path that does not depend on where a process runs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn from_anywhere(&self) -> Result<Source> {
        let anywhere = |path: &PathBuf| from_anywhere(path).map_err(|e| Error::io(&self.path, "find", e));
        let mut source = Source { path: anywhere(&self.path)?, ..self.clone() };
        if let Some(within) = &mut source.within {
            within.archive = anywhere(&within.archive)?;
        }
        Ok(source)
    }

    /// The same of several sources.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn all_from_anywhere(sources: &[Source]) -> Result<Vec<Source>> {
        sources.iter().map(Source::from_anywhere).collect()
    }

    /// A file of the same kind that was made of it.
    pub fn written_to(&self, path: PathBuf, bytes: u64) -> Source {
        // What was read of this file says nothing of the other one.
        let cuts = Cuts { kept: FromBefore::default(), ..self.cuts.clone() };
        Source { path, bytes, cuts, object: None, ..self.clone() }
    }

    /// Whether it is an archive of which some files are sources of their own.
    pub fn is_unfolded(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Whether it can be found by its name after the run: a file, or one of an archive that is a file.
    pub fn can_be_found_again(&self) -> bool {
        self.lasting || self.within.as_ref().is_some_and(|within| within.lasting)
    }

    /// The path of the archive that it stands in, if it is a copy of a file there.
    pub fn archive(&self) -> Option<&Path> {
        self.within.as_ref().map(|within| &*within.archive)
    }

    /// Its place in that archive, and bytes from there to its content, where these stand before it.
    pub fn place_in_archive(&self) -> Option<(u64, u64)> {
        self.within.as_ref().map(|within| (within.place, within.before))
    }

    /// Says what stops whoever waits for it, if it is an object.
    pub fn stopped_by(&mut self, stop: &Arc<AtomicBool>) {
        self.object.iter_mut().for_each(|object| object.stop = StopFlag::new(Arc::clone(stop)));
    }

    /// Whether it is an object, and each byte of it comes from elsewhere.
    pub fn is_remote(&self) -> bool {
        self.object.is_some()
    }
}

/// A path that does not depend on where a process runs; a URL is one.
pub(crate) fn from_anywhere(path: &Path) -> io::Result<PathBuf> {
    if ObjectUrl::of(path).is_some() { Ok(path.to_path_buf()) } else { std::path::absolute(path) }
}

/// `number` times `times` by `by`; 0 by nothing.
fn scaled(number: u64, times: u64, by: u64) -> u64 {
    let scaled = u128::from(number) * u128::from(times) / u128::from(by.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A piece of work: a range of places of a file, which are its bytes, or its rows where a record is no stretch of bytes. A
/// record belongs to the unit in which its first byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of the source.
    pub file: u32,
    /// First place.
    pub start: u64,
    /// The place after the last; `u64::MAX` for a compressed file, which is one unit.
    pub end: u64,
}

/// A part of the inputs: from a place of a file on, up to, and without, a place of the same or a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Extent {
    /// Index of the first source, and its first place.
    pub from: (u32, u64),
    /// Index of the last source, and the place after the last.
    pub to: (u32, u64),
}

impl Extent {
    /// All of any inputs.
    pub const ALL: Extent = Extent { from: (0, 0), to: (u32::MAX, 0) };

    /// The places of a source that are in it.
    pub fn of(&self, file: u32, source: &Source) -> Range<u64> {
        let from = if file == self.from.0 { self.from.1 } else { 0 };
        let length = source.length();
        let to = if file == self.to.0 { self.to.1 } else { length };
        if file < self.from.0 || file > self.to.0 { 0..0 } else { from.min(length)..to.min(length) }
    }

    /// The bytes on disk that stand for the part of a source that is in it.
    pub fn bytes_of(&self, file: u32, source: &Source) -> u64 {
        let places = self.of(file, source);
        source.bytes_before(places.end) - source.bytes_before(places.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// An obvious twin: the reason of each row, and the first that is given stays.
        #[test]
        fn rows_that_are_refused_stay_refused(
            all in proptest::collection::vec(proptest::collection::vec((0_u64..40, 0_u64..12), 0..4), 1..6),
        ) {
            let mut source = Source::place_for(Path::new("a"));
            let mut rows: Vec<Option<String>> = vec![None; 100];
            for (round, ranges) in all.iter().enumerate() {
                let mut ranges = ranges.clone();
                ranges.sort_unstable();
                let (mut end, mut refused, mut is_new) = (0, Vec::new(), false);
                for (start, length) in ranges {
                    let start = start.max(end);
                    end = start + length;
                    refused.push(UndecodableRows { rows: start..end, why: round.to_string() });
                    for row in &mut rows[start as usize..end as usize] {
                        is_new |= row.is_none();
                        row.get_or_insert_with(|| round.to_string());
                    }
                }
                proptest::prop_assert_eq!(source.refuse_rows(refused), is_new);
            }
            for (row, why) in rows.iter().enumerate() {
                let found = source.refused_from(row as u64).filter(|refused| refused.rows.contains(&(row as u64)));
                proptest::prop_assert_eq!(found.map(|refused| &refused.why), why.as_ref(), "row {}", row);
            }
        }
    }
}
