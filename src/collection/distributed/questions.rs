//! What the processes of a job ask each other about their local runs, and the answers.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::collection::commit::names::Name;
use crate::error::{Error, Result};
use crate::hex;
use crate::limits::{MAX_ANSWERED_FILES, MAX_FETCH_BYTES, sized};
use crate::mesh::{Answer, Mesh};
use crate::storage::{Reader, found_folder};

/// What a process asks another one of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) enum Question {
    /// How long it is, and how it ends.
    Open { collection: u64, name: String },
    /// Some bytes of it.
    Bytes { collection: u64, name: String, offset: u64, length: usize },
}

/// The folder with a process's runs of a collection, in the folder that it was given for such.
pub(in crate::collection) fn folder_in(state: &Path, collection: u64) -> PathBuf {
    state.join(format!("collection-{}", hex::text(&collection)))
}

/// What is known of a run that another process has opened: its length, and the bytes at its end, where the directory is.
#[derive(Debug)]
pub(in crate::collection) struct Opened {
    pub(in crate::collection) bytes: u64,
    end: Vec<u8>,
}

/// Bytes of a run's end that are sent when it is opened: the last page, the directory, and some fences.
const END: u64 = sized(16 << 10, 2 << 10);

impl Opened {
    fn of(reader: &dyn Reader) -> io::Result<Opened> {
        let bytes = reader.len()?;
        let mut end = vec![0; bytes.min(END) as usize];
        reader.read_exact_at(&mut end, bytes - bytes.min(END))?;
        Ok(Opened { bytes, end })
    }

    fn to_bytes(&self) -> Vec<u8> {
        [&self.bytes.to_le_bytes(), &self.end[..]].concat()
    }

    /// What [`Opened::to_bytes`] made `bytes` of.
    pub(in crate::collection) fn of_bytes(bytes: &[u8]) -> io::Result<Opened> {
        let parts = bytes.split_first_chunk::<8>();
        let (length, end) =
            parts.ok_or_else(|| io::Error::other("another process says too little of a run"))?;
        Ok(Opened { bytes: u64::from_le_bytes(*length), end: end.to_vec() })
    }

    /// So many bytes from `offset` on, if they are among those at the end.
    pub(in crate::collection) fn at_end(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let first = self.bytes - self.end.len() as u64;
        let from = usize::try_from(offset.checked_sub(first)?).ok()?;
        self.end.get(from..from.checked_add(length)?)
    }
}

/// The first byte of an answer: it is one, or else what kind of failure the rest tells of.
const DONE: u8 = 0;
const FAILED: u8 = 1;
const MISSING: u8 = 2;
const TOO_SHORT: u8 = 3;

/// What another process answers.
pub(in crate::collection) fn ask(mesh: &Mesh, process: usize, question: &Question) -> io::Result<Vec<u8>> {
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
/// of the collection. All questions of a job are about one collection.
///
/// # Errors
/// [`Error::Io`] if the system starts no thread for it.
pub fn answer_about_runs(mesh: &Mesh, folder: Option<&Path>, state: &Path) -> Result<()> {
    let (folder, own) = (folder.map(Path::to_path_buf), state.to_path_buf());
    let runs = Runs { folder, state: own, collection: OnceLock::new(), files: Mutex::default() };
    let answer: Arc<Answer> = Arc::new(move |_, question| match runs.answer(question) {
        Ok(bytes) => [&[DONE], &bytes[..]].concat(),
        Err(error) => {
            let kind = match error.kind() {
                ErrorKind::NotFound => MISSING,
                ErrorKind::UnexpectedEof => TOO_SHORT,
                _ => FAILED,
            };
            [&[kind], error.to_string().as_bytes()].concat()
        }
    });
    mesh.answer(&answer).map_err(|e| Error::io(state, "answer questions about", e))
}

/// The runs that this process answers for.
struct Runs {
    folder: Option<PathBuf>,
    state: PathBuf,
    collection: OnceLock<u64>,
    /// Those that were opened: they stay good when their names are removed.
    files: Mutex<BTreeMap<String, Arc<dyn Reader>>>,
}

impl Runs {
    fn answer(&self, question: &[u8]) -> io::Result<Vec<u8>> {
        match serde_json::from_slice(question)? {
            Question::Open { collection, name } => {
                Opened::of(&*self.find(collection, &name)?).map(|o| o.to_bytes())
            }
            Question::Bytes { collection, name, offset, length } => {
                let mut bytes = vec![0; length.min(MAX_FETCH_BYTES)];
                self.find(collection, &name)?.read_exact_at(&mut bytes, offset)?;
                Ok(bytes)
            }
        }
    }

    /// A run of the collection that the job is about.
    fn find(&self, collection: u64, name: &str) -> io::Result<Arc<dyn Reader>> {
        let missing = || io::Error::new(ErrorKind::NotFound, format!("{name}: there is no such run"));
        let is_run = matches!(Name::parse(name), Some(Name::Run(_) | Name::Kept(..)));
        if !is_run || *self.collection.get_or_init(|| collection) != collection {
            return Err(missing());
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(name) {
            return Ok(Arc::clone(file));
        }
        for folder in self.folder.iter().chain([&folder_in(&self.state, collection)]) {
            let Some(folder) = found_folder(folder).map_err(io::Error::other)? else { continue };
            let file: Arc<dyn Reader> = match folder.open(name) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                file => Arc::from(file?),
            };
            while files.len() >= MAX_ANSWERED_FILES {
                files.pop_first();
            }
            files.insert(name.to_owned(), Arc::clone(&file));
            return Ok(file);
        }
        Err(missing())
    }
}
