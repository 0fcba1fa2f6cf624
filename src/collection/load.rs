//! A load: the dataflow on the changes, then what comes of them, then the commit.

use std::path::PathBuf;
use std::sync::Arc;

use super::commit::Writer;
use super::compact::after_load;
use super::delta::{by_name, write_delta, write_lines};
use super::known::{Known, read_set};
use super::manifest::Manifest;
use super::parts::Recollide;
use super::resembling::Resembling;
use super::run_entry::RunEntry;
use super::settle::{Delta, Terms, settle};
use super::sources::sources_of;
use super::tables::{RARITY, Tables};
use super::writer::RunWriter;
use crate::config::Method;
use crate::error::{Error, Result};
use crate::flow::{Doc, Loaded, Refused, Request, Stored, load as run};
use crate::progress::Progress;
use crate::read::Source;
use crate::simd::Simd;
use crate::sketch::Rarity;

/// What to load, and with what.
pub struct Batch {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Bytes the process may use.
    pub memory: Option<u64>,
    /// Vector instructions to use.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
    /// Whether documents that the load does not mention go.
    pub delete_missing: bool,
}

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// The commit that has it; `None` if nothing changed.
    pub commit: Option<u64>,
    /// The load's number.
    pub load: u64,
    /// Records of the inputs, refused ones not included.
    pub records: u64,
    /// Documents that are new.
    pub added: u64,
    /// Documents that were there and are another text or have other fields now.
    pub replaced: u64,
    /// Documents that were there just so.
    pub unchanged: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Ids that were to be deleted and are not there.
    pub unknown: Vec<String>,
    /// Texts that came and went.
    pub contents: (u64, u64),
    /// Lines about clusters.
    pub changes: u64,
    /// Documents there are.
    pub documents: u64,
    /// Clusters there are.
    pub clusters: u64,
    /// Why runs could not be merged after the load, which stands all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncompacted: Option<String>,
}

/// A load that is worked out, and not committed yet: its refusals can still be looked at.
pub struct Prepared<'a> {
    writer: &'a mut Writer,
    next: Manifest,
    known: Arc<Known>,
    loaded: Loaded,
    delete_missing: bool,
    files: u32,
    rarity: Option<Arc<Rarity>>,
    runs: Vec<u64>,
}

/// Refuses what collections cannot do: shingles under a cap, whose counts would depend on the order of loads.
pub fn refuse_method(config: &crate::config::Config) -> Result<()> {
    if config.method == Method::Shingles && config.shingles.common_cap > 0 {
        return Err(Error::config(
            "a collection cannot have a cap on common shingles; set shingles.common_cap to 0",
        ));
    }
    Ok(())
}

/// Runs the dataflow of a load.
pub fn prepare<'a>(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
    let mut next = writer.next();
    next.load += 1;
    let tables = Tables { runs: writer.snapshot().runs().to_vec() };
    let mut runs = Vec::new();
    let mut begin = |count: usize, next: &mut Manifest| -> Result<Vec<RunWriter>> {
        let begun = (0..count).map(|_| writer.begin_run(next));
        begun.map(|begun| begun.map(|(id, run)| (runs.push(id), run).1)).collect()
    };
    let of_workers = begin(batch.workers, &mut next)?;
    let of_records = begin(if next.store_text { batch.workers } else { 0 }, &mut next)?;
    let rarity = frozen(&tables)?;
    let files = batch.sources.len() as u32;
    let bytes = batch.memory.unwrap_or(u64::MAX) / 10;
    let known = Known::new(tables, next.next_content, next.counts.documents, bytes, (of_workers, of_records));
    let known = Arc::new(known);
    let request = Request {
        sources: batch.sources,
        config: next.config.clone(),
        workers: batch.workers,
        memory: batch.memory,
        pairs: false,
        simd: batch.simd,
        scratch: batch.scratch,
        stored: Some(Arc::clone(&known) as Arc<dyn Stored>),
        replay: None,
        rarity: rarity.clone(),
    };
    let loaded = run(request, progress)?;
    Ok(Prepared { writer, next, known, loaded, delete_missing: batch.delete_missing, files, rarity, runs })
}

/// The rarity table that the collection was created with.
pub(super) fn frozen(tables: &Tables) -> Result<Option<Arc<Rarity>>> {
    let Some(heap) = tables.runs.iter().find_map(|run| run.heap(RARITY)) else { return Ok(None) };
    let mut words = Vec::new();
    heap.read(0, heap.len() as usize, &mut words)?;
    Ok(Some(Arc::new(Rarity::of_words(&words))))
}

