//! What an output folder keeps of the run that wrote it, beside configuration and figures: how it was asked, and its inputs.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flow::RunDocuments;
use crate::output::rows::Rows;
use crate::read::{Delimiter, FormatHint, UndecodableRows};
use crate::threshold::Threshold;

/// The form of what is kept. Folders of another one are not asked.
pub(super) const FORM: u32 = 1;
/// The list of the inputs.
pub(super) const INPUTS: &str = "inputs.jsonl";

/// What stands for what follows the question mark of a URL.
const LEFT_OUT: &str = "?...";

/// How a run was asked: all that it takes to ask again, beside the configuration. It decides no answer of the run itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The form of this record.
    pub form: u32,
    /// The folder that relative names start from; none if its name is no text.
    pub folder: Option<String>,
    /// The command as it was typed.
    pub command: Option<String>,
    /// Files, folders, globs and `-`, as they were given.
    pub inputs: Vec<String>,
    /// The format that named files were said to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_format: Option<String>,
    /// The delimiter that they were said to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// Paths of protected documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<ProtectedInput>,
    /// Inputs whose documents are kept rather than those of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<String>,
    /// Documents of a cluster that are kept at most.
    pub keep_per_cluster: usize,
    /// Whether duplicates were related word by word.
    pub kinds: bool,
    /// The lowest threshold that a page says something about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_from: Option<Threshold>,
    /// Fields by whose values a page tells what is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_by: Vec<String>,
    /// The file of the lexicon, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<String>,
    /// Of a hundred records how many might be refused.
    pub max_rejected: u8,
}

/// A path of protected documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedInput {
    /// The name of the set.
    pub set: String,
    /// A file, a folder, a glob, a collection, or `-`.
    pub path: String,
    /// Whether it is a collection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collection: bool,
    /// The commit of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
}

/// A file that was read: a line of `inputs.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRow {
    /// The file as lists name it, or `stdin`.
    pub file: String,
    /// Its bytes on disk; of standard input those that came.
    pub bytes: u64,
    /// The protected set that it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Whether it was a stream, which cannot be read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Whether it is a collection, and no file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collection: bool,
    /// Rows that were refused when the file was written, for columns that nobody had read before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecodable: Vec<UndecodableRows>,
}

impl RunRecord {
    /// A record of nothing yet.
    pub fn new() -> RunRecord {
        RunRecord {
            form: FORM,
            folder: None,
            command: None,
            inputs: Vec::new(),
            input_format: None,
            delimiter: None,
            against: Vec::new(),
            prefer: Vec::new(),
            keep_per_cluster: 1,
            kinds: false,
            report_from: None,
            report_by: Vec::new(),
            lexicon: None,
            max_rejected: 0,
        }
    }

    /// What was known of the inputs beside their names and contents.
    ///
    /// # Errors
    /// [`Error::Config`] of a format that there is not.
    pub fn hint(&self) -> Result<FormatHint> {
        let format = self.input_format.as_deref().map(str::parse).transpose().map_err(Error::Config)?;
        Ok(FormatHint { format, delimiter: self.delimiter, shared: false, memory: None })
    }

    /// A name of inputs as it is kept: of a URL without what follows its question mark, which may let others in.
    pub fn kept_name(name: &str) -> String {
        match name.split_once('?') {
            Some((before, _)) if name.contains("://") => format!("{before}{LEFT_OUT}"),
            _ => name.to_owned(),
        }
    }

    /// The first of the inputs that cannot be found by its name, as a part of that was not kept.
    pub fn nameless(&self) -> Option<&str> {
        let all = self.inputs.iter().chain(self.against.iter().map(|set| &set.path));
        all.map(String::as_str).find(|name| name.contains("://") && name.ends_with(LEFT_OUT))
    }

    /// Whether standard input was read.
    pub fn has_stream(&self) -> bool {
        self.inputs.iter().chain(self.against.iter().map(|set| &set.path)).any(|path| path == "-")
    }
}

impl Default for RunRecord {
    fn default() -> RunRecord {
        RunRecord::new()
    }
}

/// Writes `inputs.jsonl`: the files of a run in document order, protected ones first.
///
/// # Errors
/// [`Error::Io`].
pub fn write_inputs(folder: &Path, documents: &RunDocuments) -> Result<()> {
    let mut rows = Rows::create(folder, INPUTS)?;
    let mut sets = documents.protected.iter().flat_map(|set| std::iter::repeat_n(&set.name, set.sources));
    for (file, source) in (0..).zip(&documents.inputs.sources) {
        rows.write(&InputRow {
            file: source.shown.clone(),
            bytes: source.bytes,
            against: sets.next().cloned(),
            stream: !source.can_be_found_again(),
            collection: documents.replays.contains_key(&file),
            undecodable: source.undecodable_rows().to_vec(),
        })?;
    }
    rows.finish().map(drop)
}
