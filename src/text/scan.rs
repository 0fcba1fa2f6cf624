//! The fast path: words found in the bit masks of 64-byte blocks, without a look at single bytes.
//!
//! A *run* is a maximal stretch of ASCII word bytes, bytes beyond ASCII, and apostrophes between two such bytes. Runs of
//! ASCII are words; others go the careful route as a whole, since what lies between two runs is a separator whatever
//! their characters turn out to be: no ASCII character that parts runs composes into a word character.

use super::hash::{SHORT, hash_long};
use super::masks::{BLOCK, Masks, scalar};
use super::out::{LOWER, Out, hash_short};
use super::segment::Segments;
use crate::text::Tokens;

/// The instructions used, each level known to be present on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Portable.
    Scalar,
    /// AVX2 with the bit instructions that came with it.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F and BW with the bit instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best level at or below `simd` that this machine has.
    pub(super) fn at_most(simd: crate::simd::Simd) -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            use crate::simd::Simd;
            let bits = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("lzcnt");
            let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            if simd >= Simd::Avx512 && bits && avx512 {
                return Level::Avx512;
            }
            if simd >= Simd::Avx2 && bits && is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        let _ = simd;
        Level::Scalar
    }

    /// Adds the tokens of `text` to `out`.
    #[expect(unsafe_code, reason = "calls code for instructions found at run time")]
    pub(super) fn scan(self, text: &str, out: &mut Out, segments: &mut Segments) {
        match self {
            Level::Scalar => scan(scalar, text, out, segments),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `at_most` is the only maker of this variant, after it has found AVX2, BMI1, BMI2, POPCNT and LZCNT.
            Level::Avx2 => unsafe { scan_avx2(text, out, segments) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `at_most` is the only maker of this variant, after it has found AVX-512 F and BW, BMI1, BMI2,
            // POPCNT and LZCNT.
            Level::Avx512 => unsafe { scan_avx512(text, out, segments) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn scan_avx2(text: &str, out: &mut Out, segments: &mut Segments) {
    scan(|block| super::masks::avx2(block), text, out, segments);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt,lzcnt")]
fn scan_avx512(text: &str, out: &mut Out, segments: &mut Segments) {
    scan(|block| super::masks::avx512(block), text, out, segments);
}

/// Inlined into a function of each level, so that all of it is compiled for the level's instructions.
#[inline(always)]
fn scan(masks: impl Fn(&[u8; BLOCK]) -> Masks, text: &str, out: &mut Out, segments: &mut Segments) {
    let mut scan = WordScan { text, out, segments, start: 0, open: false, dirty: false, joins: 0 };
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        scan.block(i * BLOCK, masks(block));
    }
    if !rest.is_empty() {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        scan.block(blocks.len() * BLOCK, masks(&block));
    }
    if scan.open {
        scan.run(text.len(), scan.dirty);
    }
}

/// What is carried from block to block.
struct WordScan<'a> {
    text: &'a str,
    out: &'a mut Out,
    segments: &'a mut Segments,
    /// Where the open run begins.
    start: usize,
    /// Whether a run reaches over the end of the block before.
    open: bool,
    /// Whether the open run holds bytes beyond ASCII.
    dirty: bool,
    /// 1 if the last byte of the block before can have an apostrophe after it, else 0.
    joins: u64,
}

impl WordScan<'_> {
    #[inline(always)]
    fn block(&mut self, base: usize, masks: Masks) {
        let solid = masks.word | masks.high;
        let mut inner = masks.apostrophe & (solid << 1 | self.joins);
        if inner != 0 {
            let next = inner >> 63 != 0 && self.is_solid(base + BLOCK);
            inner &= solid >> 1 | u64::from(next) << 63;
        }
        let runs = solid | inner;
        // A bit where a run begins and a bit where one has ended, in turn.
        let edges = runs ^ (runs << 1 | u64::from(self.open));
        self.joins = solid >> 63;
        if masks.high == 0 && !self.dirty && self.out.tokens() == Tokens::Words {
            self.clean_block(base, edges);
        } else {
            self.mixed_block(base, edges, masks.high);
        }
    }

    /// Whether an apostrophe before the byte at `at` may belong to a run with it.
    #[cold]
    fn is_solid(&self, at: usize) -> bool {
        self.text.as_bytes().get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
    }

    /// A block of ASCII in word mode, by far the most frequent.
    #[inline(always)]
    fn clean_block(&mut self, base: usize, mut edges: u64) {
        let text = self.text.as_bytes();
        if self.open {
            if edges == 0 {
                return;
            }
            let end = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            self.out.ascii_word(text, self.start, end);
            self.open = false;
        }
        let mut n = 0;
        let room = self.out.room::<{ BLOCK / 2 }>();
        while edges != 0 {
            let first = edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if edges == 0 {
                self.start = base + first;
                self.open = true;
                break;
            }
            let last = edges.trailing_zeros() as usize;
            edges &= edges - 1;
            room[n % (BLOCK / 2)] = if last - first <= SHORT {
                hash_short(text, base + first, base + last)
            } else {
                hash_long_in_block(&text[base + first..base + last])
            };
            n += 1;
        }
        self.out.advance(n);
    }

    /// A block in which each run must be looked at.
    fn mixed_block(&mut self, base: usize, mut edges: u64, high: u64) {
        let mut from = 0;
        while edges != 0 {
            let at = edges.trailing_zeros();
            edges &= edges - 1;
            if self.open {
                let dirty = self.dirty || high & span(from, at) != 0;
                self.run(base + at as usize, dirty);
            } else {
                self.start = base + at as usize;
            }
            self.open = !self.open;
            self.dirty = false;
            from = at;
        }
        if self.open {
            self.dirty |= high >> from != 0;
        }
    }

    /// The run from `start` to `end` is complete.
    fn run(&mut self, end: usize, dirty: bool) {
        if dirty {
            self.segments.feed(&self.text[self.start..end], self.out);
        } else {
            self.out.ascii_word(self.text.as_bytes(), self.start, end);
        }
    }
}

/// The hash of an ASCII word of more than [`SHORT`] bytes that lies within a block.
#[cold]
fn hash_long_in_block(word: &[u8]) -> u64 {
    let mut lower = [0; BLOCK];
    for (lower, byte) in lower.iter_mut().zip(word) {
        *lower = byte | LOWER;
    }
    hash_long(&lower[..word.len()])
}

/// The bits from `from` up to, not including, `to`, which is below 64.
fn span(from: u32, to: u32) -> u64 {
    !0 << from & !(!0 << to)
}
