//! Some rows of a batch, as a batch of its own: whatever its columns hold is moved as it is laid out.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use super::super::columns::batch::BatchWalk;
use super::super::columns::buffers::BufferBytes;
use super::super::columns::column::ColumnOffsets;
use super::super::columns::fixed::key;
use super::super::columns::views::{VIEW, View};
use super::super::metadata::flat::damaged;
use super::super::metadata::message::BatchHead;
use super::super::metadata::schema::{ArrowField, ArrowKind};
use super::body::BodyWriter;
use crate::limits::sized;
use crate::read::bytes::{InputFile, RecordRoom};

/// Bytes that are moved at once.
const MOVED: u64 = sized(256 << 10, 48);
/// Bytes of memory that a view takes while it is moved: itself, and where it leads to, which grows by doubling and is sorted.
const OF_VIEW: u64 = (2 * VIEW + 4 * size_of::<(usize, Range<u64>)>()) as u64;
/// Rows whose offsets are moved at once.
const ROWS: u64 = sized(8 << 10, 3);

/// The bits of some rows, and how many of them are not set.
struct SelectedBits {
    bits: Vec<u8>,
    clear: u64,
}

/// A batch of which some rows are written.
pub(in crate::read::formats::arrow) struct BatchSelection<'a, W> {
    pub(in crate::read::formats::arrow) walk: BatchWalk<'a>,
    pub(in crate::read::formats::arrow) body: BodyWriter<W>,
    pub(in crate::read::formats::arrow) room: &'a RecordRoom,
    /// What ends it where it should stop.
    pub(in crate::read::formats::arrow) check: &'a dyn Fn() -> io::Result<()>,
}

/// How many rows, or bytes, are in some ascending stretches.
pub(in crate::read::formats::arrow) fn count(stretches: &[Range<u64>]) -> u64 {
    stretches.iter().map(|stretch| stretch.end - stretch.start).sum()
}

/// Appends a stretch that is not before the last one.
fn push(stretches: &mut Vec<Range<u64>>, stretch: Range<u64>) {
    match stretches.last_mut() {
        Some(last) if last.end == stretch.start => last.end = stretch.end,
        _ if stretch.is_empty() => {}
        _ => stretches.push(stretch),
    }
}

/// Pieces of stretches of at most so many.
fn pieces(stretches: &[Range<u64>], most: u64) -> impl Iterator<Item = Range<u64>> {
    stretches.iter().flat_map(move |stretch| {
        let starts = (stretch.start..stretch.end).step_by(most as usize);
        starts.map(move |start| start..stretch.end.min(start + most))
    })
}

