//! Documents that a user is warned about: the first ones, by name.

use serde::{Deserialize, Serialize};

use crate::document::{Doc, Position};
use crate::error::Result;
use crate::flow::documents::RunDocuments;
use crate::limits::DOCUMENTS_NAMED;

/// The first documents of some kind, by position: at most [`DOCUMENTS_NAMED`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleIds(Vec<(u64, Doc)>);

impl SampleIds {
    /// Notes a document, if it is among the first.
    pub fn note(&mut self, position: Position, doc: Doc) {
        let new = (position.to_bits(), doc);
        let at = self.0.partition_point(|known| *known < new);
        if at < DOCUMENTS_NAMED {
            self.0.truncate(DOCUMENTS_NAMED - 1);
            self.0.insert(at, new);
        }
    }

    /// Adds what another worker noted.
    pub fn add(&mut self, other: &SampleIds) {
        self.0.extend_from_slice(&other.0);
        self.0.sort_unstable();
        self.0.truncate(DOCUMENTS_NAMED);
    }

    /// Their names, in document order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn names(&self, documents: &RunDocuments) -> Result<Vec<String>> {
        self.0.iter().map(|(_, doc)| documents.name(*doc).map(String::from)).collect()
    }
}

/// Documents that a user is warned about, beside what is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentWarnings {
    /// Those with too few terms for the method.
    pub too_few_terms: SampleIds,
    /// Those without a date that is understood, where documents are compared by it.
    pub missing_date: SampleIds,
}

impl DocumentWarnings {
    /// All of them.
    pub fn docs(&self) -> impl Iterator<Item = Doc> {
        self.too_few_terms.0.iter().chain(&self.missing_date.0).map(|(_, doc)| *doc)
    }

    /// Adds those of another worker.
    pub fn add(&mut self, other: &DocumentWarnings) {
        self.too_few_terms.add(&other.too_few_terms);
        self.missing_date.add(&other.missing_date);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ones_stay_however_workers_share_them() {
        let positions: Vec<u64> = (0..200).map(|at| at * 7919 % 1009).collect();
        let mut truth = positions.clone();
        truth.sort_unstable();
        truth.truncate(DOCUMENTS_NAMED);
        for workers in [1, 2, 7] {
            let mut all = SampleIds::default();
            for worker in 0..workers {
                let mut one = SampleIds::default();
                let own = positions.iter().skip(worker).step_by(workers);
                own.for_each(|at| one.note(Position::new(0, *at), worker as Doc));
                all.add(&one);
            }
            let found: Vec<u64> = all.0.iter().map(|(position, _)| *position).collect();
            let truth: Vec<u64> = truth.iter().map(|at| Position::new(0, *at).to_bits()).collect();
            assert_eq!(found, truth, "{workers} workers");
        }
    }
}
