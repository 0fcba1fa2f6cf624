//! The rows of tables as what they mean. Contents, files and versions are the words of the row: whether they fit a
//! commit is for readers to check. What is said of documents and sources has files of its own.

use crate::collection::tables::document::{pack, unpack, wide};
use crate::document::NO_DOC;

/// The columns of a row, which has the width of its table.
///
/// # Panics
/// If it has not.
pub fn columns<const N: usize>(row: &[u64]) -> [u64; N] {
    *row.first_chunk().expect("a row has the width of its table")
}

/// The two words of a digest.
pub fn halves(digest: u128) -> [u64; 2] {
    [(digest >> 64) as u64, digest as u64]
}

/// Where a cluster is. A transitive cluster is all of its component, at place 0; of several the one with the least content
/// is there, each other one at the place of its own least content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterKey {
    /// The label of its component.
    pub component: u32,
    /// Its place in the component.
    pub place: u32,
}

/// A row of contents.
#[derive(Clone, Copy, Debug)]
pub struct StoredContent {
    /// The content.
    pub content: u64,
    /// Its documents; 0 if it is dead.
    pub documents: u32,
    /// Where its cluster is, or it alone.
    pub at: ClusterKey,
}

impl StoredContent {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredContent {
        let [content, documents, at] = columns(row);
        let (place, component) = unpack(at);
        StoredContent { content, documents: documents as u32, at: ClusterKey { component, place } }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        [self.content, u64::from(self.documents), pack(self.at.place, self.at.component)]
    }

    /// Whether any document has it.
    pub fn is_live(&self) -> bool {
        self.documents > 0
    }
}

/// Where the tokens of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenPlace {
    /// The first word of their block in the heap.
    pub start: u64,
    /// Which text of the block they are, from 0.
    pub ordinal: u32,
}

/// A row of texts.
#[derive(Clone, Copy, Debug)]
pub struct StoredText {
    /// The content.
    pub content: u64,
    /// Where its set starts in the heap of sets, or the block with its tokens in that of tokens.
    pub start: u64,
    /// Which text of that block it is, from 0; 0 for a set.
    pub ordinal: u32,
    /// Members of the set.
    pub size: u32,
    /// The digest of the canonical text.
    pub digest: u128,
}

impl StoredText {
    /// The column of [`StoredText::start`].
    pub const START: usize = 1;

    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredText {
        let [content, start, place, high, low] = columns(row);
        let (ordinal, size) = unpack(place);
        StoredText { content, start, ordinal, size, digest: wide(high, low) }
    }

    /// Says where its tokens are.
    pub fn put(&mut self, place: TokenPlace) {
        (self.start, self.ordinal) = (place.start, place.ordinal);
    }

    /// The row.
    pub fn to_row(self) -> [u64; 5] {
        let [high, low] = halves(self.digest);
        [self.content, self.start, pack(self.ordinal, self.size), high, low]
    }
}

/// A row of vocabularies.
#[derive(Clone, Copy, Debug)]
pub struct StoredVocabulary {
    /// Its number in the run, by which blocks of tokens name it.
    pub number: u64,
    /// Where it starts in the heap of tokens.
    pub start: u64,
    /// Its tokens, a word each.
    pub words: u64,
}

impl StoredVocabulary {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredVocabulary {
        let [number, start, words] = columns(row);
        StoredVocabulary { number, start, words }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        [self.number, self.start, self.words]
    }
}

/// A row of digests.
#[derive(Clone, Copy, Debug)]
pub struct StoredDigest {
    /// The digest of a canonical text.
    pub digest: u128,
    /// The live content of that text; [`NO_DOC`] if there is none.
    pub content: u64,
}

impl StoredDigest {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredDigest {
        let [high, low, content] = columns(row);
        StoredDigest { digest: wide(high, low), content }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        let [high, low] = halves(self.digest);
        [high, low, self.content]
    }

    /// Whether there is such a content.
    pub fn is_live(&self) -> bool {
        self.content != u64::from(NO_DOC)
    }
}

/// A row of members: a document of a content.
#[derive(Clone, Copy, Debug)]
pub struct StoredMember {
    /// The content.
    pub content: u64,
    /// The digest of the document's id.
    pub id: u128,
    /// Whether the document has that content.
    pub is: bool,
}

