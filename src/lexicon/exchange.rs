//! The counts of other processes, fetched piece by piece in the order of their terms, so that none holds those of another.

use std::sync::Arc;

use super::sorted::{CountMerge, Sorted, decode, encode};
use crate::error::Result;
use crate::limits::sized;
use crate::mesh::Mesh;

/// Topic of the wish for a piece.
const WANTED: u32 = 3;
/// Topic of the pieces; an empty one is the end.
const PIECE: u32 = 4;
/// Bytes of a piece, give or take a term.
const BYTES: usize = sized(256 << 10, 256);

/// The counts of another process, as process 0 sees them.
pub(super) struct Remote {
    mesh: Arc<Mesh>,
    process: usize,
    piece: Vec<u8>,
    used: usize,
    over: bool,
}

impl Remote {
    /// Asks for the first piece.
    pub(super) fn new(mesh: &Arc<Mesh>, process: usize) -> Result<Remote> {
        let remote = Remote { mesh: Arc::clone(mesh), process, piece: Vec::new(), used: 0, over: false };
        remote.ask().map(|()| remote)
    }

    fn ask(&self) -> Result<()> {
        self.mesh.send(self.process, WANTED, Vec::new())
    }
}

impl Sorted for Remote {
    fn next(&mut self, term: &mut String) -> Result<Option<u64>> {
        loop {
            if let Some((count, bytes)) = decode(&self.piece[self.used..], term)? {
                self.used += bytes;
                return Ok(Some(count));
            }
            if self.over {
                return Ok(None);
            }
            (self.piece, self.used) = (self.mesh.receive(self.process, PIECE)?, 0);
            self.over = self.piece.is_empty();
            if !self.over {
                // The next one comes while this one is looked at.
                self.ask()?;
            }
        }
    }
}

/// Gives process 0 all counts, as it asks for them.
pub(super) fn give(mesh: &Mesh, mut counts: CountMerge<'_>) -> Result<()> {
    let (mut piece, mut term) = (Vec::with_capacity(2 * BYTES), String::new());
    loop {
        mesh.receive(0, WANTED)?;
        while piece.len() < BYTES
            && let Some(count) = counts.next(&mut term)?
        {
            encode(&term, count, &mut piece);
        }
        let last = piece.is_empty();
        mesh.send(0, PIECE, std::mem::take(&mut piece))?;
        if last {
            return Ok(());
        }
    }
}
