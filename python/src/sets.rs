//! Shingles of texts, and how many of them two texts share.

use std::collections::HashSet;

use alike::simd::Simd;
use alike::similarity::Measure;
use alike::sketch::shingles as identities;
use alike::text::{Fold, PlacedWords, Tokenizer, Tokens};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The distinct shingles of a text: runs of `ngram` words, as they stand in it, in their order. Two that differ only in case
/// or punctuation are one. A text of fewer words is one shingle, a text without words has none.
///
/// >>> alike.shingles("The clocks were striking thirteen.", ngram=3)
/// ['The clocks were', 'clocks were striking', 'were striking thirteen']
///
/// Raises ValueError if `ngram` is 0.
#[pyfunction]
#[pyo3(signature = (text, *, ngram=5))]
pub fn shingles(text: &str, ngram: i64) -> PyResult<Vec<String>> {
    let ngram = positive(ngram)?;
    let (mut hashes, mut places) = (Vec::new(), Vec::new());
    PlacedWords::new(Fold::default()).each(text, |hash, place| {
        hashes.push(hash);
        places.push(place);
    });
    let mut ids = Vec::new();
    identities(&hashes, ngram, &mut ids);
    let mut seen = HashSet::new();
    let length = ngram.min(places.len());
    let runs = ids.into_iter().zip(places.windows(length.max(1)));
    let distinct = runs.filter(|(id, _)| seen.insert(*id));
    Ok(distinct.map(|(_, run)| text[run[0].start..run[length - 1].end].to_owned()).collect())
}

/// The Jaccard resemblance of two texts over their shingles of `ngram` words: shared ones over those of either, 0 to 1.
/// Without any words in either it is 0.
///
/// >>> alike.resemblance("The clocks were striking thirteen.", "the clocks were striking twelve", ngram=2)
/// 0.6
///
/// Raises ValueError if `ngram` is 0.
#[pyfunction]
#[pyo3(signature = (a, b, *, ngram=5))]
pub fn resemblance(py: Python<'_>, a: String, b: String, ngram: i64) -> PyResult<f64> {
    let ngram = positive(ngram)?;
    Ok(py.detach(|| {
        let mut tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), Simd::detect());
        let mut set = |text: &str| {
            let mut ids = Vec::new();
            identities(tokenizer.tokens(text), ngram, &mut ids);
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        Measure::of(&set(&a), &set(&b)).resemblance()
    }))
}

fn positive(ngram: i64) -> PyResult<usize> {
    usize::try_from(ngram).ok().filter(|ngram| *ngram > 0).ok_or_else(|| {
        PyValueError::new_err(format!("ngram is the number of words in a shingle: at least 1, not {ngram}"))
    })
}
