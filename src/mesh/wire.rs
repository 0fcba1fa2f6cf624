//! Data sockets that count their bytes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timely::communication::allocator::zero_copy::stream::Stream;

/// How many bytes a process has sent to others, or to one of them, and received, since it joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Sent through data sockets.
    pub data_sent: u64,
    /// Received through data sockets.
    pub data_received: u64,
    /// Sent through control connections.
    pub control_sent: u64,
    /// Received through control connections.
    pub control_received: u64,
}

impl Traffic {
    /// Both together.
    pub(super) fn and(self, other: Traffic) -> Traffic {
        Traffic {
            data_sent: self.data_sent + other.data_sent,
            data_received: self.data_received + other.data_received,
            control_sent: self.control_sent + other.control_sent,
            control_received: self.control_received + other.control_received,
        }
    }

    /// Bytes sent, and bytes received.
    pub fn both(self) -> (u64, u64) {
        (self.data_sent + self.control_sent, self.data_received + self.control_received)
    }
}

/// Bytes sent and received, counted by whoever sends and receives.
#[derive(Debug, Default)]
pub(super) struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Counts {
    /// Counts sent bytes.
    pub(super) fn send(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts received bytes.
    pub(super) fn receive(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes sent and bytes received.
    pub(super) fn both(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

/// A connected data socket to another process, for a run of the dataflow. Its bytes are part of the mesh's
/// [`Traffic`].
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    counts: Arc<Counts>,
}

impl Wire {
    /// A wire over a connected socket.
    pub(super) fn new(stream: TcpStream, counts: Arc<Counts>) -> Wire {
        Wire { stream, counts }
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into).inspect(|&bytes| self.counts.receive(bytes))
    }
}

impl Write for Wire {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.stream.write(from).inspect(|&bytes| self.counts.send(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        Ok(Wire { stream: self.stream.try_clone()?, counts: Arc::clone(&self.counts) })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.stream.shutdown(how)
    }
}
