//! Which words are terms, and what a lexicon says of its making.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::{Fold, is_letters, is_long};

/// Which words are terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Which characters a term may have.
    pub kind: TermKind,
    /// Least characters of a term. A letter of a script without spaces is a word by itself and needs no more.
    pub min_length: usize,
    /// Which spellings of a term are one. Files of format 1 do not say: none are.
    #[serde(default = "unsaid")]
    pub fold: Fold,
}

/// Which characters a term may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    /// Letters, their marks, and apostrophes between them.
    Alphabetic,
    /// Numbers, too.
    Alphanumeric,
}

/// What a file of format 1 folds.
fn unsaid() -> Fold {
    Fold::NONE
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { kind: TermKind::Alphabetic, min_length: 3, fold: Fold::default() }
    }
}

impl Terms {
    /// Whether a canonical word is a term.
    pub fn has(&self, word: &str) -> bool {
        let letters = self.kind == TermKind::Alphanumeric || is_letters(word);
        letters && is_long(word, self.min_length)
    }
}

impl std::fmt::Display for Terms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            TermKind::Alphabetic => "alphabetic",
            TermKind::Alphanumeric => "alphanumeric",
        };
        write!(f, "{kind} of {} characters or more, folded by {}", self.min_length, self.fold)
    }
}

/// What a lexicon says of its making: with its terms all that decides what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Which words are its terms.
    pub terms: Terms,
    /// Terms of fewer documents are left out; at least 1.
    pub min_df: u64,
    /// Documents by which a count may be too low at most: 0 unless it was merged from lexicons that had left out
    /// terms.
    pub short: u64,
    /// Documents with a word that were read.
    pub documents: u64,
}

impl Header {
    /// Refuses a floor of no documents.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if self.min_df == 0 {
            return Err(Error::config(
                "--min-df 0: a term is in 1 document or more; 1 keeps every term, 5 is usual",
            ));
        }
        Ok(())
    }

    /// The inverse document frequency of a term in `df` documents (1 to all): ln((N + 0.5) / n).
    pub fn idf(&self, df: u64) -> f64 {
        ((self.documents as f64 + 0.5) / df as f64).ln()
    }

    /// The same in parts of what a term of one document would have, nearly: ln((N + 0.5) / n) / ln(N + 1), between 0
    /// and 1.
    pub fn normalised_idf(&self, df: u64) -> f64 {
        self.idf(df) / (self.documents as f64 + 1.0).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(documents: u64) -> Header {
        Header { terms: Terms::default(), min_df: 1, short: 0, documents }
    }

    #[test]
    fn terms_are_long_words_of_letters() {
        let alphabetic = Terms::default();
        let alphanumeric = Terms { kind: TermKind::Alphanumeric, ..alphabetic };
        for (word, letters, any) in [
            ("the", true, true),
            ("of", false, false),
            ("x86", false, true),
            ("1994", false, true),
            ("don't", true, true),
            ("\u{4e2d}", true, true),
            ("\u{e9}t\u{e9}", true, true),
            ("\u{fc}b", false, false),
        ] {
            assert_eq!((alphabetic.has(word), alphanumeric.has(word)), (letters, any), "{word}");
        }
        assert!(Terms { min_length: 0, ..alphabetic }.has("a"));
    }

    /// The formula of Conrad, Guo and Schriber 2003, section 5, at values computed by hand.
    #[test]
    fn normalised_idf_is_as_published() {
        let whole = header(999);
        // ln 1000 = 6.907755279, ln 999.5 = 6.907255154, ln 5 = 1.609437912.
        assert!((whole.normalised_idf(1) - 0.999_927_599_5).abs() < 1e-9);
        assert!((whole.normalised_idf(5) - 0.766_937_598_0).abs() < 1e-9, "{}", whole.normalised_idf(5));
        assert!((whole.idf(5) - 5.297_817_241_5).abs() < 1e-9);
        assert!(whole.normalised_idf(999) > 0.0 && whole.normalised_idf(999) < 1e-4);
        for documents in [1, 2, 10, 1 << 40] {
            let header = header(documents);
            let idf: Vec<f64> =
                [1, documents.div_ceil(2), documents].iter().map(|df| header.normalised_idf(*df)).collect();
            assert!(idf.iter().all(|idf| (0.0..1.0).contains(idf)) && idf.is_sorted_by(|a, b| a >= b));
        }
    }
}
