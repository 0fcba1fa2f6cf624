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

const fn table(kind: u32, name: &'static str, width: usize, key: usize, filter: bool) -> Table {
    Table { kind: SectionKind(kind), shape: Shape { width, key, filter }, name }
}

/// Documents: digest of the id (2) -> content and whether it lives, loads, position, fingerprint (2), label, lengths, worth,
/// version and line, bytes of text.
pub const DOCUMENTS: Table = table(1, "documents", 12, 2, true);
/// Texts: content -> where its set starts in [`SETS`], the set's size, the text's digest (2). Never replaced.
pub const TEXTS: Table = table(2, "texts", 5, 1, false);
/// Contents: content -> documents, place of its cluster (or of it alone) in its component, label of that. Those of no document are dead.
pub const CONTENTS: Table = table(3, "contents", 3, 1, false);
/// Digests of canonical texts (2) -> live content, or [`crate::document::NO_DOC`].
pub const DIGESTS: Table = table(4, "digests", 3, 2, true);
/// Postings: inverted key, inverted size and content. Never replaced.
pub const POSTINGS: Table = table(5, "postings", 2, 2, true);
/// Documents of contents: content, digest of the id (2) -> whether it is one.
pub const MEMBERS: Table = table(6, "members", 4, 3, false);
/// Links: content, content -> shared members. Each is there both ways. Never replaced.
pub const LINKS: Table = table(7, "links", 3, 2, false);
/// Contents of components: label, content -> whether it is one.
pub const COMPONENTS: Table = table(8, "components", 3, 2, false);
/// Clusters: label of the component, place in it -> number, documents (0: none any more), digest of the
/// representative's id (2).
pub const CLUSTERS: Table = table(9, "clusters", 6, 2, false);
/// Sources: file -> bytes, digest of the file (2), where its names start in [`LABELS`], lengths of path and shown name,
/// length of the output name and form. Never replaced.
pub const SOURCES: Table = table(10, "sources", 7, 1, false);
/// Records: version of a document -> where it starts in [`RAW`], bytes. Never replaced.
pub const RECORDS: Table = table(11, "records", 3, 1, false);
/// Contents that are dead: so that nobody has to ask of each that is met whether it is.
pub const DEAD: Table = table(12, "dead", 1, 1, false);
/// Ids that a load of all there is has mentioned: digest of the id (2) -> the load. Of no use once it is published.
pub const SEEN: Table = table(13, "seen", 3, 2, false);
/// Parity signatures of sets: content -> where it starts in [`PARITIES`], its words. Never replaced. Only where sets are
/// measured by the method `join`.
pub const SIGNATURES: Table = table(14, "signatures", 3, 1, false);
/// Scopes: content -> the salt of the value that documents must share to be compared. Never replaced. Only where they must.
pub const SCOPES: Table = table(15, "scopes", 2, 1, false);
/// Bytes of ids, of the values they are compared by, and of names of sources, eight a word.
pub const LABELS: SectionKind = SectionKind(32);
/// Sets, a member a word.
pub const SETS: SectionKind = SectionKind(33);
/// The rarity table, eight slots a word.
pub const RARITY: SectionKind = SectionKind(34);
/// Bytes of records as they stood in their files, eight a word.
pub const RAW: SectionKind = SectionKind(35);
/// Words of signatures.
pub const PARITIES: SectionKind = SectionKind(36);
/// The file of the lexicon, eight bytes a word, behind a word with its length in bytes.
pub const LEXICON: SectionKind = SectionKind(37);

/// All heaps, and what they are called.
pub const HEAPS: [(SectionKind, &str); 6] = [
    (LABELS, "labels"),
    (SETS, "sets"),
    (RARITY, "rarity"),
    (RAW, "raw"),
    (PARITIES, "parities"),
    (LEXICON, "lexicon"),
];

/// All tables.
pub const TABLES: [Table; 15] = [
    DOCUMENTS, TEXTS, CONTENTS, DIGESTS, POSTINGS, MEMBERS, LINKS, COMPONENTS, CLUSTERS, SOURCES, RECORDS,
    DEAD, SEEN, SIGNATURES, SCOPES,
];

/// The name of a section.
pub fn section_name(kind: SectionKind) -> String {
    let table = TABLES.iter().find(|table| table.kind == kind).map(|table| table.name);
    let heap = HEAPS.into_iter().find(|(heap, _)| *heap == kind).map(|(_, name)| name);
    table.or(heap).map_or_else(|| kind.0.to_string(), str::to_owned)
}
