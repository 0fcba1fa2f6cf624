//! Texts cut into pieces, and runs of pieces, each with its identity and its place.
//!
//! The identity is a 64-bit hash of the tokens, so that case, punctuation and blanks do not count. A piece without a word is
//! no piece.

use std::ops::Range;

use super::unit::{PassageUnit, PieceKind};
use crate::simd::Simd;
use crate::text::{Fold, PlacedWords, Tokenizer, Tokens, each_line, each_sentence};

/// The factor of [`folded`].
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// A prime: polynomials over its residues are the same for no other reason than chance. Modulo 2^64 some differ in every coefficient and
/// have the same value whatever the base, as those of a Thue-Morse sequence do.
const PRIME: u64 = (1 << 61) - 1;
/// Where the two polynomials of a run are evaluated.
const BASES: [u64; 2] = [0x1E37_79B9_7F4A_7C15, 0x04CE_B9FE_1A85_EC53];
/// Longest piece whose tokens are held, in bytes; those of longer ones are added up as they come.
const LONG: usize = 1 << 20;

/// Cuts texts into pieces; its buffers are reused from text to text.
pub(super) struct PieceCutter {
    unit: PassageUnit,
    min_words: u64,
    tokenizer: Tokenizer,
    words: PlacedWords,
    runs: PieceRuns,
    /// Runs of words of which it is not known yet where the next word begins: what they are, and where they begin.
    open: Vec<(u64, usize)>,
}

impl PieceCutter {
    pub(super) fn new((unit, min_words): (PassageUnit, u64), fold: Fold, simd: Simd) -> PieceCutter {
        PieceCutter {
            unit,
            min_words,
            tokenizer: Tokenizer::new(Tokens::Words, fold, simd),
            words: PlacedWords::new(fold),
            runs: PieceRuns::new(unit.length),
            open: Vec::new(),
        }
    }

    /// Hands each run of pieces of a text to `take`: what it is, and where it stands. A piece goes with the blanks or the line end behind it:
    /// it ends where the next one begins, but before a bracket that stands at the next word.
    pub(super) fn each(&mut self, text: &str, mut take: impl FnMut(u64, Range<usize>)) {
        let PieceCutter { unit, min_words, tokenizer, words, runs, open } = self;
        runs.clear();
        if unit.kind == PieceKind::Token {
            let mut last = 0;
            words.each(text, |hash, place| {
                // What one character becomes has one place, and what stands in it cannot be told apart.
                if place.start >= last {
                    let end = behind_blanks(text, last..place.start);
                    open.drain(..).for_each(|(identity, start)| take(identity, start..end));
                }
                last = place.end.max(last);
                let run = runs.push(TextPiece { hash, start: place.start, words: 1 });
                let run = run.filter(|(.., words)| words >= min_words);
                open.extend(run.map(|(identity, start, _)| (identity, start)));
            });
            open.drain(..).for_each(|(identity, start)| take(identity, start..text.len()));
            return;
        }
        let mut piece = |place: Range<usize>| {
            let (hash, count) = identity(&text[place.clone()], tokenizer, words);
            if count == 0 {
                return;
            }
            let run = runs.push(TextPiece { hash, start: place.start, words: count });
            if let Some((identity, start, _)) = run.filter(|(.., words)| words >= min_words) {
                take(identity, start..place.end);
            }
        };
        let mut before = None;
        each_start(text, unit.kind, |start| {
            if let Some(before) = before.replace(start) {
                piece(before..start);
            }
        });
        if let Some(last) = before {
            piece(last..text.len());
        }
    }
}

/// Where a word ends behind which so much stands before the next one: behind the last blank, or at that word if there is none.
fn behind_blanks(text: &str, between: Range<usize>) -> usize {
    let blank = text[between.clone()].char_indices().rev().find(|(_, char)| char.is_whitespace());
    blank.map_or(between.end, |(at, char)| between.start + at + char.len_utf8())
}

