//! The token hashes of one document, and the single spaces between its words in character mode.

use super::hash::{SHORT, hash_long, hash_window, token_hash};
use super::segment::Words;
use crate::system_memory::reserve_apart;
use crate::text::Tokens;

/// The bit that lowercases an ASCII letter. Digits and the apostrophe carry it already, so setting it canonicalises
/// every byte an ASCII word can have, and the text need not be copied to be lowercased.
pub(super) const LOWER: u8 = 0x20;

/// [`LOWER`] in every byte of a word.
const LOWERS: u64 = u64::from_le_bytes([LOWER; 8]);

/// Hashes beyond which the buffer no longer doubles.
const MANY: usize = 1 << 18;

/// Where tokens go. The buffer keeps its length from document to document; `length` says how much of it counts.
pub(super) struct Out {
    hashes: Vec<u64>,
    length: usize,
    tokens: Tokens,
    /// Whether a separator stood before what comes next.
    parted: bool,
    /// The hash of each ASCII character as a token.
    ascii: [u64; 128],
    /// A long ASCII word, lowercased.
    long: Vec<u8>,
}

impl Out {
    pub(super) fn new(tokens: Tokens) -> Out {
        let ascii = std::array::from_fn(|byte| token_hash(&[byte as u8]));
        Out { hashes: Vec::new(), length: 0, tokens, parted: false, ascii, long: Vec::new() }
    }

    /// Forgets the document before.
    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.parted = false;
    }

    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes[..self.length]
    }

    pub(super) fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Room for the hashes of `N` tokens, the first `n` of which become tokens with [`Out::advance`].
    #[inline(always)]
    pub(super) fn room<const N: usize>(&mut self) -> &mut [u64; N] {
        if self.hashes.len() - self.length < N {
            self.grow(N);
        }
        self.hashes[self.length..].first_chunk_mut().expect("grown to hold it")
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, n: usize) {
        self.length += n;
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let held = self.hashes.len();
        if held < MANY {
            self.hashes.resize((held * 2).max(self.length + more).max(1024), 0);
        } else {
            // All of it is touched: of a huge text little beyond what it needs.
            let more = more.max(held / 8);
            reserve_apart(&mut self.hashes, more);
            self.hashes.resize(held + more, 0);
        }
    }

    #[inline]
    fn push(&mut self, hash: u64) {
        *self.room::<1>() = [hash];
        self.advance(1);
    }

    /// In character mode: the space before a word that is parted from the word before it.
    fn space(&mut self) {
        if self.parted && self.length > 0 {
            self.push(self.ascii[usize::from(b' ')]);
        }
        self.parted = false;
    }

    /// A word of ASCII letters, digits and inner apostrophes, as it stands in the source between separators.
    pub(super) fn ascii_word(&mut self, text: &[u8], start: usize, end: usize) {
        match self.tokens {
            Tokens::Words => {
                let short = end - start <= SHORT;
                let hash =
                    if short { hash_short(text, start, end) } else { self.hash_long(&text[start..end]) };
                self.push(hash);
            }
            Tokens::Chars => {
                self.part();
                self.space();
                for &byte in &text[start..end] {
                    self.push(self.ascii[usize::from((byte | LOWER) & 0x7F)]);
                }
            }
        }
    }

    /// The hash of an ASCII word of more than [`SHORT`] bytes.
    #[cold]
    fn hash_long(&mut self, word: &[u8]) -> u64 {
        self.long.clear();
        self.long.extend(word.iter().map(|byte| byte | LOWER));
        hash_long(&self.long)
    }
}

impl Words for Out {
    #[inline]
    fn part(&mut self) {
        self.parted = true;
    }

    fn word(&mut self, word: &str) {
        match self.tokens {
            Tokens::Words => self.push(token_hash(word.as_bytes())),
            Tokens::Chars => {
                self.space();
                for c in word.chars() {
                    let hash = match self.ascii.get(c as usize) {
                        Some(&hash) => hash,
                        None => token_hash(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    };
                    self.push(hash);
                }
            }
        }
    }
}

/// The hash of an ASCII word of at most [`SHORT`] bytes, read where it stands.
#[inline(always)]
pub(super) fn hash_short(text: &[u8], start: usize, end: usize) -> u64 {
    match text[start..].first_chunk() {
        Some(window) => hash_window(window, end - start, LOWERS),
        None => hash_at_end(&text[start..], end - start),
    }
}

/// A word so near the end of the text that a whole window would reach beyond it.
#[cold]
fn hash_at_end(rest: &[u8], length: usize) -> u64 {
    let mut window = [0; SHORT];
    window[..rest.len()].copy_from_slice(rest);
    hash_window(&window, length, LOWERS)
}
