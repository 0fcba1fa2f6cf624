//! Which bytes of a block are what, one bit a byte: portable, AVX2 and AVX-512, all equal.

/// Bytes a block.
pub(super) const BLOCK: usize = 64;

/// What the bytes of a block are; bit i is byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// ASCII letters and digits.
    pub(super) word: u64,
    /// The ASCII apostrophe.
    pub(super) apostrophe: u64,
    /// Bytes of characters beyond ASCII.
    pub(super) high: u64,
}

/// One byte in every lane of a word.
const fn lanes(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// The portable form: eight bytes at a time in a general register.
#[inline(always)]
pub(super) fn scalar(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks { word: 0, apostrophe: 0, high: 0 };
    for (i, eight) in block.as_chunks().0.iter().enumerate() {
        let bytes = u64::from_le_bytes(*eight);
        let low = bytes & lanes(0x7F);
        let letter = low | lanes(0x20);
        // Bit 7 of a lane: at or over the first, and not over the last. No lane carries into the next.
        let alphabetic = (letter + lanes(0x80 - b'a')) & !(letter + lanes(0x7F - b'z'));
        let digit = (low + lanes(0x80 - b'0')) & !(low + lanes(0x7F - b'9'));
        let apostrophe = !((low ^ lanes(b'\'')) + lanes(0x7F));
        masks.word |= gather((alphabetic | digit) & !bytes) << (8 * i);
        masks.apostrophe |= gather(apostrophe & !bytes) << (8 * i);
        masks.high |= gather(bytes) << (8 * i);
    }
    masks
}

/// The top bits of the eight lanes as a byte.
#[inline(always)]
const fn gather(lanes: u64) -> u64 {
    ((lanes >> 7 & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080)) >> 56
}

/// The AVX2 form.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn avx2(block: &[u8; BLOCK]) -> Masks {
    let (halves, _) = block.as_chunks();
    let (low, high) = (half_avx2(&halves[0]), half_avx2(&halves[1]));
    Masks {
        word: low.word | high.word << 32,
        apostrophe: low.apostrophe | high.apostrophe << 32,
        high: low.high | high.high << 32,
    }
}

/// The lower halves of the masks. No closure is handed to a function of the standard library, which would not be inlined: it is
/// not compiled for these instructions.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn half_avx2(half: &[u8; BLOCK / 2]) -> Masks {
    use std::arch::x86_64::*;
    let (words, _) = half.as_chunks::<8>();
    let [a, b, c, d] = [words[0], words[1], words[2], words[3]];
    let x = _mm256_setr_epi64x(
        i64::from_le_bytes(a),
        i64::from_le_bytes(b),
        i64::from_le_bytes(c),
        i64::from_le_bytes(d),
    );
    // Comparisons are signed: bytes beyond ASCII are negative and lie in no range below.
    let letters = _mm256_or_si256(x, _mm256_set1_epi8(0x20));
    let letter = _mm256_andnot_si256(
        _mm256_cmpgt_epi8(letters, _mm256_set1_epi8(b'z' as i8)),
        _mm256_cmpgt_epi8(letters, _mm256_set1_epi8(b'a' as i8 - 1)),
    );
    let digit = _mm256_andnot_si256(
        _mm256_cmpgt_epi8(x, _mm256_set1_epi8(b'9' as i8)),
        _mm256_cmpgt_epi8(x, _mm256_set1_epi8(b'0' as i8 - 1)),
    );
    let apostrophe = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(b'\'' as i8));
    Masks {
        word: u64::from(_mm256_movemask_epi8(_mm256_or_si256(letter, digit)) as u32),
        apostrophe: u64::from(_mm256_movemask_epi8(apostrophe) as u32),
        high: u64::from(_mm256_movemask_epi8(x) as u32),
    }
}

/// The AVX-512 form.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn avx512(block: &[u8; BLOCK]) -> Masks {
    use std::arch::x86_64::*;
    let (words, _) = block.as_chunks::<8>();
    let word = |i: usize| i64::from_le_bytes(words[i]);
    let x = _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
    // Unsigned distance from the first of a range: one comparison tells both ends.
    let letter = _mm512_sub_epi8(_mm512_or_si512(x, _mm512_set1_epi8(0x20)), _mm512_set1_epi8(b'a' as i8));
    let digit = _mm512_sub_epi8(x, _mm512_set1_epi8(b'0' as i8));
    Masks {
        word: _mm512_cmple_epu8_mask(letter, _mm512_set1_epi8(25))
            | _mm512_cmple_epu8_mask(digit, _mm512_set1_epi8(9)),
        apostrophe: _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(b'\'' as i8)),
        high: _mm512_movepi8_mask(x),
    }
}
