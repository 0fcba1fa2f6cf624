//! The runs that a plan of adaptive sampling is made of: true pairs, pairs of every ratio and residue, and the plan itself.

use serde::Serialize;

use super::Run;
use super::plan::{Accuracy, AtRatio, Floors, MOST_RESIDUES, RATIOS, Trial, by_size, choose};
use crate::config::{Config, Count, Fold, Input, Method, Sampling, Shingles, Text};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::evaluate::{BOUNDS, Documents, SIZES, Sizes, group_of};
use crate::flow::{Outcome, Reason};
use crate::threshold::Threshold;

/// What a plan is for.
#[derive(Clone, Debug)]
pub struct SamplingGoal {
    /// Resemblance from which on a pair is one.
    pub threshold: Threshold,
    /// Words a shingle.
    pub ngram: usize,
    /// Which spellings are one.
    pub fold: Fold,
    /// What each group of lengths is to keep.
    pub floors: Floors,
    /// Where id and text of the documents stand.
    pub input: Input,
}

/// A plan, and what it was made of. Documents of equal text are one here.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Distinct texts measured.
    pub texts: u64,
    /// Their distinct shingles, text by text.
    pub shingles: u64,
    /// Pairs of texts whose full resemblance is at or over the threshold.
    pub pairs: u64,
    /// What came of every ratio, where all texts are sampled alike.
    pub by_ratio: Vec<AtRatio>,
    /// The groups of lengths.
    pub groups: Vec<LengthGroup>,
    /// Of so many shingles one is kept, for each group: the value of `shingles.ratios`.
    pub ratios: [u64; SIZES],
    /// Share of all shingles that these ratios keep if hashes are spread evenly.
    pub planned_share: f64,
    /// What came of a run with the plan.
    pub adaptive: Adaptive,
}

/// Texts of about one length.
#[derive(Clone, Debug, Serialize)]
pub struct LengthGroup {
    /// The fewest words.
    pub words_from: u32,
    /// The words at which the next group begins.
    pub words_to: Option<u32>,
    /// Distinct texts.
    pub texts: u64,
    /// Their distinct shingles.
    pub shingles: u64,
    /// True pairs whose shorter text is one of them.
    pub pairs: u64,
    /// Of so many shingles one is kept.
    pub ratio: u64,
}

/// A run with a plan, held against the true pairs.
#[derive(Clone, Debug, Serialize)]
pub struct Adaptive {
    /// Share of all shingles that were kept.
    pub share: f64,
    /// Over all pairs.
    pub all: Accuracy,
    /// By the group of a pair's shorter text.
    pub by_size: [Accuracy; SIZES],
}

