//! Parameters of the methods that look at single terms, at chunks, or at a choice of shingles. What a source
//! publishes is the default; where it is silent the value is ours, and said to be.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::{MAX_LEXICONS, MAX_NGRAM, MAX_PIECES, MAX_VECTOR, MAX_WINDOW};
use crate::similarity::VectorAgreement;
use crate::threshold::Threshold;

/// I-Match: one digest of the distinct terms of middling idf (Chowdhury et al. 2002), and one more for each random
/// part of the lexicon (Kolcz, Chowdhury and Alspector 2004). 8 bytes a document and lexicon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Imatch {
    /// Least normalised idf of a term that counts. Ours: 0.2.
    pub low: Threshold,
    /// Greatest normalised idf of a term that counts, at least `low`. Ours: 0.8, over which Conrad et al. 2003
    /// (section 6.1) found misspellings.
    pub high: Threshold,
    /// Random lexicons beside the whole one, at most [`MAX_LEXICONS`]: 0 is I-Match, 10 what Kolcz et al. 2004 use.
    pub lexicons: usize,
    /// Percent of the terms that each random lexicon keeps, 1 to 99. Ours: 70, since the sources at hand name none.
    pub share: u64,
    /// Least distinct terms that a signature is made of, at least 1: a document of fewer has none. Ours: 5.
    pub min_terms: usize,
}

/// The fingerprint of identical duplicates: a few rare terms and where they stand (Conrad et al. 2003, section 6.1).
/// 8 bytes a document, and its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fingerprint {
    /// Terms of highest idf, 1 to [`MAX_VECTOR`]: six (section 6.1). A document of fewer has no fingerprint.
    pub terms: usize,
    /// Terms of a greater normalised idf are passed over: 0.8 (section 6.1).
    pub max_idf: Threshold,
    /// Tokens that a bin of offsets spans, at least 1: an offset is rounded up to the limit of its bin. 1 keeps
    /// offsets as they are; 10 and 25 are published.
    pub bin: u64,
    /// Percent by which lengths may differ, 0 to 100. "Small" in the paper; ours: 5.
    pub length_percent: u32,
}

/// Vectors of rare terms, for duplicates that are not identical (Conrad et al. 2003, section 7). 184 bytes a
/// document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vector {
    /// Entries of a vector, 1 to [`MAX_VECTOR`]: 60; published are 30 to 60.
    pub terms: usize,
    /// Entries that two vectors must share, 1 to `terms`: 50 of 60.
    pub shared: usize,
    /// Days between two documents at most, of which either both have a date or neither: 42 (six weeks; training had twelve).
    pub days: u32,
    /// Percent by which either length may differ from the other, 0 to 100: 20.
    pub length_percent: u32,
    /// Least distinct terms of a document that takes part, over `terms - shared`: 20 (section 7.2).
    pub min_terms: usize,
}

/// Cosine over idf, without common terms (Kolcz, Chowdhury and Alspector 2003). 8 bytes a distinct term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cosine {
    /// A term in more than this percentage of the documents of the lexicon is taken to be in all, and left out, 1 to
    /// 100: 5.
    pub common_percent: u64,
}

/// The most salient terms, compared as sets (Cooper, Coden and Brown 2002). 8 bytes a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Salient {
    /// Terms of a document, at least 1. Ours: 40; the sources at hand name no number.
    pub terms: usize,
}

/// Winnowing (Schleimer, Wilkerson and Aiken 2003). About `16 / (window + 1)` bytes a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Winnow {
    /// Neighbouring shingles of which one is kept, 1 to [`MAX_WINDOW`]. With shingles of k tokens, whatever two texts
    /// share of `window + k - 1` tokens or more is found. Ours: 4, as in the example of the paper.
    pub window: usize,
}

/// Anchors of sif (Manber 1994). About `8 / one_in` bytes a character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anchors {
    /// Characters of a window, 1 to [`MAX_NGRAM`]: 50.
    pub characters: usize,
    /// Of so many windows about one is kept, at least 1. Ours: 256, which is eight bits of a hash.
    pub one_in: u64,
}

/// Chunks of sentences (COPS: Brin, Davis and Garcia-Molina 1995). About 8 bytes a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sentences {
    /// Sentences of a chunk, 1 to [`MAX_PIECES`]: 1.
    pub per_chunk: usize,
    /// A chunk begins at every so many sentences, 1 to `per_chunk`: 1 makes chunks overlap, `per_chunk` makes them
    /// follow each other.
    pub every: usize,
}

