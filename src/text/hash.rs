//! The 64-bit identity of a token. Its constants are part of the format of a stored collection.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Longest token hashed from two 8-byte words; longer ones go through xxh3.
pub(super) const SHORT: usize = 16;

/// Masks the first word. Its top byte is 0xFF, which no UTF-8 text contains, so that the factor is never zero.
const KEY_LOW: u64 = 0xFF51_AFD7_ED55_8CCD;
/// Masks the second word; the top byte as for [`KEY_LOW`].
const KEY_HIGH: u64 = 0xFFCE_B9FE_1A85_EC53;
/// Spreads the length over the word; odd, so that different lengths stay different.
const KEY_LENGTH: u64 = 0x9E37_79B9_7F4A_7C15;
/// Multiplier of the last round.
const KEY_LAST: u64 = 0xD6E8_FEB8_6659_FD93;
/// Seed of the hash of long tokens.
const SEED: u64 = 0x616C_696B_6500_0001;

/// For each length up to [`SHORT`]: which bits of the two words belong to the token.
static MASKS: [(u64, u64); SHORT + 1] = masks();

const fn masks() -> [(u64, u64); SHORT + 1] {
    let mut masks = [(0, 0); SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        let bits = u128::MAX >> (128 - 8 * length);
        masks[length] = (bits as u64, (bits >> 64) as u64);
        length += 1;
    }
    masks
}

/// The identity of a token, a function of its canonical UTF-8 bytes only.
pub fn token_hash(token: &[u8]) -> u64 {
    let length = token.len();
    if length > SHORT {
        return hash_long(token);
    }
    let (low, high) = match (token.first_chunk(), token.last_chunk()) {
        (Some(&first), Some(&last)) => {
            let last = u64::from_le_bytes(last);
            // The two overlap in all but `length - 8` bytes.
            (u64::from_le_bytes(first), if length == 8 { 0 } else { last >> (8 * (16 - length)) })
        }
        _ => (load_below_8(token), 0),
    };
    mix(low, high, length as u64)
}

/// The bytes of a slice of at most 7, in the low end of a word.
fn load_below_8(token: &[u8]) -> u64 {
    let length = token.len();
    match (token.first_chunk(), token.last_chunk()) {
        (Some(&first), Some(&last)) => {
            u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << (8 * (length - 4))
        }
        _ => token.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// [`token_hash`] of a token of more than [`SHORT`] bytes.
pub(super) fn hash_long(token: &[u8]) -> u64 {
    xxh3_64_with_seed(token, SEED)
}

/// [`token_hash`] of the first `length` bytes of `window`, each with the bits of `fold` set. The bytes that follow the
/// token are ignored, so that a caller may point into the middle of a text.
#[inline(always)]
pub(super) fn hash_window(window: &[u8; SHORT], length: usize, fold: u64) -> u64 {
    let [a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7] = *window;
    let low = u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]) | fold;
    let high = u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]) | fold;
    let (mask_low, mask_high) = MASKS[length];
    mix(low & mask_low, high & mask_high, length as u64)
}

/// Two rounds: one folded multiplication alone is nearly linear in tokens of up to 8 bytes, and sums of such values
/// (which identify shingles) would collide for families of words such as `x1 y2` and `x2 y1`.
#[inline(always)]
fn mix(low: u64, high: u64, length: u64) -> u64 {
    let product = u128::from(low ^ KEY_LOW) * u128::from(high ^ KEY_HIGH);
    let mut hash = product as u64 ^ (product >> 64) as u64 ^ length.wrapping_mul(KEY_LENGTH);
    hash = (hash ^ (hash >> 32)).wrapping_mul(KEY_LAST);
    hash ^ (hash >> 29)
}
