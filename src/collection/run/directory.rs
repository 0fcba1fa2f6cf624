//! The directory: which sections a run file has, and where the pages of each are.

use crate::collection::run::page::PAYLOAD_WORDS;
use crate::collection::run::rows::packed::{MOST_ROWS, head_words};

/// Version of the form of run files, written in their last page.
pub const RUN_VERSION: u64 = 2;
/// The first word of a trailer.
pub(in crate::collection) const MAGIC: u64 = u64::from_le_bytes(*b"alikerun");
/// Words of a trailer: magic, version, collection, run, first page of the directory, sections, pages of the file,
/// hash of the checksums of all other pages.
pub(in crate::collection) const TRAILER_WORDS: usize = 8;

/// What a section is; the caller gives the numbers their meanings (postings, contents, ...). Each occurs once in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct SectionKind(pub u32);

/// What the rows of a section look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Words of a row: from 1 on, and so few that the head of a page of them fits.
    pub width: usize,
    /// How many of its first words are its key: 1 to `width`.
    pub key: usize,
}

impl Shape {
    /// Whether there can be rows like this.
    pub fn is_sound(&self) -> bool {
        (1..=self.width).contains(&self.key)
            && self.width <= PAYLOAD_WORDS
            && head_words(self.width) <= PAYLOAD_WORDS
    }

    /// How many fences a page holds.
    pub(in crate::collection) fn fences_in_page(&self) -> usize {
        PAYLOAD_WORDS / self.key
    }
}

/// The two sorts of sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collection) enum Sort {
    /// Rows of a shape.
    Rows(Shape),
    /// A stream of words.
    Heap,
}

/// One section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collection) struct Section {
    pub(in crate::collection) kind: SectionKind,
    pub(in crate::collection) sort: Sort,
    /// Rows, or words of a heap.
    pub(in crate::collection) count: u64,
    /// How many pages hold them.
    pub(in crate::collection) pages: u64,
    /// Its first page.
    pub(in crate::collection) first: u64,
    /// The first page of its fences; 0 for a heap.
    pub(in crate::collection) fences: u64,
}

/// Words of a section's entry in the directory.
pub(in crate::collection) const ENTRY_WORDS: usize = 8;
/// How many entries a page holds.
pub(in crate::collection) const ENTRIES_IN_PAGE: usize = PAYLOAD_WORDS / ENTRY_WORDS;
/// Most sections of a run: their numbers leave the two high bits of 32 to the marks below.
pub(in crate::collection) const MAX_SECTIONS: usize = 1 << 30;
/// With a section's number: the section that its fences are pages of.
pub(in crate::collection) const FENCES: u32 = 2 << 30;
/// The section that the pages of the directory are of.
pub(in crate::collection) const DIRECTORY: u32 = 3 << 30;
/// The section that the last page is of.
pub(in crate::collection) const TRAILER: u32 = DIRECTORY | 1;

impl Section {
    /// The first page of the file behind it.
    pub(in crate::collection) fn end(&self) -> u64 {
        self.first + self.pages
    }

    /// How many pages hold its fences.
    pub(in crate::collection) fn fence_pages(&self) -> u64 {
        match self.sort {
            Sort::Rows(shape) => self.pages.div_ceil(shape.fences_in_page() as u64),
            Sort::Heap => 0,
        }
    }

    /// The words of the entry.
    pub(in crate::collection) fn to_words(self) -> [u64; ENTRY_WORDS] {
        let (sort, width, key) = match self.sort {
            Sort::Rows(shape) => (1, shape.width as u64, shape.key as u64),
            Sort::Heap => (2, 0, 0),
        };
        [sort, u64::from(self.kind.0), width, key, self.pages, self.count, self.first, self.fences]
    }

