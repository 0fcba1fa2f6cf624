//! Super shingles: shingles of the sorted sketch (Broder, Glassman, Manasse and Zweig 1997).

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::limits::MAX_NGRAM;
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Shingles, Spread, sample, shingles};

/// Super shingles: shingles of the sorted sketch (Broder et al. 1997). 8 bytes a member of the sketch at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Supershingles {
    /// Neighbours of a super shingle, 1 to [`MAX_NGRAM`]. Ours: 14, the size of a feature of Broder 2000.
    pub group: usize,
}

impl Default for Supershingles {
    fn default() -> Supershingles {
        Supershingles { group: 14 }
    }
}

impl Technique for Supershingles {
    fn check(&self) -> Result<()> {
        within("supershingles.group", self.group as u64, 1..=MAX_NGRAM as u64, "14 is usual")
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(settings, settings.shingle(), &format!(" of runs of {}", self.group))
    }

    fn sketcher(&self, settings: &Settings<'_>, _: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        Box::new(Supershingled {
            ngram: settings.text.ngram,
            supershingles: self.clone(),
            sampling: settings.sampling.clone(),
            shingles: Vec::new(),
            spread: Spread::default(),
        })
    }
}

/// The sketcher of [`Supershingles`].
struct Supershingled {
    ngram: usize,
    supershingles: Supershingles,
    sampling: Shingles,
    shingles: Vec<u64>,
    spread: Spread,
}

impl MethodSketcher for Supershingled {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles(tokens, self.ngram, &mut self.shingles);
        self.spread.sort_distinct(&mut self.shingles);
        sample(&self.sampling, tokens.len(), &mut self.shingles);
        supershingles(&self.shingles, &self.supershingles, words);
        self.spread.sort_distinct(words);
    }
}

/// Writes to `supers` (cleared first) the identity of each run of `config.group` neighbours in a strictly ascending
/// sketch, in its order: 8 bytes each, at most one a member of the sketch. One super shingle that two documents share
/// means that they share a whole run of their sketches.
///
/// A sketch of fewer members is one super shingle: then only equal sketches share one. The paper notes that super
/// shingles do not work well for short documents; what to do with them is ours.
fn supershingles(sketch: &[u64], config: &Supershingles, supers: &mut Vec<u64>) {
    shingles(sketch, config.group, supers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn supers(sketch: &[u64], group: usize) -> Vec<u64> {
        let mut supers = vec![7];
        supershingles(sketch, &Supershingles { group }, &mut supers);
        supers
    }

    #[test]
    fn neighbours_make_a_super_shingle() {
        let all = supers(&[1, 4, 6, 9], 2);
        assert_eq!(all, [supers(&[1, 4], 2)[0], supers(&[4, 6], 2)[0], supers(&[6, 9], 2)[0]]);
        // One member more in the middle costs one run of two.
        let other = supers(&[1, 4, 5, 6, 9], 2);
        assert_eq!(all.iter().filter(|run| other.contains(run)).count(), 2);
        assert_eq!(supers(&[1, 4], 3).len(), 1);
        assert!(supers(&[], 3).is_empty());
    }

    proptest! {
        /// Two sketches share a super shingle exactly if they share a run of their members.
        #[test]
        fn a_shared_run_is_a_shared_super_shingle(a in prop::collection::btree_set(0u64..30, 0..20),
                                                  b in prop::collection::btree_set(0u64..30, 0..20),
                                                  group in 1usize..5) {
            let lists = [a, b].map(|set| set.into_iter().collect::<Vec<u64>>());
            let runs = |list: &[u64]| -> Vec<Vec<u64>> {
                let short = list.len() < group && !list.is_empty();
                if short { vec![list.to_vec()] } else { list.windows(group).map(<[u64]>::to_vec).collect() }
            };
            let slow = runs(&lists[0]).iter().any(|run| runs(&lists[1]).contains(run));
            let (x, y) = (supers(&lists[0], group), supers(&lists[1], group));
            prop_assert_eq!(x.iter().any(|run| y.contains(run)), slow);
        }
    }
}
