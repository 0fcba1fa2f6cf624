//! A run file as pages: fetched in blocks, verified one by one.

use std::io;
use std::path::PathBuf;

use crate::collection::run::page::{PAGE_BYTES, PAGE_WORDS, Page, RawPage, Seal};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::storage::{Reader, Storage};

/// Most pages fetched with one read: 256 KiB.
pub(in crate::collection) const BLOCK: usize = sized(64, 3);

/// An open run file.
#[derive(Debug)]
pub(in crate::collection) struct RunFile {
    reader: Box<dyn Reader>,
    path: PathBuf,
    seal: Seal,
    pages: u64,
}

impl RunFile {
    /// Opens the file `name`, which must be a whole number of pages, and at least one.
    pub(in crate::collection) fn open(storage: &dyn Storage, name: &str, seal: Seal) -> Result<RunFile> {
        let path = storage.path(name);
        let reader = storage.open(name).map_err(|e| Error::io(&path, "open", e))?;
        let bytes = reader.len().map_err(|e| Error::io(&path, "look at", e))?;
        let file = RunFile { reader, path, seal, pages: bytes / PAGE_BYTES as u64 };
        if file.pages == 0 || bytes % PAGE_BYTES as u64 != 0 {
            let what = format!("{bytes} bytes are no run, which is a whole number of pages of {PAGE_BYTES}");
            return Err(file.damaged(file.pages, what));
        }
        Ok(file)
    }

    /// The run of a file that is out of reach: whatever is read from it, [`Error::Unreachable`] comes.
    pub(in crate::collection) fn unreachable(
        (path, (process, asked)): (PathBuf, (u32, bool)),
        seal: Seal,
        bytes: u64,
    ) -> RunFile {
        let reader = Box::new(OutOfReach { path: path.clone(), process, asked, bytes });
        RunFile { reader, path, seal, pages: bytes / PAGE_BYTES as u64 }
    }

    /// How many pages the file has.
    pub(in crate::collection) fn pages(&self) -> u64 {
        self.pages
    }

    /// What the pages are bound to.
    pub(in crate::collection) fn seal(&self) -> Seal {
        self.seal
    }

    /// Damage in page `number`.
    pub(in crate::collection) fn damaged(&self, number: u64, what: impl Into<String>) -> Error {
        Error::Damaged { path: self.path.clone(), offset: number * PAGE_BYTES as u64, what: what.into() }
    }

    /// Fills `raw` with the pages from `first` on, in one read. Of those from `end` on none is read ahead: they are of
    /// another section.
    pub(in crate::collection) fn fetch(&self, first: u64, end: u64, raw: &mut [RawPage]) -> Result<()> {
        let [offset, end] = [first, end].map(|page| page * PAGE_BYTES as u64);
        let read = self.reader.read_exact_before(bytemuck::cast_slice_mut(raw), offset, end);
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(first, "the file was cut off while it was open"),
            _ => Error::io(&self.path, "read", e),
        })
    }

    /// Verifies a page that was fetched: it must be page `number`, of `section`.
    pub(in crate::collection) fn check<'a>(
        &self,
        raw: &'a mut RawPage,
        number: u64,
        section: u32,
    ) -> Result<&'a Page> {
        let page = self.seal.check(raw, number).map_err(|what| self.damaged(number, what))?;
        if page.section() != section {
            return Err(self.damaged(number, "the page is of another section than the directory says"));
        }
        Ok(page)
    }

    /// Verifies a page like [`RunFile::check`], which must also have `used` words of payload.
    pub(in crate::collection) fn check_used<'a>(
        &self,
        raw: &'a mut RawPage,
        number: u64,
        section: u32,
        used: usize,
    ) -> Result<&'a [u64]> {
        let words = self.check(raw, number, section)?.payload();
        if words.len() != used {
            return Err(self.damaged(number, "the page has more or fewer words than the directory says"));
        }
        Ok(words)
    }

    /// All payload of the pages from `first` on that make up a section of `words` words in pieces of at most
    /// `piece` a page. The caller has made sure that the file has so many pages.
    pub(in crate::collection) fn load(
        &self,
        first: u64,
        section: u32,
        words: usize,
        piece: usize,
    ) -> Result<Vec<u64>> {
        let mut loaded = Vec::with_capacity(words);
        let mut block = Vec::new();
        let end = first + words.div_ceil(piece) as u64;
        for start in (first..end).step_by(BLOCK) {
            block.resize((end - start).min(BLOCK as u64) as usize, [0; PAGE_WORDS]);
            self.fetch(start, end, &mut block)?;
            for (number, raw) in (start..).zip(&mut block) {
                let used = piece.min(words - loaded.len());
                loaded.extend_from_slice(self.check_used(raw, number, section, used)?);
            }
        }
        Ok(loaded)
    }
}

/// The file of a local run of another process.
#[derive(Debug)]
struct OutOfReach {
    path: PathBuf,
    process: u32,
    asked: bool,
    bytes: u64,
}

impl Reader for OutOfReach {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes)
    }

    fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        let (path, process, asked) = (self.path.clone(), self.process, self.asked);
        Err(io::Error::other(Error::Unreachable { path, process, asked }))
    }
}
