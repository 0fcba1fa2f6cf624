//! A commit while it is checked: what is known of it so far, and what was found.

use xxhash_rust::xxh3::xxh3_64;

use super::facts::Facts;
use crate::collection::Manifest;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::Table;
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::sketcher::Sketcher;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The file, or the table.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Where in it: an offset in a file, the key of a row in words of 16 hexadecimal digits, or empty.
    pub key: String,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FsckReport {
    /// The commit.
    pub commit: u64,
    /// Its runs.
    pub runs: usize,
    /// Their bytes, and those of the change logs.
    pub bytes: u64,
    /// Live documents.
    pub documents: u64,
    /// Live contents.
    pub contents: u64,
    /// Clusters.
    pub clusters: u64,
    /// How much is wrong.
    pub findings: u64,
    /// Whether the tables could be held against each other; not where files are damaged.
    pub complete: bool,
}

/// What there is, and what live documents were found to refer to.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pub(super) files: Bits,
    pub(super) records: Bits,
    /// Versions of live documents so far.
    pub(super) versions: Bits,
}

/// A commit being looked at.
pub(super) struct Check<'a> {
    pub(super) tables: Tables,
    pub(super) manifest: &'a Manifest,
    pub(super) progress: &'a Progress,
    pub(super) each: &'a mut dyn FnMut(Finding),
    pub(super) report: FsckReport,
    pub(super) facts: Facts,
    pub(super) origins: Origins,
    pub(super) dead: Bits,
    pub(super) rows: u64,
    pub(super) sketcher: Option<Sketcher>,
    pub(super) keys: Vec<u64>,
}

/// What takes rows, with the runs they come from.
type EachRow<'a, C> = dyn FnMut(&mut C, &[u64], &RunReader) -> Result<()> + 'a;

impl Check<'_> {
    pub(super) fn find(&mut self, place: impl Into<String>, what: impl Into<String>, key: impl Into<String>) {
        self.report.findings += 1;
        (self.each)(Finding { place: place.into(), what: what.into(), key: key.into() });
    }

    /// Something is wrong with a row.
    pub(super) fn wrong(&mut self, table: Table, row: &[u64], what: &str) {
        let words: Vec<String> = row[..table.shape.key].iter().map(|word| format!("{word:016x}")).collect();
        self.find(table.name, what, words.join(" "));
    }

    /// Something is wrong with a content.
    pub(super) fn wrong_content(&mut self, table: Table, content: Doc, what: &str) {
        self.find(table.name, what, format!("{content:016x}"));
    }

    /// Makes damage a finding; whether there was none.
    pub(super) fn note(&mut self, outcome: Result<()>) -> Result<bool> {
        match outcome {
            Err(Error::Damaged { path, offset, what }) => {
                self.find(path.display().to_string(), what, format!("byte {offset}"));
                Ok(false)
            }
            // A damaged digit, or what another version has left.
            Err(ref error @ (Error::NewerFormat { ref path, .. } | Error::OlderFormat { ref path, .. })) => {
                self.find(path.display().to_string(), error.to_string(), "its first line");
                Ok(false)
            }
            outcome => outcome.map(|()| true),
        }
    }

    /// Hands all newest rows of a table on.
    pub(super) fn each_row(&mut self, table: Table, each: &mut EachRow<'_, Self>) -> Result<()> {
        let tables = self.tables.clone();
        let runs: Vec<_> = tables.having(table).collect();
        let mut rows = tables.scan(table);
        while let Some((source, row)) = rows.next_of_source()? {
            self.rows += 1;
            if self.rows.is_multiple_of(4096) {
                self.progress.check()?;
            }
            each(self, row, runs[source])?;
        }
        Ok(())
    }
}

/// A statement as a number to be summed up.
pub(super) fn hashed(words: &[u64]) -> u64 {
    xxh3_64(bytemuck::cast_slice(words))
}
