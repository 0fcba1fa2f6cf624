//! Rows of a batch taken apart to the leaves of a table: values, and the levels that say where each stands.

use std::io;

use bytes::Bytes;
use parquet::data_type::ByteArray;

use super::super::columns::buffers::AT_ONCE;
use super::super::columns::buffers::BufferBytes;
use super::super::columns::column::{ArrowColumn, ColumnOffsets, ColumnValues, find_run, keyed};
use super::super::columns::fixed::key;
use super::super::columns::views::{VIEW, ViewBytes};
use super::super::metadata::flat::damaged;
use super::leaves::{LeafCells, StoredValue};
use super::levels::{LevelNode, NodeOf};
use super::slots::{LevelSlot, are_inside, each_bit, each_fixed, settle, stretches, void};
use crate::limits::{MAX_VALUE_BYTES, sized};
use crate::read::formats::parquet::Cell;

/// Places for values of lists that are filled at once.
const SLOTS: usize = sized(4 << 10, 5);
/// Bytes between texts that are read rather than passed over.
const GAP: u64 = sized(64, 4);

/// Takes rows apart.
pub(super) struct Unfolding<'a> {
    leaves: &'a mut [LeafCells],
    /// Bytes that the leaves hold of the present rows, those that several of them share counted for each.
    pub(super) bytes: u64,
    /// Bytes of the present column that are in memory, those of the row that it is at, and how many both may be.
    own: u64,
    row: u64,
    most: u64,
    /// Whether rows are in runs, whose values are in memory once.
    in_runs: bool,
}

/// Bytes that a value takes in a row beside what it shares with others.
const OWN_OF_SHARED: u64 = 36;

impl<'a> Unfolding<'a> {
    pub(super) fn new(leaves: &'a mut [LeafCells], most: u64) -> Unfolding<'a> {
        Unfolding { leaves, bytes: 0, own: 0, row: 0, most, in_runs: false }
    }

    /// Begins with a column.
    pub(super) fn begin(&mut self) {
        (self.own, self.row) = (0, 0);
    }

    fn add(&mut self, bytes: u64) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        let own = if self.in_runs { bytes.min(OWN_OF_SHARED) } else { bytes };
        self.own = self.own.saturating_add(own);
        self.is_allowed(self.own)
    }

