//! Unpacked blocks that stay where texts are read in another order than they lie: each is unpacked once, and not for every text.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;

use super::block::BLOCK_BYTES;
use super::cursor::OpenBlock;

/// Where a block is: the place of its run among those of the tables, and its first word.
pub type BlockPlace = (u32, u64);

/// Where a vocabulary is: the place of its run, and its number there.
type VocabularyPlace = (u32, u32);

/// Blocks by their places, as many as there is room for.
#[derive(Debug)]
pub struct KeptBlocks {
    /// Ascending.
    places: Vec<BlockPlace>,
    blocks: Vec<OnceLock<OpenBlock>>,
    /// Many blocks have one.
    vocabularies: Mutex<HashMap<VocabularyPlace, Arc<Vec<u64>>>>,
    /// Bytes that are left.
    room: AtomicU64,
}

impl KeptBlocks {
    /// None yet of these, which are ascending; at most so many bytes of them.
    pub fn new(places: Vec<BlockPlace>, room: u64) -> KeptBlocks {
        let blocks = places.iter().map(|_| OnceLock::new()).collect();
        KeptBlocks { places, blocks, vocabularies: Mutex::default(), room: AtomicU64::new(room) }
    }

    /// Bytes that so many blocks take while none is kept; and when all are, with where their texts end and with their vocabularies.
    pub fn bytes_of(blocks: usize) -> (u64, u64) {
        let none = blocks * (size_of::<BlockPlace>() + size_of::<OnceLock<OpenBlock>>());
        (none as u64, (none + blocks * BLOCK_BYTES / 2 * 3) as u64)
    }

    /// The block at a place, if it is kept.
    pub fn get(&self, place: BlockPlace) -> Option<&OpenBlock> {
        self.blocks[self.places.binary_search(&place).ok()?].get()
    }

    /// Keeps a copy of a block, if it is one of these and there is room.
    pub fn keep(&self, place: BlockPlace, block: &OpenBlock) {
        let Ok(at) = self.places.binary_search(&place) else { return };
        let mut vocabularies = self.vocabularies.lock().unwrap_or_else(PoisonError::into_inner);
        let of_block = (place.0, block.vocabulary_number());
        let known = vocabularies.get(&of_block).cloned();
        let of_vocabulary =
            if known.is_some() { 0 } else { (block.vocabulary().len() * size_of::<u64>()) as u64 };
        let bytes = block.bytes() + of_vocabulary;
        let left = |room: u64| room.checked_sub(bytes);
        if self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok() {
            let vocabulary = known.unwrap_or_else(|| Arc::clone(block.vocabulary()));
            vocabularies.entry(of_block).or_insert_with(|| Arc::clone(&vocabulary));
            // Another thread may have been faster; then this copy is dropped.
            _ = self.blocks[at].set(block.with_vocabulary(vocabulary));
        }
    }
}