    /// The section of an entry, if it makes sense in a file of `pages` pages. Where its pages are is not looked at.
    fn from_words(words: &[u64], pages: u64) -> Option<Section> {
        let &[sort, kind, width, key, own, count, first, fences] = words else { return None };
        let small = |word: u64| usize::try_from(word).ok().filter(|&word| word <= PAYLOAD_WORDS);
        let shape = Shape { width: small(width)?, key: small(key)? };
        let (sort, in_page) = match sort {
            1 if shape.is_sound() => (Sort::Rows(shape), MOST_ROWS as u64),
            2 => (Sort::Heap, PAYLOAD_WORDS as u64),
            _ => return None,
        };
        // With so few there is no sum of numbers of pages that does not fit. A page has one row at least, and one of a
        // heap is full unless it is the last.
        let least = count.div_ceil(in_page);
        let most = if sort == Sort::Heap { least } else { count };
        let plausible = own <= pages && (least..=most).contains(&own);
        let kind = SectionKind(u32::try_from(kind).ok()?);
        let section = Section { kind, sort, count, pages: own, first, fences };
        (plausible && section.to_words() == words).then_some(section)
    }
}

/// The sections that the `entries` of a directory describe: in the order of the file, which has `pages` pages before
/// the directory and in them nothing but these sections.
///
/// # Errors
/// What is wrong.
pub(in crate::collection) fn sections(entries: &[u64], pages: u64) -> Result<Vec<Section>, &'static str> {
    let mut sections = Vec::with_capacity(entries.len() / ENTRY_WORDS);
    for words in entries.chunks(ENTRY_WORDS) {
        sections
            .push(Section::from_words(words, pages).ok_or("the directory describes no possible section")?);
    }
    let mut next = 0u64;
    for section in &sections {
        if section.first != next || section.pages > pages - next {
            return Err("the directory puts a section where it cannot be");
        }
        next += section.pages;
    }
    for section in &sections {
        let expected = if section.sort == Sort::Heap { 0 } else { next };
        if section.fences != expected || section.fence_pages() > pages - next {
            return Err("the directory puts fences where they cannot be");
        }
        next += section.fence_pages();
    }
    if next != pages {
        return Err("the file has pages that the directory does not know");
    }
    let mut kinds: Vec<_> = sections.iter().map(|section| section.kind).collect();
    kinds.sort_unstable();
    if kinds.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("the directory has two sections of one kind");
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Shape = Shape { width: 2, key: 1 };

    fn section(kind: u32, sort: Sort, (count, pages): (u64, u64), first: u64, fences: u64) -> Section {
        Section { kind: SectionKind(kind), sort, count, pages, first, fences }
    }

    fn entries(sections: &[Section]) -> Vec<u64> {
        sections.iter().flat_map(|section| section.to_words()).collect()
    }

    #[test]
    #[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
    fn a_directory_comes_back() {
        let rows = section(9, Sort::Rows(ROWS), (256, 3), 0, 6);
        let heap = section(2, Sort::Heap, (1021, 3), 3, 0);
        let none = section(3, Sort::Rows(ROWS), (0, 0), 6, 7);
        let all = [rows, heap, none];
        assert_eq!(sections(&entries(&all), 7), Ok(all.to_vec()));
        assert_eq!(sections(&[], 0), Ok(Vec::new()));
        for pages in [0, 3, 6, 8, u64::MAX] {
            assert!(sections(&entries(&all), pages).is_err(), "{pages} pages");
        }
        let twice = [rows, heap, Section { kind: rows.kind, ..none }];
        assert!(sections(&entries(&twice), 7).is_err());
    }

    #[test]
    fn a_word_of_it_changed_is_noticed() {
        let all = [section(9, Sort::Rows(ROWS), (256, 3), 0, 6), section(2, Sort::Heap, (1021, 3), 3, 0)];
        let words = entries(&all);
        for at in 0..words.len() {
            for word in (0..5).chain([words[at] + 510, 1 << 32, u64::MAX - 1, u64::MAX]) {
                let mut other = words.clone();
                if std::mem::replace(&mut other[at], word) == word {
                    continue;
                }
                if let Ok(found) = sections(&other, 7) {
                    // Other kinds, counts, and widths of rows and keys can be as well.
                    assert_eq!(entries(&found), other);
                    assert!([1, 2, 3, 5].contains(&(at % 8)), "word {at} is {word}");
                }
            }
        }
    }
}
