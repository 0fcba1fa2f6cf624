//! Inputs cut into units, and reading a unit: its records, one after the other, to a sink.

use std::sync::Arc;

use super::bytes::{LineStream, most_words};
use super::codec::{LineReader, Records};
use super::field::Fields;
use super::format::Compression;
use super::formats::codec;
use super::record::{Record, Refusal, Sink};
use super::source::{Extent, Source, Unit};
use crate::document::Position;
use crate::error::Result;
use crate::limits::{FREE_WORDS, sized};
use crate::text::{Fold, PlacedWords};

/// Least bytes of a unit of an object: the end of its last record costs a request more.
const OF_OBJECT: u64 = sized(16 << 20, 1 << 10);
/// How much larger a compressed file is taken to be when it is decompressed.
const EXPANDS: u64 = 6;

impl Extent {
    /// What comes next from `from` on, of about `bytes` when decompressed. Lines may be divided anywhere: each
    /// belongs to where its first byte is. Files that can only be read whole are not divided.
    pub fn next(sources: &[Source], from: (u32, u64), bytes: u64) -> Extent {
        let (mut at, mut left) = (from, bytes.max(1));
        while let Some(source) = sources.get(at.0 as usize) {
            let rest = source.bytes_of_places(source.length().saturating_sub(at.1));
            let weight =
                if source.compression == Compression::None { rest } else { rest.saturating_mul(EXPANDS) };
            if source.compression == Compression::None && rest > left {
                let end = codec(source.format).unit_start(source, at.1 + source.places_of(left));
                if end < source.length() {
                    return Extent { from, to: (at.0, end) };
                }
            }
            if weight > left && at != from {
                break;
            }
            (at, left) = ((at.0 + 1, 0), left.saturating_sub(weight));
            if left == 0 {
                break;
            }
        }
        Extent { from, to: at }
    }
}

/// Cuts the part `extent` of sources into units of about `target_bytes`, in document order. Empty files have none.
pub fn units(sources: &[Source], extent: Extent, target_bytes: u64) -> Vec<Unit> {
    let mut units = Vec::new();
    for (file, source) in (0u32..).zip(sources) {
        let part = extent.of(file, source);
        if part.is_empty() {
            continue;
        }
        if source.compression != Compression::None {
            units.push(Unit { file, start: 0, end: u64::MAX });
            continue;
        }
        let codec = codec(source.format);
        // Equal pieces rather than full ones and a rest: the last worker to finish finishes sooner.
        let places = part.end - part.start;
        let bytes = target_bytes.max(if source.is_remote() { OF_OBJECT } else { 1 });
        let target = source.places_of(bytes.saturating_mul(codec.unit_factor()));
        let size = places.div_ceil(places.div_ceil(target));
        let mut start = part.start;
        while start < part.end {
            let end = codec.unit_start(source, part.end.min(start + size)).min(part.end);
            units.push(Unit { file, start, end });
            start = end;
        }
    }
    units
}

/// Whether a unit of a source may begin at any byte, and costs little: lines that are at hand.
pub(crate) fn begins_anywhere(source: &Source) -> bool {
    let may = source.compression == Compression::None && !source.is_remote();
    may && codec(source.format).unit_start(source, 1) == 1
}

/// What is asked of records beyond what their reader knows.
#[derive(Clone, Copy)]
struct Bounds {
    most_bytes: usize,
    /// Whether ids have no line break: those that may be written.
    line_ids: bool,
}

impl Bounds {
    fn of(source: &Source, fields: &Fields) -> Bounds {
        Bounds { most_bytes: fields.max_record_bytes, line_ids: fields.line_ids && !source.protected }
    }
}

/// Refuses what is no longer than a record may be, but whose text is, or has too many words; and ids that have no place in a list.
struct Bounded<'a> {
    sink: &'a mut dyn Sink,
    bounds: Bounds,
}

impl Bounded<'_> {
    fn refusal(&self, record: &Record<'_>) -> Option<Refusal> {
        let Bounds { most_bytes, line_ids } = self.bounds;
        if line_ids && record.id.as_ref().is_some_and(|id| id.contains(['\n', '\r'])) {
            return Some(Refusal::LineBreakInId);
        }
        too_much(record.text, most_bytes)
    }
}

/// Refuses a text of more bytes or words than a record may have.
fn too_much(text: &str, most_bytes: usize) -> Option<Refusal> {
    // What little is unpacked to costs nothing worth a refusal.
    if text.len() > most_bytes.max(FREE_WORDS) {
        return Some(Refusal::TooLong { limit: most_bytes });
    }
    let limit = most_words(most_bytes);
    // No three bytes are more than four words: one character may be folded to several.
    if text.len() <= limit - limit / 4 {
        return None;
    }
    let mut words = 0;
    PlacedWords::new(Fold::default()).each(text, |_, _| words += 1);
    (words > limit).then_some(Refusal::TooManyWords { limit })
}

impl Sink for Bounded<'_> {
    fn document(&mut self, record: &Record<'_>) {
        match self.refusal(record) {
            Some(refusal) => self.sink.refuse(record.position, record.line, refusal),
            None => self.sink.document(record),
        }
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        self.sink.refuse(position, line, refusal);
    }

    fn skips_next(&mut self, bytes: usize) -> bool {
        self.sink.skips_next(bytes)
    }
}

