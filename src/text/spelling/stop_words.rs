//! Stop words: those of the lists of Stopwords ISO, in canonical form.
//!
//! A word of a list may be several tokens: in scripts without spaces each letter is one, and some lists have phrases.
//! It is then found where all its tokens stand in a row, parted as in the list, and never by one of them alone.

use hashbrown::{HashMap, HashSet};

use crate::text::Fold;
use crate::text::spelling::spelt::{Speller, Spelt, Word};

/// The codes of the languages that there are stop words of (ISO 639-1), in order.
pub fn stop_languages() -> &'static [&'static str] {
    stop_words::available_languages()
}

/// Whether there are stop words of the language of this code.
pub fn is_stop_language(code: &str) -> bool {
    stop_words::lookup(code).is_some()
}

/// The stop words of some languages.
#[derive(Default)]
pub(in crate::text) struct StopWords {
    /// How many tokens the longest of them has that starts with a token.
    longest: HashMap<u64, usize>,
    runs: HashSet<Vec<Token>>,
    run: Vec<Token>,
}

/// A token of a stop word, and whether a separator stands between it and the token before it.
type Token = (u64, bool);

impl StopWords {
    /// The stop words of the languages of these codes, folded as the texts are; `None` if one of them has none.
    pub(in crate::text) fn of(codes: &[String], fold: Fold) -> Option<StopWords> {
        let (mut found, mut speller, mut spelt) =
            (StopWords::default(), Speller::new(fold), Spelt::default());
        for code in codes {
            for word in stop_words::lookup(code)? {
                spelt.clear();
                speller.feed(word, &mut spelt);
                found.add(spelt.words());
            }
        }
        Some(found)
    }

    fn add(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        let longest = self.longest.entry(first.hash).or_default();
        *longest = words.len().max(*longest);
        self.runs.insert(words.iter().enumerate().map(token).collect());
    }

    /// How many of `words` the longest stop word takes that they start with; 0 if they start with none.
    pub(in crate::text) fn at_start(&mut self, words: &[Word]) -> usize {
        let first = words.first().and_then(|first| self.longest.get(&first.hash));
        let Some(longest) = first else { return 0 };
        self.run.clear();
        self.run.extend(words.iter().take(*longest).enumerate().map(token));
        while !self.run.is_empty() && !self.runs.contains(&self.run) {
            self.run.pop();
        }
        self.run.len()
    }
}

/// What is compared of the token at a place of a run: what stands before the first one does not matter.
fn token((place, word): (usize, &Word)) -> Token {
    (word.hash, place > 0 && word.parted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many words of `text` the stop word takes that it starts with.
    fn at_start(code: &str, text: &str) -> usize {
        let mut spelt = Spelt::default();
        Speller::new(Fold::default()).feed(text, &mut spelt);
        StopWords::of(&[code.to_owned()], Fold::default()).expect(code).at_start(spelt.words())
    }

    #[test]
    fn every_language_has_stop_words() {
        assert!(stop_languages().len() > 50 && stop_languages().is_sorted());
        for code in stop_languages() {
            let found = StopWords::of(&[(*code).to_owned()], Fold::ALL).expect("a language of the list");
            assert!(!found.runs.is_empty(), "{code}");
        }
        assert!(StopWords::of(&["en".into(), "tlh".into()], Fold::NONE).is_none());
        assert!(!is_stop_language("EN") && !is_stop_language(""));
    }

    #[test]
    fn words_of_several_tokens_stand_in_a_row() {
        // zh: wo-men is in the list as one word; so are wo and nothing else that starts here.
        assert_eq!(at_start("zh", "\u{6211}\u{4eec}\u{4e66}"), 2);
        assert_eq!(at_start("zh", "\u{6211}, \u{4eec}"), 1);
        assert_eq!(at_start("zh", "\u{4e66}\u{6211}\u{4eec}"), 0);
        assert_eq!(at_start("vi", "bao gi\u{1edd} \u{111}i"), 2);
        assert_eq!(at_start("en", "the the"), 1);
        assert_eq!(at_start("en", "Don't"), 1);
        assert_eq!(at_start("en", ""), 0);
    }
}
