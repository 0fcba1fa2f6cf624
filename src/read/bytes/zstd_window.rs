//! The windows of Zstandard files: what decompressing them holds, and whether the memory has room for that.

use std::io::{self, Read, Seek, SeekFrom};

#[cfg(feature = "pdf")]
use super::process_room::{memory_of, processes};
use crate::error::{Error, Result};
use crate::limits::{BASE_MEMORY, BEYOND_MEMORY, WORKER_MEMORY, sized};
#[cfg(feature = "pdf")]
use crate::read::format::Format;
use crate::read::source::{DECODED_AHEAD, MOST_WINDOW, Source};

/// Windows that files ask for as a rule, and that a worker has room for.
const USUAL: u64 = 2 << 20;
/// What a frame may always ask for that is not the first of its file: what decoders have to support.
const LATER: u64 = 8 << 20;
/// What such a frame may ask for where there is much memory: what zstd writes without being told how much to look back.
const MOST_LATER: u64 = 128 << 20;

/// Least bytes that are decompressed ahead, whatever the memory, and the part of what a worker has of the shares that they may be.
const AHEAD: (u64, u64) = sized((1 << 20, 8), (1 << 10, 8));

/// The magic number of a frame, and that of a frame to skip, whose last four bits may be any.
const MAGIC: u32 = 0xfd2f_b528;
const SKIPPED: u32 = 0x184d_2a50;
/// Most frames that are skipped to find the first one.
const MOST_SKIPPED: usize = 64;

/// The window that the first frame of a file asks for, in bytes; 0 if the file is damaged, which its decoder will say.
pub(in crate::read) fn first_window(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    let mut at = 0;
    for _ in 0..MOST_SKIPPED {
        file.seek(SeekFrom::Start(at))?;
        let mut header = Vec::new();
        Read::by_ref(file).take(18).read_to_end(&mut header)?;
        header.resize(18, 0);
        let number = |at: usize, bytes: usize| {
            header[at..at + bytes].iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte))
        };
        match number(0, 4) as u32 {
            MAGIC => return Ok(window(header[4], header[5], number)),
            skipped if skipped & !15 == SKIPPED => at += 8 + number(4, 4),
            _ => break,
        }
    }
    Ok(0)
}

/// The window that a frame asks for, by the two bytes behind its magic number.
fn window(descriptor: u8, window: u8, number: impl Fn(usize, usize) -> u64) -> u64 {
    if descriptor & 0x20 == 0 {
        let base = 1u64 << (10 + (window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    // A frame that is decoded at one stroke: as large as its content.
    let content = 5 + [0, 1, 2, 4][usize::from(descriptor & 3)];
    match descriptor >> 6 {
        0 => number(content, 1),
        1 => number(content, 2) + 256,
        2 => number(content, 4),
        _ => number(content, 8),
    }
}

impl Source {
    /// Whether it is decompressed within what every worker has: not only as many decoders as there are files may be open then.
    pub fn has_usual_window(&self) -> bool {
        self.window <= USUAL
    }
}

/// Sees to it that the windows of all files that so many workers may decompress at a time fit in the memory, and notes with
/// each file what it may take: how much all of them take of the memory, and the processes that read PDFs.
///
/// # Errors
/// [`Error::Input`] for the file with the largest window, if they do not fit.
pub fn admit_windows(sources: &mut [Source], memory: Option<u64>, workers: usize) -> Result<u64> {
    if let Some(source) = sources.iter().find(|source| source.window > MOST_WINDOW) {
        let reason = format!(
            "to decompress it takes a window of {} MiB, more than the {} MiB that are supported: compress it again with a \
             smaller window (zstd --long=27 or less)",
            source.window.div_ceil(1 << 20),
            MOST_WINDOW >> 20
        );
        return Err(Error::Input { path: source.path.clone(), reason });
    }
    let Some(memory) = memory else { return Ok(0) };
    let processes = processes_for(sources, memory, workers);
    let base = BASE_MEMORY + WORKER_MEMORY * workers as u64;
    let half = memory.saturating_sub(base) / 2;
    let mut windows: Vec<u64> = sources.iter().map(|source| source.window).collect();
    windows.sort_unstable_by(|a, b| b.cmp(a));
    let unusual = |window: &&u64| **window > USUAL;
    let all: u64 =
        windows.iter().take(workers).filter(unusual).fold(0, |all, window| all.saturating_add(*window));
    let beyond = BEYOND_MEMORY / 2;
    if all > half + beyond {
        let largest = windows.first().copied().unwrap_or(0);
        let named = sources.iter().find(|source| source.window == largest);
        let path = named.map(|source| source.path.clone()).unwrap_or_default();
        let needed = base + 2 * all.saturating_sub(beyond);
        let fewer = if all > largest { ", use fewer workers (-w 1)" } else { "" };
        return Err(Error::Input {
            path,
            reason: format!(
                "to decompress it takes a window of {} MiB, with those of other files and workers {} MiB, which do not fit in \
                 the memory allowed, {} MiB: allow about {} MiB with --memory{fewer}, or compress it again with a smaller \
                 window (zstd --long=27 or less)",
                largest.div_ceil(1 << 20),
                all.div_ceil(1 << 20),
                memory >> 20,
                (needed >> 20) + 1
            ),
        });
    }
    // What other frames ask for is not known before they are read, so room for it is taken off, too.
    let later = (half.saturating_sub(all) / (4 * workers as u64)).clamp(LATER, MOST_LATER);
    let has_windows = sources.iter().any(|source| source.window > 0);
    let rest = memory.saturating_sub(base) / workers as u64;
    let ahead = (rest / AHEAD.1).clamp(AHEAD.0, DECODED_AHEAD as u64) as usize;
    for source in sources.iter_mut() {
        (source.most_window, source.decoded_ahead) = (source.window.max(later), ahead);
    }
    let kept = if has_windows { workers as u64 * (later - LATER) } else { 0 };
    Ok((all + kept).min(half) + processes)
}

/// How much of the memory the processes take that read PDFs. Which members of an archive are PDFs is not known before. Where one has
/// no room, each PDF is refused when it is met.
#[cfg(feature = "pdf")]
fn processes_for(sources: &[Source], memory: u64, workers: usize) -> u64 {
    let reads_pdfs = |source: &Source| matches!(source.format, Format::Pdf | Format::Tar | Format::Zip);
    if sources.iter().any(reads_pdfs) { memory_of(processes(memory, workers as u64)) } else { 0 }
}

/// Without PDFs there are no such processes.
#[cfg(not(feature = "pdf"))]
fn processes_for(_: &[Source], _: u64, _: usize) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    fn compressed(bytes: &[u8], log: u32, sized: bool) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        encoder.window_log(log).expect("a window");
        if sized {
            encoder.set_pledged_src_size(Some(bytes.len() as u64)).expect("a size");
        }
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    fn first(bytes: &[u8]) -> u64 {
        first_window(&mut Cursor::new(bytes)).expect("read")
    }

    #[test]
    fn reads_the_windows_of_frames() {
        for log in [10, 17, 21, 27] {
            assert_eq!(first(&compressed(b"some text", log, false)), 1 << log);
        }
        for length in [9, 300, 70_000] {
            let bytes = vec![b'x'; length];
            assert_eq!(first(&compressed(&bytes, 27, true)), length as u64);
        }
        let skipped =
            [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &compressed(b"text", 20, false)].concat();
        assert_eq!(first(&skipped), 1 << 20);
        for damaged in [&b""[..], b"\x28\xb5\x2f\xfd", b"text that is none"] {
            assert!(first(damaged) <= 1 << 10);
        }
    }
}
