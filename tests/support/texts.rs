//! Inputs: texts, lines, compressed files, and the random numbers that they are made of.

use std::io::{Read, Write};

use serde_json::json;

/// Bytes that must be UTF-8.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// One JSONL line of a document with these fields and a line feed.
pub(crate) fn line(id: &str, body: &str) -> String {
    format!("{}\n", json!({"id": id, "text": body}))
}

/// `count` distinct words from `start`: texts of different ranges share none.
pub(crate) fn words(start: usize, count: usize) -> String {
    (start..start + count).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ")
}

/// Pairs of texts that resemble each other at about the given percentages, with single words as shingles.
pub(crate) fn pairs_at(percentages: impl IntoIterator<Item = usize>) -> Vec<String> {
    let mut texts = Vec::new();
    for (number, percent) in percentages.into_iter().enumerate() {
        // Of 100 words of either text a share s is in both: s / (200 - s).
        let shared = (2.0 * percent as f64 / (1.0 + percent as f64 / 100.0)).round() as usize;
        for side in ["a", "b"] {
            let word = |at: usize| match at < shared {
                true => format!("p{number}w{at}"),
                false => format!("p{number}{side}{at}"),
            };
            texts.push((0..100).map(word).collect::<Vec<_>>().join(" "));
        }
    }
    texts
}

/// The bytes as gzip members of at most `member` bytes each.
pub(crate) fn gzip(bytes: &[u8], member: usize) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in bytes.chunks(member) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        packed.extend(encoder.finish().unwrap());
    }
    packed
}

/// The bytes as zstd frames of at most `frame` bytes each.
pub(crate) fn zst(bytes: &[u8], frame: usize) -> Vec<u8> {
    bytes.chunks(frame).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect()
}

/// The bytes as LZ4 frames of at most `frame` bytes each, in blocks of 64 KiB, with checksums.
pub(crate) fn lz4(bytes: &[u8], frame: usize) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in bytes.chunks(frame) {
        packed.extend(b"\x04\x22\x4d\x18\x64\x40\xa7");
        for block in part.chunks(64 << 10).map(lz4_flex::block::compress) {
            packed.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
            packed.extend(block);
        }
        packed.extend([0; 4]);
        packed.extend(xxhash_rust::xxh32::xxh32(part, 0).to_le_bytes());
    }
    packed
}

/// The text of the one LZ4 frame that bytes are, without a look at what it says of itself.
fn unpack_lz4(bytes: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::new(), &bytes[7..]);
    loop {
        let (head, behind) = rest.split_first_chunk().unwrap();
        let header = u32::from_le_bytes(*head);
        let (block, behind) = behind.split_at((header & 0x7fff_ffff) as usize);
        match header {
            0 => return plain,
            _ if header >> 31 == 1 => plain.extend_from_slice(block),
            _ => plain.extend(lz4_flex::block::decompress(block, 4 << 20).unwrap()),
        }
        rest = behind;
    }
}

/// Decompresses gzip, zstd or a frame of LZ4, known by the first bytes; anything else is returned as it is.
pub(crate) fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    } else if bytes.starts_with(&[0x04, 0x22, 0x4d, 0x18]) {
        return unpack_lz4(bytes);
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::Decoder::new(bytes).unwrap().read_to_end(&mut plain).unwrap();
    } else {
        plain.extend_from_slice(bytes);
    }
    plain
}

/// Families of pages: those of one site share a template of about 90 words, and more of them meet under its shingles than a
/// key group may have. Of the first site none resembles another by 0.8; of the second many do; the third has pages of all
/// sizes and sections with templates of their own. On each site a tenth of the pages are near-copies of the page before.
pub(crate) fn pages(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut texts = Vec::new();
    for (site, pages) in [640, 600, 620].into_iter().enumerate() {
        let mut some = |name: &str, count: usize| -> Vec<String> {
            (0..count).map(|_| format!("{name}{site}x{}", random.below(1 << 30))).collect()
        };
        let template = some("site", 88);
        let sections: Vec<Vec<String>> = (0..4).map(|section| some("section", 6 * section)).collect();
        let mut own: Vec<String> = Vec::new();
        for page in 0..pages {
            let size = [13, 7 + page % 5, 3 + page % 31][site];
            match own.last_mut() {
                Some(last) if page % 10 == 9 => *last = format!("edited{site}x{page}"),
                _ => own = some("own", size),
            }
            let section = if site == 2 { sections[page % 4].as_slice() } else { &[] };
            texts.push([&template, section, &own].concat().join(" "));
        }
    }
    texts
}

/// Near-copies of one template among other texts: more of them than a key group may have.
pub(crate) fn near_copies_among(others: Vec<String>, random: &mut Random) -> Vec<String> {
    let template: Vec<String> = (0..60).map(|i| format!("w{i}")).collect();
    let copy = |at: usize| {
        let mut text = template.clone();
        text[at % 60] = format!("x{at}");
        text[at * 7 % 60] = format!("y{}", at / 9);
        text.join(" ")
    };
    let mut texts: Vec<String> = (0..800).map(copy).collect();
    texts.extend(others);
    random.shuffle(&mut texts);
    texts
}

/// About one in `n` of the texts, families together: those whose least word hash falls into one class of `n`. Texts
/// that share most of their words mostly share the least of them, so near-duplicates stay or go as one.
pub(crate) fn families(texts: Vec<String>, n: u64) -> Vec<String> {
    let least = |body: &String| {
        body.split_whitespace().map(|word| xxhash_rust::xxh3::xxh3_64(word.as_bytes())).min().unwrap_or(0)
    };
    texts.into_iter().filter(|body| least(body) % n == 0).collect()
}

/// A small deterministic generator (SplitMix64), so that the same seed gives the same texts for ever.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// Puts the items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