/// Reads the records of one unit.
pub struct UnitReader {
    file: u32,
    bounds: Bounds,
    records: Box<dyn Records>,
}

impl UnitReader {
    /// A reader of `unit` of `source`, which is file number `file`. What goes wrong on opening is refused by the
    /// first [`advance`](UnitReader::advance).
    pub fn open(file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> UnitReader {
        let bounds = Bounds::of(source, &fields);
        UnitReader { file, bounds, records: codec(source.format).records(file, source, unit, fields) }
    }

    /// A reader of a worker's share of the lines of `stream`, which is file number `file`, `source`.
    pub(super) fn of_lines(
        (file, source): (u32, &Source),
        (stream, reader): &(Arc<LineStream>, LineReader),
        fields: Arc<Fields>,
    ) -> UnitReader {
        let bounds = Bounds::of(source, &fields);
        UnitReader { file, bounds, records: reader(file, Arc::clone(stream), fields) }
    }

    /// The same, with what the reader of an earlier unit of the same inputs and fields has at hand.
    pub fn open_after(
        earlier: &mut Option<UnitReader>,
        source: &Source,
        unit: &Unit,
        fields: Arc<Fields>,
    ) -> UnitReader {
        let earlier = earlier.take().filter(|earlier| earlier.file == unit.file);
        earlier
            .and_then(|mut earlier| earlier.records.go_on(unit).then_some(earlier))
            .unwrap_or_else(|| UnitReader::open(unit.file, source, unit, fields))
    }

    /// What is of use to [`open_after`](UnitReader::open_after) when the unit is exhausted.
    pub fn at_hand(self) -> Option<UnitReader> {
        self.records.can_go_on().then_some(self)
    }

    /// Reads about a mebibyte more and hands on its records; `false` when the unit is exhausted. A fault in the file is
    /// refused and ends the unit.
    ///
    /// # Errors
    /// An error is a bug.
    pub fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        self.records.advance(&mut Bounded { sink, bounds: self.bounds })
    }

    /// Lines seen so far in this unit, or what else numbers of records count: blank and refused ones included. A text
    /// file is one line, and so is what a fault cuts off.
    pub fn lines(&self) -> u64 {
        self.records.lines()
    }

    /// Bytes of the file consumed so far; those of all units sum up to the file's size.
    pub fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// Decompressed bytes of the records seen so far.
    pub fn text_bytes(&self) -> u64 {
        self.records.text_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;

    fn source(bytes: u64, format: Format, compression: Compression) -> Source {
        Source { name: "x".into(), ..Source::new("x".into(), format, compression, bytes) }
    }

    #[test]
    fn units_cover_files_in_order() {
        let sources = [
            source(1000, Format::JsonLines, Compression::None),
            source(0, Format::JsonLines, Compression::None),
            source(1000, Format::Text, Compression::None),
            source(1000, Format::JsonLines, Compression::Gzip),
            source(1, Format::JsonLines, Compression::None),
        ];
        for target in [0, 1, 7, 333, 999, 1000, 1001, u64::MAX] {
            let units = units(&sources, Extent::ALL, target);
            let of = |file| units.iter().filter(move |unit| unit.file == file).collect::<Vec<_>>();
            assert!(units.is_sorted_by_key(|unit| (unit.file, unit.start)));
            assert!(of(0).windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].start < pair[0].end));
            assert_eq!((of(0)[0].start, of(0).last().map(|unit| unit.end)), (0, Some(1000)));
            assert!(of(0).iter().all(|unit| unit.end - unit.start <= target.max(1)));
            assert!(of(1).is_empty());
            assert_eq!(of(2), [&Unit { file: 2, start: 0, end: 1000 }]);
            assert_eq!(of(3), [&Unit { file: 3, start: 0, end: u64::MAX }]);
            assert_eq!(of(4), [&Unit { file: 4, start: 0, end: 1 }]);
        }
    }

    #[test]
    fn extents_follow_each_other_and_leave_nothing_out() {
        let sources = [
            source(1000, Format::JsonLines, Compression::None),
            source(0, Format::JsonLines, Compression::None),
            source(300, Format::Text, Compression::None),
            source(500, Format::JsonLines, Compression::Gzip),
            source(77, Format::JsonLines, Compression::None),
        ];
        for bytes in [0, 1, 7, 299, 300, 301, 999, 1000, 1500, 4000, u64::MAX] {
            let (mut from, mut all, mut extents) = ((0, 0), Vec::new(), 0);
            while (from.0 as usize) < sources.len() {
                let extent = Extent::next(&sources, from, bytes);
                assert!(extent.from == from && extent.to > from, "{extent:?}");
                all.append(&mut units(&sources, extent, 100));
                (from, extents) = (extent.to, extents + 1);
            }
            assert!(bytes < u64::MAX || extents == 1);
            assert!(all.is_sorted_by_key(|unit| (unit.file, unit.start)));
            let of = |file| all.iter().filter(move |unit: &&Unit| unit.file == file).collect::<Vec<_>>();
            for (file, bytes) in [(0, 1000), (4, 77)] {
                assert!(of(file).windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!((of(file)[0].start, of(file).last().map(|unit| unit.end)), (0, Some(bytes)));
            }
            assert_eq!(of(2), [&Unit { file: 2, start: 0, end: 300 }]);
            assert_eq!(of(3), [&Unit { file: 3, start: 0, end: u64::MAX }]);
        }
    }
}
