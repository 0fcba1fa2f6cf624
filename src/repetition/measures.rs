//! The measures, and what each may come to.

use std::fmt;
use std::str::FromStr;

use crate::threshold::Threshold;

/// A measure of how far a document repeats itself: a share, 0 to 1. Characters are those of words, without what stands
/// between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionMeasure {
    /// Lines that stand in the document before, of all lines with a word.
    DuplicateLines,
    /// The same of paragraphs.
    DuplicateParagraphs,
    /// Characters of lines that stand in the document before, of all characters.
    DuplicateLineCharacters,
    /// The same of paragraphs.
    DuplicateParagraphCharacters,
    /// Characters of the n-gram that occurs most often, of all characters. Of n-grams that occur equally often it is the one
    /// that has most of them. One that occurs once is no repetition.
    TopGram(usize),
    /// Characters of n-grams that occur more than once, of all characters, each counted once.
    DuplicateGrams(usize),
}

/// How many measures there are.
pub(super) const MEASURES: usize = 13;

/// The measures, in the order of table A1, with the limits that Gopher has, in hundredths.
const ALL: [(RepetitionMeasure, u32); MEASURES] = [
    (RepetitionMeasure::DuplicateLines, 30),
    (RepetitionMeasure::DuplicateParagraphs, 30),
    (RepetitionMeasure::DuplicateLineCharacters, 20),
    (RepetitionMeasure::DuplicateParagraphCharacters, 20),
    (RepetitionMeasure::TopGram(2), 20),
    (RepetitionMeasure::TopGram(3), 18),
    (RepetitionMeasure::TopGram(4), 16),
    (RepetitionMeasure::DuplicateGrams(5), 15),
    (RepetitionMeasure::DuplicateGrams(6), 14),
    (RepetitionMeasure::DuplicateGrams(7), 13),
    (RepetitionMeasure::DuplicateGrams(8), 12),
    (RepetitionMeasure::DuplicateGrams(9), 11),
    (RepetitionMeasure::DuplicateGrams(10), 10),
];

impl RepetitionMeasure {
    /// All of them.
    pub fn all() -> impl ExactSizeIterator<Item = RepetitionMeasure> {
        ALL.into_iter().map(|(measure, _)| measure)
    }
}

impl fmt::Display for RepetitionMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RepetitionMeasure::DuplicateLines => "duplicate-lines",
            RepetitionMeasure::DuplicateParagraphs => "duplicate-paragraphs",
            RepetitionMeasure::DuplicateLineCharacters => "duplicate-line-characters",
            RepetitionMeasure::DuplicateParagraphCharacters => "duplicate-paragraph-characters",
            RepetitionMeasure::TopGram(n) => return write!(f, "top-{n}-gram"),
            RepetitionMeasure::DuplicateGrams(n) => return write!(f, "duplicate-{n}-grams"),
        })
    }
}

impl FromStr for RepetitionMeasure {
    type Err = String;

    fn from_str(text: &str) -> Result<RepetitionMeasure, String> {
        RepetitionMeasure::all().find(|measure| measure.to_string() == text).ok_or_else(|| {
            let names: Vec<String> = RepetitionMeasure::all().map(|measure| measure.to_string()).collect();
            format!("there is no measure {text}; there are {}", names.join(", "))
        })
    }
}

/// What each measure may come to: a document goes if one is over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepetitionLimits([Threshold; MEASURES]);

impl Default for RepetitionLimits {
    /// Those of Gopher.
    fn default() -> RepetitionLimits {
        let limit =
            |(_, hundredths): (RepetitionMeasure, u32)| Threshold::from_millionths(hundredths * 10_000);
        RepetitionLimits(ALL.map(|measure| limit(measure).unwrap_or_else(|| unreachable!("all are over 0"))))
    }
}

impl RepetitionLimits {
    /// The same with another limit for a measure. No share is over 1.
    pub fn with(mut self, measure: RepetitionMeasure, limit: Threshold) -> RepetitionLimits {
        for ((of, _), known) in ALL.iter().zip(&mut self.0) {
            if *of == measure {
                *known = limit;
            }
        }
        self
    }

    /// The measures and their limits.
    pub fn each(&self) -> impl ExactSizeIterator<Item = (RepetitionMeasure, Threshold)> {
        RepetitionMeasure::all().zip(self.0)
    }
}
