//! One gzip member, compressed block by block on several threads.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::limits::sized;

/// Bytes of a block. Whoever reads the member sees none: what is compressed of them follows each other in one stream.
const BLOCK: usize = sized(512 << 10, 300);
/// How far back deflate may point (RFC 1951, section 2): a block is compressed with so many bytes before it known.
const REACH: usize = 32 << 10;
/// The header of a member without a name and a time, of an unknown system (RFC 1952, section 2.3).
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes for which there is room at a time in what is compressed.
const ROOM: usize = 64 << 10;

/// Compresses what is written to it to one gzip member, whose bytes do not depend on the number of threads.
pub struct GzipWriter<W: Write> {
    out: W,
    /// The bytes of the block that is being filled, behind those before it that it may point to.
    block: Vec<u8>,
    /// How many bytes of it are those before it.
    before: usize,
    crc: Crc,
    /// What is compressed or will be, in the order of the blocks.
    waiting: VecDeque<Receiver<io::Result<PackedBlock>>>,
    packers: BlockPackers,
}

struct GzipBlock {
    bytes: Vec<u8>,
    before: usize,
    is_last: bool,
    answer: Sender<io::Result<PackedBlock>>,
}

struct PackedBlock {
    bytes: Vec<u8>,
    crc: Crc,
}

impl<W: Write> GzipWriter<W> {
    /// A member of which so many threads compress blocks.
    ///
    /// # Errors
    /// Those of what is written to, and of starting a thread.
    pub(super) fn new(mut out: W, threads: usize) -> io::Result<GzipWriter<W>> {
        out.write_all(&HEADER)?;
        Ok(GzipWriter {
            out,
            block: Vec::new(),
            before: 0,
            crc: Crc::new(),
            waiting: VecDeque::new(),
            packers: BlockPackers::new(threads.max(1))?,
        })
    }

    /// Hands the present block out, and writes what was compressed before it: at most two blocks a thread are under way.
    fn hand_out(&mut self, is_last: bool) -> io::Result<()> {
        let mut next = Vec::new();
        if !is_last {
            next.reserve(REACH + BLOCK);
            next.extend_from_slice(&self.block[self.block.len().saturating_sub(REACH)..]);
        }
        let before = mem::replace(&mut self.before, next.len());
        let bytes = mem::replace(&mut self.block, next);
        self.waiting.push_back(self.packers.pack(bytes, before, is_last)?);
        let most = if is_last { 0 } else { 2 * self.packers.threads.len() };
        while self.waiting.len() > most {
            self.write_first()?;
        }
        Ok(())
    }

    /// Writes the first block that is not written yet, as soon as it is compressed.
    fn write_first(&mut self) -> io::Result<()> {
        let Some(first) = self.waiting.pop_front() else { return Ok(()) };
        let packed = first.recv().map_err(|_| gone())??;
        self.crc.combine(&packed.crc);
        self.out.write_all(&packed.bytes)
    }

    /// Writes what is left, and gives back what was written to.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.hand_out(true)?;
        self.out.write_all(&self.crc.sum().to_le_bytes())?;
        self.out.write_all(&self.crc.amount().to_le_bytes())?;
        Ok(self.out)
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.before + BLOCK - self.block.len();
        let taken = bytes.len().min(room);
        self.block.extend_from_slice(&bytes[..taken]);
        if taken == room {
            self.hand_out(false)?;
        }
        Ok(taken)
    }

    /// Does nothing: a block that is not full is compressed when the member ends.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Threads that compress blocks. They end when this is dropped.
struct BlockPackers {
    /// `None` once no more blocks come.
    blocks: Option<Sender<GzipBlock>>,
    threads: Vec<JoinHandle<()>>,
}

impl BlockPackers {
    fn new(threads: usize) -> io::Result<BlockPackers> {
        let (blocks, taken) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut packers = BlockPackers { blocks: Some(blocks), threads: Vec::new() };
        for _ in 0..threads {
            let taken = Arc::clone(&taken);
            let thread = thread::Builder::new().name("alike-gzip".into());
            packers.threads.push(thread.spawn(move || pack_blocks(&taken))?);
        }
        Ok(packers)
    }

