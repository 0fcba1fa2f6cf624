//! The body of a batch that is written anew: buffers, compressed as they were, and what its head says of them.

use std::io::{self, Write};

use super::super::metadata::flat::damaged;
use super::super::metadata::message::{BatchHead, BodyCodec};
use crate::read::bytes::CountedWrite;

/// What buffers begin at a multiple of: the least that is allowed, or what most writers take.
const ALIGNED: [u64; 2] = [8, 64];
/// The level of Zstandard.
const LEVEL: i32 = 1;

/// A body on its way to a file.
pub(in crate::read::formats::arrow) struct BodyWriter<W> {
    out: CountedWrite<W>,
    align: u64,
    codec: BodyCodec,
    /// Rows and nulls by field, where they are known.
    pub(in crate::read::formats::arrow) nodes: Vec<(u64, u64)>,
    pub(in crate::read::formats::arrow) buffers: Vec<(u64, u64)>,
}

impl<W: Write> BodyWriter<W> {
    /// A body like that of a head.
    pub(in crate::read::formats::arrow) fn new(out: W, head: &BatchHead) -> BodyWriter<W> {
        let [least, usual] = ALIGNED;
        let is_usual = head.buffers.iter().all(|(start, _)| start % usual == 0);
        BodyWriter {
            out: CountedWrite::new(out),
            align: if is_usual { usual } else { least },
            codec: head.codec,
            nodes: Vec::new(),
            buffers: Vec::new(),
        }
    }

    /// Writes a buffer of so many bytes, which `fill` gives.
    pub(in crate::read::formats::arrow) fn buffer(
        &mut self,
        length: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.out.bytes();
        let codec = if length == 0 { BodyCodec::None } else { self.codec };
        if codec != BodyCodec::None {
            let length = i64::try_from(length).map_err(|_| damaged("a buffer of too many bytes"))?;
            self.out.write_all(&length.to_le_bytes())?;
        }
        let filled = match codec {
            BodyCodec::None => filled(&mut self.out, fill)?.0,
            BodyCodec::Lz4 => {
                let (written, encoder) = filled(lz4_flex::frame::FrameEncoder::new(&mut self.out), fill)?;
                encoder.finish().map_err(io::Error::other)?;
                written
            }
            BodyCodec::Zstd => {
                let (written, encoder) = filled(zstd::Encoder::new(&mut self.out, LEVEL)?, fill)?;
                encoder.finish()?;
                written
            }
        };
        if filled != length {
            return Err(damaged("a buffer of another length than its column has"));
        }
        self.end(start)
    }

    /// Writes a buffer as it is encoded.
    pub(in crate::read::formats::arrow) fn encoded(
        &mut self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.out.bytes();
        fill(&mut self.out)?;
        self.end(start)
    }

    fn end(&mut self, start: u64) -> io::Result<()> {
        let end = self.out.bytes();
        self.buffers.push((start, end - start));
        let rest = end.next_multiple_of(self.align) - end;
        self.out.write_all(&[0; ALIGNED[1] as usize][..rest as usize])
    }

    /// Bytes of the body.
    pub(in crate::read::formats::arrow) fn bytes(&self) -> u64 {
        self.out.bytes()
    }
}

/// Fills a writer; how many bytes that were, and the writer.
fn filled<W: Write>(to: W, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<(u64, W)> {
    let mut counted = CountedWrite::new(to);
    fill(&mut counted)?;
    let (out, written) = counted.into_parts();
    Ok((written, out))
}
