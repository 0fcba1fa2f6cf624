//! A folder in memory, which counts what is read.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::storage::{Lock, Reader, Storage, Writer};

type Bytes = Arc<Mutex<Arc<Vec<u8>>>>;

/// The folder.
#[derive(Debug, Default)]
pub(super) struct Memory {
    files: Mutex<BTreeMap<String, Bytes>>,
    reads: Arc<AtomicUsize>,
    pages: Arc<AtomicUsize>,
}

impl Memory {
    /// A folder with one file.
    pub(super) fn with(name: &str, bytes: Vec<u8>) -> Memory {
        let memory = Memory::default();
        memory.put(name, bytes);
        memory
    }

    /// Replaces a file, also under those who have it open.
    pub(super) fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut files = self.files.lock().expect("whole");
        *files.entry(name.to_owned()).or_default().lock().expect("whole") = Arc::new(bytes);
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        let files = self.files.lock().expect("whole");
        files[name].lock().expect("whole").to_vec()
    }

    /// How many reads there were since this was last asked, and of how many pages.
    pub(super) fn reads(&self) -> (usize, usize) {
        (self.reads.swap(0, Ordering::Relaxed), self.pages.swap(0, Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct File {
    bytes: Bytes,
    reads: Arc<AtomicUsize>,
    pages: Arc<AtomicUsize>,
}

impl Writer for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        Arc::make_mut(&mut self.bytes.lock().expect("whole")).extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Reader for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().expect("whole").len() as u64)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.pages.fetch_add(bytes.len() / 4096, Ordering::Relaxed);
        let all = Arc::clone(&self.bytes.lock().expect("whole"));
        let part = all.get(offset as usize..offset as usize + bytes.len());
        bytes.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Storage for Memory {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.files.lock().expect("whole").keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Writer>> {
        if self.files.lock().expect("whole").contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.put(name, Vec::new());
        let bytes = Arc::clone(&self.files.lock().expect("whole")[name]);
        Ok(Box::new(File { bytes, reads: Arc::clone(&self.reads), pages: Arc::clone(&self.pages) }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        let bytes = self.files.lock().expect("whole").get(name).map(Arc::clone);
        let bytes = bytes.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(File { bytes, reads: Arc::clone(&self.reads), pages: Arc::clone(&self.pages) }))
    }

    fn link(&self, _from: &str, _to: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let removed = self.files.lock().expect("whole").remove(name);
        removed.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        Ok(None)
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}