impl<W: Write> BatchSelection<'_, W> {
    /// Writes the rows of a field that stand in some stretches.
    pub(in crate::read::formats::arrow) fn field(
        &mut self,
        field: &ArrowField,
        stretches: &[Range<u64>],
    ) -> io::Result<()> {
        (self.check)()?;
        let (rows, nulls) = self.walk.node()?;
        if stretches.last().is_some_and(|last| last.end > rows) {
            return Err(damaged("a column with fewer rows than it should have"));
        }
        let (node, kept) = (self.body.nodes.len(), count(stretches));
        self.body.nodes.push((kept, 0));
        if let Some(keys) = field.dictionary {
            self.body.nodes[node].1 = self.validity(nulls, stretches)?.clear;
            return self.fixed(keys.width as u64, stretches);
        }
        match field.kind {
            ArrowKind::Null => self.body.nodes[node].1 = if nulls > 0 { kept } else { 0 },
            ArrowKind::Runs => return self.runs(field, stretches),
            ArrowKind::Union { dense } => return self.union(field, dense, nulls, stretches),
            _ => {
                let validity = self.validity(nulls, stretches)?;
                self.body.nodes[node].1 = validity.clear;
                self.values(field, &validity, stretches)?;
            }
        }
        Ok(())
    }

    /// Writes what is behind the bits that say which rows are null.
    fn values(&mut self, field: &ArrowField, validity: &SelectedBits, rows: &[Range<u64>]) -> io::Result<()> {
        match field.kind {
            ArrowKind::Truth => {
                let mut bits = self.walk.buffer()?;
                let truths = selected_bits(&mut bits, rows)?;
                self.whole_buffer(&truths.bits)
            }
            ArrowKind::Fixed(width, _) => self.fixed(width as u64, rows),
            ArrowKind::Strings { wide } => {
                let bytes = self.offsets(wide, rows)?;
                let mut values = self.walk.buffer()?;
                self.moved(&mut values, &bytes)
            }
            ArrowKind::Views => self.views(validity, rows),
            ArrowKind::List { .. } | ArrowKind::Map => {
                let wide = field.kind == ArrowKind::List { wide: true };
                let values = self.offsets(wide, rows)?;
                self.field(&field.children[0], &values)
            }
            ArrowKind::Tuple(size) => {
                let of = |row: u64| row.checked_mul(size).ok_or_else(|| damaged("a list of too many values"));
                let values = rows.iter().map(|stretch| Ok(of(stretch.start)?..of(stretch.end)?));
                let values: Vec<Range<u64>> = values.collect::<io::Result<_>>()?;
                self.field(&field.children[0], &values)
            }
            ArrowKind::ListView { wide } => {
                let width = if wide { 8 } else { 4 };
                self.fixed(width, rows)?;
                self.fixed(width, rows)?;
                self.all_of(&field.children[0])
            }
            ArrowKind::Struct => field.children.iter().try_for_each(|child| self.field(child, rows)),
            ArrowKind::Null | ArrowKind::Runs | ArrowKind::Union { .. } => Ok(()),
        }
    }

    /// Writes a buffer that is in memory.
    fn whole_buffer(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.body.buffer(bytes.len() as u64, |out| out.write_all(bytes))
    }

    /// Writes stretches of the bytes of a buffer.
    fn moved(&mut self, from: &mut BufferBytes, stretches: &[Range<u64>]) -> io::Result<()> {
        let check = self.check;
        self.body.buffer(count(stretches), |out| {
            for piece in pieces(stretches, MOVED) {
                check()?;
                out.write_all(from.range(piece.start, (piece.end - piece.start) as usize)?)?;
            }
            Ok(())
        })
    }

    /// Writes the bits that say which rows are null; how many are.
    fn validity(&mut self, nulls: u64, rows: &[Range<u64>]) -> io::Result<SelectedBits> {
        let mut bits = self.walk.buffer()?;
        if bits.length() == 0 {
            self.whole_buffer(&[])?;
            return Ok(SelectedBits { bits: Vec::new(), clear: 0 });
        }
        let mut selected = selected_bits(&mut bits, rows)?;
        self.whole_buffer(&selected.bits)?;
        if nulls == 0 {
            selected = SelectedBits { bits: Vec::new(), clear: 0 };
        }
        Ok(selected)
    }

    /// Writes values of so many bytes.
    fn fixed(&mut self, width: u64, rows: &[Range<u64>]) -> io::Result<()> {
        let mut values = self.walk.buffer()?;
        let of = |row: u64| row.checked_mul(width).ok_or_else(|| damaged("a buffer of too many bytes"));
        let bytes = rows.iter().map(|stretch| Ok(of(stretch.start)?..of(stretch.end)?));
        let bytes: Vec<Range<u64>> = bytes.collect::<io::Result<_>>()?;
        self.moved(&mut values, &bytes)
    }

    /// Writes offsets; returns what they lead to.
    fn offsets(&mut self, wide: bool, rows: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
        let (width, bytes) = (if wide { 8 } else { 4 }, self.walk.buffer()?);
        if bytes.length() == 0 && rows.is_empty() {
            // As some write them where there is no row.
            return self.whole_buffer(&[]).map(|()| Vec::new());
        }
        let (mut offsets, mut found, check) = (ColumnOffsets { bytes, wide }, Vec::new(), self.check);
        self.body.buffer((count(rows) + 1) * width, |out| {
            let (mut end, mut moved) = (0, Vec::new());
            out.write_all(&0u64.to_le_bytes()[..width as usize])?;
            for piece in pieces(rows, ROWS) {
                check()?;
                let old = offsets.of(piece.start, (piece.end - piece.start) as usize)?;
                let (first, last) = (old[0], old[old.len() - 1]);
                moved.clear();
                for offset in &old[1..] {
                    moved.extend_from_slice(&(end + offset - first).to_le_bytes()[..width as usize]);
                }
                end += last - first;
                out.write_all(&moved)?;
                push(&mut found, first..last);
            }
            Ok(())
        })?;
        // They may overlap in a file that lies, and are read forward.
        match found.is_sorted_by(|one, two| one.end <= two.start) {
            true => Ok(found),
            false => Err(damaged("offsets that go back")),
        }
    }

    /// Writes views, and of what they lead to what is still named.
    fn views(&mut self, validity: &SelectedBits, rows: &[Range<u64>]) -> io::Result<()> {
        let mut old = self.walk.buffer()?;
        let held = count(rows).saturating_mul(OF_VIEW);
        if held > self.room.rewritten() {
            let what = format!("a column has {} views", count(rows));
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                self.room.refusal_to_rewrite(&what, held),
            ));
        }
        let mut views = Vec::new();
        for piece in pieces(rows, ROWS) {
            let (start, rows) = (piece.start, (piece.end - piece.start) as usize);
            views.extend_from_slice(old.range(start * VIEW as u64, rows * VIEW)?);
        }
        let is_there = |row: usize| validity.bits.is_empty() || validity.bits[row / 8] >> (row % 8) & 1 == 1;
        let mut named: Vec<(usize, Range<u64>)> = Vec::new();
        for (row, view) in views.chunks_exact_mut(VIEW).enumerate() {
            if !is_there(row) {
                view.fill(0);
            } else if let View { length, place: Some((buffer, start)) } = View::of(view)? {
                named.push((buffer, start..start + length));
            }
        }
        let named = merged(named);
        for view in views.chunks_exact_mut(VIEW) {
            if let View { place: Some((buffer, start)), .. } = View::of(view)? {
                let before =
                    named.partition_point(|(other, range, _)| (*other, range.start) <= (buffer, start));
                let (_, range, moved) = &named[before - 1];
                let start = i32::try_from(moved + start - range.start);
                let start = start.map_err(|_| damaged("a buffer of too many bytes"))?;
                view[12..].copy_from_slice(&start.to_le_bytes());
            }
        }
        self.whole_buffer(&views)?;
        let buffers = self.walk.views()?;
        if named.last().is_some_and(|(buffer, ..)| *buffer as u64 >= buffers) {
            return Err(damaged("a text in a buffer that is not there"));
        }
        for number in 0..buffers {
            let of: Vec<Range<u64>> =
                of_buffer(&named, number as usize).iter().map(|(_, range, _)| range.clone()).collect();
            let mut values = self.walk.buffer()?;
            self.moved(&mut values, &of)?;
        }
        Ok(())
    }

    /// Writes runs that have rows left.
    fn runs(&mut self, field: &ArrowField, rows: &[Range<u64>]) -> io::Result<()> {
        let (runs, _) = self.walk.node()?;
        let ArrowKind::Fixed(width, _) = field.children[0].kind else {
            return Err(damaged("runs without ends"));
        };
        let node = self.body.nodes.len();
        self.body.nodes.push((0, 0));
        self.walk.place()?;
        self.whole_buffer(&[])?;
        let mut old = self.walk.buffer()?;
        let (mut ends, mut kept, mut before) = (Vec::new(), Vec::new(), 0);
        let (mut stretches, mut left) = (rows.iter().peekable(), 0u64);
        for run in 0..runs {
            let end = key(old.range(run * width as u64, width)?, true).filter(|end| *end > before);
            let end = end.ok_or_else(|| damaged("runs that go back"))?;
            let mut has_rows = false;
            while let Some(stretch) = stretches.peek() {
                let of = stretch.start.max(before)..stretch.end.min(end);
                left += of.end.saturating_sub(of.start);
                has_rows |= !of.is_empty();
                if stretch.end > end {
                    break;
                }
                stretches.next();
            }
            if has_rows {
                ends.extend_from_slice(&left.to_le_bytes()[..width]);
                push(&mut kept, run..run + 1);
            }
            before = end;
        }
        if left != count(rows) {
            return Err(damaged("rows in no run"));
        }
        self.body.nodes[node].0 = count(&kept);
        self.whole_buffer(&ends)?;
        self.field(&field.children[1], &kept)
    }

    /// Writes a union: of a dense one all that its rows may lead to.
    fn union(&mut self, field: &ArrowField, dense: bool, nulls: u64, rows: &[Range<u64>]) -> io::Result<()> {
        if self.walk.head.has_older_unions {
            let node = self.body.nodes.len() - 1;
            self.body.nodes[node].1 = self.validity(nulls, rows)?.clear;
        }
        self.fixed(1, rows)?;
        if dense {
            self.fixed(4, rows)?;
            return field.children.iter().try_for_each(|child| self.all_of(child));
        }
        field.children.iter().try_for_each(|child| self.field(child, rows))
    }

    /// Copies a field as it is encoded.
    fn all_of(&mut self, field: &ArrowField) -> io::Result<()> {
        let node = self.walk.node()?;
        self.body.nodes.push(node);
        for _ in 0..self.walk.own_buffers(field)? {
            let (start, bytes) = self.walk.place()?;
            let (file, check) = (Arc::clone(self.walk.file), self.check);
            self.body.encoded(|out| copy(&file, start..start + bytes, out, check))?;
        }
        if field.dictionary.is_some() {
            return Ok(());
        }
        field.children.iter().try_for_each(|child| self.all_of(child))
    }
}

