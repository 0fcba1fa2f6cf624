//! Connections between processes: their bytes as they are, or encrypted and authenticated.
//!
//! What is encrypted crosses in records: two bytes of length, little-endian, then as many bytes, the last 16 of which are
//! the tag of the others. A record is the message of the Noise protocol that comes next in its direction, so one that was
//! changed, left out, repeated or moved is an error. The last record carries nothing: a connection that ends without it was
//! cut.

use crate::limits::sized;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::meeting::key_agreement::Ciphers;

/// Bytes that a record has beside those that it carries: its length, and the tag.
const LENGTH_BYTES: usize = 2;
const TAG_BYTES: usize = 16;
/// Most bytes that a record carries: a message of the Noise protocol has 65,535 with its tag.
const MOST_CARRIED: usize = sized(u16::MAX as usize - TAG_BYTES, 200);
/// Most records that are written by one call.
const MOST_RECORDS: usize = 2;
/// Bytes that are asked of the system at once.
const AHEAD: usize = sized(128 << 10, LENGTH_BYTES + MOST_CARRIED + TAG_BYTES);
const _: () = assert!(AHEAD >= LENGTH_BYTES + MOST_CARRIED + TAG_BYTES, "a record is opened whole");

/// A connection to another process whose hello is through. One thread may read and another one write.
#[derive(Debug)]
pub(super) struct Channel {
    stream: TcpStream,
    sealed: Option<Arc<Sealed>>,
}

/// The encryption of a connection, and how far it is in both directions.
struct Sealed {
    ciphers: Ciphers,
    sending: Mutex<SendingHalf>,
    receiving: Mutex<ReceivingHalf>,
}

#[derive(Default)]
struct SendingHalf {
    next: u64,
    /// Records, and how many of their bytes the system has taken.
    records: Vec<u8>,
    taken: usize,
}

#[derive(Default)]
struct ReceivingHalf {
    next: u64,
    /// What has come; `begin..end` of it is not opened yet.
    came: Vec<u8>,
    begin: usize,
    end: usize,
    /// A record that whoever reads had no room for, and how much of it has been read.
    opened: Vec<u8>,
    read: usize,
    /// The last record has come.
    over: bool,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(..)")
    }
}

impl Channel {
    /// A connection, encrypted if there is something to do so with.
    pub(super) fn new(stream: TcpStream, ciphers: Option<Ciphers>) -> Channel {
        let sealed = |ciphers| Sealed { ciphers, sending: Mutex::default(), receiving: Mutex::default() };
        Channel { stream, sealed: ciphers.map(|ciphers| Arc::new(sealed(ciphers))) }
    }

    /// The connection beneath.
    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Another handle of the same connection.
    pub(super) fn try_clone(&self) -> io::Result<Channel> {
        Ok(Channel { stream: self.stream.try_clone()?, sealed: self.sealed.clone() })
    }

    /// Ends one or both directions. What this side sends ends in order if that is all that ends.
    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if let (Shutdown::Write, Some(sealed)) = (how, &self.sealed) {
            lock(&sealed.sending).end(&sealed.ciphers, &self.stream)?;
        }
        self.stream.shutdown(how)
    }
}

impl Read for &Channel {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &self.sealed {
            None => (&self.stream).read(into),
            Some(sealed) => lock(&sealed.receiving).read(&sealed.ciphers, &self.stream, into),
        }
    }
}

