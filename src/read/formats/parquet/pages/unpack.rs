//! Decompressing pages within the size that they say they have: none of the codecs may take more, whatever it is given.
#![expect(clippy::disallowed_types, reason = "each is given a bound here")]

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::Result;

use super::super::thrift::damaged;

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

    /// Appends to `page` what `packed` unfolds to, which must be exactly as much as `page` has room for, `length` bytes in
    /// all.
    pub(super) fn unpack(&mut self, packed: &[u8], page: &mut Vec<u8>, length: usize) -> Result<()> {
        let before = page.len();
        let rest = length.checked_sub(before).ok_or_else(|| damaged("a page smaller than its levels"))?;
        if rest == 0 {
            return Ok(());
        }
        match self.codec {
            Compression::UNCOMPRESSED => page.extend_from_slice(packed),
            Compression::SNAPPY => {
                if snap::raw::decompress_len(packed).map_err(damage)? != rest {
                    return Err(damaged("a page of another size than it says"));
                }
                page.resize(length, 0);
                self.snappy.decompress(packed, &mut page[before..]).map_err(damage)?;
            }
            Compression::GZIP(_) => {
                let unpacked = MultiGzDecoder::new(packed).take(rest as u64 + 1);
                { unpacked }.read_to_end(page)?;
            }
            Compression::ZSTD(_) => {
                page.resize(length, 0);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                let unpacked = zstd.decompress_to_buffer(packed, &mut page[before..])?;
                page.truncate(before + unpacked);
            }
            Compression::LZ4_RAW => {
                page.resize(length, 0);
                let unpacked =
                    lz4_flex::block::decompress_into(packed, &mut page[before..]).map_err(damage)?;
                page.truncate(before + unpacked);
            }
            Compression::LZ4 => {
                page.resize(length, 0);
                let unpacked = unpack_blocks(packed, &mut page[before..])?;
                page.truncate(before + unpacked);
            }
            Compression::BROTLI(_) => {
                return Err(damaged("compressed with Brotli, which alike does not read"));
            }
            Compression::LZO => return Err(damaged("compressed with LZO, which alike does not read")),
        }
        match page.len() == length {
            true => Ok(()),
            false => Err(damaged("a page of another size than it says")),
        }
    }
}

/// LZ4 as Hadoop frames it: blocks, each behind its size before and after compression, from the highest byte on.
fn unpack_blocks(mut packed: &[u8], into: &mut [u8]) -> Result<usize> {
    let mut at = 0;
    let size = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    while !packed.is_empty() {
        let (head, rest) =
            packed.split_at_checked(8).ok_or_else(|| damaged("a block of LZ4 without its sizes"))?;
        let (block, rest) = rest
            .split_at_checked(size(&head[4..]))
            .ok_or_else(|| damaged("a block of LZ4 that is cut off"))?;
        let room =
            into.get_mut(at..at + size(head)).ok_or_else(|| damaged("a block of LZ4 that is too large"))?;
        at += lz4_flex::block::decompress_into(block, room).map_err(damage)?;
        packed = rest;
    }
    Ok(at)
}

fn damage(error: impl std::fmt::Display) -> parquet::errors::ParquetError {
    damaged(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::basic::{GzipLevel, ZstdLevel};

    use super::*;

    fn packed(codec: Compression, text: &[u8]) -> Vec<u8> {
        match codec {
            Compression::SNAPPY => snap::raw::Encoder::new().compress_vec(text).expect("packed"),
            Compression::GZIP(_) => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text).expect("packed");
                encoder.finish().expect("packed")
            }
            Compression::ZSTD(_) => zstd::bulk::compress(text, 1).expect("packed"),
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
            Compression::LZ4_RAW,
            Compression::LZ4,
            Compression::UNCOMPRESSED,
        ] {
            let packed = packed(codec, &text);
            let mut unpacker = Unpacker::new(codec);
            let mut unpacked = |length| {
                let mut page = b"levels".to_vec();
                unpacker.unpack(&packed, &mut page, length).map(|()| page)
            };
            assert_eq!(
                unpacked(6 + text.len()).expect("whole"),
                [b"levels", &text[..]].concat(),
                "{codec:?}"
            );
            assert!(unpacked(5).is_err());
            for wrong in [7, text.len(), text.len() + 5, text.len() + 7, 10 * text.len()] {
                assert!(unpacked(wrong).is_err(), "{codec:?} {wrong}");
            }
            for cut in (0..packed.len()).step_by(7) {
                let mut page = Vec::new();
                assert!(
                    unpacker_of(codec).unpack(&packed[..cut], &mut page, text.len()).is_err(),
                    "{codec:?} {cut}"
                );
                assert!(page.capacity() < 3 * text.len());
            }
        }
    }

    fn unpacker_of(codec: Compression) -> Unpacker {
        Unpacker::new(codec)
    }
}
