//! Runs that the processes of a job keep to themselves, removed where they lie once no commit names them.

use std::io::ErrorKind;

use crate::collection::commit::names::{Name, folder, names_in, sync_names};
use crate::collection::commit::writer::Writer;
use crate::collection::distributed::protocol::{LeaderCommand, NamedRuns};
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::storage::Storage;

impl NamedRuns {
    /// What a writer keeps, before anything is begun.
    pub(in crate::collection) fn of(writer: &Writer) -> Result<NamedRuns> {
        let (runs, unknown) = writer.named_local_runs();
        let collection = writer.snapshot().manifest().collection;
        let (below, job) = (writer.sweep(), writer.job());
        Ok(NamedRuns { collection, commits: writer.commits()?, runs, unknown, below, job })
    }

    /// What says of a folder that it was tidied for the last commit.
    fn note(&self) -> Option<Name> {
        self.commits.first().map(|(commit, digest)| Name::Tidied(*commit, *digest))
    }

    /// All other such runs in a folder, and notes of other commits. Whatever a job writes has a name of its own, so that these can
    /// be removed at any time.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Forked`] if a note that is there is of a commit that this one knows nothing of: what is
    /// removed may be all there is of that.
    pub(in crate::collection) fn unnamed(&self, storage: &dyn Storage) -> Result<Vec<Name>> {
        let Some(last) = self.commits.first().copied() else { return Ok(Vec::new()) };
        let mut names = names_in(storage)?;
        let foreign = |name: &&Name| match **name {
            Name::Tidied(commit, digest) => {
                let same = self.commits.iter().find(|(known, _)| *known == commit);
                same.map_or(commit > last.0, |(_, known)| *known != digest)
            }
            _ => false,
        };
        if let Some(Name::Tidied(tidied, _)) = names.iter().find(foreign) {
            return Err(Error::Forked { path: folder(storage), tidied: *tidied, commit: last.0 });
        }
        let note = self.note();
        names.retain(|name| match *name {
            Name::Kept(id, keeper) => {
                let is_over = id < self.below || keeper.job == self.job;
                id >= self.unknown && is_over && !self.runs.contains(&(id, keeper))
            }
            Name::Tidied(..) => Some(*name) != note,
            _ => false,
        });
        Ok(names)
    }

    /// Removes them, and leaves a note there of the commit that this was done for.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::collection) fn remove(&self, storage: &dyn Storage, unnamed: Vec<Name>) -> Result<()> {
        let Some(note) = self.note() else { return Ok(()) };
        let is_noted = names_in(storage)?.contains(&note);
        if is_noted && unnamed.is_empty() {
            return Ok(());
        }
        if !is_noted {
            make(storage, note)?;
        }
        unnamed.into_iter().try_for_each(|name| remove(storage, name))?;
        sync_names(storage)
    }
}

/// Makes an empty file; another process of this machine may have been faster.
fn make(storage: &dyn Storage, name: Name) -> Result<()> {
    let name = name.to_string();
    match storage.create(&name).and_then(|mut file| file.sync()) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|e| Error::io(&storage.path(&name), "create", e)),
    }
}

/// Removes a file; another process of this machine may have been faster.
fn remove(storage: &dyn Storage, name: Name) -> Result<()> {
    let name = name.to_string();
    match storage.remove(&name) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|e| Error::io(&storage.path(&name), "remove", e)),
    }
}

/// Removes the local runs of all processes that no commit names: here, and where the others are. A process that has lost its
/// leader, and does not know it, removes nothing that the next job has written: it lists before the leader's last word.
/// Where all runs are in one folder there is nothing to be done.
pub(in crate::collection) fn keep(writer: &Writer, peers: Option<&Peers>) -> Result<()> {
    let (beside, peers) = (writer.storage().beside(), peers.filter(|peers| peers.state().is_some()));
    if beside.is_none() && peers.is_none() {
        return Ok(());
    }
    let keep = NamedRuns::of(writer)?;
    let own = beside.map_or(Ok(()), |beside| keep.remove(&*beside, keep.unnamed(&*beside)?));
    if let Some(peers) = peers {
        peers.broadcast(&LeaderCommand::RemoveUnnamed(keep))?;
        peers.gather(&())?;
        peers.broadcast(&())?;
        // Processes of one machine may share a folder: nobody begins a run there before all have tidied it.
        peers.gather(&())?;
    }
    own
}

#[cfg(test)]
#[path = "local_runs_tests.rs"]
mod tests;
