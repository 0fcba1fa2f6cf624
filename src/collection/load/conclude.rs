//! The end of a load: what its epochs make of the clusters, and the commit.

use std::sync::Arc;
use std::thread;

use crate::collection::commit::changes::{CommitCommand, CommitNote};
use crate::collection::distributed::protocol::release_followers;
use crate::collection::load::clusters::diff_clusters::{ClusterDiff, Divide, LoadTables, diff_clusters};
use crate::collection::load::divide::Guarantee;
use crate::collection::load::prepare::{FEW, Prepared};
use crate::collection::load::recollider::Recollider;
use crate::collection::load::report::Report;
use crate::collection::load::settle::{CHANGE, compute_removals};
use crate::collection::load::write::{missing, write_clusters};
use crate::collection::maintain::compact::after_load;
use crate::collection::maintain::local_runs::keep;
use crate::collection::tables::Tables;
use crate::collection::tables::sources::{SourceEntry, sources_of};
use crate::config::Clustering;
use crate::error::{Error, Result};
use crate::flow::{Budget, Components, Contractor, Share};
use crate::metrics::Metric;
use crate::progress::Stage;
use crate::read::Rejected;

impl Prepared<'_> {
    /// Works out what becomes of clusters, writes it and commits it; then merges runs, so that they stay few.
    ///
    /// # Errors
    /// Those of [`Prepared::commit_if`].
    pub fn commit(self) -> Result<Report> {
        self.commit_if(|_| Ok(()))
    }

    /// Works out what becomes of clusters, and writes and commits it if `accept` is content with the report; its
    /// `commit` is not filled in yet. If `accept` refuses it, all that was begun goes; after any other error the epochs
    /// that are durable stay.
    ///
    /// # Errors
    /// Those of reading and writing the collection, and of `accept`.
    pub fn commit_if(mut self, accept: impl FnOnce(&Report) -> Result<()>) -> Result<Report> {
        let (worked_out, sources) = self.work_out_beside_sources();
        let (outcome, mut report) = worked_out.map_err(|error| self.writer.with_advice(error))?;
        if let Err(error) = accept(&report) {
            self.give_up(&error)?;
            return Err(error);
        }
        // Where each process keeps its runs to itself, the others have waited for the end.
        let local_state = self.batch.resources.peers.clone().filter(|peers| peers.state().is_some());
        if !report.changes_documents() {
            self.writer.abandon()?;
            if self.batch.command == Some(CommitCommand::Load) {
                report.commit = self.writer.commit_first_load()?;
                self.progress.metrics().add(Metric::Commits, report.commit.is_some().into());
            }
            local_state.map_or(Ok(()), |peers| release_followers(&peers))?;
            return Ok(report);
        }
        self.progress.enter(Stage::Write, 0);
        self.publish(&outcome, &sources()?)?;
        report.commit = Some(self.next.commit);
        let first = self.writer.snapshot().runs().len();
        let written = self.next.runs[first..].iter().map(|run| run.bytes).sum();
        self.writer.commit(self.next)?;
        self.progress.metrics().add(Metric::Commits, 1);
        report.uncompacted = after_load(self.writer, written, local_state.as_deref());
        // The load stands, whoever is lost now.
        let kept = keep(self.writer, local_state.as_deref());
        let ended = kept.and(local_state.map_or(Ok(()), |peers| release_followers(&peers)));
        report.uncompacted = report.uncompacted.or(ended.err().map(|error| error.to_string()));
        Ok(report)
    }

    /// Works out what [`Prepared::commit`] would come to, and leaves it at that: the commit of the report is the one that there
    /// would be. What was written on the way goes when the collection is opened for writing again, or the writer abandons
    /// it.
    ///
    /// # Errors
    /// Those of reading and writing the collection.
    pub fn foresee(mut self) -> Result<Report> {
        let (_, report) = self.work_out().map_err(|error| self.writer.with_advice(error))?;
        let commit = report.changes_documents().then_some(self.next.commit);
        Ok(Report { commit, ..report })
    }

    /// Works out what becomes of clusters, while other threads digest the sources again; but not those of a load that changes nothing.
    fn work_out_beside_sources(
        &mut self,
    ) -> (Result<(ClusterDiff, Report)>, impl FnOnce() -> Result<Vec<SourceEntry>> + use<>) {
        let unread: Vec<u32> = self.refused.iter().filter_map(|row| row.unread).collect();
        let (sources, first_file) = (self.batch.sources.clone(), self.next.next_file);
        let (threads, progress) = (self.batch.resources.workers, Arc::clone(&self.progress));
        let digest = move || sources_of(&sources, &unread, first_file, threads, &progress);
        let changes = self.ahead.runs().len() > self.writer.snapshot().runs().len();
        let (worked_out, digested) = thread::scope(|scope| {
            let digested = changes.then(|| scope.spawn(&digest));
            let panicked = |_| Err(Error::Worker("a thread that reads files again panicked".into()));
            (self.work_out(), digested.map(|thread| thread.join().unwrap_or_else(panicked)))
        });
        (worked_out, move || digested.unwrap_or_else(digest))
    }

    /// Works out what becomes of clusters.
    fn work_out(&mut self) -> Result<(ClusterDiff, Report)> {
        self.progress.enter(Stage::Cluster, 0);
        self.remove_missing()?;
        // Where each keeps its runs to itself, the others are needed to the end.
        if let Some(peers) = self.batch.resources.peers.as_ref().filter(|peers| peers.state().is_none()) {
            release_followers(peers)?;
        }
        let tables = self.load_tables();
        let (load, keep) = (self.next.load as u32, self.next.config.cluster.keep.clone());
        let budget = self.budget();
        let mut guarantee = self.guarantee();
        let divide = guarantee.as_mut().map(|guarantee| guarantee as &mut dyn Divide);
        let outcome = diff_clusters(&tables, load, &keep, divide, (&self.progress, &budget))?;
        self.count_outcome(&outcome);
        let report = self.report(&outcome);
        Ok((outcome, report))
    }

    /// The tables before and after the load, and the runs between them.
    fn load_tables(&self) -> LoadTables {
        let (before, after) = (self.writer.snapshot().tables(), self.ahead.tables());
        let (mut new, mut newcomers) = (Tables::default(), Tables::default());
        let runs = self.ahead.manifest().runs.iter().zip(&after.runs).skip(before.runs.len());
        for (entry, run) in runs {
            let of_newcomers = entry.keeper.is_some() || self.newcomers_runs.contains(&entry.id);
            let of = if of_newcomers { &mut newcomers } else { &mut new };
            of.runs.push(Arc::clone(run));
        }
        LoadTables {
            before,
            after,
            new,
            newcomers,
            first_content: self.writer.snapshot().manifest().next_content.into(),
        }
    }

    /// What divides components, if clusters are parts of them.
    fn guarantee(&self) -> Option<Guarantee> {
        let config = &self.next.config;
        let divided = config.cluster.clustering == Clustering::Guarantee;
        divided.then(|| Guarantee::new(config, self.frozen_tables.as_ref(), &self.batch, &self.progress))
    }

    /// Has the documents go that the load has not mentioned, if it is to be all there is.
    fn remove_missing(&mut self) -> Result<()> {
        let Some((base, loaded)) = self.last.take().filter(|_| self.batch.delete_missing) else {
            return Ok(());
        };
        let tables = self.ahead.tables();
        let missing = missing(&tables, self.next.load as u32)?;
        let loaded = loaded.settled();
        let room = self.budget().whole(Share::Settling) / (2 * CHANGE as u64);
        for some in missing.chunks(usize::try_from(room).unwrap_or(usize::MAX).max(FEW)) {
            let base = base.for_tables(self.ahead.tables(), self.next.next_content);
            let mut recollider = Recollider::new(&base, &loaded)?;
            let contractor = self.contractor();
            let numbers = (self.numbers(), contractor.as_ref());
            let mut delta = compute_removals(base.tables(), &loaded, numbers, some, &mut recollider)?;
            self.tally.contents.1 += delta.contents_changed.1;
            self.write(Vec::new(), &mut delta, None, &loaded)?;
        }
        Ok(())
    }

    /// All workers, if components are theirs.
    pub(in crate::collection::load) fn contractor(&self) -> Option<Contractor> {
        let (workers, peers) = (self.batch.resources.workers, self.batch.resources.peers.clone());
        let progress = Arc::clone(&self.progress);
        (self.batch.components == Components::Differential).then_some(Contractor { workers, peers, progress })
    }

    fn budget(&self) -> Budget {
        Budget::new(self.batch.resources.memory, self.batch.resources.workers)
    }

    /// Counts in the next commit what became of documents and clusters.
    fn count_outcome(&mut self, outcome: &ClusterDiff) {
        let (tally, counts) = (&self.tally, &mut self.next.counts);
        // What a manifest counts may be wrong; fsck says so.
        let changed =
            |count: u64, (more, fewer): (u64, u64)| count.saturating_add(more).saturating_sub(fewer);
        counts.documents = changed(counts.documents, (outcome.added, outcome.removed));
        counts.contents = changed(counts.contents, tally.contents);
        counts.ignored_keys = counts.ignored_keys.saturating_add(tally.common_keys.times);
        counts.clusters = changed(counts.clusters, outcome.clusters_changed);
    }

    fn report(&self, outcome: &ClusterDiff) -> Report {
        let (tally, counts) = (&self.tally, &self.next.counts);
        Report {
            commit: None,
            load: self.next.load,
            epochs: self.epochs,
            records: tally.records,
            left_out: self.batch.left_out.len(),
            rejected: Rejected::records(self.rejected()),
            added: outcome.added,
            replaced: outcome.replaced,
            unchanged: tally.unchanged + outcome.unchanged,
            removed: outcome.removed,
            superseded: tally.superseded,
            text_bytes: tally.text_bytes,
            too_few_terms: tally.too_few_terms,
            first_too_few_terms: tally.first_too_few_terms.clone(),
            missing_date: tally.missing_date,
            first_missing_date: tally.first_missing_date.clone(),
            missing_value: tally.missing_value,
            missing_within: tally.missing_within,
            within_field: self.writer.snapshot().manifest().config.input.within_field.clone(),
            common_keys: tally.common_keys.clone(),
            unknown: outcome.unknown.clone(),
            contents: tally.contents,
            changes: outcome.lines.len() as u64,
            documents: counts.documents,
            clusters: counts.clusters,
            uncompacted: None,
        }
    }

    /// Writes what becomes of clusters, and names it in the next commit.
    fn publish(&mut self, outcome: &ClusterDiff, sources: &[SourceEntry]) -> Result<()> {
        let (id, run) = self.writer.begin_run(&mut self.next)?;
        let written = [(id, write_clusters(run, outcome, sources)?)];
        self.name(&written)?;
        let mut log = self.writer.begin_changes(&self.next)?;
        outcome.lines.each(|line| log.line(line))?;
        let counts = [outcome.added, outcome.replaced, outcome.removed, self.next.counts.documents];
        let note = self.batch.command.map(|command| CommitNote::now(command, &self.batch.sources, counts));
        self.next.changes.push(log.finish(note)?);
        self.next.next_file += self.batch.sources.len() as u32;
        Ok(())
    }
}
