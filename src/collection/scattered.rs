//! The files of a collection in the folders of several processes: each keeps the runs that it writes where only it sees
//! them, and reads those of the others by asking.
//!
//! All but runs is in the folder of process 0. The runs of another process are in a folder of its own, named after the
//! collection, in the folder that its user gave for it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::hex;
use super::manifest::Manifest;
use super::names::Name;
use super::snapshot::newest;
use crate::error::{Error, Result};
use crate::limits::MAX_FETCH_BYTES;
use crate::mesh::{Answer, Mesh};
use crate::storage::{Local, Lock, Reader, Storage, Writer};

/// A collection of which this process sees a part, and asks the others for the rest. What it writes goes to its own part.
pub struct Scattered {
    own: Arc<dyn Storage>,
    /// The folder with the runs that this process wrote when it was not process 0.
    state: Option<PathBuf>,
    mesh: Option<Arc<Mesh>>,
    known: OnceLock<Known>,
    /// Which process has a run.
    places: Mutex<BTreeMap<String, usize>>,
}

/// What is known once there is a manifest.
struct Known {
    collection: u64,
    also: Option<Local>,
}

/// What a process asks another one.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    /// Which runs of a collection are there.
    Names { collection: u64 },
    /// How long a file is.
    Length { collection: u64, name: String },
    /// Some bytes of it.
    Bytes { collection: u64, name: String, offset: u64, length: usize },
}

/// The folder with a process's runs of a collection, in the folder that it was given for such.
fn folder_in(state: &Path, collection: u64) -> PathBuf {
    state.join(format!("collection-{}", hex::text(&collection)))
}

impl Scattered {
    /// A collection as process 0 sees it: its folder, then its own part of `state`, then those of the other processes of
    /// the job, if it has any.
    pub fn leading(folder: Arc<dyn Storage>, state: &Path, mesh: Option<Arc<Mesh>>) -> Scattered {
        let (known, places) = (OnceLock::new(), Mutex::default());
        Scattered { own: folder, state: Some(state.to_path_buf()), mesh, known, places }
    }

