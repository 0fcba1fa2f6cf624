//! The tables that a collection was created with, and that no load changes: counts of shingles, and the lexicon.

use std::sync::Arc;

use crate::collection::run::directory::SectionKind;
use crate::collection::run::schema::{LEXICON, RARITY};
use crate::collection::tables::Tables;
use crate::error::Result;
use crate::method::FrozenTables;

/// The tables that the collection was created with.
pub(in crate::collection) fn frozen(tables: &Tables) -> Result<Option<Arc<FrozenTables>>> {
    let Some(rarity) = whole(tables, RARITY)? else { return Ok(None) };
    let lexicon = whole(tables, LEXICON)?.map(|bytes| {
        let (length, bytes) = bytes
            .split_first_chunk::<8>()
            .map_or((0, &[][..]), |(length, bytes)| (u64::from_le_bytes(*length) as usize, bytes));
        bytes[..length.min(bytes.len())].to_vec()
    });
    FrozenTables::of_bytes(&rarity, lexicon.unwrap_or_default())
        .map(|frozen_tables| Some(Arc::new(frozen_tables)))
}

/// The bytes of the heap that one run of a collection has.
fn whole(tables: &Tables, kind: SectionKind) -> Result<Option<Vec<u8>>> {
    let Some(heap) = tables.runs.iter().find_map(|run| run.heap(kind)) else { return Ok(None) };
    let mut words = Vec::new();
    heap.read(0, heap.len() as usize, &mut words)?;
    words.iter_mut().for_each(|word| *word = word.to_le());
    Ok(Some(bytemuck::cast_slice(&words).to_vec()))
}
