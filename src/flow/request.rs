//! What a run is asked for.

use std::sync::Arc;

use crate::config::Config;
use crate::flow::left_out::LeaveOut;
use crate::flow::stored::{ReplayedDocuments, Stored};
use crate::lexicon::Lexicon;
use crate::method::FrozenTables;
use crate::observed::Observation;
use crate::read::{Part, Source};
use crate::resources::Resources;

/// What to run on, and with what.
pub struct Request {
    /// The inputs, in document order; none if all documents are replayed.
    pub sources: Vec<Source>,
    /// Sets of protected documents, which are the first of the inputs, set after set: they stay, represent whatever resembles
    /// them, and are never compared with each other.
    pub protected: Vec<ProtectedSet>,
    /// Which part of them is read.
    pub part: Part,
    /// What decides the answer.
    pub config: Config,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// What earlier loads left, if this is a load of a collection.
    pub stored: Option<Arc<dyn Stored>>,
    /// Stored documents to take in in place of inputs, each with the number of the input in whose place: all documents of the run,
    /// which then has no inputs, or protected ones.
    pub replays: Vec<(u32, Arc<dyn ReplayedDocuments>)>,
    /// What becomes of records that resemble protected documents, where this is a load or comes before one.
    pub leave_out: LeaveOut,
    /// What is observed of the records beside their duplicates, if anything is; not of a load.
    pub observation: Option<Observation>,
    /// The frozen tables that sketches are made by; `None`: they are made here, of the inputs and the lexicon.
    pub frozen_tables: Option<Arc<FrozenTables>>,
    /// The lexicon of a run whose tables are made here; only process 0 is asked for one.
    pub lexicon: Option<Arc<Lexicon>>,
    /// What the run may use: postings and sets beyond their share of the memory go to disk. The other processes have the
    /// same request, but for what is their machine's.
    pub resources: Resources,
}

impl Request {
    /// All of some inputs, with nothing stored, protected, left out or observed, and without the list of all pairs.
    pub fn new(sources: Vec<Source>, config: Config, resources: Resources) -> Request {
        Request {
            sources,
            protected: Vec::new(),
            part: Part::ALL,
            config,
            pairs: false,
            stored: None,
            replays: Vec::new(),
            leave_out: LeaveOut::Nothing,
            observation: None,
            frozen_tables: None,
            lexicon: None,
            resources,
        }
    }
}

/// Some inputs whose documents are protected.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProtectedSet {
    /// What it is called in lists and summaries.
    pub name: String,
    /// How many inputs it has.
    pub sources: usize,
}

impl ProtectedSet {
    /// How many inputs all of some sets have.
    pub fn sources_of(sets: &[ProtectedSet]) -> usize {
        sets.iter().map(|set| set.sources).sum()
    }
}
