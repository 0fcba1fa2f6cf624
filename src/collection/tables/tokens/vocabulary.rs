//! Vocabularies: which tokens have numbers.

use crate::limits::sized;

/// Most tokens of a vocabulary: those whose numbers take one byte, and those that take two.
pub(super) const MOST_TOKENS: usize = sized(127 + (1 << 15), 9);
/// Slots of the table of numbers, a power of two: at most half of them are taken.
const SLOTS: usize = sized(1 << 17, 32);
/// Slots looked at before a token counts as unknown: hashes that were made to fall on one slot cost no more than others.
const TRIES: usize = 16;
/// Bits of what has been seen once.
const SEEN: usize = sized(1 << 20, 1 << 10);
/// Spreads tokens over slots and bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tokens that have come twice, in the order in which they came the second time, numbered from 0.
#[derive(Debug)]
pub(super) struct Vocabulary {
    tokens: Vec<u64>,
    /// One more than a number, 0 in a free slot.
    slots: Vec<u32>,
    /// A bit for each token that has come, by its hash. Two may have one bit: then the second is taken in at once.
    seen: Vec<u64>,
    /// How many tokens had no number since the vocabulary is full.
    missed: usize,
}

impl Vocabulary {
    /// One that knows no token.
    pub(super) fn new() -> Vocabulary {
        Vocabulary { tokens: Vec::new(), slots: vec![0; SLOTS], seen: vec![0; SEEN / 64], missed: 0 }
    }

    /// The number of a token, if it has one. It may get one now, for the next time.
    #[inline]
    pub(super) fn number(&mut self, token: u64) -> Option<u32> {
        let first = (token.wrapping_mul(SPREAD) >> (64 - SLOTS.ilog2())) as usize;
        for at in 0..TRIES {
            let slot = (first + at) % SLOTS;
            match self.slots[slot] {
                0 => {
                    self.take_in(token, slot);
                    return None;
                }
                number if self.tokens[number as usize - 1] == token => return Some(number - 1),
                _ => {}
            }
        }
        self.missed += 1;
        None
    }

    /// Gives a token that has no number one, if it has come before; its number goes to `slot`.
    fn take_in(&mut self, token: u64, slot: usize) {
        if self.tokens.len() == MOST_TOKENS {
            self.missed += 1;
            return;
        }
        let bit = (token.wrapping_mul(SPREAD).rotate_left(32) % SEEN as u64) as usize;
        let word = &mut self.seen[bit / 64];
        if *word >> (bit % 64) & 1 == 0 {
            *word |= 1 << (bit % 64);
            return;
        }
        self.tokens.push(token);
        self.slots[slot] = self.tokens.len() as u32;
    }

    /// Whether a new one would serve better: unknown tokens have taken as much room as a vocabulary does.
    pub(super) fn is_worn(&self) -> bool {
        self.missed >= MOST_TOKENS
    }

    /// The tokens by number; the vocabulary knows none any more.
    pub(super) fn take(&mut self) -> Vec<u64> {
        self.slots.fill(0);
        self.seen.fill(0);
        self.missed = 0;
        std::mem::take(&mut self.tokens)
    }
}
