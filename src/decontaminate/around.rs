//! What is cut around n-grams, and which pieces of a text are left: the rule of GPT-3.

use serde::{Deserialize, Serialize};

/// Characters beyond a margin within which a cut ends between two words.
const WORD: usize = 64;

/// What is cut around n-grams of a benchmark, and what is left of a text then (Brown et al. 2020, appendix C).
///
/// Each run of n-grams that share words is cut by itself. The paper says nothing of words that a margin ends in: here these go, too,
/// so that what is left has no words that were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutRule {
    /// Characters that go on each side of a run.
    pub margin: usize,
    /// Pieces of fewer characters go.
    pub min_piece: usize,
    /// A text that falls into more pieces goes whole, short pieces among them; `None` if none does.
    pub max_pieces: Option<usize>,
}

impl CutRule {
    /// What is cut of a text where `runs` are found, in bytes: both ascending, and without common bytes.
    pub(super) fn cut(&self, text: &str, runs: &[[u64; 2]]) -> Vec<[u64; 2]> {
        let mut cut: Vec<[u64; 2]> = Vec::new();
        for [start, end] in runs {
            let [start, end] = self.widened(text, *start as usize, *end as usize);
            match cut.last_mut() {
                Some(last) if start <= last[1] => last[1] = last[1].max(end),
                _ => cut.push([start, end]),
            }
        }
        let pieces = pieces(text, &cut);
        let count = pieces.iter().filter(|[start, end]| start < end).count();
        if self.max_pieces.is_some_and(|most| count > most) {
            return vec![[0, text.len() as u64]];
        }
        for [start, end] in pieces {
            let piece = &text[start as usize..end as usize];
            if piece.chars().take(self.min_piece).count() < self.min_piece {
                cut.push([start, end]);
            }
        }
        cut.sort_unstable();
        cut.dedup_by(|next, last| {
            let meet = next[0] <= last[1];
            last[1] = if meet { last[1].max(next[1]) } else { last[1] };
            meet
        });
        cut.iter_mut().for_each(|cut| *cut = apart(text, *cut));
        cut.retain(|[start, end]| start < end);
        cut
    }

    /// A run with its margins, which end between two words if a word ends near.
    fn widened(&self, text: &str, start: usize, end: usize) -> [u64; 2] {
        let mut before = text[..start].char_indices().rev().map(|(at, char)| at + char.len_utf8());
        let mut behind = text[end..].char_indices().map(|(at, _)| end + at);
        let from = before.nth(self.margin).unwrap_or(0);
        let to = behind.nth(self.margin).unwrap_or(text.len());
        let [from_word, _] = word_around(text, from);
        let [_, to_word] = word_around(text, to);
        [from_word as u64, to_word as u64]
    }
}

/// Where a word begins and ends that a place is within; the place itself if that is between words, or the word is long.
fn word_around(text: &str, at: usize) -> [usize; 2] {
    let (before, behind) = text.split_at(at);
    let is_word = |char: &char| !char.is_whitespace();
    let left: Vec<char> = before.chars().rev().take(WORD + 1).take_while(is_word).collect();
    let right: Vec<char> = behind.chars().take(WORD + 1).take_while(is_word).collect();
    let bytes = |chars: &[char]| chars.iter().map(|char| char.len_utf8()).sum::<usize>();
    let is_within = !left.is_empty() && !right.is_empty() && left.len() <= WORD && right.len() <= WORD;
    if is_within { [at - bytes(&left), at + bytes(&right)] } else { [at, at] }
}

/// A cut that leaves a blank where it would make one of two words, the one before it and the one behind it.
fn apart(text: &str, [start, end]: [u64; 2]) -> [u64; 2] {
    let (before, cut, behind) =
        (&text[..start as usize], &text[start as usize..end as usize], &text[end as usize..]);
    let is_word = |char: Option<char>| char.is_some_and(|char| !char.is_whitespace());
    if !is_word(before.chars().next_back()) || !is_word(behind.chars().next()) {
        return [start, end];
    }
    let blank =
        |char: Option<char>| char.filter(|char| char.is_whitespace()).map(|char| char.len_utf8() as u64);
    match (blank(cut.chars().next()), blank(cut.chars().next_back())) {
        (Some(bytes), _) => [start + bytes, end],
        (_, bytes) => [start, end - bytes.unwrap_or(0)],
    }
}