/// Tells where the pieces of a text begin.
pub(crate) fn each_start(text: &str, kind: PieceKind, mut start: impl FnMut(usize)) {
    let at = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    match kind {
        PieceKind::Sentence => each_sentence(text, |sentence| start(at(sentence))),
        PieceKind::Paragraph => {
            let mut within = false;
            each_line(text, |line| {
                let blank = line.trim_ascii().is_empty();
                if !blank && !within {
                    start(at(line));
                }
                within = !blank;
            });
        }
        PieceKind::Line | PieceKind::Token => each_line(text, |line| start(at(line))),
    }
}

/// What a piece is, and how many words it has.
fn identity(piece: &str, tokenizer: &mut Tokenizer, words: &mut PlacedWords) -> (u64, u64) {
    let mut sum = WordSum::default();
    if piece.len() > LONG {
        words.each(piece, |hash, _| sum.add(hash));
    } else {
        tokenizer.tokens(piece).iter().for_each(|hash| sum.add(*hash));
    }
    (sum.identity(), sum.count)
}

/// The words of a piece, added up as they come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordSum {
    sum: u64,
    /// Words so far.
    pub(crate) count: u64,
}

impl WordSum {
    /// The sum of some words.
    pub(crate) fn of(words: &[u64]) -> WordSum {
        let mut sum = WordSum::default();
        words.iter().for_each(|word| sum.add(*word));
        sum
    }

    /// Adds a word.
    pub(crate) fn add(&mut self, hash: u64) {
        self.sum = folded(self.sum ^ hash);
        self.count += 1;
    }

    /// What the piece is.
    pub(crate) fn identity(self) -> u64 {
        mixed(self.sum ^ self.count)
    }
}

