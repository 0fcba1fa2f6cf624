//! Dividing a large uncompressed file among workers: which part of it goes where in the kept file.

use crate::limits::sized;
use std::io::{self, Read, Seek};

use super::filter::RecordEnds;
use crate::output::chosen::Side;
use crate::read::Boundaries;

/// Sizes in bytes that decide how work is cut, but never what is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopySizes {
    /// A larger uncompressed file is divided into pieces of about this.
    pub(super) piece: u64,
    /// What is read and written at once.
    pub(super) block: usize,
    /// What is read to find the end of a removed record that has no other close by.
    pub(super) probe: usize,
}

impl CopySizes {
    /// Blocks of 256 KiB stay in the second-level cache and copied a cached file as fast as `cp` (4 GB/s), and
    /// half again as fast on two workers. In-kernel copying (`copy_file_range`, by way of `std::io::copy`) was no
    /// faster on one worker, and on two it gained nothing: it holds the output's lock throughout.
    pub(super) const USUAL: CopySizes = sized(
        CopySizes { piece: 8 << 20, block: 256 << 10, probe: 4 << 10 },
        CopySizes { piece: 300, block: 64, probe: 16 },
    );
}

/// A part of an uncompressed file that one worker copies: it begins and ends outside removed records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct CopyPiece {
    /// Its first byte in the input.
    pub(super) start: u64,
    /// The byte after its last.
    pub(super) end: u64,
    /// Where its first byte goes in the file that is written.
    pub(super) to: u64,
    /// Bytes of it that are written.
    pub(super) written: u64,
}

/// The removed records that start within one cut of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    bytes: u64,
    /// Where the last of them ends.
    end: u64,
}

/// How many cuts a file of `len` bytes is divided into.
pub(super) fn cuts(len: u64, sizes: CopySizes) -> usize {
    usize::try_from(len.div_ceil(sizes.piece)).unwrap_or(usize::MAX)
}

/// Of the ascending offsets `removed`, those from `start` until before `end`.
pub(super) fn between(removed: &[u64], start: u64, end: u64) -> &[u64] {
    let from = removed.partition_point(|&o| o < start);
    let until = removed.partition_point(|&o| o < end);
    &removed[from..until]
}

/// Measures the removed records that start in cut number `cut` of a file with `len` good bytes.
pub(super) fn measure(
    file: &mut (impl Read + Seek),
    len: u64,
    removed: &[u64],
    cut: usize,
    sizes: CopySizes,
    boundaries: Box<dyn Boundaries>,
    buffer: &mut [u8],
) -> io::Result<Loss> {
    let start = cut as u64 * sizes.piece;
    let removed = between(removed, start, len.min(start + sizes.piece));
    let mut ends = RecordEnds::new(file, len, boundaries, buffer);
    let mut loss = Loss::default();
    for (i, &offset) in removed.iter().enumerate() {
        // Where the next removed record is close, the block that holds both costs less than two.
        let close = removed.get(i + 1).is_some_and(|next| next - offset < sizes.block as u64 / 4);
        let end = ends.after(offset, if close { sizes.block } else { sizes.probe })?;
        loss.bytes += end - offset;
        loss.end = end;
    }
    Ok(loss)
}

/// The pieces of a file with `len` good bytes, from the losses of its cuts, the first of which goes to `to`. A removed record
/// that crosses a cut moves the border between two pieces to its end, so that no piece begins within it.
pub(super) fn pieces(side: Side, len: u64, losses: &[Loss], mut to: u64, sizes: CopySizes) -> Vec<CopyPiece> {
    let mut pieces = Vec::with_capacity(losses.len());
    let mut start = 0;
    for (cut, loss) in losses.iter().enumerate() {
        let end = len.min((cut as u64 + 1) * sizes.piece).max(loss.end).max(start);
        let written = match side {
            Side::Kept | Side::Annotated => (end - start).saturating_sub(loss.bytes),
            Side::Removed => loss.bytes,
        };
        if written > 0 {
            pieces.push(CopyPiece { start, end, to, written });
        }
        to += written;
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Format, boundaries};

    fn lines() -> Box<dyn Boundaries> {
        boundaries(Format::JsonLines).expect("lines")
    }

    #[test]
    fn a_removed_line_over_several_cuts_moves_their_borders() {
        let sizes = CopySizes { piece: 4, block: 8, probe: 2 };
        let mut file = tempfile::tempfile().expect("a file");
        io::Write::write_all(&mut file, b"ab\n0123456789\nc\nd").expect("written");
        let mut buffer = [0; 8];
        let losses: Vec<Loss> = (0..cuts(17, sizes))
            .map(|cut| measure(&mut file, 17, &[3], cut, sizes, lines(), &mut buffer).expect("measured"))
            .collect();
        let expected = [
            CopyPiece { start: 0, end: 14, to: 0, written: 3 },
            CopyPiece { start: 14, end: 16, to: 3, written: 2 },
            CopyPiece { start: 16, end: 17, to: 5, written: 1 },
        ];
        assert_eq!(pieces(Side::Kept, 17, &losses, 0, sizes), expected);
        let expected = [CopyPiece { start: 0, end: 14, to: 7, written: 11 }];
        assert_eq!(pieces(Side::Removed, 17, &losses, 7, sizes), expected);
    }
}
