//! Words in canonical form, where their letters matter and not only their identity.

use super::classify::{APOSTROPHE, Class, class};
use super::segment::{Segments, Words};

/// Spells the canonical words of texts; its buffers are reused from text to text.
pub struct Speller {
    segments: Segments,
    lower: String,
}

impl Default for Speller {
    fn default() -> Speller {
        Speller::new()
    }
}

impl Speller {
    /// A speller that has not read anything.
    pub fn new() -> Speller {
        Speller { segments: Segments::new(), lower: String::new() }
    }

    /// Hands each canonical word of `text`, in order, to `take`: those whose [`token_hash`](super::token_hash) a
    /// [`Tokenizer`](super::Tokenizer) of words gives.
    pub fn each_word(&mut self, text: &str, mut take: impl FnMut(&str)) {
        // What lies between two such stretches is a separator, whatever their characters turn out to be (`scan`).
        for stretch in text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != APOSTROPHE) {
            if stretch.is_ascii() {
                self.ascii(stretch, &mut take);
            } else {
                self.segments.feed(stretch, &mut Taker(&mut take));
            }
        }
    }

    /// The words of a stretch of ASCII letters, digits and apostrophes: those at its ends, and those that stand beside
    /// each other, belong to no word.
    fn ascii(&mut self, stretch: &str, take: &mut impl FnMut(&str)) {
        for part in stretch.split("''") {
            let word = part.trim_matches(APOSTROPHE);
            if word.is_empty() {
                continue;
            }
            if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                self.lower.clear();
                self.lower.extend(word.chars().map(|c| c.to_ascii_lowercase()));
                take(&self.lower);
            } else {
                take(word);
            }
        }
    }
}

/// Words that somebody takes.
struct Taker<'a, F>(&'a mut F);

impl<F: FnMut(&str)> Words for Taker<'_, F> {
    fn part(&mut self) {}

    fn word(&mut self, word: &str) {
        (self.0)(word);
    }
}

/// Whether a canonical word has no digit or other number in it: letters, their marks, and apostrophes between them.
pub fn is_letters(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || !c.is_numeric())
}

/// Whether a canonical word is a letter of a script without spaces, which is a word by itself.
pub fn is_lone(word: &str) -> bool {
    word.chars().next().is_some_and(|first| !first.is_ascii() && class(first) == Class::Lone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        for (word, letters, lone) in [
            ("don't", true, false),
            ("r2d2", false, false),
            ("2026", false, false),
            ("\u{e9}t\u{e9}", true, false),
            ("x\u{661}", false, false),
            ("\u{4e2d}", true, true),
            ("\u{e01}\u{e35}", true, true),
            ("\u{432}\u{44b}", true, false),
        ] {
            assert_eq!((is_letters(word), is_lone(word)), (letters, lone), "{word}");
        }
    }
}
