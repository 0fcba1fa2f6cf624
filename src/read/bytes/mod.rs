//! The bytes of input files: opened in one place, decompressed, and known again by their digests.

mod decoder;
mod digest;
mod open;
mod room;
mod window;
mod zstd_window;

pub use digest::{file_digest, file_digests};
pub use open::{InputFile, open_decompressed, read_short};
pub use room::{RecordCost, RecordRoom};
pub use zstd_window::admit_windows;

pub(super) use decoder::ReadFault;
pub(super) use room::Turn;
pub(super) use window::Window;
pub(super) use zstd_window::{MOST_WINDOW, first_window};