    /// The same of a value that is in memory once, however many rows name it: so many rows that it counts by the row.
    fn add_shared(&mut self, bytes: u64, slot: LevelSlot) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.row = if slot.repetition == 0 { bytes } else { self.row.saturating_add(bytes) };
        self.is_allowed(self.row)
    }

    fn is_allowed(&self, bytes: u64) -> io::Result<()> {
        if bytes <= self.most {
            return Ok(());
        }
        let what = match self.most < MAX_VALUE_BYTES as u64 {
            true => format!(
                "a row takes more than the {} bytes that there is room for: allow more with --memory",
                self.most
            ),
            false => format!("a row takes {bytes} bytes; {} are allowed", self.most),
        };
        Err(io::Error::new(io::ErrorKind::OutOfMemory, what))
    }

    /// The bytes of a cell.
    fn text(&self, cell: &Cell) -> io::Result<ByteArray> {
        match cell {
            Cell::Text(text) => Ok(text.clone()),
            Cell::Long(bytes) => {
                self.is_allowed(*bytes)?;
                Err(damaged("a value that is longer than its column says"))
            }
            _ => Err(damaged("a value of another kind than its schema says")),
        }
    }

    /// Appends what a field has for some slots, whose rows ascend.
    pub(super) fn field(
        &mut self,
        column: &mut ArrowColumn,
        node: &LevelNode,
        mut slots: Vec<LevelSlot>,
    ) -> io::Result<()> {
        are_inside(&slots, column.rows)?;
        settle(&mut slots, column.validity.as_mut(), node.defined, node.optional)?;
        match (&mut column.values, &node.of) {
            (ColumnValues::Runs { ends, width, of, run }, _) => {
                for slot in &mut slots {
                    let Some(row) = slot.row else { continue };
                    let number = find_run(row, (&mut *ends, *width), run)?;
                    (slot.row, of.at) = (Some(number), number);
                }
                let outer = std::mem::replace(&mut self.in_runs, true);
                let done = self.field(of, node, slots);
                self.in_runs = outer;
                done
            }
            (ColumnValues::Struct(fields), NodeOf::Struct(nodes)) => {
                let mut children = fields.iter_mut().zip(nodes);
                children.try_for_each(|((_, field), node)| self.field(field, node, slots.clone()))
            }
            (ColumnValues::List { offsets, of, .. }, NodeOf::List(repeated, node)) => {
                let ends = list_ends(offsets, &slots)?;
                self.lists(of, (*repeated, node), &slots, ends.into_iter())
            }
            (ColumnValues::Tuple { size, of }, NodeOf::List(repeated, node)) => {
                let ends = slots.iter().filter_map(|slot| slot.row).map(|row| {
                    let start = row.saturating_mul(*size);
                    (start, start.saturating_add(*size))
                });
                self.lists(of, (*repeated, node), &slots, ends)
            }
            (values, NodeOf::Leaf(leaf, stored)) => {
                self.values(values, (*leaf, *stored), node, &mut slots)?;
                self.levels(*leaf, &slots)
            }
            _ => Err(damaged("a column of another kind than its schema says")),
        }
    }

    /// Appends the levels of a leaf.
    fn levels(&mut self, leaf: usize, slots: &[LevelSlot]) -> io::Result<()> {
        let cells = &mut self.leaves[leaf];
        cells.definition.0.extend(slots.iter().map(|slot| slot.definition));
        if let Some(repetition) = &mut cells.repetition {
            repetition.extend(slots.iter().map(|slot| slot.repetition));
        }
        self.add(slots.len() as u64 * 4)
    }

    /// Appends lists: for each slot that has one where it begins and ends among its values.
    fn lists(
        &mut self,
        of: &mut ArrowColumn,
        (repeated, node): (i16, &LevelNode),
        slots: &[LevelSlot],
        mut ends: impl Iterator<Item = (u64, u64)>,
    ) -> io::Result<()> {
        let mut filled: Vec<LevelSlot> = Vec::with_capacity(SLOTS);
        for slot in slots {
            let (start, end) = match slot.row {
                Some(_) => ends.next().ok_or_else(|| damaged("a list without its ends"))?,
                None => (0, 0),
            };
            if start == end {
                filled.push(LevelSlot { row: None, ..*slot });
            }
            for row in start..end {
                let repetition = if row == start { slot.repetition } else { repeated };
                filled.push(LevelSlot { row: Some(row), repetition, definition: 0 });
                if filled.len() >= SLOTS {
                    self.field(of, node, std::mem::take(&mut filled))?;
                }
            }
            if filled.len() >= SLOTS {
                self.field(of, node, std::mem::take(&mut filled))?;
            }
        }
        self.field(of, node, filled)
    }

    /// Appends the values of a leaf. Those that turn out to be null are no more in the slots.
    fn values(
        &mut self,
        values: &mut ColumnValues,
        (leaf, stored): (usize, StoredValue),
        node: &LevelNode,
        slots: &mut [LevelSlot],
    ) -> io::Result<()> {
        if stored == StoredValue::Nothing {
            let there = slots.iter_mut().filter(|slot| slot.row.is_some());
            return there.into_iter().try_for_each(|slot| void(slot, node.defined, node.optional));
        }
        match values {
            ColumnValues::Truths(bits) => {
                let (leaf, mut bytes) = (&mut self.leaves[leaf], 0);
                each_bit(slots, bits, &mut |truth| bytes += leaf.push_truth(truth))?;
                self.add(bytes)
            }
            ColumnValues::Fixed { bytes, width, .. } => each_fixed(slots, *width, bytes, &mut |value| {
                let bytes = self.leaves[leaf].push_fixed(value, stored)?;
                self.add(bytes)
            }),
            ColumnValues::Strings { offsets, bytes } => {
                let ends = list_ends(offsets, slots)?;
                self.texts((leaf, stored), &ends, bytes)
            }
            ColumnValues::Views(views) => self.views((leaf, stored), views, slots),
            ColumnValues::Keyed { keys, width, signed, values } => {
                let mut cells = Vec::new();
                each_fixed(slots, *width, keys, &mut |name| {
                    keyed(values, key(name, *signed)).map(|cell| cells.push(cell))
                })?;
                self.cells((leaf, stored), node, slots, cells)
            }
            _ => Err(damaged("a column of another kind than its schema says")),
        }
    }

    /// Appends texts that stand between ends, which ascend.
    fn texts(
        &mut self,
        (leaf, stored): (usize, StoredValue),
        ends: &[(u64, u64)],
        bytes: &mut BufferBytes,
    ) -> io::Result<()> {
        let mut at = 0;
        while let Some((start, mut end)) = ends.get(at).copied() {
            let follow = ends[at + 1..].iter().take_while(|(next, behind)| {
                let is_near = *next <= end.saturating_add(GAP) && *behind <= start.saturating_add(AT_ONCE);
                end = if is_near { end.max(*behind) } else { end };
                is_near
            });
            let count = 1 + follow.count();
            self.is_allowed(end - start)?;
            let texts = Bytes::from(bytes.take(start, (end - start) as usize)?);
            for (from, until) in &ends[at..at + count] {
                let text = texts.slice((from - start) as usize..(until - start) as usize);
                let bytes = self.leaves[leaf].push_bytes(ByteArray::from(text), stored)?;
                self.add(bytes)?;
            }
            at += count;
        }
        Ok(())
    }

    /// Appends texts that are named by their beginnings.
    fn views(
        &mut self,
        (leaf, stored): (usize, StoredValue),
        views: &mut ViewBytes,
        slots: &[LevelSlot],
    ) -> io::Result<()> {
        let mut rows = slots.iter().filter_map(|slot| slot.row).peekable();
        for stretch in stretches(slots, VIEW as u64) {
            let (start, count) = (stretch.start, (stretch.end - stretch.start) as usize);
            let mut wanted = vec![0usize; count];
            while let Some(row) = rows.next_if(|row| stretch.contains(row)) {
                wanted[(row - start) as usize] += 1;
            }
            let mut cells = Vec::with_capacity(count);
            views.cells(start, count, &|row| wanted[row] > 0, self.most, &mut cells)?;
            for (cell, times) in cells.into_iter().zip(wanted) {
                for _ in 0..times {
                    let text = self.text(&cell)?;
                    let bytes = self.leaves[leaf].push_bytes(text, stored)?;
                    self.add(bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Appends values of a dictionary, one for each slot that has a row.
    fn cells(
        &mut self,
        (leaf, stored): (usize, StoredValue),
        node: &LevelNode,
        slots: &mut [LevelSlot],
        cells: Vec<Cell>,
    ) -> io::Result<()> {
        for (slot, cell) in slots.iter_mut().filter(|slot| slot.row.is_some()).zip(cells) {
            let bytes = match cell {
                Cell::Null => {
                    void(slot, node.defined, node.optional)?;
                    0
                }
                Cell::Truth(truth) => self.leaves[leaf].push_truth(truth),
                cell => {
                    let (text, leaf) = (self.text(&cell)?, &mut self.leaves[leaf]);
                    match stored {
                        StoredValue::Bytes | StoredValue::Text => leaf.push_bytes(text, stored)?,
                        _ => leaf.push_fixed(text.data(), stored)?,
                    }
                }
            };
            self.add_shared(bytes, *slot)?;
        }
        Ok(())
    }
}

/// Where the lists or texts of the slots that have a row begin and end.
fn list_ends(offsets: &mut ColumnOffsets, slots: &[LevelSlot]) -> io::Result<Vec<(u64, u64)>> {
    let mut rows = slots.iter().filter_map(|slot| slot.row).peekable();
    let mut ends: Vec<(u64, u64)> = Vec::with_capacity(slots.len());
    for stretch in stretches(slots, 8) {
        let found = offsets.of(stretch.start, (stretch.end - stretch.start) as usize)?;
        while let Some(row) = rows.next_if(|row| stretch.contains(row)) {
            let at = (row - stretch.start) as usize;
            ends.push((found[at], found[at + 1]));
        }
    }
    // Between stretches they may go back in a file that lies.
    match ends.is_sorted_by(|one, two| one.1 <= two.0 || one == two) {
        true => Ok(ends),
        false => Err(damaged("offsets that go back")),
    }
}
