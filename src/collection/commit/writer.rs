//! Opening a collection for writing, and publishing commits.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::collection::RunWriter;
use crate::collection::commit::changes::ChangesWriter;
use crate::collection::commit::checkpoint::Checkpoint;
use crate::collection::commit::durable::{bytes_of, draw_id, publish, remove, take_away};
use crate::collection::commit::guard::Guard;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name, folder, names_in, sync_names};
use crate::collection::commit::retained::older::{OlderCommits, digest};
use crate::collection::commit::retained::policy::Retain;
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::commit::snapshot::{Snapshot, check_last, check_strays, is_vouched, missing, newest};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::storage::{Lock, Storage};

/// The one writer of a collection, until it is dropped or an operation fails.
///
/// After any failed write, on whatever thread, nothing more can be written through it or through what it has begun:
/// every attempt is an [`Error::Io`] that says to open the collection again. The last commit stays as it was.
#[derive(Debug)]
pub struct Writer {
    snapshot: Snapshot,
    /// The commits before the last one that stay: for readers that are about to open the one before it, and for those who look
    /// at any of them again.
    older: OlderCommits,
    /// How long commits are to stay from the next one on, if that was said.
    retain: Option<Retain>,
    /// What an interrupted load has left.
    pending: Option<Checkpoint>,
    guard: Guard,
    storage: Arc<dyn Storage>,
    untidied: Option<Error>,
    /// What tells the runs of this writer from those of any other that processes keep to themselves.
    job: u64,
    /// Taken only by the writer that comes after this one under the same lock.
    lock: Option<Box<dyn Lock>>,
    /// Whether local runs that nobody names were removed since it was opened, or something was published.
    has_swept: AtomicBool,
}

impl Writer {
    /// Makes an empty collection, its commit 0, in an empty folder. Texts are kept if `store_text`.
    ///
    /// # Errors
    /// [`Error::NotACollection`] if there are other files, [`Error::Config`] if there is a collection or `config`
    /// cannot be, [`Error::Locked`] and [`Error::Io`].
    pub fn create(folder: &Arc<dyn Storage>, config: Config, store_text: bool) -> Result<Writer> {
        config.validate_for_collection()?;
        check_empty(&**folder)?;
        let (lock, guard) = begin(folder)?;
        // Somebody may have been faster.
        let left = check_empty(&guard)?;
        Writer::make(lock, guard, left, config, store_text)
    }

    /// Makes another empty collection of one that no load has gone to, with a configuration and an id of its own. The
    /// lock is held throughout. A crash may leave an empty folder.
    ///
    /// # Errors
    /// [`Error::Config`] if `config` cannot be, [`Error::Locked`] and [`Error::Io`].
    ///
    /// # Panics
    /// If there was a load.
    pub fn start_anew(mut self, config: Config, store_text: bool) -> Result<Writer> {
        config.validate_for_collection()?;
        assert!(self.is_unused(), "a collection that holds something stays what it is");
        let left = names_in(&*self.storage)?;
        let lock = self.lock.take().expect("a writer that is not dropped holds the lock");
        // What was begun with this writer is dead with it; the one that comes after it is not.
        Writer::make(lock, self.guard.renewed(), left, config, store_text)
    }

    /// Whether no load has gone to it yet: an empty collection, perhaps of a load that was killed.
    pub fn is_unused(&self) -> bool {
        let last = self.snapshot.manifest();
        last.load == 0 && last.runs.is_empty() && self.pending.is_none()
    }

    /// Makes commit 0 in the place of what is `left`, under the lock.
    fn make(
        lock: Box<dyn Lock>,
        guard: Guard,
        left: Vec<Name>,
        config: Config,
        store_text: bool,
    ) -> Result<Writer> {
        let storage: Arc<dyn Storage> = Arc::new(guard.clone());
        let manifest = Manifest::first(draw_id(), config, store_text);
        let bytes = bytes_of(&*storage, &manifest)?;
        // As it will be read: a threshold may have been written with more digits than it needs.
        let manifest = Manifest::from_bytes(&storage.path(&Name::Manifest(0).to_string()), &bytes)?;
        remove(&*storage, left)?;
        let job = draw_id();
        publish(&*storage, 0, job, &bytes)?;
        let snapshot = Snapshot::without_runs(&storage, manifest);
        let mut writer = Writer {
            snapshot,
            older: OlderCommits::default(),
            retain: None,
            pending: None,
            guard,
            storage,
            untidied: None,
            job,
            lock: Some(lock),
            has_swept: AtomicBool::new(false),
        };
        writer.tidy_after_commit();
        Ok(writer)
    }

