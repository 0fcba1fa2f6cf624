//! Decompression beside parsing: a thread that decodes blocks ahead of its reader.

use std::any::Any;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::members::{Damage, PassedOver};
use super::open::open_counted;
use crate::read::source::Source;

/// Blocks decoded ahead.
const AHEAD: usize = 4;
/// Blocks that there are: those, the one that is filled, and the one that is read.
const BLOCKS: usize = AHEAD + 2;

/// Why no more bytes come.
#[derive(Debug)]
pub(in crate::read) enum ReadFault {
    /// The file, or what is in it.
    Io(io::Error),
    /// The decoding thread ended with a panic: its message.
    Panic(String),
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> ReadFault {
        ReadFault::Io(error)
    }
}

/// The decompressed bytes of a source, decoded by a thread that ends when this is dropped.
pub(in crate::read) struct Decoder {
    /// `None` once the thread was told to end.
    blocks: Option<Receiver<io::Result<Vec<u8>>>>,
    spent: Sender<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
    consumed: Arc<AtomicU64>,
    block: Vec<u8>,
    taken: usize,
}

impl Decoder {
    pub(in crate::read) fn open(source: &Source, damage: Damage) -> io::Result<Decoder> {
        let consumed = Arc::new(AtomicU64::new(0));
        let input = open_counted(source, Arc::clone(&consumed), damage)?;
        Decoder::spawn(input, consumed, source.decoded_ahead / BLOCKS)
    }

    fn spawn(
        input: impl Read + Send + 'static,
        consumed: Arc<AtomicU64>,
        block: usize,
    ) -> io::Result<Decoder> {
        let (to, blocks) = sync_channel(AHEAD);
        let (spent, recycled) = channel();
        let thread = thread::Builder::new()
            .name("alike-decode".into())
            .spawn(move || decode(input, &to, &recycled, block))?;
        let blocks = Some(blocks);
        Ok(Decoder { blocks, spent, thread: Some(thread), consumed, block: Vec::new(), taken: 0 })
    }

    /// Bytes of the file consumed so far.
    pub(in crate::read) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Copies decoded bytes; 0 is the end.
    pub(in crate::read) fn read(&mut self, into: &mut [u8]) -> Result<usize, ReadFault> {
        while self.taken == self.block.len() {
            match self.blocks.as_ref().map(Receiver::recv) {
                Some(Ok(Ok(block))) => {
                    let spent = std::mem::replace(&mut self.block, block);
                    // The thread is gone when it has decoded all: then nobody needs the buffer.
                    let _ = self.spent.send(spent);
                    self.taken = 0;
                }
                Some(Ok(Err(error))) => return Err(ReadFault::Io(error)),
                Some(Err(_)) => {
                    self.stop().map_err(ReadFault::Panic)?;
                    return Ok(0);
                }
                None => return Ok(0),
            }
        }
        let count = into.len().min(self.block.len() - self.taken);
        into[..count].copy_from_slice(&self.block[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }

    /// Ends the thread; its panic message, if it panicked.
    fn stop(&mut self) -> Result<(), String> {
        // A thread that waits to send fails when the receiver is gone, and returns.
        self.blocks = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join).map_err(|panic| message(panic.as_ref()))
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // A panic after the last byte that anyone wanted has been reported by the panic hook.
        let _ = self.stop();
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("decompression: {}", text.unwrap_or("no message"))
}

/// What the thread does: fills blocks and sends them until the end, an error, or nobody listens.
fn decode(
    mut input: impl Read,
    to: &SyncSender<io::Result<Vec<u8>>>,
    recycled: &Receiver<Vec<u8>>,
    bytes: usize,
) {
    loop {
        let mut block = recycled.try_recv().unwrap_or_default();
        block.resize(bytes, 0);
        let (filled, outcome) = fill(&mut input, &mut block);
        block.truncate(filled);
        if filled > 0 && to.send(Ok(block)).is_err() {
            return;
        }
        match outcome {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                let goes_on = PassedOver::is_it(&error);
                // Nobody listening is no reason to do anything else than to end.
                if to.send(Err(error)).is_err() || !goes_on {
                    return;
                }
            }
        }
    }
}

/// Fills a block as far as possible: how far, and whether more may come.
fn fill(input: &mut impl Read, block: &mut [u8]) -> (usize, io::Result<bool>) {
    let mut filled = 0;
    while filled < block.len() {
        match input.read(&mut block[filled..]) {
            Ok(0) => return (filled, Ok(false)),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Err(error)),
        }
    }
    (filled, Ok(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 1 << 12;

    fn drain(decoder: &mut Decoder, step: usize) -> (u64, Result<usize, ReadFault>) {
        let (mut into, mut total) = (vec![0; step], 0);
        loop {
            match decoder.read(&mut into) {
                Ok(count) if count > 0 => total += count as u64,
                end => return (total, end),
            }
        }
    }

    #[test]
    fn hands_on_everything_and_then_the_end() {
        let bytes = 10 * BLOCK as u64 + 17;
        let mut decoder = Decoder::spawn(io::repeat(1).take(bytes), Arc::default(), BLOCK).expect("a thread");
        assert!(matches!(drain(&mut decoder, 12345), (total, Ok(0)) if total == bytes));
        assert!(matches!(decoder.read(&mut [0; 8]), Ok(0)));
    }

    #[test]
    fn a_dropped_reader_ends_the_thread() {
        let alive = Arc::new(());
        struct Endless(
            #[expect(dead_code, reason = "it shows by its count when the thread is gone")] Arc<()>,
        );
        impl Read for Endless {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                Ok(into.len())
            }
        }
        let mut decoder =
            Decoder::spawn(Endless(Arc::clone(&alive)), Arc::default(), BLOCK).expect("a thread");
        assert!(matches!(decoder.read(&mut [0; 8]), Ok(8)));
        drop(decoder);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn errors_and_panics_arrive_after_the_data() {
        struct Fails(bool);
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                assert!(self.0, "as intended");
                Err(io::Error::other("broken"))
            }
        }
        let data = || io::repeat(1).take(100);
        let mut decoder = Decoder::spawn(data().chain(Fails(true)), Arc::default(), BLOCK).expect("a thread");
        assert!(matches!(drain(&mut decoder, 64), (100, Err(ReadFault::Io(_)))));
        let mut decoder = Decoder::spawn(Fails(false), Arc::default(), BLOCK).expect("a thread");
        let (total, end) = drain(&mut decoder, 64);
        assert!(
            matches!(&end, Err(ReadFault::Panic(what)) if what.contains("as intended")),
            "{total} {end:?}"
        );
    }
}
