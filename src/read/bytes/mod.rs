//! The bytes of input files: opened in one place, decompressed, and known again by their digests.

mod counted_write;
mod decoder;
mod digest;
mod line_stream;
mod lz4;
mod members;
mod open;
mod packed_members;
#[cfg(feature = "pdf")]
mod process_room;
mod read_ahead;
mod room;
mod window;
mod xz;
mod zstd_window;

pub use counted_write::CountedWrite;
pub use digest::{file_digest, file_digests};
pub use members::PackedMember;
pub use open::{InputFile, open_decompressed, open_decompressed_again, read_short};
pub use packed_members::packed_members;
pub use read_ahead::admit_read_ahead;
pub use room::{RecordCost, RecordRoom};
pub use zstd_window::admit_windows;

pub(super) use decoder::ReadFault;
pub(super) use line_stream::{LineStream, TakenLines};
pub(super) use members::PassedOver;
pub(super) use open::open_unknown;
pub(super) use read_ahead::USUAL_ROOM;
pub(super) use room::{Turn, most_words};
pub(super) use window::Window;

use std::io::{Read, Result, Seek};

use super::format::Compression;

/// The window that decompressing a file takes, as its beginning says, in bytes; 0 where that is little or not known.
pub(super) fn first_window(compression: Compression, file: &mut (impl Read + Seek)) -> Result<u64> {
    match compression {
        Compression::Zstd => zstd_window::first_window(file),
        Compression::Xz => xz::first_window(file),
        Compression::Lz4 => lz4::first_window(file),
        _ => Ok(0),
    }
}

/// How a file is compressed.
pub(super) fn compression_of(file: &mut (impl Read + Seek)) -> Result<Compression> {
    let mut magic = Vec::new();
    Read::by_ref(file).take(8).read_to_end(&mut magic)?;
    match Compression::of(&magic) {
        Compression::Zstd if magic[0] != 0x28 => lz4::behind_skipped(file),
        compression => Ok(compression),
    }
}
