//! Stored postings under keys.

use crate::collection::run::schema::POSTINGS;
use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::rows::posting_of_row;
use crate::error::Result;
use crate::flow::Posting;

/// Appends the postings of live contents under ascending, distinct keys to `found`, which is empty: ascending.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
pub fn live_postings(tables: &Tables, keys: &[u64], dead: &Dead, found: &mut Vec<Posting>) -> Result<()> {
    let inverted: Vec<u64> = keys.iter().rev().map(|key| !key).collect();
    for run in &tables.runs {
        let Some(rows) = run.rows(POSTINGS.kind) else { continue };
        let before = found.len();
        rows.probe(1, &inverted, &mut |_, row| {
            found.push(posting_of_row(row));
            Ok(())
        })?;
        // Inverted, they come in descending order.
        found[before..].reverse();
    }
    dead.drop_from(tables, found)?;
    // Made for lists that are sorted in parts: each run has left one.
    found.sort();
    Ok(())
}