impl StoredMember {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredMember {
        let [content, high, low, is] = columns(row);
        StoredMember { content, id: wide(high, low), is: is == 1 }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 4] {
        let [high, low] = halves(self.id);
        [self.content, high, low, u64::from(self.is)]
    }
}

/// A row of links, which is there for both of its ends.
#[derive(Clone, Copy, Debug)]
pub struct StoredLink {
    /// A content.
    pub content: u64,
    /// The content that it is linked to.
    pub other: u64,
    /// What the two share.
    pub shared: u64,
}

impl StoredLink {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredLink {
        let [content, other, shared] = columns(row);
        StoredLink { content, other, shared }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        [self.content, self.other, self.shared]
    }
}

/// A row of components: a content of one.
#[derive(Clone, Copy, Debug)]
pub struct StoredComponent {
    /// The label of the component.
    pub component: u64,
    /// The content.
    pub content: u64,
    /// Whether the content is in the component.
    pub is: bool,
}

impl StoredComponent {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredComponent {
        let [component, content, is] = columns(row);
        StoredComponent { component, content, is: is == 1 }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        [self.component, self.content, u64::from(self.is)]
    }
}

/// A row of clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredCluster {
    /// Its number, that of a [`super::cluster_changes::ClusterId`].
    pub number: u64,
    /// Its documents; 0 if it is no more.
    pub documents: u64,
    /// Digest of its representative's id.
    pub representative: u128,
}

impl StoredCluster {
    /// What a row says, and of which cluster.
    pub fn of_row(row: &[u64]) -> (ClusterKey, StoredCluster) {
        let [component, place, number, documents, high, low] = columns(row);
        let at = ClusterKey { component: component as u32, place: place as u32 };
        (at, StoredCluster { number, documents, representative: wide(high, low) })
    }

    /// The row of the cluster that is at `at`.
    pub fn to_row(self, at: ClusterKey) -> [u64; 6] {
        let [high, low] = halves(self.representative);
        [u64::from(at.component), u64::from(at.place), self.number, self.documents, high, low]
    }
}

/// Where a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordPlace {
    /// The first word, in the heap, of the block that it begins in.
    pub start: u64,
    /// The bytes before it in that block.
    pub offset: u64,
}

/// A row of records.
#[derive(Clone, Copy, Debug)]
pub struct StoredRecord {
    /// The version of the document that it brought.
    pub version: u64,
    /// Where its bytes begin.
    pub place: RecordPlace,
    /// How many there are.
    pub bytes: u64,
}

impl StoredRecord {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredRecord {
        let [version, start, offset, bytes] = columns(row);
        StoredRecord { version, place: RecordPlace { start, offset }, bytes }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 4] {
        [self.version, self.place.start, self.place.offset, self.bytes]
    }
}

/// A row of signatures.
#[derive(Clone, Copy, Debug)]
pub struct StoredSignature {
    /// The content.
    pub content: u64,
    /// Where its words start in their heap.
    pub start: u64,
    /// How many there are.
    pub words: u64,
}

impl StoredSignature {
    /// The column of [`StoredSignature::start`].
    pub const START: usize = 1;

    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredSignature {
        let [content, start, words] = columns(row);
        StoredSignature { content, start, words }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        [self.content, self.start, self.words]
    }
}

/// A row of scopes.
#[derive(Clone, Copy, Debug)]
pub struct StoredScope {
    /// The content.
    pub content: u64,
    /// What makes its keys differ from those of contents that it is not to be compared with.
    pub salt: u64,
}

impl StoredScope {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> StoredScope {
        let [content, salt] = columns(row);
        StoredScope { content, salt }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 2] {
        [self.content, self.salt]
    }
}

/// A row of ids that a load has mentioned.
#[derive(Clone, Copy, Debug)]
pub struct SeenId {
    /// The digest of the id.
    pub id: u128,
    /// The load.
    pub load: u64,
}

impl SeenId {
    /// What a row says.
    pub fn of_row(row: &[u64]) -> SeenId {
        let [high, low, load] = columns(row);
        SeenId { id: wide(high, low), load }
    }

    /// The row.
    pub fn to_row(self) -> [u64; 3] {
        let [high, low] = halves(self.id);
        [high, low, self.load]
    }
}

/// The content of a row of dead contents.
pub fn dead_content(row: &[u64]) -> u64 {
    let [content] = columns(row);
    content
}
