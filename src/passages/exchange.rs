//! Sorted rows given to other processes, as they ask for them.

use super::merge::{RowMerge, RowSource};
use super::remote_rows::{ROWS, RowWish, WISHED};
use super::runs::{SortedRun, block};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::mesh::Mesh;

/// Bytes of a piece, give or take a row.
const BYTES: usize = sized(256 << 10, 256);

/// Gives another process rows of some runs, as it asks for them. The runs may take so many bytes together while they are
/// read.
pub(super) fn give<const N: usize>(
    mesh: &Mesh,
    process: usize,
    runs: &[SortedRun<N>],
    bytes: usize,
) -> Result<()> {
    let mut merge = RowMerge::new(Vec::new())?;
    let block = block(bytes, runs.len());
    loop {
        let said = mesh.receive(process, WISHED)?;
        let failed = |e: serde_json::Error| Error::Worker(format!("a wish that makes no sense: {e}"));
        match serde_json::from_slice(&said).map_err(failed)? {
            RowWish::Range(from, to) => {
                let read = |run: &SortedRun<N>| run.read_between(from, to, block).map(RowSource::Run);
                merge = RowMerge::new(runs.iter().map(read).collect::<Result<_>>()?)?;
            }
            RowWish::More => {}
            RowWish::End => return Ok(()),
        }
        let mut piece = Vec::with_capacity(BYTES + 8 * N);
        while piece.len() < BYTES
            && let Some(row) = merge.next()?
        {
            row.iter().for_each(|number| piece.extend_from_slice(&number.to_le_bytes()));
        }
        mesh.send(process, ROWS, piece)?;
    }
}
