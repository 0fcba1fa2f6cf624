//! The memory that pages take while a unit is read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::errors::Result;

use super::super::thrift::damaged;
use crate::limits::{MAX_PAGE_BYTES, REWRITTEN_PAGE_BYTES};
use crate::read::bytes::{RecordRoom, Turn};

/// How much less a page costs than a record of as many bytes: it is held twice while it is decompressed, and of its records
/// one at a time is sketched.
pub(in crate::read::formats::parquet) const PART: usize = 2;

/// How often what is encoded is in memory, a page of it or a longer row: as it is encoded, behind its levels, and compressed.
const ENCODED: u64 = 3;
/// Pages that are held beside the present one where columns are written again: the one that is still encoded, and those with the least
/// and the greatest value so far.
const EARLIER: usize = 3;

/// Rows of lists that are gathered at a time where columns are written again.
pub(in crate::read::formats::parquet) const ROWS_OF_LISTS: u64 = 16;
/// Bytes of an object beside its longest value, as far as anybody can tell before it is made.
const OTHERS: u64 = 2 << 20;
/// How often an object is in memory: as it is made, and in its line.
const OBJECTS: u64 = 2;
/// Bytes of the levels of a value.
const LEVELS: usize = 2 * size_of::<i16>();

/// What pages are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::parquet) enum PageUse {
    /// Records, of which one at a time is sketched.
    Records,
    /// Columns that are written again, one after the other.
    Columns,
    /// Objects, of which each has a value of all columns.
    Objects,
}

/// What the pages of a unit may take.
pub(in crate::read::formats::parquet) struct UnitMemory {
    room: RecordRoom,
    used_for: PageUse,
    /// Largest page that is read, and most bytes of a row.
    most: usize,
    record: usize,
    /// The right to have long pages.
    turn: Mutex<Option<Turn>>,
    /// Bytes of the longest page since then.
    longest: AtomicU64,
    /// Bytes of a page that the memory has no room for.
    unfit: AtomicU64,
    /// Bytes that the pages of all columns take, where they are written again.
    rewritten: AtomicU64,
    /// Rows that are decoded at once to become objects.
    batch: AtomicU64,
}

/// The pages of one column that are held.
pub(in crate::read::formats::parquet) struct HeldPages {
    unit: Arc<UnitMemory>,
    /// Bytes of pages since [`HeldPages::step`].
    taken: AtomicU64,
    /// Values of the pages that were read or passed over.
    values: AtomicU64,
    /// Whether the dictionary is long, and whether the page that was read last is.
    long: [AtomicBool; 2],
    rewritten: Mutex<RewrittenPages>,
}

/// What the pages of a column take that is written again.
#[derive(Default)]
struct RewrittenPages {
    dictionary: u64,
    last: u64,
    /// Largest ones of those before.
    earlier: [u64; EARLIER],
    /// Pages since [`HeldPages::step`], the last one among them.
    since: u64,
    values_since: u64,
    /// What is counted in the unit.
    counted: u64,
}

/// What is known of a page before it is read.
#[derive(Clone, Copy)]
pub(in crate::read::formats::parquet) struct PageSize {
    /// Bytes of it, decompressed.
    pub(in crate::read::formats::parquet) bytes: usize,
    /// Bytes from which it is decompressed.
    pub(in crate::read::formats::parquet) packed: usize,
    /// How many values it has; `None` of a dictionary.
    pub(in crate::read::formats::parquet) values: Option<u32>,
    /// Bytes that the values of a dictionary take beside it.
    pub(in crate::read::formats::parquet) made: u64,
}

/// The longest row of a page of lists.
#[derive(Clone, Copy)]
pub(in crate::read::formats::parquet) struct LongestRow {
    /// Its values.
    pub(in crate::read::formats::parquet) values: u64,
    /// Values of all rows of the page, and of the part of the first one that is before it.
    pub(in crate::read::formats::parquet) all: u64,
    /// Bytes that a value takes in memory, and those that it takes as a field of an object.
    pub(in crate::read::formats::parquet) value: usize,
    pub(in crate::read::formats::parquet) field: usize,
    /// Whether values have more bytes than these.
    pub(in crate::read::formats::parquet) is_of_texts: bool,
}

