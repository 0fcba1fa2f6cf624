//! The sorted rows of another process, fetched piece by piece in order, so that none holds those of another.

use std::sync::Arc;

use super::runs::row_at;
use crate::error::{Error, Result};
use crate::mesh::Mesh;

/// Topic of wishes: for the rows of a range, for more of them, or for no more at all.
pub(super) const WISHED: u32 = 21;
/// Topic of the pieces; an empty one is the end of a range.
pub(super) const ROWS: u32 = 22;
/// What is wished for.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) enum RowWish {
    /// The rows whose first number is at least the one, and less than the other.
    Range(u64, Option<u64>),
    /// More of the same.
    More,
    /// Nothing more: the other process may go on.
    End,
}

fn wish(mesh: &Mesh, process: usize, wish: &RowWish) -> Result<()> {
    let failed = |e: serde_json::Error| Error::Worker(format!("a wish that cannot be told: {e}"));
    mesh.send(process, WISHED, serde_json::to_vec(wish).map_err(failed)?)
}

/// The rows of another process.
pub(super) struct RemoteRows<const N: usize> {
    mesh: Arc<Mesh>,
    process: usize,
    piece: Vec<u8>,
    used: usize,
    over: bool,
}

impl<const N: usize> RemoteRows<N> {
    /// Asks for the rows whose first number is at least `from`, and less than `to` if there is an end.
    pub(super) fn new(mesh: &Arc<Mesh>, process: usize, from: u64, to: Option<u64>) -> Result<RemoteRows<N>> {
        wish(mesh, process, &RowWish::Range(from, to))?;
        Ok(RemoteRows { mesh: Arc::clone(mesh), process, piece: Vec::new(), used: 0, over: false })
    }

    pub(super) fn next(&mut self) -> Result<Option<[u64; N]>> {
        while self.used == self.piece.len() {
            if self.over {
                return Ok(None);
            }
            (self.piece, self.used) = (self.mesh.receive(self.process, ROWS)?, 0);
            self.over = self.piece.is_empty();
            if !self.over {
                // The next one comes while this one is looked at.
                wish(&self.mesh, self.process, &RowWish::More)?;
            }
        }
        let row = row_at(&self.piece[self.used..]);
        self.used += 8 * N;
        Ok(Some(row))
    }
}

/// Tells another process that nothing more is wished for.
pub(super) fn end(mesh: &Mesh, process: usize) -> Result<()> {
    wish(mesh, process, &RowWish::End)
}
