//! The files of a collection in the folders of several processes: each keeps the runs that it writes where only it sees
//! them, and reads those of the others by asking.
//!
//! All but runs is in the folder of process 0. The runs of another process are in a folder of its own, named after the
//! collection, in the folder that its user gave for it. What is asked and answered is in [`super::questions`].

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::Name;
use crate::collection::commit::snapshot::newest;
use crate::collection::distributed::questions::{Opened, Question, ask, folder_in};
use crate::collection::distributed::stretches::Stretches;
use crate::error::Result;
use crate::limits::{MAX_ANSWERED_FILES, MAX_FETCH_BYTES, MAX_STRETCH_BYTES};
use crate::mesh::Mesh;
use crate::peers::Peers;
use crate::storage::{FileWriter, Lock, Reader, Storage, found_folder, made_folder};

/// A collection of which this process sees a part, and asks the others for the rest. What it writes goes to its own part.
pub struct Scattered {
    own: Arc<dyn Storage>,
    /// The folder with the runs that this process wrote when it was not process 0.
    state: Option<PathBuf>,
    mesh: Option<Arc<Mesh>>,
    known: OnceLock<Known>,
    /// What was found with other processes, as far as it is remembered. It never changes: no two runs ever have one name.
    remote: Mutex<BTreeMap<String, RemoteFile>>,
    stretches: Arc<Stretches>,
}

/// What is known once there is a manifest.
struct Known {
    collection: u64,
    also: Option<Arc<dyn Storage>>,
}

impl Scattered {
    /// A collection as process 0 sees it: its folder, then its own part of `state`, then those of the other processes of
    /// the job, if it has any.
    pub fn leading(folder: Arc<dyn Storage>, state: &Path, mesh: Option<Arc<Mesh>>) -> Scattered {
        Scattered::new(folder, Some(state.to_path_buf()), mesh, OnceLock::new())
    }

    /// A collection as another process sees it, whose runs go to `state`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn assisting(state: &Path, collection: u64, mesh: Arc<Mesh>) -> Result<Scattered> {
        let own = made_folder(&folder_in(state, collection))?;
        let known = OnceLock::from(Known { collection, also: None });
        Ok(Scattered::new(own, None, Some(mesh), known))
    }

    fn new(
        own: Arc<dyn Storage>,
        state: Option<PathBuf>,
        mesh: Option<Arc<Mesh>>,
        known: OnceLock<Known>,
    ) -> Scattered {
        Scattered { own, state, mesh, known, remote: Mutex::default(), stretches: Arc::default() }
    }

    /// Which collection it is, as its manifest says.
    fn known(&self) -> io::Result<&Known> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let manifest = newest(&*self.own).and_then(|commit| Manifest::read(&*self.own, commit));
        let collection = manifest.map_err(io::Error::other)?.collection;
        let folder = self.state.as_ref().map(|state| folder_in(state, collection));
        let also = folder.map_or(Ok(None), |folder| found_folder(&folder)).map_err(io::Error::other)?;
        let known = Known { collection, also };
        Ok(self.known.get_or_init(|| known))
    }

    /// The folder with the runs that this process wrote when it was not process 0, if it is there.
    fn also(&self) -> Option<&Arc<dyn Storage>> {
        self.known().ok()?.also.as_ref()
    }

    /// A run that another process has: who wrote it is asked first.
    fn remote_file(&self, name: &str) -> io::Result<Option<RemoteFile>> {
        let Some(mesh) = &self.mesh else { return Ok(None) };
        if let Some(remote) = self.remote().get(name) {
            return Ok(Some(remote.clone()));
        }
        let collection = self.known()?.collection;
        let writer = match Name::parse(name) {
            Some(Name::Kept(_, keeper)) => keeper.process as usize,
            _ => 0,
        };
        let others = (0..mesh.processes()).filter(|process| *process != writer);
        for process in [writer].into_iter().chain(others) {
            if process == mesh.process() || process >= mesh.processes() {
                continue;
            }
            let question = Question::Open { collection, name: name.to_owned() };
            let opened = match ask(mesh, process, &question) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                answer => Opened::of_bytes(&answer?)?,
            };
            let (mesh, stretches) = (Arc::clone(mesh), Arc::clone(&self.stretches));
            let (name, opened) = (name.to_owned(), Arc::new(opened));
            let remote = RemoteFile { mesh, process, collection, name: name.clone(), opened, stretches };
            let mut known = self.remote();
            while known.len() >= MAX_ANSWERED_FILES {
                known.pop_first();
            }
            known.insert(name, remote.clone());
            return Ok(Some(remote));
        }
        Ok(None)
    }

    fn remote(&self) -> MutexGuard<'_, BTreeMap<String, RemoteFile>> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Scattered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scattered")
            .field("own", &self.own)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

