//! LZ4 frames (LZ4 Frame Format 1.6), one behind the other: their blocks are decompressed by lz4_flex, their headers, lengths and
//! checksums are held against each other here. Its own decoder of frames takes a file that ends between two blocks for whole.

use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};

use xxhash_rust::xxh32::{Xxh32, xxh32};

use crate::read::format::Compression;

/// The magic number of a frame, that of the form before there were frames, and that of a frame to skip, whose last four bits may
/// be any.
const MAGIC: u32 = 0x184d_2204;
const LEGACY: u32 = 0x184c_2102;
const SKIPPED: u32 = 0x184d_2a50;
/// Most frames that are skipped to find the first one.
const MOST_SKIPPED: usize = 64;

/// How far back a block may refer to what was decompressed before.
const HISTORY: usize = 64 << 10;
/// Most bytes that a byte of a block stands for.
const RATIO: usize = 255;

/// The compression of a file that begins with a frame to skip, which LZ4 and Zstandard have in common: that of the first frame
/// behind it.
pub(super) fn behind_skipped(file: &mut (impl Read + Seek)) -> io::Result<Compression> {
    let front = first_front(file)?;
    Ok(if front.starts_with(&MAGIC.to_le_bytes()) { Compression::Lz4 } else { Compression::Zstd })
}

/// What decompressing the first frame of a file holds that is not skipped, in bytes; 0 if that is not known.
pub(super) fn first_window(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    let front = first_front(file)?;
    let size =
        front.get(5).and_then(|sizes| block_size(*sizes)).filter(|_| front.starts_with(&MAGIC.to_le_bytes()));
    Ok(size.map_or(0, |size| 3 * size as u64))
}