impl RewrittenPages {
    /// Another page of so many bytes and values.
    fn add(&mut self, bytes: u64, values: u32) {
        let before = std::mem::replace(&mut self.last, bytes);
        if let Some(least) = self.earlier.iter_mut().min().filter(|least| **least < before) {
            *least = before;
        }
        self.since = self.since.saturating_add(bytes);
        self.values_since = self.values_since.saturating_add(values.into());
    }

    /// Counts them in their unit.
    fn count(&mut self, unit: &UnitMemory) {
        let pages = match unit.used_for {
            PageUse::Records => 0,
            PageUse::Columns => {
                self.earlier.iter().fold(self.last, |sum, earlier| sum.saturating_add(*earlier))
            }
            PageUse::Objects => self.since,
        };
        let counted = pages.saturating_add(self.dictionary);
        unit.rewritten.fetch_add(counted.wrapping_sub(self.counted), Ordering::Relaxed);
        self.counted = counted;
    }
}

impl UnitMemory {
    /// For pages of records of at most so many bytes.
    pub(in crate::read::formats::parquet) fn new(room: &RecordRoom, max_record_bytes: usize) -> UnitMemory {
        UnitMemory::used_for(PageUse::Records, room, max_record_bytes)
    }

    /// For pages that are read for something.
    pub(in crate::read::formats::parquet) fn used_for(
        used_for: PageUse,
        room: &RecordRoom,
        max_record_bytes: usize,
    ) -> UnitMemory {
        UnitMemory {
            room: room.clone(),
            used_for,
            most: max_record_bytes.saturating_add(MAX_PAGE_BYTES),
            record: max_record_bytes,
            turn: Mutex::default(),
            longest: AtomicU64::default(),
            unfit: AtomicU64::default(),
            rewritten: AtomicU64::default(),
            batch: AtomicU64::new(1),
        }
    }

    /// Begins with objects of rows of which so many are decoded at once.
    pub(in crate::read::formats::parquet) fn begin_objects(&self, batch: u64) {
        self.batch.store(batch, Ordering::Relaxed);
        self.unfit.store(0, Ordering::Relaxed);
    }

    fn pages(&self) -> u64 {
        self.rewritten.load(Ordering::Relaxed)
    }

    /// Takes room for an object of so many bytes, made of the pages that are held; whether there is any. Waits for its turn if it is
    /// long.
    pub(in crate::read::formats::parquet) fn has_room_for_object(&self, bytes: usize) -> bool {
        let cost = self.cost_of_object(bytes);
        let has_room = cost <= self.room.rewritten();
        if has_room && self.room.is_long_rewritten(cost) {
            self.await_turn();
        }
        has_room
    }

    /// Why there is none.
    pub(in crate::read::formats::parquet) fn refusal_of_object(&self, bytes: usize) -> String {
        self.room.refusal_to_rewrite(&format!("a row has {bytes} bytes as JSON"), self.cost_of_object(bytes))
    }

    /// Lets others have long objects, unless what is held is long all the same.
    pub(in crate::read::formats::parquet) fn end_object(&self) {
        if !self.room.is_long_rewritten(self.pages()) {
            self.give_back();
        }
    }

    fn cost_of_object(&self, bytes: usize) -> u64 {
        self.pages().saturating_add((bytes as u64).saturating_mul(OBJECTS))
    }

    /// Whether the memory had no room for something.
    pub(in crate::read::formats::parquet) fn is_unfit(&self) -> bool {
        self.unfit().is_some()
    }

