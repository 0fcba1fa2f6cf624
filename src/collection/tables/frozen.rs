//! The tables that a collection was created with, and that no load changes: counts of shingles, which a full compaction may make anew, and the
//! lexicon.

use std::sync::Arc;

use crate::collection::run::directory::SectionKind;
use crate::collection::run::schema::{LEXICON, RARITY};
use crate::collection::tables::Tables;
use crate::collection::tables::document::words_of;
use crate::error::{Error, Result};
use crate::method::FrozenTables;
use crate::sketch::Rarity;

/// The tables that the collection has.
pub(in crate::collection) fn frozen(tables: &Tables) -> Result<Option<Arc<FrozenTables>>> {
    let Some(run) = tables.runs.iter().find(|run| run.heap(RARITY).is_some()) else { return Ok(None) };
    let packed = whole(tables, RARITY)?.unwrap_or_default();
    let rarity = unpack(&packed)
        .ok_or_else(|| Error::damaged(run.path(), 0, "the rarity table cannot be unpacked"))?;
    let lexicon = whole(tables, LEXICON)?.map(|bytes| {
        let (length, bytes) = bytes
            .split_first_chunk::<8>()
            .map_or((0, &[][..]), |(length, bytes)| (u64::from_le_bytes(*length) as usize, bytes));
        bytes[..length.min(bytes.len())].to_vec()
    });
    FrozenTables::of_parts(rarity, lexicon.unwrap_or_default())
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

/// How hard the library tries to compress, from 1.
const LEVEL: i32 = 1;

/// Set in the first word of the heap if it has the counts of those slots alone that have one. Earlier programs wrote a count for each.
const SPARSE: u64 = 1 << 63;

/// The rarity table as words of its heap: its bytes compressed, behind a word with how many there are. Of a table that knows nothing none.
///
/// # Errors
/// [`Error::Worker`] if it cannot be compressed.
pub(in crate::collection) fn packed_rarity(rarity: &Rarity) -> Result<Vec<u64>> {
    // What is missing counts as rarest, so tables that know nothing, those of most methods, take no room.
    if rarity.is_empty() {
        return Ok(Vec::new());
    }
    let packed = zstd::bulk::compress(&rarity.to_bytes(), LEVEL);
    let packed = packed.map_err(|e| Error::Worker(format!("the rarity table cannot be compressed: {e}")))?;
    let mut words = vec![packed.len() as u64 | SPARSE];
    words.extend(words_of(&packed));
    Ok(words)
}

/// What [`packed_rarity`] has packed.
fn unpack(packed: &[u8]) -> Option<Rarity> {
    let Some((length, packed)) = packed.split_first_chunk() else { return Some(Rarity::default()) };
    let length = u64::from_le_bytes(*length);
    let packed = packed.get(..usize::try_from(length & !SPARSE).ok()?)?;
    if length & SPARSE == 0 {
        return Some(Rarity::of_counts(&decompressed(packed, Rarity::MOST_COUNTS)?));
    }
    Rarity::of_bytes(&decompressed(packed, Rarity::MOST_BYTES)?)
}

/// As much as there is room for, whatever a frame says of itself.
fn decompressed(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    zstd::bulk::Decompressor::new().ok()?.decompress_to_buffer(packed, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes_of(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(counts in prop::collection::vec(prop_oneof![9 => Just(0u8), 1 => any::<u8>()], 0..400), cut in any::<prop::sample::Index>()) {
            let words = packed_rarity(&Rarity::of_counts(&counts)).expect("packed");
            let back = unpack(&bytes_of(&words)).expect("unpacked");
            prop_assert!((0..400).all(|slot| back.rank(slot) == counts.get(slot as usize).copied().unwrap_or(0)));
            // A part of it is nothing.
            let cut = cut.index(words.len().max(1));
            prop_assert!(cut == 0 || unpack(&bytes_of(&words[..cut])).is_none());
        }

        #[test]
        fn a_count_for_each_slot_as_earlier_programs_wrote_them_is_read(counts in prop::collection::vec(any::<u8>(), 1..400)) {
            let packed = zstd::bulk::compress(&counts, LEVEL).expect("packed");
            let bytes = [&(packed.len() as u64).to_le_bytes()[..], &packed].concat();
            let back = unpack(&bytes).expect("unpacked");
            prop_assert!((0..).zip(&counts).all(|(slot, count)| back.rank(slot) == *count));
        }
    }

    #[test]
    fn no_more_is_unpacked_than_a_table_has() {
        for (most, flag) in [(Rarity::MOST_COUNTS, 0), (Rarity::MOST_BYTES, SPARSE)] {
            let packed = zstd::bulk::compress(&vec![0; most + 1], LEVEL).expect("packed");
            let bytes = [&(packed.len() as u64 | flag).to_le_bytes()[..], &packed].concat();
            assert!(unpack(&bytes).is_none());
        }
    }
}
