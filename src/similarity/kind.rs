//! What kind of duplicates two texts are (Conrad, Guo and Schriber 2003, section 3.1).
//!
//! Of two texts, `s` is the number of words of the shorter and `l` that of the longer. Aligned as
//! [`Aligner`](super::Aligner) does, they have `c` words in common in the same order; `s - c` words of the shorter are
//! *missing* in the longer, `l - c` words of the longer are *added*. Words added one after the other are a *run*; fewer
//! than 3 words in common do not end one. A run of 40 words or more is *long*: a paragraph of news is no shorter as a
//! rule, a sentence seldom longer, and canonical text has neither. The first of these that holds is the kind:
//!
//! | kind | holds if |
//! |---|---|
//! | exact | the words are the same |
//! | excerpt | the shorter is what the longer begins with, word for word |
//! | elaboration | all of the shorter but a little stands in the longer: `20 (s - c) <= s`, and at least four times as much was added as is missing, `4 (s - c) <= l - c`; and at least half of the added words are in long runs |
//! | insertion | the same, but less than half of the added words are in long runs |
//! | focus | less than half of the shorter stands in the longer in order, `2 c < s`, but at least half of the distinct words of the text that has fewer of them are in the other one |
//! | revision | always |
//!
//! So a few replaced words make a revision, not an insertion. Excerpts are held to the word: one with another last line
//! is an elaboration, because what follows in the longer was added.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::align::{Aligner, Block};
use super::overlap::overlap;

/// One word of so many of the shorter text may be missing in the longer one that has all of it.
const WHOLE: usize = 20;
/// So many words must have been added for each that is missing.
const ADDED: usize = 4;
/// Words of a long run.
const PARAGRAPH: usize = 40;
/// Words in common that end a run.
const ISLAND: usize = 3;

/// A kind of duplicates, in the order of the paper's table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The same text.
    Exact,
    /// One text is what the other one begins with.
    Excerpt,
    /// One text has all of the other, and paragraphs of its own.
    Elaboration,
    /// One text has all of the other, and words, phrases or sentences of its own.
    Insertion,
    /// The texts have their words in common but not their order.
    Focus,
    /// All others.
    Revision,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Kind; 6] =
        [Kind::Exact, Kind::Excerpt, Kind::Elaboration, Kind::Insertion, Kind::Focus, Kind::Revision];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Excerpt => "excerpt",
            Kind::Elaboration => "elaboration",
            Kind::Insertion => "insertion",
            Kind::Focus => "focus",
            Kind::Revision => "revision",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The kind of two token sequences, whichever comes first; the table above is its definition. Takes a fixed number of
/// passes over both, however much they differ.
pub fn kind(a: &[u64], b: &[u64]) -> Kind {
    Kinds::default().kind(a, b)
}

/// Tells kinds, with buffers that are reused from pair to pair.
#[derive(Debug, Default)]
pub struct Kinds {
    aligner: Aligner,
    distinct: [Vec<u64>; 2],
}

impl Kinds {
    /// [`kind`].
    pub fn kind(&mut self, a: &[u64], b: &[u64]) -> Kind {
        // Of two alignments that are as good one is taken: the answer must not depend on which text comes first.
        let (shorter, longer) = if (a.len(), a) <= (b.len(), b) { (a, b) } else { (b, a) };
        if longer.starts_with(shorter) {
            return if longer.len() == shorter.len() { Kind::Exact } else { Kind::Excerpt };
        }
        let blocks = self.aligner.align(shorter, longer);
        let common: usize = blocks.iter().map(|block| block.words).sum();
        let (missing, added) = (shorter.len() - common, longer.len() - common);
        if missing * WHOLE <= shorter.len() && missing * ADDED <= added {
            let long = in_long_runs(blocks, longer.len());
            return if 2 * long >= added { Kind::Elaboration } else { Kind::Insertion };
        }
        if 2 * common < shorter.len() && self.share_words(shorter, longer) {
            return Kind::Focus;
        }
        Kind::Revision
    }

    /// Whether at least half of the distinct words of the text that has fewer of them are in the other.
    fn share_words(&mut self, a: &[u64], b: &[u64]) -> bool {
        for (distinct, words) in self.distinct.iter_mut().zip([a, b]) {
            distinct.clear();
            distinct.extend_from_slice(words);
            distinct.sort_unstable();
            distinct.dedup();
        }
        let [x, y] = &self.distinct;
        2 * overlap(x, y) >= x.len().min(y.len()) as u64
    }
}

