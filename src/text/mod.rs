//! Text to canonical tokens, as 64-bit hashes.
//!
//! Canonical text is Unicode's compatibility caseless form, composed: NFKC after full case folding after decomposition, so
//! that equivalent texts and case variants give the same tokens. [`Fold`] says which spellings beyond these are one, or
//! that canonical equivalence (NFC) is all. In canonical text,
//! - a **word** is a maximal run of letters and numbers of any script and the combining marks that follow them;
//! - an **apostrophe** (U+0027, U+2019, U+02BC, U+FF07, all written U+0027) stays in a word between two letters or
//!   numbers of scripts with spaces, and separates elsewhere;
//! - a letter of a **script without spaces** (Han, kana, Thai, Khmer and the like) is a token of its own with the marks
//!   that follow it, so that shingles of such text are character n-grams;
//! - **invisible** characters (Unicode's default-ignorable ones: soft hyphen, joiners, variation selectors, direction
//!   marks) are taken out before all else, except the zero-width space, which separates;
//! - all else separates: punctuation, symbols, underscore, marks with nothing to stand on.
//!
//! In character mode the tokens are the characters of the words joined by one space where a separator stood.
//!
//! What [`Filter`] leaves out is cut out of the canonical text, and stems take the place of words.
//! A text of which nothing would be left is taken as it is: it can still be compared, and is never dropped unsaid.
//!
//! | file | subject |
//! |---|---|
//! | `classify` | what a character is: the rules |
//! | `fold`, `spellings` | which spellings are taken for one: as it is configured, and the rules |
//! | `hash` | the identity of a token |
//! | `scan`, `masks` | the fast path: words from the bit masks of 64-byte blocks |
//! | `segment`, `table` | the careful route of stretches beyond ASCII |
//! | `out` | the buffer of hashes, and character mode's spaces |
//! | `places` | the same tokens with their places in the text |
//! | `typed` | words that somebody types to find a name |
//! | `spelling/` | words in canonical form, where their letters matter: filters, stems, stop words, sentences and lines |
//! | `tests/twin` | the slow, obvious form that all of it is held equal to |

mod classify;
mod fold;
mod hash;
mod masks;
mod out;
mod places;
mod scan;
mod segment;
mod spelling;
mod spellings;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod typed;

pub use fold::Fold;
pub use hash::token_hash;
pub use places::PlacedWords;
pub use spelling::filter::{NoFrequencies, TermFrequencies};
pub use spelling::options::{Filter, Text, Tokens};
pub use spelling::pieces::{each_line, each_sentence};
pub use spelling::spelt::{Speller, is_letters, is_lone, is_long, is_number};
pub use spelling::stems::{is_stem_language, stem_languages};
pub use spelling::stop_words::{is_stop_language, stop_languages};
pub use spelling::words::shown_words;
pub use typed::TypedWords;

use std::sync::Arc;

use crate::error::Result;
use crate::simd::Simd;

/// Turns texts into token hashes; its buffers are reused from text to text. A filter by idf asks `F` how rare terms are.
pub struct Tokenizer<F = NoFrequencies> {
    level: scan::Level,
    out: out::Out,
    segments: segment::Segments,
    filtering: Option<Box<spelling::filter::Filtering<F>>>,
}

impl Tokenizer<NoFrequencies> {
    /// A tokenizer of whole texts that takes the spellings of `fold` for one, and uses instructions up to `simd`, as far
    /// as this machine has them.
    pub fn new(tokens: Tokens, fold: Fold, simd: Simd) -> Tokenizer {
        Tokenizer {
            level: scan::Level::at_most(simd),
            out: out::Out::new(tokens),
            segments: segment::Segments::new(fold),
            filtering: None,
        }
    }
}

impl<F: TermFrequencies> Tokenizer<F> {
    /// A tokenizer of what the filters of `text` leave; without any it is that of [`Tokenizer::new`]. Which terms are
    /// common, for `text.filter.min_idf`, `frequencies` says.
    ///
    /// # Errors
    /// [`Error::Config`](crate::error::Error::Config) if a filter is none, or needs frequencies of terms and there are none.
    pub fn filtered(text: &Text, simd: Simd, frequencies: Option<Arc<F>>) -> Result<Tokenizer<F>> {
        let filtering = spelling::filter::Filtering::new(text, frequencies)?.map(Box::new);
        let Tokenizer { level, out, segments, .. } = Tokenizer::new(text.tokens, text.fold, simd);
        Ok(Tokenizer { level, out, segments, filtering })
    }

    /// The [`token_hash`] of each token of `text`, in order.
    pub fn tokens(&mut self, text: &str) -> &[u64] {
        self.out.clear();
        if let Some(filtering) = &mut self.filtering {
            filtering.write(text, &mut self.out);
        }
        if self.out.hashes().is_empty() {
            self.out.clear();
            self.level.scan(text, &mut self.out, &mut self.segments);
        }
        self.out.hashes()
    }

    /// The tokens of the text last read.
    pub fn last(&self) -> &[u64] {
        self.out.hashes()
    }
}
