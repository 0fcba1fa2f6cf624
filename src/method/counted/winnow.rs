//! Winnowing: of neighbouring shingles one is kept, so that what two texts share is found if it is long enough
//! (Schleimer, Wilkerson and Aiken 2003).

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::limits::MAX_WINDOW;
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Spread, shingles};

/// Winnowing (Schleimer, Wilkerson and Aiken 2003). About `16 / (window + 1)` bytes a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Winnow {
    /// Neighbouring shingles of which one is kept, 1 to [`MAX_WINDOW`]. With shingles of k tokens, whatever two texts
    /// share of `window + k - 1` tokens or more is found. Ours: 4, as in the example of the paper.
    pub window: usize,
}

impl Default for Winnow {
    fn default() -> Winnow {
        Winnow { window: 4 }
    }
}

impl Technique for Winnow {
    fn check(&self) -> Result<()> {
        within("winnow.window", self.window as u64, 1..=MAX_WINDOW as u64, "4 keeps two shingles of five")
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(
            settings,
            settings.shingle(),
            &format!(" of one in each {} in a row", self.window),
        )
    }

    fn sketcher(&self, settings: &Settings<'_>, _: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let (ngram, window) = (settings.text.ngram, self.window);
        Box::new(Winnowed { ngram, window, shingles: Vec::new(), spread: Spread::default() })
    }
}

/// The sketcher of [`Winnow`].
struct Winnowed {
    ngram: usize,
    window: usize,
    shingles: Vec<u64>,
    spread: Spread,
}

impl MethodSketcher for Winnowed {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles(tokens, self.ngram, &mut self.shingles);
        winnow(&self.shingles, self.window, words);
        self.spread.sort_distinct(words);
    }
}

/// Writes to `selected` (cleared first) the shingles of a text that winnowing keeps, in their order; `hashes` are the
/// shingles in the order of the text, repeats included, `window` is at least 1.
///
/// Of each `window` neighbours the least hash is kept: the one that the window before has kept if it is among the
/// least, else the rightmost of them (robust winnowing, section 4 of the paper, which keeps fewer where a text repeats
/// itself). So of every run of `window` hashes or more that two texts share, both keep one in common; with shingles of
/// k tokens that is every shared run of `window + k - 1` tokens. Of random hashes 2 in `window + 1` are kept: about
/// `16 / (window + 1)` bytes a token. A text of fewer hashes than a window is one window; the paper is silent on it.
fn winnow(hashes: &[u64], window: usize, selected: &mut Vec<u64>) {
    selected.clear();
    let window = window.min(hashes.len());
    if window == 0 {
        return;
    }
    let mut kept = rightmost_least(hashes, 0, window);
    selected.push(hashes[kept]);
    for last in window..hashes.len() {
        let first = last + 1 - window;
        let next = if kept < first {
            rightmost_least(hashes, first, last + 1)
        } else if hashes[last] < hashes[kept] {
            last
        } else {
            continue;
        };
        kept = next;
        selected.push(hashes[kept]);
    }
}

/// Where the least hash of a range stands that is not empty, the last of equals.
fn rightmost_least(hashes: &[u64], from: usize, to: usize) -> usize {
    (from..to).rev().min_by_key(|at| hashes[*at]).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::finish;
    use proptest::prelude::*;

    fn winnowed(hashes: &[u64], window: usize) -> Vec<u64> {
        let mut selected = vec![1];
        winnow(hashes, window, &mut selected);
        selected
    }

    /// Figure 2 of the paper: the hashes of "adorunrunrunadorunrun" and what windows of 4 keep.
    #[test]
    fn the_example_of_the_paper() {
        let hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];
        assert_eq!(winnowed(&hashes, 4), [17, 17, 8, 39, 17]);
    }

    #[test]
    fn short_and_repeating_texts() {
        assert!(winnowed(&[], 4).is_empty());
        assert_eq!(winnowed(&[5, 3, 4], 4), [3]);
        assert_eq!(winnowed(&[5, 3, 4], 1), [5, 3, 4]);
        // Robust: a text that says one thing over and over keeps one hash a window, not one a token.
        assert_eq!(winnowed(&[7; 16], 4).len(), 4);
    }

    #[test]
    fn two_in_window_plus_one_are_kept() {
        let hashes: Vec<u64> = (0..100_000).map(finish).collect();
        for window in [1, 4, 10, 50] {
            let density = winnowed(&hashes, window).len() as f64 / hashes.len() as f64;
            let expected = 2.0 / (window as f64 + 1.0);
            assert!((density - expected).abs() < 0.02 * expected, "{window}: {density}");
        }
    }

    /// Word for word: each window in turn, and what the one before it has kept.
    fn slow(hashes: &[u64], window: usize) -> Vec<u64> {
        let window = window.min(hashes.len());
        let mut kept: Vec<usize> = Vec::new();
        for first in 0..=hashes.len() - window {
            let places = first..first + window;
            let Some(least) = hashes[places.clone()].iter().min() else { continue };
            let again = kept.last().is_some_and(|at| places.contains(at) && hashes[*at] == *least);
            if !again {
                kept.extend(places.rev().find(|at| hashes[*at] == *least));
            }
        }
        kept.into_iter().map(|at| hashes[at]).collect()
    }

    proptest! {
        #[test]
        fn the_slow_way_keeps_the_same(hashes in prop::collection::vec(0u64..30, 0..80), window in 1usize..12) {
            prop_assert_eq!(winnowed(&hashes, window), slow(&hashes, window));
        }

        #[test]
        fn what_is_shared_is_found(before in prop::collection::vec(0u64..30, 0..20),
                                   other in prop::collection::vec(0u64..30, 0..20),
                                   shared in prop::collection::vec(0u64..30, 12..20),
                                   after in prop::collection::vec(0u64..30, 0..20), window in 1usize..=12) {
            let a = winnowed(&[&before[..], &shared, &after].concat(), window);
            let b = winnowed(&[&other[..], &shared].concat(), window);
            prop_assert!(a.iter().any(|hash| b.contains(hash) && shared.contains(hash)));
        }
    }
}
