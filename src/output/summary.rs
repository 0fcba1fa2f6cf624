//! What a run did, in figures: `summary.json`.

use std::path::Path;

use serde::Serialize;

use super::chosen::Side;
use super::finished::RunRecord;
use super::forms::FormChoice;
use super::kinds::KindTable;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::flow::CommonKey;
use crate::remote::Fetched;

/// The figures of a run. [`Summary::new`] sets version and configuration; the job fills in the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Version of alike.
    pub version: String,
    /// The full configuration.
    pub configuration: Config,
    /// What was read.
    pub inputs: InputFigures,
    /// The sets of protected documents, if there are any. Of these nothing else is counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<AgainstFigures>,
    /// Documents accepted.
    pub documents: u64,
    /// Documents without any token; they are kept and match nothing.
    pub empty: u64,
    /// Documents with too few terms for the method: compared with equal texts only.
    pub too_few_terms: u64,
    /// The first of them, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_too_few_terms: Vec<String>,
    /// Documents without a date that is understood, where documents are compared by it: compared with each other only.
    pub missing_date: u64,
    /// The first of them, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_missing_date: Vec<String>,
    /// Documents without an id: named by file and line.
    pub missing_id: u64,
    /// Documents without the value that the keep policy compares: any that has one is kept rather.
    pub missing_value: u64,
    /// Documents without the value within which documents are compared: compared with each other only.
    #[serde(skip_serializing_if = "is_none")]
    pub missing_within: u64,
    /// Protected documents without it.
    #[serde(skip_serializing_if = "is_none")]
    pub protected_missing_within: u64,
    /// Records refused.
    pub rejected: u64,
    /// The first of them, to be looked at: file, line and reason.
    pub first_rejected: Option<String>,
    /// Files of which not all could be read, or nothing.
    pub unread_files: u64,
    /// Distinct canonical texts.
    pub contents: u64,
    /// Documents whose canonical text an earlier document has, whichever of them is kept.
    pub copies: u64,
    /// Documents removed because their canonical text is that of a kept one.
    pub exact_duplicates: u64,
    /// Documents removed because they are linked to a kept one.
    pub near_duplicates: u64,
    /// Documents removed because they are connected to a kept one through others.
    pub linked: u64,
    /// Documents removed: the sum of the three.
    pub removed: u64,
    /// Removed documents that are larger than what was kept in their place, where one text stands in another one.
    #[serde(skip_serializing_if = "is_none")]
    pub larger_removed: u64,
    /// Documents kept.
    pub kept: u64,
    /// Inputs whose documents are kept rather than those of others, the first ones most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<String>,
    /// Documents of a cluster that may be kept, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_per_cluster: Option<usize>,
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents in the largest cluster.
    pub largest_cluster: u64,
    /// Pairs written, if they were asked for.
    pub pairs: Option<u64>,
    /// Candidate pairs. Like `verified` and `hot_groups` they tell the work of this run: where key groups are hot, each worker decides
    /// for its own whether to count their pairs, so other numbers of workers may have other candidates. The lists are the same.
    pub candidates: u64,
    /// Candidate pairs that were decided on full sets, and those that connected components did not need, since other links say the same.
    pub verified: u64,
    /// What the cap on common shingles left out.
    pub common_shingles: CommonShingles,
    /// Key groups too large to be expanded into all their pairs.
    pub hot_groups: u64,
    /// The kinds of duplicates, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<KindTable>,
    /// Files that were passed over.
    pub skipped: Vec<Skipped>,
    /// Bytes of the kept files on disk; `None` in a dry run.
    pub kept_bytes: Option<u64>,
    /// Bytes of the files of removed records on disk, if these were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_bytes: Option<u64>,
    /// Bytes of the files of annotated records on disk, if these were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotated_bytes: Option<u64>,
    /// The page that was written about the run, as it was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// How the run was asked, if it can be asked again: of `dedup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRecord>,
    /// How records are written, if not as their inputs are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<FormChoice>,
    /// Workers of each process.
    pub workers: usize,
    /// Processes; `None`, and no figure in the file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// Bytes that several processes sent each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_bytes: Option<u64>,
    /// What all processes fetched of inputs that are objects; no figure in the file if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetched>,
    /// The memory the run was allowed, if bounded.
    pub memory_limit_bytes: Option<u64>,
    /// The most memory the process held at once, where the system tells: [`peak_memory`](crate::system_memory::peak_memory).
    pub peak_memory_bytes: Option<u64>,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Seconds of each stage, in order.
    pub stages: Vec<StageSeconds>,
    /// Documents a second over the whole run.
    pub documents_per_second: f64,
    /// Megabytes (10^6 bytes) of input on disk a second over the whole run.
    pub megabytes_per_second: f64,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputFigures {
    /// Files.
    pub files: u64,
    /// Their bytes on disk.
    pub bytes: u64,
    /// Bytes of the accepted documents' texts.
    pub text_bytes: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A set of protected documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgainstFigures {
    /// Its name.
    pub set: String,
    /// Its files.
    pub files: u64,
    /// Its collections.
    #[serde(skip_serializing_if = "is_none")]
    pub collections: u64,
    /// Bytes of the files on disk, and of the sets of the collections' documents.
    pub bytes: u64,
    /// Its documents that have a token.
    pub documents: u64,
    /// Its records that were refused.
    pub rejected: u64,
    /// Documents of the inputs that its documents removed.
    pub removed: u64,
}

/// What the cap on common shingles left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommonShingles {
    /// Shingles ignored.
    pub keys: u64,
    /// Postings (a shingle in a content) of theirs.
    pub postings: u64,
    /// The share of all postings that these are.
    pub fraction_of_postings: f64,
    /// Those in the most contents, at most 100, the most common first.
    pub most: Vec<CommonKey>,
}

