//! Xz files: the window that they ask for, and their decoder within the memory that it may take.

use std::io::{self, Read, Seek, SeekFrom};

use lzma_rust2::XzReader;

/// Bytes of a stream header, behind which the first block begins.
const STREAM_HEADER: u64 = 12;
/// What the decoder takes beside the window, in KiB, by far.
const BESIDE: u64 = 1024;
/// The filter LZMA2, and how many sizes it knows.
const LZMA2: u64 = 0x21;
const MOST_SIZE: u8 = 40;

/// The window that the first block of a file asks for, in bytes; 0 if the file is damaged, which its decoder will say. (The
/// .xz File Format 1.2, sections 3.1 and 5.3.1.)
pub(in crate::read) fn first_window(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    file.seek(SeekFrom::Start(STREAM_HEADER))?;
    let mut header = Vec::new();
    Read::by_ref(file).take(1024).read_to_end(&mut header)?;
    Ok(block_window(&header).unwrap_or(0))
}

fn block_window(header: &[u8]) -> Option<u64> {
    let (&flags, mut rest) = (header.get(1)?, header.get(2..)?);
    // The compressed and the uncompressed size, where they are there.
    for _ in 0..(flags >> 6).count_ones() {
        number(&mut rest)?;
    }
    for _ in 0..=flags & 3 {
        let (filter, properties) = (number(&mut rest)?, number(&mut rest)?);
        if filter == LZMA2 {
            let size = *rest.first()?;
            return (size <= MOST_SIZE).then(|| match size {
                MOST_SIZE => u64::from(u32::MAX),
                size => (2 | u64::from(size & 1)) << (size / 2 + 11),
            });
        }
        rest = rest.get(usize::try_from(properties).ok()?..)?;
    }
    None
}

/// A number in as many bytes as it takes, seven bits each.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A decoder of all streams of a file that takes at most so large a window.
pub(super) struct XzDecoder<R: Read>(XzReader<R>);

impl<R: Read> XzDecoder<R> {
    pub(super) fn new(input: R, window: u64) -> XzDecoder<R> {
        let limit = u32::try_from((window >> 10) + BESIDE).unwrap_or(u32::MAX);
        XzDecoder(XzReader::new_mem_limit(input, true, limit))
    }
}

impl<R: Read> Read for XzDecoder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => io::Error::new(
                io::ErrorKind::OutOfMemory,
                "to decompress a part of it takes a larger window than the memory allows: allow more with --memory, or \
                 compress it again with a smaller window (xz -6)",
            ),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    fn compressed(bytes: &[u8], preset: u32) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(preset)).expect("an encoder");
        writer.write_all(bytes).expect("compressed");
        writer.finish().expect("compressed")
    }

    #[test]
    fn windows_are_those_of_the_presets() {
        for (preset, window) in [(0, 256 << 10), (6, 8 << 20), (9, 64 << 20)] {
            let file = compressed(b"some text", preset);
            assert_eq!(first_window(&mut Cursor::new(&file)).expect("read"), window);
            let mut text = Vec::new();
            XzDecoder::new(&*file, window).read_to_end(&mut text).expect("decoded");
            assert_eq!(text, b"some text");
        }
        for damaged in [&b""[..], b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46", &compressed(b"x", 6)[..15]] {
            assert_eq!(first_window(&mut Cursor::new(damaged)).expect("read"), 0);
        }
    }

    #[test]
    fn a_window_beyond_the_memory_is_refused() {
        let file = compressed(b"some text", 9);
        let error = XzDecoder::new(&*file, 8 << 20).read_to_end(&mut Vec::new()).expect_err("64 MiB");
        assert!(
            error.kind() == io::ErrorKind::OutOfMemory && error.to_string().contains("--memory"),
            "{error}"
        );
    }
}
