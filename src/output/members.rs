//! The members of clusters in document order, each with what was found out about it.

use crate::document::{Doc, Position};
use crate::flow::{DocumentCluster, Outcome, Reason, Removed};
use crate::similarity::{Measure, ReportedScores};

/// A member of a cluster.
pub(super) struct ClusterMember<'a> {
    /// Where it stands.
    pub(super) position: Position,
    /// The number of its cluster, from 1.
    pub(super) number: u64,
    /// Its cluster.
    pub(super) cluster: &'a DocumentCluster,
    /// Whether it is kept.
    pub(super) kept: bool,
    /// How it stands to the representative, unless it is that one.
    row: Option<&'a Removed>,
}

impl ClusterMember<'_> {
    /// How much it has in common with the representative.
    pub(super) fn shown(&self, outcome: &Outcome) -> ReportedScores {
        match self.row {
            Some(row) => shown_scores(outcome, row),
            None => ReportedScores::default().equal(),
        }
    }

    /// Why it is removed, if it is.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.row.filter(|_| !self.kept).map(|row| row.reason)
    }
}

/// The members of all clusters in document order, but for protected ones.
pub(super) fn members(outcome: &Outcome) -> Vec<ClusterMember<'_>> {
    let findings = &outcome.findings;
    let member = |doc: Doc, at: usize, kept: bool, row| ClusterMember {
        position: outcome.run.documents.catalogue.position(doc),
        number: at as u64 + 1,
        cluster: &findings.clusters[at],
        kept,
        row,
    };
    let removed = findings.removed.iter().map(|row| member(row.doc, row.cluster, false, Some(row)));
    let mut members: Vec<_> = removed.collect();
    members.extend(findings.spared.iter().map(|row| member(row.doc, row.cluster, true, Some(row))));
    let first = |(at, found): (usize, &DocumentCluster)| member(found.representative, at, true, None);
    members.extend(findings.clusters.iter().enumerate().map(first));
    let first = outcome.run.documents.protected_sources();
    members.retain(|member| member.position.file() as usize >= first);
    members.sort_unstable_by_key(|member| member.position);
    members
}

/// What lists and reports have of a removed document.
pub fn shown_scores(outcome: &Outcome, row: &Removed) -> ReportedScores {
    let shown = measured_scores(outcome, row);
    if row.reason == Reason::Exact { shown.equal() } else { shown }
}

/// The same, of an equal text as it was measured.
pub fn measured_scores(outcome: &Outcome, row: &Removed) -> ReportedScores {
    let is_protected = outcome.run.documents.catalogue.is_protected(row.representative);
    reported(outcome, row.measure, is_protected.then_some(row.measure.right))
}

/// What lists have of a pair in document order, the first of which is protected if any is.
pub(super) fn pair_scores(outcome: &Outcome, first: Doc, measure: Measure, reason: Reason) -> ReportedScores {
    let is_protected = outcome.run.documents.catalogue.is_protected(first);
    let shown = reported(outcome, measure, is_protected.then_some(measure.left));
    if reason == Reason::Exact { shown.equal() } else { shown }
}

fn reported(outcome: &Outcome, measure: Measure, protected: Option<u32>) -> ReportedScores {
    outcome.run.context.rule.map(|rule| rule.reported(measure, protected)).unwrap_or_default()
}