    /// Has a block compressed, whose first bytes are `before` ones that stand before it.
    fn pack(
        &self,
        bytes: Vec<u8>,
        before: usize,
        is_last: bool,
    ) -> io::Result<Receiver<io::Result<PackedBlock>>> {
        let (answer, waiting) = channel();
        let blocks = self.blocks.as_ref().ok_or_else(gone)?;
        blocks.send(GzipBlock { bytes, before, is_last, answer }).map_err(|_| gone())?;
        Ok(waiting)
    }
}

impl Drop for BlockPackers {
    fn drop(&mut self) {
        self.blocks = None;
        for thread in self.threads.drain(..) {
            // A panic was told to whoever waited for the block.
            let _ = thread.join();
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("a thread that compresses ended with a panic")
}

/// What a thread does: compresses one block after the other, until no more come.
fn pack_blocks(taken: &Mutex<Receiver<GzipBlock>>) {
    loop {
        let block = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(block) = block else { return };
        let packed = pack_block(&block);
        // Nobody waits for it if writing failed.
        let _ = block.answer.send(packed);
    }
}

/// Compresses a block to where a byte ends, so that the next one can follow.
fn pack_block(block: &GzipBlock) -> io::Result<PackedBlock> {
    // A compressor that was reset finds other matches than a new one: what it compressed before stays in its window,
    // and then the bytes depend on which thread took which blocks.
    let mut compress = Compress::new(Compression::default(), false);
    let (before, bytes) = block.bytes.split_at(block.before);
    if !before.is_empty() {
        compress.set_dictionary(before)?;
    }
    let flush = if block.is_last { FlushCompress::Finish } else { FlushCompress::Sync };
    let mut packed = Vec::with_capacity(bytes.len() / 2 + ROOM);
    let mut taken = 0;
    loop {
        if packed.capacity() == packed.len() {
            packed.reserve(ROOM);
        }
        let status = compress.compress_vec(&bytes[taken..], &mut packed, flush)?;
        taken = compress.total_in() as usize;
        // Room that is left says that all is flushed.
        let is_flushed = taken == bytes.len() && packed.len() < packed.capacity();
        if status == Status::StreamEnd || !block.is_last && is_flushed {
            break;
        }
    }
    let mut crc = Crc::new();
    crc.update(bytes);
    Ok(PackedBlock { bytes: packed, crc })
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "one member is what a test asks for")]
mod tests {
    use std::io::Read;

    use flate2::bufread::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    fn written(parts: &[Vec<u8>], threads: usize) -> Vec<u8> {
        let mut writer = GzipWriter::new(Vec::new(), threads).expect("threads");
        parts.iter().for_each(|part| writer.write_all(part).expect("written"));
        writer.finish().expect("written")
    }

    /// The content of a member, by a decoder that knows nothing of blocks; nothing may follow it.
    fn unpacked(member: &[u8]) -> Vec<u8> {
        let (mut decoder, mut out) = (GzDecoder::new(member), Vec::new());
        decoder.read_to_end(&mut out).expect("one member");
        assert!(decoder.into_inner().is_empty(), "something follows");
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn one_member_holds_all_and_is_the_same_by_any_number_of_threads(
            parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 0_usize..60_000), 0..5),
            edge in prop::sample::select(vec![0, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK]),
        ) {
            let mut parts: Vec<Vec<u8>> = parts.into_iter().map(|(part, times)| part.repeat(times)).collect();
            parts.push((0..edge).map(|n| (n * 7919 % 251) as u8).collect());
            let member = written(&parts, 1);
            prop_assert_eq!(unpacked(&member), parts.concat());
            let small: Vec<Vec<u8>> = parts.concat().chunks(999).map(<[u8]>::to_vec).collect();
            for threads in [2, 5] {
                prop_assert!(written(&small, threads) == member, "{} threads", threads);
            }
        }
    }

    #[test]
    fn what_fails_to_be_written_is_an_error_and_ends_the_threads() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if self.0 < bytes.len() {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.0 -= bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let noise: Vec<u8> =
            (0..4 * BLOCK as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        for room in [0, 10, 1000] {
            let outcome = GzipWriter::new(Full(room), 2).and_then(|mut writer| {
                writer.write_all(&noise)?;
                writer.finish()
            });
            assert_eq!(outcome.err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull), "{room}");
        }
    }
}
