//! Heaps: values of any length, addressed by where they begin.

use std::fmt;
use std::sync::Arc;

use crate::collection::run::directory::Section;
use crate::collection::run::file::{BLOCK, RunFile};
use crate::collection::run::page::{PAGE_WORDS, PAYLOAD_WORDS, RawPage, decode};
use crate::error::Result;
use crate::limits::sized;

/// A stream of words.
#[derive(Clone, Debug)]
pub struct HeapReader {
    file: Arc<RunFile>,
    section: Section,
    number: u32,
}

impl HeapReader {
    pub(in crate::collection) fn new(file: Arc<RunFile>, section: Section, number: u32) -> HeapReader {
        HeapReader { file, section, number }
    }

    /// Whether it is the same heap of the same open run.
    pub(in crate::collection) fn is(&self, other: &HeapReader) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.number == other.number
    }

    /// How many words there are.
    pub fn len(&self) -> u64 {
        self.section.count
    }

    /// How many pages hold them.
    pub fn pages(&self) -> u64 {
        self.section.pages
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends to `words` the `count` words from word `start` on. A `Vec` that is used again is allocated once.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], also if the heap has no such words: whoever asks has read of them; and
    /// [`crate::error::Error::Io`]. `words` is then as long as it was.
    pub fn read(&self, start: u64, count: usize, words: &mut Vec<u64>) -> Result<()> {
        if start.checked_add(count as u64).is_none_or(|end| end > self.section.count) {
            let what = format!("words from {start} on, {count} of them, are beyond the end of a heap");
            return Err(self.file.damaged(self.section.first, what));
        }
        let before = words.len();
        let end = start + count as u64;
        let mut at = start;
        while at < end {
            // So that it ends where a page does, unless it is the end.
            let most = (BLOCK * PAYLOAD_WORDS) as u64 - at % PAYLOAD_WORDS as u64;
            let part = (end - at).min(most);
            if let Err(error) = self.read_part(at, part as usize, words) {
                words.truncate(before);
                return Err(error);
            }
            at += part;
        }
        Ok(())
    }

    /// Reads words that are in at most [`BLOCK`] pages: whole pages onto the end of `words`, from which all that was
    /// not asked for is then taken out.
    fn read_part(&self, start: u64, count: usize, words: &mut Vec<u64>) -> Result<()> {
        let first = start / PAYLOAD_WORDS as u64;
        let skip = (start % PAYLOAD_WORDS as u64) as usize;
        let pages = (skip + count).div_ceil(PAYLOAD_WORDS);
        let old = words.len();
        words.resize(old + pages * PAGE_WORDS, 0);
        let raw = bytemuck::cast_slice_mut(&mut words[old..]);
        self.file.fetch(self.section.first + first, self.section.end(), raw)?;
        for (data, raw) in (first..).zip(raw) {
            let used = (self.section.count - data * PAYLOAD_WORDS as u64).min(PAYLOAD_WORDS as u64);
            self.file.check_used(raw, self.section.first + data, self.number, used as usize)?;
        }
        let (mut to, mut left) = (old, count);
        for page in 0..pages {
            let skip = if page == 0 { skip } else { 0 };
            let here = left.min(PAYLOAD_WORDS - skip);
            let from = old + page * PAGE_WORDS + 2 + skip;
            words.copy_within(from..from + here, to);
            (to, left) = (to + here, left - here);
        }
        words.truncate(to);
        Ok(())
    }
}

/// Heaps of which a cursor keeps a page: rows of several runs in order lead from one to the other.
const MOST_HEAPS: usize = sized(64, 2);

/// Reads of short values that come in about the order in which they lie in each heap: the page that was read last is kept, and many
/// values are on it.
#[derive(Debug, Default)]
pub struct HeapCursor {
    pages: Vec<HeldPage>,
}

/// A page of a heap.
struct HeldPage {
    heap: HeapReader,
    /// Its number in the heap.
    page: u64,
    raw: Vec<RawPage>,
}

/// Its words would fill the screen.
impl fmt::Debug for HeldPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldPage").field("heap", &self.heap).field("page", &self.page).finish_non_exhaustive()
    }
}

impl HeapCursor {
    /// Does what [`HeapReader::read`] of `heap` does.
    ///
    /// # Errors
    /// Those of [`HeapReader::read`].
    pub fn read(&mut self, heap: &HeapReader, start: u64, count: usize, words: &mut Vec<u64>) -> Result<()> {
        let payload = PAYLOAD_WORDS as u64;
        let end = start.checked_add(count as u64).filter(|end| *end <= heap.section.count);
        let Some(end) = end.filter(|_| count <= PAYLOAD_WORDS) else {
            return heap.read(start, count, words);
        };
        let before = words.len();
        for page in start / payload..end.div_ceil(payload) {
            let raw = self.page(heap, page).inspect_err(|_| words.truncate(before))?;
            let first = page * payload;
            let (from, to) = (start.max(first) - first, end.min(first + payload) - first);
            words.extend_from_slice(&decode(raw).payload()[from as usize..to as usize]);
        }
        Ok(())
    }

    /// A page, in the place of another one of its heap.
    fn page(&mut self, heap: &HeapReader, page: u64) -> Result<&mut RawPage> {
        let mut raw = vec![];
        if let Some(at) = self.pages.iter().rposition(|held| held.heap.is(heap)) {
            if self.pages[at].page == page {
                return Ok(&mut self.pages[at].raw[0]);
            }
            raw = self.pages.swap_remove(at).raw;
        } else if self.pages.len() == MOST_HEAPS {
            raw = self.pages.remove(0).raw;
        }
        raw.resize(1, [0; PAGE_WORDS]);
        let number = heap.section.first + page;
        heap.file.fetch(number, heap.section.end(), &mut raw)?;
        let used = (heap.section.count - page * PAYLOAD_WORDS as u64).min(PAYLOAD_WORDS as u64);
        heap.file.check_used(&mut raw[0], number, heap.number, used as usize)?;
        self.pages.push(HeldPage { heap: heap.clone(), page, raw });
        let last = self.pages.len() - 1;
        Ok(&mut self.pages[last].raw[0])
    }
}
