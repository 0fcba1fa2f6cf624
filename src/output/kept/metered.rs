//! Compressed files being written, as progress.

use std::fs::File;
use std::io::{self, Write};

use crate::progress::Progress;

/// A compressed file being written. The decoder hides how much of its input it has read; what has been written is
/// close to it where few records go, so progress follows that, up to the input's size.
pub(super) struct Metered<'a> {
    pub(super) output: File,
    pub(super) written: u64,
    pub(super) left: u64,
    pub(super) progress: &'a Progress,
    /// Whether writing it has failed.
    pub(super) failed: bool,
}

impl Write for Metered<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes).inspect_err(|error| {
            self.failed |= error.kind() != io::ErrorKind::Interrupted;
        })?;
        self.written += written as u64;
        let step = self.left.min(written as u64);
        self.left -= step;
        self.progress.advance(step);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush().inspect_err(|_| self.failed = true)
    }
}
