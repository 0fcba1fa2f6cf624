//! The stored signatures of contents: lower bounds for what two sets do not share, which cost less than the sets.

use crate::collection::HeapCursor;
use crate::collection::run::schema::{PARITIES, SIGNATURES};
use crate::collection::tables::Tables;
use crate::collection::tables::rows::StoredSignature;
use crate::error::{Error, Result};

/// Hands on the signatures of ascending, distinct contents, in no order: `each` gets the number of a content and its signature;
/// of those that have none nothing.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn each_signature(tables: &Tables, contents: &[u64], each: &mut dyn FnMut(usize, &[u64])) -> Result<()> {
    let (mut words, mut cursor) = (Vec::new(), HeapCursor::default());
    tables.newest(SIGNATURES, contents, &mut |at, run, row| {
        let heap = run.heap(PARITIES);
        let heap = heap.ok_or_else(|| Error::damaged(run.path(), 0, "signatures without their words"))?;
        words.clear();
        let signature = StoredSignature::of_row(row);
        cursor.read(heap, signature.start, signature.words as usize, &mut words)?;
        each(at, &words);
        Ok(())
    })
}