/// What stands between stretches of a text, before the first, and behind the last.
fn pieces(text: &str, cut: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let starts = std::iter::once(0).chain(cut.iter().map(|[_, end]| *end));
    let ends = cut.iter().map(|[start, _]| *start).chain([text.len() as u64]);
    starts.zip(ends).map(|(start, end)| [start, end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow form: a mark for each character.
    fn obvious(rule: CutRule, text: &str, runs: &[[u64; 2]]) -> Vec<bool> {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let mut cut = vec![false; chars.len()];
        for [start, end] in runs {
            let within = |at: usize| (*start..*end).contains(&(chars[at].0 as u64));
            let first = (0..chars.len()).find(|at| within(*at)).expect("a run has a character");
            let last = (0..chars.len()).rfind(|at| within(*at)).expect("a run has a character");
            let mut from = first.saturating_sub(rule.margin);
            let mut to = (last + 1 + rule.margin).min(chars.len());
            let is_word = |at: usize| !chars[at].1.is_whitespace();
            // Texts of the test have no long words.
            while from > 0 && is_word(from - 1) && is_word(from) {
                from -= 1;
            }
            while to > 0 && to < chars.len() && is_word(to - 1) && is_word(to) {
                to += 1;
            }
            cut[from..to].fill(true);
        }
        let mut at = 0;
        let groups: Vec<(bool, usize, usize)> = cut
            .chunk_by(|a, b| a == b)
            .map(|same| {
                at += same.len();
                (same[0], at - same.len(), at)
            })
            .collect();
        let pieces: Vec<_> = groups.iter().filter(|(is_cut, ..)| !is_cut).collect();
        if rule.max_pieces.is_some_and(|most| pieces.len() > most) {
            return vec![true; cut.len()];
        }
        for (_, from, to) in pieces.into_iter().filter(|(_, from, to)| to - from < rule.min_piece) {
            cut[*from..*to].fill(true);
        }
        // Each stretch of the cut stands between two places, and leaves a blank if both are within words.
        let is_word = |at: usize| chars.get(at).is_some_and(|(_, char)| !char.is_whitespace());
        let all = cut.clone();
        for from in (1..all.len()).filter(|at| all[*at] && !all[at - 1]) {
            let to = (from..all.len()).find(|at| !all[*at]).unwrap_or(all.len());
            if is_word(from - 1) && is_word(to) {
                let blank = [from, to - 1].into_iter().find(|at| !is_word(*at));
                blank.into_iter().for_each(|at| cut[at] = false);
            }
        }
        cut
    }

    proptest! {
        #[test]
        fn cuts_what_the_slow_form_cuts(text in "[ab\u{e9}\u{4e2d}  ]{1,80}", at in prop::collection::vec(0usize..80, 0..8),
                                        margin in 0usize..6, min_piece in 0usize..9,
                                        max_pieces in prop::option::of(0usize..5)) {
            let rule = CutRule { margin, min_piece, max_pieces };
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut at: Vec<usize> = at.into_iter().filter(|at| *at < places.len()).collect();
            at.sort_unstable();
            at.dedup();
            let runs: Vec<[u64; 2]> =
                at.chunks_exact(2).map(|run| [places[run[0]] as u64, places[run[1]] as u64]).collect();
            let cut = rule.cut(&text, &runs);
            let got: Vec<bool> = text
                .char_indices()
                .map(|(at, _)| cut.iter().any(|[start, end]| (*start..*end).contains(&(at as u64))))
                .collect();
            prop_assert_eq!(got, obvious(rule, &text, &runs));
            prop_assert!(cut.windows(2).all(|pair| pair[0][1] < pair[1][0]));
            prop_assert!(cut.iter().all(|[start, end]| start < end && *end <= text.len() as u64));
            let left: String =
                pieces(&text, &cut).into_iter().map(|[start, end]| &text[start as usize..end as usize]).collect();
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert!(left.split_whitespace().all(|word| words.contains(&word)), "{left:?}");
        }
    }

    #[test]
    fn of_a_blank_alone_nothing_is_cut() {
        assert_eq!(CutRule::default().cut("a b", &[[1, 2]]), Vec::<[u64; 2]>::new());
    }

    #[test]
    fn long_words_are_cut_within() {
        let text = format!("{} {}", "x".repeat(300), "y".repeat(300));
        let rule = CutRule { margin: 10, ..CutRule::default() };
        assert_eq!(rule.cut(&text, &[[300, 301]]), [[290, 311]]);
    }
}
