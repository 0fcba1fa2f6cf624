//! The memory that pages take while a unit is read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::errors::Result;

use super::super::thrift::damaged;
use crate::limits::MAX_PAGE_BYTES;
use crate::read::bytes::{RecordRoom, Turn};

/// How much less a page costs than a record of as many bytes: it is held twice while it is decompressed, and of its records
/// one at a time is sketched.
const PART: usize = 2;

/// What the pages of a unit may take.
pub(in crate::read::formats::parquet) struct UnitMemory {
    room: RecordRoom,
    /// Largest page that is read, and most bytes of a row.
    most: usize,
    record: usize,
    /// The right to have long pages.
    turn: Mutex<Option<Turn>>,
    /// Bytes of a page that the memory has no room for.
    unfit: AtomicU64,
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
}

impl UnitMemory {
    /// For pages of records of at most so many bytes.
    pub(in crate::read::formats::parquet) fn new(room: &RecordRoom, max_record_bytes: usize) -> UnitMemory {
        UnitMemory {
            room: room.clone(),
            most: max_record_bytes.saturating_add(MAX_PAGE_BYTES),
            record: max_record_bytes,
            turn: Mutex::default(),
            unfit: AtomicU64::default(),
        }
    }

    /// Bytes of a page that the memory has no room for, if there was one.
    pub(in crate::read::formats::parquet) fn unfit(&self) -> Option<u64> {
        Some(self.unfit.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// Waits for the right to have long pages.
    fn await_turn(&self) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            // A run that is stopped ends at its next step, with or without a turn.
            *turn = self.room.turn().ok().flatten();
        }
    }

    /// Lets others have long pages.
    pub(in crate::read::formats::parquet) fn give_back(&self) {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl HeldPages {
    pub(in crate::read::formats::parquet) fn new(unit: &Arc<UnitMemory>) -> HeldPages {
        HeldPages {
            unit: Arc::clone(unit),
            taken: AtomicU64::default(),
            values: AtomicU64::default(),
            long: <[AtomicBool; 2]>::default(),
        }
    }

    /// Largest page that is read.
    pub(in crate::read::formats::parquet) fn most(&self) -> usize {
        self.unit.most
    }

    /// Takes room for a page of so many bytes and values, or for a dictionary; waits for its turn if it is long.
    pub(in crate::read::formats::parquet) fn take(&self, bytes: usize, values: Option<u32>) -> Result<()> {
        let unit = &self.unit;
        if bytes / PART > unit.room.most() {
            unit.unfit.store(bytes as u64, Ordering::Relaxed);
            return Err(damaged("a page that the memory has no room for"));
        }
        let long = unit.room.is_long(bytes / PART);
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        self.pass(values.unwrap_or(0));
        self.long[usize::from(values.is_some())].store(long, Ordering::Relaxed);
        if long {
            unit.await_turn();
        }
        Ok(())
    }

    /// Takes room for a row of so many values, each of so many bytes in memory; waits for its turn if that is long.
    pub(in crate::read::formats::parquet) fn gather(&self, values: u64, bytes: usize) -> Result<()> {
        let unit = &self.unit;
        // What holds them grows by doubling.
        let bytes = values.saturating_mul(bytes as u64).saturating_mul(3) / 2;
        if bytes > unit.record as u64 {
            return Err(damaged(format!(
                "a row of {values} values, which take more memory than the {} bytes allowed of a record",
                unit.record
            )));
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
