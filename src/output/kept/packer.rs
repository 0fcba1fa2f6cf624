//! What is written as its source was: compressed in the same way, and in members of one record where that is the custom.

use std::io::{self, Write};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use zstd::zstd_safe::CParameter;

use super::gzip::GzipWriter;
use super::lz4::Lz4Writer;
use crate::limits::sized;
use crate::read::{Boundaries, Compression, Format, boundaries, packs_records};

/// Bytes of text that a thread compresses at a time. A thread takes about three times as much memory.
const ZSTD_JOB: u32 = sized(2 << 20, 512 << 10) as u32;

/// Writes a file of a format: compressed as a whole, or each record for itself where that is the custom.
pub enum Packer<W: Write> {
    /// As a whole.
    Whole(Compressor<W>),
    /// As a whole, to one gzip member, on several threads.
    Gzip(Box<GzipWriter<W>>),
    /// Each record for itself.
    Records(RecordPacker<W>),
}

impl<W: Write> Packer<W> {
    /// A packer that writes to `out`.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn new(format: Format, compression: Compression, out: W) -> io::Result<Packer<W>> {
        let packed = compression != Compression::None && packs_records(format);
        Ok(match boundaries(format).filter(|_| packed) {
            Some(boundaries) => Packer::Records(RecordPacker {
                compression,
                boundaries,
                idle: Some(out),
                open: None,
                is_empty: true,
                held: Vec::new(),
            }),
            None => Packer::Whole(Compressor::new(compression, out)?),
        })
    }

    /// A packer that has gzip and Zstandard compressed by so many threads of their own, at least one. What it writes does not
    /// depend on their number, but is not what [`Packer::new`] would write.
    ///
    /// # Errors
    /// What the encoder says, or the system that starts the threads.
    pub fn with_threads(
        format: Format,
        compression: Compression,
        threads: usize,
        out: W,
    ) -> io::Result<Packer<W>> {
        if packs_records(format) {
            return Packer::new(format, compression, out);
        }
        match compression {
            Compression::Gzip => GzipWriter::new(out, threads).map(|writer| Packer::Gzip(Box::new(writer))),
            Compression::Zstd => {
                let mut encoder = zstd_encoder(out)?;
                encoder.set_parameter(CParameter::JobSize(ZSTD_JOB))?;
                encoder.multithread(u32::try_from(threads.max(1)).unwrap_or(u32::MAX))?;
                Ok(Packer::Whole(Compressor::Zstd(encoder)))
            }
            _ => Packer::new(format, compression, out),
        }
    }

    /// Writes what is left, and gives back what was written to.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Packer::Whole(file) => file.finish(),
            Packer::Gzip(file) => file.finish(),
            Packer::Records(records) => records.finish(),
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Whole(file) => file.write(bytes),
            Packer::Gzip(file) => file.write(bytes),
            Packer::Records(records) => records.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Whole(file) => file.flush(),
            Packer::Gzip(file) => file.flush(),
            Packer::Records(records) => records.flush(),
        }
    }
}

/// An encoder of one Zstandard frame with a checksum.
fn zstd_encoder<W: Write>(out: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(out, 3)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// Compresses what is written to it.
pub enum Compressor<W: Write> {
    /// Not at all.
    None(W),
    /// One gzip member.
    Gzip(GzEncoder<W>),
    /// One Zstandard frame with a checksum.
    Zstd(zstd::stream::write::Encoder<'static, W>),
    /// One bzip2 stream.
    Bzip2(bzip2::write::BzEncoder<W>),
    /// One xz stream.
    Xz(Box<XzWriter<W>>),
    /// One LZ4 frame with a checksum.
    Lz4(Lz4Writer<W>),
}

impl<W: Write> Compressor<W> {
    fn new(compression: Compression, out: W) -> io::Result<Compressor<W>> {
        Ok(match compression {
            Compression::None => Compressor::None(out),
            Compression::Gzip => Compressor::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Compression::Zstd => Compressor::Zstd(zstd_encoder(out)?),
            Compression::Bzip2 => Compressor::Bzip2(BzEncoder::new(out, bzip2::Compression::default())),
            // The default preset takes 94 MiB, this one 17.
            Compression::Xz => Compressor::Xz(Box::new(XzWriter::new(out, XzOptions::with_preset(2))?)),
            Compression::Lz4 => Compressor::Lz4(Lz4Writer::new(out)?),
        })
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Compressor::None(mut out) => out.flush().map(|()| out),
            Compressor::Gzip(encoder) => encoder.finish(),
            Compressor::Zstd(encoder) => encoder.finish(),
            Compressor::Bzip2(encoder) => encoder.finish(),
            Compressor::Xz(encoder) => encoder.finish(),
            Compressor::Lz4(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::None(out) => out.write(bytes),
            Compressor::Gzip(encoder) => encoder.write(bytes),
            Compressor::Zstd(encoder) => encoder.write(bytes),
            Compressor::Bzip2(encoder) => encoder.write(bytes),
            Compressor::Xz(encoder) => encoder.write(bytes),
            Compressor::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::None(out) => out.flush(),
            Compressor::Gzip(encoder) => encoder.flush(),
            Compressor::Zstd(encoder) => encoder.flush(),
            Compressor::Bzip2(encoder) => encoder.flush(),
            Compressor::Xz(encoder) => encoder.flush(),
            Compressor::Lz4(encoder) => encoder.flush(),
        }
    }
}

/// Compresses each record for itself, so that it can be read without those before it: a gzip member or a Zstandard frame a
/// record.
pub struct RecordPacker<W: Write> {
    compression: Compression,
    boundaries: Box<dyn Boundaries>,
    /// Between two records.
    idle: Option<W>,
    /// Within a record.
    open: Option<Compressor<W>>,
    /// Whether there is no record yet.
    is_empty: bool,
    /// Bytes that may begin the next record.
    held: Vec<u8>,
}

impl<W: Write> RecordPacker<W> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.is_empty = false;
        if let Some(out) = self.idle.take() {
            self.open = Some(Compressor::new(self.compression, out)?);
        }
        self.open.as_mut().map_or(Ok(()), |record| record.write_all(bytes))
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(record) = self.open.take() {
            self.idle = Some(record.finish()?);
        }
        Ok(())
    }

    /// Ends the last record, or packs nothing if there is none, and gives back what was written to.
    fn finish(mut self) -> io::Result<W> {
        let held = std::mem::take(&mut self.held);
        self.append(&held)?;
        self.end()?;
        let out = self.idle.take().ok_or_else(|| io::Error::other("a record that failed before"))?;
        // No bytes at all are no file of gzip.
        if self.is_empty { Compressor::new(self.compression, out)?.finish() } else { Ok(out) }
    }
}

impl<W: Write> Write for RecordPacker<W> {
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        let joined = [&self.held, block].concat();
        let mut bytes = &joined[..];
        while let Some(end) = self.boundaries.end(bytes) {
            self.append(&bytes[..end])?;
            self.end()?;
            bytes = &bytes[end..];
        }
        let (record, held) = bytes.split_at(bytes.len() - self.boundaries.undecided());
        self.append(record)?;
        self.held = held.to_vec();
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
