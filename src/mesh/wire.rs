//! Data sockets that count their bytes, and do not fail before their run is over.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use std::time::Duration;

use timely::communication::allocator::zero_copy::stream::Stream;

use super::channel::Channel;

/// How many bytes a process has sent to others, or to one of them, and received, since it joined; without what encryption
/// adds.
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
pub(super) struct ByteCounts {
    sent: AtomicU64,
    received: AtomicU64,
}

impl ByteCounts {
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

/// Whether a run is over in this process.
#[derive(Debug, Default)]
pub(super) struct Over {
    over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    /// It is.
    pub(super) fn set(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until it is.
    fn wait(&self) {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(over, |over| !*over).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until it is, at most so long; whether it is.
    fn wait_for(&self, time: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        *self.changed.wait_timeout_while(over, time, |over| !*over).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// What to do about a data connection that has failed in the middle of a run.
#[derive(Clone)]
pub(super) struct DataLoss {
    /// How long the control connection has to tell more.
    patience: Duration,
    lose: Arc<dyn Fn(&str) + Send + Sync>,
}

impl DataLoss {
    /// It is given up after so long, by `lose`, which is told how it failed.
    pub(super) fn new(patience: Duration, lose: impl Fn(&str) + Send + Sync + 'static) -> DataLoss {
        DataLoss { patience, lose: Arc::new(lose) }
    }
}

/// The data sockets of a run. When it is dropped, the run is over.
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) handles: Vec<TcpStream>,
    pub(super) over: Arc<Over>,
}

impl Drop for Round {
    fn drop(&mut self) {
        self.over.set();
    }
}

/// Zeros that end what timely sends: the header of a message of no bytes.
const END_ZEROS: usize = 48;

/// A connected data socket to another process, for a run of the dataflow. Its bytes are part of the mesh's
/// [`Traffic`].
///
/// Timely's threads panic when a connection fails, and its workers with them, in the middle of whatever they do. So a
/// connection does not fail before the run is over here: until then whoever reads or writes it waits. Why it has failed is
/// told by the control connection, as a rule; where that says nothing, the other process counts as lost. The workers then end
/// in order.
pub struct Wire {
    channel: Channel,
    counts: Arc<ByteCounts>,
    over: Arc<Over>,
    loss: DataLoss,
    /// Zeros that were read last, at most [`END_ZEROS`].
    zeros: usize,
}

impl Wire {
    /// A wire over a connection, of a run.
    pub(super) fn new(channel: Channel, counts: Arc<ByteCounts>, over: Arc<Over>, loss: DataLoss) -> Wire {
        Wire { channel, counts, over, loss, zeros: 0 }
    }

    /// Returns once the run is over; an error that nobody explains before is a loss.
    fn fail(&self, error: Option<&io::Error>) {
        // Nobody else knows that bytes were changed, so there is nothing to wait for.
        let changed = error.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData);
        if changed || !self.over.wait_for(self.loss.patience) {
            let how = match error.filter(|error| error.kind() != io::ErrorKind::UnexpectedEof) {
                None => "ended in the middle of a run".to_owned(),
                Some(error) => format!("broke: {error}"),
            };
            (self.loss.lose)(&format!("a connection for data {how}"));
            self.over.wait();
        }
    }

    fn note_zeros(&mut self, read: &[u8]) {
        let last = read.iter().rev().take(END_ZEROS).take_while(|byte| **byte == 0).count();
        self.zeros = if last == read.len() { (self.zeros + last).min(END_ZEROS) } else { last };
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match (&self.channel).read(into) {
            Ok(bytes) if bytes > 0 => {
                self.counts.receive(bytes);
                self.note_zeros(&into[..bytes]);
                Ok(bytes)
            }
            end @ Ok(_) if self.zeros == END_ZEROS || into.is_empty() => end,
            Err(error) if is_passing(&error) => Err(error),
            failed => {
                self.fail(failed.as_ref().err());
                failed
            }
        }
    }
}

impl Write for Wire {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let written = (&self.channel).write(from).inspect(|&bytes| self.counts.send(bytes));
        if let Some(error) = written.as_ref().err().filter(|error| !is_passing(error)) {
            self.fail(Some(error));
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.channel).flush()
    }
}

/// Whether the same can be tried again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        let (counts, over) = (Arc::clone(&self.counts), Arc::clone(&self.over));
        Ok(Wire {
            channel: self.channel.try_clone()?,
            counts,
            over,
            loss: self.loss.clone(),
            zeros: self.zeros,
        })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.channel.stream().set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.channel.shutdown(how)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A wire, and the other end of its connection.
    fn pair() -> (Wire, TcpStream, Arc<Over>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let other = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (stream, over) = (listener.accept().expect("accepted").0, Arc::<Over>::default());
        let (channel, loss) = (Channel::new(stream, None), DataLoss::new(Duration::from_secs(60), |_| ()));
        (Wire::new(channel, Arc::default(), Arc::clone(&over), loss), other, over)
    }

    /// Whether reading to the end waits for the end of the run, and all that is read.
    fn waits(sent: &[u8]) -> (bool, Vec<u8>) {
        let (mut wire, mut other, over) = pair();
        other.write_all(sent).expect("sent");
        drop(other);
        let reader = thread::spawn(move || {
            let (mut all, mut part) = (Vec::new(), [0; 7]);
            while let Ok(bytes @ 1..) = wire.read(&mut part) {
                all.extend(&part[..bytes]);
            }
            all
        });
        thread::sleep(Duration::from_millis(200));
        let waits = !reader.is_finished();
        over.set();
        (waits, reader.join().expect("read"))
    }

    #[test]
    fn only_an_end_that_was_announced_is_told_before_the_run_is_over() {
        let message = [&[1, 0, 2][..], &[0; 40], &[3]].concat();
        let whole = [&message[..], &[0; END_ZEROS]].concat();
        assert_eq!(waits(&whole), (false, whole.clone()));
        let cut = &whole[..whole.len() - 1];
        for sent in [&[][..], &message, cut] {
            assert_eq!(waits(sent), (true, sent.to_vec()));
        }
    }

    #[test]
    fn a_broken_connection_takes_bytes_until_the_run_is_over() {
        let (mut wire, other, over) = pair();
        drop(other);
        let writer = thread::spawn(move || while wire.write(&[0; 9999]).is_ok() {});
        thread::sleep(Duration::from_millis(200));
        assert!(!writer.is_finished());
        over.set();
        writer.join().expect("an error, at last");
    }
}
