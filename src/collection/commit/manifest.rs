//! The manifest: everything that a commit is, in one small text file. The form is described in `docs/src/reference/format.md`.

use std::io;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::collection::commit::changes::ChangesEntry;
use crate::collection::commit::names::Name;
use crate::collection::commit::retained::policy::Retain;
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::commit::sealed::{read_whole, seal, unseal};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hex;
use crate::storage::Storage;

/// What every manifest begins with.
const START: &str = "alike collection, format ";

/// One commit of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The id of the collection, drawn when it was created; no other has it.
    #[serde(with = "hex")]
    pub collection: u64,
    /// The number of this commit, from 0: the empty collection. So the first load is commit 1.
    pub commit: u64,
    /// How many loads and deletions there were.
    pub load: u64,
    /// What decides the answer; it never changes.
    #[serde(deserialize_with = "stored")]
    pub config: Config,
    /// Whether the texts themselves are kept; it never changes.
    pub store_text: bool,
    /// The runs that the state is made of, oldest first.
    pub runs: Vec<RunEntry>,
    /// The change logs of this commit and those before it, in their order.
    pub changes: Vec<ChangesEntry>,
    /// The number of the next new content.
    pub next_content: u32,
    /// The label of the next new component.
    pub next_label: u32,
    /// The id of the next run; it is greater than that of any run there ever was.
    pub next_run: u64,
    /// The number of the next new input file.
    pub next_file: u32,
    /// How much there is.
    pub counts: Counts,
    /// How long commits can be looked at again. If nothing is said, only the one before the last one stays, and all change
    /// logs do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retain: Option<Retain>,
    /// The first commit whose files stay, if that is not the one before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained_from: Option<u64>,
    /// The last commit whose change log is gone; 0 if all are there.
    #[serde(default, skip_serializing_if = "none")]
    pub changes_after: u64,
}

/// How much there is in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Documents that are not deleted.
    pub documents: u64,
    /// Distinct canonical texts of these.
    pub contents: u64,
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// How often loads ignored a key as common: if ever, clusters depend on the order of loads.
    #[serde(default, skip_serializing_if = "none")]
    pub ignored_keys: u64,
}

/// The configuration of a collection. One of form 1 does not say which spellings are one, and its tokens were made when none
/// were: what is the default of a new collection would be another configuration.
fn stored<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Config, D::Error> {
    let mut config = Value::deserialize(deserializer)?;
    if let Some(text) = config.get_mut("text").and_then(Value::as_object_mut) {
        text.entry("fold").or_insert_with(|| Value::Array(Vec::new()));
    }
    Config::deserialize(config).map_err(D::Error::custom)
}

/// Whether there is nothing to count.
fn none(count: &u64) -> bool {
    *count == 0
}

impl Manifest {
    /// The commit that a new, empty collection is.
    pub(in crate::collection) fn first(collection: u64, config: Config, store_text: bool) -> Manifest {
        Manifest {
            collection,
            commit: 0,
            load: 0,
            config,
            store_text,
            runs: Vec::new(),
            changes: Vec::new(),
            next_content: 0,
            next_label: 0,
            next_run: 1,
            next_file: 0,
            counts: Counts::default(),
            retain: None,
            retained_from: None,
            changes_after: 0,
        }
    }

