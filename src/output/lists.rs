//! From the outcome of a run to its lists: rows in document order, names instead of numbers.

use std::path::{Path, PathBuf};

use super::chosen::{LeftOut, Side};
use super::list_file::{ListFile, ListForm};
use super::members::{ClusterMember, members, pair_scores, shown_scores};
use super::rows::{
    AgainstRow, AssignmentRow, ClusterRow, DuplicateRow, LeftOutRow, ListRow, PairRow, RejectedRow,
};
use super::summary::{AgainstFigures, CommonShingles, InputFigures, Skipped, StageSeconds, Summary};
use crate::document::{Doc, DocumentName};
use crate::error::Result;
use crate::flow::{Outcome, Reason, Related, Removed};
use crate::read::{Discovery, Refusal, Rejected};

/// The lists of an outcome.
pub struct Lists<'a> {
    outcome: &'a Outcome,
    related: Option<&'a Related>,
    choice: ListChoice,
}

/// Which lists are written, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListChoice {
    /// Their form.
    pub form: ListForm,
    /// Whether there is one with a row for every document.
    pub assignments: bool,
}

impl<'a> Lists<'a> {
    /// The lists of `outcome`.
    pub fn new(outcome: &'a Outcome) -> Lists<'a> {
        Lists { outcome, related: None, choice: ListChoice::default() }
    }

    /// The lists with what was found out about kinds, if it was.
    pub fn with_kinds(self, related: Option<&'a Related>) -> Lists<'a> {
        Lists { related, ..self }
    }

    /// The lists in another form, or more of them.
    pub fn written_as(self, choice: ListChoice) -> Lists<'a> {
        Lists { choice, ..self }
    }

    /// Writes `duplicates.jsonl`, `clusters.jsonl`, `pairs.jsonl` if there are pairs, and `rejected.jsonl`, or
    /// what they are in the form that was chosen; `assignments` if it was.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn write(&self, staging: &Path, rejected: &[Rejected]) -> Result<()> {
        self.duplicates(staging)?;
        self.clusters(staging)?;
        self.pairs(staging)?;
        if self.choice.assignments {
            self.assignments(staging)?;
        }
        let mut rows = self.create::<RejectedRow<'_>>(staging, "rejected")?;
        rejected.iter().try_for_each(|rejected| rows.write(&RejectedRow::of(rejected)))?;
        rows.finish()
    }

    fn create<R: ListRow>(&self, staging: &Path, name: &str) -> Result<ListFile> {
        ListFile::create::<R>(staging, name, self.choice.form)
    }

    fn duplicates(&self, staging: &Path) -> Result<()> {
        let run = &self.outcome.run;
        let mut rows = self.create::<DuplicateRow<'_>>(staging, "duplicates")?;
        for removed in &self.outcome.findings.removed {
            let against = self.against(removed)?;
            let parent = removed.parent.map(|doc| run.documents.name(doc)).transpose()?;
            rows.write(&DuplicateRow {
                id: &run.documents.name(removed.doc)?,
                file: &run.documents.file(removed.doc),
                line: run.documents.line(removed.doc)?,
                cluster: removed.cluster as u64 + 1,
                representative: &run.documents.name(removed.representative)?,
                representative_file: &run.documents.file(removed.representative),
                representative_line: run.documents.line(removed.representative)?,
                shown: shown_scores(self.outcome, removed),
                reason: removed.reason,
                against: against.as_ref().map(|(set, file, line)| AgainstRow { set, file, line: *line }),
                parent: parent.as_ref(),
                relation: self.related.map(|related| related.removed(removed)),
            })?;
        }
        rows.finish()
    }

