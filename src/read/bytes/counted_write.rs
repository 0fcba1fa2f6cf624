//! How many bytes went to a writer, where records are written anew in the form of their file.

use std::io::{self, Write};

/// A writer that counts the bytes that it has taken.
#[derive(Debug)]
pub struct CountedWrite<W> {
    out: W,
    bytes: u64,
}

impl<W> CountedWrite<W> {
    /// Counts from 0.
    pub fn new(out: W) -> CountedWrite<W> {
        CountedWrite { out, bytes: 0 }
    }

    /// Bytes taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The writer, and how many bytes it has taken.
    pub fn into_parts(self) -> (W, u64) {
        (self.out, self.bytes)
    }
}

impl<W: Write> Write for CountedWrite<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_writer_does_not_take_is_not_counted() {
        let mut room = [0; 5];
        let mut out = CountedWrite::new(&mut room[..]);
        assert_eq!((out.write(b"abc").expect("room"), out.bytes()), (3, 3));
        assert_eq!((out.write(b"defg").expect("room for two"), out.bytes()), (2, 5));
        assert!(out.write_all(b"h").is_err());
        let (left, bytes) = out.into_parts();
        assert_eq!((left.len(), bytes), (0, 5));
        assert_eq!(&room, b"abcde");
    }
}