/// Plans adaptive sampling for documents, by runs on all of them: one on full sets, one for each ratio and residue, and
/// one with the plan.
///
/// # Errors
/// Those of runs; [`Error::Changed`] if a run meets other documents.
pub fn plan(documents: &Documents, wish: &SamplingGoal, run: &Run<'_>) -> Result<Plan> {
    let groups: Vec<u8> = documents.words().map(group_of).collect();
    let joined = SampledRun::new(&run(config(wish, Method::Join, Shingles::default()), true)?, documents)?;
    let truth = by_size(&joined.pairs, &groups);
    let trial = |shingles: Shingles| -> Result<(Trial, u64)> {
        let found = SampledRun::new(&run(config(wish, Method::Shingles, shingles), true)?, documents)?;
        Ok((Trial::new(&found.pairs, &joined.pairs, &groups), found.sizes.iter().sum()))
    };
    let at_ratio = |ratio: u64| -> Result<AtRatio> {
        let of_residue = |residue| {
            let sampled =
                Shingles { sampling: Sampling::Mod, modulus: ratio, residue, ..Shingles::default() };
            trial(sampled).map(|(trial, _)| trial)
        };
        let trials: Vec<Trial> = (0..ratio.min(MOST_RESIDUES)).map(of_residue).collect::<Result<_>>()?;
        Ok(AtRatio::new(ratio, &trials, &truth))
    };
    let by_ratio: Vec<AtRatio> = RATIOS.into_iter().map(at_ratio).collect::<Result<_>>()?;
    let ratios = choose(&by_ratio, wish.floors);
    let adaptive = Shingles { sampling: Sampling::Adaptive, ratios, ..Shingles::default() };
    let (adaptive, kept) = trial(adaptive)?;
    let (texts, shingles) = joined.by_size(&groups);
    let all: u64 = shingles.iter().sum();
    let planned: f64 = shingles.iter().zip(ratios).map(|(count, ratio)| *count as f64 / ratio as f64).sum();
    let AtRatio { all: accuracy, by_size, .. } = AtRatio::new(1, &[adaptive], &truth);
    let share = |kept: f64| if all == 0 { 1.0 } else { kept / all as f64 };
    let group = |group: usize| LengthGroup {
        words_from: BOUNDS[group],
        words_to: BOUNDS.get(group + 1).copied(),
        texts: texts[group],
        shingles: shingles[group],
        pairs: truth[group],
        ratio: ratios[group],
    };
    Ok(Plan {
        texts: texts.iter().sum(),
        shingles: all,
        pairs: truth.iter().sum(),
        by_ratio,
        groups: (0..SIZES).map(group).collect(),
        ratios,
        planned_share: share(planned),
        adaptive: Adaptive { share: share(kept as f64), all: accuracy, by_size },
    })
}

/// A run whose every accepted pair is counted in full, whatever is common.
fn config(wish: &SamplingGoal, method: Method, shingles: Shingles) -> Config {
    Config {
        method,
        threshold: wish.threshold,
        input: wish.input.clone(),
        text: Text { ngram: wish.ngram, fold: wish.fold, ..Text::default() },
        shingles,
        count: Count { common_cap: 0, ..Count::default() },
        ..Config::default()
    }
}

/// What a run has found of distinct texts, each under the number of its first document.
struct SampledRun {
    /// Accepted pairs, the lower number first, sorted.
    pairs: Vec<(u32, u32)>,
    /// Members of the set of each text; 0 for documents that have the text of an earlier one.
    sizes: Vec<u64>,
    /// Whether a document is the first of its text.
    firsts: Vec<bool>,
}

impl SampledRun {
    fn new(outcome: &Outcome, documents: &Documents) -> Result<SampledRun> {
        documents.refuse_gaps(outcome)?;
        let run = &outcome.run;
        let number =
            |doc: Doc| documents.at(run.documents.catalogue.position(doc), &run.documents.inputs.sources);
        let accepted = outcome.findings.pairs.as_ref();
        let accepted = accepted.ok_or_else(|| Error::Worker("a run was not asked for its pairs".into()))?;
        let mut sizes = vec![0; documents.len()];
        for doc in run.documents.catalogue.docs() {
            sizes[number(doc)? as usize] = u64::from(run.documents.catalogue.size(doc));
        }
        let (mut pairs, mut firsts) = (Vec::new(), vec![true; documents.len()]);
        for (a, b, _, reason) in accepted {
            let (a, b) = (number(*a)?, number(*b)?);
            match reason {
                Reason::Exact => (sizes[b as usize], firsts[b as usize]) = (0, false),
                Reason::Near | Reason::Linked => pairs.push((a.min(b), a.max(b))),
            }
        }
        pairs.sort_unstable();
        Ok(SampledRun { pairs, sizes, firsts })
    }

    /// Texts and their members by groups.
    fn by_size(&self, groups: &[u8]) -> (Sizes, Sizes) {
        let (mut texts, mut members) = ([0; SIZES], [0; SIZES]);
        for ((group, size), first) in groups.iter().zip(&self.sizes).zip(&self.firsts) {
            texts[*group as usize] += u64::from(*first);
            members[*group as usize] += size;
        }
        (texts, members)
    }
}
