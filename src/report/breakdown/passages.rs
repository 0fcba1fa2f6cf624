//! The lines that most documents of the inputs have: what pages of one site repeat, licences, and the like.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::document::Doc;
use crate::flow::Outcome;
use crate::observed::{LineSample, SharedLine, each_shared_line, line_identity};
use crate::report::excerpts::beginning_of;

/// Passages that are shown.
const SHOWN: usize = 20;

/// The passages that are shared most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPassages {
    /// Documents whose lines were counted.
    pub documents: u64,
    /// Documents that there are.
    pub of: u64,
    /// Bytes of the texts whose lines were counted.
    pub text_bytes: u64,
    /// The passages that most of these documents have, the most first.
    pub passages: Vec<SharedPassage>,
}

/// A passage that documents share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPassage {
    /// How it begins, with single blanks.
    pub text: String,
    /// Documents that have it, of those whose lines were counted.
    pub documents: u64,
    /// Those of them that are kept.
    pub kept: u64,
    /// Bytes that it takes in them.
    pub bytes: u64,
}

/// The passages that are shared most, while their texts are looked for.
#[derive(Default)]
pub(crate) struct PassagesSought {
    lines: Vec<SharedLine>,
    /// The first document of each line, with the places of its lines.
    firsts: BTreeMap<Doc, Vec<usize>>,
    texts: Vec<Option<String>>,
    documents: u64,
    text_bytes: u64,
}

impl PassagesSought {
    /// What the workers of a run have noted.
    pub(crate) fn of(outcome: &Outcome) -> PassagesSought {
        let catalogue = &outcome.run.documents.catalogue;
        let samples = outcome.observed.iter().map(|observed| observed.lines.clone());
        let sample = LineSample::merged(samples, &outcome.run.context.sampled);
        let (documents, text_bytes) = sample.size();
        let lines = sample.most_shared(SHOWN);
        let mut firsts: BTreeMap<Doc, Vec<usize>> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            let first = line.docs.iter().min_by_key(|doc| catalogue.position(**doc));
            first.into_iter().for_each(|doc| firsts.entry(*doc).or_default().push(at));
        }
        PassagesSought { texts: vec![None; lines.len()], lines, firsts, documents, text_bytes }
    }

    /// The documents whose texts are looked at.
    pub(crate) fn docs(&self) -> impl Iterator<Item = Doc> + use<> {
        self.firsts.keys().copied().collect::<Vec<_>>().into_iter()
    }

    /// Looks at the text of a document.
    pub(crate) fn look(&mut self, doc: Doc, text: &str) {
        let PassagesSought { lines, firsts, texts, .. } = self;
        let Some(wanted) = firsts.get(&doc) else { return };
        each_shared_line(text, |line| {
            let identity = line_identity(line);
            for at in wanted.iter().filter(|at| lines[**at].identity == identity) {
                texts[*at].get_or_insert_with(|| beginning_of(line));
            }
        });
    }

    /// What was found; nothing if no two documents share a passage.
    pub(crate) fn found(self, outcome: &Outcome) -> Option<SharedPassages> {
        if self.lines.is_empty() {
            return None;
        }
        let catalogue = &outcome.run.documents.catalogue;
        let mut removed: Vec<Doc> = outcome.findings.removed.iter().map(|row| row.doc).collect();
        removed.sort_unstable();
        let passage = |(line, text): (SharedLine, Option<String>)| {
            let is_kept = |doc: &&Doc| removed.binary_search(doc).is_err();
            Some(SharedPassage {
                text: text?,
                documents: line.docs.len() as u64,
                kept: line.docs.iter().filter(is_kept).count() as u64,
                bytes: line.bytes,
            })
        };
        let workers = outcome.observed.iter().map(|observed| observed.worker as usize);
        let own = |worker| catalogue.rows(worker) as u64 - u64::from(catalogue.protected_rows(worker));
        Some(SharedPassages {
            documents: self.documents,
            of: workers.map(own).sum(),
            text_bytes: self.text_bytes,
            passages: self.lines.into_iter().zip(self.texts).filter_map(passage).collect(),
        })
    }
}
