//! The bytes of input files: opened in one place, decompressed, and known again by their digests.

mod decoder;
mod digest;
mod open;
mod window;

pub use digest::{file_digest, file_digests};
pub use open::{InputFile, open_decompressed};

pub(super) use decoder::ReadFault;
pub(super) use window::Window;