impl Prepared<'_> {
    /// Records refused, in document order.
    pub fn refused(&self) -> &[Refused] {
        &self.loaded.refused
    }

    /// What the dataflow left.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Works out what changes, writes it and commits it; then merges runs, so that they stay few.
    pub fn commit(self) -> Result<Report> {
        self.commit_if(|_| Ok(()))
    }

    /// Works out what changes, and writes and commits it if `accept` is content with the report; its `commit` is not
    /// filled in yet. An error of `accept` takes away what was begun.
    pub fn commit_if(mut self, accept: impl FnOnce(&Report) -> Result<()>) -> Result<Report> {
        let terms = Terms {
            load: self.next.load as u32,
            keep: &self.next.config.cluster.keep,
            first_file: self.next.next_file,
            next_label: self.next.next_label,
            delete_missing: self.delete_missing,
        };
        let mut again = Again::new(&self.known, &self.loaded);
        let mut delta = settle(self.known.tables(), &self.loaded, terms, &mut again)?;
        let mut report = self.report(&delta);
        if let Err(error) = accept(&report) {
            self.abandon()?;
            return Err(error);
        }
        if delta.documents.is_empty() {
            self.abandon()?;
            return Ok(report);
        }
        self.write(&mut delta)?;
        report.commit = Some(self.next.commit);
        let before = self.writer.snapshot().runs().len();
        let written = self.next.runs[before..].iter().map(|run| run.bytes).sum();
        self.writer.commit(self.next)?;
        report.uncompacted = after_load(self.writer, written);
        Ok(report)
    }

    fn report(&mut self, delta: &Delta) -> Report {
        let counts = &mut self.next.counts;
        counts.documents = counts.documents + delta.added - delta.removed;
        counts.contents = counts.contents + delta.contents_changed.0 - delta.contents_changed.1;
        counts.clusters = counts.clusters + delta.clusters_changed.0 - delta.clusters_changed.1;
        Report {
            commit: None,
            load: self.next.load,
            records: self.loaded.tally.documents,
            added: delta.added,
            replaced: delta.replaced,
            unchanged: self.loaded.tally.unchanged,
            removed: delta.removed,
            superseded: self.loaded.superseded,
            unknown: delta.unknown.clone(),
            contents: delta.contents_changed,
            changes: delta.lines.len() as u64,
            documents: counts.documents,
            clusters: counts.clusters,
            uncompacted: None,
        }
    }

    /// Takes away what was begun: nothing is committed.
    pub fn abandon(&self) -> Result<()> {
        let storage = self.writer.storage();
        for id in &self.runs {
            let name = super::names::Name::Run(*id).to_string();
            storage.remove(&name).map_err(|e| Error::io(&storage.path(&name), "remove", e))?;
        }
        Ok(())
    }

    /// Writes the change and names all that is new in the next manifest.
    fn write(&mut self, delta: &mut Delta) -> Result<()> {
        let (id, run) = self.writer.begin_run(&mut self.next)?;
        let shared = &self.loaded.shared;
        let sources = sources_of(&self.loaded, self.next.next_file, shared.workers, &shared.progress)?;
        let new = self.rarity.is_none().then(|| Arc::clone(self.loaded.shared.rarity()));
        let summary = write_delta(run, delta, &sources, new.as_deref())?;
        let mut log = self.writer.begin_changes(&self.next)?;
        write_lines(&mut log, delta)?;
        self.next.changes.push(log.finish()?);
        let summaries = self.known.finished();
        for (id, summary) in self.runs.iter().zip(&summaries).chain([(&id, &summary)]) {
            self.next.runs.push(RunEntry::of(&**self.writer.storage(), *id, by_name(summary))?);
        }
        self.next.next_content = self.loaded.shared.catalogue.doc_limit() as u32;
        self.next.next_label = delta.next_label;
        self.next.next_file += self.files;
        Ok(())
    }
}

/// Looks again at contents that seem to have come apart.
struct Again<'a> {
    tables: &'a Tables,
    resembling: Resembling,
    progress: &'a Progress,
    set: Vec<u64>,
}

impl<'a> Again<'a> {
    fn new(known: &'a Known, loaded: &'a Loaded) -> Again<'a> {
        let (tables, shared) = (known.tables(), &loaded.shared);
        let resembling = Resembling::new(tables, &shared.config, Arc::clone(shared.rarity()));
        Again { tables, resembling, progress: &shared.progress, set: Vec::new() }
    }
}

impl Recollide for Again<'_> {
    fn linked(&mut self, content: Doc) -> Result<Vec<(Doc, u32)>> {
        read_set(self.tables, content, &mut self.set)?;
        let linked = self.resembling.to(&[&self.set], self.progress)?.into_iter().flatten();
        let others = linked.filter(|(other, _)| *other != content);
        Ok(others.map(|(other, measure)| (other, measure.shared)).collect())
    }
}
