//! Tokens as bytes: numbers of one or two bytes, and hashes of those that have no number.

use super::vocabulary::Vocabulary;

/// The byte before a hash.
const HASH: u8 = 0;
/// Numbers of one byte: that byte is one more.
const SHORT: u32 = 127;
/// The bit of a byte before another one of the same number.
const LONG: u8 = 0x80;

/// Tokens whose codes are put together before they are added.
const TOGETHER: usize = 64;
/// Most bytes of a code.
const LONGEST: usize = 1 + size_of::<u64>();

/// Adds the codes of `tokens` to `codes`.
pub(super) fn encode(tokens: &[u64], vocabulary: &mut Vocabulary, codes: &mut Vec<u8>) {
    let mut together = [0; TOGETHER * LONGEST];
    for tokens in tokens.chunks(TOGETHER) {
        let mut end = 0;
        for token in tokens {
            match vocabulary.number(*token) {
                None => {
                    together[end] = HASH;
                    together[end + 1..end + LONGEST].copy_from_slice(&token.to_le_bytes());
                    end += LONGEST;
                }
                Some(number) => {
                    // Which of both no branch would guess: the second byte is written over if it is none.
                    let is_long = number >= SHORT;
                    let [_, _, high, low] = number.wrapping_sub(SHORT).to_be_bytes();
                    let first = if is_long { LONG | high } else { (number as u8).wrapping_add(1) };
                    together[end..end + 2].copy_from_slice(&[first, low]);
                    end += 1 + usize::from(is_long);
                }
            }
        }
        codes.extend_from_slice(&together[..end]);
    }
}

/// Adds the tokens of `codes` to `tokens`, given those that have numbers.
///
/// # Errors
/// What the codes have that no tokens are.
pub(super) fn decode(
    mut codes: &[u8],
    vocabulary: &[u64],
    tokens: &mut Vec<u64>,
) -> Result<(), &'static str> {
    loop {
        let number = match codes {
            [] => return Ok(()),
            [HASH, rest @ ..] => {
                let (hash, rest) = rest.split_first_chunk().ok_or("a hash is cut off")?;
                tokens.push(u64::from_le_bytes(*hash));
                codes = rest;
                continue;
            }
            [byte @ 1..LONG, rest @ ..] => {
                codes = rest;
                usize::from(byte - 1)
            }
            [high, low, rest @ ..] => {
                codes = rest;
                SHORT as usize + (usize::from(high & !LONG) << 8 | usize::from(*low))
            }
            [_] => return Err("a number is cut off"),
        };
        tokens.push(*vocabulary.get(number).ok_or("a number is not in its vocabulary")?);
    }
}

/// Adds a number, seven bits a byte, the low ones first.
pub(super) fn put_length(number: usize, bytes: &mut Vec<u8>) {
    let mut number = number as u64;
    while number >= u64::from(LONG) {
        bytes.push(number as u8 | LONG);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number that stands first in `bytes`, which then begin behind it.
pub(super) fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0u64;
    // So many bytes that no bit of them is lost.
    for shift in (0..u64::BITS - 7).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & !LONG) << shift;
        if byte & LONG == 0 {
            return usize::try_from(number).ok();
        }
    }
    None
}