/// The first bytes, at most eight, of the first frame of a file that is not skipped; none if too many are skipped before it.
fn first_front(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut at = 0;
    for _ in 0..MOST_SKIPPED {
        file.seek(SeekFrom::Start(at))?;
        let mut front = Vec::new();
        Read::by_ref(file).take(8).read_to_end(&mut front)?;
        let number = |from: usize| front.get(from..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        match (number(0), number(4)) {
            (Some(magic), Some(length)) if magic & !15 == SKIPPED => at += 8 + u64::from(length),
            _ => return Ok(front),
        }
    }
    Ok(Vec::new())
}

/// The largest block of a frame, by the second byte of its descriptor.
fn block_size(sizes: u8) -> Option<usize> {
    match (sizes & 0x8f, sizes >> 4) {
        (0, size @ 4..=7) => Some(1 << (8 + 2 * size)),
        _ => None,
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// A frame that is being read.
struct Lz4Frame {
    /// Whether blocks refer to those before them.
    linked: bool,
    block_checksums: bool,
    /// The checksum of the content so far, if there is to be one.
    checksum: Option<Xxh32>,
    /// How long the content is to be.
    length: Option<u64>,
    /// The largest block.
    most: usize,
    /// The length of the content so far.
    passed: u64,
}

/// Decodes all frames of a file.
pub(super) struct Lz4Decoder<R> {
    input: R,
    frame: Option<Lz4Frame>,
    /// A block as it stands in the file.
    packed: Vec<u8>,
    /// What blocks may refer to, at most [`HISTORY`] bytes.
    history: Vec<u8>,
    /// The last block, and how much of it was read.
    block: Vec<u8>,
    taken: usize,
}

impl<R: BufRead> Lz4Decoder<R> {
    pub(super) fn new(input: R) -> Lz4Decoder<R> {
        let (packed, history, block) = (Vec::new(), Vec::new(), Vec::new());
        Lz4Decoder { input, frame: None, packed, history, block, taken: 0 }
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.input.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads on up to the next block that is not empty; `false` at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        self.block.clear();
        self.taken = 0;
        while self.block.is_empty() {
            match self.frame.take() {
                None if self.input.fill_buf()?.is_empty() => return Ok(false),
                None => self.frame = self.begin()?,
                Some(frame) => self.frame = self.next_block(frame)?,
            }
        }
        Ok(true)
    }

    /// Reads the header of a frame; `None` of one that is skipped.
    fn begin(&mut self) -> io::Result<Option<Lz4Frame>> {
        match self.number()? {
            MAGIC => self.descriptor().map(Some),
            skipped if skipped & !15 == SKIPPED => {
                let length = u64::from(self.number()?);
                let passed = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
                if passed == length { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
            LEGACY => {
                Err(damaged("a frame of the legacy form of LZ4, which is not read: pack it again with lz4"))
            }
            _ => Err(damaged("something that is not LZ4 follows the compressed data")),
        }
    }

    /// Reads the descriptor of a frame (section "Frame Descriptor").
    fn descriptor(&mut self) -> io::Result<Lz4Frame> {
        let mut descriptor = vec![0; 2];
        self.input.read_exact(&mut descriptor)?;
        let (flags, sizes) = (descriptor[0], descriptor[1]);
        let most = block_size(sizes).filter(|_| flags & 0xc2 == 0x40);
        let most = most.ok_or_else(|| damaged("a frame of a version of LZ4 that is not known"))?;
        let has_length = flags & 8 != 0;
        let rest = if has_length { 8 } else { 0 } + if flags & 1 != 0 { 4 } else { 0 };
        descriptor.resize(2 + rest, 0);
        self.input.read_exact(&mut descriptor[2..])?;
        let mut check = [0];
        self.input.read_exact(&mut check)?;
        if check[0] != (xxh32(&descriptor, 0) >> 8) as u8 {
            return Err(damaged("the checksum of the header of a frame is wrong"));
        }
        if flags & 1 != 0 {
            return Err(damaged("a frame that was compressed with a dictionary, which is not read"));
        }
        self.history.clear();
        let length =
            descriptor[2..].first_chunk().filter(|_| has_length).map(|length| u64::from_le_bytes(*length));
        Ok(Lz4Frame {
            linked: flags & 0x20 == 0,
            block_checksums: flags & 0x10 != 0,
            checksum: (flags & 4 != 0).then(|| Xxh32::new(0)),
            length,
            most,
            passed: 0,
        })
    }

    /// Reads the next block of a frame, or its end: then there is no frame any more.
    fn next_block(&mut self, mut frame: Lz4Frame) -> io::Result<Option<Lz4Frame>> {
        let header = self.number()?;
        if header == 0 {
            return self.end(&frame).map(|()| None);
        }
        let length = (header & 0x7fff_ffff) as usize;
        if length > frame.most {
            return Err(damaged("a block is longer than its frame says"));
        }
        self.packed.clear();
        // As much as there is, whatever the header says.
        self.input.by_ref().take(length as u64).read_to_end(&mut self.packed)?;
        if self.packed.len() < length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if frame.block_checksums && self.number()? != xxh32(&self.packed, 0) {
            return Err(damaged("the checksum of a block is wrong"));
        }
        if header >> 31 == 1 {
            std::mem::swap(&mut self.packed, &mut self.block);
        } else {
            self.block.resize(frame.most.min(length.saturating_mul(RATIO)), 0);
            let unpacked =
                lz4_flex::block::decompress_into_with_dict(&self.packed, &mut self.block, &self.history);
            let unpacked = unpacked.map_err(|error| damaged(&format!("a block is damaged: {error}")))?;
            self.block.truncate(unpacked);
        }
        frame.passed += self.block.len() as u64;
        if let Some(checksum) = &mut frame.checksum {
            checksum.update(&self.block);
        }
        if frame.linked {
            self.remember();
        }
        Ok(Some(frame))
    }

    /// Keeps what later blocks may refer to.
    fn remember(&mut self) {
        let last = &self.block[self.block.len().saturating_sub(HISTORY)..];
        self.history.drain(..(self.history.len() + last.len()).saturating_sub(HISTORY));
        self.history.extend_from_slice(last);
    }

    /// Holds what a frame says of its content against that.
    fn end(&mut self, frame: &Lz4Frame) -> io::Result<()> {
        if frame.length.is_some_and(|length| length != frame.passed) {
            return Err(damaged("a frame is not as long as its header says"));
        }
        match &frame.checksum {
            Some(checksum) if checksum.digest() != self.number()? => {
                Err(damaged("the checksum of a frame is wrong"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Lz4Decoder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() || self.taken == self.block.len() && !self.advance()? {
            return Ok(0);
        }
        let count = into.len().min(self.block.len() - self.taken);
        into[..count].copy_from_slice(&self.block[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Flags of a descriptor beside the version.
    const INDEPENDENT: u8 = 0x20;
    const OF_BLOCKS: u8 = 0x10;
    const LENGTH: u8 = 8;
    const OF_CONTENT: u8 = 4;

    /// A frame with flags of blocks of some texts, of which every third is stored as it is.
    fn frame(flags: u8, texts: &[&[u8]]) -> Vec<u8> {
        let content = texts.concat();
        let mut descriptor = vec![0x40 | flags, 0x40];
        if flags & LENGTH != 0 {
            descriptor.extend((content.len() as u64).to_le_bytes());
        }
        let mut out = [&MAGIC.to_le_bytes()[..], &descriptor, &[(xxh32(&descriptor, 0) >> 8) as u8]].concat();
        let mut before = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let stored = at % 3 == 2;
            let block = match (stored, flags & INDEPENDENT) {
                (true, _) => text.to_vec(),
                (false, 0) => {
                    lz4_flex::block::compress_with_dict(text, &before[before.len().saturating_sub(HISTORY)..])
                }
                _ => lz4_flex::block::compress(text),
            };
            out.extend((block.len() as u32 | u32::from(stored) << 31).to_le_bytes());
            out.extend(&block);
            if flags & OF_BLOCKS != 0 {
                out.extend(xxh32(&block, 0).to_le_bytes());
            }
            before.extend_from_slice(text);
        }
        out.extend([0; 4]);
        if flags & OF_CONTENT != 0 {
            out.extend(xxh32(&content, 0).to_le_bytes());
        }
        out
    }

    /// What can be decoded, read so many bytes at a time, and what is wrong with the rest.
    fn decoded(bytes: &[u8], step: usize) -> (Vec<u8>, Option<String>) {
        let (mut decoder, mut all, mut into) = (Lz4Decoder::new(bytes), Vec::new(), vec![0; step]);
        loop {
            match decoder.read(&mut into) {
                Ok(0) => return (all, None),
                Ok(count) => all.extend_from_slice(&into[..count]),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    /// Texts of blocks that refer to those before them.
    fn texts() -> Vec<Vec<u8>> {
        let text =
            |at: usize| format!("some text {at} and more of it {}", "that repeats itself ".repeat(at * 50));
        (0..40).map(|at| text(at).into_bytes()).collect()
    }

    #[test]
    fn frames_are_decoded_whatever_they_say_of_themselves() {
        let texts = texts();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
        for flags in (0..16).map(|bits| bits << 2) {
            let file = frame(flags, &texts);
            for step in [1, 7, 1 << 20] {
                assert!(decoded(&file, step) == (texts.concat(), None), "flags {flags:x}");
            }
        }
        let skipped = [&0x184d_2a53_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let (one, none) = (frame(INDEPENDENT, &texts[..3]), frame(OF_CONTENT, &[]));
        let file = [&skipped[..], &one, &none, &skipped, &skipped, &frame(0, &texts[3..])].concat();
        assert!(decoded(&file, 100) == (texts.concat(), None));
        assert_eq!(behind_skipped(&mut Cursor::new(&file)).expect("read"), Compression::Lz4);
        let zstd = [&skipped[..], b"\x28\xb5\x2f\xfd"].concat();
        for other in [&zstd[..], &skipped, &skipped[..5]] {
            assert_eq!(behind_skipped(&mut Cursor::new(other)).expect("read"), Compression::Zstd);
        }
        assert_eq!(first_window(&mut Cursor::new(&one)).expect("read"), 3 << 16);
        assert_eq!(first_window(&mut Cursor::new(&file)).expect("read"), 3 << 16);
        let many = [&skipped.repeat(MOST_SKIPPED), &one[..]].concat();
        assert_eq!(first_window(&mut Cursor::new(&many)).expect("read"), 0);
        assert_eq!(first_window(&mut Cursor::new(b"\x04\x22\x4d\x18\x64")).expect("read"), 0);
    }

    #[test]
    fn whatever_is_cut_off_or_changed_is_told() {
        let texts = texts();
        let texts: Vec<&[u8]> = texts[..8].iter().map(|text| &**text).collect();
        let flags = OF_BLOCKS | LENGTH | OF_CONTENT;
        let file = frame(flags, &texts);
        for end in 1..file.len() {
            let (all, wrong) = decoded(&file[..end], 1000);
            assert!(texts.concat().starts_with(&all) && wrong.is_some(), "{end}");
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            let (all, wrong) = decoded(&changed, 1000);
            assert!(texts.concat().starts_with(&all) && wrong.is_some(), "{at}");
        }
        // Without checksums there may be other bytes, but no others than a block may hold.
        let plain = frame(0, &texts);
        for at in 0..plain.len() {
            let mut changed = plain.clone();
            changed[at] ^= 0x10;
            decoded(&changed, 1000);
        }
    }

    #[test]
    fn headers_that_promise_too_much_are_told() {
        let says = |file: &[u8]| decoded(file, 100).1.unwrap_or_default();
        let good = frame(INDEPENDENT, &[b"a b c"]);
        let long = [&good[..7], &(1_u32 << 31 | 65_537).to_le_bytes(), &[0; 70_000]].concat();
        assert!(says(&long).contains("longer than its frame says"));
        let far = [&good[..7], &(1_u32 << 31 | 65_536).to_le_bytes(), b"a b"].concat();
        assert!(!says(&far).is_empty());
        let legacy = [&good[..], &LEGACY.to_le_bytes(), b"abc"].concat();
        assert!(says(&legacy).contains("legacy"));
        assert!(says(&[&good[..], b"garbage"].concat()).contains("follows"));
        let descriptor = [0x61, 0x40, 1, 2, 3, 4];
        let check = (xxh32(&descriptor, 0) >> 8) as u8;
        let dictionary = [&MAGIC.to_le_bytes()[..], &descriptor, &[check], &good[7..]].concat();
        assert!(says(&dictionary).contains("dictionary"));
        for (flags, sizes) in [(0x80, 0x40), (0x42, 0x40), (0x40, 0x30), (0x40, 0x41), (0x40, 0xc0)] {
            let descriptor = [flags, sizes];
            let check = (xxh32(&descriptor, 0) >> 8) as u8;
            let file = [&MAGIC.to_le_bytes()[..], &descriptor, &[check], &good[7..]].concat();
            assert!(says(&file).contains("not known"), "{flags:x} {sizes:x}");
        }
    }
}
