//! The resemblance of labelled pairs, exactly, for one kind of shingle.

use super::sweep::{GradedPairs, Sweep};
use crate::config::{Config, Input, Method, Text};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::evaluate::{Documents, Grouping, LinkedGroups};
use crate::flow::{Outcome, Reason};
use crate::progress::Progress;
use crate::read::Source;
use crate::simd::Simd;
use crate::similarity::Measure;
use crate::sketch::{Spread, shingles};
use crate::text::Tokenizer;
use crate::threshold::Threshold;

/// A million: levels are millionths.
const WHOLE: u64 = 1_000_000;

/// The greatest threshold that a pair meets, in millionths; 0 if it meets none.
pub(super) fn level(measure: Measure) -> u32 {
    let either = u64::from(measure.left) + u64::from(measure.right) - u64::from(measure.shared);
    (u64::from(measure.shared) * WHOLE / either.max(1)) as u32
}

/// The configuration that finds all pairs at or over a threshold, whatever is common.
pub fn join(text: &Text, threshold: Threshold, input: &Input) -> Config {
    Config { method: Method::Join, threshold, input: input.clone(), text: text.clone(), ..Config::default() }
}

/// Measures pairs that were judged, each by itself.
///
/// # Errors
/// [`Error::Changed`] if a file is another one by now; [`Error::Interrupted`].
pub fn sweep_judged(
    judged: &[(u32, u32, bool)],
    text: &Text,
    (documents, sources, input): (&Documents, &[Source], &Input),
    (simd, progress): (Simd, &Progress),
) -> Result<Sweep> {
    let mut named: Vec<u32> = judged.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
    named.sort_unstable();
    named.dedup();
    let mut tokenizer = Tokenizer::new(text.tokens, text.fold, simd);
    let (mut sets, mut spread): (Vec<Vec<u64>>, _) = (vec![Vec::new(); named.len()], Spread::default());
    documents.texts(&named, (sources, input), &mut |index, read| {
        progress.check()?;
        shingles(tokenizer.tokens(read), text.ngram, &mut sets[index]);
        spread.sort_distinct(&mut sets[index]);
        Ok(())
    })?;
    let set = |document: &u32| {
        let found = named.binary_search(document);
        found.map(|at| &sets[at]).map_err(|_| Error::Worker("a judged document was not read".into()))
    };
    let (mut pairs, mut duplicates) = (Vec::with_capacity(judged.len()), 0);
    for (a, b, is) in judged {
        let (a, b) = (set(a)?, set(b)?);
        // A text without a token is like no other.
        let level = match (a.is_empty(), a == b) {
            (true, _) => 0,
            (_, true) => WHOLE as u32,
            _ => level(Measure::of(a, b)),
        };
        pairs.push(GradedPairs { level, duplicates: u64::from(*is), others: u64::from(!*is) });
        duplicates += u64::from(*is);
    }
    Ok(Sweep::new(pairs, (duplicates, judged.len() as u64 - duplicates), None))
}

/// Takes from a run of the exact join what labels say of the pairs that it has accepted, of all documents with each other.
///
/// # Errors
/// [`Error::Changed`] if the run has met other documents; [`Error::Interrupted`].
pub fn sweep_joined(
    outcome: &Outcome,
    documents: &Documents,
    truth: &Grouping,
    floor: Threshold,
    progress: &Progress,
) -> Result<Sweep> {
    let run = &outcome.run;
    let number =
        |doc: Doc| documents.at(run.documents.catalogue.position(doc), &run.documents.inputs.sources);
    let accepted = outcome.findings.pairs.as_ref();
    let accepted = accepted.ok_or_else(|| Error::Worker("a run was not asked for its pairs".into()))?;
    // Copies go with the first document of their text, and links are between such.
    let mut texts: Vec<Vec<(u32, u64)>> = truth.groups().iter().map(|group| vec![(*group, 1)]).collect();
    let mut links = Vec::new();
    for (a, b, measure, reason) in accepted {
        let (a, b) = (number(*a)? as usize, number(*b)? as usize);
        match reason {
            Reason::Exact => {
                let copy = std::mem::take(&mut texts[b]);
                texts[a].extend(copy);
            }
            Reason::Near | Reason::Linked => links.push((a, b, level(*measure))),
        }
    }
    texts.iter_mut().for_each(merge);
    let linked = LinkedGroups::new(truth);
    let mut pairs = Vec::with_capacity(texts.len() + links.len());
    for text in &texts {
        progress.check()?;
        pairs.push(graded(WHOLE as u32, within(text, &linked), pairs_of(size(text))));
    }
    for (a, b, level) in links {
        progress.check()?;
        let (a, b) = (&texts[a], &texts[b]);
        pairs.push(graded(level, between(a, b, &linked), size(a) * size(b)));
    }
    pairs.retain(|pairs| pairs.duplicates + pairs.others > 0);
    let (all, duplicates) = (pairs_of(truth.groups().len() as u64), truth.count());
    Ok(Sweep::new(pairs, (duplicates, all - duplicates), Some(floor)))
}

fn graded(level: u32, duplicates: u64, all: u64) -> GradedPairs {
    GradedPairs { level, duplicates, others: all - duplicates }
}

/// Sorts the groups of a text, and counts each once.
fn merge(text: &mut Vec<(u32, u64)>) {
    text.sort_unstable();
    text.dedup_by(|later, first| {
        let is_same = later.0 == first.0;
        first.1 += if is_same { later.1 } else { 0 };
        is_same
    });
}

fn size(text: &[(u32, u64)]) -> u64 {
    text.iter().map(|(_, count)| count).sum()
}

fn pairs_of(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

/// Duplicates among the documents of one text.
fn within(text: &[(u32, u64)], linked: &LinkedGroups) -> u64 {
    let mut sum: u64 = text.iter().map(|(_, count)| pairs_of(*count)).sum();
    for (next, (group, count)) in (1..).zip(text) {
        linked.each_of(*group, &text[next..], |(other, _)| *other, |(_, other)| sum += count * other);
    }
    sum
}

/// Duplicates of a document of one text and a document of another.
fn between(a: &[(u32, u64)], b: &[(u32, u64)], linked: &LinkedGroups) -> u64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut sum = 0;
    for (group, count) in few {
        let same = many.binary_search_by_key(group, |(other, _)| *other);
        sum += same.map_or(0, |at| count * many[at].1);
        linked.each_of(*group, many, |(other, _)| *other, |(_, other)| sum += count * other);
    }
    sum
}
