//! Rows of keys of two words, looked up in the tables before a load, and in those of its earlier epochs as far as these may have them.

use crate::collection::load::load_base::LoadBase;
use crate::collection::load::load_base::earlier::EarlierKeys;
use crate::collection::run::schema::Table;
use crate::collection::tables::{EachRow, Tables};
use crate::error::Result;

impl LoadBase {
    /// The tables before the first epoch of the load.
    pub(super) fn tables_before(&self) -> Tables {
        Tables { runs: self.tables.runs[..self.epochs.runs_before.min(self.tables.runs.len())].to_vec() }
    }

    /// Which of ascending first halves of keys a row may begin with, as far as they are open. Runs of earlier epochs are not asked where
    /// it is known what these have brought.
    pub(super) fn perhaps(
        &self,
        table: Table,
        (earlier, lists): (&EarlierKeys, usize),
        (halves, open): (&[u64], &[bool]),
        each: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let brought = earlier.brought(halves, lists);
        earlier.add(halves);
        let tables = if brought.is_some() { &self.tables_before() } else { &self.tables };
        brought.into_iter().flatten().for_each(&mut *each);
        let places: Vec<usize> = (0..halves.len()).filter(|at| open[*at]).collect();
        let asked: Vec<u64> = places.iter().map(|at| halves[*at]).collect();
        for rows in tables.having(table).filter_map(|run| run.rows(table.kind)) {
            rows.probe(1, &asked, &mut |at, _| {
                each(places[at]);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The newest rows of keys of two words, which are ascending; runs of earlier epochs are asked only for what these may have brought
    /// or changed.
    pub(super) fn newest_of(
        &self,
        table: Table,
        (earlier, lists): (&EarlierKeys, usize),
        keys: &[u64],
        each: &mut EachRow<'_>,
    ) -> Result<()> {
        let first: Vec<u64> = keys.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect();
        let Some(mut perhaps) = earlier.brought(&first, lists) else {
            return self.tables.newest(table, keys, each);
        };
        let before = self.tables_before();
        let of = |places: &[usize]| -> Vec<u64> {
            places.iter().flat_map(|at| [keys[2 * at], keys[2 * at + 1]]).collect()
        };
        let rest: Vec<usize> = (0..keys.len() / 2).filter(|at| perhaps.binary_search(at).is_err()).collect();
        before.newest(table, &of(&rest), &mut |at, _, _| {
            perhaps.push(rest[at]);
            Ok(())
        })?;
        perhaps.sort_unstable();
        self.tables.newest(table, &of(&perhaps), &mut |at, run, row| each(perhaps[at], run, row))
    }
}
