//! The careful route: a stretch of text that holds characters beyond ASCII, between two ASCII separators.
//!
//! Characters that can be told on their own come from the [`CharTable`]; only where one composes with its neighbours (or
//! marks stand out of order) is the smallest stretch around it normalised: from the last character that nothing before
//! can touch to just before the next such character.

use unicode_normalization::UnicodeNormalization;

use super::Fold;
use super::classify::{APOSTROPHE, Class, class};
use super::spellings::{NON_JOINER, decompose, is_base, is_blank, is_dropped};
use super::table::{CharKind, CharTable, settle};

/// Canonical characters collected before they are turned into tokens. Bounds memory; larger is not faster.
const BATCH: usize = 512;

/// Where the words of the careful route go.
pub(super) trait Words {
    /// Says that a separator stands before what comes next.
    fn part(&mut self);
    /// A token in canonical form.
    fn word(&mut self, word: &str);
}

/// The careful route with its reused buffers.
pub(super) struct Segments {
    table: CharTable,
    /// Canonical characters not yet given to `writer`.
    canonical: Vec<(char, Class)>,
    decomposed: String,
    folded: String,
    writer: SegmentWriter,
}

impl Segments {
    pub(super) fn new(fold: Fold) -> Segments {
        Segments {
            table: CharTable::new(fold),
            canonical: Vec::new(),
            decomposed: String::new(),
            folded: String::new(),
            writer: SegmentWriter::default(),
        }
    }

    /// Adds the tokens of one segment, which ASCII separators (or the ends of the text) enclose.
    pub(super) fn feed(&mut self, segment: &str, out: &mut impl Words) {
        out.part();
        // Where the last character that nothing before can touch begins, in the source and in `canonical`.
        let mut source_mark = 0;
        let mut canonical_mark = 0;
        let mut combining = 0;
        let mut at = 0;
        while let Some(c) = segment[at..].chars().next() {
            let entry = self.table.entry(c);
            let next = at + c.len_utf8();
            match entry.kind {
                CharKind::Dropped => at = next,
                CharKind::NonJoiner => {
                    if self.is_blank_at(segment, at) {
                        self.canonical.push((' ', Class::Separator));
                        (source_mark, canonical_mark, combining) = (next, self.canonical.len(), 0);
                    }
                    at = next;
                }
                CharKind::Plain(class) if entry.combining > 0 && entry.combining >= combining => {
                    self.canonical.push((entry.character(), class));
                    combining = entry.combining;
                    at = next;
                }
                CharKind::Plain(_) | CharKind::Several if entry.combining == 0 => {
                    if self.canonical.len() >= BATCH {
                        self.write(out);
                    }
                    (source_mark, canonical_mark, combining) = (at, self.canonical.len(), 0);
                    match entry.kind {
                        CharKind::Plain(class) => self.canonical.push((entry.character(), class)),
                        _ => self.canonical.extend_from_slice(self.table.several(entry)),
                    }
                    at = next;
                }
                _ => {
                    at = self.end_of_cluster(segment, next);
                    self.canonical.truncate(canonical_mark);
                    self.normalise(&segment[source_mark..at]);
                }
            }
        }
        self.write(out);
        self.writer.end(out);
    }

    /// The class of a character that becomes one character, which nothing before can touch; of others none.
    pub(super) fn class_of_starter(&mut self, c: char) -> Option<Class> {
        let entry = self.table.entry(c);
        match entry.kind {
            CharKind::Plain(class) if entry.combining == 0 => Some(class),
            _ => None,
        }
    }

    /// Where, from `at` on, the next character begins that nothing before can touch.
    fn end_of_cluster(&mut self, segment: &str, at: usize) -> usize {
        for (i, c) in segment[at..].char_indices() {
            let entry = self.table.entry(c);
            let ends = match entry.kind {
                CharKind::Plain(_) | CharKind::Several => entry.combining == 0,
                CharKind::NonJoiner => self.is_blank_at(segment, at + i),
                CharKind::Dropped | CharKind::Entangled => false,
            };
            if ends {
                return at + i;
            }
        }
        segment.len()
    }

    /// Whether the non-joiner at `at` is a blank.
    fn is_blank_at(&self, segment: &str, at: usize) -> bool {
        let fold = self.table.fold();
        let mut before = segment[..at].chars().rev();
        before
            .find(|&c| c == NON_JOINER || !is_dropped(c, fold) && is_base(c))
            .is_some_and(|c| is_blank(c, fold))
    }

    /// Adds the canonical characters of a cluster by the full route.
    fn normalise(&mut self, cluster: &str) {
        let Segments { table, decomposed, folded, .. } = self;
        let fold = table.fold();
        let visible = cluster.chars().filter(|&c| !is_dropped(c, fold));
        decomposed.clear();
        folded.clear();
        if fold.forms() {
            visible.for_each(|c| decompose(c, fold, |d| decomposed.push(d)));
        } else {
            decomposed.extend(visible);
        }
        for c in decomposed.nfd() {
            table.fold_into(c, folded);
        }
        settle(folded, fold);
        self.canonical.extend(self.folded.nfc().map(|c| (c, class(c))));
    }

    fn write(&mut self, out: &mut impl Words) {
        for &(c, class) in &self.canonical {
            self.writer.write(c, class, out);
        }
        self.canonical.clear();
    }
}

/// Turns canonical characters into tokens.
#[derive(Default)]
struct SegmentWriter {
    word: String,
    /// Whether `word` is a lone letter with its marks.
    lone: bool,
    /// Whether an apostrophe follows `word` that belongs to it if a word character comes next.
    apostrophe: bool,
}

impl SegmentWriter {
    #[inline]
    fn write(&mut self, c: char, class: Class, out: &mut impl Words) {
        match class {
            Class::Word => {
                if self.lone {
                    self.end(out);
                }
                if self.apostrophe {
                    self.word.push(APOSTROPHE);
                    self.apostrophe = false;
                }
                self.word.push(c);
            }
            Class::Lone => {
                let parted = self.apostrophe;
                self.end(out);
                if parted {
                    out.part();
                }
                self.word.push(c);
                self.lone = true;
            }
            Class::Mark if !self.word.is_empty() && !self.apostrophe => self.word.push(c),
            Class::Apostrophe if !self.word.is_empty() && !self.lone && !self.apostrophe => {
                self.apostrophe = true;
            }
            Class::Mark | Class::Apostrophe | Class::Separator => {
                self.end(out);
                out.part();
            }
        }
    }

    /// Ends the word, if there is one.
    fn end(&mut self, out: &mut impl Words) {
        if !self.word.is_empty() {
            out.word(&self.word);
            self.word.clear();
        }
        self.lone = false;
        self.apostrophe = false;
    }
}
