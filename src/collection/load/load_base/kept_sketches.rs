//! What a collection keeps of the sketches of texts.

use crate::collection::tables::postings::PostingForm;
use crate::config::Config;
use crate::similarity::AcceptanceRule;

/// What is kept of sketches.
#[derive(Clone, Copy, Debug)]
pub struct KeptSketches {
    /// Of sketches of which rule the own words are signed, if they are.
    pub(super) signed: Option<AcceptanceRule>,
    /// Tokens of a shingle, where tokens are kept in place of sketches.
    pub(super) ngram: Option<usize>,
    pub(super) postings: PostingForm,
}

impl KeptSketches {
    /// What a collection of this configuration keeps.
    pub fn of(config: &Config) -> KeptSketches {
        KeptSketches {
            signed: config.signed(),
            ngram: config.sketched_by_tokens(),
            postings: PostingForm::of(config),
        }
    }
}
