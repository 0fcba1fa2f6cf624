//! An epoch of a load: the dataflow on a part of the changes, and what comes of it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name};
use crate::collection::commit::refused::RefusedRow;
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::distributed::protocol::{
    EpochCommand, LeaderCommand, begin_runs, collect_summaries, own_runs,
};
use crate::collection::load::epoch_done::{came_to, mark, tell};
use crate::collection::load::load_base::LoadBase;
use crate::collection::load::load_base::kept_sketches::KeptSketches;
use crate::collection::load::prepare::{Batch, Prepared};
use crate::collection::load::recollider::Recollider;
use crate::collection::load::settle::newcomers::{NewcomerCounts, Newcomers};
use crate::collection::load::settle::{Delta, LoadNumbers, compute_delta};
use crate::collection::load::write::{seen, write_delta, write_seen};
use crate::collection::run::writer::RunSummary;
use crate::error::{Error, Result};
use crate::flow::{DocumentWarnings, LeaveOut, Loaded, Part, Request, Stored, Topology, load as run};
use crate::progress::{Mark, Stage};
use crate::read::{Refusal, Refused};

/// What was found in an epoch.
struct EpochFindings {
    base: Arc<LoadBase>,
    loaded: Loaded,
    /// What the runs of all workers hold, by id.
    written: Vec<(u64, RunSummary)>,
    /// The newcomers of all workers.
    newcomers: NewcomerCounts,
    /// What changes beside them.
    delta: Delta,
}

/// Does two things at once, the first in another thread.
fn beside<T: Send, U>(one: impl FnOnce() -> Result<T> + Send, other: impl FnOnce() -> U) -> (Result<T>, U) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        let panicked = |_| Err(Error::Worker("a thread that writes newcomers panicked".into()));
        (one.join().unwrap_or_else(panicked), other)
    })
}