/// Chunks of lines (Shivakumar and Garcia-Molina 1998). About `8 / every` bytes a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lines {
    /// Lines of a chunk, 1 to [`MAX_PIECES`]. Ours: 4.
    pub per_chunk: usize,
    /// A chunk begins at every so many lines, 1 to `per_chunk`. Ours: 4, so that chunks follow each other.
    pub every: usize,
}

/// Super shingles: shingles of the sorted sketch (Broder et al. 1997). 8 bytes a member of the sketch at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Supershingles {
    /// Neighbours of a super shingle, 1 to [`MAX_NGRAM`]. Ours: 14, the size of a feature of Broder 2000.
    pub group: usize,
}

/// See [`Vector::meeting`].
const MEETING: usize = 6;

fn decimal(text: &str) -> Threshold {
    text.parse().expect("a valid decimal")
}

impl Default for Imatch {
    fn default() -> Imatch {
        Imatch { low: decimal("0.2"), high: decimal("0.8"), lexicons: 0, share: 70, min_terms: 5 }
    }
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint { terms: 6, max_idf: decimal("0.8"), bin: 1, length_percent: 5 }
    }
}

impl Default for Vector {
    fn default() -> Vector {
        Vector { terms: 60, shared: 50, days: 42, length_percent: 20, min_terms: 20 }
    }
}

impl Default for Cosine {
    fn default() -> Cosine {
        Cosine { common_percent: 5 }
    }
}

impl Default for Salient {
    fn default() -> Salient {
        Salient { terms: 40 }
    }
}

impl Default for Winnow {
    fn default() -> Winnow {
        Winnow { window: 4 }
    }
}

impl Default for Anchors {
    fn default() -> Anchors {
        Anchors { characters: 50, one_in: 256 }
    }
}

impl Default for Sentences {
    fn default() -> Sentences {
        Sentences { per_chunk: 1, every: 1 }
    }
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { per_chunk: 4, every: 4 }
    }
}

impl Default for Supershingles {
    fn default() -> Supershingles {
        Supershingles { group: 14 }
    }
}

/// Refuses a value that is not among those that make sense; `advice` says which to write.
fn within(key: &str, value: u64, allowed: std::ops::RangeInclusive<u64>, advice: &str) -> Result<()> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let (least, most) = allowed.into_inner();
    let bounds = if most == u64::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
    Err(Error::config(format!("{key} = {value}: it must be {bounds}; {advice}")))
}

impl Imatch {
    /// Refuses values that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if self.high.is_below(self.low) {
            return Err(Error::config(format!(
                "imatch.low = {}, imatch.high = {}: no idf is between them; low = 0.2 and high = 0.8 suit most texts",
                self.low, self.high
            )));
        }
        within(
            "imatch.lexicons",
            self.lexicons as u64,
            0..=MAX_LEXICONS as u64,
            "10 are published, 0 is I-Match",
        )?;
        within("imatch.share", self.share, 1..=99, "it is a percentage, like 70")?;
        within("imatch.min_terms", self.min_terms as u64, 1..=u64::MAX, "5 is usual")
    }
}

impl Fingerprint {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within("fingerprint.terms", self.terms as u64, 1..=MAX_VECTOR as u64, "6 are published")?;
        within(
            "fingerprint.bin",
            self.bin,
            1..=u64::MAX,
            "1 keeps offsets as they are, 10 and 25 are published",
        )?;
        let percent = u64::from(self.length_percent);
        within("fingerprint.length_percent", percent, 0..=100, "it is a percentage, like 5")
    }
}

impl Vector {
    /// Refuses values that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within("vector.terms", self.terms as u64, 1..=MAX_VECTOR as u64, "60 are published")?;
        let most = self.terms as u64;
        within("vector.shared", self.shared as u64, 1..=most, "50 of 60 terms are published")?;
        let percent = u64::from(self.length_percent);
        within("vector.length_percent", percent, 0..=100, "it is a percentage; 20 is published")?;
        let advice =
            "documents of fewer terms than are keys would be found by their padding; 20 is published";
        within(
            "vector.min_terms",
            self.min_terms as u64,
            (self.terms - self.shared + 1) as u64..=most,
            advice,
        )
    }

    /// Entries, the rarest first, of which two vectors that are alike share [`Vector::meeting`]: `terms - shared`, and so
    /// many more. They alone are keys.
    pub fn prefix(&self) -> usize {
        self.terms - self.shared + self.meeting()
    }

    /// Keys that two vectors must share to be worth comparing. One would do; each more costs a key a document, and
    /// spares most of the comparisons: what has one rare term in common is seldom a duplicate.
    pub fn meeting(&self) -> usize {
        MEETING.min(self.shared)
    }

    /// What two vectors must have in common.
    pub fn agreement(&self) -> VectorAgreement {
        VectorAgreement {
            shared: self.shared as u32,
            meeting: self.meeting() as u32,
            days: self.days,
            length_percent: self.length_percent,
        }
    }
}