    /// A collection as another process sees it, whose runs go to `state`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn assisting(state: &Path, collection: u64, mesh: Arc<Mesh>) -> Result<Scattered> {
        let own = Arc::new(Local::create(&folder_in(state, collection))?);
        let known = OnceLock::from(Known { collection, also: None });
        Ok(Scattered { own, state: None, mesh: Some(mesh), known, places: Mutex::default() })
    }

    /// The folder with a process's runs of a collection in the folder that it was given for such, if it is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn folder(state: &Path, collection: u64) -> Result<Option<Local>> {
        let folder = folder_in(state, collection);
        folder.is_dir().then(|| Local::open(&folder)).transpose()
    }

    /// Which collection it is, as its manifest says.
    fn known(&self) -> io::Result<&Known> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let manifest = newest(&*self.own).and_then(|commit| Manifest::read(&*self.own, commit));
        let collection = manifest.map_err(io::Error::other)?.collection;
        let also = self.state.as_ref().map(|state| Scattered::folder(state, collection)).transpose();
        let also = also.map_err(io::Error::other)?.flatten();
        let known = Known { collection, also };
        Ok(self.known.get_or_init(|| known))
    }

    /// The process that has a run, and how many bytes it has.
    fn elsewhere(&self, name: &str) -> io::Result<Option<Away>> {
        let Some(mesh) = &self.mesh else { return Ok(None) };
        let collection = self.known()?.collection;
        if !self.places().contains_key(name) {
            for process in (0..mesh.processes()).filter(|process| *process != mesh.process()) {
                let names = ask(mesh, process, &Question::Names { collection })?;
                let names: Vec<String> = serde_json::from_slice(&names)?;
                let mut places = self.places();
                names.into_iter().for_each(|name| {
                    places.entry(name).or_insert(process);
                });
            }
        }
        let Some(process) = self.places().get(name).copied() else { return Ok(None) };
        let away = Away { mesh: Arc::clone(mesh), process, collection, name: name.to_owned() };
        Ok(Some(away))
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
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

fn absent<T>(found: &io::Result<T>) -> bool {
    found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

impl Storage for Scattered {
    /// Those of this process's own part.
    fn names(&self) -> io::Result<Vec<String>> {
        self.own.names()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Writer>> {
        self.own.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        let mut found = self.own.open(name);
        if absent(&found)
            && is_run(name)
            && let Some(also) = &self.known()?.also
        {
            found = also.open(name);
        }
        if absent(&found)
            && is_run(name)
            && let Some(away) = self.elsewhere(name)?
        {
            return Ok(Box::new(away));
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
        let mut path = self.own.path(name).into_os_string();
        if let (Some(process), Some(mesh)) = (self.places().get(name), &self.mesh) {
            path.push(format!(" of process {process} ({})", mesh.address(*process)));
        }
        path.into()
    }
}

/// A file that another process has.
struct Away {
    mesh: Arc<Mesh>,
    process: usize,
    collection: u64,
    name: String,
}

impl fmt::Debug for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of process {}", self.name, self.process)
    }
}

impl Reader for Away {
    fn len(&self) -> io::Result<u64> {
        let question = Question::Length { collection: self.collection, name: self.name.clone() };
        Ok(serde_json::from_slice(&ask(&self.mesh, self.process, &question)?)?)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let Away { collection, .. } = *self;
        for (at, piece) in (0..).zip(bytes.chunks_mut(MAX_FETCH_BYTES)) {
            let (offset, length) = (offset + at * MAX_FETCH_BYTES as u64, piece.len());
            let question = Question::Bytes { collection, name: self.name.clone(), offset, length };
            let read = ask(&self.mesh, self.process, &question)?;
            if read.len() != length {
                return Err(io::Error::other(format!(
                    "{} bytes of {length} from another process",
                    read.len()
                )));
            }
            piece.copy_from_slice(&read);
        }
        Ok(())
    }
}

/// The first byte of an answer: it is one, or else what kind of failure the rest tells of.
const DONE: u8 = 0;
const FAILED: u8 = 1;
const MISSING: u8 = 2;
const TOO_SHORT: u8 = 3;

/// What another process answers.
fn ask(mesh: &Mesh, process: usize, question: &Question) -> io::Result<Vec<u8>> {
    let question = serde_json::to_vec(question)?;
    let mut answer = mesh.ask(process, &question).map_err(io::Error::other)?;
    let kind = match answer.first() {
        Some(&DONE) => {
            answer.remove(0);
            return Ok(answer);
        }
        Some(&MISSING) => ErrorKind::NotFound,
        Some(&TOO_SHORT) => ErrorKind::UnexpectedEof,
        _ => ErrorKind::Other,
    };
    let what = String::from_utf8_lossy(answer.get(1..).unwrap_or_default()).into_owned();
    Err(io::Error::new(kind, format!("process {process} ({}) says: {what}", mesh.address(process))))
}

/// Answers what the other processes of the job ask about runs, from now on: in process 0 also of those in `folder`, that
/// of the collection.
///
/// # Errors
/// [`Error::Io`] if the system starts no thread for it.
pub fn answer_about_runs(mesh: &Mesh, folder: Option<&Path>, state: &Path) -> Result<()> {
    let (folder, own) = (folder.map(Path::to_path_buf), state.to_path_buf());
    let answer = move |_: usize, question: &[u8]| match answered(question, folder.as_deref(), &own) {
        Ok(bytes) => [&[DONE], &bytes[..]].concat(),
        Err(error) => {
            let kind = match error.kind() {
                ErrorKind::NotFound => MISSING,
                ErrorKind::UnexpectedEof => TOO_SHORT,
                _ => FAILED,
            };
            [&[kind], error.to_string().as_bytes()].concat()
        }
    };
    let answer: Arc<Answer> = Arc::new(answer);
    mesh.answer(&answer).map_err(|e| Error::io(state, "answer questions about", e))
}

/// The answer to a question.
fn answered(question: &[u8], folder: Option<&Path>, state: &Path) -> io::Result<Vec<u8>> {
    let question: Question = serde_json::from_slice(question)?;
    let (Question::Names { collection }
    | Question::Length { collection, .. }
    | Question::Bytes { collection, .. }) = question;
    let own = folder_in(state, collection);
    let folders = folder.map(Path::to_path_buf).into_iter().chain([own]).filter(|folder| folder.is_dir());
    let folders = folders.map(|folder| Local::open(&folder)).collect::<Result<Vec<Local>>>();
    let folders = folders.map_err(io::Error::other)?;
    match question {
        Question::Names { .. } => {
            let mut names = Vec::new();
            for folder in folders {
                names.extend(folder.names()?.into_iter().filter(|name| is_run(name)));
            }
            Ok(serde_json::to_vec(&names)?)
        }
        Question::Length { name, .. } => Ok(serde_json::to_vec(&find(&folders, &name)?.len()?)?),
        Question::Bytes { name, offset, length, .. } => {
            let mut bytes = vec![0; length.min(MAX_FETCH_BYTES)];
            find(&folders, &name)?.read_exact_at(&mut bytes, offset)?;
            Ok(bytes)
        }
    }
}

fn is_run(name: &str) -> bool {
    matches!(Name::parse(name), Some(Name::Run(_) | Name::Kept(..)))
}

/// A run in the first of the folders that have it.
fn find(folders: &[Local], name: &str) -> io::Result<Box<dyn Reader>> {
    let missing = || io::Error::new(ErrorKind::NotFound, format!("{name}: there is no such run"));
    if !is_run(name) {
        return Err(missing());
    }
    let opened = folders.iter().map(|folder| folder.open(name));
    opened.into_iter().find(|found| !absent(found)).unwrap_or_else(|| Err(missing()))
}