/// Copies a range of a file.
pub(in crate::read::formats::arrow) fn copy(
    file: &InputFile,
    range: Range<u64>,
    out: &mut dyn Write,
    check: &dyn Fn() -> io::Result<()>,
) -> io::Result<()> {
    let mut block = Vec::new();
    for piece in pieces(&[range], MOVED) {
        check()?;
        block.resize((piece.end - piece.start) as usize, 0);
        super::super::metadata::message::read_exact(file, &mut block, piece.start)?;
        out.write_all(&block)?;
    }
    Ok(())
}

/// The bits of some rows.
fn selected_bits(bits: &mut BufferBytes, rows: &[Range<u64>]) -> io::Result<SelectedBits> {
    let mut selected = SelectedBits { bits: Vec::new(), clear: 0 };
    let mut row = 0;
    for piece in pieces(rows, MOVED) {
        for bit in
            super::super::columns::column::truths(bits, piece.start, (piece.end - piece.start) as usize)?
        {
            if row % 8 == 0 {
                selected.bits.push(0);
            }
            match bit {
                true => selected.bits[row / 8] |= 1 << (row % 8),
                false => selected.clear += 1,
            }
            row += 1;
        }
    }
    Ok(selected)
}

/// Ranges of buffers in their order, those that touch joined: each with where it begins among those of its buffer.
fn merged(mut named: Vec<(usize, Range<u64>)>) -> Vec<(usize, Range<u64>, u64)> {
    named.sort_unstable_by_key(|(buffer, range)| (*buffer, range.start));
    let mut merged: Vec<(usize, Range<u64>, u64)> = Vec::new();
    for (buffer, range) in named {
        match merged.last_mut() {
            Some((same, last, _)) if *same == buffer && range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            Some((same, last, moved)) if *same == buffer => {
                let moved = *moved + last.end - last.start;
                merged.push((buffer, range, moved));
            }
            _ => merged.push((buffer, range, 0)),
        }
    }
    merged
}