fn is_run(name: &str) -> bool {
    matches!(Name::parse(name), Some(Name::Run(_) | Name::Kept(..)))
}

impl Storage for Scattered {
    /// Those of this process's own part.
    fn names(&self) -> io::Result<Vec<String>> {
        self.own.names()
    }

    /// Those of this process's own part.
    fn strays(&self) -> io::Result<Vec<String>> {
        self.own.strays()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        self.own.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        let absent = |found: &io::Result<Box<dyn Reader>>| {
            is_run(name) && found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let mut found = self.own.open(name);
        if absent(&found)
            && let Some(also) = &self.known()?.also
        {
            found = also.open(name);
        }
        if absent(&found)
            && let Some(remote) = self.remote_file(name)?
        {
            found = Ok(Box::new(remote));
        }
        found
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.own.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.own.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.own.sync_names()
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.own.lock()
    }

    /// Of a file that another process has, where it would be here, and who has it.
    fn path(&self, name: &str) -> PathBuf {
        let own = self.own.path(name);
        if let Some(remote) = self.remote().get(name) {
            let mut path = own.into_os_string();
            path.push(format!(" of process {} ({})", remote.process, remote.mesh.address(remote.process)));
            return path.into();
        }
        match Name::parse(name) {
            Some(Name::Kept(..)) if self.state.is_some() => self.also().map_or(own, |also| also.path(name)),
            _ => own,
        }
    }

    fn is_scattered(&self) -> bool {
        true
    }

    fn beside(&self) -> Option<Arc<dyn Storage>> {
        self.also().cloned()
    }
}

/// A file that another process has.
#[derive(Clone)]
struct RemoteFile {
    mesh: Arc<Mesh>,
    process: usize,
    collection: u64,
    name: String,
    opened: Arc<Opened>,
    stretches: Arc<Stretches>,
}

impl RemoteFile {
    /// What the other process has in so many bytes from `offset` on.
    fn fetch(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let (collection, name) = (self.collection, self.name.clone());
        let read = ask(&self.mesh, self.process, &Question::Bytes { collection, name, offset, length })?;
        if read.len() == length {
            return Ok(read);
        }
        Err(io::Error::other(format!("{} bytes of {length} from another process", read.len())))
    }
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of process {}", self.name, self.process)
    }
}

impl Reader for RemoteFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.opened.bytes)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_before(bytes, offset, self.opened.bytes)
    }

    /// Fetches ahead as far as `end`: what lies behind may be the text of documents, which crosses only to who wants it.
    fn read_exact_before(&self, bytes: &mut [u8], offset: u64, end: u64) -> io::Result<()> {
        if let Some(found) = self.opened.at_end(offset, bytes.len()) {
            bytes.copy_from_slice(found);
            return Ok(());
        }
        if bytes.len() < MAX_STRETCH_BYTES {
            let file = (self.name.as_str(), end.min(self.opened.bytes));
            return self.stretches.read(file, offset, bytes, |offset, length| self.fetch(offset, length));
        }
        for (at, piece) in (0..).zip(bytes.chunks_mut(MAX_FETCH_BYTES)) {
            piece.copy_from_slice(&self.fetch(offset + at * MAX_FETCH_BYTES as u64, piece.len())?);
        }
        Ok(())
    }
}

/// The files of a collection as a follower sees them: its own part, if each process has one, else the folder of all.
pub(in crate::collection) fn follower_storage(
    collection: u64,
    peers: &Peers,
    folder: &dyn Fn() -> Result<Arc<dyn Storage>>,
) -> Result<Arc<dyn Storage>> {
    let Some(state) = peers.state() else { return folder() };
    Ok(Arc::new(Scattered::assisting(state, collection, peers.share())?))
}
