//! A window that slides over the decompressed bytes of a file.

use std::io;

use super::decoder::{Decoder, ReadFault};
use super::members::Damage;
use super::open::InputFile;
use crate::read::BLOCK;
use crate::read::format::Compression;
use crate::read::source::Source;
use crate::system_memory::reserve_apart;

/// A buffer that grew beyond this for a long line is given back after it.
const KEPT: usize = 2 * BLOCK;

/// Where bytes come from.
enum Feed {
    /// A plain file, read at offsets up to `limit`: what is appended meanwhile is none of ours.
    Plain { file: InputFile, limit: u64 },
    /// A compressed file.
    Decoded(Decoder),
}

/// The bytes of a file from `offset` on, as far as they were read and not yet consumed.
pub(in crate::read) struct Window {
    feed: Feed,
    /// Initialised throughout; what counts is `start..end`.
    data: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    /// A fault that waits until what was read before it has been looked at.
    fault: Option<ReadFault>,
}

impl Window {
    /// A window at the byte `offset`, which is 0 for a compressed file.
    pub(in crate::read) fn open(source: &Source, offset: u64) -> io::Result<Window> {
        Window::open_until(source, offset, offset)
    }

    /// The same, of a source that was read before: damage behind which that went on is passed over.
    pub(in crate::read) fn open_again(source: &Source, offset: u64) -> io::Result<Window> {
        Window::open_with(source, offset, offset, Damage::of(source, true))
    }

    /// The same, for whoever reads up to the byte `end`, and little more.
    pub(in crate::read) fn open_until(source: &Source, offset: u64, end: u64) -> io::Result<Window> {
        Window::open_with(source, offset, end, Damage::of(source, false))
    }

    fn open_with(source: &Source, offset: u64, end: u64, damage: Damage) -> io::Result<Window> {
        let feed = match source.compression {
            Compression::None => {
                Feed::Plain { file: source.open()?.expect(offset..end), limit: source.bytes }
            }
            _ => Feed::Decoded(Decoder::open(source, damage)?),
        };
        Ok(Window { feed, data: Vec::new(), start: 0, end: 0, offset, fault: None })
    }

    /// What was read and not consumed.
    pub(in crate::read) fn pending(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    /// The offset of the first pending byte.
    pub(in crate::read) fn offset(&self) -> u64 {
        self.offset
    }

    /// The offset after the last pending byte.
    pub(in crate::read) fn read_to(&self) -> u64 {
        self.offset + (self.end - self.start) as u64
    }

    /// Passes over pending bytes.
    pub(in crate::read) fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Bytes of a compressed file consumed so far.
    pub(in crate::read) fn compressed(&self) -> Option<u64> {
        match &self.feed {
            Feed::Plain { .. } => None,
            Feed::Decoded(decoder) => Some(decoder.consumed()),
        }
    }

    /// Moves to `offset`, if the file is one in which one can move.
    pub(in crate::read) fn seek(&mut self, offset: u64) -> bool {
        let plain = matches!(self.feed, Feed::Plain { .. });
        if plain {
            (self.start, self.end, self.offset) = (0, 0, offset);
        }
        plain
    }

    /// Reads up to `want` bytes more, and fewer only before the end or a fault; 0 is the end.
    pub(in crate::read) fn more(&mut self, want: usize) -> Result<usize, ReadFault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.make_room(want);
        let (at, old) = (self.read_to(), self.end);
        while self.end < old + want {
            let into = &mut self.data[self.end..old + want];
            let read = match &mut self.feed {
                Feed::Plain { file, limit } => read_plain(file, into, at + (self.end - old) as u64, *limit),
                Feed::Decoded(decoder) => decoder.read(into),
            };
            match read {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(fault) if self.end == old => return Err(fault),
                Err(fault) => {
                    self.fault = Some(fault);
                    break;
                }
            }
        }
        Ok(self.end - old)
    }

    /// Takes the first `count` pending bytes out, in what they stand in; the others go on in `into`, whatever that holds.
    pub(in crate::read) fn take(&mut self, count: usize, mut into: Vec<u8>) -> Vec<u8> {
        let (start, middle) = (self.start, self.start + count.min(self.end - self.start));
        let rest = self.end - middle;
        if into.len() < rest {
            into.resize(rest, 0);
        }
        into[..rest].copy_from_slice(&self.data[middle..self.end]);
        let mut taken = std::mem::replace(&mut self.data, into);
        taken.truncate(middle);
        taken.drain(..start);
        self.offset += taken.len() as u64;
        (self.start, self.end) = (0, rest);
        taken
    }

    /// Gives back what a long record took.
    pub(in crate::read) fn shrink(&mut self) {
        let mut data = Vec::with_capacity(self.end - self.start + BLOCK);
        data.extend_from_slice(self.pending());
        (self.start, self.end) = (0, data.len());
        self.data = data;
    }

    /// Moves pending bytes to the front and makes the buffer long enough for `want` more.
    fn make_room(&mut self, want: usize) {
        if self.start > 0 {
            self.data.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let need = self.end + want;
        if self.data.len() < need {
            if need > KEPT {
                reserve_apart(&mut self.data, want);
            }
            self.data.resize(need, 0);
        } else if self.data.len() > KEPT && need <= KEPT / 2 {
            self.data.truncate(need);
            self.data.shrink_to_fit();
        }
    }
}

/// Reads at an offset, not beyond `limit`. A file that ends before it became shorter since it was found.
fn read_plain(file: &InputFile, into: &mut [u8], at: u64, limit: u64) -> Result<usize, ReadFault> {
    let left = usize::try_from(limit.saturating_sub(at)).unwrap_or(usize::MAX);
    let count = into.len().min(left);
    loop {
        match file.read_at(&mut into[..count], at) {
            Ok(0) if count > 0 => {
                let what = "the file became shorter while it was read";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what).into());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map_err(ReadFault::Io),
        }
    }
}