    /// Opens a collection, and removes what a writer that came to no good end has left in it. A damaged manifest of
    /// a commit before the last one is no hindrance: nothing that may be that commit's is removed as long as it would stay
    /// itself, and [`Writer::untidied`] says so.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`], and [`Error::Locked`].
    pub fn open(folder: &Arc<dyn Storage>) -> Result<Writer> {
        Writer::open_if(folder, check_last)
    }

    /// Opens a collection, and removes all that is not of its last commit or one before that stays, also what is left of a later
    /// commit whose manifest is lost: whoever asks for it says that there was none.
    ///
    /// # Errors
    /// Those of [`Writer::open`].
    pub fn open_and_abandon(folder: &Arc<dyn Storage>) -> Result<Writer> {
        let mut writer = Writer::open_if(folder, |_, _| Ok(()))?;
        writer.abandon()?;
        // What had the name of a file of the interrupted load, and is none, was not removed with it.
        check_strays(&*writer.storage, writer.snapshot.manifest(), None)?;
        Ok(writer)
    }

    fn open_if(
        folder: &Arc<dyn Storage>,
        check: impl Fn(&dyn Storage, &Manifest) -> Result<()>,
    ) -> Result<Writer> {
        // Asked first, because locking leaves a file.
        newest(&**folder)?;
        let (lock, guard) = begin(folder)?;
        let storage: Arc<dyn Storage> = Arc::new(guard.clone());
        let snapshot = Snapshot::open_if(&storage, check)?;
        let (older, untidied) = OlderCommits::read(&*storage, snapshot.manifest())?;
        let pending = Checkpoint::newest(&*storage, snapshot.manifest())?;
        check_strays(&*storage, snapshot.manifest(), pending.as_ref())?;
        let (job, lock) = (draw_id(), Some(lock));
        let writer = Writer {
            snapshot,
            older,
            retain: None,
            pending,
            guard,
            storage,
            untidied,
            job,
            lock,
            has_swept: AtomicBool::new(false),
        };
        // Who made the last commit may have been killed before its name was durable: what it supersedes must not go first.
        sync_names(&*writer.storage)?;
        writer.tidy(|_| true)?;
        writer.vouch()?;
        Ok(writer)
    }

    /// Has a name vouch for the last commit, if that which did is lost.
    fn vouch(&self) -> Result<()> {
        let names = names_in(&*self.storage)?;
        let commit = self.snapshot.manifest().commit;
        if is_vouched(&names, commit) {
            return Ok(());
        }
        let vouching = Name::Unfinished(commit, Some(self.job));
        let (from, to) = (Name::Manifest(commit).to_string(), vouching.to_string());
        self.storage.link(&from, &to).map_err(|e| Error::io(&self.storage.path(&to), "create", e))?;
        sync_names(&*self.storage)
    }

    /// What an interrupted load has left: epochs that are done, and that no reader sees.
    pub fn pending(&self) -> Option<&Checkpoint> {
        self.pending.as_ref()
    }

    /// Refuses anything else while an interrupted load can be finished.
    ///
    /// # Errors
    /// [`Error::Unfinished`].
    pub fn check_finished(&self) -> Result<()> {
        match &self.pending {
            Some(pending) => Err(Error::unfinished(&folder(&*self.storage), pending.tally.records, "")),
            None => Ok(()),
        }
    }

    /// Publishes that there was a load, if it is the first and brought no document: the configuration stays from now on. The number of
    /// the commit.
    ///
    /// # Errors
    /// Those of [`Writer::commit`].
    pub(in crate::collection) fn commit_first_load(&mut self) -> Result<Option<u64>> {
        if !self.is_unused() {
            return Ok(None);
        }
        let next = self.next();
        let commit = next.commit;
        self.commit(Manifest { load: next.load + 1, ..next }).map(|()| Some(commit))
    }

    /// What tells the runs of this writer from those of any other that processes keep to themselves.
    pub(in crate::collection) fn job(&self) -> u64 {
        self.job
    }

    /// The last commit and the one before it, if that is known: their numbers, and the XXH3 of their manifests.
    pub(in crate::collection) fn commits(&self) -> Result<Vec<(u64, u64)>> {
        let last = digest(&*self.storage, self.snapshot.manifest())?;
        Ok([last].into_iter().chain(self.older.before()).collect())
    }

