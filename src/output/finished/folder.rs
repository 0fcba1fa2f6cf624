//! The folder that a run has written, read again.

use crate::limits::sized;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::record::{FORM, INPUTS, InputRow, RunRecord};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::read::Source;

/// The figures of a run.
const SUMMARY: &str = "summary.json";

/// An output folder of `dedup`.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The folder, as it was named.
    pub path: PathBuf,
    /// The same, wherever this process is.
    pub(super) folder: PathBuf,
    /// The version of alike that wrote it.
    pub version: String,
    /// The configuration of the run.
    pub config: Config,
    /// How it was asked.
    pub record: RunRecord,
    /// The files that it read, protected ones first.
    pub inputs: Vec<InputRow>,
    /// Whether keys were ignored as common, so that documents that are alike need not have met.
    pub capped: bool,
}

/// What is looked at of `summary.json`.
#[derive(Deserialize)]
struct SummaryRead {
    version: String,
    configuration: serde_json::Value,
    run: Option<serde_json::Value>,
    common_shingles: CommonRead,
}

#[derive(Deserialize)]
struct CommonRead {
    keys: u64,
}

impl FinishedRun {
    /// Whether a folder could be one: at least it is no collection, and has figures.
    pub fn is_at(path: &Path) -> bool {
        path.join(SUMMARY).is_file()
    }

    /// Refuses an output of another command than `dedup`.
    ///
    /// # Errors
    /// [`Error::OutputOfAnother`].
    pub fn refuse_others(path: &Path) -> Result<()> {
        let others = [
            ("decontaminate", "contaminated", "each line has the document, the item and the passage"),
            ("passages", "passages", "each line has a passage and where it stands"),
            ("repetition", "repetition", "each line has a document and what it repeats"),
        ];
        let there = others.iter().find(|(_, list, _)| path.join(format!("{list}.jsonl")).is_file());
        there.map_or(Ok(()), |(command, list, what)| {
            Err(Error::OutputOfAnother {
                path: path.to_path_buf(),
                command,
                advice: format!("look into its {list}.jsonl: {what}"),
            })
        })
    }

