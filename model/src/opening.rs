//! What a writer reads under the lock before it changes anything: others go on between any two of these steps, if it
//! should have lost the lock, or they.

use crate::folder::{Content, Folder, Manifest, Name, Run, Small};
use crate::follower::Task;
use crate::writer::{Around, Said, Step, Writer};

/// A step of opening.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Opening {
    List,
    ReadManifest(Small),
    /// Opens a run of the manifest that was read, by its place there.
    OpenRun(usize),
    /// A file of this commit was missing: who has removed it has published a newer one.
    ListAgain(Small),
    /// A look whether there was a later commit, whose manifest is lost.
    CheckLast,
    /// It seemed so: somebody may be publishing it just now.
    CheckAgain,
    /// Reads the manifest of this commit before the last one, then those before it that stay.
    ReadOlder(Small),
    ListCheckpoints,
    /// Reads checkpoints of these epochs, until one is whole.
    ReadCheckpoint(Vec<Small>),
}

impl Writer {
    /// Does one step of opening.
    pub fn open(&mut self, step: Opening, around: &Around) -> Said {
        let folder = &*around.folder;
        let next = match step {
            Opening::List => match folder.newest() {
                Some(commit) => Opening::ReadManifest(commit),
                None => return self.find_damage(),
            },
            Opening::ReadManifest(commit) => match folder.manifest(Name::Manifest(commit)) {
                None => Opening::ListAgain(commit),
                Some(Err(())) => return self.find_damage(),
                Some(Ok(last)) => {
                    self.last = Some(last.clone());
                    self.open_run(0)
                }
            },
            Opening::OpenRun(at) if around.is_out_of_reach(&self.last().runs[at]) => return self.give_up(),
            Opening::OpenRun(at) => match around.open_run(&self.last().runs[at]) {
                None => Opening::ListAgain(self.last().commit),
                Some(false) => return self.find_damage(),
                Some(true) => self.open_run(at + 1),
            },
            Opening::ListAgain(commit) => match folder.newest() {
                Some(newest) if newest != commit => Opening::ReadManifest(newest),
                _ => return self.find_damage(),
            },
            Opening::CheckLast => match check_last(folder, self.last()) {
                Ok(()) => {
                    self.last().commit.checked_sub(1).map_or(Opening::ListCheckpoints, Opening::ReadOlder)
                }
                Err(()) => Opening::CheckAgain,
            },
            Opening::CheckAgain if folder.newest() == Some(self.last().commit) => return self.find_damage(),
            Opening::CheckAgain => Opening::List,
            Opening::ReadOlder(commit) => match folder.manifest(Name::Manifest(commit)) {
                Some(Err(())) => return self.find_damage(),
                older => {
                    older.and_then(Result::ok).cloned().into_iter().for_each(|it| self.older.insert(0, it));
                    match commit > self.last().from {
                        true => Opening::ReadOlder(commit - 1),
                        false => Opening::ListCheckpoints,
                    }
                }
            },
            Opening::ListCheckpoints => Opening::ReadCheckpoint(folder.epochs(self.last().commit + 1)),
            Opening::ReadCheckpoint(epochs) => return self.read_checkpoint(&epochs, folder),
        };
        self.step = Step::Open(next);
        Said::Nothing
    }

    /// What comes when so many runs are open.
    fn open_run(&self, opened: usize) -> Opening {
        if opened < self.last().runs.len() { Opening::OpenRun(opened) } else { Opening::CheckLast }
    }

    /// Reads the last checkpoint. One that was being written when the power went is passed over.
    fn read_checkpoint(&mut self, epochs: &[Small], folder: &Folder) -> Said {
        self.step = Step::SyncFound;
        let Some((epoch, earlier)) = epochs.split_first() else { return Said::Nothing };
        match folder.manifest(Name::Checkpoint(self.last().commit + 1, *epoch)) {
            // Gone since it was listed: opening fails.
            None => return self.give_up(),
            Some(Ok(pending)) if pending.runs.starts_with(&self.last().runs) => {
                self.pending = Some((*epoch, pending.clone()));
            }
            Some(_) => self.step = Step::Open(Opening::ReadCheckpoint(earlier.to_vec())),
        }
        Said::Nothing
    }
}

impl Around<'_> {
    /// Whether a run is with a follower that is gone.
    pub fn is_out_of_reach(&self, run: &Run) -> bool {
        run.job.is_some() && self.followers.contains(&Task::Away)
    }

    /// Whether a run is as it was written; none if it is not there.
    pub fn open_run(&self, run: &Run) -> Option<bool> {
        open_run(self.folder, &self.kept.folder, run)
    }
}

/// Whether a run is as it was written; none if it is not there.
pub fn open_run(folder: &Folder, kept: &Folder, run: &Run) -> Option<bool> {
    let of = if run.job.is_some() { kept } else { folder };
    of.get(run.name()).map(|content| *content == Content::Run(run.by))
}

/// Whether all runs of a commit are there, as they were written.
pub fn runs_are_whole(folder: &Folder, kept: &Folder, manifest: &Manifest) -> bool {
    manifest.runs.iter().all(|run| open_run(folder, kept, run) == Some(true))
}

pub fn is_vouched(folder: &Folder, commit: Small) -> bool {
    let vouches = |name| matches!(name, Name::Unfinished(of, _) if of == commit);
    has_before(folder, commit) || folder.names().any(vouches)
}

/// Whether the manifest of the commit before this one is there.
pub fn has_before(folder: &Folder, commit: Small) -> bool {
    commit.checked_sub(1).is_some_and(|before| folder.has(Name::Manifest(before)))
}

/// Refuses the greatest commit that there is a manifest of, if there was a later one.
///
/// # Errors
/// If there was.
pub fn check_last(folder: &Folder, last: &Manifest) -> Result<(), ()> {
    let under_way = !folder.epochs(last.commit + 1).is_empty();
    let later = folder.names().any(|name| matches!(name, Name::Run(id) if id >= last.next_run));
    if is_vouched(folder, last.commit) || under_way || !later { Ok(()) } else { Err(()) }
}
