//! Opening a collection for reading.

use std::io;
use std::sync::Arc;

use crate::collection::RunReader;
use crate::collection::commit::checkpoint::Checkpoint;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Name, folder, names_in};
use crate::collection::commit::run_entry::RunEntry;
use crate::error::{Error, Result};
use crate::storage::{IN_THE_WAY, LOCK, Storage};

/// How often a reader looks again when writers take away what it was about to open. Each time two commits have
/// passed since it looked.
const ATTEMPTS: usize = 20;

/// One commit of a collection, open for reading. It stays what it is, whatever is committed later. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Snapshot {
    storage: Arc<dyn Storage>,
    manifest: Arc<Manifest>,
    runs: Vec<Arc<RunReader>>,
}

impl Snapshot {
    /// Opens the newest commit. Reads its manifest and the last pages of its runs, and checks them.
    ///
    /// # Errors
    /// [`Error::NotACollection`] if there is no manifest; [`Error::NewerFormat`] and [`Error::OlderFormat`]; [`Error::Damaged`] if the newest
    /// commit is not as it was written, even if an older one is; [`Error::Changed`] if commits came faster than they
    /// could be opened; [`Error::Io`].
    pub fn open(storage: &Arc<dyn Storage>) -> Result<Snapshot> {
        Snapshot::open_if(storage, check_last)
    }

    /// The same, of a commit that passes `check`. What fails it may just have been changed by whoever has published a later
    /// commit.
    pub(in crate::collection) fn open_if(
        storage: &Arc<dyn Storage>,
        check: impl Fn(&dyn Storage, &Manifest) -> Result<()>,
    ) -> Result<Snapshot> {
        let mut gone: Option<(u64, Error)> = None;
        for _ in 0..ATTEMPTS {
            let commit = newest(&**storage)?;
            if let Some((before, error)) = gone.take()
                && before == commit
            {
                return Err(missing(error));
            }
            match Snapshot::of(storage, commit) {
                Err(error) if is_missing(&error) => gone = Some((commit, error)),
                Err(error) => return Err(error),
                Ok(opened) => {
                    let passed = check(&**storage, opened.manifest());
                    if passed.is_ok() && opened.check_within_reach().is_ok() || newest(&**storage)? == commit
                    {
                        return passed.map(|()| opened);
                    }
                }
            }
        }
        Err(Error::Changed(folder(&**storage)))
    }

    /// Opens commit `commit`.
    pub(in crate::collection) fn of(storage: &Arc<dyn Storage>, commit: u64) -> Result<Snapshot> {
        let manifest = Manifest::read(&**storage, commit)?;
        // Without runs nothing else would tell whose manifest it is. A reader has no other use for the one before.
        if let Ok(Some(before)) = previous(&**storage, commit) {
            check_same(&**storage, &manifest, &before)?;
        }
        let open = |run: &RunEntry| run.open(&**storage, manifest.collection).map(Arc::new);
        let runs = manifest.runs.iter().map(open).collect::<Result<_>>()?;
        Ok(Snapshot { storage: Arc::clone(storage), manifest: Arc::new(manifest), runs })
    }

    /// What this becomes with the commit `next`: runs that stay are not opened again.
    pub(in crate::collection) fn advance(&self, next: Manifest) -> Result<Snapshot> {
        let open = |run: &RunEntry| match self.manifest.runs.iter().position(|old| old == run) {
            Some(at) => Ok(Arc::clone(&self.runs[at])),
            None => run.open(&*self.storage, next.collection).map(Arc::new),
        };
        let runs = next.runs.iter().map(open).collect::<Result<_>>()?;
        Ok(Snapshot { storage: Arc::clone(&self.storage), manifest: Arc::new(next), runs })
    }

    /// A snapshot of what another process knows; perhaps there is no manifest of it in the folder yet.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Io`] of its runs.
    pub fn ahead_of(storage: &Arc<dyn Storage>, ahead: Manifest) -> Result<Snapshot> {
        let open = |run: &RunEntry| run.open(&**storage, ahead.collection).map(Arc::new);
        let runs = ahead.runs.iter().map(open).collect::<Result<_>>()?;
        Ok(Snapshot { storage: Arc::clone(storage), manifest: Arc::new(ahead), runs })
    }

