//! What earlier loads of a collection left, as the dataflow of a load sees it, and where it leaves what it adds.

use crate::flow::records::Posting;
use std::fmt::Debug;

use crate::document::Doc;
use crate::error::Result;
use crate::sketcher::Digest;

/// The contents and documents of a collection before a load. Stored contents have numbers like the documents of the
/// run, all below [`Stored::next`].
pub trait Stored: Debug + Send + Sync {
    /// One more than the greatest number of a stored content.
    fn next(&self) -> Doc;

    /// Whether records are kept as they stand in their files.
    fn keeps_records(&self) -> bool;

    /// Whether the document of this id stands there with this fingerprint.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn is_unchanged(&self, id: u128, fingerprint: u128) -> Result<bool>;

    /// Which of ascending first halves of ids a row may tell of, also of documents that are gone: `each` gets their numbers. Each is
    /// asked once, and counts as brought for later epochs of the load. Of those that are not `open` nothing need be told.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn perhaps_ids(&self, halves: &[u64], open: &[bool], each: &mut dyn FnMut(usize)) -> Result<()>;

    /// The same of first halves of digests.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn perhaps_digests(&self, halves: &[u64], open: &[bool], each: &mut dyn FnMut(usize)) -> Result<()>;

    /// Which ids any row tells of, also of documents that are gone; they are ascending pairs of words: `each` gets the numbers of
    /// those.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn known_ids(&self, ids: &[u64], each: &mut dyn FnMut(usize)) -> Result<()>;

    /// Whether it is noted which ids a load mentions, because all others go.
    fn notes_mentioned(&self) -> bool;

    /// The contents of digests, which are ascending pairs of words: `each` gets the number of a digest and its live content, or
    /// [`crate::document::NO_DOC`] if no document has that text any more.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn contents(&self, digests: &[u64], each: &mut dyn FnMut(usize, Doc)) -> Result<()>;

    /// The postings of live contents under ascending, distinct keys, ascending, into the empty list `found`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn postings(&self, keys: &[u64], found: &mut Vec<Posting>) -> Result<()>;

    /// The set of a content, which replaces what is in `set`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn set(&self, content: Doc, set: &mut Vec<u64>) -> Result<()>;

    /// Hands on the sets of ascending, distinct contents, in no order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows; those of `each`.
    fn sets(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()>;

    /// What makes the keys of ascending, distinct contents differ from those of documents that they are not to be compared with;
    /// 0 where all are compared.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn salts(&self, contents: &[Doc]) -> Result<Vec<u64>>;

    /// Hands on the parity signatures of ascending, distinct contents, as far as there are any, in no order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Unreachable`] of stored rows.
    fn signatures(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64])) -> Result<()>;

    /// Takes what one worker adds.
    ///
    /// # Errors
    /// [`crate::error::Error::Worker`] if the worker's run is taken already; [`crate::error::Error::Io`] if it cannot be written.
    fn keeper(&self, worker: usize) -> Result<Box<dyn LoadKeeper>>;
}

/// Keeps what a worker adds: first records and texts as they are read, then postings.
pub trait LoadKeeper: Debug + Send {
    /// Keeps a record as it stands in its file, if the collection does that; in ascending order of documents.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if it cannot be written.
    fn record(&mut self, doc: Doc, raw: &[u8]) -> Result<()>;

    /// Keeps the sketch of a text, in ascending order of documents.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if it cannot be written.
    fn text(&mut self, doc: Doc, text: &KeptText<'_>) -> Result<()>;

    /// Keeps the postings of a bucket, ascending. Buckets come in descending order of their keys.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if it cannot be written.
    fn postings(&mut self, bucket: &[Posting]) -> Result<()>;

    /// All is kept.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if what is left cannot be written or synced.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What a load keeps of a text.
#[derive(Clone, Copy, Debug)]
pub struct KeptText<'a> {
    /// Its digest.
    pub digest: Digest,
    /// Its salt, unless all documents are compared.
    pub salt: Option<u64>,
    /// Its sketch, empty where nothing is compared but texts.
    pub set: &'a [u64],
    /// Its tokens, in their order; empty where the sketch is.
    pub tokens: &'a [u64],
}

/// Stored documents, numbered from 0 in document order.
pub trait ReplayedDocuments: Debug + Send + Sync {
    /// How many there are.
    fn documents(&self) -> usize;

    /// Bytes of the sets of all of them, eight a member: a measure of the work.
    fn bytes(&self) -> u64;

    /// Document number `at`, below [`ReplayedDocuments::documents`].
    fn document(&self, at: usize) -> Replayed<'_>;

    /// Reads their sets, a document at a time.
    fn sets(&self) -> Box<dyn ReplayedSets + '_>;

    /// The file of document number `at`, as people are shown it, and its line, counted from 1.
    fn place(&self, at: usize) -> (String, u64);
}

/// Reads of the sets of stored documents, on one thread.
pub trait ReplayedSets {
    /// The stored set of the content of document number `at`, which replaces what is in `set`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    fn set(&mut self, at: usize, set: &mut Vec<u64>) -> Result<()>;
}

/// A stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed<'a> {
    /// Its id.
    pub id: &'a str,
    /// The number of its canonical text, the same for equal texts and no others; [`crate::document::NO_DOC`] for one without a token.
    pub content: Doc,
    /// The same for equal texts of the run and for no others: the digest of the canonical text, or, where all documents of the run are
    /// those of one commit, what the number of the text is spread to.
    pub digest: Digest,
    /// What makes its keys differ from those of documents that it is not to be compared with; `None` where all are.
    pub salt: Option<u64>,
    /// Members of its set.
    pub size: u32,
    /// Bytes of its text.
    pub text_bytes: u32,
    /// What stands for the field that the keep policy of the run compares, as [`crate::flow::Catalogue::keep_key`] gives it.
    pub keep_key: u64,
    /// The string that `keep_key` stands for, if it is one.
    pub value: &'a str,
}