    /// Bytes of a page that the memory has no room for, if there was one.
    pub(in crate::read::formats::parquet) fn unfit(&self) -> Option<u64> {
        Some(self.unfit.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// The same, of one that is refused now: whatever comes later has nothing to do with it.
    pub(in crate::read::formats::parquet) fn take_unfit(&self) -> Option<u64> {
        Some(self.unfit.swap(0, Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// Whether so many bytes are more than a part of what may be taken.
    pub(in crate::read::formats::parquet) fn is_much(&self, bytes: u64) -> bool {
        bytes > self.room.rewritten() / (ENCODED + 1)
    }

    /// Waits for the right to have long pages.
    fn await_turn(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            // A run that is stopped ends at its next step, with or without a turn.
            *turn = self.room.turn().ok().flatten();
        }
    }

    /// Bytes of the longest page since there was a turn.
    pub(in crate::read::formats::parquet) fn longest(&self) -> u64 {
        self.longest.load(Ordering::Relaxed)
    }

    /// Lets others have long pages.
    pub(in crate::read::formats::parquet) fn give_back(&self) {
        self.longest.store(0, Ordering::Relaxed);
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Takes room for so many bytes beside the pages that are held to be written again. If there is none, it is told `what` is there,
    /// and that it may take so many bytes `more`.
    fn rewrite(&self, (beside, more): (u64, u64), what: impl FnOnce() -> String) -> Result<()> {
        let pages = self.pages().saturating_add(beside);
        if pages > self.room.rewritten() {
            self.unfit.store(pages, Ordering::Relaxed);
            return Err(damaged(self.room.refusal_to_rewrite(&what(), pages.saturating_add(more))));
        }
        if self.room.is_long_rewritten(pages) {
            self.await_turn();
        }
        Ok(())
    }
}

impl HeldPages {
    pub(in crate::read::formats::parquet) fn new(unit: &Arc<UnitMemory>) -> HeldPages {
        HeldPages {
            unit: Arc::clone(unit),
            taken: AtomicU64::default(),
            values: AtomicU64::default(),
            long: <[AtomicBool; 2]>::default(),
            rewritten: Mutex::default(),
        }
    }

    /// Largest page that is read.
    pub(in crate::read::formats::parquet) fn most(&self) -> usize {
        self.unit.most
    }

    /// Takes room for a page; waits for its turn if it is long.
    pub(in crate::read::formats::parquet) fn take(&self, page: PageSize) -> Result<()> {
        let (unit, PageSize { bytes, values, .. }) = (&self.unit, page);
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        self.pass(values.unwrap_or(0));
        if unit.used_for != PageUse::Records {
            return self.take_rewritten(page);
        }
        if bytes / PART > unit.room.most() {
            unit.unfit.store(bytes as u64, Ordering::Relaxed);
            return Err(damaged("a page that the memory has no room for"));
        }
        let long = unit.room.is_long(bytes / PART);
        self.long[usize::from(values.is_some())].store(long, Ordering::Relaxed);
        if long {
            unit.await_turn();
            unit.longest.fetch_max(bytes as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, RewrittenPages> {
        self.rewritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_rewritten(&self, page: PageSize) -> Result<()> {
        let bytes = (page.bytes as u64).saturating_add(page.made);
        {
            let mut held = self.held();
            match page.values {
                None => held.dictionary = bytes,
                Some(values) => held.add(bytes, values),
            }
            held.count(&self.unit);
        }
        let more = match (page.values, self.unit.used_for) {
            (None, _) => 0,
            (Some(_), PageUse::Objects) => (page.bytes as u64 + OTHERS).saturating_mul(OBJECTS),
            (Some(_), _) => (page.bytes as u64).saturating_mul(ENCODED),
        };
        self.unit.rewrite((page.packed as u64, more.saturating_sub(page.packed as u64)), || {
            match page.values {
                Some(_) => format!("a page has {} bytes", page.bytes),
                None => format!("a dictionary has {} bytes", page.bytes),
            }
        })
    }

    /// Takes room for what is encoded of the pages at a time, of which the longest has so many bytes.
    pub(in crate::read::formats::parquet) fn encode(&self, longest: u64) -> Result<()> {
        let pages = self.held().last.min(REWRITTEN_PAGE_BYTES as u64);
        self.unit.rewrite((longest.max(pages).saturating_mul(ENCODED), 0), || {
            format!("a value has {longest} bytes")
        })
    }

    /// Takes room for the longest row of a page; waits for its turn if that is long.
    pub(in crate::read::formats::parquet) fn gather(&self, row: LongestRow) -> Result<()> {
        let (unit, values) = (&self.unit, row.values);
        // What holds them grows by doubling.
        let grown = |values: u64, each: usize| values.saturating_mul(each as u64).saturating_mul(3) / 2;
        let bytes = grown(values, row.value + LEVELS);
        if bytes > unit.record as u64 {
            return Err(damaged(format!(
                "a row of {values} values, which take more memory than the {} bytes allowed of a record",
                unit.record
            )));
        }
        match unit.used_for {
            PageUse::Records => {}
            PageUse::Columns => {
                let gathered = grown(values.saturating_mul(ROWS_OF_LISTS).min(row.all), row.value + LEVELS);
                // What texts come to is known when they are there.
                let encoded = if row.is_of_texts { 0 } else { values.saturating_mul(row.value as u64) };
                let beside = gathered.saturating_add(encoded.saturating_mul(ENCODED));
                return unit.rewrite((beside, 0), || format!("a row has {values} values"));
            }
            PageUse::Objects => {
                let (all, rows) = (row.all.max(self.held().values_since), unit.batch.load(Ordering::Relaxed));
                let gathered = grown(values.saturating_mul(rows).min(all), row.value + LEVELS);
                let beside = gathered.saturating_add(grown(values, row.field));
                return unit.rewrite((beside, 0), || format!("a row has {values} values"));
            }
        }
        if bytes / PART as u64 > unit.room.most() as u64 {
            unit.unfit.store(bytes, Ordering::Relaxed);
            return Err(damaged("a row that the memory has no room for"));
        }
        if unit.room.is_long(bytes as usize / PART) {
            self.long[1].store(true, Ordering::Relaxed);
            unit.await_turn();
        }
        Ok(())
    }

    /// Bytes of pages since the last step.
    pub(in crate::read::formats::parquet) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Notes a page of so many values that is passed over.
    pub(in crate::read::formats::parquet) fn pass(&self, values: u32) {
        self.values.fetch_add(u64::from(values), Ordering::Relaxed);
    }

    /// Begins a step.
    pub(in crate::read::formats::parquet) fn step(&self) {
        self.taken.store(0, Ordering::Relaxed);
        if self.unit.used_for != PageUse::Records {
            let mut held = self.held();
            (held.since, held.values_since) = (held.last, 0);
            held.count(&self.unit);
        }
    }

    /// How many values the pages have that were read or passed over.
    pub(in crate::read::formats::parquet) fn values(&self) -> u64 {
        self.values.load(Ordering::Relaxed)
    }

    /// Whether a long page is held.
    pub(in crate::read::formats::parquet) fn is_long(&self) -> bool {
        self.long.iter().any(|long| long.load(Ordering::Relaxed))
    }
}

impl Drop for HeldPages {
    fn drop(&mut self) {
        if self.unit.used_for == PageUse::Records {
            return;
        }
        let counted = self.held().counted;
        let left = self.unit.rewritten.fetch_sub(counted, Ordering::Relaxed) - counted;
        if left == 0 {
            self.unit.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::bytes::RecordCost;

    #[test]
    fn pages_that_are_written_again_take_room_until_nobody_holds_them() {
        const MIB: usize = 1 << 20;
        let cost = RecordCost { token: 1, bytes_of_token: 1 };
        // 40 MiB for one worker.
        let room = RecordRoom::new(Some(28 << 20), 0, 1, cost, &Arc::default());
        let page = |bytes: usize| PageSize { bytes: bytes * MIB, packed: 0, values: Some(1), made: 0 };
        let unit = Arc::new(UnitMemory::used_for(PageUse::Columns, &room, 100 * MIB));
        let held = HeldPages::new(&unit);
        for _ in 0..6 {
            held.take(page(6)).expect("the last one, and three of those before");
        }
        held.encode(1).expect("room for three pages of 4 MiB");
        assert!(held.encode(6 << 20).is_err() && held.take(page(23)).is_err());
        drop(held);
        let why = HeldPages::new(&unit).take(page(41)).expect_err("too long").to_string();
        assert!(why.contains("a page has 42991616 bytes, and takes about 165 MiB"), "{why}");
        let unit = Arc::new(UnitMemory::used_for(PageUse::Objects, &room, 100 * MIB));
        let columns = [(); 3].map(|()| HeldPages::new(&unit));
        columns[0].take(page(20)).expect("room");
        columns[1].take(page(15)).expect("room");
        assert!(columns[2].take(page(6)).is_err() && unit.is_unfit());
        columns[0].step();
        columns[0].take(page(1)).expect_err("the page before is held");
        columns[0].step();
        unit.begin_objects(1);
        columns[1].take(PageSize { packed: 3 * MIB, ..page(1) }).expect("room again");
        assert!(unit.has_room_for_object(MIB) && !unit.has_room_for_object(10 * MIB));
        drop(columns);
        assert_eq!(unit.pages(), 0);
        assert!(room.turn().expect("nobody stops").is_some());
    }
}
