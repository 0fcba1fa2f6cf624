//! The acceptance rule that goes with a configuration's sketches, and what shared keys say about it.

use crate::config::{Config, Method, Rule, Verify};
use crate::similarity::{Accept, Test};

/// The acceptance rule that goes with a configuration's sketches; `None` for `exact`, which has no pairs.
pub fn rule(config: &Config) -> Option<Accept> {
    let own = match config.method {
        Method::Exact => return None,
        Method::Join => Test::Resemblance(config.threshold),
        Method::Features => Test::Shared(config.features.r as u32),
        Method::Imatch => Test::Shared(1),
        Method::Fingerprint => Test::Lengths(config.fingerprint.length_percent),
        Method::Vector => Test::Vector(config.vector.agreement()),
        Method::Cosine => Test::Cosine(config.threshold),
        Method::Shingles
        | Method::Supershingles
        | Method::Winnow
        | Method::Anchors
        | Method::Sentences
        | Method::Lines
        | Method::Salient => counted(config),
    };
    let rule = Accept::from(own);
    Some(match config.verify {
        Verify::None => rule,
        Verify::Resemblance => rule.verified(Test::Resemblance(config.threshold)),
        Verify::Containment => rule.verified(Test::Containment(config.threshold)),
        Verify::Edits => rule.verified(Test::Edits(config.threshold)),
    })
}

/// The test of methods whose keys are the members of sets.
fn counted(config: &Config) -> Test {
    match config.count.rule {
        Rule::Resemblance => Test::Resemblance(config.threshold),
        Rule::Containment => Test::Containment(config.threshold),
        Rule::Shared => Test::Shared(config.count.shared as u32),
    }
}

impl Config {
    /// Whether sketches are made by a lexicon.
    pub fn needs_lexicon(&self) -> bool {
        self.needs_terms() || self.text.filter.min_idf.is_some()
    }

    /// Whether the method looks at terms, of which a text may have too few.
    pub fn needs_terms(&self) -> bool {
        matches!(
            self.method,
            Method::Salient | Method::Imatch | Method::Fingerprint | Method::Vector | Method::Cosine
        )
    }

    /// What needs a lexicon, if anything does.
    pub fn lexicon_user(&self) -> String {
        if self.needs_terms() { format!("method {}", self.method) } else { "text.filter.min_idf".to_owned() }
    }

    /// Whether equal texts of different days are different contents.
    pub fn is_dated(&self) -> bool {
        self.method == Method::Vector && !self.input.date_field.is_empty()
    }

    /// Whether shingles of tokens are looked at, by the method or by what verifies pairs.
    pub fn has_shingles(&self) -> bool {
        match self.method {
            Method::Exact => false,
            Method::Join | Method::Features | Method::Shingles | Method::Supershingles | Method::Winnow => {
                true
            }
            _ => matches!(self.verify, Verify::Resemblance | Verify::Containment),
        }
    }

    /// Whether anything is held against the threshold.
    pub fn has_threshold(&self) -> bool {
        rule(self).is_some_and(|rule| rule.own().threshold().or(rule.last().threshold()).is_some())
    }

    /// Whether pairs are measured on sketches, rather than by their shared keys alone.
    pub fn is_measured(&self) -> bool {
        match self.method {
            Method::Exact => false,
            Method::Join | Method::Vector | Method::Cosine => true,
            _ => self.verify != Verify::None,
        }
    }

    /// The rule of whose sketches the method's own words are signed, of methods that look at signatures before they
    /// measure a pair.
    pub fn signed(&self) -> Option<Accept> {
        rule(self).filter(|_| self.method == Method::Join)
    }

    /// Contents that a key may be in before it is ignored, 0 for any number.
    pub fn cap(&self) -> usize {
        if self.method.is_counted() { self.count.common_cap } else { 0 }
    }

    /// The fewest shared keys that [`Config::is_enough`] finds enough for any sizes.
    pub fn fewest(&self, rule: Accept) -> u32 {
        if self.method == Method::Join { 1 } else { rule.own().fewest() }
    }

    /// Whether sketches that share so many keys, posted with these sizes, are worth measuring; or, where keys are all there
    /// is, are accepted.
    pub fn is_enough(&self, rule: Accept, shared: u32, left: u32, right: u32) -> bool {
        if self.method != Method::Join {
            return rule.own().counts(shared, left, right);
        }
        // Of the one whose last key comes first in the order, all shared shingles that are keys of it are keys of both; the
        // rest of it can share no more than its length.
        let rest = |size: u32| u64::from(size) - self.threshold.prefix(size as usize) as u64;
        let most = u64::from(shared) + rest(left).max(rest(right));
        rule.own().needed(left, right).is_some_and(|needed| most >= needed)
    }
}
