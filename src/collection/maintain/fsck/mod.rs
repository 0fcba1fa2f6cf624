//! Proving that a commit is whole: every byte of it as it was written, and its tables in agreement with each other. It
//! only looks.
//!
//! Each table is read once, in its own order, a block for each run. What two tables say of a content in different
//! orders is compared by sums: each adds a hash of every statement, one the other way round, and what is left is 0
//! only if both said the same, but for an accident of one in 2^64. So memory is one `Fact` for each live content, 110 bytes with its
//! sums and its place among all, and a few words for each component, however many documents, links and postings there are.

mod check;
mod components;
mod documents;
mod facts;
mod postings;
mod sources;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::check::Check;
use self::facts::{Fact, Facts};
use crate::collection::commit::manifest::Manifest;
use crate::collection::tables::rows::{ClusterKey, StoredContent, dead_content};

pub use self::check::{Finding, FsckReport};
use crate::collection::commit::checkpoint::Checkpoint;
use crate::collection::commit::names::Name;
use crate::collection::commit::snapshot::{Snapshot, check_last, missing, newest, stray, strays};
use crate::collection::run::schema::{CONTENTS, DEAD, LEXICON, RARITY, TABLES, section_name};
use crate::collection::tables::bits::Bits;
use crate::collection::tables::cluster_changes::ChangeLine;
use crate::collection::{HeapReader, RowsReader};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::storage::Storage;

/// Reads all of a commit and hands what is wrong to `each`.
///
/// # Errors
/// [`Error::Io`] and [`Error::Interrupted`]; damage is what it looks for, and none.
pub fn fsck(snapshot: &Snapshot, progress: &Progress, each: &mut dyn FnMut(Finding)) -> Result<FsckReport> {
    let (tables, manifest) = (snapshot.tables(), snapshot.manifest());
    let report = FsckReport {
        commit: manifest.commit,
        runs: manifest.runs.len(),
        bytes: manifest.bytes(),
        ..FsckReport::default()
    };
    progress.enter(Stage::Verify, report.bytes);
    let (facts, origins, keys) = (Facts::default(), Default::default(), Vec::new());
    let (dead, rows, sketcher) = (Bits::below(u64::from(manifest.next_content)), 0, None);
    let mut check =
        Check { tables, manifest, progress, each, report, facts, origins, dead, rows, sketcher, keys };
    check.files(snapshot)?;
    if check.report.findings == 0 {
        let outcome = check.all_tables();
        let whole = check.note(outcome)?;
        check.report.complete = whole;
    }
    check.unfinished(snapshot)?;
    Ok(check.report)
}

/// The files of the last commit that cannot be opened, for a collection that [`Snapshot::open`] calls damaged.
///
/// # Errors
/// Those of reading, damage excepted.
pub fn broken_files(storage: &Arc<dyn Storage>) -> Result<Vec<Finding>> {
    let commit = newest(&**storage)?;
    let mut found = Vec::new();
    let mut note = |error: Error| match missing(error) {
        Error::Damaged { path, offset, what } => {
            let place = path.display().to_string();
            found.push(Finding { place, what, key: format!("byte {offset}") });
            Ok(())
        }
        error => Err(error),
    };
    match Manifest::read(&**storage, commit) {
        Err(error) => note(error)?,
        Ok(manifest) => {
            let pending = Checkpoint::newest(&**storage, &manifest)?;
            let strays = strays(&**storage, &manifest, pending.as_ref())?;
            strays.iter().try_for_each(|name| note(stray(&**storage, name)))?;
            // A manifest among those is all that this would tell.
            if !strays.iter().any(|name| matches!(Name::parse(name), Some(Name::Manifest(_)))) {
                check_last(&**storage, &manifest).or_else(&mut note)?;
            }
            let opened = manifest.runs.iter().map(|run| run.open(&**storage, manifest.collection));
            opened.filter_map(Result::err).try_for_each(note)?;
        }
    }
    Ok(found)
}