    /// Hands the removed documents that protected ones represent to `each`, in document order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file, and what `each` gives.
    pub fn each_left_out(&self, each: &mut dyn FnMut(&LeftOutRow<'_>) -> Result<()>) -> Result<()> {
        let documents = &self.outcome.run.documents;
        for removed in &self.outcome.findings.removed {
            let Some((set, file, line)) = self.against(removed)? else { continue };
            each(&LeftOutRow {
                id: &documents.name(removed.doc)?,
                file: &documents.file(removed.doc),
                line: documents.line(removed.doc)?,
                representative: &documents.name(removed.representative)?,
                representative_file: &file,
                representative_line: line,
                shown: shown_scores(self.outcome, removed),
                reason: removed.reason,
                against: AgainstRow { set, file: &file, line },
            })?;
        }
        Ok(())
    }

    /// A row for each document, in document order.
    fn assignments(&self, staging: &Path) -> Result<()> {
        let documents = &self.outcome.run.documents;
        let members = members(self.outcome);
        let mut members = members.iter().peekable();
        let mut rows = self.create::<AssignmentRow<'_>>(staging, "assignments")?;
        let own = |doc: &Doc| !documents.catalogue.is_protected(*doc);
        for doc in documents.catalogue.docs_in_order().filter(own) {
            let position = documents.catalogue.position(doc);
            let member = members.next_if(|member| member.position == position);
            let representative = member.map(|member| member.cluster.representative);
            let name = representative.map(|doc| documents.name(doc)).transpose()?;
            rows.write(&AssignmentRow {
                id: &documents.name(doc)?,
                file: &documents.file(doc),
                line: documents.line(doc)?,
                cluster: member.map(|member| member.number),
                size: member.map_or(1, |member| member.cluster.members.len() as u64),
                kept: member.is_none_or(|member| member.kept),
                reason: member.and_then(ClusterMember::reason),
                representative: name.as_ref(),
                representative_file: representative.map(|doc| documents.file(doc)).as_deref(),
                representative_line: representative.map(|doc| documents.line(doc)).transpose()?,
                shown: member.map(|member| member.shown(self.outcome)).unwrap_or_default(),
            })?;
        }
        rows.finish()
    }

    /// The set, the file and the line of the representative of a removed document, if it is protected.
    fn against(&self, removed: &Removed) -> Result<Option<(&str, String, u64)>> {
        let (documents, doc) = (&self.outcome.run.documents, removed.representative);
        let Some(set) = documents.protected_set(doc) else { return Ok(None) };
        Ok(Some((&documents.protected[set].name, documents.file(doc), documents.line(doc)?)))
    }

    fn clusters(&self, staging: &Path) -> Result<()> {
        let mut rows = self.create::<ClusterRow<'_>>(staging, "clusters")?;
        self.each_cluster(&mut |cluster| rows.write(cluster))?;
        rows.finish()
    }

    /// Hands the rows of `clusters.jsonl` to `each`, in their order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file, and what `each` gives.
    pub fn each_cluster(&self, each: &mut dyn FnMut(&ClusterRow<'_>) -> Result<()>) -> Result<()> {
        for (number, cluster) in (1..).zip(&self.outcome.findings.clusters) {
            let name = |doc: &Doc| self.outcome.run.documents.name(*doc);
            let names: Vec<DocumentName<'_>> = cluster.members.iter().map(name).collect::<Result<_>>()?;
            let kept = std::iter::once(&cluster.representative).chain(&cluster.kept_beside);
            let kept: Vec<DocumentName<'_>> = kept.map(name).collect::<Result<_>>()?;
            each(&ClusterRow {
                cluster: number,
                size: names.len() as u64,
                representative: &kept[0],
                members: &names,
                kept: (kept.len() > 1).then_some(&*kept),
            })?;
        }
        Ok(())
    }

    fn pairs(&self, staging: &Path) -> Result<()> {
        if self.outcome.findings.pairs.is_none() {
            return Ok(());
        }
        let mut rows = self.create::<PairRow<'_>>(staging, "pairs")?;
        self.each_pair(&mut |pair| rows.write(pair))?;
        rows.finish()
    }

    /// Hands the rows of `pairs.jsonl` to `each`, in their order; none if the run was not asked for pairs.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file, and what `each` gives.
    pub fn each_pair(&self, each: &mut dyn FnMut(&PairRow<'_>) -> Result<()>) -> Result<()> {
        let run = &self.outcome.run;
        for (first, second, measure, reason) in self.outcome.findings.pairs.iter().flatten() {
            let relation = self.related.map(|related| related.pair(*first, *second, *reason));
            let (a, b) = (&run.documents.name(*first)?, &run.documents.name(*second)?);
            let shown = pair_scores(self.outcome, *first, *measure, *reason);
            each(&PairRow { a, b, shown, relation })?;
        }
        Ok(())
    }
}

/// What does not go to `kept/`: removed documents and refused records. Of annotated records only refused ones are left out.
/// `retypes` says of a source whether its rows get types of another format.
pub fn left_out(outcome: &Outcome, side: Side, retypes: impl Fn(usize) -> bool) -> LeftOut {
    let run = &outcome.run;
    let (first, own) = (run.documents.protected_sources(), run.documents.own_sources().len());
    let mut removed: Vec<Vec<u64>> = vec![Vec::new(); own];
    let gone = if side == Side::Annotated { &[] } else { &*outcome.findings.removed };
    for row in gone {
        let position = run.documents.catalogue.position(row.doc);
        removed[position.file() as usize - first].push(position.offset());
    }
    LeftOut::new(removed).and_refused(&outcome.refused, first, side, retypes)
}

/// The figures of a run, as far as they are known before anything is written.
///
/// # Errors
/// [`crate::error::Error::Io`] if the names of documents cannot be read.
pub fn summarise(discovery: &Discovery, outcome: &Outcome, rejected: &[Rejected]) -> Result<Summary> {
    let (tally, findings, run) = (&outcome.tally, &outcome.findings, &outcome.run);
    let because = |reason| findings.removed.iter().filter(|row| row.reason == reason).count() as u64;
    let removed = findings.removed.len() as u64;
    let skipped =
        |(path, why): &(PathBuf, String)| Skipped { file: path.display().to_string(), reason: why.clone() };
    let sources = run.documents.own_sources();
    Ok(Summary {
        inputs: InputFigures {
            files: sources.len() as u64,
            bytes: sources.iter().map(|source| source.bytes).sum(),
            text_bytes: tally.text_bytes,
        },
        against: against_figures(outcome),
        documents: tally.documents,
        empty: tally.empty,
        too_few_terms: tally.too_few_terms,
        first_too_few_terms: outcome.warnings.too_few_terms.names(&run.documents)?,
        missing_date: tally.missing_date,
        first_missing_date: outcome.warnings.missing_date.names(&run.documents)?,
        missing_id: tally.missing_id,
        missing_value: tally.missing_value,
        missing_within: tally.missing_within,
        protected_missing_within: tally.protected_missing_within,
        rejected: Rejected::records(rejected),
        first_rejected: rejected.first().map(ToString::to_string),
        unread_files: (discovery.unreadable.len()
            + outcome.refused.iter().filter(|r| r.refusal.ends_file()).count()) as u64,
        copies: tally.copies,
        contents: tally.documents - tally.empty - tally.copies,
        exact_duplicates: because(Reason::Exact),
        near_duplicates: because(Reason::Near),
        linked: because(Reason::Linked),
        removed,
        larger_removed: larger_removed(outcome),
        kept: tally.documents - removed,
        clusters: findings.clusters.len() as u64,
        largest_cluster: findings.clusters.iter().map(|cluster| cluster.members.len()).max().unwrap_or(0)
            as u64,
        pairs: findings.pairs.as_ref().map(|pairs| pairs.len() as u64),
        candidates: tally.candidates,
        verified: tally.verified,
        common_shingles: CommonShingles {
            keys: outcome.common.keys(),
            postings: outcome.common.postings(),
            fraction_of_postings: outcome.common.postings() as f64 / tally.postings.max(1) as f64,
            most: outcome.common.most(),
        },
        hot_groups: tally.hot_groups,
        skipped: discovery.skipped.iter().map(skipped).collect(),
        workers: run.context.topology.workers(),
        stages: run
            .context
            .status
            .stage_seconds()
            .into_iter()
            .map(|(stage, seconds)| StageSeconds { name: stage.name(), seconds })
            .collect(),
        ..Summary::new(run.context.config.clone())
    })
}

/// How many documents were removed although what is kept is only a part of them.
fn larger_removed(outcome: &Outcome) -> u64 {
    let is_larger = |row: &&Removed| {
        shown_scores(outcome, row).containment.is_some()
            && row.measure.left > row.measure.right
            && outcome.run.documents.protected_set(row.representative).is_none()
    };
    outcome.findings.removed.iter().filter(is_larger).count() as u64
}

/// What each set of protected documents removed.
pub fn against_figures(outcome: &Outcome) -> Vec<AgainstFigures> {
    let (documents, findings) = (&outcome.run.documents, &outcome.findings);
    let mut sources = (0..).zip(&documents.inputs.sources);
    let counted = documents.protected.iter().zip(documents.protected_counts());
    let mut figures: Vec<AgainstFigures> = counted
        .map(|(set, count)| {
            let mut figures =
                AgainstFigures { set: set.name.clone(), documents: count, ..AgainstFigures::default() };
            for (file, source) in sources.by_ref().take(set.sources) {
                let replay = documents.replays.get(&file);
                figures.files += u64::from(replay.is_none());
                figures.collections += u64::from(replay.is_some());
                figures.bytes += replay.map_or(source.bytes, |replay| replay.bytes());
            }
            figures
        })
        .collect();
    for refused in outcome.refused.iter().filter(|refused| !matches!(refused.refusal, Refusal::NoTextIn(_))) {
        if let Some(set) = documents.protected_set_of(refused.position) {
            figures[set].rejected += refused.records();
        }
    }
    for set in findings.removed.iter().filter_map(|row| documents.protected_set(row.representative)) {
        figures[set].removed += 1;
    }
    figures
}
