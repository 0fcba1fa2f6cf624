//! What a document is: a record at a position of the input.

use crate::limits::{MAX_FILE_BYTES, MAX_FILES};

/// A document's number within a run: `base + row * workers + worker`, over the workers of all processes. It names the
/// worker that read the document (its *owner*) and the row there. Numbers depend on the run; positions do not.
pub type Doc = u32;

/// The number of no document.
pub const NO_DOC: Doc = Doc::MAX;

/// Where a document stands in the input: the file's index in input order and the offset of its record in the
/// decompressed bytes of that file. Positions order documents: this is *document order*. Ids are labels only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Position(u64);

impl Position {
    /// The position of the record at byte `offset` of file number `file`. Both are bounded where files are
    /// opened ([`MAX_FILES`], [`MAX_FILE_BYTES`]).
    pub fn new(file: u32, offset: u64) -> Position {
        debug_assert!((file as usize) < MAX_FILES && offset < MAX_FILE_BYTES);
        Position(u64::from(file) << 40 | offset)
    }

    /// Index of the file in input order.
    pub fn file(self) -> u32 {
        (self.0 >> 40) as u32
    }

    /// Offset of the record's first byte in the decompressed file.
    pub fn offset(self) -> u64 {
        self.0 & (MAX_FILE_BYTES - 1)
    }

    /// The position that [`Position::to_bits`] made `bits` of.
    pub fn from_bits(bits: u64) -> Position {
        Position(bits)
    }

    /// The position as one integer with the same order.
    pub fn to_bits(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_order_by_file_then_offset() {
        let last = (MAX_FILES as u32 - 1, MAX_FILE_BYTES - 1);
        let places = [(0, 0), (0, 1), (0, last.1), (1, 0), (1, 7), (last.0, 0), last];
        let positions = places.map(|(file, offset)| Position::new(file, offset));
        assert!(positions.is_sorted_by(|a, b| a < b && a.to_bits() < b.to_bits()));
        assert_eq!(positions.map(|position| (position.file(), position.offset())), places);
    }
}
