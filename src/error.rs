//! What can go wrong, typed: one variant per thing a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use crate::printable::counted;

/// A failure of a run. The job turns it into a message and an exit code; nothing in `src` prints or exits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration or the command line contradicts itself or names something unknown (exit code 2).
    #[error("{0}")]
    Config(String),
    /// An input that cannot be used at all: no such file, an empty folder, a glob without match (exit code 3).
    #[error("{}: {reason}", shown(.path))]
    Input {
        /// The input as the user named it.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// An input was read, and cannot be decoded where all of it is needed to write it again (exit code 3).
    #[error("{}: {reason}", shown(.path))]
    Undecodable {
        /// The input as it is shown to people.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// Too large a share of the records was refused, or one was under `--strict` (exit code 3).
    #[error("{rejected} of {} refused ({reason}); the first: {first}", counted(*.records, "record"))]
    Refused {
        /// Records refused.
        rejected: u64,
        /// Records seen, refused ones included.
        records: u64,
        /// Which limit was passed.
        reason: String,
        /// File, line and reason of the first refused record.
        first: String,
    },
    /// The output folder exists already (exit code 2).
    #[error("{}: exists already; name another --out, or remove it first", .0.display())]
    OutputExists(PathBuf),
    /// An input is not what it was when it was read first, in this run or in an earlier one (exit code 1).
    #[error("{}: changed since it was read; run again when nothing writes to it", shown(.0))]
    Changed(PathBuf),
    /// An operation on a file failed (exit code 1).
    #[error("{}: cannot {action}: {source}", shown(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done, as a verb phrase: `read`, `create`, `rename to DIR`.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A file of a collection does not hold what was written to it (exit code 4).
    #[error(
        "{}: damaged at byte {offset}: {what}; restore the collection from a copy; `alike fsck` tells how far the \
         damage goes",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is found there, and what should be.
        what: String,
    },
    /// A file of an interrupted load does not hold what was written to it (exit code 4).
    #[error(
        "{}: damaged at byte {offset}: {what}; it belongs to an interrupted load: `alike load {} --abandon` discards that \
         load, and the last commit stays",
        .path.display(), .collection.display()
    )]
    UnfinishedDamaged {
        /// The collection.
        collection: PathBuf,
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is found there, and what should be.
        what: String,
    },
    /// A lexicon does not hold what was written to it (exit code 4).
    #[error("{}: damaged at byte {offset}: {what}; restore this lexicon from a copy, or build it again", .path.display())]
    LexiconDamaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is found there.
        what: String,
    },
    /// What was named as a lexicon is none, or not one that will do (exit code 4).
    #[error("{}: {why}", .path.display())]
    LexiconUnfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// Another process is writing to the collection (exit code 4).
    #[error("{}: another process is writing to it; run again when that has ended, or wait for it with --wait SECONDS", .0.display())]
    Locked(PathBuf),
    /// A load was interrupted after it had got somewhere (exit code 4).
    #[error(
        "{}: a load was interrupted after {}{difference}; run the same command again to finish it, or \
         `alike load {} --abandon` to discard it",
        .path.display(), counted(*.records, "record"), .path.display()
    )]
    Unfinished {
        /// The collection.
        path: PathBuf,
        /// Records of its epochs that are done.
        records: u64,
        /// How the load that was asked for differs from it, if that is known: `, and ...`.
        difference: String,
    },
    /// A collection or a lexicon was written by a later version of alike (exit code 4).
    #[error("{}: has format {found}, and this alike reads formats up to {known}; use a newer one", .path.display())]
    NewerFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this version reads.
        known: u32,
    },
    /// A collection was written by an earlier version of alike, in a form that this one does not read (exit code 4).
    #[error(
        "{}: has format {found}, and this alike reads format {known}; load its files into a new collection, or use the alike that made it",
        .path.display()
    )]
    OlderFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that this version reads.
        known: u32,
    },
    /// What was named as a collection is none, and why (exit code 4).
    #[error("{}: is no collection: {}; name the folder of one, as `alike load` makes it", .0.display(), .1)]
    NotACollection(PathBuf, String),
    /// What was named as an output of `dedup` is none, or is not whole (exit code 4).
    #[error("{}: is no whole output of `alike dedup`: {}; name the folder that --out named, with all that is in it", .0.display(), .1)]
    NotAnOutput(PathBuf, String),
    /// What was asked about is no document of the inputs of a run (exit code 2).
    #[error("no document {asked:?} in the inputs; name its id, or FILE:LINE as lists have them{advice}")]
    NoDocument {
        /// How it was named.
        asked: String,
        /// What else may be done.
        advice: &'static str,
    },
    /// An output of another command than `dedup`, where one of that was expected (exit code 4).
    #[error("{}: is an output of `alike {command}`, and only those of dedup can be asked; {advice}", .path.display())]
    OutputOfAnother {
        /// The folder.
        path: PathBuf,
        /// The command that wrote it.
        command: &'static str,
        /// Where the answer is instead.
        advice: String,
    },
    /// An output of another version of alike, which kept other things of its run (exit code 4).
    #[error("{}: was written by alike {version}: {what}; ask that one, or run dedup again", .path.display())]
    OtherOutput {
        /// The folder.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
        /// Why that matters.
        what: String,
    },
    /// An input of a finished run cannot be read again (exit code 3).
    #[error("{}: {why}, as {} is about the inputs as they were; or run dedup again", shown(.path), .output.display())]
    InputGone {
        /// The input.
        path: PathBuf,
        /// The output that it was read for.
        output: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// An input of a finished run is not what it was (exit code 3).
    #[error(
        "{}: has {}, and had {was} when it was read for {}; put the file back as it was, or run dedup again",
        shown(.path), counted(*.is, "byte"), .output.display()
    )]
    InputChanged {
        /// The input.
        path: PathBuf,
        /// The output that it was read for.
        output: PathBuf,
        /// Its bytes then.
        was: u64,
        /// Its bytes now.
        is: u64,
    },
    /// A run of a collection that a process stores locally, and that cannot be reached from here (exit code 2).
    #[error(
        "{}: this run was stored locally by process {process}, and is not found {}. Start the job with all processes that loaded the \
         collection (each with its --local-state), or first run `alike compact COLLECTION --gather --local-state DIR` with \
         all of them",
        .path.display(),
        if *.asked { "in the --local-state of any process of this job" } else { "here without --local-state DIR" }
    )]
    Unreachable {
        /// Where it would be, if it were here.
        path: PathBuf,
        /// The number of that process.
        process: u32,
        /// Whether it was looked for in more than the folder of the collection.
        asked: bool,
    },
    /// A commit that cannot be looked at again, or not any more (exit code 2).
    #[error(
        "{}: {asked} cannot be looked at again; those that can: {retained}. A load with --retain N or --retain 30d keeps more from \
         then on; `alike log {}` lists them",
        .path.display(), .path.display()
    )]
    NotRetained {
        /// The collection.
        path: PathBuf,
        /// What was asked for.
        asked: String,
        /// The numbers of those that can.
        retained: String,
    },
    /// The folder of a collection and runs that a process keeps of it have gone different ways (exit code 4).
    #[error(
        "{}: was tidied for commit {tidied}, and the folder of the collection, which is at commit {commit}, knows nothing \
         of that: it is a copy, or an old state put back; name the newest one, or another --local-state", .path.display()
    )]
    Forked {
        /// The folder with the runs.
        path: PathBuf,
        /// The commit that it belongs to.
        tidied: u64,
        /// The last commit of the collection.
        commit: u64,
    },
    /// The user asked to stop a load that had got somewhere (exit code 130).
    #[error(
        "interrupted; the checkpoint has {}, which nobody sees yet: the same command goes on from there, \
         `alike load {} --abandon` discards it",
        counted(*.records, "record"), .path.display()
    )]
    Paused {
        /// The collection.
        path: PathBuf,
        /// Records of its epochs that are done.
        records: u64,
    },
    /// The user asked to stop (exit code 130).
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The processes of a job did not meet (exit code 2 after a refusal, 5 when somebody did not come).
    #[error("{what}")]
    Join {
        /// Whether this process was refused; else others did not come in time.
        refused: bool,
        /// By whom and why, or who did not come and what was seen of them; and what to do.
        what: String,
    },
    /// Another process of the job cannot be reached any more (exit code 5).
    #[error("process {process} ({address}) was lost: {what}; run the same command again")]
    Lost {
        /// Its number.
        process: usize,
        /// Its address as the hosts file has it.
        address: String,
        /// How that was noticed.
        what: String,
    },
    /// Another process of the job gave up (exit code: the one it gave).
    #[error("process {process} ({address}) gave up: {why}")]
    GaveUp {
        /// Its number.
        process: usize,
        /// Its address as the hosts file has it.
        address: String,
        /// The exit code it gave.
        code: u8,
        /// Why, in one line.
        why: String,
    },
    /// More than a fixed limit of [`crate::limits`], or less than is needed (exit code 3).
    #[error("{0}")]
    Limit(String),
    /// A worker thread ended with a panic: a bug in alike (exit code 1).
    #[error("a worker failed: {0}; this is a bug in alike, please report it with the command line")]
    Worker(String),
}

