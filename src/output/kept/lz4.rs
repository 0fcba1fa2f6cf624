//! One LZ4 frame (LZ4 Frame Format 1.6) of what is written: blocks that do not refer to each other, and a checksum of all of it.

use std::io::{self, Write};

use lz4_flex::block::{compress_into, get_maximum_output_size};
use xxhash_rust::xxh32::{Xxh32, xxh32};

use crate::limits::sized;

/// Bytes of a block, of which the largest that a frame may say is the next power of four.
const BLOCK: usize = sized(256 << 10, 1 << 10);
/// How the frame begins: its magic number, version 1 with independent blocks and a checksum, and blocks of at most 256 KiB.
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const DESCRIPTOR: [u8; 2] = [0x64, 0x50];
/// What the length of a block is marked with that is not compressed.
const STORED: u32 = 1 << 31;

/// Writes one frame.
pub struct Lz4Writer<W> {
    out: W,
    /// The next block.
    block: Vec<u8>,
    packed: Vec<u8>,
    checksum: Xxh32,
}

impl<W: Write> Lz4Writer<W> {
    /// Begins a frame.
    ///
    /// # Errors
    /// Those of what is written to.
    pub(super) fn new(mut out: W) -> io::Result<Lz4Writer<W>> {
        out.write_all(&MAGIC)?;
        out.write_all(&DESCRIPTOR)?;
        out.write_all(&[(xxh32(&DESCRIPTOR, 0) >> 8) as u8])?;
        Ok(Lz4Writer { out, block: Vec::new(), packed: Vec::new(), checksum: Xxh32::new(0) })
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.checksum.update(&self.block);
        self.packed.resize(get_maximum_output_size(self.block.len()), 0);
        let packed = compress_into(&self.block, &mut self.packed).map_err(io::Error::other)?;
        let (mark, bytes) = match packed < self.block.len() {
            true => (0, &self.packed[..packed]),
            false => (STORED, &self.block[..]),
        };
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.out.write_all(&(length | mark).to_le_bytes())?;
        self.out.write_all(bytes)?;
        self.block.clear();
        Ok(())
    }

    /// Ends the frame, and gives back what was written to.
    ///
    /// # Errors
    /// Those of what is written to.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        self.out.write_all(&[0; 4])?;
        self.out.write_all(&self.checksum.digest().to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> Write for Lz4Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == BLOCK {
            self.end_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_block()?;
        self.out.flush()
    }
}