    /// The runs that processes keep to themselves, and that the last commit names, or one before it that stays, or what is
    /// pending; and below which number others may be named too.
    pub(in crate::collection) fn named_local_runs(&self) -> (BTreeSet<(u64, Keeper)>, u64) {
        let pending = self.pending.as_ref().map(|pending| &pending.next);
        let (mut runs, unknown) = self.older.local_runs();
        for manifest in [Some(self.snapshot.manifest()), pending].into_iter().flatten() {
            runs.extend(manifest.runs.iter().filter_map(|run| Some((run.id, run.keeper?))));
        }
        (runs, unknown)
    }

    /// Says how long commits are to stay that can be looked at again, from the next one on.
    pub fn set_retain(&mut self, retain: Retain) {
        self.retain = Some(retain);
    }

    /// Publishes what [`Writer::set_retain`] was told, if no commit has done it: one that changes nothing else. Its number, if
    /// there was a need for it.
    ///
    /// # Errors
    /// Those of [`Writer::commit`], and [`Error::Unfinished`].
    pub fn commit_retain(&mut self) -> Result<Option<u64>> {
        if self.retain.is_none() || self.retain == self.snapshot.manifest().retain {
            return Ok(None);
        }
        self.check_finished()?;
        let next = self.next();
        let commit = next.commit;
        self.commit(next).map(|()| Some(commit))
    }

    /// Below which number local runs go that nobody names, whoever wrote them: any at first, which are of jobs that came to nothing.
    /// Once something is published others may have the lock, and write runs that the last commit knows nothing of.
    pub(in crate::collection) fn sweep(&self) -> u64 {
        if self.has_swept.swap(true, Ordering::Relaxed) {
            self.snapshot.manifest().next_run
        } else {
            u64::MAX
        }
    }

    /// Says of damage to a run of an interrupted load that the last commit does not need it.
    pub(in crate::collection) fn with_advice(&self, error: Error) -> Error {
        let Error::Damaged { path, offset, what } = error else { return error };
        let last = self.snapshot.manifest().next_run;
        // Behind the name of a run that another process has it is said which.
        let name = path.file_name().and_then(|name| Name::parse(name.to_str()?.split(' ').next()?));
        let unfinished = match name {
            Some(Name::Run(id) | Name::Kept(id, _)) => id >= last,
            name => matches!(name, Some(Name::Refused(..))),
        };
        match unfinished {
            true => Error::UnfinishedDamaged { collection: folder(&*self.storage), path, offset, what },
            false => Error::Damaged { path, offset, what },
        }
    }

