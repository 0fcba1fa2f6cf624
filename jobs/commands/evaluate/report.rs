//! What a measurement tells.

use alike::config::Config;
use alike::evaluate::{Documents, Form, Named, Resolved, Scores};
use alike::flow::Tally;
use alike::read::Rejected;
use alike::threshold::Threshold;
use serde::Serialize;

use crate::cli::evaluate::{EvaluateArgs, PairsOfArg};
use crate::session::labels::LabelsReport;

/// Refused records that are listed one by one.
const SHOWN: usize = 5;

/// A method that is measured.
pub(super) struct EvaluatedMethod {
    pub(super) name: String,
    pub(super) config: Config,
    /// Whether nobody asked for it: the speed of others is given relative to its own.
    pub(super) beside: bool,
}

/// All that is reported.
#[derive(Serialize)]
pub(super) struct Evaluation {
    pub(super) version: &'static str,
    pub(super) documents: usize,
    pub(super) text_bytes: u64,
    /// Records that are no documents.
    pub(super) refused: Named,
    pub(super) workers: usize,
    /// `clusters` or `links`.
    pub(super) pairs_of: &'static str,
    /// What is in the labels; `None` against the exact join.
    pub(super) labels: Option<LabelsReport>,
    /// Share of draws within the intervals.
    pub(super) confidence: f64,
    pub(super) rows: Vec<EvaluationRow>,
}

/// A method and what came of it.
#[derive(Serialize)]
pub(super) struct EvaluationRow {
    pub(super) name: String,
    pub(super) config: Config,
    /// Threshold of the exact join that it is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truth_threshold: Option<Threshold>,
    #[serde(flatten)]
    pub(super) result: RunResult,
}

/// What came of a method.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RunResult {
    /// It ran.
    Ran(Box<MethodScores>),
    /// It did not, for this reason.
    Failed(String),
}

#[derive(Serialize)]
pub(super) struct MethodScores {
    pub(super) scores: Scores,
    pub(super) seconds: f64,
    /// Megabytes of text a second.
    pub(super) megabytes_per_second: f64,
    /// Against that of the first `join` of the rows.
    pub(super) speed_to_join: Option<f64>,
    pub(super) key_bytes_per_document: f64,
    pub(super) tally: Tally,
}

impl Evaluation {
    pub(super) fn new(
        args: &EvaluateArgs,
        documents: &Documents,
        (refused, workers): (&[Rejected], usize),
        labels: Option<&(Form, Resolved)>,
    ) -> Evaluation {
        let labels = labels
            .zip(args.truth.labels.as_ref())
            .map(|(labels, path)| LabelsReport::new(path, &args.truth, labels));
        Evaluation {
            version: env!("CARGO_PKG_VERSION"),
            documents: documents.len(),
            text_bytes: documents.text_bytes,
            refused: Named {
                count: Rejected::records(refused),
                first: refused.iter().take(SHOWN).map(Rejected::to_string).collect(),
            },
            workers,
            pairs_of: match args.pairs_of {
                PairsOfArg::Clusters => "clusters",
                PairsOfArg::Links => "links",
            },
            labels,
            confidence: alike::evaluate::CONFIDENCE,
            rows: Vec::new(),
        }
    }
}
