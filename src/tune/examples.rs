//! Pairs whose resemblance is near a threshold, with the first words that differ: for people, who then see what it means.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use crate::collection::{Piece, word_diff};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Outcome, Reason};
use crate::progress::Progress;
use crate::similarity::Measure;
use crate::threshold::Threshold;

/// Pairs shown on either side of a threshold.
const SHOWN: usize = 3;

/// A pair near a threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    /// What the earlier document is called.
    pub first: String,
    /// What the later one is called.
    pub second: String,
    /// Shared shingles over all shingles of both.
    pub resemblance: f64,
    /// The first place where their words differ, a few words around it; none if only blanks do.
    pub differ: Vec<Piece>,
}

/// A pair of two first documents of their texts.
pub type Found = (Doc, Doc, Measure);

/// The pairs at or over the threshold that are nearest to it, and the nearest of those under it.
pub(super) fn near(
    outcome: &Outcome,
    threshold: Threshold,
    progress: &Progress,
) -> Result<(Vec<Example>, Vec<Example>)> {
    let (over, under) = nearest_pairs(outcome, threshold, SHOWN);
    progress.check()?;
    let texts = texts(outcome, over.iter().chain(&under), progress)?;
    let example = |(a, b, measure): &Found| {
        Ok(Example {
            first: outcome.run.documents.name(*a)?.into(),
            second: outcome.run.documents.name(*b)?.into(),
            resemblance: measure.resemblance(),
            differ: word_diff(&texts[a], &texts[b]).places.into_iter().next().unwrap_or_default(),
        })
    };
    let told = |pairs: &[Found]| pairs.iter().map(example).collect::<Result<Vec<_>>>();
    Ok((told(&over)?, told(&under)?))
}

/// Of the pairs of distinct texts that a run by resemblance has found: so many at or over the threshold that are nearest to it,
/// and of those under it. On either side no document is in two.
pub fn nearest_pairs(outcome: &Outcome, threshold: Threshold, most: usize) -> (Vec<Found>, Vec<Found>) {
    let pairs = outcome.findings.pairs.iter().flatten().filter(|(.., reason)| *reason != Reason::Exact);
    let pairs = pairs.map(|(a, b, measure, _)| (*a, *b, *measure));
    let (over, under): (Vec<Found>, Vec<Found>) =
        pairs.partition(|(.., measure)| threshold.is_met(u64::from(measure.shared), measure.either()));
    let position = |pair: &Found| [pair.0, pair.1].map(|doc| outcome.run.documents.catalogue.position(doc));
    let first = |a: &Found, b: &Found| position(a).cmp(&position(b));
    let over = apart(over, most, |a, b| compare(a.2, b.2).then_with(|| first(a, b)));
    let under = apart(under, most, |a, b| compare(b.2, a.2).then_with(|| first(a, b)));
    (over, under)
}

/// Compares resemblances without rounding.
fn compare(a: Measure, b: Measure) -> Ordering {
    (u64::from(a.shared) * b.either()).cmp(&(u64::from(b.shared) * a.either()))
}

/// The first pairs, by an order, that have no document in common. Of millions only as many are sorted as that takes.
fn apart(
    mut pairs: Vec<Found>,
    most: usize,
    order: impl Fn(&Found, &Found) -> Ordering + Copy,
) -> Vec<Found> {
    let (mut seen, mut chosen) = (HashSet::new(), Vec::new());
    let mut some = if cfg!(test) { most } else { 16 * most };
    while chosen.len() < most && !pairs.is_empty() {
        let some_of_them = some.min(pairs.len());
        if some_of_them < pairs.len() {
            pairs.select_nth_unstable_by(some_of_them, order);
        }
        let mut next: Vec<Found> = pairs.drain(..some_of_them).collect();
        next.sort_unstable_by(order);
        for pair in next {
            if chosen.len() < most && !seen.contains(&pair.0) && !seen.contains(&pair.1) {
                seen.extend([pair.0, pair.1]);
                chosen.push(pair);
            }
        }
        // A document that millions of pairs have rules all of these out at once.
        pairs.retain(|pair| !seen.contains(&pair.0) && !seen.contains(&pair.1));
        some *= 4;
    }
    chosen
}

/// The texts of pairs, read again.
fn texts<'a>(
    outcome: &Outcome,
    pairs: impl Iterator<Item = &'a Found>,
    progress: &Progress,
) -> Result<HashMap<Doc, String>> {
    let documents = &outcome.run.documents;
    let mut docs: Vec<Doc> = pairs.flat_map(|(a, b, _)| [*a, *b]).collect();
    docs.sort_unstable_by_key(|doc| documents.catalogue.position(*doc));
    docs.dedup();
    let mut texts = HashMap::new();
    documents.each_text(&docs, progress, &mut |doc, text, _| {
        texts.insert(doc, text.to_owned());
        Ok(())
    })?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(shared: u32, left: u32, right: u32) -> Measure {
        Measure { shared, left, right }
    }

    #[test]
    fn resemblances_are_compared_as_fractions() {
        assert_eq!(compare(measure(1, 2, 2), measure(2, 4, 4)), Ordering::Equal);
        assert_eq!(compare(measure(1, 2, 2), measure(1, 2, 1)), Ordering::Less);
        assert_eq!(compare(measure(3, 3, 3), measure(2, 2, 3)), Ordering::Greater);
    }

    proptest::proptest! {
        /// An obvious twin: all are sorted, and taken one after the other.
        #[test]
        fn some_are_sorted_as_all_would_be(
            pairs in proptest::collection::vec((0_u32..12, 0_u32..12, 0_u32..30), 0..400),
            most in 0_usize..5,
        ) {
            let all: Vec<Found> = pairs.iter().map(|(a, b, shared)| (*a, *b, measure(*shared, 30, 30))).collect();
            let order = |a: &Found, b: &Found| compare(a.2, b.2).then((a.0, a.1).cmp(&(b.0, b.1)));
            let (mut sorted, mut seen, mut wanted) = (all.clone(), HashSet::new(), Vec::new());
            sorted.sort_by(order);
            for pair in sorted {
                if wanted.len() < most && !seen.contains(&pair.0) && !seen.contains(&pair.1) {
                    seen.extend([pair.0, pair.1]);
                    wanted.push(pair);
                }
            }
            proptest::prop_assert_eq!(apart(all, most, order), wanted);
        }
    }

    #[test]
    fn no_document_is_shown_twice() {
        let pair = |a, b| (a, b, measure(1, 1, 1));
        let mut all = vec![pair(0, 1), pair(1, 2), pair(2, 3), pair(0, 4), pair(5, 6), pair(7, 8)];
        // More than are sorted at first.
        all.extend((10..1000).map(|other| pair(0, other)));
        all.reverse();
        let chosen: Vec<(Doc, Doc)> =
            apart(all, 3, |a, b| (a.0, a.1).cmp(&(b.0, b.1))).iter().map(|(a, b, _)| (*a, *b)).collect();
        assert_eq!(chosen, [(0, 1), (2, 3), (5, 6)]);
    }
}