    /// Discards what an interrupted load has left.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn abandon(&mut self) -> Result<()> {
        self.pending = None;
        self.tidy(|_| true)
    }

    /// Removes what a load has begun that failed, so that it takes no room until the next one; what cannot be removed, that
    /// one removes. Epochs that are done stay.
    pub fn clear_up(&self) {
        let _ = self.tidy(|_| true);
    }

    /// Takes back a collection that was made for a load of which nothing came: its configuration, perhaps the mistake,
    /// would be fixed for ever. Its files go, that of the lock too, as far as they can be removed; what stays is an empty
    /// collection or none.
    pub fn take_back(mut self) {
        let names = self.storage.names().unwrap_or_default();
        let mut own: Vec<&String> = names.iter().filter(|name| Name::parse(name).is_some()).collect();
        own.sort_by_key(|name| !matches!(Name::parse(name), Some(Name::Manifest(_))));
        for name in own {
            let _ = self.storage.remove(name);
        }
        let _ = self.storage.sync_names();
        if let Some(lock) = self.lock.take() {
            lock.leave_nothing();
        }
    }

    /// Makes what there is of a load durable; what it supersedes is removed.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Limit`] if it would be too long: the one before it stands then.
    pub(in crate::collection) fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.has_swept = AtomicBool::new(true);
        let written = checkpoint.write(&*self.storage);
        written.inspect_err(|error| {
            if !matches!(error, Error::Limit(_)) {
                self.guard.kill();
            }
        })?;
        let next_run = checkpoint.next.next_run;
        self.pending = Some(checkpoint);
        self.tidy(|name| match name {
            Name::Run(id) => id < next_run,
            Name::Checkpoint(..) => true,
            _ => false,
        })
    }

    /// A snapshot of what a load has come to: `next` has the runs of the last commit and some after them.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub(in crate::collection) fn ahead(&self, next: &Manifest) -> Result<Snapshot> {
        self.snapshot.advance(next.clone()).map_err(missing)
    }

    /// The last commit.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The folder, as this writer may change it.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// A manifest to be filled in and committed: the last one, with the next number. If what was begun for it is
    /// not committed, its files stay in the way of the next attempt until the collection is opened again.
    pub fn next(&self) -> Manifest {
        let last = self.snapshot.manifest();
        Manifest { commit: last.commit + 1, ..last.clone() }
    }

    /// Begins a run for the commit `next`: its id and the file. When it is finished, its [`crate::collection::RunEntry`] goes
    /// into `next`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn begin_run(&self, next: &mut Manifest) -> Result<(u64, RunWriter)> {
        let id = next.next_run;
        let run = RunWriter::create(&*self.storage, &Name::Run(id).to_string(), next.collection, id)?;
        next.next_run += 1;
        Ok((id, run))
    }

    /// Begins the change log of the commit `next`. When it is finished, its [`crate::collection::ChangesEntry`] goes to the end
    /// of [`Manifest::changes`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn begin_changes(&self, next: &Manifest) -> Result<ChangesWriter> {
        ChangesWriter::create(&*self.storage, next.commit)
    }

    /// Publishes a commit. When this returns `Ok`, it is durable; what it has superseded is removed then, and
    /// [`Writer::untidied`] tells whether that succeeded. After an error other than those of earlier failures the
    /// commit may or may not have happened: opening again shows.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] if a new run is not as it was written; [`Error::Locked`] if somebody else
    /// has committed in spite of the lock; [`Error::Limit`] if the manifest is too long.
    ///
    /// # Panics
    /// If `next` cannot come after the last commit.
    pub fn commit(&mut self, next: Manifest) -> Result<()> {
        self.commit_with(next, &[])
    }

    /// Publishes a commit that has the runs of an earlier one, which stays until then.
    ///
    /// # Errors
    /// Those of [`Writer::commit`].
    ///
    /// # Panics
    /// If `next` cannot come after the last commit.
    pub(in crate::collection) fn restore(&mut self, next: Manifest, earlier: &Manifest) -> Result<()> {
        self.commit_with(next, &earlier.runs)
    }

    fn commit_with(&mut self, next: Manifest, earlier: &[RunEntry]) -> Result<()> {
        self.guard.check().map_err(|e| Error::io(&folder(&*self.storage), "commit", e))?;
        if let Err(what) = next.check_restores(self.snapshot.manifest(), earlier) {
            panic!("no next commit: {what}");
        }
        self.try_commit(next).inspect_err(|_| self.guard.kill())
    }

    fn try_commit(&mut self, mut next: Manifest) -> Result<()> {
        next.retain = self.retain.or(next.retain);
        next.slide(self.snapshot.manifest());
        let bytes = bytes_of(&*self.storage, &next)?;
        self.check_changes(&next)?;
        let snapshot = self.snapshot.advance(next)?;
        self.has_swept = AtomicBool::new(true);
        publish(&*self.storage, snapshot.manifest().commit, self.job, &bytes)?;
        let last = std::mem::replace(&mut self.snapshot, snapshot);
        self.older.push(&*self.storage, last.manifest(), self.snapshot.manifest().first_kept())?;
        self.pending = None;
        self.tidy_after_commit();
        Ok(())
    }

    /// Refuses a new change log that is not there whole.
    fn check_changes(&self, next: &Manifest) -> Result<()> {
        let Some(log) = next.changes.last().filter(|log| log.commit == next.commit) else { return Ok(()) };
        let name = Name::Changes(log.commit).to_string();
        let path = self.storage.path(&name);
        let length = self.storage.open(&name).and_then(|reader| reader.len());
        let length = length.map_err(|e| Error::io(&path, "look at", e))?;
        if length != log.bytes {
            let what = format!("{length} bytes, of {} that were written", log.bytes);
            return Err(Error::damaged(&path, length.min(log.bytes), what));
        }
        Ok(())
    }

    /// Why what the last commit has superseded could not all be removed. After a commit: it stands; the writer is
    /// dead, and the next one that is opened removes the rest. After opening: the manifest before the last one is
    /// damaged; the writer is well, and its first commit removes the rest.
    pub fn untidied(&self) -> Option<&Error> {
        self.untidied.as_ref()
    }

    fn tidy_after_commit(&mut self) {
        let (commit, next_run) = (self.snapshot.manifest().commit, self.snapshot.manifest().next_run);
        // What has a greater number may belong to the commit that is prepared next.
        let tidied = self.tidy(|name| match name {
            Name::Run(id) => id < next_run,
            Name::Kept(..) | Name::Tidied(..) => false,
            Name::Unfinished(number, _)
            | Name::Checkpoint(number, _)
            | Name::Refused(number, _)
            | Name::Manifest(number)
            | Name::Changes(number) => number <= commit,
        });
        self.untidied = tidied.inspect_err(|_| self.guard.kill()).err();
    }

    /// Removes those files that `may_go` and that neither the last commit names nor one before it that stays.
    fn tidy(&self, may_go: impl Fn(Name) -> bool) -> Result<()> {
        let names = self.names_unless_overtaken()?;
        let last = self.snapshot.manifest();
        let pending = |name| self.pending.as_ref().is_some_and(|pending| pending.names(name));
        let before = last.commit.checked_sub(1).is_some_and(|before| names.contains(&Name::Manifest(before)));
        let vouches = |name: Name| !before && name.is_unfinished(last.commit);
        let kept = |name| last.names(name) || vouches(name) || self.older.may_name(name) || pending(name);
        let superseded = names.into_iter().filter(|&name| may_go(name) && !kept(name));
        let (unfinished, others): (Vec<Name>, Vec<Name>) =
            superseded.partition(|name| matches!(name, Name::Unfinished(..)));
        if !unfinished.is_empty() {
            // Without these nobody can publish what was begun. Somebody who was faster has, and needs the others.
            take_away(&*self.storage, unfinished)?;
            self.names_unless_overtaken()?;
        }
        let (checkpoints, others): (Vec<Name>, Vec<Name>) =
            others.into_iter().partition(|name| matches!(name, Name::Checkpoint(..)));
        if !checkpoints.is_empty() {
            // A power cut that brought one back would have to bring its runs back, too.
            remove(&*self.storage, checkpoints)?;
        }
        remove(&*self.storage, others)
    }

    /// The files of the folder, unless somebody else has committed in spite of the lock.
    fn names_unless_overtaken(&self) -> Result<Vec<Name>> {
        let names = names_in(&*self.storage)?;
        let last = self.snapshot.manifest().commit;
        let overtaken = names.iter().any(|name| matches!(name, Name::Manifest(commit) if *commit > last));
        if overtaken { Err(Error::Locked(folder(&*self.storage))) } else { Ok(names) }
    }
}