/// Spreads sums.
fn mixed(sum: u64) -> u64 {
    let mixed = folded(sum);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Both halves of a product, in one.
fn folded(sum: u64) -> u64 {
    let product = u128::from(sum ^ 0xFF51_AFD7_ED55_8CCD) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// The residue of `a * b + c`, of three residues.
fn residue(a: u64, b: u64, c: u64) -> u64 {
    let sum = u128::from(a) * u128::from(b) + u128::from(c);
    let sum = (sum as u64 & PRIME) + (sum >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// The residues that stand for a piece in the two polynomials; all of its hash is in them.
fn coefficients(hash: u64) -> [u64; 2] {
    [hash, hash.rotate_left(32)].map(|hash| {
        let sum = (hash & PRIME) + (hash >> 61);
        if sum >= PRIME { sum - PRIME } else { sum }
    })
}

/// A piece of a text.
#[derive(Clone, Copy, Default)]
struct TextPiece {
    hash: u64,
    start: usize,
    words: u64,
}

/// The last pieces of a text, as many as a run has.
struct PieceRuns {
    ring: Box<[TextPiece]>,
    /// Pieces so far, and where the next one goes.
    count: usize,
    next: usize,
    /// The values of the two polynomials.
    sums: [u64; 2],
    words: u64,
    /// What takes the first piece of a run out of either: its factor, negated.
    first: [u64; 2],
}

impl PieceRuns {
    fn new(length: usize) -> PieceRuns {
        let first = BASES.map(|base| PRIME - (1..length).fold(1, |power, _| residue(power, base, 0)));
        PieceRuns {
            ring: vec![TextPiece::default(); length].into(),
            count: 0,
            next: 0,
            sums: [0; 2],
            words: 0,
            first,
        }
    }

    fn clear(&mut self) {
        (self.count, self.next, self.sums, self.words) = (0, 0, [0; 2], 0);
    }

    /// Adds a piece; if it completes a run: what that is, where it begins, and its words.
    fn push(&mut self, piece: TextPiece) -> Option<(u64, usize, u64)> {
        let length = self.ring.len();
        if self.count >= length {
            let gone = self.ring[self.next];
            let out = self.sums.iter_mut().zip(coefficients(gone.hash)).zip(self.first);
            out.for_each(|((sum, gone), first)| *sum = residue(gone, first, *sum));
            self.words -= gone.words;
        }
        self.ring[self.next] = piece;
        self.next = if self.next + 1 == length { 0 } else { self.next + 1 };
        let into = self.sums.iter_mut().zip(coefficients(piece.hash)).zip(BASES);
        into.for_each(|((sum, piece), base)| *sum = residue(*sum, base, piece));
        self.words += piece.words;
        self.count += 1;
        let identity = || mixed(folded(self.sums[0]) ^ self.sums[1].rotate_left(32));
        (self.count >= length).then(|| (identity(), self.ring[self.next].start, self.words))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn runs(text: &str, unit: &str, min_words: u64) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        let unit = unit.parse().expect("a unit");
        let mut cutter = PieceCutter::new((unit, min_words), Fold::default(), Simd::Scalar);
        cutter.each(text, |hash, place| all.push((hash, text[place].to_owned())));
        all
    }

    fn texts(text: &str, unit: &str) -> Vec<String> {
        runs(text, unit, 1).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn pieces_go_with_what_follows_them() {
        assert_eq!(texts("a\n\n-\r\nb c\rd", "line"), ["a\n", "b c\r", "d"]);
        assert_eq!(texts("\n a\nb\n \n\nc\n", "paragraph"), [" a\nb\n \n\n", "c\n"]);
        assert_eq!(
            texts("One. Two! Is it? Yes.", "sentences:2"),
            ["One. Two!", " Two! Is it?", " Is it? Yes."]
        );
        assert_eq!(texts("One, two - three.", "tokens:2"), ["One, two - ", "two - three."]);
        assert_eq!(texts("One (two) three-four", "tokens:1"), ["One ", "two) ", "three-", "four"]);
        assert_eq!(texts("a\nb\n\nc", "lines:2"), ["a\nb\n", "b\n\nc"]);
        assert!(texts("one two", "tokens:3").is_empty() && texts("", "line").is_empty());
    }

    #[test]
    fn case_punctuation_and_blanks_do_not_count() {
        let of = |text| runs(text, "line", 1)[0].0;
        assert_eq!(of("One,  TWO three!"), of("one two; three\n"));
        assert_ne!(of("one two"), of("two one"));
        assert_ne!(of("one two"), of("onetwo"));
        assert_eq!(runs("one two\nthree", "line", 2).len(), 1);
    }

    #[test]
    fn a_long_line_is_the_same_piece_as_a_short_one_of_its_words() {
        let line = format!("one {} two", " ".repeat(2 * LONG));
        assert_eq!(runs(&line, "line", 1)[0].0, runs("One two", "line", 1)[0].0);
    }

    /// Modulo a power of two both have the same polynomial.
    #[test]
    fn opposite_thue_morse_sequences_are_apart() {
        let text = |turned: u32| {
            let words = (0..4096u32).map(|at| ["yes", "no"][((at.count_ones() + turned) % 2) as usize]);
            words.collect::<Vec<_>>().join(" ")
        };
        for unit in ["line", "tokens:1024", "tokens:4096"] {
            assert_ne!(runs(&text(0), unit, 1)[0].0, runs(&text(1), unit, 1)[0].0, "{unit}");
        }
    }

    /// A run is what it is wherever it begins, whatever went before it.
    #[test]
    fn runs_lose_what_goes_out_of_them() {
        let words: Vec<String> = (0..3000).map(|at| format!("w{}", at % 1000)).collect();
        let all = runs(&words.join(" "), "tokens:77", 1);
        let by_text: HashMap<&str, u64> = all.iter().map(|(hash, text)| (text.trim_end(), *hash)).collect();
        assert!(all.iter().all(|(hash, text)| by_text[text.trim_end()] == *hash));
        assert_eq!(by_text.len(), 1000);
        assert_eq!(all.iter().map(|(hash, _)| hash).collect::<std::collections::HashSet<_>>().len(), 1000);
    }

    proptest! {
        /// Runs are the same if their words are the same, wherever they stand.
        #[test]
        fn runs_are_what_their_words_are(words in prop::collection::vec("[ab]", 0..40), length in 1usize..6) {
            let text = words.join(" ");
            let (mut by_words, mut by_hash) = (HashMap::new(), HashMap::new());
            let runs = runs(&text, &format!("tokens:{length}"), 1);
            prop_assert_eq!(runs.len(), (words.len() + 1).saturating_sub(length));
            for (hash, run) in runs {
                let run = run.trim_end().to_owned();
                prop_assert_eq!(*by_words.entry(run.clone()).or_insert(hash), hash);
                prop_assert_eq!(by_hash.entry(hash).or_insert(run.clone()).clone(), run);
            }
        }
    }
}
