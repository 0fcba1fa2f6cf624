//! The bytes of a buffer, read forward: as they stand in the file, or decompressed on the way, so that no buffer has to be in
//! memory as a whole.
#![expect(
    clippy::disallowed_types,
    reason = "each is read in steps of a fixed size, and no further than it may"
)]

use std::io::{self, Read};
use std::mem;
use std::sync::Arc;

use super::super::metadata::flat::damaged;
use super::super::metadata::message::{BodyCodec, read_exact};
use crate::limits::sized;
use crate::read::bytes::InputFile;
use crate::read::formats::parquet::caught;
use crate::read::windowed::carries;

/// Least and most bytes that are read at once.
const STEP: (usize, usize) = sized((4 << 10, 256 << 10), (16, 64));
/// Bytes of a column that are read at once, if a row is not longer.
pub(in crate::read::formats::arrow) const AT_ONCE: u64 = sized(1 << 20, 256);
/// Bytes that are decompressed at once.
const UNPACKED: usize = sized(64 << 10, 64);
/// Least bytes of a buffer that is fetched by itself: as many as a request brings.
const LONG: u64 = sized(8 << 20, 1 << 10);
/// Largest window of Zstandard, as a power of two: where there is little memory, and where there is enough.
const WINDOW: (u32, u32) = (23, 27);

/// How zstd calls a window that is wider than it may be.
const TOO_WIDE: &str = "too much memory";

/// Does what a decoder does with bytes that nobody has vouched for. Where it panics, that is an error of the file, too; it is
/// not used afterwards.
fn guarded(work: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
    caught(work).unwrap_or_else(|_| Err(damaged("what is there makes no sense")))
}

/// What does not fit in the memory.
pub(in crate::read::formats::arrow) fn no_room(bytes: u64) -> io::Error {
    let what = format!(
        "a buffer of a batch takes {bytes} bytes at once, which do not fit in the memory allowed: allow more with --memory, \
         or write the file with smaller batches"
    );
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}

/// A buffer.
pub(in crate::read::formats::arrow) struct BufferBytes {
    from: BufferOrigin,
    /// Bytes of it, decompressed, as it says.
    length: u64,
    /// What was read ahead, from `start` on, which is the byte `at` of the buffer.
    held: Vec<u8>,
    start: usize,
    at: u64,
    /// Bytes to read next.
    step: usize,
}

enum BufferOrigin {
    /// As it stands from a place of a file on.
    Plain { file: Arc<InputFile>, start: u64 },
    /// Decompressed, up to an error.
    Packed {
        decoder: Box<dyn Read + Send>,
        error: Option<io::Error>,
        ended: bool,
        /// Whether more memory would allow wider windows.
        is_narrow: bool,
    },
}

impl BufferOrigin {
    fn packed(decoder: Box<dyn Read + Send>, is_narrow: bool) -> BufferOrigin {
        BufferOrigin::Packed { decoder, error: None, ended: false, is_narrow }
    }
}

/// A range of a file, read forward.
struct FileBytes {
    file: Arc<InputFile>,
    at: u64,
    end: u64,
}