    /// The bytes of the manifest's file.
    pub(in crate::collection) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        seal(START, self)
    }

    /// The manifest that `bytes`, the contents of the file `path`, are.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerFormat`] and [`Error::OlderFormat`].
    pub(in crate::collection) fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let (manifest, at): (Manifest, usize) = unseal(START, "a manifest", path, bytes)?;
        manifest.check().map_err(|what| Error::damaged(path, at as u64, what))?;
        Ok(manifest)
    }

    /// Reads the manifest of commit `commit`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], [`Error::NewerFormat`] and [`Error::OlderFormat`].
    pub(in crate::collection) fn read(storage: &dyn Storage, commit: u64) -> Result<Manifest> {
        let name = Name::Manifest(commit).to_string();
        let path = storage.path(&name);
        let manifest = Manifest::from_bytes(&path, &read_whole(storage, &name)?)?;
        if manifest.commit != commit {
            return Err(Error::damaged(
                &path,
                0,
                format!("this is the manifest of commit {}", manifest.commit),
            ));
        }
        Ok(manifest)
    }

    /// What makes no sense, whatever the files hold.
    pub(in crate::collection) fn check(&self) -> std::result::Result<(), String> {
        if self.load > u64::from(u32::MAX) {
            return Err(format!("there cannot be {} loads", self.load));
        }
        self.config.validate().map_err(|error| format!("its configuration cannot be: {error}"))?;
        let mut runs: Vec<u64> = self.runs.iter().map(|run| run.id).collect();
        runs.sort_unstable();
        if let Some(pair) = runs.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("run {} stands in it twice", pair[0]));
        }
        if let Some(run) = runs.last().filter(|&&run| run >= self.next_run) {
            return Err(format!("it has run {run}, and the next one would be {}", self.next_run));
        }
        let commits: Vec<u64> = self.changes.iter().map(|changes| changes.commit).collect();
        if !commits.is_sorted_by(|a, b| a < b) || commits.last().is_some_and(|&last| last > self.commit) {
            return Err("its change logs are not in order".to_owned());
        }
        if commits.first().is_some_and(|&first| first <= self.changes_after) {
            return Err(format!(
                "change logs up to that of commit {} are gone, and it names one",
                self.changes_after
            ));
        }
        if self.first_kept() > self.commit {
            return Err(format!("commits from {} on cannot be kept", self.first_kept()));
        }
        Ok(())
    }

    /// Whether this can be the commit after `last`; what is wrong, if not.
    pub(in crate::collection) fn check_after(&self, last: &Manifest) -> std::result::Result<(), String> {
        self.check_restores(last, &[])
    }

    /// The same where these runs of an earlier commit may come back.
    pub(in crate::collection) fn check_restores(
        &self,
        last: &Manifest,
        earlier: &[RunEntry],
    ) -> std::result::Result<(), String> {
        self.check()?;
        if self.commit != last.commit + 1 {
            return Err(format!("commit {} does not come after commit {}", self.commit, last.commit));
        }
        let frozen = |of: &Manifest| (of.collection, of.store_text);
        if frozen(self) != frozen(last) || self.config != last.config {
            return Err("what is fixed when a collection is created has changed".to_owned());
        }
        let counters = |of: &Manifest| {
            let next = [of.next_content, of.next_label, of.next_file].map(u64::from);
            [of.load, next[0], next[1], next[2], of.next_run, of.first_kept(), of.changes_after]
        };
        if counters(self).iter().zip(counters(last)).any(|(now, before)| *now < before) {
            return Err("a counter runs backwards".to_owned());
        }
        let known = |run: &RunEntry| last.runs.contains(run) || earlier.contains(run);
        if let Some(run) = self.runs.iter().find(|&run| run.id < last.next_run && !known(run)) {
            return Err(format!("run {} is neither new nor as it was", run.id));
        }
        let new = |log: &&ChangesEntry| log.commit != self.commit && !last.changes.contains(log);
        if let Some(log) = self.changes.iter().find(new) {
            return Err(format!("the change log of commit {} is neither new nor as it was", log.commit));
        }
        Ok(())
    }

    /// Bytes of the runs and the change logs. No more than a number can say, where what is named is not there.
    pub fn bytes(&self) -> u64 {
        let logs = self.changes.iter().map(|log| log.bytes);
        self.runs.iter().map(|run| run.bytes).chain(logs).fold(0, u64::saturating_add)
    }

    /// Whether the file of this name belongs to the commit.
    pub(in crate::collection) fn names(&self, name: Name) -> bool {
        match name {
            Name::Unfinished(..) | Name::Checkpoint(..) | Name::Refused(..) | Name::Tidied(..) => false,
            Name::Manifest(commit) => commit == self.commit,
            Name::Run(_) | Name::Kept(..) => self.runs.iter().any(|run| run.name() == name),
            Name::Changes(commit) => {
                self.changes.binary_search_by_key(&commit, |changes| changes.commit).is_ok()
            }
        }
    }
}
