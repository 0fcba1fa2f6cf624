//! What was fetched, on the disk of this machine: what is read a second time need not come from afar again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Part of what is free on the disk that may be taken: the rest is for what is written.
const PART: u64 = 2;

/// A file without a name, to which blocks of all objects are appended.
#[derive(Debug)]
pub struct ObjectSpool {
    file: File,
    end: AtomicU64,
    /// How long it may become; nothing more once writing has failed.
    most: AtomicU64,
}

impl ObjectSpool {
    /// A new one on the disk of a folder, which is made if it has to be.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(folder: &Path) -> io::Result<ObjectSpool> {
        fs::create_dir_all(folder)?;
        let most = AtomicU64::new(free(folder) / PART);
        Ok(ObjectSpool { file: tempfile::tempfile_in(folder)?, end: AtomicU64::new(0), most })
    }

    /// Appends a block; where it is, unless there is no room. What does not fit is fetched again, and is no error.
    fn append(&self, block: &[u8]) -> Option<u64> {
        let bytes = block.len() as u64;
        let at = self.end.fetch_add(bytes, Ordering::Relaxed);
        if at + bytes > self.most.load(Ordering::Relaxed) {
            self.end.fetch_sub(bytes, Ordering::Relaxed);
            return None;
        }
        if self.file.write_all_at(block, at).is_err() {
            self.most.store(0, Ordering::Relaxed);
            return None;
        }
        Some(at)
    }
}

/// Bytes that are free on the disk of a folder, as far as the system tells.
fn free(folder: &Path) -> u64 {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::statvfs(folder).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        u64::MAX
    }
}

/// What is there of one object, for all who read it. It says nothing that the object does not, so any two are equal.
#[derive(Clone, Default)]
pub struct SpooledBlocks(Option<Arc<OfObject>>);

struct OfObject {
    spool: Arc<ObjectSpool>,
    /// By their first bytes: how long blocks are, and where they are in the file.
    blocks: Mutex<BTreeMap<u64, (u64, u64)>>,
    /// By their first bytes: where ranges end that somebody is fetching.
    coming: Mutex<BTreeMap<u64, u64>>,
}

/// A range that somebody is fetching, until this is dropped.
pub(super) struct ComingRange {
    object: Option<Arc<OfObject>>,
    start: u64,
}

impl Drop for ComingRange {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            lock(&object.coming).remove(&self.start);
        }
    }
}

/// A lock that nobody can leave half written behind it.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg_attr(not(any(feature = "remote", test)), expect(dead_code, reason = "nothing is fetched"))]
impl SpooledBlocks {
    /// Those of an object of which nothing is there.
    pub(super) fn new(spool: &Arc<ObjectSpool>) -> SpooledBlocks {
        let (spool, blocks, coming) = (Arc::clone(spool), Mutex::default(), Mutex::default());
        SpooledBlocks(Some(Arc::new(OfObject { spool, blocks, coming })))
    }

    /// Whether there is a place for what is fetched.
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps what was fetched from `start` on.
    pub(super) fn keep(&self, start: u64, block: &[u8]) {
        let Some(object) = &self.0 else { return };
        let new = !block.is_empty() && self.at(start).is_none();
        if let Some(at) = new.then(|| object.spool.append(block)).flatten() {
            lock(&object.blocks).insert(start, (block.len() as u64, at));
        }
    }

    /// Notes that somebody fetches a range.
    pub(super) fn fetching(&self, range: &Range<u64>) -> ComingRange {
        let object = self.0.clone();
        if let Some(object) = &object {
            lock(&object.coming).insert(range.start, range.end);
        }
        ComingRange { object, start: range.start }
    }

    /// The end of the range with the byte `at` that somebody is fetching, if somebody is.
    pub(super) fn coming(&self, at: u64) -> Option<u64> {
        let coming = lock(&self.0.as_ref()?.coming);
        coming.range(..=at).next_back().map(|(_, end)| *end).filter(|end| at < *end)
    }

    /// The end of the block that has the byte `at`, and where that byte is in the file.
    fn find(&self, at: u64) -> Option<(u64, u64)> {
        let blocks = lock(&self.0.as_ref()?.blocks);
        let (start, (bytes, place)) = blocks.range(..=at).next_back()?;
        let end = start + bytes;
        (at < end).then(|| (end, place + (at - start)))
    }

    /// The end of the block that has the byte `at`.
    pub(super) fn at(&self, at: u64) -> Option<u64> {
        self.find(at).map(|(end, _)| end)
    }

    /// How far a range goes before the first block that begins in it, be it there or coming.
    pub(super) fn before(&self, range: Range<u64>) -> u64 {
        let Some(object) = self.0.as_ref().filter(|_| !range.is_empty()) else { return range.end };
        let there = lock(&object.blocks).range(range.clone()).next().map_or(range.end, |(start, _)| *start);
        lock(&object.coming).range(range.start..there).next().map_or(there, |(start, _)| *start)
    }

    /// Reads from the byte `at` on, which is there.
    pub(super) fn read(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let Some((object, (end, place))) = self.0.as_ref().zip(self.find(at)) else { return Ok(0) };
        let count = into.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
        object.spool.file.read_exact_at(&mut into[..count], place)?;
        Ok(count)
    }
}

impl fmt::Debug for SpooledBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpooledBlocks")
    }
}

impl PartialEq for SpooledBlocks {
    fn eq(&self, _: &SpooledBlocks) -> bool {
        true
    }
}

impl Eq for SpooledBlocks {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_again_as_long_as_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Arc::new(ObjectSpool::new(&folder.path().join("new")).expect("a file"));
        spool.most.store(10, Ordering::Relaxed);
        let (one, other) = (SpooledBlocks::new(&spool), SpooledBlocks::new(&spool));
        one.keep(5, b"abcd");
        other.keep(0, b"xyz");
        one.keep(100, b"too much");
        assert_eq!(
            (one.at(4), one.at(5), one.at(8), one.at(9), one.at(100)),
            (None, Some(9), Some(9), None, None)
        );
        assert_eq!((one.before(0..20), one.before(6..20), other.before(1..2)), (5, 20, 2));
        let mut into = [0; 10];
        assert_eq!((one.read(&mut into, 7).expect("read"), &into[..2]), (2, &b"cd"[..]));
        assert_eq!((other.read(&mut into[..2], 1).expect("read"), &into[..2]), (2, &b"yz"[..]));
        assert_eq!(std::fs::read_dir(folder.path().join("new")).expect("a folder").count(), 0);
    }

    #[test]
    fn what_one_fetches_others_wait_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let blocks = SpooledBlocks::new(&Arc::new(ObjectSpool::new(folder.path()).expect("a file")));
        let range = blocks.fetching(&(5..9));
        assert_eq!(
            (blocks.coming(4), blocks.coming(5), blocks.coming(8), blocks.coming(9)),
            (None, Some(9), Some(9), None)
        );
        assert_eq!((blocks.before(0..20), blocks.before(6..20)), (5, 20));
        drop(range);
        assert_eq!((blocks.coming(5), blocks.before(0..20)), (None, 20));
    }

    #[test]
    fn without_a_place_nothing_is_kept() {
        let none = SpooledBlocks::default();
        none.keep(0, b"abc");
        assert_eq!((none.at(0), none.before(0..7)), (None, 7));
    }
}
