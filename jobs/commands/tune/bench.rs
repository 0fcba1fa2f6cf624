//! Runs of which nothing is kept, on one part of one set of inputs.

use std::path::Path;
use std::sync::Arc;

use alike::config::{Config, Input};
use alike::error::Result;
use alike::flow::{self, LeaveOut, Outcome, Part, Request};
use alike::progress::Progress;
use alike::read::Source;

use crate::cli::common::RecordArgs;
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
        let request = Request {
            sources: self.sources.to_vec(),
            protected: Vec::new(),
            part: self.part,
            config,
            pairs,
            stored: None,
            replays: Vec::new(),
            leave_out: LeaveOut::Nothing,
            frozen_tables: None,
            lexicon: None,
            resources: self.machine.resources(self.scratch, None),
        };
        flow::run(request, Arc::clone(self.progress))
    }
}

/// Where documents stand in records.
pub(super) fn input(args: &RecordArgs) -> Input {
    let mut input = Input::default();
    records(&mut input, args);
    input
}
