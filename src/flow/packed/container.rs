//! A container of records that are packed when they leave the process, and only then.

use std::cell::{Cell, OnceCell};

use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::container::{DrainContainer, PushInto, SizableContainer};
use timely::dataflow::channels::ContainerBytes;

use crate::error::Error;
use crate::flow::status::RunStatus;
use crate::limits::sized;

/// Records that are packed together at most.
pub const MOST_PACKED: usize = sized(8 << 10, 5);
/// Records that are gathered for each worker in one process, which hands them over in the cache.
const USUAL: usize = sized(1 << 10, 5);
/// Records that a worker gathers for all workers of several processes: each message wakes three threads, and few long ones cost less.
const FOR_ALL: usize = sized(16 << 10, 5);
/// Records that are gathered for each of them at least.
const LEAST: usize = sized(256, 5);

thread_local! {
    /// Records that this thread gathers for each worker.
    static GATHERED: Cell<usize> = const { Cell::new(USUAL) };
}

/// How many records are gathered for each worker of several processes.
pub fn gathered_for_each(workers: usize) -> usize {
    (FOR_ALL / workers.max(1)).clamp(LEAST, MOST_PACKED)
}

/// How many records this thread gathers for each worker.
pub fn gathered() -> usize {
    GATHERED.get()
}

/// Has this thread gather records for so many workers of several processes.
pub fn gather_for_all(workers: usize) {
    GATHERED.set(gathered_for_each(workers));
}

/// How records are packed.
pub trait Packable: Clone + 'static {
    /// Appends records, [`MOST_PACKED`] at most.
    fn pack(records: &[Self], bytes: &mut Vec<u8>);

    /// Takes them off again; none if these bytes are not what was appended.
    fn unpack(bytes: &mut &[u8]) -> Option<Vec<Self>>;
}

/// Records on their way to another worker. To one of another process they go packed.
#[derive(Clone, Debug)]
pub struct PackedRecords<T> {
    records: Vec<T>,
    /// Packed, from when their length is asked for.
    packed: OnceCell<Vec<u8>>,
    /// Whether what came could not be unpacked.
    damaged: bool,
}

impl<T> Default for PackedRecords<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for PackedRecords<T> {
    fn from(records: Vec<T>) -> Self {
        PackedRecords { records, packed: OnceCell::new(), damaged: false }
    }
}

impl<T> PackedRecords<T> {
    /// The list that held them.
    pub fn into_records(self) -> Vec<T> {
        self.records
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Appends a record to those that were not packed yet; if there is no room for any, room for so many is made.
    #[inline]
    pub fn push(&mut self, record: T, room: usize) {
        if self.records.capacity() == 0 {
            self.records.reserve_exact(room);
        }
        self.records.push(record);
    }

    /// None, in the room of others.
    pub fn emptied(others: PackedRecords<T>) -> PackedRecords<T> {
        let mut records = others.records;
        records.clear();
        records.into()
    }

    /// The records, to be taken. The run fails if they came damaged.
    pub fn records(&mut self, status: &RunStatus) -> &mut Vec<T> {
        if self.damaged {
            status.fail(Error::Worker("another process sent records that cannot be unpacked".into()));
        }
        &mut self.records
    }
}

impl<T> Accountable for PackedRecords<T> {
    fn record_count(&self) -> i64 {
        // One that came damaged is seen, too.
        self.records.len() as i64 + i64::from(self.damaged)
    }
}

impl<T> DrainContainer for PackedRecords<T> {
    type Item<'a>
        = T
    where
        T: 'a;
    type DrainIter<'a>
        = std::vec::Drain<'a, T>
    where
        T: 'a;

    fn drain(&mut self) -> Self::DrainIter<'_> {
        self.records.drain(..)
    }
}

impl<T> SizableContainer for PackedRecords<T> {
    fn at_capacity(&self) -> bool {
        self.records.len() >= gathered()
    }

    fn ensure_capacity(&mut self, stash: &mut Option<Self>) {
        if self.records.capacity() == 0 {
            *self = stash.take().map(PackedRecords::emptied).unwrap_or_default();
        }
        self.records.reserve_exact(gathered().saturating_sub(self.records.len()));
    }
}

impl<T> PushInto<T> for PackedRecords<T> {
    fn push_into(&mut self, record: T) {
        self.records.push(record);
    }
}

impl<T: Packable> ContainerBytes for PackedRecords<T> {
    fn from_bytes(bytes: Bytes) -> Self {
        let records = T::unpack(&mut &bytes[..]);
        PackedRecords { damaged: records.is_none(), ..records.unwrap_or_default().into() }
    }

    fn length_in_bytes(&self) -> usize {
        self.packed().len()
    }

    fn into_bytes<W: std::io::Write>(&self, writer: &mut W) {
        writer.write_all(self.packed()).expect("timely hands in as much room as it was told of");
    }
}

impl<T: Packable> PackedRecords<T> {
    fn packed(&self) -> &[u8] {
        self.packed.get_or_init(|| {
            let mut bytes = Vec::with_capacity(self.records.len() * size_of::<T>());
            T::pack(&self.records, &mut bytes);
            // Whole words, as timely has its own.
            bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
            bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use timely::bytes::arc::BytesMut;

    use super::*;
    use crate::document::Doc;
    use crate::progress::Progress;

    /// What arrives of bytes.
    fn arrived(bytes: &[u8]) -> PackedRecords<Doc> {
        PackedRecords::from_bytes(BytesMut::from(bytes.to_vec()).freeze())
    }

    #[test]
    fn records_cross_packed_and_damage_fails_the_run() {
        let docs: Vec<Doc> = (0..MOST_PACKED as Doc).map(|row| 7 + 4 * row).collect();
        let sent = PackedRecords::from(docs.clone());
        let mut bytes = Vec::new();
        sent.into_bytes(&mut bytes);
        assert!(
            bytes.len() == sent.length_in_bytes()
                && bytes.len() < docs.len() + 16
                && bytes.len().is_multiple_of(8)
        );
        let status = RunStatus::new(Arc::new(Progress::default()));
        let mut back = arrived(&bytes);
        assert_eq!((back.record_count(), back.records(&status)), (docs.len() as i64, &mut docs.clone()));
        assert!(!status.failed());
        let mut damaged = arrived(&[0xff; 16]);
        assert!(damaged.record_count() > 0 && damaged.records(&status).is_empty() && status.failed());
        assert!(status.verdict().is_err());
    }

    #[test]
    fn a_list_that_was_sent_is_used_again() {
        let mut sent = PackedRecords::from(vec![1 as Doc, 2]);
        sent.length_in_bytes();
        let mut stash = Some(std::mem::take(&mut sent));
        sent.ensure_capacity(&mut stash);
        sent.push_into(9);
        let mut bytes = Vec::new();
        sent.into_bytes(&mut bytes);
        assert_eq!(arrived(&bytes).into_records(), [9]);
        (1..gathered()).for_each(|_| sent.push_into(9));
        assert!(sent.at_capacity());
    }
}
