//! The tables of a collection, read through several runs.
//!
//! Rows are never changed. A later run may have another row of the same key; the newest one counts. What is gone has a
//! row that says so, until a compaction of all runs leaves both out.

pub(in crate::collection) mod bits;
pub(in crate::collection) mod cluster_changes;
pub(in crate::collection) mod clusters;
pub(in crate::collection) mod components;
pub(in crate::collection) mod dead;
pub(in crate::collection) mod document;
pub(in crate::collection) mod frozen;
pub(in crate::collection) mod lookup;
pub(in crate::collection) mod member;
pub(in crate::collection) mod postings;
pub(in crate::collection) mod records;
pub(in crate::collection) mod rows;
pub(in crate::collection) mod run_cursors;
pub(in crate::collection) mod sets;
pub(in crate::collection) mod sources;
pub(in crate::collection) mod tokens;

use std::sync::Arc;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::merge::{Merge, merge};
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::Table;
use crate::error::{Error, Result};

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
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`], and what `each` gives.
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
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`], and what `each` gives.
    pub fn beginning(
        &self,
        table: Table,
        words: usize,
        prefixes: &[u64],
        each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        self.beginning_within(table, (words, usize::MAX), prefixes, each).map(drop)
    }

    /// The same, as long as there are no more than `most` rows in all runs: of more none is handed on, and all that was read
    /// is forgotten. Whether they were handed on.
    ///
    /// # Errors
    /// Those of [`Tables::beginning`].
    pub fn beginning_within(
        &self,
        table: Table,
        (words, most): (usize, usize),
        prefixes: &[u64],
        each: &mut dyn FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<bool> {
        let (width, key) = (table.shape.width, table.shape.key);
        // Number of the prefix, age, row: the newest row of a key comes first of its kind.
        let (mut found, mut rows_found): (Vec<u64>, _) = (Vec::new(), 0);
        for (age, run) in (0..).zip(self.runs.iter().rev()) {
            let Some(rows) = run.rows(table.kind) else { continue };
            let read = rows.probe(words, prefixes, &mut |at, row| {
                rows_found += 1;
                if rows_found > most {
                    // Only ends the probe: nobody is told of it.
                    return Err(Error::Interrupted);
                }
                found.push(at as u64);
                found.extend_from_slice(row);
                found.push(age);
                Ok(())
            });
            if rows_found > most {
                return Ok(false);
            }
            read?;
        }
        let mut rows: Vec<&[u64]> = found.chunks_exact(width + 2).collect();
        rows.sort_unstable_by(|a, b| (&a[..=key], a[width + 1]).cmp(&(&b[..=key], b[width + 1])));
        rows.dedup_by(|later, first| later[..=key] == first[..=key]);
        rows.into_iter().try_for_each(|found| match found {
            [at, row @ ..] => each(*at as usize, &row[..width]),
            [] => Ok(()),
        })?;
        Ok(true)
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

impl Snapshot {
    /// The tables of the commit.
    pub(in crate::collection) fn tables(&self) -> Tables {
        Tables { runs: self.runs().to_vec() }
    }
}
