//! The measures of a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::grams::RepeatedGrams;
use super::measures::{MEASURES, RepetitionLimits, RepetitionMeasure};
use crate::passages::{PieceKind, WordSum, each_start};
use crate::text::{Fold, PlacedWords};

/// The measures of a text, each as a part and the whole that it is of; 0 of 0 in a text without a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepetitionShares([(u64, u64); MEASURES]);

impl RepetitionShares {
    /// The measures with their values.
    pub fn each(&self) -> impl ExactSizeIterator<Item = (RepetitionMeasure, (u64, u64))> {
        RepetitionMeasure::all().zip(self.0)
    }

    /// The measures that are over their limit.
    pub fn above(&self, limits: &RepetitionLimits) -> impl Iterator<Item = RepetitionMeasure> {
        let over = self
            .each()
            .zip(limits.each())
            .filter(|((_, (part, whole)), (_, limit))| limit.is_exceeded(*part, *whole));
        over.map(|((measure, _), _)| measure)
    }
}

/// Measures texts; its buffers are reused from text to text. Words are those of [`PlacedWords`], so that case, punctuation and
/// blanks do not count.
pub struct RepetitionMeter {
    placed: PlacedWords,
    words: Vec<u64>,
    /// Characters of all words before a word, and of all of them.
    before: Vec<u32>,
    lines: Pieces,
    paragraphs: Pieces,
    grams: RepeatedGrams,
}

impl Default for RepetitionMeter {
    fn default() -> RepetitionMeter {
        RepetitionMeter {
            placed: PlacedWords::new(Fold::default()),
            words: Vec::new(),
            before: Vec::new(),
            lines: Pieces::default(),
            paragraphs: Pieces::default(),
            grams: RepeatedGrams::default(),
        }
    }
}

impl RepetitionMeter {
    /// Reads a text of fewer than 2^32 - 1 bytes, and returns how many words it has.
    pub fn read(&mut self, text: &str) -> usize {
        let RepetitionMeter { placed, words, before, lines, paragraphs, .. } = self;
        words.clear();
        before.clear();
        lines.begin(text, PieceKind::Line);
        paragraphs.begin(text, PieceKind::Paragraph);
        let mut characters = 0;
        placed.each(text, |word, place| {
            let own = characters_of(&text[place.clone()]);
            lines.add(word, place.start, own);
            paragraphs.add(word, place.start, own);
            words.push(word);
            before.push(characters);
            characters += own;
        });
        before.push(characters);
        words.len()
    }

    /// The measures of the text that was read last.
    pub fn measure(&mut self) -> RepetitionShares {
        let lines = self.lines.end();
        let paragraphs = self.paragraphs.end();
        let RepetitionMeter { words, before, grams, .. } = self;
        let all = u64::from(before.last().copied().unwrap_or_default());
        let characters = |stretch: Range<usize>| u64::from(before[stretch.end] - before[stretch.start]);
        grams.begin(words);
        let mut n = 2;
        let values = RepetitionMeasure::all().map(|measure| match measure {
            RepetitionMeasure::DuplicateLines => (lines.duplicates, lines.count),
            RepetitionMeasure::DuplicateParagraphs => (paragraphs.duplicates, paragraphs.count),
            RepetitionMeasure::DuplicateLineCharacters => (lines.duplicate_characters, all),
            RepetitionMeasure::DuplicateParagraphCharacters => (paragraphs.duplicate_characters, all),
            // Measures are in the order of their lengths.
            RepetitionMeasure::TopGram(length) => {
                (n..length).for_each(|_| grams.lengthen());
                n = length;
                let each = grams.most_frequent().map(|places| grams.covered(places).map(characters).sum());
                (each.max().unwrap_or_default(), all)
            }
            RepetitionMeasure::DuplicateGrams(length) => {
                (n..length).for_each(|_| grams.lengthen());
                n = length;
                (grams.covered(grams.repeated()).map(characters).sum(), all)
            }
        });
        let mut shares = RepetitionShares::default();
        shares.0.iter_mut().zip(values).for_each(|(share, value)| *share = value);
        shares
    }
}

/// How many characters a word has.
fn characters_of(word: &str) -> u32 {
    // All but bytes that go on with a character.
    word.bytes().filter(|byte| byte & 0xC0 != 0x80).count() as u32
}

/// Lines or paragraphs of a text.
#[derive(Default)]
struct Pieces {
    /// Where each begins.
    starts: Vec<usize>,
    /// The next one of these.
    next: usize,
    words: WordSum,
    characters: u32,
    /// What each with a word is, and its characters behind its place.
    all: Vec<(u64, u32, u32)>,
}

/// What of the pieces of a text is repeated.
struct RepeatedPieces {
    count: u64,
    /// Those that stand before.
    duplicates: u64,
    duplicate_characters: u64,
}

impl Pieces {
    fn begin(&mut self, text: &str, kind: PieceKind) {
        self.starts.clear();
        self.all.clear();
        (self.next, self.words, self.characters) = (0, WordSum::default(), 0);
        each_start(text, kind, |start| self.starts.push(start));
    }

    /// Adds a word that stands behind all others.
    fn add(&mut self, word: u64, start: usize, characters: u32) {
        while self.starts.get(self.next).is_some_and(|next| *next <= start) {
            self.close();
            self.next += 1;
        }
        self.words.add(word);
        self.characters += characters;
    }

