//! Methods run one after the other on the same inputs, and measured.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use alike::config::{Config, Input, Method};
use alike::error::{Error, Result};
use alike::evaluate::{Documents, Found, Resolved, Scores, Truth, found, group_of, score};
use alike::flow::{self, Request, Tally};
use alike::progress::Progress;
use alike::read::Source;
use alike::run_lexicon;
use alike::threshold::Threshold;

use super::report::{EvaluatedMethod, EvaluationRow, MethodScores, RunResult};
use crate::session::options::Machine;
use crate::terminal::stderr::message;

/// Bytes of a posting.
const POSTING: f64 = 16.0;

/// What a run has come to.
pub(super) struct Ran {
    found: Found,
    tally: Tally,
    seconds: f64,
}

/// Runs on the same inputs, each configuration once.
pub(super) struct MethodRuns<'a> {
    pub(super) sources: &'a [Source],
    pub(super) documents: &'a Documents,
    pub(super) scratch: &'a Path,
    pub(super) machine: Machine,
    /// The file of the lexicon that methods look terms up in, if it is not that of the inputs.
    pub(super) lexicon: Option<&'a Path>,
    /// Whether accepted pairs are wanted.
    pub(super) accepted: bool,
    pub(super) progress: &'a Arc<Progress>,
    /// Why the first that failed has; nothing before the first run.
    pub(super) failed: Option<Error>,
    /// Nothing before the first run.
    pub(super) done: Vec<(Config, std::result::Result<Arc<Ran>, String>)>,
}

impl MethodRuns<'_> {
    /// Measures every method, in order. Truth is what labels say, or else the exact join.
    pub(super) fn all(
        mut self,
        asked: &[EvaluatedMethod],
        labels: Option<&Resolved>,
        threshold: Option<Threshold>,
    ) -> Result<Vec<EvaluationRow>> {
        let sizes: Vec<u8> = self.documents.words().map(group_of).collect();
        let everything: Vec<u32> = (0..sizes.len() as u32).collect();
        let (mut rows, mut failures) = (Vec::new(), 0);
        for EvaluatedMethod { name, config, beside } in asked {
            let truth = exact_join(config, threshold);
            let mut measure = || -> Result<std::result::Result<MethodScores, String>> {
                let ran = match self.run(config)? {
                    Ok(ran) => ran,
                    Err(reason) => return Ok(Err(reason)),
                };
                let scores = match labels {
                    Some(Resolved { documents, truth, .. }) => {
                        score(&ran.found, self.accepted, documents, truth, &sizes)
                    }
                    None => match self.run(&truth)? {
                        Ok(joined) => {
                            let truth = whole(&joined.found);
                            score(&ran.found, self.accepted, &everything, &truth, &sizes)
                        }
                        Err(reason) => {
                            return Ok(Err(format!("the exact join to hold it against: {reason}")));
                        }
                    },
                };
                Ok(Ok(self.measured(&ran, scores)))
            };
            let result = match measure()? {
                Ok(measured) => RunResult::Ran(Box::new(measured)),
                Err(reason) => {
                    failures += usize::from(!beside);
                    RunResult::Failed(reason)
                }
            };
            let truth_threshold = labels.is_none().then_some(truth.threshold);
            rows.push(EvaluationRow { name: name.clone(), config: config.clone(), truth_threshold, result });
        }
        if let (true, Some(EvaluationRow { result: RunResult::Failed(reason), .. })) =
            (failures == asked.iter().filter(|asked| !asked.beside).count(), rows.first())
        {
            return Err(self.failed.take().unwrap_or_else(|| Error::config(reason.clone())));
        }
        compare_speed(&mut rows);
        Ok(rows)
    }

    fn measured(&self, ran: &Ran, scores: Scores) -> MethodScores {
        let documents = self.documents.len().max(1) as f64;
        MethodScores {
            scores,
            seconds: ran.seconds,
            megabytes_per_second: self.documents.text_bytes as f64 / 1e6 / ran.seconds,
            speed_to_join: None,
            key_bytes_per_document: ran.tally.postings as f64 * POSTING / documents,
            tally: ran.tally,
        }
    }

    /// Runs a configuration, unless it was run before. Its row says that it cannot be run, whatever the reason but for
    /// a wish to stop.
    fn run(&mut self, config: &Config) -> Result<std::result::Result<Arc<Ran>, String>> {
        if let Some((_, done)) = self.done.iter().find(|(other, _)| other == config) {
            return Ok(done.clone());
        }
        let done = match self.run_now(config) {
            Ok(ran) => Ok(Arc::new(ran)),
            Err(error @ (Error::Interrupted | Error::Changed(_))) => return Err(error),
            Err(error) => {
                let why = message(&error);
                self.failed.get_or_insert(error);
                Err(why)
            }
        };
        self.done.push((config.clone(), done.clone()));
        Ok(done)
    }

    fn run_now(&self, config: &Config) -> Result<Ran> {
        let begun = Instant::now();
        let mut config = config.clone();
        let resources = self.machine.resources(self.scratch, None);
        let lexicon = run_lexicon(&mut config, self.lexicon, self.sources, &resources, self.progress)?;
        let request = Request::new(self.sources.to_vec(), config, resources);
        let request = Request { pairs: self.accepted, lexicon, ..request };
        let outcome = flow::run(request, Arc::clone(self.progress))?;
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Ran { found: found(&outcome, self.documents)?, tally: outcome.tally, seconds })
    }
}

/// The exact join that a method is held against: its tokens, shingles and clustering, its threshold or another one.
fn exact_join(config: &Config, threshold: Option<Threshold>) -> Config {
    // What does not decide the answer is the same for all, so that no join is run twice.
    Config {
        method: Method::Join,
        threshold: threshold.unwrap_or(config.threshold),
        input: Input { date_field: String::new(), ..config.input.clone() },
        text: config.text.clone(),
        cluster: config.cluster.clone(),
        ..Config::default()
    }
}

/// What a join has found, as what is true.
fn whole(found: &Found) -> Truth {
    let clusters = found.clusters.clone();
    Truth::Whole { pairs: found.pairs.clone().unwrap_or_else(|| clusters.clone()), clusters }
}

/// Says of all rows how fast they are beside the first `join`.
fn compare_speed(rows: &mut [EvaluationRow]) {
    let seconds = |row: &EvaluationRow| match &row.result {
        RunResult::Ran(measured) if row.config.method == Method::Join => Some(measured.seconds),
        _ => None,
    };
    let join = rows.iter().find_map(seconds);
    for row in rows {
        if let RunResult::Ran(measured) = &mut row.result {
            measured.speed_to_join = join.map(|join| join / measured.seconds);
        }
    }
}