    /// A snapshot without runs.
    pub(in crate::collection) fn without_runs(storage: &Arc<dyn Storage>, manifest: Manifest) -> Snapshot {
        Snapshot { storage: Arc::clone(storage), manifest: Arc::new(manifest), runs: Vec::new() }
    }

    /// Refuses a commit of which a run lies with a process that cannot be asked.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub(in crate::collection) fn check_within_reach(&self) -> Result<()> {
        let unreachable =
            self.runs.iter().find_map(|run| Some((run.path().to_path_buf(), run.out_of_reach()?)));
        unreachable
            .map_or(Ok(()), |(path, (process, asked))| Err(Error::Unreachable { path, process, asked }))
    }

    /// Reads the manifest of a commit before this one, if it is still there: by it a writer knows which files to keep.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerFormat`], [`Error::OlderFormat`] and [`Error::Io`].
    pub(in crate::collection) fn read_older(&self, commit: u64) -> Result<Option<Manifest>> {
        let older = read_if_there(&*self.storage, commit)?;
        older.iter().try_for_each(|older| check_same(&*self.storage, &self.manifest, older))?;
        Ok(older)
    }

    /// The newest commit, if it is another one than this. Whether it is of the same collection is for the caller to see.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn newer(&self) -> Result<Option<Snapshot>> {
        let commit = newest(&*self.storage)?;
        if commit == self.manifest.commit
            && Manifest::read(&*self.storage, commit).is_ok_and(|same| same == *self.manifest)
        {
            return Ok(None);
        }
        Snapshot::open(&self.storage).map(Some)
    }

    /// What the commit is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folder.
    pub(in crate::collection) fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// Its runs, in the order of [`Manifest::runs`]: oldest first.
    pub fn runs(&self) -> &[Arc<RunReader>] {
        &self.runs
    }

    /// Hands the change log of commit `commit` to `each`, piece by piece; lines may span pieces. False if the
    /// manifest names no such log.
    ///
    /// # Errors
    /// [`Error::Io`]; what `each` gives, which ends the reading; and [`Error::Damaged`], perhaps only after the last
    /// piece: until then nothing vouches for the bytes. A log that a later commit has dropped is missing, too.
    pub fn changes(&self, commit: u64, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let changes = &self.manifest.changes;
        let Ok(at) = changes.binary_search_by_key(&commit, |log| log.commit) else { return Ok(false) };
        changes[at].read(&*self.storage, each).map(|()| true)
    }
}

/// How the name of a list begins that a run of its own writes, and no collection has.
const LIST_OF_RUN: &str = "duplicates.";

/// The greatest commit that there is a manifest of.
///
/// # Errors
/// [`Error::NotACollection`] if there is none, and [`Error::Io`].
pub fn newest(storage: &dyn Storage) -> Result<u64> {
    let of = |name: &String| match Name::parse(name) {
        Some(Name::Manifest(commit)) => Some(commit),
        _ => None,
    };
    // Names that come and go while a folder is listed may be passed over: one list without any proves little.
    for _ in 0..ATTEMPTS {
        let names = storage.names().map_err(|e| Error::io(&folder(storage), "list", e))?;
        if let Some(commit) = names.iter().filter_map(of).max() {
            return Ok(commit);
        }
        if names.is_empty() {
            return Err(Error::NotACollection(folder(storage), "nothing has been loaded into it".to_owned()));
        }
        if names.iter().any(|name| name.starts_with(LIST_OF_RUN)) {
            let what = "it is what `alike dedup` has written; `alike show` and `alike explain` answer questions about it while its summary.json is there";
            return Err(Error::NotACollection(folder(storage), what.to_owned()));
        }
        if !names.iter().any(|name| Name::parse(name).is_some()) {
            break;
        }
    }
    Err(Error::NotACollection(folder(storage), "there is no manifest in it".to_owned()))
}

/// Whether a name shows that `commit` is the last one: the manifest before it, or, where there is none, the other name by
/// which its own was published. Both go only when a later commit is acknowledged.
pub(in crate::collection) fn is_vouched(names: &[Name], commit: u64) -> bool {
    let before = commit.checked_sub(1).map(Name::Manifest);
    before.is_some_and(|before| names.contains(&before))
        || names.iter().any(|name| name.is_unfinished(commit))
}