    fn close(&mut self) {
        if self.words.count > 0 {
            self.all.push((self.words.identity(), self.all.len() as u32, self.characters));
        }
        (self.words, self.characters) = (WordSum::default(), 0);
    }

    fn end(&mut self) -> RepeatedPieces {
        self.close();
        self.all.sort_unstable();
        let (mut duplicates, mut duplicate_characters) = (0, 0);
        for same in self.all.chunk_by(|a, b| a.0 == b.0) {
            duplicates += same.len() as u64 - 1;
            duplicate_characters +=
                same[1..].iter().map(|(.., characters)| u64::from(*characters)).sum::<u64>();
        }
        RepeatedPieces { count: self.all.len() as u64, duplicates, duplicate_characters }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::prelude::*;

    use super::*;

    fn measured(text: &str) -> RepetitionShares {
        let mut meter = RepetitionMeter::default();
        // What is left of a text before does not matter.
        meter.read("x y x y\n\nx y x y");
        meter.measure();
        meter.read(text);
        meter.measure()
    }

    /// The same by a program that keeps everything in maps. Words stand between blanks.
    fn obvious(text: &str) -> Vec<(u64, u64)> {
        let count = |word: &str| word.chars().count() as u64;
        let words: Vec<&str> = text.split_whitespace().collect();
        let all = words.iter().map(|word| count(word)).sum();
        let pieces = |pieces: Vec<Vec<&str>>| {
            let (mut seen, mut duplicates, mut characters, mut total) = (BTreeSet::new(), 0, 0, 0);
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                total += 1;
                let own: u64 = piece.iter().map(|word| count(word)).sum();
                if !seen.insert(piece) {
                    duplicates += 1;
                    characters += own;
                }
            }
            [(duplicates, total), (characters, all)]
        };
        let split =
            |at: &str| pieces(text.split(at).map(|piece| piece.split_whitespace().collect()).collect());
        let ([lines, line_characters], [paragraphs, paragraph_characters]) = (split("\n"), split("\n\n"));
        let mut values = vec![lines, paragraphs, line_characters, paragraph_characters];
        for n in 2..=10 {
            let mut places: HashMap<&[&str], Vec<usize>> = HashMap::new();
            words.windows(n).enumerate().for_each(|(at, gram)| places.entry(gram).or_default().push(at));
            places.retain(|_, places| places.len() > 1);
            let covered = |places: &mut dyn Iterator<Item = usize>| -> u64 {
                let covered: BTreeSet<usize> = places.flat_map(|at| at..at + n).collect();
                covered.into_iter().map(|at| count(words[at])).sum()
            };
            let most = places.values().map(Vec::len).max();
            let top = places.values().filter(|places| Some(places.len()) == most);
            values.push(match n {
                ..5 => {
                    (top.map(|places| covered(&mut places.iter().copied())).max().unwrap_or_default(), all)
                }
                _ => (covered(&mut places.values().flatten().copied()), all),
            });
        }
        values
    }

    #[test]
    fn a_text_that_repeats_itself() {
        let shares = measured("One two.\none, TWO\n\nthree\n\nONE TWO\none two\n");
        let of = |name: &str| {
            let found = shares.each().find(|(measure, _)| measure.to_string() == name);
            found.map(|(_, share)| share).expect("a measure")
        };
        assert_eq!(of("duplicate-lines"), (3, 5));
        assert_eq!(of("duplicate-paragraphs"), (1, 3));
        assert_eq!(of("duplicate-line-characters"), (18, 29));
        assert_eq!(of("duplicate-paragraph-characters"), (12, 29));
        // "one two", four times.
        assert_eq!(of("top-2-gram"), (24, 29));
        assert_eq!(of("duplicate-5-grams"), (0, 29));
        let above: Vec<String> =
            shares.above(&RepetitionLimits::default()).map(|measure| measure.to_string()).collect();
        assert!(
            above.contains(&"duplicate-lines".to_owned()) && !above.contains(&"duplicate-5-grams".to_owned())
        );
    }

    #[test]
    fn nothing_repeats_in_nothing() {
        for text in ["", " \n\n-", "one", "one two three"] {
            assert!(measured(text).above(&RepetitionLimits::default()).next().is_none(), "{text}");
        }
    }

    #[test]
    fn limits_are_exact() {
        let limits = RepetitionLimits::default();
        // Three of ten lines stand before, which is the limit.
        let lines = "a\nb\nc\nd\ne\nf\ng\n";
        let over = |text: &str| {
            measured(text).above(&limits).any(|measure| measure == RepetitionMeasure::DuplicateLines)
        };
        assert!(!over(&format!("{lines}a\nb\nc\n")) && over(&format!("{lines}a\nb\nc\nd\n")));
    }

    proptest! {
        /// What is measured is what a program with maps finds.
        #[test]
        fn measures_are_those_of_the_obvious_program(
            words in prop::collection::vec(("[abc]|dd|\u{e9}\u{e9}|\u{4e00}", "[ \n]|\n\n"), 0..80)
        ) {
            let text: String = words.iter().flat_map(|(word, blank)| [&**word, &**blank]).collect();
            let found: Vec<_> = measured(&text).each().map(|(_, share)| share).collect();
            prop_assert_eq!(found, obvious(&text));
        }
    }
}
