//! The one place that opens input files, wherever they are, looks at their state, and constructs decoders.
#![expect(clippy::disallowed_types, reason = "decoders are bounded here, for everyone else")]

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use zstd::zstd_safe::get_error_name;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;

use super::lz4::Lz4Decoder;
use super::members::{Damage, GzipMembers};
use super::xz;
use crate::limits::{MAX_DECOMPRESSION_RATIO, MAX_FILE_BYTES, RATIO_FREE_BYTES, sized};
use crate::read::format::Compression;
use crate::read::source::{MOST_WINDOW, Source};
use crate::remote::{ObjectReader, ObjectState, ObjectUrl};

/// Bytes read from a compressed file at once.
const INPUT: usize = sized(128 << 10, 100);
/// Bytes decoded at once.
const OUTPUT: usize = sized(64 << 10, 100);

/// An input file as it lies on disk, or in a store, opened.
#[derive(Debug)]
pub struct InputFile {
    opened: OpenedInput,
    /// Where reading goes on, of an object.
    at: u64,
}

#[derive(Debug)]
enum OpenedInput {
    File(File),
    Object(Mutex<ObjectReader>),
}

/// What tells that an input file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) struct FileState {
    /// Its size on disk.
    pub(in crate::read) bytes: u64,
    /// When it was last written to, as far as the system knows.
    pub(in crate::read) modified: Option<SystemTime>,
}

impl From<Metadata> for FileState {
    fn from(metadata: Metadata) -> FileState {
        FileState { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl FileState {
    /// The state of the file at `path` as it is now.
    pub(in crate::read) fn of(path: &Path) -> io::Result<FileState> {
        fs::metadata(path).map(FileState::from)
    }
}

impl InputFile {
    /// Opens the file at `path`, or the object of that name that was found so.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path, object: Option<&ObjectState>) -> io::Result<InputFile> {
        let opened = match (object, object.and_then(|_| ObjectUrl::of(path))) {
            (Some(state), Some(url)) => OpenedInput::Object(Mutex::new(ObjectReader::open(&url, state)?)),
            _ => OpenedInput::File(File::open(path)?),
        };
        Ok(InputFile { opened, at: 0 })
    }

    /// Another one that reads a range of the same, if that is worth it: not of a file that is at hand.
    pub(in crate::read) fn again(&self, range: Range<u64>) -> Option<InputFile> {
        match &self.opened {
            OpenedInput::File(_) => None,
            OpenedInput::Object(reader) => {
                let reader = lock(reader).again(range);
                Some(InputFile { opened: OpenedInput::Object(Mutex::new(reader)), at: 0 })
            }
        }
    }

    /// Whether what is fetched of it is kept for all who read it.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn keeps_fetched(&self) -> bool {
        match &self.opened {
            OpenedInput::File(_) => false,
            OpenedInput::Object(reader) => lock(reader).state().is_spooled(),
        }
    }

    /// Says that all of a range will be read, in order, and little else.
    pub fn expect(self, range: Range<u64>) -> InputFile {
        if let OpenedInput::Object(reader) = &self.opened {
            lock(reader).expect(range);
        }
        self
    }

    /// The state of the opened file.
    pub(in crate::read) fn state(&self) -> io::Result<FileState> {
        match &self.opened {
            OpenedInput::File(file) => file.metadata().map(FileState::from),
            OpenedInput::Object(reader) => {
                Ok(FileState { bytes: lock(reader).state().bytes, modified: None })
            }
        }
    }

    /// Reads at an offset; 0 is the end.
    pub(in crate::read) fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.opened {
            OpenedInput::File(file) => file.read_at(into, offset),
            OpenedInput::Object(reader) => lock(reader).read_at(into, offset),
        }
    }
}

impl Source {
    /// Opens it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(&self) -> io::Result<InputFile> {
        InputFile::open(&self.path, self.object.as_ref())
    }
}

