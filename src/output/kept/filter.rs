//! Which bytes of a file of records are written.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crate::output::chosen::Side;
use crate::read::Boundaries;

/// Passes over the bytes of a file of records, block by block, and drops the removed records, line ends included, or all
/// others.
pub(super) struct RecordFilter<'a> {
    side: Side,
    /// Where removed records start, ascending; those before `position` are gone.
    removed: &'a [u64],
    position: u64,
    /// Within a removed record.
    inside: bool,
    /// Bytes at the end of the last block that are not yet decided on.
    held: usize,
    /// `None` where the file is one record.
    boundaries: Option<Box<dyn Boundaries>>,
}

impl<'a> RecordFilter<'a> {
    /// A filter that starts at `position`, which must not be inside a removed record.
    pub(super) fn new(
        side: Side,
        removed: &'a [u64],
        position: u64,
        boundaries: Option<Box<dyn Boundaries>>,
    ) -> RecordFilter<'a> {
        RecordFilter { side, removed, position, inside: false, held: 0, boundaries }
    }

    /// Moves the bytes of the next `block` that are written to its front and returns how many there are. Moving within the
    /// block makes one write of many short runs; it touches only blocks that lose something. The next block must begin
    /// with the bytes that are [`held`](RecordFilter::held).
    pub(super) fn apply(&mut self, block: &mut [u8]) -> usize {
        let (mut read, mut written) = (0, 0);
        self.held = 0;
        while read < block.len() - self.held {
            let (end, inside) =
                if self.inside { self.record_end(block, read) } else { self.record_start(block, read) };
            if self.inside == (self.side == Side::Removed) {
                if written != read {
                    block.copy_within(read..end, written);
                }
                written += end - read;
            }
            (read, self.inside) = (end, inside);
        }
        self.position += (block.len() - self.held) as u64;
        written
    }

    /// Up to where bytes are of the removed record that the one at `read` is in, and whether it goes on behind the block.
    fn record_end(&mut self, block: &[u8], read: usize) -> (usize, bool) {
        if let Some(end) = self.boundaries.as_mut().and_then(|found| found.end(&block[read..])) {
            return (read + end, false);
        }
        self.held = self.boundaries.as_ref().map_or(0, |found| found.undecided());
        (block.len() - self.held, true)
    }

    /// Up to where bytes are of records that stay, and whether a removed one follows in the block.
    fn record_start(&mut self, block: &[u8], read: usize) -> (usize, bool) {
        let start = self.next_removed(self.position + read as u64);
        let start = start.map(|offset| usize::try_from(offset - self.position).unwrap_or(usize::MAX));
        let end = start.map_or(block.len(), |start| start.min(block.len()));
        (end, end < block.len())
    }

    /// Whether all of the next bytes, which are those of this range, are kept; if so, they have been passed over.
    pub(super) fn keeps(&mut self, bytes: &Range<u64>) -> bool {
        let keeps = !self.inside && self.next_removed(bytes.start).is_none_or(|removed| removed >= bytes.end);
        if keeps {
            self.position = bytes.end;
        }
        keeps
    }

    /// How many of the last bytes of the last block have to be given again, before those that follow them.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// How many of the bytes that are [`held`](RecordFilter::held) are written if nothing follows: then they are the end of a removed record.
    pub(super) fn rest(&self) -> usize {
        if self.side == Side::Removed { self.held } else { 0 }
    }

    /// The first removed record that starts at or after `from`.
    fn next_removed(&mut self, from: u64) -> Option<u64> {
        while let [first, rest @ ..] = self.removed {
            if *first >= from {
                return Some(*first);
            }
            self.removed = rest;
        }
        None
    }
}

/// Finds where records end, reading as little as it can: a small block a record where the records asked for lie far
/// apart, one pass over all bytes where they lie close.
pub(super) struct RecordEnds<'a, F> {
    file: &'a mut F,
    /// Ends beyond this are at this: the end of the file.
    limit: u64,
    buffer: &'a mut [u8],
    start: u64,
    filled: usize,
    boundaries: Box<dyn Boundaries>,
}

impl<'a, F: Read + Seek> RecordEnds<'a, F> {
    pub(super) fn new(
        file: &'a mut F,
        limit: u64,
        boundaries: Box<dyn Boundaries>,
        buffer: &'a mut [u8],
    ) -> RecordEnds<'a, F> {
        RecordEnds { file, limit, buffer, start: 0, filled: 0, boundaries }
    }

    /// Where the record that starts at `offset` ends, its line end included. `block` is how much to read at `offset`
    /// if those bytes are not at hand.
    pub(super) fn after(&mut self, offset: u64, block: usize) -> io::Result<u64> {
        let mut from = offset;
        let mut block = block;
        while from < self.limit {
            let held = from.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
            let Some(skip) = held.filter(|&skip| skip < self.filled) else {
                self.read_at(from, block)?;
                // A record longer than the first guess: read on by whole buffers.
                block = self.buffer.len();
                continue;
            };
            if let Some(end) = self.boundaries.end(&self.buffer[skip..self.filled]) {
                return Ok((from + end as u64).min(self.limit));
            }
            from = self.start + self.filled as u64;
            if from < self.limit && self.boundaries.undecided() > 0 {
                from -= self.boundaries.undecided() as u64;
                self.filled = 0;
            }
        }
        Ok(self.limit)
    }

    fn read_at(&mut self, offset: u64, block: usize) -> io::Result<()> {
        self.filled = 0;
        self.file.seek(SeekFrom::Start(offset))?;
        let block = block.clamp(1, self.buffer.len());
        self.filled = fill(self.file, &mut self.buffer[..block])?;
        self.start = offset;
        if self.filled == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

/// Reads until `buffer` is full or the input ends; returns how much there was.
pub(super) fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Format, boundaries};

    fn lines() -> Box<dyn Boundaries> {
        boundaries(Format::JsonLines).expect("lines")
    }

    #[test]
    fn filters_across_blocks_of_every_size() {
        let text = b"ab\n\ncdef\ng\nlast";
        for size in 1..=text.len() {
            for (side, expected) in [(Side::Kept, &b"cdef\nlast"[..]), (Side::Removed, b"ab\n\ng\n")] {
                let mut filter = RecordFilter::new(side, &[0, 3, 9], 0, Some(lines()));
                let mut written = Vec::new();
                for block in text.chunks(size) {
                    let mut block = block.to_vec();
                    let len = filter.apply(&mut block);
                    written.extend_from_slice(&block[..len]);
                }
                assert_eq!(written, expected, "{side:?}, blocks of {size}");
            }
        }
    }

    #[test]
    fn an_offset_within_a_removed_line_costs_no_other_line() {
        let mut block = *b"abc\ndef\n";
        let len = RecordFilter::new(Side::Kept, &[0, 0, 2], 0, Some(lines())).apply(&mut block);
        assert_eq!(&block[..len], b"def\n");
    }

    #[test]
    fn finds_line_ends_with_any_block() {
        let mut file = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut file, b"ab\n\ncdefghijkl\ng").expect("written");
        for block in 1..8 {
            for size in 1..20 {
                let mut buffer = vec![0; size];
                let mut ends = RecordEnds::new(&mut file, 16, lines(), &mut buffer);
                let found = [0, 3, 4, 15].map(|o| ends.after(o, block).expect("an end"));
                assert_eq!(found, [3, 4, 15, 16], "block {block}, buffer {size}");
            }
        }
        let mut buffer = [0; 4];
        assert!(
            RecordEnds::new(&mut file, 99, lines(), &mut buffer).after(15, 4).is_err(),
            "shorter than it was"
        );
    }
}
