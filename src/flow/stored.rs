//! What earlier loads of a collection left, as the dataflow of a load sees it, and where it leaves what it adds.

use std::fmt::Debug;

use super::catalogue::Doc;
use super::collide::Posting;
use crate::error::Result;
use crate::sketch::Digest;

/// The contents and documents of a collection before a load. Stored contents have numbers like the documents of the
/// run, all below [`Stored::next`].
pub trait Stored: Debug + Send + Sync {
    /// One more than the greatest number of a stored content.
    fn next(&self) -> Doc;

    /// Whether records are kept as they stand in their files.
    fn keeps_records(&self) -> bool;

    /// Whether the document of this id stands there with this fingerprint.
    fn is_unchanged(&self, id: u128, fingerprint: u128) -> Result<bool>;

    /// The live contents of digests, which are ascending pairs of words: `each` gets the number of a digest and its content.
    fn contents(&self, digests: &[u64], each: &mut dyn FnMut(usize, Doc)) -> Result<()>;

    /// The postings of live contents under ascending, distinct keys, ascending, into the empty list `found`.
    fn postings(&self, keys: &[u64], found: &mut Vec<Posting>) -> Result<()>;

    /// The set of a content, which replaces what is in `set`.
    fn set(&self, content: Doc, set: &mut Vec<u64>) -> Result<()>;

    /// Hands on the sets of ascending, distinct contents, in no order.
    fn sets(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()>;

    /// Hands on the parity signatures of ascending, distinct contents, as far as there are any, in no order.
    fn signatures(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64])) -> Result<()>;

    /// Takes what one worker adds.
    fn keeper(&self, worker: usize) -> Result<Box<dyn Keeper>>;
}

/// Keeps what a worker adds: first records and texts as they are read, then postings.
pub trait Keeper: Debug + Send {
    /// Keeps a record as it stands in its file, if the collection does that; in ascending order of documents.
    fn record(&mut self, doc: Doc, raw: &str) -> Result<()>;

    /// Keeps the set of a text, in ascending order of documents.
    fn text(&mut self, doc: Doc, digest: Digest, set: &[u64]) -> Result<()>;

    /// Keeps the postings of a bucket, ascending. Buckets come in descending order of their keys.
    fn postings(&mut self, bucket: &[Posting]) -> Result<()>;

    /// All is kept.
    fn finish(self: Box<Self>) -> Result<()>;
}
