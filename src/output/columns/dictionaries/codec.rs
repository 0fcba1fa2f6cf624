//! Compressing pages.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};

/// Compresses the pages of a column.
pub(super) struct PageCodec {
    codec: Compression,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    snappy: snap::raw::Encoder,
}

impl PageCodec {
    pub(super) fn new(codec: Compression) -> PageCodec {
        PageCodec { codec, zstd: None, snappy: snap::raw::Encoder::new() }
    }

    /// Whether pages are packed with it here.
    pub(super) fn has(codec: Compression) -> bool {
        !matches!(codec, Compression::BROTLI(_) | Compression::LZO)
    }

    /// Whether pages stay as they are.
    pub(super) fn is_none(&self) -> bool {
        self.codec == Compression::UNCOMPRESSED
    }

    /// Some bytes, compressed.
    ///
    /// # Errors
    /// If the codec is none that pages are written with.
    pub(super) fn pack(&mut self, page: &[u8]) -> Result<Vec<u8>> {
        Ok(match self.codec {
            Compression::UNCOMPRESSED => page.to_vec(),
            Compression::SNAPPY => self.snappy.compress_vec(page).map_err(io::Error::other)?,
            Compression::GZIP(level) => {
                let level = flate2::Compression::new(level.compression_level());
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(page)?;
                encoder.finish()?
            }
            Compression::ZSTD(level) => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Compressor::new(level.compression_level())?),
                };
                zstd.compress(page)?
            }
            Compression::LZ4_RAW => lz4_flex::block::compress(page),
            // As Hadoop frames it: sizes before and after compression stand before the block, from the highest byte on.
            Compression::LZ4 => {
                let block = lz4_flex::block::compress(page);
                let sizes = [page.len() as u32, block.len() as u32].map(u32::to_be_bytes);
                [&sizes[0], &sizes[1], &block[..]].concat()
            }
            Compression::BROTLI(_) | Compression::LZO => {
                return Err(ParquetError::General(format!("compressed with {}", self.codec)));
            }
        })
    }
}