impl Drop for Writer {
    /// What was begun and is not finished may not go on without the lock.
    fn drop(&mut self) {
        self.guard.kill();
    }
}

/// Takes the lock, and puts a guard over the folder.
fn begin(storage: &Arc<dyn Storage>) -> Result<(Box<dyn Lock>, Guard)> {
    let lock = storage.lock().map_err(|e| Error::io(&folder(&**storage), "lock", e))?;
    let lock = lock.ok_or_else(|| Error::Locked(folder(&**storage)))?;
    Ok((lock, Guard::new(Arc::clone(storage))))
}

/// Refuses a folder with any file in it but what an earlier attempt to create a collection leaves, which it returns.
fn check_empty(storage: &dyn Storage) -> Result<Vec<Name>> {
    let names = storage.names().map_err(|e| Error::io(&folder(storage), "list", e))?;
    let parsed: Vec<Option<Name>> = names.iter().map(|name| Name::parse(name)).collect();
    if parsed.iter().any(|name| matches!(name, Some(Name::Manifest(_)))) {
        let folder = folder(storage);
        return Err(Error::config(format!("{}: there is a collection in it already", folder.display())));
    }
    let strays = storage.strays().map_err(|e| Error::io(&folder(storage), "list", e))?;
    let in_the_way = |name: &&String| Name::parse(name).is_some_and(|name| name.is_to_come(0, 0));
    let strange =
        names.iter().zip(&parsed).find(|(_, parsed)| !parsed.is_some_and(|name| name.is_unfinished(0)));
    match strange.map(|(name, _)| name).or_else(|| strays.iter().find(in_the_way)) {
        Some(name) => {
            let reason = format!("{name} is in it, so none is made there");
            Err(Error::NotACollection(folder(storage), reason))
        }
        None => Ok(parsed.into_iter().flatten().collect()),
    }
}
