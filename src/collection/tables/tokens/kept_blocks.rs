//! Unpacked blocks that stay where texts are read in another order than they lie: each is unpacked once, and not for every text.

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
    room: Mutex<Room>,
}

/// What is left for more blocks.
#[derive(Debug)]
struct Room {
    bytes: u64,
    /// Many blocks have one.
    vocabularies: HashMap<VocabularyPlace, Arc<Vec<u64>>>,
}

impl KeptBlocks {
    /// None yet of these, which are ascending; at most so many bytes of them.
    pub fn new(places: Vec<BlockPlace>, bytes: u64) -> KeptBlocks {
        let blocks = places.iter().map(|_| OnceLock::new()).collect();
        KeptBlocks { places, blocks, room: Mutex::new(Room { bytes, vocabularies: HashMap::new() }) }
    }

    /// Bytes that so many blocks take while none is kept; and about those when all are, with where their texts end and with their
    /// vocabularies.
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
        let vocabulary = self.room.lock().unwrap_or_else(PoisonError::into_inner).of(place.0, block);
        if let Some(vocabulary) = vocabulary {
            let copy = block.with_vocabulary(vocabulary);
            let bytes = copy.bytes();
            if self.blocks[at].set(copy).is_err() {
                // Another thread was faster.
                self.room.lock().unwrap_or_else(PoisonError::into_inner).bytes += bytes;
            }
        }
    }
}

impl Room {
    /// Takes the room for a block of a run; the vocabulary that it shares, if there was room.
    fn of(&mut self, run: u32, block: &OpenBlock) -> Option<Arc<Vec<u64>>> {
        let place = (run, block.vocabulary_number());
        let known = self.vocabularies.get(&place).cloned();
        let of_vocabulary = if known.is_some() { 0 } else { size_of_val(&block.vocabulary()[..]) as u64 };
        self.bytes = self.bytes.checked_sub(block.bytes() + of_vocabulary)?;
        Some(known.unwrap_or_else(|| {
            self.vocabularies.insert(place, Arc::clone(block.vocabulary()));
            Arc::clone(block.vocabulary())
        }))
    }
}
