//! Collections: near-duplicates that are kept up to date while documents come and go.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dedup::{refuse, temporary};
use super::spool::{TextRecord, TextRecords, refuse_longer};
use crate::collection::{
    AskedText, Batch, Checker, ClusterView, CommitAt, CommitCommand, Report, Resembled, Snapshot, Writer,
    prepare,
};
use crate::config::{Clustering, Config};
use crate::error::{Error, Result};
use crate::limits::{MAX_WORKERS, REFUSED_PERCENT};
use crate::printable::printable;
use crate::progress::Progress;
use crate::read::{Rejected, discover, unread};
use crate::resources::Resources;
use crate::scratch::Scratch;
use crate::simd::Simd;
use crate::storage::{Local, Storage};

/// A collection in a folder. Documents have ids: one that is loaded again replaces what it was, and clusters follow.
///
/// ```
/// let folder = tempfile::tempdir().expect("a folder");
/// let collection = alike::Collection::at(folder.path().join("archive"));
/// collection.load([("a", "it was a bright cold day in april and the clocks were striking thirteen")])?;
/// collection.load([("b", "It was a bright, cold day in April, and the clocks were striking thirteen.")])?;
/// assert_eq!(collection.clusters()?[0].members, ["a", "b"]);
/// # Ok::<(), alike::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collection {
    path: PathBuf,
    config: Config,
    workers: usize,
    memory: Option<u64>,
}

impl Collection {
    /// The collection in a folder, which need not exist: the first load makes it, with the defaults of the program (`join` at
    /// 0.8, transitive clustering).
    pub fn at(path: impl AsRef<Path>) -> Collection {
        let mut config = Config::default();
        // Transitive clusters do not depend on which document came first.
        config.cluster.clustering = Clustering::Transitive;
        config.count.common_cap = 0;
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
        Collection { path: path.as_ref().to_path_buf(), config, workers, memory: None }
    }

    /// Makes the collection with another configuration, if the first load makes it. That of a collection stays as it is.
    pub fn with_config(self, config: Config) -> Collection {
        Collection { config, ..self }
    }

    /// The number of worker threads of loads, 1 to [`MAX_WORKERS`].
    pub fn workers(self, workers: usize) -> Collection {
        Collection { workers, ..self }
    }

    /// The most memory that loads use, in bytes.
    pub fn memory(self, bytes: u64) -> Collection {
        Collection { memory: Some(bytes), ..self }
    }

    /// Loads documents, each an id and a text, as one commit. Of several with one id the last one counts.
    ///
    /// # Errors
    /// Those of [`Collection::load_files`].
    pub fn load<I: AsRef<str>, T: AsRef<str>>(
        &self,
        documents: impl IntoIterator<Item = (I, T)>,
    ) -> Result<Report> {
        self.change(CommitCommand::Load, documents.into_iter().map(|(id, text)| (id, Some(text))))
    }

    /// Deletes documents by their ids, as one commit. Ids that are not there are in [`Report::unknown`].
    ///
    /// # Errors
    /// Those of [`Collection::load_files`].
    pub fn delete<I: AsRef<str>>(&self, ids: impl IntoIterator<Item = I>) -> Result<Report> {
        self.change(CommitCommand::Delete, ids.into_iter().map(|id| (id, None::<&str>)))
    }

    /// Loads the documents of files, folders and patterns, as one commit.
    ///
    /// # Errors
    /// [`Error::Config`], [`Error::Input`] and [`Error::Refused`] of inputs that cannot be used as a whole,
    /// [`Error::Locked`] while another process writes, [`Error::Unfinished`] if a load by the program was interrupted,
    /// [`Error::Damaged`], [`Error::NewerFormat`], [`Error::Unreachable`] of the collection, [`Error::Limit`] if the memory
    /// does not do, and [`Error::Io`].
    pub fn load_files<T: AsRef<str>>(&self, inputs: impl IntoIterator<Item = T>) -> Result<Report> {
        let inputs: Vec<String> = inputs.into_iter().map(|input| input.as_ref().to_owned()).collect();
        self.load_from(CommitCommand::Load, &inputs)
    }