impl Write for &Channel {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &self.sealed {
            None => (&self.stream).write(from),
            Some(sealed) => lock(&sealed.sending).write(&sealed.ciphers, &self.stream, from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.sealed {
            None => (&self.stream).flush(),
            Some(sealed) => lock(&sealed.sending).hand_on(&self.stream),
        }
    }
}

fn lock<T>(half: &Mutex<T>) -> MutexGuard<'_, T> {
    half.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SendingHalf {
    fn write(&mut self, ciphers: &Ciphers, stream: &TcpStream, from: &[u8]) -> io::Result<usize> {
        self.hand_on(stream)?;
        let some = &from[..from.len().min(MOST_RECORDS * MOST_CARRIED)];
        self.records.clear();
        self.taken = 0;
        some.chunks(MOST_CARRIED).try_for_each(|carried| self.seal(ciphers, carried))?;
        match self.hand_on(stream) {
            // The rest goes before what is written next.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(some.len()),
            handed_on => handed_on.map(|()| some.len()),
        }
    }

    /// Sends the last record.
    fn end(&mut self, ciphers: &Ciphers, stream: &TcpStream) -> io::Result<()> {
        self.hand_on(stream)?;
        self.seal(ciphers, &[])?;
        self.hand_on(stream)
    }

    /// Adds a record.
    fn seal(&mut self, ciphers: &Ciphers, carried: &[u8]) -> io::Result<()> {
        let (begin, length) = (self.records.len(), carried.len() + TAG_BYTES);
        self.records.extend_from_slice(&(length as u16).to_le_bytes());
        self.records.resize(begin + LENGTH_BYTES + length, 0);
        ciphers.seal(self.next, carried, &mut self.records[begin + LENGTH_BYTES..])?;
        self.next += 1;
        Ok(())
    }

    /// Gives the system what it has not taken yet.
    fn hand_on(&mut self, mut stream: &TcpStream) -> io::Result<()> {
        while self.taken < self.records.len() {
            match stream.write(&self.records[self.taken..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.taken += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReceivingHalf {
    fn read(&mut self, ciphers: &Ciphers, stream: &TcpStream, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let left = &self.opened[self.read..];
            if !left.is_empty() {
                let bytes = left.len().min(into.len());
                into[..bytes].copy_from_slice(&left[..bytes]);
                self.read += bytes;
                return Ok(bytes);
            }
            let opened = self.open_into(ciphers, into)?;
            if opened > 0 {
                return Ok(opened);
            }
            if self.record().is_some() {
                self.open_one(ciphers)?;
            } else if self.hear(stream)? == 0 {
                let cut = !self.over || self.begin != self.end;
                return if cut { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(0) };
            }
        }
    }

    /// Where the next record lies in what has come, if it is all there.
    fn record(&self) -> Option<std::ops::Range<usize>> {
        let (length, rest) = self.came[self.begin..self.end].split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let begin = self.begin + LENGTH_BYTES;
        (rest.len() >= length).then_some(begin..begin + length)
    }

    /// Opens records one behind the other where they are wanted, as long as there is room for whole ones.
    fn open_into(&mut self, ciphers: &Ciphers, into: &mut [u8]) -> io::Result<usize> {
        let mut opened = 0;
        while let Some(record) =
            self.record().filter(|record| record.len() <= into.len() - opened + TAG_BYTES)
        {
            let (end, before) = (record.end, opened);
            match ciphers.open(self.next, &self.came[record], &mut into[opened..]) {
                // What came before it is given out before the error.
                Err(_) if opened > 0 => return Ok(opened),
                bytes => opened += bytes?,
            }
            self.go_on(opened > before, end)?;
        }
        Ok(opened)
    }

    /// Goes on to the next record after one that ends there. One that carries nothing is the last.
    fn go_on(&mut self, carries: bool, end: usize) -> io::Result<()> {
        if self.over {
            return Err(io::Error::new(ErrorKind::InvalidData, "it sends more after its end"));
        }
        (self.next, self.begin, self.over) = (self.next + 1, end, !carries);
        Ok(())
    }

    /// Opens a record that whoever reads has no room for.
    fn open_one(&mut self, ciphers: &Ciphers) -> io::Result<()> {
        let Some(record) = self.record() else { return Ok(()) };
        let end = record.end;
        self.opened.resize(record.len(), 0);
        let bytes = ciphers.open(self.next, &self.came[record], &mut self.opened);
        self.opened.truncate(*bytes.as_ref().unwrap_or(&0));
        self.read = 0;
        let carries = bytes? > 0;
        self.go_on(carries, end)
    }

    /// Takes in what comes next; how many bytes that were, 0 at the end.
    fn hear(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        self.came.resize(AHEAD, 0);
        self.came.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        let bytes = stream.read(&mut self.came[self.end..])?;
        self.end += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use proptest::prelude::*;

    use super::super::meeting::key_agreement::{self, Agreeing};
    use super::super::meeting::secret::Key;
    use super::*;

    fn ciphers() -> (Ciphers, Ciphers) {
        let key = Key::new(None);
        let (agreeing, first) = Agreeing::begin(&key).expect("random numbers");
        let (theirs, second) = key_agreement::answer(&key, &first).expect("answered");
        (agreeing.end(&second).expect("agreed"), theirs)
    }

    fn sockets() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let other = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        (listener.accept().expect("accepted").0, other)
    }

    /// The records that carry `parts`, each written by one call.
    fn records(ciphers: Ciphers, parts: &[&[u8]]) -> Vec<u8> {
        let (stream, mut other) = sockets();
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            other.read_to_end(&mut all).map(|_| all)
        });
        let channel = Channel::new(stream, Some(ciphers));
        parts.iter().for_each(|part| (&channel).write_all(part).expect("written"));
        channel.shutdown(Shutdown::Write).expect("ended");
        drop(channel);
        reader.join().expect("a thread").expect("read")
    }

    /// What is read of records, and how reading ends.
    fn opened(ciphers: Ciphers, records: &[u8]) -> (Vec<u8>, io::Result<()>) {
        let (stream, mut other) = sockets();
        other.write_all(records).expect("written");
        drop(other);
        let (channel, mut all, mut some) = (Channel::new(stream, Some(ciphers)), Vec::new(), [0; 64]);
        loop {
            match (&channel).read(&mut some) {
                Ok(0) => return (all, Ok(())),
                Ok(bytes) => all.extend_from_slice(&some[..bytes]),
                Err(error) => return (all, Err(error)),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn what_is_written_is_read(lengths in prop::collection::vec(prop_oneof![1usize..100, 60_000usize..300_000], 1..5),
                                   rooms in prop::collection::vec(prop_oneof![1usize..70, 60_000usize..600_000], 1..5)) {
            let (mine, theirs) = ciphers();
            let (stream, other) = sockets();
            let sent: Vec<u8> = (0..lengths.iter().sum::<usize>()).map(|at| (at * 7 % 251) as u8).collect();
            let (writer, reader) = (Channel::new(stream, Some(mine)), Channel::new(other, Some(theirs)));
            let all = sent.clone();
            let writing = thread::spawn(move || {
                let mut rest = all.as_slice();
                for length in lengths {
                    let (part, behind) = rest.split_at(length);
                    (&writer).write_all(part).expect("written");
                    rest = behind;
                }
                writer.shutdown(Shutdown::Write).expect("ended");
            });
            let (mut received, mut turn) = (Vec::new(), 0);
            loop {
                let mut room = vec![0; rooms[turn % rooms.len()]];
                let bytes = (&reader).read(&mut room).expect("read");
                received.extend_from_slice(&room[..bytes]);
                turn += 1;
                if bytes == 0 {
                    break;
                }
            }
            writing.join().expect("written");
            prop_assert!(received == sent);
        }

        #[test]
        fn no_byte_can_be_changed(at in 0usize..(3 * 18 + 3 + 40 + 9), bit in 0u8..8) {
            let (mine, theirs) = ciphers();
            let mut records = records(mine, &[b"one", &[7; 40], b"the third"]);
            records[at] ^= 1 << bit;
            let (read, end) = opened(theirs, &records);
            prop_assert!(end.is_err());
            prop_assert!([&b"one"[..], &[7; 40]].concat().starts_with(&read));
        }
    }

    #[test]
    fn records_cannot_be_left_out_repeated_moved_or_cut() {
        let parts: [&[u8]; 3] = [b"first", b"other", b"third"];
        let size = LENGTH_BYTES + TAG_BYTES + 5;
        let order = |order: &[usize]| {
            let (mine, theirs) = ciphers();
            let all = records(mine, &parts);
            let all: Vec<&[u8]> = all.chunks(size).collect();
            let some: Vec<u8> = order.iter().flat_map(|at| all[*at]).copied().collect();
            let (read, end) = opened(theirs, &some);
            (String::from_utf8(read).expect("text"), end.map_err(|error| error.kind()))
        };
        assert_eq!(order(&[0, 1, 2, 3]), ("firstotherthird".into(), Ok(())));
        for (cut, read) in [(&[0, 1, 2][..], "firstotherthird"), (&[0], "first"), (&[], "")] {
            assert_eq!(order(cut), (read.into(), Err(ErrorKind::UnexpectedEof)), "{cut:?}");
        }
        for (moved, read) in [
            (&[1, 0, 2, 3][..], ""),
            (&[0, 2, 3], "first"),
            (&[0, 0, 1, 3], "first"),
            (&[0, 1, 1, 3], "firstother"),
            (&[0, 3], "first"),
            (&[0, 1, 2, 3, 3], "firstotherthird"),
        ] {
            assert_eq!(order(moved), (read.into(), Err(ErrorKind::InvalidData)), "{moved:?}");
        }
        let (mine, theirs) = ciphers();
        let (read, end) = opened(theirs, &records(mine, &parts)[..2 * size - 1]);
        assert_eq!((&read[..], end.expect_err("cut").kind()), (&b"first"[..], ErrorKind::UnexpectedEof));
        // What one side has sent does not come from the other one.
        let (mine, _) = ciphers();
        let (stream, mut other) = sockets();
        let channel = Channel::new(stream, Some(mine));
        (&channel).write_all(b"to the other").expect("written");
        let mut sent = [0; 30];
        other.read_exact(&mut sent).expect("read");
        other.write_all(&sent).expect("sent back");
        assert_eq!((&channel).read(&mut [0; 64]).expect_err("an echo").kind(), ErrorKind::InvalidData);
        assert!(!sent.windows(9).any(|some| some == b"the other"));
    }
}