impl Check<'_> {
    fn files(&mut self, snapshot: &Snapshot) -> Result<()> {
        let (mut rarities, mut lexicons) = (0, 0);
        self.older(snapshot)?;
        for (entry, run) in self.manifest.runs.iter().zip(&self.tables.runs.clone()) {
            self.progress.check()?;
            rarities += usize::from(run.heap(RARITY).is_some());
            lexicons += usize::from(run.heap(LEXICON).is_some());
            let outcome = run.verify();
            self.note(outcome)?;
            let path = run.path().display().to_string();
            for kind in run.kinds() {
                let table = TABLES.iter().find(|table| table.kind == kind);
                let rows = run.rows(kind);
                if table.is_some_and(|table| rows.is_none_or(|rows| rows.shape() != table.shape)) {
                    self.find(path.clone(), "a table with rows of another form", section_name(kind));
                }
                let count = rows.map(RowsReader::len).or(run.heap(kind).map(HeapReader::len));
                if entry.rows.get(&section_name(kind)).copied() != count {
                    self.find(
                        path.clone(),
                        "the manifest knows another number of rows or words",
                        section_name(kind),
                    );
                }
            }
            self.progress.advance(entry.bytes);
        }
        if rarities != usize::from(!self.manifest.runs.is_empty()) {
            self.find("rarity", format!("{rarities} tables of it, where there is one"), "");
        }
        let needed = usize::from(self.manifest.config.needs_lexicon() && !self.manifest.runs.is_empty());
        if lexicons != needed {
            self.find("lexicon", format!("{lexicons} of them, where there are {needed}"), "");
        }
        for log in &self.manifest.changes {
            let outcome = self.log(snapshot, log.commit);
            self.note(outcome)?;
            self.progress.advance(log.bytes);
        }
        Ok(())
    }

    /// Opens the commits before that can be looked at again. Whoever opens the collection for writing reads their manifests,
    /// too. Runs of the last commit are read anyway, and those of other processes passed over.
    fn older(&mut self, snapshot: &Snapshot) -> Result<()> {
        let (storage, collection) = (snapshot.storage(), self.manifest.collection);
        let mut opened: BTreeSet<u64> = self.manifest.runs.iter().map(|run| run.id).collect();
        for commit in snapshot.older()? {
            self.progress.check()?;
            let older = snapshot.read_older(commit);
            let (runs, outcome) = match older {
                Ok(older) => (older.map(|older| older.runs).unwrap_or_default(), Ok(())),
                Err(error) => (Vec::new(), Err(error)),
            };
            self.note(outcome)?;
            for run in runs.iter().filter(|run| opened.insert(run.id)) {
                let outcome = run.open(storage, collection).map(drop).map_err(missing);
                // A commit that is made meanwhile may have taken it away.
                if outcome.is_err() && newest(storage)? != self.manifest.commit {
                    return Ok(());
                }
                self.note(outcome)?;
            }
        }
        Ok(())
    }

    /// Tells what is in the way of the next commit, and reads the runs of an interrupted load: whoever goes on with it reads
    /// them, too. Those that lie with other processes are passed over.
    fn unfinished(&mut self, snapshot: &Snapshot) -> Result<()> {
        let (storage, manifest) = (snapshot.storage(), self.manifest);
        let newest = || Checkpoint::newest(storage, manifest);
        let pending = newest()?;
        for name in strays(storage, manifest, pending.as_ref())? {
            self.note(Err(stray(storage, &name)))?;
        }
        let Some(pending) = pending else { return Ok(()) };
        for entry in pending.next.runs.iter().filter(|run| !manifest.runs.contains(run)) {
            self.progress.check()?;
            let outcome = entry.open(storage, manifest.collection).and_then(|run| run.verify());
            let outcome = match outcome.map_err(missing) {
                Err(Error::Unreachable { .. }) => Ok(()),
                Err(Error::Damaged { path, offset, what }) => {
                    let what =
                        format!("{what}; of an interrupted load, which `alike load --abandon` discards");
                    Err(Error::Damaged { path, offset, what })
                }
                outcome => outcome,
            };
            // A load that is under way merges its runs.
            if outcome.is_err() && newest()?.is_none_or(|now| now.name() != pending.name()) {
                return Ok(());
            }
            self.note(outcome)?;
        }
        Ok(())
    }

    /// Reads a change log, line by line.
    fn log(&mut self, snapshot: &Snapshot, commit: u64) -> Result<()> {
        let mut rest: Vec<u8> = Vec::new();
        let mut wrong = 0u64;
        snapshot.changes(commit, &mut |piece| {
            rest.extend_from_slice(piece);
            let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let lines = rest[..whole].split_inclusive(|byte| *byte == b'\n');
            wrong += lines.filter(|line| serde_json::from_slice::<ChangeLine>(line).is_err()).count() as u64;
            rest.drain(..whole);
            Ok(())
        })?;
        if wrong > 0 || !rest.is_empty() {
            self.find("changes", "a change log with lines that say nothing", format!("commit {commit}"));
        }
        Ok(())
    }

    fn all_tables(&mut self) -> Result<()> {
        self.live_contents()?;
        self.origins()?;
        self.documents()?;
        self.prepare_keys()?;
        self.texts()?;
        self.signatures()?;
        self.components()?;
        self.clusters()?;
        self.postings()?;
        let (counts, report) = (self.manifest.counts, self.report);
        for (what, known, found) in [
            ("documents", counts.documents, report.documents),
            ("contents", counts.contents, report.contents),
            ("clusters", counts.clusters, report.clusters),
        ] {
            if known != found {
                self.find("manifest", format!("it counts {known} {what}, and there are {found}"), "");
            }
        }
        Ok(())
    }

    fn live_contents(&mut self) -> Result<()> {
        self.each_row(CONTENTS, &mut |check, row, _| {
            let (next, next_label) = (check.manifest.next_content, check.manifest.next_label);
            let stored = StoredContent::of_row(row);
            if stored.content >= u64::from(next) {
                check.wrong(CONTENTS, row, "a content that is yet to come");
            } else if stored.is_live() {
                let (documents, ClusterKey { component: label, place }) = (stored.documents, stored.at);
                if label >= next_label {
                    check.wrong(CONTENTS, row, "a label that is yet to come");
                }
                let fact = Fact { documents, label, place, ..Fact::default() };
                if !check.facts.push(stored.content as Doc, fact) {
                    check.wrong(CONTENTS, row, "a content that is there twice, or out of order");
                }
            }
            Ok(())
        })?;
        self.report.contents = self.facts.len() as u64;
        self.each_row(DEAD, &mut |check, row, _| {
            let content = dead_content(row);
            if check.facts.has(content) {
                check.wrong(DEAD, row, "a content that is live");
            }
            check.dead.add(content);
            Ok(())
        })
    }
}