    /// Upserts, and deletions of ids without a text.
    fn change<I: AsRef<str>, T: AsRef<str>>(
        &self,
        command: CommitCommand,
        changes: impl Iterator<Item = (I, Option<T>)>,
    ) -> Result<Report> {
        let input = match self.snapshot() {
            Ok(snapshot) => snapshot.manifest().config.input.clone(),
            Err(Error::NotACollection(..)) => self.config.input.clone(),
            Err(error) => return Err(error),
        };
        let folder = temporary()?;
        let most = input.max_record_bytes;
        let mut lines = TextRecords::create(folder.path(), input)?;
        for (count, (id, text)) in (1..).zip(changes) {
            let (id, text) = (id.as_ref(), text.as_ref().map(AsRef::as_ref));
            let bytes = lines.add(&TextRecord { id: Some(id), text })?;
            refuse_longer(bytes, most, || (format!("{} as a line of JSON", printable(id)), count))?;
        }
        self.load_from(command, &[lines.finish()?])
    }

    fn load_from(&self, command: CommitCommand, inputs: &[String]) -> Result<Report> {
        let scratch = Scratch::beside(&self.path, &std::env::temp_dir())?;
        let discovery = discover(inputs, scratch.path())?;
        let mut writer = self.writer()?;
        let batch = Batch {
            sources: discovery.sources,
            epoch_bytes: None,
            left_out: Default::default(),
            delete_missing: false,
            lexicon: None,
            components: Default::default(),
            command: Some(command),
            resources: Resources {
                workers: self.workers,
                memory: self.memory,
                simd: Simd::detect(),
                scratch: scratch.path().to_path_buf(),
                peers: None,
            },
        };
        commit(&mut writer, batch, &discovery.unreadable).inspect_err(|_| writer.clear_up())
    }

    /// Opens the collection for writing, or makes it.
    fn writer(&self) -> Result<Writer> {
        match self.storage().and_then(|storage| Writer::open(&storage)) {
            Err(Error::NotACollection(..)) => {
                let storage: Arc<dyn Storage> = Arc::new(Local::create(&self.path)?);
                Writer::create(&storage, self.config.clone(), false)
            }
            opened => opened,
        }
    }

    fn storage(&self) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Local::open(&self.path)?))
    }

    /// The last commit, for all else that can be asked of it.
    ///
    /// # Errors
    /// [`Error::NotACollection`], [`Error::Damaged`], [`Error::NewerFormat`] and [`Error::Io`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::open(&self.storage()?)
    }

    /// An older commit, for all that can be asked of it, if it can still be looked at.
    ///
    /// # Errors
    /// [`Error::NotRetained`], and those of [`Collection::snapshot`].
    pub fn snapshot_at(&self, at: &CommitAt) -> Result<Snapshot> {
        Snapshot::open_at(&self.storage()?, at)
    }

    /// The clusters of two documents or more, ascending by their numbers.
    ///
    /// # Errors
    /// Those of [`Collection::snapshot`].
    pub fn clusters(&self) -> Result<Vec<ClusterView>> {
        let mut clusters = Vec::new();
        self.snapshot()?.clusters(&mut |cluster| {
            clusters.push(cluster);
            Ok(())
        })?;
        clusters.sort_unstable_by_key(|cluster| cluster.cluster);
        Ok(clusters)
    }

    /// The documents that a text resembles, the closest first; nothing is stored. Where only documents of one value of a field are
    /// compared, it is compared with those that have none.
    ///
    /// # Errors
    /// Those of [`Collection::snapshot`].
    pub fn check(&self, text: &str) -> Result<Vec<Resembled>> {
        let mut checker = Checker::new(&self.snapshot()?)?;
        let found = checker.check(&[AskedText { text, ..AskedText::default() }], &Progress::default())?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Works a load out and commits it.
fn commit(writer: &mut Writer, batch: Batch, unreadable: &[(PathBuf, String)]) -> Result<Report> {
    let prepared = prepare(writer, batch, Arc::new(Progress::default()))?;
    let mut rejected: Vec<Rejected> = unread(unreadable);
    rejected.extend(prepared.rejected().cloned());
    if let Err(error) = refuse(&rejected, prepared.records(), REFUSED_PERCENT) {
        prepared.give_up(&error)?;
        return Err(error);
    }
    let rejected = Rejected::records(&rejected);
    prepared.commit().map(|report| Report { rejected, ..report })
}
