//! All that a report says, as values: what `--json` would print, and what the page shows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::breakdown::{
    FieldLoss, PassagesSought, SharedPassages, SourceLoss, SourceMatrix, field_losses, sources,
};
use super::clusters::{self, ClusterShown, SizeBucket};
use super::excerpts::{Excerpts, PairShown};
use super::scores::{Histogram, share};
use super::thresholds::OtherThresholds;
use crate::error::{Error, Result};
use crate::flow::{EachText, Outcome, Reason, Removed};
use crate::output::{AgainstFigures, KindTable, Skipped, Summary, measured_scores, shown_scores};
use crate::read::Rejected;

/// Pairs of a removed document and its representative that are shown.
const PAIRS: usize = 10;
/// Reasons of refused records that are told apart.
const REASONS: usize = 20;

/// What a report is made of.
pub struct ReportRequest<'a> {
    /// What the page is about, in a few words: the inputs or the collection.
    pub subject: String,
    /// The command that does it again, as it was typed; none if nobody typed one.
    pub command: Option<String>,
    /// What was found.
    pub outcome: &'a Outcome,
    /// Its figures.
    pub summary: &'a Summary,
    /// What was refused.
    pub rejected: &'a [Rejected],
    /// Texts of its documents; none if they cannot be had.
    pub texts: Option<&'a EachText<'a>>,
    /// What other thresholds come to, if that was found out.
    pub other: Option<OtherThresholds>,
}

/// All that a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// What it is about.
    pub subject: String,
    /// The command that does it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of alike.
    pub version: String,
    /// The full configuration, as TOML.
    pub configuration: String,
    /// The threshold, where one figure of 0 to 1 decides.
    pub threshold: Option<f64>,
    /// Files, and their bytes on disk.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Documents.
    pub documents: u64,
    /// Distinct texts.
    pub contents: u64,
    /// Documents that are kept.
    pub kept: u64,
    /// Documents that are removed.
    pub removed: u64,
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents without any token.
    pub empty: u64,
    /// Removed documents by reason: exact, near, linked.
    pub reasons: Vec<(Reason, u64)>,
    /// The kinds of duplicates, if they were asked for.
    pub kinds: Option<KindTable>,
    /// Removed documents by what they have in common with their representative, where one figure of 0 to 1 says that.
    pub scores: Option<Histogram>,
    /// What other thresholds come to.
    pub other: Option<OtherThresholds>,
    /// The removed documents of the loosest clusters that have least in common with their representative, the least first.
    pub nearest: Vec<PairShown>,
    /// Clusters by size.
    pub sizes: Vec<SizeBucket>,
    /// What each source loses.
    pub sources: Vec<SourceLoss>,
    /// How sources stand to each other.
    pub matrix: Option<SourceMatrix>,
    /// What values of fields lose.
    pub fields: Vec<FieldLoss>,
    /// The passages that are shared most.
    pub passages: Option<SharedPassages>,
    /// The largest clusters.
    pub largest: Vec<ClusterShown>,
    /// The clusters whose documents have least in common with their representative.
    pub loosest: Vec<ClusterShown>,
    /// Sets of protected documents.
    pub against: Vec<AgainstFigures>,
    /// Refused records by reason, each with the first place of it.
    pub refused: Vec<(String, u64, String)>,
    /// Files that were passed over.
    pub skipped: Vec<Skipped>,
}

impl RunReport {
    /// Gathers what a report says. Texts of the documents that are shown are read again: some hundred at most.
    ///
    /// # Errors
    /// Those of reading names and texts again; [`Error::Interrupted`].
    pub fn new(request: ReportRequest<'_>) -> Result<RunReport> {
        let ReportRequest { subject, command, outcome, summary, rejected, texts, other } = request;
        let (largest, loosest) = clusters::chosen(outcome);
        let docs = clusters::docs(&largest).chain(clusters::docs(&loosest));
        let mut passages = PassagesSought::of(outcome);
        let docs = docs.chain(passages.docs());
        let excerpts =
            Excerpts::read_and_look(outcome, docs, texts, &mut |doc, text| passages.look(doc, text))?;
        let pair = |row: &Removed| {
            let score = shown_scores(outcome, row).to_string();
            excerpts.pair(outcome, (row.representative, row.doc), score)
        };
        let nearest = loosest.iter().take(PAIRS).map(|cluster| pair(cluster.farthest));
        let nearest = nearest.collect::<Result<_>>()?;
        let (sources, matrix) = sources(outcome);
        let configuration = toml::to_string(&summary.configuration)
            .map_err(|e| Error::Worker(format!("a configuration that is no TOML: {e}")))?;
        let scores = scores(outcome);
        Ok(RunReport {
            subject,
            command,
            version: summary.version.clone(),
            configuration,
            threshold: scores.as_ref().map(|_| summary.configuration.threshold.to_f64()),
            files: summary.inputs.files,
            bytes: summary.inputs.bytes,
            documents: summary.documents,
            contents: summary.contents,
            kept: summary.kept,
            removed: summary.removed,
            clusters: summary.clusters,
            empty: summary.empty,
            reasons: vec![
                (Reason::Exact, summary.exact_duplicates),
                (Reason::Near, summary.near_duplicates),
                (Reason::Linked, summary.linked),
            ],
            kinds: summary.kinds.clone(),
            scores,
            other,
            nearest,
            sizes: clusters::sizes(outcome),
            sources,
            matrix,
            fields: field_losses(outcome),
            passages: passages.found(outcome),
            largest: clusters::shown(outcome, &largest, &excerpts)?,
            loosest: clusters::shown(outcome, &loosest, &excerpts)?,
            against: summary.against.clone(),
            refused: refused(rejected),
            skipped: summary.skipped.clone(),
        })
    }
}

/// Removed documents by what they have in common with their representative.
pub(super) fn scores(outcome: &Outcome) -> Option<Histogram> {
    let mut histogram: Option<Histogram> = None;
    for row in &outcome.findings.removed {
        let (name, found) = share(&measured_scores(outcome, row))?;
        let histogram = histogram.get_or_insert_with(|| Histogram::new(name));
        match row.reason {
            Reason::Exact => histogram.equal += 1,
            Reason::Near | Reason::Linked => histogram.count(found),
        }
    }
    histogram
}

/// Refused records by reason, the most frequent first. What stands behind a colon is of one record.
fn refused(rejected: &[Rejected]) -> Vec<(String, u64, String)> {
    let mut reasons: BTreeMap<&str, (u64, String)> = BTreeMap::new();
    for record in rejected {
        let reason = record.reason.split(": ").next().unwrap_or(&record.reason);
        let place = || {
            if record.line == 0 { record.file.clone() } else { format!("{}:{}", record.file, record.line) }
        };
        reasons.entry(reason).or_insert_with(|| (0, place())).0 += 1;
    }
    let mut reasons: Vec<(String, u64, String)> =
        reasons.into_iter().map(|(reason, (count, first))| (reason.to_owned(), count, first)).collect();
    reasons.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    if reasons.len() > REASONS {
        let rest = reasons.split_off(REASONS - 1);
        let first = rest[0].2.clone();
        reasons.push(("other reasons".to_owned(), rest.iter().map(|(_, count, _)| count).sum(), first));
    }
    reasons
}
