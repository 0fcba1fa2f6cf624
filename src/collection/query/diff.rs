//! Two texts compared word by word.

use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use crate::config::{Fold, Tokens};
use crate::simd::Simd;
use crate::similarity::{Relation, Relations};
use crate::text::{Tokenizer, shown_words};

/// Words of each text that are compared at most.
const COMPARED: usize = 20_000;
/// Words shown at most, of all stretches together.
const SHOWN: usize = 400;
/// Words shown before and after a difference.
const CONTEXT: usize = 5;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    /// Those of both texts.
    Both,
    /// Those of the first text.
    First,
    /// Those of the second text.
    Second,
}

/// Words that stand together, with one blank between what blanks separate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Whose they are.
    pub whose: Whose,
    /// The words.
    pub words: String,
}

/// How two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WordDiff {
    /// The places where they do, each with a few words around it.
    pub places: Vec<Vec<Piece>>,
    /// Words of the first text that the second has not there.
    pub only_first: u64,
    /// Words of the second text that the first has not there.
    pub only_second: u64,
    /// Words of these places that are not shown, because they are too many.
    pub not_shown: u64,
    /// Words at the ends of the texts that were not compared, because they are too many.
    pub not_compared: u64,
}

/// Compares two texts.
pub fn word_diff(first: &str, second: &str) -> WordDiff {
    let (mut all, mut beyond) = (Vec::new(), 0);
    for text in [first, second] {
        let mut words = shown_words(text);
        let compared: Vec<&str> = words.by_ref().take(COMPARED).collect();
        beyond += words.count() as u64;
        all.push(compared);
    }
    let ops = capture_diff_slices(Algorithm::Myers, &all[0], &all[1]);
    let mut diff = WordDiff { not_compared: beyond, ..WordDiff::default() };
    for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
        diff.only_first += op.old_range().len() as u64;
        diff.only_second += op.new_range().len() as u64;
    }
    let mut room = SHOWN;
    for place in group_diff_ops(ops, CONTEXT) {
        let mut pieces = Vec::new();
        for (whose, words) in place.iter().flat_map(|op| stretches(op, &all[0], &all[1])) {
            let shown = words.len().min(room);
            room -= shown;
            diff.not_shown += (words.len() - shown) as u64;
            pieces.extend((shown > 0).then(|| Piece { whose, words: joined(&words[..shown]) }));
        }
        diff.places.extend((!pieces.is_empty()).then_some(pieces));
    }
    diff
}

/// What kind of duplicates two texts are, and how many words were edited: of all their words, not only of those shown.
pub fn word_relation(first: &str, second: &str, fold: Fold) -> Relation {
    let words = |text: &str| Tokenizer::new(Tokens::Words, fold, Simd::Scalar).tokens(text).to_vec();
    Relations::default().relate(&words(first), &words(second))
}

/// The words that one step of the difference is about.
fn stretches<'a>(op: &DiffOp, first: &'a [&'a str], second: &'a [&'a str]) -> Vec<(Whose, &'a [&'a str])> {
    let (old, new) = (&first[op.old_range()], &second[op.new_range()]);
    match op.tag() {
        DiffTag::Equal => vec![(Whose::Both, old)],
        DiffTag::Delete => vec![(Whose::First, old)],
        DiffTag::Insert => vec![(Whose::Second, new)],
        DiffTag::Replace => vec![(Whose::First, old), (Whose::Second, new)],
    }
}

/// Words of one text, neighbours, as they stand in it: with a blank where they do not touch.
fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let touches = at
            .checked_sub(1)
            .is_some_and(|before| words[before].as_bytes().as_ptr_range().end == word.as_ptr());
        if at > 0 && !touches {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(whose: Whose, words: &str) -> Piece {
        Piece { whose, words: words.to_owned() }
    }

    #[test]
    fn places_have_a_few_words_around_them() {
        let count =
            |from: usize, to: usize| (from..to).map(|n| n.to_string()).collect::<Vec<_>>().join(" \n");
        let (first, second) = (count(0, 50), count(0, 50).replace("20 ", "x  y ") + " z");
        let diff = word_diff(&first, &second);
        assert_eq!((diff.only_first, diff.only_second, diff.not_shown, diff.not_compared), (1, 3, 0, 0));
        let expected = [
            vec![
                piece(Whose::Both, "15 16 17 18 19"),
                piece(Whose::First, "20"),
                piece(Whose::Second, "x y"),
                piece(Whose::Both, "21 22 23 24 25"),
            ],
            vec![piece(Whose::Both, "45 46 47 48 49"), piece(Whose::Second, "z")],
        ];
        assert_eq!(diff.places, expected);
        assert_eq!(word_diff(&first, &first), WordDiff::default());
    }

    #[test]
    fn letters_of_scripts_without_spaces_are_words_and_stay_together() {
        let diff = word_diff("\u{4e2d}\u{6587}\u{5b57}", "\u{4e2d}\u{6587}\u{8a5e} a");
        let expected = [vec![
            piece(Whose::Both, "\u{4e2d}\u{6587}"),
            piece(Whose::First, "\u{5b57}"),
            piece(Whose::Second, "\u{8a5e} a"),
        ]];
        assert_eq!(diff.places, expected);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let text = |name: &str, count: usize| (0..count).map(|n| format!("{name}{n} ")).collect::<String>();
        let diff = word_diff(&text("a", COMPARED + 7), &text("b", 300));
        assert_eq!((diff.only_first, diff.only_second, diff.not_compared), (COMPARED as u64, 300, 7));
        let shown: usize = diff.places.iter().flatten().map(|piece| piece.words.split(' ').count()).sum();
        assert_eq!((shown, diff.not_shown), (SHOWN, (COMPARED + 300 - SHOWN) as u64));
    }
}
