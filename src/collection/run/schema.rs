//! The schema of runs: which tables and heaps a collection has, and what the rows of each look like.

use crate::collection::run::directory::{SectionKind, Shape};

/// A table: its section in runs, and the shape of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its section.
    pub kind: SectionKind,
    /// Its rows.
    pub shape: Shape,
    /// As fsck and `info` call it.
    pub name: &'static str,
}

const fn table(kind: u32, name: &'static str, width: usize, key: usize) -> Table {
    Table { kind: SectionKind(kind), shape: Shape { width, key }, name }
}

/// Documents: digest of the id (2) -> content and whether it lives, loads, position, fingerprint (2), label, lengths, worth,
/// version and line, bytes of text.
pub const DOCUMENTS: Table = table(1, "documents", 12, 2);
/// Texts: content -> where its set starts in [`SETS`] or its block in [`TOKENS`], its place in the block and the set's size, the
/// text's digest (2). Never replaced.
pub const TEXTS: Table = table(2, "texts", 5, 1);
/// Contents: content -> documents, place of its cluster (or of it alone) in its component, label of that. Those of no document are dead.
pub const CONTENTS: Table = table(3, "contents", 3, 1);
/// Digests of canonical texts (2) -> live content, or [`crate::document::NO_DOC`].
pub const DIGESTS: Table = table(4, "digests", 3, 2);
/// Postings: inverted key, inverted size and content. Never replaced.
pub const POSTINGS: Table = table(5, "postings", 2, 2);
/// Documents of contents: content, digest of the id (2) -> whether it is one.
pub const MEMBERS: Table = table(6, "members", 4, 3);
/// Links: content, content -> shared members. Each is there both ways. Never replaced.
pub const LINKS: Table = table(7, "links", 3, 2);
/// Contents of components: label, content -> whether it is one.
pub const COMPONENTS: Table = table(8, "components", 3, 2);
/// Clusters: label of the component, place in it -> number, documents (0: none any more), digest of the
/// representative's id (2).
pub const CLUSTERS: Table = table(9, "clusters", 6, 2);
/// Sources: file -> bytes, digest of the file (2), where its names start in [`LABELS`], lengths of path and shown name,
/// length of the output name and form. Never replaced.
pub const SOURCES: Table = table(10, "sources", 7, 1);
/// Records: version of a document -> where the block starts in [`RAW`] that it begins in, bytes before it there, its bytes. Never
/// replaced.
pub const RECORDS: Table = table(11, "records", 4, 1);
/// Contents that are dead: so that nobody has to ask of each that is met whether it is.
pub const DEAD: Table = table(12, "dead", 1, 1);
/// Ids that a load of all there is has mentioned: digest of the id (2) -> the load. Of no use once it is published.
pub const SEEN: Table = table(13, "seen", 3, 2);
/// Parity signatures of sets: content -> where it starts in [`PARITIES`], its words. Never replaced. Only where sets are
/// measured by the method `join`.
pub const SIGNATURES: Table = table(14, "signatures", 3, 1);
/// Scopes: content -> the salt of the value that documents must share to be compared. Never replaced. Only where they must.
pub const SCOPES: Table = table(15, "scopes", 2, 1);
/// Vocabularies: number in the run -> where it starts in [`TOKENS`], its words. Each is that of its run alone. Only where sets are
/// derived from tokens.
pub const VOCABULARIES: Table = table(16, "vocabularies", 3, 1);
/// Bytes of ids, of the values they are compared by, and of names of sources, eight a word.
pub const LABELS: SectionKind = SectionKind(32);
/// Sets, a member a word, where they are not derived from tokens.
pub const SETS: SectionKind = SectionKind(33);
/// The rarity table, compressed, behind a word with its compressed bytes.
pub const RARITY: SectionKind = SectionKind(34);
/// Records as they stood in their files, in blocks.
pub const RAW: SectionKind = SectionKind(35);
/// Words of signatures.
pub const PARITIES: SectionKind = SectionKind(36);
/// The file of the lexicon, eight bytes a word, behind a word with its length in bytes.
pub const LEXICON: SectionKind = SectionKind(37);

/// Tokens of texts in blocks, and the vocabularies that these are written in.
pub const TOKENS: SectionKind = SectionKind(38);

/// All heaps, and what they are called.
pub const HEAPS: [(SectionKind, &str); 7] = [
    (LABELS, "labels"),
    (SETS, "sets"),
    (RARITY, "rarity"),
    (RAW, "raw"),
    (PARITIES, "parities"),
    (LEXICON, "lexicon"),
    (TOKENS, "tokens"),
];

/// All tables.
pub const TABLES: [Table; 16] = [
    DOCUMENTS,
    TEXTS,
    CONTENTS,
    DIGESTS,
    POSTINGS,
    MEMBERS,
    LINKS,
    COMPONENTS,
    CLUSTERS,
    SOURCES,
    RECORDS,
    DEAD,
    SEEN,
    SIGNATURES,
    SCOPES,
    VOCABULARIES,
];

/// The name of a section.
pub fn section_name(kind: SectionKind) -> String {
    let table = TABLES.iter().find(|table| table.kind == kind).map(|table| table.name);
    let heap = HEAPS.into_iter().find(|(heap, _)| *heap == kind).map(|(_, name)| name);
    table.or(heap).map_or_else(|| kind.0.to_string(), str::to_owned)
}