/// A path for people; of a URL without what follows its question mark, which may let others in.
fn shown(path: &Path) -> String {
    let shown = path.display().to_string();
    let is_url = shown.starts_with("http://") || shown.starts_with("https://");
    match shown.split_once('?') {
        Some((before, _)) if is_url => before.to_owned(),
        _ => shown,
    }
}

impl Error {
    /// An I/O failure on `path` while trying to `action`; one that only carries another error is that error.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Error {
        match source.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => Error::Io { path: path.to_path_buf(), action, source },
        }
    }

    /// Damage in the file `path` of a collection.
    pub fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> Error {
        Error::Damaged { path: path.to_path_buf(), offset, what: what.into() }
    }

    /// Damage in the lexicon `path`.
    pub fn lexicon_damaged(path: &Path, offset: u64, what: impl Into<String>) -> Error {
        Error::LexiconDamaged { path: path.to_path_buf(), offset, what: what.into() }
    }

    /// A lexicon that will not do.
    pub fn lexicon_unfit(path: &Path, why: impl Into<String>) -> Error {
        Error::LexiconUnfit { path: path.to_path_buf(), why: why.into() }
    }

    /// An interrupted load in the way. `differs` says how what was asked for is another one, or nothing.
    pub fn unfinished(path: &Path, records: u64, differs: &str) -> Error {
        let difference =
            if differs.is_empty() { String::new() } else { format!(", and this is another: {differs}") };
        Error::Unfinished { path: path.to_path_buf(), records, difference }
    }

    /// A configuration error.
    pub fn config(message: impl Into<String>) -> Error {
        Error::Config(message.into())
    }

    /// An unusable input.
    pub fn input(path: &Path, reason: impl Into<String>) -> Error {
        Error::Input { path: path.to_path_buf(), reason: reason.into() }
    }

    /// An input that was read, and cannot be written again.
    pub fn undecodable(shown: &str, reason: impl Into<String>) -> Error {
        Error::Undecodable { path: shown.into(), reason: reason.into() }
    }
}

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_others_in_is_in_no_message() {
        let url = Path::new("https://h/a.gz?signature=secret");
        let io = Error::io(url, "read", io::ErrorKind::NotFound.into());
        for error in [io, Error::input(url, "none"), Error::Changed(url.into())] {
            assert!(error.to_string().starts_with("https://h/a.gz: "), "{error}");
        }
        assert!(Error::Changed("what?.txt".into()).to_string().starts_with("what?.txt: "));
    }
}
