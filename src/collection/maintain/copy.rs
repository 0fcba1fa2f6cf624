//! A commit of a collection in a folder of its own: its files are never changed, so they need not even be copied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collection::commit::names::Name;
use crate::collection::commit::retained::at::CommitAt;
use crate::collection::commit::snapshot::{Snapshot, is_missing, missing, newest};
use crate::error::{Error, Result};
use crate::output::Staging;
use crate::progress::{Progress, Stage};
use crate::storage::{Local, Storage, link_or_copy};

/// How often it is begun anew because a later commit took files away meanwhile.
const ATTEMPTS: usize = 20;

/// What a copy came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CopyReport {
    /// The commit that the copy has.
    pub commit: u64,
    /// Files of it.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files of which no bytes were copied: both folders have the same ones.
    pub linked: u64,
}

/// Makes `copy` a collection that has one commit of that in the folder `collection`: the last one, or the one that is asked for.
/// Others may load meanwhile. It appears when all of it is durable.
///
/// # Errors
/// Those of [`Snapshot::open_at`]; [`Error::Config`] if there is something at `copy`, or no folder to make it in, or if a process
/// keeps a run of the commit to itself; [`Error::Interrupted`] and [`Error::Io`].
pub fn copy_commit(
    collection: &Path,
    at: Option<&CommitAt>,
    copy: &Path,
    progress: &Arc<Progress>,
) -> Result<CopyReport> {
    refuse_place(collection, copy)?;
    let storage: Arc<dyn Storage> = Arc::new(Local::open(collection)?);
    for _ in 0..ATTEMPTS {
        // Before the commit is opened: what a later one takes away from here on, it takes with another name here.
        let last = newest(&*storage)?;
        let snapshot = match at {
            Some(at) => Snapshot::open_at(&storage, at)?,
            None => Snapshot::open(&storage)?,
        };
        let staging = Staging::new(copy)?;
        match fill(&snapshot, collection, staging.path(), progress) {
            Ok(report) => {
                staging.commit(progress)?;
                return Ok(report);
            }
            // Nobody took it away.
            Err(error) if is_missing(&error) && newest(&*storage)? == last => return Err(missing(error)),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Changed(collection.to_path_buf()))
}

/// Refuses what can be no new folder, in words that say what a copy is.
fn refuse_place(collection: &Path, copy: &Path) -> Result<()> {
    let refused = |what: &str| Err(Error::config(format!("{}: {what}", copy.display())));
    if copy.symlink_metadata().is_ok() {
        return refused("exists already; name another folder for the copy, or remove it first");
    }
    let parent = copy.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let within =
        |collection: PathBuf| parent.canonicalize().is_ok_and(|parent| parent.starts_with(collection));
    match parent.is_dir() {
        true if collection.canonicalize().is_ok_and(within) => refused(
            "is within the collection, whose folder is backed up and removed as one; name a place beside it",
        ),
        true => Ok(()),
        false => refused("there is no folder to make the copy in; make it first, or name another place"),
    }
}

/// Puts all files of the commit into a folder.
fn fill(snapshot: &Snapshot, from: &Path, to: &Path, progress: &Progress) -> Result<CopyReport> {
    let manifest = snapshot.manifest();
    if let Some(run) = manifest.runs.iter().find(|run| run.keeper.is_some()) {
        return Err(Error::config(format!(
            "{}: run {} is kept by a process for itself, and a copy of the folder would lack it; first bring all runs into the \
             folder: alike compact COLLECTION --gather --local-state DIR, as all processes",
            from.display(),
            run.id
        )));
    }
    progress.enter(Stage::Write, manifest.bytes());
    let mut report = CopyReport { commit: manifest.commit, ..CopyReport::default() };
    let names = manifest.files();
    // The manifest last, as everywhere.
    let (manifests, others): (Vec<Name>, Vec<Name>) =
        names.into_iter().partition(|name| matches!(name, Name::Manifest(_)));
    for name in others.into_iter().chain(manifests).map(|name| name.to_string()) {
        progress.check()?;
        let (from, to) = (from.join(&name), to.join(&name));
        let (bytes, linked) = link_or_copy(&from, &to).map_err(|e| Error::io(&from, "copy", e))?;
        report.linked += u64::from(linked);
        (report.files, report.bytes) = (report.files + 1, report.bytes + bytes);
        progress.advance(bytes);
    }
    Ok(report)
}
