//! Anchors: windows of characters that their own hash selects (sif: Manber 1994).

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::lexicon::Lexicon;
use crate::limits::MAX_NGRAM;
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Spread, shingles};
use crate::text::{Text, Tokenizer, Tokens};

/// Anchors of sif (Manber 1994). About `8 / one_in` bytes a character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anchors {
    /// Characters of a window, 1 to [`MAX_NGRAM`]: 50.
    pub characters: usize,
    /// Of so many windows about one is kept, at least 1. Ours: 256, which is eight bits of a hash.
    pub one_in: u64,
}

impl Default for Anchors {
    fn default() -> Anchors {
        Anchors { characters: 50, one_in: 256 }
    }
}

impl Technique for Anchors {
    fn check(&self) -> Result<()> {
        let characters = self.characters as u64;
        within("anchors.characters", characters, 1..=MAX_NGRAM as u64, "50 are published")?;
        within("anchors.one_in", self.one_in, 1..=u64::MAX, "256 keeps one window of 256")
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(
            settings,
            format!("{} chars", self.characters),
            &format!(" of windows of {} characters, one in {}", self.characters, self.one_in),
        )
    }

    fn sketcher(
        &self,
        settings: &Settings<'_>,
        tables: &FrozenTables,
        simd: Simd,
    ) -> Box<dyn MethodSketcher> {
        let text = Text { tokens: Tokens::Chars, ..settings.text.clone() };
        Box::new(Anchored {
            anchors: self.clone(),
            tokenizer: tables.tokenizer(text, simd),
            buffer: Vec::new(),
            spread: Spread::default(),
        })
    }
}

/// The sketcher of [`Anchors`].
struct Anchored {
    anchors: Anchors,
    tokenizer: Tokenizer<Lexicon>,
    buffer: Vec<u64>,
    spread: Spread,
}

impl MethodSketcher for Anchored {
    fn cut(&mut self, text: &str, words: &mut Vec<u64>) -> bool {
        anchors(self.tokenizer.tokens(text), &self.anchors, &mut self.buffer, words);
        self.spread.sort_distinct(words);
        true
    }
}

/// Writes to `anchors` (cleared first) the hashes of the windows that are kept, in the order of the text. `tokens` are
/// those of character mode, one a character of canonical text; `buffer` is working memory.
///
/// A window of `config.characters` characters is kept where its hash is a multiple of `config.one_in`, whatever stands
/// around it, so texts that share a passage keep the same windows of it: about 8 bytes in `one_in` characters. Windows
/// that are kept do not overlap (Conrad et al. 2003, section 2, on Manber): the next begins after the end of the one
/// before. Passages that share little are then in step again after the first window that both keep.
///
/// Ours: a text of which no window is kept has its window of the least hash, and a text shorter than a window is one
/// window, so that no text but the empty one is without an anchor.
fn anchors(tokens: &[u64], config: &Anchors, buffer: &mut Vec<u64>, anchors: &mut Vec<u64>) {
    anchors.clear();
    shingles(tokens, config.characters, buffer);
    let mut free = 0;
    for (at, hash) in buffer.iter().enumerate() {
        if at >= free && hash % config.one_in == 0 {
            anchors.push(*hash);
            free = at + config.characters;
        }
    }
    if anchors.is_empty() {
        anchors.extend(buffer.iter().min());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::token_hash;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn kept(text: &str, characters: usize, one_in: u64) -> Vec<u64> {
        let tokens: Vec<u64> = text.bytes().map(|byte| token_hash(&[byte])).collect();
        let (mut buffer, mut out) = (vec![], vec![4]);
        anchors(&tokens, &Anchors { characters, one_in }, &mut buffer, &mut out);
        out
    }

    /// A text of which no passage is repeated.
    fn numbers(range: std::ops::Range<u64>) -> String {
        range.map(|n| format!("{n} ")).collect()
    }

    #[test]
    fn every_window_is_kept_if_one_in_one_is_and_they_do_not_overlap() {
        let whole = kept("abcdefghij", 3, 1);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[1..], kept("defghi", 3, 1));
    }

    #[test]
    fn no_text_but_the_empty_one_is_without() {
        assert!(kept("", 50, 256).is_empty());
        assert_eq!(kept("short", 50, 256).len(), 1);
        assert_eq!(kept("twelve chars", 5, u64::MAX).len(), 1);
    }

    #[test]
    fn a_passage_of_another_text_is_recognised() {
        let passage = numbers(5000..7000);
        let inner: BTreeSet<u64> = kept(&passage, 50, 64).into_iter().collect();
        let outer = [numbers(100_000..106_000), passage, numbers(200_000..203_000)].concat();
        let outer: BTreeSet<u64> = kept(&outer, 50, 64).into_iter().collect();
        let found = inner.intersection(&outer).count();
        // Contained to 100 %, though the passage is a tenth of the other text; a window at its edge may be lost.
        assert!(found * 10 >= inner.len() * 9, "{found} of {}", inner.len());
        // About one window in 64 begins an anchor, and the 49 after it cannot.
        let expected = 10_000.0 / (64.0 + 49.0);
        assert!((inner.len() as f64 - expected).abs() < 0.25 * expected, "{}", inner.len());
    }

    proptest! {
        #[test]
        fn the_slow_way_keeps_the_same(text in "[a-c]{0,120}", characters in 1usize..8, one_in in 1u64..9) {
            let windows: Vec<&str> =
                (0..(text.len() + 1).saturating_sub(characters)).map(|at| &text[at..at + characters]).collect();
            let windows = if windows.is_empty() && !text.is_empty() { vec![&text[..]] } else { windows };
            let one = |window: &str| {
                let tokens: Vec<u64> = window.bytes().map(|byte| token_hash(&[byte])).collect();
                let mut out = vec![];
                shingles(&tokens, characters, &mut out);
                out[0]
            };
            let hashes: Vec<u64> = windows.iter().map(|window| one(window)).collect();
            let mut slow: Vec<usize> = vec![];
            for (at, hash) in hashes.iter().enumerate() {
                if hash % one_in == 0 && slow.iter().all(|before| before + characters <= at) {
                    slow.push(at);
                }
            }
            let mut slow: Vec<u64> = slow.into_iter().map(|at| hashes[at]).collect();
            if slow.is_empty() {
                slow.extend(hashes.iter().min());
            }
            prop_assert_eq!(kept(&text, characters, one_in), slow);
        }
    }
}