/// The ranges of one buffer.
fn of_buffer(named: &[(usize, Range<u64>, u64)], buffer: usize) -> &[(usize, Range<u64>, u64)] {
    let before = |end: usize| named.partition_point(|(other, ..)| *other < end);
    &named[before(buffer)..before(buffer + 1)]
}

/// What a head says of a batch of other rows, nodes and buffers, as its message has it.
pub(in crate::read::formats::arrow) fn head_with(
    mut bytes: Vec<u8>,
    head: &BatchHead,
    now: &BatchHead,
    body: u64,
) -> io::Result<Vec<u8>> {
    let places = head.places;
    let mut put = |at: usize, number: u64| match bytes.get_mut(at..at + 8).filter(|_| at > 0) {
        Some(place) => {
            place.copy_from_slice(&number.to_le_bytes());
            Ok(())
        }
        None if number == 0 => Ok(()),
        None => Err(damaged("a head without a number that it should have")),
    };
    put(places.rows, now.rows)?;
    put(places.body, body)?;
    for (at, pairs) in [(places.nodes, &now.nodes), (places.buffers, &now.buffers)] {
        for (number, (one, two)) in pairs.iter().enumerate() {
            put(at + 16 * number, *one)?;
            put(at + 16 * number + 8, *two)?;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_buffers_are_joined_where_they_touch() {
        let named = vec![(1, 4..9), (0, 10..12), (0, 2..5), (0, 4..6), (1, 9..10), (0, 6..7)];
        let expected = vec![(0, 2..7, 0), (0, 10..12, 5), (1, 4..10, 0)];
        let merged = merged(named);
        assert_eq!(merged, expected);
        assert_eq!((of_buffer(&merged, 1).len(), of_buffer(&merged, 2).len()), (1, 0));
    }

    #[test]
    fn stretches_are_joined_and_divided() {
        let mut stretches = Vec::new();
        [0..2, 2..2, 2..5, 7..7, 9..10].into_iter().for_each(|stretch| push(&mut stretches, stretch));
        assert_eq!((&stretches[..], count(&stretches)), (&[0..5, 9..10][..], 6));
        assert_eq!(pieces(&stretches, 2).collect::<Vec<_>>(), [0..2, 2..4, 4..5, 9..10]);
    }
}
