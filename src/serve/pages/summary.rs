//! What there is.

use serde::Serialize;

use crate::collection::Sizes;
use crate::config::Config;
use crate::serve::state::commit::ServedCommit;

/// What there is.
#[derive(Debug, Serialize)]
pub struct SummaryPage {
    /// The version of the program.
    pub version: &'static str,
    /// The id of the collection, in hexadecimal digits.
    pub collection: String,
    /// Number of the commit.
    pub commit: u64,
    /// Loads and deletions so far.
    pub loads: u64,
    /// Live documents.
    pub documents: u64,
    /// Their distinct canonical texts.
    pub contents: u64,
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents in clusters.
    pub clustered: u64,
    /// Documents that go if each cluster keeps its representative only.
    pub removed: u64,
    /// How large clusters are, the smaller ones first; sizes without a cluster are left out.
    pub sizes: Vec<Sizes>,
    /// Whether the records themselves are kept.
    pub store_text: bool,
    /// Bytes of this commit.
    pub bytes: u64,
    /// How documents are compared.
    pub configuration: Config,
}

impl SummaryPage {
    /// Of a commit.
    pub fn read(commit: &ServedCommit) -> SummaryPage {
        let manifest = commit.snapshot().manifest();
        let sizes = commit.clusters().sizes().to_vec();
        let clustered = sizes.iter().fold(0, |sum: u64, sizes| sum.saturating_add(sizes.documents));
        let clusters = sizes.iter().map(|sizes| sizes.clusters).sum();
        SummaryPage {
            version: env!("CARGO_PKG_VERSION"),
            collection: format!("{:016x}", manifest.collection),
            commit: manifest.commit,
            loads: manifest.load,
            documents: manifest.counts.documents,
            contents: manifest.counts.contents,
            clusters,
            clustered,
            removed: clustered.saturating_sub(clusters),
            sizes,
            store_text: manifest.store_text,
            bytes: manifest.bytes(),
            configuration: manifest.config.clone(),
        }
    }
}