/// A lock that nobody can leave half written behind it.
fn lock(reader: &Mutex<ObjectReader>) -> std::sync::MutexGuard<'_, ObjectReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Read for InputFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.opened {
            OpenedInput::File(file) => file.read(into),
            OpenedInput::Object(reader) => {
                let reader = reader.get_mut().unwrap_or_else(PoisonError::into_inner);
                let read = reader.read_at(into, self.at)?;
                self.at += read as u64;
                Ok(read)
            }
        }
    }
}

impl Seek for InputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let reader = match &mut self.opened {
            OpenedInput::File(file) => return file.seek(to),
            OpenedInput::Object(reader) => reader.get_mut().unwrap_or_else(PoisonError::into_inner),
        };
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(by) => reader.state().bytes.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

/// The text of a file that people write, and that is read at once. A pipe will do.
///
/// # Errors
/// What the system says; a file of more than `most` bytes, or one that is not UTF-8.
pub fn read_short(path: &Path, most: u64) -> io::Result<String> {
    let (file, mut text) = (File::open(path)?, String::new());
    // Of a pipe that is known at its end only.
    let long = file.metadata()?.len() > most
        || file.take(most.saturating_add(1)).read_to_string(&mut text)? as u64 > most;
    if long {
        let what = format!("it has more than {most} bytes, the most allowed of such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

/// The decompressed bytes of a source. More than [`MAX_FILE_BYTES`] of them, or more than
/// [`MAX_DECOMPRESSION_RATIO`] for each compressed byte, is an error. The bytes that come before an error do not
/// depend on how much is asked for at once.
///
/// # Errors
/// What the system says of the file, or the decoder of its content.
pub fn open_decompressed(source: &Source) -> io::Result<Box<dyn Read + Send>> {
    open_counted(source, Arc::default(), Damage::of(source, false))
}

/// The same, of a source that was read before: damage behind which that went on is passed over.
///
/// # Errors
/// Those of [`open_decompressed`].
pub fn open_decompressed_again(source: &Source) -> io::Result<Box<dyn Read + Send>> {
    open_counted(source, Arc::default(), Damage::of(source, true))
}

/// The same, of a source of which nothing is known yet, whatever is damaged.
///
/// # Errors
/// Those of [`open_decompressed`].
pub(in crate::read) fn open_unknown(source: &Source) -> io::Result<Box<dyn Read + Send>> {
    open_counted(source, Arc::default(), Damage::PassedOver)
}

/// The same; `consumed` follows the bytes of the file read so far, and `damage` says what becomes of some of it.
pub(in crate::read) fn open_counted(
    source: &Source,
    consumed: Arc<AtomicU64>,
    damage: Damage,
) -> io::Result<Box<dyn Read + Send>> {
    let file = source.open()?.expect(0..source.bytes);
    let file = CountedFile { file, at: 0, consumed: Arc::clone(&consumed) };
    let decoder: Box<dyn Read + Send> = match source.compression {
        Compression::None => return Ok(Box::new(file)),
        Compression::Gzip => Box::new(GzipMembers::new(file, damage)),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(BufReader::with_capacity(INPUT, file))?;
            // A frame of a window between two powers of two needs the higher one.
            let most = source.most_window.clamp(1 << 10, MOST_WINDOW);
            decoder.window_log_max(most.next_power_of_two().ilog2())?;
            Box::new(decoder)
        }
        Compression::Bzip2 => {
            Box::new(bzip2::bufread::MultiBzDecoder::new(BufReader::with_capacity(INPUT, file)))
        }
        Compression::Xz => {
            Box::new(xz::XzDecoder::new(BufReader::with_capacity(INPUT, file), source.most_window))
        }
        Compression::Lz4 => Box::new(Lz4Decoder::new(BufReader::with_capacity(INPUT, file))),
    };
    Ok(Box::new(Guarded::new(decoder, consumed)))
}

/// A file that counts what is read of it, and knows where it stands.
pub(in crate::read) struct CountedFile<R> {
    file: R,
    at: u64,
    /// The end of what was read of it.
    consumed: Arc<AtomicU64>,
}

impl<R> CountedFile<R> {
    /// A file at its beginning.
    pub(in crate::read) fn new(file: R) -> CountedFile<R> {
        CountedFile { file, at: 0, consumed: Arc::default() }
    }
}

impl<R: Read> Read for CountedFile<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.at += read as u64;
        self.consumed.fetch_max(self.at, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Seek> Seek for CountedFile<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // Where it stands is asked for with each member.
        if to != SeekFrom::Current(0) {
            self.at = self.file.seek(to)?;
        }
        Ok(self.at)
    }
}

/// A decoder held to the limits. It decodes in steps of its own, because a decoder that fails loses what it
/// decoded in that step, and what is lost must not depend on who reads.
struct Guarded<R> {
    decoder: R,
    step: Box<[u8]>,
    taken: usize,
    filled: usize,
    decoded: u64,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Guarded<R> {
    fn new(decoder: R, consumed: Arc<AtomicU64>) -> Guarded<R> {
        Guarded { decoder, step: vec![0; OUTPUT].into(), taken: 0, filled: 0, decoded: 0, consumed }
    }

    fn check(&self) -> io::Result<()> {
        let input = self.consumed.load(Ordering::Relaxed);
        let what = if self.decoded >= MAX_FILE_BYTES {
            format!("unfolds to {MAX_FILE_BYTES} bytes or more, the most allowed of a file")
        } else if self.decoded > RATIO_FREE_BYTES && self.decoded / MAX_DECOMPRESSION_RATIO > input {
            format!("unfolds to more than {MAX_DECOMPRESSION_RATIO} times its size")
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.filled {
            self.taken = 0;
            self.filled = 0;
            self.filled = self.decoder.read(&mut self.step).map_err(too_wide)?;
            self.decoded += self.filled as u64;
            self.check()?;
        }
        let count = into.len().min(self.filled - self.taken);
        into[..count].copy_from_slice(&self.step[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// The error of a decoder that may not take as much memory as a frame asks for, in words that help.
fn too_wide(error: io::Error) -> io::Error {
    // The decoder hands on the name of its error, and not the number.
    let number = ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge as usize;
    if error.to_string() != get_error_name(number.wrapping_neg()) {
        return error;
    }
    let what = "to decompress a part of it takes a larger window than the memory allows: allow more with --memory, or \
                compress it again with a smaller window (zstd --long=27 or less)";
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_window_that_is_too_wide_is_told_apart_from_damage() {
        let mut wide = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        wide.window_log(20).expect("a window");
        wide.write_all(b"some text").expect("compressed");
        let bytes = wide.finish().expect("compressed");
        let read = |bytes: &[u8]| {
            let mut decoder = zstd::Decoder::with_buffer(bytes).expect("a decoder");
            decoder.window_log_max(19).expect("a bound");
            let error = decoder.read(&mut [0; 64]).expect_err("no text");
            too_wide(error).kind()
        };
        assert_eq!(read(&bytes), io::ErrorKind::OutOfMemory);
        let damaged = [&bytes[..4], &[0xff; 9]].concat();
        assert_ne!(read(&damaged), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_bomb_is_an_error_once_it_is_large() {
        let mut guarded = Guarded::new(io::repeat(b'x'), Arc::new(AtomicU64::new(1000)));
        guarded.decoded = RATIO_FREE_BYTES - OUTPUT as u64;
        let mut into = vec![0; OUTPUT];
        assert!(guarded.read_exact(&mut into).is_ok());
        assert!(guarded.read_exact(&mut into).is_err());
        let mut guarded = Guarded::new(io::repeat(b'x'), Arc::new(AtomicU64::new(u64::MAX / 2)));
        guarded.decoded = MAX_FILE_BYTES - OUTPUT as u64 - 1;
        assert!(guarded.read_exact(&mut into).is_ok());
        assert!(guarded.read_exact(&mut into).is_err());
    }
}