/// Words of long runs, of the second of two aligned texts, which has `words`.
fn in_long_runs(blocks: &[Block], words: usize) -> usize {
    let counted = |run: usize| if run >= PARAGRAPH { run } else { 0 };
    let (mut run, mut end, mut long) = (0, 0, 0);
    for block in blocks {
        run += block.second - end;
        end = block.second + block.words;
        if block.words >= ISLAND {
            long += counted(std::mem::take(&mut run));
        }
    }
    long + counted(run + words - end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words `from..to` of a text in which no word stands twice.
    fn text(from: u64, to: u64) -> Vec<u64> {
        (from..to).collect()
    }

    #[track_caller]
    fn assert_kind(a: &[u64], b: &[u64], expected: Kind) {
        assert_eq!((kind(a, b), kind(b, a)), (expected, expected));
    }

    #[test]
    fn of_each_kind_by_hand() {
        let article = text(0, 300);
        assert_kind(&article, &article, Kind::Exact);
        assert_kind(&article[..120], &article, Kind::Excerpt);
        // All but the first word: not what it begins with.
        assert_kind(&article[1..], &article, Kind::Insertion);
        let paragraph = text(1000, 1060);
        assert_kind(&article, &[&article[..100], &paragraph, &article[100..]].concat(), Kind::Elaboration);
        assert_kind(&article, &[&paragraph[..], &article].concat(), Kind::Elaboration);
        let sentence = text(2000, 2018);
        assert_kind(&article, &[&article[..100], &sentence, &article[100..]].concat(), Kind::Insertion);
        // The same words in another order, by stretches of nine.
        let stretches = article.chunks(9).rev().collect::<Vec<_>>().concat();
        assert_kind(&article, &stretches, Kind::Focus);
        // Every tenth word is another.
        let replaced: Vec<u64> =
            article.iter().map(|word| if word % 10 == 3 { word + 5000 } else { *word }).collect();
        assert_kind(&article, &replaced, Kind::Revision);
        assert_kind(&article, &text(7000, 7200), Kind::Revision);
    }

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        let article = text(0, 100);
        let with = |missing: u64, run: u64| {
            [&text(0, 50)[..], &text(1000, 1000 + run), &text(50 + missing, 100)].concat()
        };
        // 5 of 100 words are missing, 20 were added for them: the shorter is the one with 100 words.
        assert_kind(&article, &with(5, 20), Kind::Insertion);
        assert_kind(&article, &with(5, 19), Kind::Revision);
        assert_kind(&article, &with(6, 40), Kind::Revision);
        assert_kind(&article, &with(0, 39), Kind::Insertion);
        assert_kind(&article, &with(0, 40), Kind::Elaboration);
    }

    #[test]
    fn half_of_what_was_added_makes_an_elaboration() {
        let article = text(0, 300);
        let with_phrases = |phrases: usize| {
            let phrase = |at: usize| [&article[at * 3..at * 3 + 3], &[9000 + at as u64]].concat();
            let front: Vec<u64> = (0..phrases).flat_map(phrase).collect();
            [&front[..], &article[phrases * 3..200], &text(1000, 1040), &article[200..]].concat()
        };
        assert_kind(&article, &with_phrases(40), Kind::Elaboration);
        assert_kind(&article, &with_phrases(41), Kind::Insertion);
    }

    #[test]
    fn a_common_word_does_not_end_a_run() {
        let (mut added, article) = (text(1000, 1050), text(0, 100));
        // A word that the text goes on with after what was added, and one that is missing there.
        added[25] = 50;
        let longer = [&article[..50], &added, &article[51..]].concat();
        assert_kind(&article, &longer, Kind::Elaboration);
    }

    #[test]
    fn names_are_those_of_the_rows() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.to_string());
        }
    }

    proptest! {
        #[test]
        fn any_two_texts_are_of_one_kind_whichever_is_first(
            a in prop::collection::vec(0u64..30, 0..200),
            b in prop::collection::vec(0u64..30, 0..200),
        ) {
            prop_assert_eq!(kind(&a, &b), kind(&b, &a));
            let both = [&a[..], &b].concat();
            prop_assert_eq!(kind(&a, &both), if b.is_empty() { Kind::Exact } else { Kind::Excerpt });
            prop_assert_eq!(kind(&both, &b), kind(&b, &both));
        }
    }
}