/// Refuses the greatest commit that there is a manifest of, if there was a later one whose manifest is lost: nothing vouches
/// for it, and there are files of a later one. Also if what has the name of a later manifest is no regular file.
///
/// # Errors
/// [`Error::Damaged`], also if a later commit is published at this moment; [`Error::Io`].
pub(in crate::collection) fn check_last(storage: &dyn Storage, manifest: &Manifest) -> Result<()> {
    let is_manifest = |name: &&String| matches!(Name::parse(name), Some(Name::Manifest(_)));
    if let Some(name) = strays(storage, manifest, None)?.iter().find(is_manifest) {
        return Err(stray(storage, name));
    }
    let names = names_in(storage)?;
    let commit = manifest.commit;
    let under_way = |name: &Name| matches!(name, Name::Checkpoint(of, _) if *of == commit + 1);
    if is_vouched(&names, commit) || names.iter().any(under_way) {
        return Ok(());
    }
    let later = names.iter().find(|name| match name {
        Name::Run(id) | Name::Kept(id, _) => *id >= manifest.next_run,
        Name::Changes(of) | Name::Refused(of, _) | Name::Checkpoint(of, _) => *of > commit,
        Name::Unfinished(..) | Name::Manifest(_) | Name::Tidied(..) => false,
    });
    later.map_or(Ok(()), |later| {
        let lost = storage.path(&Name::Manifest(commit + 1).to_string());
        let what = format!(
            "the file is missing, or none, and there is {later} of its commit; if that commit was never reported, \
             `alike load {} --abandon` discards what there is of it",
            folder(storage).display()
        );
        Err(Error::damaged(&lost, 0, what))
    })
}

/// The names that a commit after `last` may give to its files, and that of the lock, where what has them is no regular file. No
/// collection has put it there, and no commit gets past it. What is `pending` may have files elsewhere, by links.
pub(in crate::collection) fn strays(
    storage: &dyn Storage,
    last: &Manifest,
    pending: Option<&Checkpoint>,
) -> Result<Vec<String>> {
    let mut names = storage.strays().map_err(|e| Error::io(&folder(storage), "list", e))?;
    names.retain(|name| match Name::parse(name) {
        None => name == LOCK,
        Some(name) => {
            name.is_to_come(last.commit + 1, last.next_run)
                && !pending.is_some_and(|pending| pending.names(name))
        }
    });
    Ok(names)
}

/// The damage that such a name is.
pub(in crate::collection) fn stray(storage: &dyn Storage, name: &str) -> Error {
    Error::damaged(&storage.path(name), 0, IN_THE_WAY)
}

/// Refuses to write where such a name is: the work would be done before it is met.
///
/// # Errors
/// [`Error::Damaged`] and [`Error::Io`].
pub(in crate::collection) fn check_strays(
    storage: &dyn Storage,
    last: &Manifest,
    pending: Option<&Checkpoint>,
) -> Result<()> {
    strays(storage, last, pending)?.first().map_or(Ok(()), |name| Err(stray(storage, name)))
}

/// The manifest before that of `commit`, if it is still there.
pub(in crate::collection) fn previous(storage: &dyn Storage, commit: u64) -> Result<Option<Manifest>> {
    commit.checked_sub(1).map_or(Ok(None), |before| read_if_there(storage, before))
}

/// The manifest of `commit`, if it is still there.
pub(in crate::collection) fn read_if_there(storage: &dyn Storage, commit: u64) -> Result<Option<Manifest>> {
    match Manifest::read(storage, commit) {
        Err(error) if is_missing(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// Refuses a manifest that is of another collection than the one before it.
pub(in crate::collection) fn check_same(
    storage: &dyn Storage,
    manifest: &Manifest,
    before: &Manifest,
) -> Result<()> {
    if manifest.collection == before.collection {
        return Ok(());
    }
    let what = format!(
        "a manifest of collection {:016x}, after one of {:016x}",
        manifest.collection, before.collection
    );
    Err(Error::damaged(&storage.path(&Name::Manifest(manifest.commit).to_string()), 0, what))
}

/// Whether a file was not there.
pub(in crate::collection) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

/// Makes damage of it that a file is missing, although nobody has published anything newer.
pub(in crate::collection) fn missing(error: Error) -> Error {
    match error {
        Error::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Error::damaged(&path, 0, "the file is missing")
        }
        error => error,
    }
}
