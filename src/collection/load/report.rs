//! What a load did.

use serde::Serialize;

use crate::collection::commit::tally::Ignored;

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The commit that has it, or would have it; `None` if nothing changed, unless it is the first load.
    pub commit: Option<u64>,
    /// The load's number.
    pub load: u64,
    /// Parts in which the inputs were read.
    pub epochs: u32,
    /// Records of the inputs, refused ones not included.
    pub records: u64,
    /// Records that were left out because they resemble protected documents; not among the others.
    pub left_out: u64,
    /// Records that were refused, and files that could not be opened.
    pub rejected: u64,
    /// Documents that are new.
    pub added: u64,
    /// Documents that were there and are another text or have other fields now.
    pub replaced: u64,
    /// Documents that were unchanged, or were so for some epoch.
    pub unchanged: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Records that a later one of the same id replaced: of those that changed nothing when they were read, only the ones of
    /// the same epoch.
    pub superseded: u64,
    /// Ids that were to be deleted and are not there.
    pub unknown: Vec<String>,
    /// Bytes of text in the records.
    pub text_bytes: u64,
    /// Records with too few terms for the method: compared with equal texts only.
    pub too_few_terms: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_too_few_terms: Vec<String>,
    /// Records without a date that is understood, where documents are compared by it: compared with each other only.
    pub missing_date: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_missing_date: Vec<String>,
    /// Records without the value that the keep policy compares: any copy that has one is kept rather.
    pub missing_value: u64,
    /// Records without a value of the field that documents must share to be compared: compared with each other only.
    pub missing_within: u64,
    /// That field.
    #[serde(skip)]
    pub within_field: String,
    /// Keys ignored as common: where there are any, which pairs are found depends on the order of loads.
    pub common_keys: Ignored,
    /// Texts that came and went.
    pub contents: (u64, u64),
    /// Lines about clusters.
    pub changes: u64,
    /// Documents there are.
    pub documents: u64,
    /// Clusters there are.
    pub clusters: u64,
    /// Why runs could not be merged after the load, which stands all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncompacted: Option<String>,
}

impl Report {
    /// Whether any document is another one, or came or went.
    pub(in crate::collection) fn changes_documents(&self) -> bool {
        self.added + self.replaced + self.removed > 0
    }
}