/// A file that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// How long a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageSeconds {
    /// The stage's name.
    pub name: &'static str,
    /// Seconds.
    pub seconds: f64,
}

impl Summary {
    /// Notes how many bytes the records of a half came to.
    pub fn set_bytes(&mut self, side: Side, bytes: u64) {
        let figure = match side {
            Side::Kept => &mut self.kept_bytes,
            Side::Removed => &mut self.removed_bytes,
            Side::Annotated => &mut self.annotated_bytes,
        };
        *figure = Some(bytes);
    }

    /// A summary of this version's run with `configuration`, all figures 0.
    pub fn new(configuration: Config) -> Summary {
        Summary { version: env!("CARGO_PKG_VERSION").to_string(), configuration, ..Summary::default() }
    }

    /// Sets the duration of the run and, from the documents and inputs counted, its rates.
    pub fn set_seconds(&mut self, seconds: f64) {
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        self.seconds = seconds;
        self.documents_per_second = per_second(self.documents as f64);
        self.megabytes_per_second = per_second(self.inputs.bytes as f64 / 1e6);
    }

    /// Writes `summary.json` in the folder `staging`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, staging: &Path) -> Result<()> {
        let path = staging.join("summary.json");
        let failed = |e: std::io::Error| Error::io(&path, "write", e);
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| failed(e.into()))?;
        text.push(b'\n');
        std::fs::write(&path, text).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_every_figure() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut summary = Summary::new(Config::default());
        summary.documents = 10;
        summary.inputs = InputFigures { files: 1, bytes: 3_000_000, text_bytes: 2_000_000 };
        summary.stages.push(StageSeconds { name: "read", seconds: 0.5 });
        summary.skipped.push(Skipped { file: "x.bin".into(), reason: "not text".into() });
        summary.set_seconds(2.0);
        summary.write(folder.path()).expect("written");
        let text = std::fs::read_to_string(folder.path().join("summary.json")).expect("the file");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(value["configuration"]["method"], "join");
        assert_eq!(value["inputs"]["text_bytes"], 2_000_000);
        assert_eq!(value["pairs"], serde_json::Value::Null);
        assert!(value.get("processes").is_none() && value.get("wire_bytes").is_none());
        assert_eq!(value["stages"][0]["name"], "read");
        assert_eq!(value["skipped"][0]["reason"], "not text");
        assert_eq!(value["documents_per_second"], 5.0);
        assert_eq!(value["megabytes_per_second"], 1.5);
        assert!(text.starts_with("{\n  \"version\"") && text.ends_with("}\n"));
    }

    #[test]
    fn rates_of_no_time_are_numbers() {
        let mut summary = Summary { documents: 3, ..Summary::default() };
        summary.set_seconds(0.0);
        assert_eq!(summary.documents_per_second, 0.0);
    }
}
