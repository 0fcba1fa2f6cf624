//! A folder in memory, which counts what is read.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::collection::run::page::PAGE_BYTES;
use crate::storage::{FileWriter, Lock, Reader, Simulated, Storage};

/// The folder.
#[derive(Debug, Default)]
pub(super) struct Memory {
    folder: Simulated,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicUsize,
    pages: AtomicUsize,
    /// Bytes that each read may have fetched ahead.
    reach: Mutex<Vec<Range<u64>>>,
}

impl Memory {
    /// A folder with one file.
    pub(super) fn with(name: &str, bytes: &[u8]) -> Memory {
        let memory = Memory::default();
        memory.put(name, bytes);
        memory
    }

    /// Makes or replaces a file, also under those who have it open.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        // It may be there already.
        let _ = self.folder.create(name);
        self.folder.replace(name, bytes).expect("a file");
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        self.folder.contents(name).expect("a file")
    }

    /// How many reads there were since this was last asked, and of how many pages.
    pub(super) fn reads(&self) -> (usize, usize) {
        (self.counts.reads.swap(0, Ordering::Relaxed), self.counts.pages.swap(0, Ordering::Relaxed))
    }

    /// From where to where a reader that fetches ahead might have read, for each read since this was last asked.
    pub(super) fn reach(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.counts.reach.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug)]
struct Counting {
    file: Box<dyn Reader>,
    counts: Arc<Counts>,
}

impl Reader for Counting {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.counts.reads.fetch_add(1, Ordering::Relaxed);
        self.counts.pages.fetch_add(bytes.len() / PAGE_BYTES, Ordering::Relaxed);
        self.file.read_exact_at(bytes, offset)
    }

    fn read_exact_before(&self, bytes: &mut [u8], offset: u64, end: u64) -> io::Result<()> {
        self.counts.reach.lock().unwrap_or_else(PoisonError::into_inner).push(offset..end);
        self.read_exact_at(bytes, offset)
    }
}

impl Storage for Memory {
    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.names()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        self.folder.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        Ok(Box::new(Counting { file: self.folder.open(name)?, counts: Arc::clone(&self.counts) }))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_names()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.folder.lock()
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}