    /// Opens the folder that a run has written.
    ///
    /// # Errors
    /// [`Error::NotAnOutput`] if it is none of `dedup`, or not whole; [`Error::OtherOutput`] if another version wrote it that
    /// kept other things; [`Error::OutputOfAnother`] of `export`; [`Error::Io`].
    pub fn open(path: &Path) -> Result<FinishedRun> {
        let not = |why: &str| Error::NotAnOutput(path.to_path_buf(), why.to_owned());
        let text = match fs::read(path.join(SUMMARY)) {
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_dir() => {
                return Err(not("it has no summary.json"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(not("there is no such folder")),
            read => read.map_err(|e| Error::io(&path.join(SUMMARY), "read", e))?,
        };
        let summary: SummaryRead = serde_json::from_slice(&text)
            .map_err(|_| not("its summary.json is not that of a run of dedup"))?;
        let SummaryRead { version, configuration, run, common_shingles } = summary;
        let other = |what: &str| Error::OtherOutput {
            path: path.to_path_buf(),
            version: version.clone(),
            what: what.to_owned(),
        };
        let run = match run {
            Some(run) => run,
            None if version == env!("CARGO_PKG_VERSION") => {
                return Err(Error::OutputOfAnother {
                    path: path.to_path_buf(),
                    command: "export",
                    advice: "ask the collection that it was exported from".to_owned(),
                });
            }
            None => return Err(other("it does not say what was read, as an earlier alike wrote it")),
        };
        if run["form"].as_u64() != Some(u64::from(FORM)) {
            return Err(other("it says what was read in a form that this one does not know"));
        }
        let unknown = |_| other("it says things that this one does not know");
        let record: RunRecord = serde_json::from_value(run).map_err(unknown)?;
        let config: Config = serde_json::from_value(configuration).map_err(unknown)?;
        config.validate().map_err(|_| not("the configuration in its summary.json is none"))?;
        let mut inputs = Vec::new();
        let found = FinishedRun {
            path: path.to_path_buf(),
            folder: std::path::absolute(path).map_err(|e| Error::io(path, "find", e))?,
            version: version.clone(),
            config,
            record,
            inputs: Vec::new(),
            capped: common_shingles.keys > 0,
        };
        found.rows(INPUTS, &mut |row| {
            inputs.push(row);
            Ok(())
        })?;
        Ok(FinishedRun { inputs, ..found })
    }

    /// What its `summary.json` says, all of it.
    ///
    /// # Errors
    /// [`Error::NotAnOutput`] and [`Error::Io`].
    #[cfg(feature = "serve")]
    pub fn figures(&self) -> Result<serde_json::Value> {
        let path = self.folder.join(SUMMARY);
        let text = fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        serde_json::from_slice(&text).map_err(|_| self.damaged(SUMMARY, 1))
    }

    /// What tells its `summary.json`, which is written last, from that of another run: the file, when it was written, and its
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    #[cfg(feature = "serve")]
    pub fn written(&self) -> Result<(u64, Option<std::time::SystemTime>, u64)> {
        use std::os::unix::fs::MetadataExt;
        let path = self.folder.join(SUMMARY);
        let told = fs::metadata(&path).map_err(|e| Error::io(&path, "read", e))?;
        Ok((told.ino(), told.modified().ok(), told.len()))
    }

    /// Refuses a folder that another version wrote: what it would find need not be the same.
    ///
    /// # Errors
    /// [`Error::OtherOutput`].
    pub fn require_this_version(&self) -> Result<()> {
        if self.version == env!("CARGO_PKG_VERSION") {
            return Ok(());
        }
        Err(Error::OtherOutput {
            path: self.path.clone(),
            version: self.version.clone(),
            what: "another version need not find the same".to_owned(),
        })
    }

    /// Refuses a folder of which an input cannot be found by what is kept of its name.
    ///
    /// # Errors
    /// [`Error::InputGone`].
    pub fn require_names(&self) -> Result<()> {
        let why = "what follows the question mark of its address is not kept, so it cannot be read again; fetch it into a file";
        self.record.nameless().map_or(Ok(()), |name| Err(self.gone(Path::new(name), why)))
    }

    /// Refuses a folder of which an input was a stream, when all are needed.
    ///
    /// # Errors
    /// [`Error::InputGone`].
    pub fn require_no_stream(&self) -> Result<()> {
        if self.record.has_stream() {
            return Err(self.gone(Path::new("-"), "standard input cannot be read again; keep it in a file"));
        }
        Ok(())
    }

    /// Whether files of archives were read as inputs of their own: these are named behind the archive.
    pub fn has_members(&self) -> bool {
        let files: BTreeSet<&str> = self.inputs.iter().map(|row| &*row.file).collect();
        let is_member = |file: &&str| file.match_indices('/').any(|(at, _)| files.contains(&file[..at]));
        files.iter().any(is_member)
    }

    /// Holds files that were found again against those that were read; those that are none of them are left out, or refused if
    /// `all` must be as they were. Streams and collections are not asked for.
    ///
    /// # Errors
    /// [`Error::InputGone`] and [`Error::InputChanged`], which name the first file that is not as it was.
    pub fn check_inputs(&self, sources: &mut Vec<Source>, all: bool) -> Result<()> {
        let files = || self.inputs.iter().filter(|row| !row.stream && !row.collection);
        let there: BTreeMap<&str, u64> =
            sources.iter().map(|source| (&*source.shown, source.bytes)).collect();
        for row in files() {
            match there.get(&*row.file) {
                None => return Err(self.gone(Path::new(&row.file), "is gone; put it back")),
                Some(bytes) if *bytes != row.bytes => {
                    return Err(Error::InputChanged {
                        path: row.file.clone().into(),
                        output: self.path.clone(),
                        was: row.bytes,
                        is: *bytes,
                    });
                }
                Some(_) => {}
            }
        }
        let all_known: BTreeSet<&str> = self.inputs.iter().map(|row| &*row.file).collect();
        let new = sources.iter().find(|source| source.lasting && !all_known.contains(&*source.shown));
        if let Some(new) = new.filter(|_| all) {
            return Err(self.gone(Path::new(&new.shown), "was not there then; move it away"));
        }
        let known: BTreeMap<&str, &InputRow> = files().map(|row| (&*row.file, row)).collect();
        sources.retain(|source| known.contains_key(&*source.shown));
        for source in sources {
            source.refuse_rows(known[&*source.shown].undecodable.clone());
        }
        Ok(())
    }

    /// Refuses files that were found again if one of them is gone since, or was written to.
    ///
    /// # Errors
    /// [`Error::InputGone`] names the first of them.
    #[cfg(feature = "serve")]
    pub fn check_at_hand(&self, sources: &[Source]) -> Result<()> {
        for source in sources.iter().filter(|source| source.object.is_none()) {
            let told = fs::metadata(&source.path).ok();
            let is_same = |told: fs::Metadata| {
                told.len() == source.bytes
                    && (source.modified.is_none() || told.modified().ok() == source.modified)
            };
            match told.map(is_same) {
                Some(true) => {}
                Some(false) => {
                    let why = "was written to since it was found; put it back as it was and start again";
                    return Err(self.gone(Path::new(&source.shown), why));
                }
                None => return Err(self.gone(Path::new(&source.shown), "is gone; put it back")),
            }
        }
        Ok(())
    }

    /// An input that cannot be read as it was.
    pub(super) fn gone(&self, input: &Path, why: &str) -> Error {
        Error::InputGone { path: input.to_path_buf(), output: self.path.clone(), why: why.to_owned() }
    }

    /// Hands the rows of a list of lines to `each`.
    pub(super) fn rows<T: DeserializeOwned>(
        &self,
        name: &str,
        each: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let path = self.folder.join(name);
        let failed = |e| Error::io(&path, "read", e);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.incomplete(name)),
            file => file.map_err(failed)?,
        };
        let (mut reader, mut line) = (BufReader::with_capacity(sized(1 << 18, 64), file), Vec::new());
        for number in 1.. {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            let row = serde_json::from_slice(&line).map_err(|_| self.damaged(name, number))?;
            each(row)?;
        }
        Ok(())
    }

    /// A folder that has not all that a run wrote.
    pub(super) fn incomplete(&self, name: &str) -> Error {
        Error::NotAnOutput(self.path.clone(), format!("{name} is missing in it"))
    }

    /// A list that is none.
    pub(super) fn damaged(&self, name: &str, row: u64) -> Error {
        Error::NotAnOutput(self.path.clone(), format!("row {row} of {name} is not what a run writes"))
    }
}