impl Read for FileBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(into.len());
        let read = self.file.read_at(&mut into[..left], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl BufferBytes {
    /// The buffer in so many bytes of a file from `start` on, which are all there.
    /// Decompressing it may take about as much memory as `most` bytes.
    pub(in crate::read::formats::arrow) fn open(
        file: &Arc<InputFile>,
        (start, bytes): (u64, u64),
        codec: BodyCodec,
        most: u64,
    ) -> io::Result<BufferBytes> {
        let end = start + bytes;
        // Of an object, a long buffer is fetched by itself.
        let again = if bytes >= LONG { file.again(start..end) } else { None };
        let file = again.map_or_else(|| Arc::clone(file), Arc::new);
        if codec == BodyCodec::None || bytes == 0 {
            return Ok(BufferBytes::new(BufferOrigin::Plain { file, start }, bytes));
        }
        let mut length = [0; 8];
        if bytes < 8 {
            return Err(damaged("a compressed buffer without its length"));
        }
        read_exact(&file, &mut length, start)?;
        let start = start + 8;
        let length = match i64::from_le_bytes(length) {
            // It would have grown.
            -1 => return Ok(BufferBytes::new(BufferOrigin::Plain { file, start }, bytes - 8)),
            length => u64::try_from(length).map_err(|_| damaged("a buffer of less than no bytes"))?,
        };
        let packed = FileBytes { file, at: start, end };
        let packed = io::BufReader::with_capacity(UNPACKED, packed);
        let decoder: Box<dyn Read + Send> = match codec {
            BodyCodec::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(packed)),
            _ => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                let window = most.max(1).ilog2().clamp(WINDOW.0, WINDOW.1);
                decoder.window_log_max(window)?;
                return Ok(BufferBytes::new(
                    BufferOrigin::packed(Box::new(decoder), window < WINDOW.1),
                    length,
                ));
            }
        };
        Ok(BufferBytes::new(BufferOrigin::packed(decoder, false), length))
    }

    fn new(from: BufferOrigin, length: u64) -> BufferBytes {
        BufferBytes { from, length, held: Vec::new(), start: 0, at: 0, step: STEP.0 }
    }

    /// Bytes of it, as it says.
    pub(in crate::read::formats::arrow) fn length(&self) -> u64 {
        self.length
    }

    /// Whether it is decompressed on the way.
    pub(in crate::read::formats::arrow) fn is_packed(&self) -> bool {
        matches!(self.from, BufferOrigin::Packed { .. })
    }

    /// Goes on at a byte.
    fn go_to(&mut self, at: u64) -> io::Result<()> {
        let ahead = at.checked_sub(self.at).ok_or_else(|| damaged("offsets that go back"))?;
        let held = (self.held.len() - self.start) as u64;
        if ahead <= held {
            self.start += ahead as usize;
            self.at = at;
            return Ok(());
        }
        self.held.clear();
        (self.start, self.at) = (0, self.at + held);
        match &self.from {
            BufferOrigin::Plain { .. } => {
                (self.at, self.step) = (at, STEP.0);
                Ok(())
            }
            BufferOrigin::Packed { .. } => {
                while self.at < at {
                    self.more(UNPACKED)?;
                    let passed = (at - self.at).min(self.held.len() as u64);
                    if passed == 0 {
                        return Err(self.ended());
                    }
                    self.at += passed;
                    self.start = passed as usize;
                    if self.at < at {
                        self.held.clear();
                        self.start = 0;
                    }
                }
                Ok(())
            }
        }
    }

    /// Why there are no more bytes.
    fn ended(&mut self) -> io::Error {
        match &mut self.from {
            BufferOrigin::Packed { error: Some(error), is_narrow, .. } => {
                let said = error.to_string();
                match (carries(error), *is_narrow && said.contains(TOO_WIDE)) {
                    (true, _) => mem::replace(error, damaged(said)),
                    (false, true) => no_room(1 << WINDOW.1),
                    (false, false) => damaged(format!("what is compressed cannot be decompressed ({said})")),
                }
            }
            _ => damaged("a buffer that ends before its values"),
        }
    }

    /// Reads so many bytes more, or a few more than that, or as many as there are.
    fn more(&mut self, bytes: usize) -> io::Result<()> {
        self.held.drain(..self.start);
        self.start = 0;
        if self.held.is_empty() && self.held.capacity() > 4 * STEP.1 {
            self.held = Vec::new();
        }
        let read = self.at + self.held.len() as u64;
        match &mut self.from {
            BufferOrigin::Plain { file, start } => {
                let left = usize::try_from(self.length.saturating_sub(read)).unwrap_or(usize::MAX);
                let wanted = bytes.max(self.step).min(left);
                self.step = (2 * self.step).min(STEP.1);
                let before = self.held.len();
                self.held.resize(before + wanted, 0);
                read_exact(file, &mut self.held[before..], *start + read)
            }
            // The steps are the same ones whatever is asked for, so that an error always has the same bytes before it.
            BufferOrigin::Packed { decoder, error, ended, .. } => {
                let wanted = self.held.len() + bytes;
                while self.held.len() < wanted && error.is_none() && !*ended {
                    let before = self.held.len();
                    self.held.resize(before + UNPACKED, 0);
                    let outcome = guarded(|| decoder.read(&mut self.held[before..]));
                    let unpacked = *outcome.as_ref().unwrap_or(&0);
                    self.held.truncate(before + unpacked);
                    match outcome {
                        Ok(0) => *ended = true,
                        Ok(_) => {}
                        Err(failed) if failed.kind() == io::ErrorKind::Interrupted => {}
                        Err(failed) => *error = Some(failed),
                    }
                }
                Ok(())
            }
        }
    }

    /// So many bytes from a place on, which is not before the one that was asked for last.
    pub(in crate::read::formats::arrow) fn range(&mut self, at: u64, bytes: usize) -> io::Result<&[u8]> {
        self.has(at, bytes as u64)?;
        self.go_to(at)?;
        let held = self.held.len() - self.start;
        if held < bytes {
            self.more(bytes - held)?;
        }
        if self.held.len() - self.start < bytes {
            return Err(self.ended());
        }
        Ok(&self.held[self.start..self.start + bytes])
    }

    /// The same bytes for good.
    pub(in crate::read::formats::arrow) fn take(&mut self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        if self.is_packed() || bytes < STEP.0 {
            return self.range(at, bytes).map(<[u8]>::to_vec);
        }
        self.has(at, bytes as u64)?;
        self.go_to(at)?;
        let held = (self.held.len() - self.start).min(bytes);
        let mut taken = vec![0; bytes];
        taken[..held].copy_from_slice(&self.held[self.start..self.start + held]);
        let end = at + held as u64;
        if let BufferOrigin::Plain { file, start } = &self.from {
            read_exact(file, &mut taken[held..], *start + end)?;
        }
        Ok(taken)
    }

    /// Whether so many bytes are in it from a place on, as it says.
    fn has(&self, at: u64, bytes: u64) -> io::Result<()> {
        match at.checked_add(bytes) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(damaged("a buffer that ends before its values")),
        }
    }
}
