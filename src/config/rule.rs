//! The method of a configuration, and what follows from its parameters.

use super::{Config, Join, Rule, Verify};
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::method::Method;
use crate::method::{Description, FrozenTables, MethodSketcher, Needs, Settings, Technique};
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, PairTest};

impl Config {
    /// The method, with its parameters.
    fn technique(&self) -> &dyn Technique {
        self.technique_of(self.method)
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            threshold: self.threshold,
            text: &self.text,
            count: &self.count,
            sampling: &self.shingles,
            dated: self.is_dated(),
        }
    }

    /// The acceptance rule of pairs of sketches; `None` for methods that find equal texts only.
    pub fn rule(&self) -> Option<AcceptanceRule> {
        let rule = self.technique().rule(&self.settings())?;
        Some(match self.verify {
            Verify::None => rule,
            Verify::Resemblance => rule.verified(PairTest::Resemblance(self.threshold)),
            Verify::Containment => rule.verified(PairTest::Containment(self.threshold)),
            Verify::Edits => rule.verified(PairTest::Edits(self.threshold)),
        })
    }

    /// What people read of the method.
    pub fn description(&self) -> Description {
        self.technique().description(&self.settings())
    }

    /// What makes the method's own sketches and their keys.
    pub fn method_sketcher(&self, tables: &FrozenTables, simd: Simd) -> Box<dyn MethodSketcher> {
        self.technique().sketcher(&self.settings(), tables, simd)
    }

    /// What the method needs of the dataflow around it.
    pub fn needs(&self) -> Needs {
        self.technique().needs()
    }

    /// Whether there are pairs beside those of equal texts.
    pub fn finds_pairs(&self) -> bool {
        self.technique().rule(&self.settings()).is_some()
    }

    /// Whether the share of one text that stands in the other decides, whatever the sizes of the two.
    pub fn measures_containment(&self) -> bool {
        self.rule().is_some_and(|rule| matches!(rule.last(), PairTest::Containment(_)))
    }

    /// Whether sketches are made by a lexicon.
    pub fn needs_lexicon(&self) -> bool {
        self.needs_terms() || self.text.filter.min_idf.is_some()
    }

    /// Whether the method looks at terms, of which a text may have too few.
    pub fn needs_terms(&self) -> bool {
        self.needs().terms
    }

    /// What needs a lexicon, if anything does.
    pub fn lexicon_user(&self) -> String {
        if self.needs_terms() { format!("method {}", self.method) } else { "text.filter.min_idf".to_owned() }
    }

    /// Whether equal texts of different days are different contents.
    pub fn is_dated(&self) -> bool {
        self.needs().dates && !self.input.date_field.is_empty()
    }

    /// Whether shingles of tokens are looked at, by the method or by what verifies pairs.
    pub fn has_shingles(&self) -> bool {
        let verified = matches!(self.verify, Verify::Resemblance | Verify::Containment);
        self.needs().shingles || verified && self.finds_pairs()
    }

    /// Whether anything is held against the threshold.
    pub fn has_threshold(&self) -> bool {
        self.rule().is_some_and(|rule| rule.own().threshold().or(rule.last().threshold()).is_some())
    }

    /// Whether pairs are measured on sketches, rather than by their shared keys alone.
    pub fn is_measured(&self) -> bool {
        self.rule().is_some_and(AcceptanceRule::is_measured)
    }

    /// The rule of whose sketches the method's own words are signed, of methods that look at signatures before they
    /// measure a pair.
    pub fn signed(&self) -> Option<AcceptanceRule> {
        self.rule().filter(|_| self.needs().signatures)
    }

    /// Tokens of a shingle, where a sketch is all shingles of its text and nothing else, so that the tokens say as much.
    pub fn sketched_by_tokens(&self) -> Option<usize> {
        let is_all = self.method == Method::Join && self.verify == Verify::None;
        is_all.then_some(self.text.ngram)
    }

    /// The join that finds the same pairs, where all shingles are counted, and resemblance decides: but for those that are too common
    /// to be counted, of which a join knows nothing.
    pub fn as_join(&self) -> Option<Config> {
        let counts_all = self.method == Method::Shingles && self.shingles.keep_all();
        let resemblance = self.count.rule == Rule::Resemblance && self.verify == Verify::None;
        let apart = !self.input.within_field.is_empty();
        let join = || Config { method: Method::Join, join: Join::default(), ..self.clone() };
        (counts_all && resemblance && !apart).then(join)
    }

    /// Contents that a key may be in before it is ignored, 0 for any number.
    pub fn cap(&self) -> usize {
        if self.method.is_counted() { self.count.common_cap } else { 0 }
    }

    /// Refuses a lexicon that is not the one that is named here, and none where one is needed.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`] and [`Error::Config`].
    pub fn check_tables(&self, tables: &FrozenTables) -> Result<()> {
        match &tables.lexicon {
            _ if !self.needs_lexicon() => Ok(()),
            Some(lexicon) => self.require(lexicon),
            None => Err(Error::config(format!(
                "{} needs a lexicon, and there is none; make one with `alike lexicon build`, and name it with --lexicon",
                self.lexicon_user()
            ))),
        }
    }

    /// Refuses a lexicon that somebody names for this configuration: what is no hindrance where it is that of the documents
    /// themselves, few as they are, is a mistake then.
    ///
    /// # Errors
    /// [`Error::LexiconUnfit`].
    pub fn require_fit(&self, lexicon: &Lexicon) -> Result<()> {
        self.require(lexicon)?;
        self.technique().require_named(lexicon)
    }

    /// Refuses a lexicon that is another one, of other spellings, or too small or too large for the method.
    fn require(&self, lexicon: &Lexicon) -> Result<()> {
        lexicon.require_name(&self.lexicon)?;
        lexicon.require_fold(self.text.fold)?;
        self.technique().require(lexicon)
    }
}
