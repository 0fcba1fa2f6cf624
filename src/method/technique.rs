//! What a method is: the seam between the methods and all that puts them to work.

use super::count::Count;
use super::tables::FrozenTables;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence};
use crate::sketch::Shingles;
use crate::text::{Text, Tokens};
use crate::threshold::Threshold;

/// What of a configuration every method may look at, beside its own parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// What pairs are held against.
    pub threshold: Threshold,
    /// How text becomes tokens and shingles.
    pub text: &'a Text,
    /// What is made of counted keys.
    pub count: &'a Count,
    /// Which shingles are kept, by the methods that sample them.
    pub sampling: &'a Shingles,
    /// Whether documents have days.
    pub dated: bool,
}

impl Settings<'_> {
    /// A shingle in a few letters: `5 words`.
    pub fn shingle(&self) -> String {
        let tokens = match self.text.tokens {
            Tokens::Words => "words",
            Tokens::Chars => "chars",
        };
        format!("{} {tokens}", self.text.ngram)
    }

    /// The rule of methods whose keys are members of sets.
    pub fn counted(&self) -> AcceptanceRule {
        AcceptanceRule::new(self.count.test(self.threshold), Evidence::Decisive)
    }
}

/// What a method needs of the dataflow around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// It looks at shingles of the tokens of a text.
    pub shingles: bool,
    /// It looks terms up in a lexicon; a text may have too few of them.
    pub terms: bool,
    /// It compares days, where documents have some.
    pub dates: bool,
    /// It takes its keys in the order of a table of how common shingles are.
    pub rarity: bool,
    /// Signatures of its sketches are compared before any pair is measured.
    pub signatures: bool,
}

impl Needs {
    /// Only the text.
    pub const NOTHING: Needs =
        Needs { shingles: false, terms: false, dates: false, rarity: false, signatures: false };
}

/// What people read of a method with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// What it compares, in a few letters: `5 words`.
    pub unit: String,
    /// When it accepts a pair, in a few letters: `at least 0.8`.
    pub rule: String,
    /// When it accepts a pair, as a clause.
    pub sentence: String,
    /// What decides where nothing is held against the threshold, as a sentence.
    pub decides: String,
}

impl Description {
    /// The description of a method that counts members; `of` says which, after a blank.
    pub fn counted(settings: &Settings<'_>, unit: String, of: &str) -> Description {
        let (rule, sentence) = settings.count.described(settings.threshold);
        let decides = format!("sharing {} decides", settings.count.shared);
        Description { unit, rule, sentence: format!("{sentence}{of}"), decides }
    }
}

/// A method with its parameters: what it needs, when it accepts a pair, and what makes its sketches.
pub trait Technique {
    /// Refuses parameters that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    fn check(&self) -> Result<()>;

    /// What it needs.
    fn needs(&self) -> Needs;

    /// When it accepts a pair of sketches; `None` if it finds equal texts only.
    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule>;

    /// What people read of it.
    fn description(&self, settings: &Settings<'_>) -> Description;

    /// What makes its sketches and their keys, by frozen tables.
    fn sketcher(&self, settings: &Settings<'_>, tables: &FrozenTables, simd: Simd)
    -> Box<dyn MethodSketcher>;

    /// Refuses a lexicon that is too small or too large for it.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    fn require(&self, _: &Lexicon) -> Result<()> {
        Ok(())
    }

    /// Refuses a lexicon that somebody names: what is no hindrance where it is that of the documents themselves, few as they
    /// are, is a mistake then.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    fn require_named(&self, _: &Lexicon) -> Result<()> {
        Ok(())
    }
}

/// Makes the sketches of a method, one text after the other.
pub trait MethodSketcher: Send {
    /// Cuts a text, if the method cuts texts its own way: then `words`, which are empty, are its sketch, and the answer is true.
    fn cut(&mut self, _: &str, _: &mut Vec<u64>) -> bool {
        false
    }

    /// Whether texts with the same tokens may be cut to other sketches: then they are equal only if their sketches are, too.
    fn cuts_tokens_apart(&self) -> bool {
        false
    }

    /// Writes to `words`, which are empty, the sketch of a text with these tokens, of a day.
    fn sketch(&mut self, _: &[u64], _: Option<i32>, _: &mut Vec<u64>) {}

    /// The posting keys of a sketch.
    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        words
    }
}

/// Refuses a value that is not among those that make sense; `advice` says which to write.
pub(super) fn within(
    key: &str,
    value: u64,
    allowed: std::ops::RangeInclusive<u64>,
    advice: &str,
) -> Result<()> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let (least, most) = allowed.into_inner();
    let bounds = if most == u64::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
    Err(Error::config(format!("{key} = {value}: it must be {bounds}; {advice}")))
}

/// A default value.
pub(super) fn decimal(text: &str) -> Threshold {
    text.parse().expect("a valid decimal")
}
