//! What each character becomes in canonical text when it can be told from the character alone, looked up by code point.
//!
//! The pages are filled on first touch, from the same normalisation and classification that the slow twin uses, so
//! there is no second copy of Unicode to keep in step and a run pays for the scripts it meets only.

use unicase::UniCase;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::Fold;
use super::classify::{APOSTROPHE, Class, class};
use super::spellings::{
    IOTA_SUBSCRIPT, NON_JOINER, decompose, goes_before, goes_on, is_diacritic, is_dropped, is_nikhahit,
    written,
};

/// Characters a page.
const PAGE: usize = 256;
/// Pages of the whole of Unicode.
const PAGES: usize = 0x11_0000 / PAGE;
/// Marks a page that has not been filled.
const ABSENT: u16 = u16::MAX;

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
    /// Taken out, or a blank, by what stands before it.
    NonJoiner,
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
    fold: Fold,
    places: Vec<u16>,
    pages: Vec<[CharEntry; PAGE]>,
    several: Vec<Vec<(char, Class)>>,
}

impl CharTable {
    pub(super) fn new(fold: Fold) -> CharTable {
        CharTable { fold, places: vec![ABSENT; PAGES], pages: Vec::new(), several: Vec::new() }
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

    /// What spellings its entries take for one.
    pub(super) fn fold(&self) -> Fold {
        self.fold
    }

    /// Appends what the decomposed character `c` becomes, or something canonically equivalent to it, whatever stands beside it.
    pub(super) fn fold_into(&mut self, c: char, out: &mut String) {
        let entry = self.entry(c);
        match entry.kind {
            // The class may have rewritten an apostrophe, which folds to itself.
            CharKind::Plain(Class::Apostrophe) => out.push(c),
            CharKind::Plain(_) => out.push(entry.character()),
            CharKind::Several => out.extend(self.several(entry).iter().map(|&(c, _)| c)),
            CharKind::Dropped | CharKind::NonJoiner => {}
            CharKind::Entangled => match char::from_u32(entry.value) {
                Some(folded) => out.push(folded),
                None => out.push_str(&spelt(c, self.fold)),
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
        let fold = self.fold;
        let gone = |kind| CharEntry { kind, combining: 0, value: 0 };
        if c == NON_JOINER && fold.letters() {
            return gone(CharKind::NonJoiner);
        }
        if is_dropped(c, fold) {
            return gone(CharKind::Dropped);
        }
        let spelt = spelt(c, fold);
        if spelt.is_empty() {
            return gone(CharKind::Dropped);
        }
        let mut settled = spelt.clone();
        settle(&mut settled, fold);
        let canonical: Vec<char> = settled.nfc().collect();
        let stands_alone = |&d: &char| is_nfc_quick(std::iter::once(d)) == IsNormalized::Yes;
        // Not even its own first part may compose with the character before it, the one mark that folds to a letter must
        // first be put in order with the marks that follow, and some marks go by what they stand on.
        let free = settled.nfd().next().is_some_and(|d| stands_alone(&d))
            && canonical.iter().all(stands_alone)
            && !c.nfkd().any(|d| d == IOTA_SUBSCRIPT)
            && !(fold.forms() && is_nikhahit(c) || fold.marks() && is_diacritic(c));
        match canonical[..] {
            [one] if free && canonical_combining_class(one) == canonical_combining_class(c) => {
                CharEntry::plain(one)
            }
            [_, _, ..] if free && canonical.iter().all(|&d| class(d) == Class::Separator) => {
                CharEntry::plain(' ')
            }
            [_, _, ..] if free && canonical.iter().all(|&d| canonical_combining_class(d) == 0) => {
                self.several.push(canonical.iter().map(|&d| (d, class(d))).collect());
                CharEntry { kind: CharKind::Several, combining: 0, value: (self.several.len() - 1) as u32 }
            }
            _ => CharEntry {
                kind: CharKind::Entangled,
                combining: canonical_combining_class(c),
                value: single(&spelt),
            },
        }
    }
}

/// The character that a text consists of, or a value that is none.
fn single(text: &str) -> u32 {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => one.into(),
        _ => u32::MAX,
    }
}

/// What a character becomes, decomposed, whatever stands beside it.
fn spelt(c: char, fold: Fold) -> String {
    let mut decomposed = String::new();
    if !fold.forms() {
        decomposed.extend(c.nfd());
        return UniCase::unicode(decomposed).to_folded_case();
    }
    decompose(c, fold, |d| decomposed.push(d));
    let mut folded = String::new();
    // Case folding leads to forms again.
    UniCase::unicode(decomposed)
        .to_folded_case()
        .chars()
        .for_each(|c| decompose(c, fold, |d| folded.push(d)));
    folded.chars().filter_map(|c| written(c, fold)).collect()
}

/// Brings in order what decomposed characters do to their neighbours, beyond what normalisation does.
pub(super) fn settle(decomposed: &mut String, fold: Fold) {
    if !fold.forms() {
        return;
    }
    let source = std::mem::take(decomposed);
    let mut starter = ' ';
    for c in source.chars() {
        if canonical_combining_class(c) == 0 {
            starter = c;
        } else if goes_on(c, starter, fold) {
            continue;
        }
        let mut before = decomposed.chars().rev();
        match before.next() {
            Some(ring) if goes_before(c, [before.next().unwrap_or(' '), ring], fold) => {
                decomposed.truncate(decomposed.len() - ring.len_utf8());
                decomposed.extend([c, ring]);
            }
            _ => decomposed.push(c),
        }
    }
}
