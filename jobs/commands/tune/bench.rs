//! What measuring takes: runs of which nothing is kept, on one part of one set of inputs, and inputs that have enough for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::config::{Config, Fold, Input};
use alike::error::{Error, Result};
use alike::flow::{self, Outcome, Part, Request};
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::Source;

use crate::cli::common::RecordArgs;
use crate::session::inputs::shown;
use crate::session::options::{Machine, records};

/// What runs are made on, and with.
pub(super) struct TrialRuns<'a> {
    pub(super) sources: &'a [Source],
    pub(super) part: Part,
    /// An existing folder for spill files.
    pub(super) scratch: &'a Path,
    pub(super) machine: Machine,
    pub(super) progress: &'a Arc<Progress>,
}

impl TrialRuns<'_> {
    /// Runs a configuration; with all accepted pairs, if they are wanted.
    pub(super) fn run(&self, config: Config, pairs: bool) -> Result<Outcome> {
        let resources = self.machine.resources(self.scratch, None);
        let request = Request::new(self.sources.to_vec(), config, resources);
        flow::run(Request { part: self.part, pairs, ..request }, Arc::clone(self.progress))
    }
}

/// Where documents stand in records.
pub(super) fn input(args: &RecordArgs) -> Input {
    let mut input = Input::default();
    records(&mut input, args);
    input
}

/// Refuses inputs of which fewer than `least` documents have a word: a table of zeros would look like a result. `part` says what
/// to do where only some of the documents were measured.
pub(super) fn refuse_few(
    inputs: &[PathBuf],
    (documents, with_words): (u64, u64),
    least: u64,
    part: &str,
) -> Result<()> {
    if with_words >= least {
        return Ok(());
    }
    let mut why = match (documents, with_words) {
        (0, _) => "no documents to measure; check the files".to_owned(),
        (_, 0) => {
            let documents = counted(documents, "document");
            format!("{documents} without any word; is the text field right (--text-field)?")
        }
        _ => "only 1 document has a word, and a threshold is about two texts; name more documents".to_owned(),
    };
    if !part.is_empty() {
        why = format!("{why}; {part}");
    }
    Err(Error::input(Path::new(&shown(inputs)), why))
}

/// The line of a configuration that says which spellings are one; none where that is as usual.
pub(super) fn toml_fold(fold: Fold) -> String {
    match fold == Fold::default() {
        true => String::new(),
        false => format!("fold = {:?}\n", Vec::<String>::from(fold)),
    }
}
