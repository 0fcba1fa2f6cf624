//! How much objects may take.

use std::io;

use super::super::metadata::flat::damaged;
use crate::limits::{MAX_VALUE_BYTES, sized};
use crate::read::bytes::RecordRoom;

/// Most rows, or values of a list, that are made objects of at once.
pub(super) const ROWS: usize = sized(64, 3);
/// How often what an object is made of is in memory: as it is read, as values, as an object, and in its line.
pub(super) const OBJECTS: u64 = 4;

/// What objects, and values, may take.
#[derive(Clone, Copy)]
pub(super) struct ObjectRoom<'a> {
    pub(super) room: &'a RecordRoom,
    /// Bytes that are held beside the objects.
    pub(super) held: u64,
    /// Bytes of all objects that are made at once, and how many these are.
    pub(super) most: usize,
    pub(super) rows: usize,
}

impl ObjectRoom<'_> {
    /// Refuses so many bytes if they are too many.
    pub(super) fn allows(&self, bytes: usize) -> io::Result<()> {
        match bytes {
            bytes if bytes <= self.most => Ok(()),
            bytes if self.most < MAX_VALUE_BYTES || self.rows > 1 => {
                let cost = self.held.saturating_add((bytes as u64).saturating_mul(OBJECTS));
                let why = self.room.refusal_to_rewrite(&format!("a row has {bytes} bytes as JSON"), cost);
                Err(io::Error::new(io::ErrorKind::OutOfMemory, why))
            }
            _ => Err(damaged("a row that is longer than a record may be")),
        }
    }
}
