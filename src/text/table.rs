//! What each character becomes in canonical text when it can be told from the character alone, looked up by code point.
//!
//! The pages are filled on first touch, from the same normalisation and classification that the slow twin uses, so
//! there is no second copy of Unicode to keep in step and a run pays for the scripts it meets only.

use unicase::UniCase;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::classify::{APOSTROPHE, Class, class, is_dropped};

/// Characters a page.
const PAGE: usize = 256;
/// Pages of the whole of Unicode.
const PAGES: usize = 0x11_0000 / PAGE;
/// Marks a page that has not been filled.
const ABSENT: u16 = u16::MAX;

/// The only mark whose case folding is not a mark.
const IOTA_SUBSCRIPT: char = '\u{0345}';

/// How a character of the source is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharKind {
    /// Becomes one character that neither composes with what stands before it nor is reordered against it, unless it
    /// is a mark of a lower combining class than the mark before it.
    Plain(Class),
    /// Becomes several starters: the index of them in the table.
    Several,
    /// Taken out.
    Dropped,
    /// Must be normalised together with its neighbours.
    Entangled,
}

/// What is known of one character.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharEntry {
    /// How it is treated.
    pub(super) kind: CharKind,
    /// Canonical combining class; above zero only for a mark.
    pub(super) combining: u8,
    /// Plain: the canonical character. Several: an index. Entangled: the case-folded character, if that is one.
    value: u32,
}

impl CharEntry {
    /// The canonical character of a plain entry.
    #[inline]
    pub(super) fn character(self) -> char {
        char::from_u32(self.value).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn plain(c: char) -> CharEntry {
        let class = class(c);
        let written = if class == Class::Apostrophe { APOSTROPHE } else { c };
        CharEntry {
            kind: CharKind::Plain(class),
            combining: canonical_combining_class(c),
            value: written.into(),
        }
    }
}

/// The entries met so far.
pub(super) struct CharTable {
    places: Vec<u16>,
    pages: Vec<[CharEntry; PAGE]>,
    several: Vec<Vec<(char, Class)>>,
}

impl CharTable {
    pub(super) fn new() -> CharTable {
        CharTable { places: vec![ABSENT; PAGES], pages: Vec::new(), several: Vec::new() }
    }

    /// What is known of `c`.
    #[inline]
    pub(super) fn entry(&mut self, c: char) -> CharEntry {
        let code = c as usize;
        match self.pages.get(usize::from(self.places[code / PAGE])) {
            Some(page) => page[code % PAGE],
            None => self.fill(code / PAGE)[code % PAGE],
        }
    }

    /// The characters that an entry of [`CharKind::Several`] becomes.
    pub(super) fn several(&self, entry: CharEntry) -> &[(char, Class)] {
        &self.several[entry.value as usize]
    }

    /// Appends the case folding of `c`, or something canonically equivalent to it.
    pub(super) fn fold_into(&mut self, c: char, out: &mut String) {
        let entry = self.entry(c);
        match entry.kind {
            // The class may have rewritten an apostrophe, which folds to itself.
            CharKind::Plain(Class::Apostrophe) => out.push(c),
            CharKind::Plain(_) => out.push(entry.character()),
            CharKind::Several => out.extend(self.several(entry).iter().map(|&(c, _)| c)),
            CharKind::Dropped => {}
            CharKind::Entangled => match char::from_u32(entry.value) {
                Some(folded) => out.push(folded),
                None => out.push_str(&fold(&c.to_string())),
            },
        }
    }

    #[cold]
    fn fill(&mut self, place: usize) -> &[CharEntry; PAGE] {
        let first = (place * PAGE) as u32;
        // No surrogate reaches a table of chars; their entries are never read.
        let mut page = [CharEntry::plain(char::REPLACEMENT_CHARACTER); PAGE];
        for (code, entry) in (first..).zip(page.iter_mut()) {
            if let Some(c) = char::from_u32(code) {
                *entry = self.describe(c);
            }
        }
        self.places[place] = u16::try_from(self.pages.len()).expect("fewer pages than 16 bits count");
        self.pages.push(page);
        &self.pages[self.pages.len() - 1]
    }

    fn describe(&mut self, c: char) -> CharEntry {
        if is_dropped(c) {
            return CharEntry { kind: CharKind::Dropped, combining: 0, value: 0 };
        }
        let decomposed: String = c.nfd().collect();
        let folded = fold(&decomposed);
        let canonical: Vec<char> = folded.nfc().collect();
        let stands_alone = |&d: &char| is_nfc_quick(std::iter::once(d)) == IsNormalized::Yes;
        // Not even its own first part may compose with the character before it, and the one mark that folds to a letter
        // must first be put in order with the marks that follow.
        let free = folded.nfd().next().is_some_and(|d| stands_alone(&d))
            && canonical.iter().all(stands_alone)
            && !decomposed.contains(IOTA_SUBSCRIPT);
        match canonical[..] {
            [one] if free && canonical_combining_class(one) == canonical_combining_class(c) => {
                CharEntry::plain(one)
            }
            [_, _, ..] if free && canonical.iter().all(|&d| canonical_combining_class(d) == 0) => {
                self.several.push(canonical.iter().map(|&d| (d, class(d))).collect());
                CharEntry { kind: CharKind::Several, combining: 0, value: (self.several.len() - 1) as u32 }
            }
            _ => CharEntry {
                kind: CharKind::Entangled,
                combining: canonical_combining_class(c),
                value: single_fold(c),
            },
        }
    }
}

/// The case folding of one character when that is one character, else a value that is none.
fn single_fold(c: char) -> u32 {
    let folded = fold(&c.to_string());
    let mut characters = folded.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => one.into(),
        _ => u32::MAX,
    }
}

fn fold(text: &str) -> String {
    UniCase::unicode(text).to_folded_case()
}
