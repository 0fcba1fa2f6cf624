//! The most salient terms of a document as a set (Cooper, Coden and Brown 2002).

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::lexicon::{Band, Lexicon};
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Term, TermFinder};

/// The most salient terms, compared as sets (Cooper, Coden and Brown 2002). 8 bytes a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Salient {
    /// Terms of a document, at least 1. Ours: 40; the sources at hand name no number.
    pub terms: usize,
}

impl Default for Salient {
    fn default() -> Salient {
        Salient { terms: 40 }
    }
}

impl Technique for Salient {
    fn check(&self) -> Result<()> {
        within("salient.terms", self.terms as u64, 1..=u64::MAX, "40 suit most texts")
    }

    fn needs(&self) -> Needs {
        Needs { terms: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(settings, format!("{} terms", self.terms), &format!(" of {} terms", self.terms))
    }

    fn require_named(&self, lexicon: &Lexicon) -> Result<()> {
        lexicon.require(self.terms, &format!("a choice of {} salient terms", self.terms))
    }

    fn sketcher(&self, _: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let finder = TermFinder::new(tables.lexicon.as_ref(), |lexicon| Band::new(lexicon, None, None));
        Box::new(SalientTerms { salient: self.clone(), finder })
    }
}

/// The sketcher of [`Salient`].
struct SalientTerms {
    salient: Salient,
    finder: TermFinder,
}

impl MethodSketcher for SalientTerms {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        if let Some((terms, _)) = self.finder.find(tokens) {
            salient(terms, &self.salient, words);
        }
    }
}

/// Writes to `set` (cleared first) the hashes of the most salient of a text's terms ([`crate::sketch::terms_of`]), strictly
/// ascending, at most `config.terms` of them: 8 bytes each. Fewer where the text has fewer.
///
/// Cooper, Coden and Brown rank terms that a recogniser of phrases finds, and call two documents very similar if few
/// terms, for their number, are not in both. Ours are single words ranked by rarity, so that the sketch depends on
/// the text and the lexicon only; their rule is resemblance of these sets.
fn salient(terms: &[Term], config: &Salient, set: &mut Vec<u64>) {
    set.clear();
    set.extend(terms.iter().take(config.terms).map(|term| term.hash));
    set.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::{hashes, lexicon};

    #[test]
    fn the_rarest_terms_are_the_set() {
        let lexicon = lexicon(100, &[("common", 50), ("rare", 2), ("rarest", 1), ("even", 2)]);
        let finder = TermFinder::new(Some(&lexicon.into()), |lexicon| Band::uncommon(lexicon, 5));
        let mut sketcher = SalientTerms { salient: Salient { terms: 2 }, finder };
        let mut set = vec![7];
        sketcher.sketch(&hashes("common unknown rare even common rarest rare"), None, &mut set);
        let mut expected = hashes("rarest even");
        expected.sort_unstable();
        assert_eq!(set, expected);
    }
}
