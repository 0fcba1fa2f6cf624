//! Decompressing pages within the size that they say they have: none of the codecs may take more, whatever it is given.
#![expect(clippy::disallowed_types, reason = "each is given a bound here")]

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::Result;

use super::super::thrift::damaged;
use crate::limits::sized;

/// Decompresses pages of one column.
pub(super) struct Unpacker {
    codec: Compression,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    snappy: snap::raw::Decoder,
}

impl Unpacker {
    pub(super) fn new(codec: Compression) -> Unpacker {
        Unpacker { codec, zstd: None, snappy: snap::raw::Decoder::new() }
    }

    /// Whether pages stand in the file as they are.
    pub(super) fn is_none(&self) -> bool {
        self.codec == Compression::UNCOMPRESSED
    }

    /// Fills `page` with what `packed` unfolds to, which must be exactly as much.
    pub(super) fn unpack(&mut self, packed: &[u8], page: &mut [u8]) -> Result<()> {
        if page.is_empty() {
            return Ok(());
        }
        let unpacked = match self.codec {
            Compression::UNCOMPRESSED => {
                let page = page.get_mut(..packed.len()).ok_or_else(another_size)?;
                page.copy_from_slice(packed);
                packed.len()
            }
            Compression::SNAPPY => {
                if snap::raw::decompress_len(packed).map_err(damage)? != page.len() {
                    return Err(another_size());
                }
                self.snappy.decompress(packed, page).map_err(damage)?
            }
            Compression::GZIP(_) => fill(MultiGzDecoder::new(packed), page)?,
            Compression::BROTLI(_) => fill(brotli_decompressor::Decompressor::new(packed, BROTLI), page)?,
            Compression::ZSTD(_) => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                zstd.decompress_to_buffer(packed, page)?
            }
            Compression::LZ4_RAW => lz4_flex::block::decompress_into(packed, page).map_err(damage)?,
            Compression::LZ4 => unpack_blocks(packed, page)?,
            Compression::LZO => return Err(damaged("compressed with LZO, which alike does not read")),
        };
        if unpacked == page.len() { Ok(()) } else { Err(another_size()) }
    }
}

/// Bytes that the decoder of Brotli reads at once.
const BROTLI: usize = sized(16 << 10, 64);

/// Fills `page` with what is decoded; how much that is, or one more if there is more.
fn fill(mut unpacked: impl Read, page: &mut [u8]) -> Result<usize> {
    unpacked.read_exact(page)?;
    Ok(page.len() + unpacked.read(&mut [0])?)
}

/// LZ4 as Hadoop frames it: stretches, each behind its size before compression, of blocks, each behind its size after it, all from
/// the highest byte on. Of a stretch there are as many blocks as it takes.
fn unpack_blocks(mut packed: &[u8], into: &mut [u8]) -> Result<usize> {
    let mut at = 0;
    while !packed.is_empty() {
        let end = at + size(&mut packed)?;
        if end > into.len() {
            return Err(damaged("a block of LZ4 that is too large"));
        }
        while at < end {
            let length = size(&mut packed)?;
            let (block, rest) =
                packed.split_at_checked(length).ok_or_else(|| damaged("a block of LZ4 that is cut off"))?;
            let unpacked = lz4_flex::block::decompress_into(block, &mut into[at..end]).map_err(damage)?;
            if unpacked == 0 {
                return Err(damaged("a block of LZ4 without a byte"));
            }
            (at, packed) = (at + unpacked, rest);
        }
    }
    Ok(at)
}

/// The size that stands next.
fn size(packed: &mut &[u8]) -> Result<usize> {
    let (size, rest) =
        packed.split_first_chunk().ok_or_else(|| damaged("a block of LZ4 without its sizes"))?;
    *packed = rest;
    Ok(u32::from_be_bytes(*size) as usize)
}

fn another_size() -> parquet::errors::ParquetError {
    damaged("a page of another size than it says")
}

fn damage(error: impl std::fmt::Display) -> parquet::errors::ParquetError {
    damaged(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::basic::{BrotliLevel, GzipLevel, ZstdLevel};

    use super::*;

    /// "once more " five hundred times.
    const BROTLI_OF_TEXT: &[u8] =
        b"\x1b\x87\x13\x00\x04\x3c\x64\xa9\x3e\x77\x13\xb1\x89\x03\x43\x01\x67\x01\x60\x95\xc9\x6e\x00";

    fn packed(codec: Compression, text: &[u8]) -> Vec<u8> {
        match codec {
            Compression::SNAPPY => snap::raw::Encoder::new().compress_vec(text).expect("packed"),
            Compression::GZIP(_) => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text).expect("packed");
                encoder.finish().expect("packed")
            }
            Compression::ZSTD(_) => zstd::bulk::compress(text, 1).expect("packed"),
            Compression::BROTLI(_) => BROTLI_OF_TEXT.to_vec(),
            Compression::LZ4_RAW => lz4_flex::block::compress(text),
            Compression::LZ4 => {
                let block = lz4_flex::block::compress(text);
                let sizes = [text.len() as u32, block.len() as u32].map(u32::to_be_bytes).concat();
                [sizes, block].concat()
            }
            _ => text.to_vec(),
        }
    }

    #[test]
    fn nothing_unfolds_to_more_or_less_than_it_says() {
        let text = b"once more ".repeat(500);
        let gzip = Compression::GZIP(GzipLevel::default());
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for codec in [
            Compression::SNAPPY,
            gzip,
            zstd,
            Compression::BROTLI(BrotliLevel::default()),
            Compression::LZ4_RAW,
            Compression::LZ4,
            Compression::UNCOMPRESSED,
        ] {
            let packed = packed(codec, &text);
            let mut unpacker = Unpacker::new(codec);
            let mut unpacked = |length| {
                // What stood there before is no part of a page.
                let mut page = vec![b'?'; length];
                unpacker.unpack(&packed, &mut page).map(|()| page)
            };
            assert_eq!(unpacked(text.len()).expect("whole"), text, "{codec:?}");
            for wrong in [1, text.len() - 1, text.len() + 1, 10 * text.len()] {
                assert!(unpacked(wrong).is_err(), "{codec:?} {wrong}");
            }
            for cut in (0..packed.len()).step_by(7) {
                let mut page = vec![0; text.len()];
                assert!(unpacker_of(codec).unpack(&packed[..cut], &mut page).is_err(), "{codec:?} {cut}");
            }
        }
    }

    #[test]
    fn blocks_of_hadoop_share_a_stretch() {
        let (one, two) = ("once more ".repeat(300), "and again ".repeat(200));
        let block = |text: &str| {
            let packed = lz4_flex::block::compress(text.as_bytes());
            [&(packed.len() as u32).to_be_bytes()[..], &packed].concat()
        };
        let before = |bytes: usize| (bytes as u32).to_be_bytes().to_vec();
        let whole = format!("{one}{two}{one}");
        let stretches =
            [before(one.len() + two.len()), block(&one), block(&two), before(one.len()), block(&one)]
                .concat();
        let mut page = vec![0; whole.len()];
        Unpacker::new(Compression::LZ4).unpack(&stretches, &mut page).expect("whole");
        assert_eq!(page, whole.as_bytes());
    }

    fn unpacker_of(codec: Compression) -> Unpacker {
        Unpacker::new(codec)
    }
}
