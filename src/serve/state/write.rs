//! Changes: a load of records that a client has sent, or a deletion, as one commit.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use crate::collection::{Batch, CommitCommand, Report, Writer, prepare};
use crate::error::{Error, Result};
use crate::limits::REFUSED_PERCENT;
use crate::progress::Progress;
use crate::read::{Rejected, discover, unread};
use crate::resources::Resources;
use crate::scratch::{Scratch, private_folder};
use crate::serve::http::answer::HttpError;
use crate::serve::options::ServeOptions;
use crate::storage::Storage;

/// Refused records, and ids that are not there, which an answer lists.
const LISTED: usize = 100;

/// What a change came to.
#[derive(Debug, Serialize)]
pub struct ChangeReport {
    #[serde(flatten)]
    report: Report,
    /// The first records that were refused.
    first_rejected: Vec<Rejected>,
    /// Ids that were to be deleted and are not there; the report lists the first.
    unknown_ids: u64,
}

/// A file of records in a folder that goes with it.
pub struct ReceivedFile {
    pub folder: Scratch,
    pub file: std::path::PathBuf,
}

impl ReceivedFile {
    /// An empty file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new() -> Result<ReceivedFile> {
        let folder = private_folder(&std::env::temp_dir())?;
        let file = folder.path().join("records.jsonl");
        Ok(ReceivedFile { folder, file })
    }

    /// Writes deletions of ids, which stand in `field`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn of_ids(ids: &[String], field: &str) -> Result<ReceivedFile> {
        let received = ReceivedFile::new()?;
        let failed = |e| Error::io(&received.file, "write", e);
        let mut out = std::io::BufWriter::new(std::fs::File::create_new(&received.file).map_err(failed)?);
        for id in ids {
            // A key that is spelt like the whole path of a nested field stands for it.
            let row = serde_json::json!({ "op": "delete", field: id });
            writeln!(out, "{row}").map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        Ok(received)
    }
}

/// Commits what is in a file.
///
/// # Errors
/// Those of loads, as they are told to whoever asked.
pub fn change(
    storage: &Arc<dyn Storage>,
    options: &ServeOptions,
    received: &ReceivedFile,
    command: CommitCommand,
    progress: &Arc<Progress>,
) -> std::result::Result<ChangeReport, HttpError> {
    let mut writer = Writer::open(storage).map_err(told)?;
    // Another load that was cut off is for its owner to go on with.
    writer.check_finished().map_err(told)?;
    let done = commit(&mut writer, options, received, command, progress);
    if done.is_err() {
        writer.clear_up();
        if writer.pending().is_some() {
            // What is left of this load is of no use: nobody has its file any more.
            drop(writer);
            Writer::open_and_abandon(storage).map_err(told)?;
        }
    }
    done.map_err(told)
}

fn commit(
    writer: &mut Writer,
    options: &ServeOptions,
    received: &ReceivedFile,
    command: CommitCommand,
    progress: &Arc<Progress>,
) -> Result<ChangeReport> {
    let folder: &Path = received.folder.path();
    let name = received.file.to_str().map(str::to_owned);
    let name = name.ok_or_else(|| Error::config("the temporary folder has a name that is not UTF-8"))?;
    let mut discovery = discover(&[name], folder)?;
    // What documents are said to come from.
    let shown = match command {
        CommitCommand::Load => "POST /load",
        CommitCommand::Delete => "POST /delete",
        CommitCommand::Rollback => "a rollback",
    };
    for source in &mut discovery.sources {
        (source.lasting, source.shown) = (false, shown.to_owned());
    }
    let ServeOptions { workers, memory, simd, .. } = *options;
    let batch = Batch {
        command: Some(command),
        sources: discovery.sources,
        // As much as a body can be, so that nothing is left where it fails.
        epoch_bytes: Some(options.load.max(1 << 20)),
        left_out: Default::default(),
        delete_missing: false,
        lexicon: None,
        components: Default::default(),
        resources: Resources { workers, memory, simd, scratch: folder.to_path_buf(), peers: None },
    };
    let prepared = prepare(writer, batch, Arc::clone(progress))?;
    let mut rejected = unread(&discovery.unreadable);
    rejected.extend(prepared.rejected().cloned());
    if let Err(error) = refuse(&rejected, prepared.records()) {
        prepared.give_up(&error)?;
        return Err(error);
    }
    let mut report = prepared.commit_if(|_| progress.check())?;
    let unknown_ids = report.unknown.len() as u64;
    report.unknown.truncate(LISTED);
    report.rejected = Rejected::records(&rejected);
    rejected.truncate(LISTED);
    Ok(ChangeReport { report, first_rejected: rejected, unknown_ids })
}

/// Refuses records of which too many cannot be used.
fn refuse(rejected: &[Rejected], documents: u64) -> Result<()> {
    let Some(first) = Rejected::wrong(rejected).next() else { return Ok(()) };
    let count = Rejected::records(Rejected::wrong(rejected));
    if count * 100 <= (documents + count) * REFUSED_PERCENT {
        return Ok(());
    }
    let reason = format!("more than {REFUSED_PERCENT} % is a sign of a wrong field; nothing was written");
    Err(Error::Refused { rejected: count, records: documents + count, reason, first: first.to_string() })
}

/// What whoever asked for a change is told of its end.
fn told(error: Error) -> HttpError {
    let unprocessable = |what: String| HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, what);
    match error {
        Error::Locked(_) => HttpError::busy(5, "another process is changing the collection; ask again"),
        Error::Unfinished { .. } | Error::UnfinishedDamaged { .. } => HttpError::new(
            StatusCode::CONFLICT,
            "a load was interrupted, and has to be finished or abandoned before anything else can change",
        ),
        Error::Refused { .. } | Error::Limit(_) => unprocessable(error.to_string()),
        // The name of the file is nobody's business.
        Error::Input { reason, .. } => unprocessable(reason),
        Error::Interrupted | Error::Paused { .. } => {
            HttpError::busy(5, "the server is ending; nothing was changed")
        }
        error => HttpError::within(&error),
    }
}