impl Prepared<'_> {
    /// Reads a part of the inputs and writes what comes of it. The lines of the last file up to its end, if that is
    /// within the file. What does not fit in the memory leaves everything as it was.
    pub(in crate::collection::load) fn epoch(&mut self, part: Part) -> Result<u64> {
        // That of the epoch before would be in the way.
        self.last = None;
        let before = self.next.clone();
        let (first, with_records) = (self.next.next_run, self.next.store_text);
        let topology = self.topology();
        self.next.next_run += (topology.all() * if with_records { 2 } else { 1 }) as u64;
        self.workers_runs = first..self.next.next_run;
        let all: Vec<u64> = self.workers_runs.clone().collect();
        let (ids, of_records) = own_runs(topology, first, with_records);
        let (storage, collection) = (&**self.writer.storage(), self.next.collection);
        let begin = |ids: &[u64]| begin_runs(storage, collection, ids, None);
        let runs = (begin(&ids)?, begin(&of_records)?);
        let bytes = self.batch.resources.memory.unwrap_or(u64::MAX) / 10;
        let documents = self.next.counts.documents + self.tally.records;
        let sketches = KeptSketches::of(&self.next.config);
        let (tables, next_content) = (self.ahead.tables(), self.next.next_content);
        if let Some(peers) = &self.batch.resources.peers {
            let (ahead, frozen) = (self.ahead.manifest().clone(), self.frozen_tables.is_some());
            let (at, job) = ((self.next.load, self.epochs + 1), self.writer.job());
            let (notes_mentioned, runs_before) = (self.batch.delete_missing, self.earlier.runs_before);
            let epoch = EpochCommand {
                part,
                at,
                ahead,
                next_content,
                documents,
                first_run: first,
                frozen,
                job,
                runs_before,
                notes_mentioned,
            };
            peers.broadcast(&LeaderCommand::Epoch(Box::new(epoch)))?;
        }
        let base =
            LoadBase::new(tables, next_content, sketches, (self.next.load as u32, documents), bytes, runs)
                .noting_mentioned(self.batch.delete_missing)
                .after_epochs(self.earlier.clone());
        let found = self.found(part, &Arc::new(base), ids.into_iter().chain(of_records).collect());
        if matches!(found, Err(Error::Limit(_))) {
            self.remove_runs(&all)?;
            self.next = Manifest { next_run: self.next.next_run, ..before.clone() };
        }
        let EpochFindings { base, loaded, written, newcomers, mut delta } = found?;
        self.count(&loaded, &delta)?;
        self.tally.contents.0 += newcomers.contents;
        self.epochs += 1;
        self.progress.enter(Stage::Write, 0);
        let seen = self.batch.delete_missing.then(|| seen(&loaded));
        if delta.documents.is_empty() && newcomers.documents == 0 && seen.is_none() {
            // Nothing is there of it but what was counted.
            self.remove_runs(&all)?;
            self.next = Manifest { next_run: self.next.next_run, ..before };
        } else {
            self.write(written, &mut delta, seen, &loaded)?;
        }
        let (file, byte) = part.extent.to;
        let lines = if byte == 0 { 0 } else { loaded.run.documents.inputs.lines_read(file) };
        self.last = Some((base, loaded));
        Ok(lines)
    }

    /// Runs the dataflow on a part of the inputs and settles what it finds. `ids` are those of the runs of this process.
    fn found(&self, part: Part, base: &Arc<LoadBase>, ids: Vec<u64>) -> Result<EpochFindings> {
        let loaded = run(self.request(part, base), Arc::clone(&self.progress))?;
        let own = base.newcomers(&loaded.run)?;
        let (newcomers, labels) = self.count_newcomers(own.iter().map(Newcomers::counts).collect())?;
        let numbers = LoadNumbers { next_label: *labels.last().unwrap_or(&0), ..self.numbers() };
        let finish = || base.finish(own, numbers, &labels);
        let settle = || self.settle(base, &loaded, numbers);
        let collect = |finished: Vec<RunSummary>| {
            let own = ids.into_iter().zip(finished).collect();
            match &self.batch.resources.peers {
                Some(peers) => collect_summaries(peers, &own),
                None => Ok(own),
            }
        };
        let (written, delta) = match self.contractor() {
            // Where all workers contract links they must have written what they have read.
            Some(_) => (collect(finish()?)?, settle()?),
            None => {
                // What does not fit is known to process 0 alone: the others have been waited for by then.
                let (finished, delta) = beside(finish, settle);
                (collect(finished?)?, delta?)
            }
        };
        Ok(EpochFindings { base: Arc::clone(base), loaded, written, newcomers, delta })
    }

    /// Settles what workers do not.
    fn settle(&self, base: &LoadBase, loaded: &Loaded, numbers: LoadNumbers) -> Result<Delta> {
        let mut recollider = Recollider::new(base, loaded)?;
        let contractor = self.contractor();
        let tables = (&self.writer.snapshot().tables(), &self.ahead.tables());
        compute_delta(tables, loaded, numbers, contractor.as_ref(), &mut recollider)
    }

    /// The newcomers of all workers of all processes, given those of this one, and the first label of each worker's, which all are
    /// told; behind them the first that is left.
    fn count_newcomers(&self, own: Vec<NewcomerCounts>) -> Result<(NewcomerCounts, Vec<u32>)> {
        let by_worker = match &self.batch.resources.peers {
            Some(peers) => peers.gather(&own)?.concat(),
            None => own,
        };
        let (mut all, mut labels) = (NewcomerCounts::default(), vec![self.next.next_label]);
        for counts in by_worker {
            all.documents += counts.documents;
            all.contents += counts.contents;
            all.alone += counts.alone;
            labels.push(self.next.next_label.saturating_add(all.alone));
        }
        if let Some(peers) = &self.batch.resources.peers {
            peers.broadcast(&(self.numbers(), &labels))?;
        }
        Ok((all, labels))
    }

    /// The counters of this process before an epoch.
    pub(in crate::collection::load) fn mark(&self) -> Mark {
        mark(&self.progress, self.batch.resources.peers.as_deref())
    }

    /// Tells what the last epoch came to, since `before`.
    pub(in crate::collection::load) fn tell(&self, before: &Mark, last: bool) {
        let at = (self.next.load, self.epochs);
        tell(
            &self.progress,
            came_to(&self.progress, self.batch.resources.peers.as_deref(), before, at, last),
        );
    }

    /// The workers of all processes.
    fn topology(&self) -> Topology {
        let workers = self.batch.resources.workers;
        Topology::of(self.batch.resources.peers.as_deref(), workers)
    }

    fn request(&self, part: Part, base: &Arc<LoadBase>) -> Request {
        let Batch { sources, left_out, lexicon, resources, .. } = &self.batch;
        Request {
            part,
            stored: Some(Arc::clone(base) as Arc<dyn Stored>),
            leave_out: LeaveOut::Known(left_out.clone()),
            frozen_tables: self.frozen_tables.clone(),
            lexicon: lexicon.clone(),
            ..Request::new(sources.clone(), self.next.config.clone(), resources.clone())
        }
    }

    pub(in crate::collection::load) fn numbers(&self) -> LoadNumbers {
        let load = self.next.load as u32;
        LoadNumbers { load, first_file: self.next.next_file, next_label: self.next.next_label }
    }

    fn count(&mut self, loaded: &Loaded, delta: &Delta) -> Result<()> {
        let tally = &mut self.tally;
        tally.records += loaded.tally.documents;
        tally.unchanged += loaded.tally.unchanged;
        tally.superseded += loaded.superseded + delta.superseded;
        tally.text_bytes += loaded.tally.text_bytes;
        tally.too_few_terms += loaded.tally.too_few_terms;
        tally.missing_date += loaded.tally.missing_date;
        tally.missing_value += loaded.tally.missing_value;
        tally.missing_within += loaded.tally.missing_within;
        tally.common_keys.add(&loaded.common, loaded.tally.postings);
        let DocumentWarnings { too_few_terms, missing_date } = &loaded.warnings;
        tally.name(too_few_terms.names(&loaded.run.documents)?, missing_date.names(&loaded.run.documents)?);
        tally.contents.0 += delta.contents_changed.0;
        tally.contents.1 += delta.contents_changed.1;
        let unread = |refused: &Refused| {
            matches!(refused.refusal, Refusal::Unreadable(_)).then(|| refused.position.file())
        };
        let rejected = loaded.run.documents.inputs.rejected(&loaded.refused).into_iter().zip(&loaded.refused);
        self.refused
            .extend(rejected.map(|(rejected, refused)| RefusedRow { rejected, unread: unread(refused) }));
        Ok(())
    }

    /// Writes what an epoch changes, beside what its workers have written.
    pub(in crate::collection::load) fn write(
        &mut self,
        mut written: Vec<(u64, RunSummary)>,
        delta: &mut Delta,
        seen: Option<Vec<u128>>,
        loaded: &Loaded,
    ) -> Result<()> {
        let (id, mut run) = self.writer.begin_run(&mut self.next)?;
        if let Some(seen) = seen {
            write_seen(&mut run, &seen, self.next.load as u32)?;
        }
        let new = self.frozen_tables.is_none().then(|| Arc::clone(&loaded.run.context.frozen_tables));
        self.newcomers_runs.extend(written.iter().map(|(id, _)| *id));
        written.push((id, write_delta(run, delta, new.as_deref())?));
        self.frozen_tables.get_or_insert_with(|| Arc::clone(&loaded.run.context.frozen_tables));
        let full = |_| {
            Error::Limit("more records than 4,294,967,294 have numbers; load into a new collection".into())
        };
        self.next.next_content = u32::try_from(loaded.run.documents.catalogue.doc_limit()).map_err(full)?;
        self.next.next_label = delta.next_label;
        self.name(&written)
    }

    /// Names runs in the next commit, those that hold anything.
    pub(in crate::collection::load) fn name(&mut self, written: &[(u64, RunSummary)]) -> Result<()> {
        let holds = |(_, summary): &&(u64, RunSummary)| !summary.is_empty();
        let (full, empty): (Vec<_>, Vec<_>) = written.iter().partition(holds);
        self.remove_runs(&empty.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
        for (id, summary) in full {
            let keeper = Keeper::of(self.writes(*id), self.writer.job());
            self.next.runs.push(RunEntry::of(&**self.writer.storage(), *id, keeper, summary.by_name())?);
        }
        self.ahead = self.ahead.advance(self.next.clone())?;
        Ok(())
    }

    /// The process that keeps a run of this epoch to itself, or 0.
    fn writes(&self, id: u64) -> usize {
        let local_state = self.batch.resources.peers.as_ref().is_some_and(|peers| peers.state().is_some());
        match self.workers_runs.clone().position(|of| of == id).filter(|_| local_state) {
            Some(at) => at % self.topology().all() / self.batch.resources.workers,
            None => 0,
        }
    }

    fn remove_runs(&self, ids: &[u64]) -> Result<()> {
        let storage = self.writer.storage();
        // What other processes keep to themselves they remove when nobody names it.
        for id in ids.iter().filter(|id| self.writes(**id) == 0) {
            let name = Name::Run(*id).to_string();
            match storage.remove(&name) {
                // Another process was to begin it, and came to no beginning.
                Err(e) if e.kind() == ErrorKind::NotFound && self.batch.resources.peers.is_some() => {}
                removed => removed.map_err(|e| Error::io(&storage.path(&name), "remove", e))?,
            }
        }
        Ok(())
    }
}