impl Cosine {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within(
            "cosine.common_percent",
            self.common_percent,
            1..=100,
            "5 is published, 100 leaves out no term",
        )
    }
}

impl Salient {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within("salient.terms", self.terms as u64, 1..=u64::MAX, "40 suit most texts")
    }
}

impl Winnow {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within("winnow.window", self.window as u64, 1..=MAX_WINDOW as u64, "4 keeps two shingles of five")
    }
}

impl Anchors {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        let characters = self.characters as u64;
        within("anchors.characters", characters, 1..=MAX_NGRAM as u64, "50 are published")?;
        within("anchors.one_in", self.one_in, 1..=u64::MAX, "256 keeps one window of 256")
    }
}

impl Sentences {
    /// Refuses values that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        let chunk = self.per_chunk as u64;
        within("sentences.per_chunk", chunk, 1..=MAX_PIECES as u64, "1 is published")?;
        within("sentences.every", self.every as u64, 1..=chunk, "otherwise sentences between chunks are lost")
    }
}

impl Lines {
    /// Refuses values that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        let chunk = self.per_chunk as u64;
        within("lines.per_chunk", chunk, 1..=MAX_PIECES as u64, "4 or 2 are usual")?;
        within("lines.every", self.every as u64, 1..=chunk, "otherwise lines between chunks are lost")
    }
}

impl Supershingles {
    /// Refuses values that make no sense.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        within("supershingles.group", self.group as u64, 1..=MAX_NGRAM as u64, "14 is usual")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_make_sense() {
        Imatch::default().check().expect("I-Match");
        Imatch { lexicons: 10, ..Imatch::default() }.check().expect("random lexicons");
        Fingerprint::default().check().expect("fingerprint");
        Vector::default().check().expect("vector");
        assert_eq!((Vector::default().prefix(), Vector::default().meeting()), (10 + MEETING, MEETING));
        let narrow = Vector { terms: 30, shared: 2, ..Vector::default() };
        assert_eq!((narrow.prefix(), narrow.meeting()), (30, 2));
        Cosine::default().check().expect("cosine");
        Salient::default().check().expect("salient");
        Winnow::default().check().expect("winnow");
        Anchors::default().check().expect("anchors");
        Sentences::default().check().expect("sentences");
        Lines::default().check().expect("lines");
        Supershingles::default().check().expect("super shingles");
    }

    #[test]
    fn names_the_key_and_the_cure() {
        for (refused, words) in [
            (
                Imatch { low: decimal("0.9"), ..Imatch::default() }.check(),
                "imatch.low = 0.9, imatch.high = 0.8",
            ),
            (Imatch { share: 100, ..Imatch::default() }.check(), "imatch.share = 100: it must be 1 to 99"),
            (Imatch { min_terms: 0, ..Imatch::default() }.check(), "must be at least 1; 5 is usual"),
            (Imatch { lexicons: 1 << 20, ..Imatch::default() }.check(), "imatch.lexicons"),
            (Fingerprint { terms: 0, ..Fingerprint::default() }.check(), "fingerprint.terms = 0"),
            (Fingerprint { bin: 0, ..Fingerprint::default() }.check(), "fingerprint.bin = 0"),
            (Fingerprint { length_percent: 101, ..Fingerprint::default() }.check(), "length_percent = 101"),
            (Vector { terms: 61, ..Vector::default() }.check(), "vector.terms = 61: it must be 1 to 60"),
            (Vector { shared: 61, ..Vector::default() }.check(), "vector.shared = 61"),
            (Vector { min_terms: 10, ..Vector::default() }.check(), "must be 11 to 60"),
            (Cosine { common_percent: 0 }.check(), "cosine.common_percent = 0"),
            (Salient { terms: 0 }.check(), "salient.terms = 0"),
            (Winnow { window: 0 }.check(), "winnow.window = 0"),
            (Anchors { one_in: 0, ..Anchors::default() }.check(), "anchors.one_in = 0"),
            (Sentences { per_chunk: 2, every: 3 }.check(), "sentences.every = 3: it must be 1 to 2"),
            (Lines { per_chunk: 0, every: 1 }.check(), "lines.per_chunk = 0"),
            (Supershingles { group: 0 }.check(), "supershingles.group = 0"),
        ] {
            let message = refused.expect_err("no sense").to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
