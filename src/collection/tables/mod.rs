//! The tables of a collection: what their rows are, and how they are read through several runs.
//!
//! Rows are never changed. A later run may have another row of the same key; the newest one counts. What is gone has a
//! row that says so, until a compaction of all runs leaves both out.

pub(in crate::collection) mod bits;
pub(in crate::collection) mod clusters;
pub(in crate::collection) mod dead;
pub(in crate::collection) mod document;
pub(in crate::collection) mod lookup;
pub(in crate::collection) mod parts;
pub(in crate::collection) mod postings;
pub(in crate::collection) mod records;
pub(in crate::collection) mod sources;

use std::sync::Arc;

use crate::collection::run::directory::{SectionKind, Shape};
use crate::collection::run::merge::{Merge, merge};
use crate::collection::run::reader::RunReader;
use crate::error::Result;

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
/// Digests of canonical texts (2) -> live content, or [`crate::flow::NO_DOC`].
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
pub const TABLES: [Table; 14] = [
    DOCUMENTS, TEXTS, CONTENTS, DIGESTS, POSTINGS, MEMBERS, LINKS, COMPONENTS, CLUSTERS, SOURCES, RECORDS,
    DEAD, SEEN, SIGNATURES,
];

/// Takes the number of a key, the run of its row, and the row.
pub type EachRow<'a> = dyn FnMut(usize, &RunReader, &[u64]) -> Result<()> + 'a;

/// The runs of a commit.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The oldest first.
    pub runs: Vec<Arc<RunReader>>,
}

impl Tables {
    /// The newest row of each key: `each` gets the number of the key, the run, and the row. Keys are whole, ascending
    /// and distinct.
    pub fn newest(&self, table: Table, keys: &[u64], each: &mut EachRow<'_>) -> Result<()> {
        let words = table.shape.key;
        let mut numbers: Vec<usize> = (0..keys.len() / words).collect();
        let mut wanted = keys.to_vec();
        for run in self.runs.iter().rev() {
            let Some(rows) = run.rows(table.kind).filter(|_| !numbers.is_empty()) else { continue };
            let mut found = vec![false; numbers.len()];
            rows.probe(words, &wanted, &mut |at, row| {
                found[at] = true;
                each(numbers[at], run, row)
            })?;
            let mut at = 0;
            numbers.retain(|_| {
                at += 1;
                !found[at - 1]
            });
            let rest = numbers.iter().flat_map(|number| &keys[number * words..][..words]);
            wanted = rest.copied().collect();
        }
        Ok(())
    }

    /// The newest row of each key that begins with one of the prefixes of `words` words, in no order: `each` gets the
    /// number of the prefix. Prefixes are ascending and distinct.
    pub fn beginning(
        &self,
        table: Table,
        words: usize,
        prefixes: &[u64],
        each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let (width, key) = (table.shape.width, table.shape.key);
        // Number of the prefix, age, row: the newest row of a key comes first of its kind.
        let mut found: Vec<u64> = Vec::new();
        for (age, run) in (0..).zip(self.runs.iter().rev()) {
            let Some(rows) = run.rows(table.kind) else { continue };
            rows.probe(words, prefixes, &mut |at, row| {
                found.push(at as u64);
                found.extend_from_slice(row);
                found.push(age);
                Ok(())
            })?;
        }
        let mut rows: Vec<&[u64]> = found.chunks_exact(width + 2).collect();
        rows.sort_unstable_by(|a, b| (&a[..=key], a[width + 1]).cmp(&(&b[..=key], b[width + 1])));
        rows.dedup_by(|later, first| later[..=key] == first[..=key]);
        rows.into_iter().try_for_each(|row| each(row[0] as usize, &row[1..=width]))
    }

    /// The runs that have a table, the newest first: those that [`Merge::source`] of a scan counts.
    pub fn having(&self, table: Table) -> impl Iterator<Item = &RunReader> {
        self.runs.iter().rev().map(Arc::as_ref).filter(move |run| run.rows(table.kind).is_some())
    }

    /// All rows of a table in order, of each key the newest.
    pub fn scan(&self, table: Table) -> Merge {
        self.scan_between(table, &[], None)
    }

    /// Those of them between two bounds: see [`super::RowsReader::scan`].
    pub fn scan_between(&self, table: Table, from: &[u64], to: Option<&[u64]>) -> Merge {
        let runs = self.having(table).filter_map(|run| run.rows(table.kind));
        merge(runs.map(|rows| rows.scan(from, to)).collect(), table.shape.key)
    }
}
