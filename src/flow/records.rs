//! What crosses between the operators of a run: plain numbers, and how they go over the wire.

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128;

use crate::document::Doc;
use crate::flow::packed::bits::as_bits;
use crate::flow::packed::columns::as_column;
use crate::limits::sized;
use crate::sketcher::Digest;

/// What is collected by a key of 64 bits, all of which vary but for the lowest ones.
pub trait Keyed: Pod {
    /// How many low bits of keys are 0.
    const CUT: u32 = 0;

    /// The key.
    fn key(&self) -> u64;
}

/// One key of one document. Sixteen bytes without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Posting {
    /// The key: a shingle or a feature.
    pub key: u64,
    /// Size of the set that the document's pairs are measured on.
    pub size: u32,
    /// The document.
    pub doc: Doc,
}

impl Keyed for Posting {
    fn key(&self) -> u64 {
        self.key
    }
}

/// Low bits of a key that [`CutPosting`] leaves out.
const CUT: u32 = sized(32, 52);

/// A posting without the low bits of its key, and without the size, which the catalogue has: eight bytes of the sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct CutPosting {
    key: u32,
    /// The document.
    pub doc: Doc,
}

impl CutPosting {
    /// The bits of a key that are left. Those who share the key share them.
    pub const BITS: u64 = u64::MAX << CUT;

    /// What is kept of a posting.
    pub fn of(posting: &Posting) -> CutPosting {
        CutPosting { key: (posting.key >> CUT) as u32, doc: posting.doc }
    }

    /// The posting under what is left of its key.
    pub fn with_size(self, size: u32) -> Posting {
        Posting { key: self.key(), size, doc: self.doc }
    }
}

impl Keyed for CutPosting {
    const CUT: u32 = CUT;

    fn key(&self) -> u64 {
        u64::from(self.key) << CUT
    }
}

/// The first half of a digest of a document, by which most are told apart: of one that no other document has, nobody asks the
/// rest. Twelve bytes without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FirstHalf {
    high: u32,
    low: u32,
    /// The document; [`crate::document::NO_DOC`] where nobody needs to be asked.
    pub doc: Doc,
}

impl FirstHalf {
    /// The first half of a digest of a document.
    pub fn new(half: u64, doc: Doc) -> FirstHalf {
        FirstHalf { high: (half >> 32) as u32, low: half as u32, doc }
    }

    /// The first half of the digest.
    pub fn half(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

impl Keyed for FirstHalf {
    fn key(&self) -> u64 {
        self.half()
    }
}

/// A document with at least one token, on its way to the worker that sees all texts of its digest. Thirty-two bytes
/// without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Arrival {
    /// High half of the digest of the canonical text.
    pub digest: u64,
    /// Its low half.
    pub rest: u64,
    /// Where it stands, as bits.
    pub position: u64,
    /// The document.
    pub doc: u64,
}

impl Arrival {
    /// The arrival of a document that stands at a position.
    pub fn new(digest: Digest, doc: Doc, position: u64) -> Arrival {
        Arrival { digest: (digest >> 64) as u64, rest: digest as u64, position, doc: u64::from(doc) }
    }

    /// The arrival of a document that a later record of its id replaces.
    pub fn superseded(digest: Digest, doc: Doc, position: u64) -> Arrival {
        Arrival { doc: u64::from(doc) | SUPERSEDED, ..Arrival::new(digest, doc, position) }
    }

    /// Whether a later record of its id replaces the document.
    pub fn is_superseded(&self) -> bool {
        self.doc & SUPERSEDED != 0
    }
}

/// A bit above all document numbers.
const SUPERSEDED: u64 = 1 << 32;

impl Keyed for Arrival {
    fn key(&self) -> u64 {
        self.digest
    }
}

/// A document whose canonical text an earlier document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExactDuplicate {
    /// The document.
    pub doc: Doc,
    /// The first document of that text: its *content* goes by this number. [`crate::document::NO_DOC`] if a later record of the same
    /// load replaced the document.
    pub first: Doc,
}

/// What a record does to the document of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ChangeKind {
    /// It has this canonical text now.
    Text(Digest),
    /// It has a text without a token now.
    Empty,
    /// It stays as it is.
    Unchanged,
    /// It goes.
    Delete,
}

/// What a record of a load brings, beside its place and its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Brought {
    /// Digest of all that is stored of the record.
    pub fingerprint: u128,
    /// Digest of the canonical text; 0 where there is none.
    pub digest: Digest,
}

/// One record of a load, on its way to the worker that sees all records of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// Digest of the id.
    pub id: u128,
    /// Where the record stands, as bits.
    pub position: u64,
    /// Its row in the catalogue; none for what stays as it is.
    pub doc: Option<Doc>,
    /// What it does.
    pub kind: ChangeKind,
}

/// Digest of an id.
pub fn id_digest(id: &str) -> u128 {
    xxh3_128(id.as_bytes())
}

/// An unordered pair of documents.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Pod,
    Zeroable,
    serde::Serialize,
    serde::Deserialize,
)]
#[repr(C)]
pub struct Pair {
    low: Doc,
    high: Doc,
}

impl Pair {
    /// The pair of two different documents, in either order.
    pub fn new(a: Doc, b: Doc) -> Pair {
        Pair { low: a.min(b), high: a.max(b) }
    }

    /// Both documents, the smaller number first.
    pub fn docs(self) -> (Doc, Doc) {
        (self.low, self.high)
    }
}

/// A pair and the number of keys it shares. Twelve bytes without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct Candidate {
    /// The pair.
    pub pair: Pair,
    /// Keys both have.
    pub shared: u32,
}

/// Key groups on their way to the owner of some of their members, or all that a worker has received: to be paired
/// with each member are as many of the documents behind it as `following` says.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct KeyGroups {
    /// The worker it goes to.
    pub owner: u32,
    /// Members of one group after another.
    #[serde(with = "as_bits")]
    pub docs: Vec<Doc>,
    /// For each member, the number of members behind it that it pairs with.
    #[serde(with = "as_column")]
    pub following: Vec<u32>,
    /// Of the members stored contents with their sizes, where the worker is in another process, and so cannot know them.
    pub stored_sizes: Vec<(Doc, u32)>,
    /// Documents that show a key whose hot group tells limits, as often as they show such a key.
    #[serde(with = "as_bits")]
    pub hot: Vec<Doc>,
}

/// A document that something is wanted of, and who wants it: a worker, or a process.
pub type Wanted = (Doc, u32);

/// A document's signature or set, on its way to a worker.
pub type Sent = (u32, Doc, Vec<u64>);
