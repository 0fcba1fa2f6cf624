//! Pages: what everything in a run file is made of, sealed against damage and decoded in place.
#![expect(unsafe_code, reason = "abomonation decodes in place; what makes that sound stands at its one use")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one file that may use abomonation"
)]

use abomonation::Abomonation;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::limits::sized;

/// Bytes of a page.
pub const PAGE_BYTES: usize = sized(4096, 512);
/// Words of 64 bits of a page.
pub const PAGE_WORDS: usize = PAGE_BYTES / 8;
/// Words of a page that hold what a section is made of; before them are the checksum and the header.
pub const PAYLOAD_WORDS: usize = PAGE_WORDS - 2;

/// A page as it is read and written: words, little-endian until [`Seal::check`] has passed it.
pub type RawPage = [u64; PAGE_WORDS];

/// A page, decoded in place. Fixed size, no padding, no pointer, and a value for every pattern of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Page {
    checksum: u64,
    header: u64,
    payload: [u64; PAYLOAD_WORDS],
}

const _: () = assert!(size_of::<Page>() == PAGE_BYTES && align_of::<Page>() == align_of::<RawPage>());

// Nothing of a page lies outside of it, so the empty methods of the trait are right. The macro
// `unsafe_abomonate!(Page)` writes this very line, but is deprecated.
impl Abomonation for Page {}

impl Page {
    /// The number of the section that the page belongs to.
    pub fn section(&self) -> u32 {
        (self.header >> 32) as u32
    }

    /// The words that are used: at most [`PAYLOAD_WORDS`].
    pub fn payload(&self) -> &[u64] {
        &self.payload[..(self.header as u32 as usize).min(PAYLOAD_WORDS)]
    }
}

/// Decodes a page that [`Seal::check`] has passed, without looking at it again.
pub fn decode(raw: &mut RawPage) -> &Page {
    // SAFETY: `decode` asks that the bytes be aligned for a `Page`, and that they be a valid one. They are aligned:
    // a `RawPage` is an array of `u64`, whose alignment a `Page` has (asserted above). They are valid: a `Page`
    // consists of `u64` without padding, and every pattern of bits is a `u64`; no byte of it is a length, a
    // pointer or a discriminant, so nothing is followed and nothing is trusted, damaged or not. They are enough:
    // `decode` compares the lengths, which are the same (asserted above). The reference it returns borrows `raw`, so
    // nobody writes to the page as long as it lives. RUSTSEC-2021-0120 is about types of which one of this is untrue.
    match unsafe { abomonation::decode::<Page>(bytemuck::bytes_of_mut(raw)) } {
        Some((page, _)) => page,
        None => unreachable!("a raw page is as long as a page"),
    }
}

/// What the checksums of a run's pages are bound to, so that a page that was moved to another place, another run or
/// another collection is refused like one that was damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    collection: u64,
    run: u64,
}

impl Seal {
    /// The seal of a run of a collection, by their ids.
    pub fn new(collection: u64, run: u64) -> Seal {
        Seal { collection, run }
    }

    /// The id of the collection.
    pub fn collection(&self) -> u64 {
        self.collection
    }

    /// The id of the run.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The checksum of page `number`, whose words are little-endian.
    fn checksum(&self, raw: &RawPage, number: u64) -> u64 {
        let mut place = [0; 24];
        for (bytes, word) in place.chunks_exact_mut(8).zip([self.collection, self.run, number]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        xxh3_64_with_seed(bytemuck::cast_slice(&raw[1..]), xxh3_64(&place))
    }

    /// Makes `raw`, of which the first `used` words of payload are set, page `number` of the file, as it is written.
    ///
    /// # Panics
    /// If `used` is more than [`PAYLOAD_WORDS`].
    pub fn close(&self, raw: &mut RawPage, number: u64, section: u32, used: usize) {
        raw[2 + used..].fill(0);
        raw[1] = u64::from(section) << 32 | used as u64;
        raw[1..].iter_mut().for_each(|word| *word = word.to_le());
        raw[0] = self.checksum(raw, number).to_le();
    }

    /// Decodes page `number` of the file as it was read, if it is whole and in its place. Once only: afterwards the
    /// words have the order of the machine.
    ///
    /// # Errors
    /// What is wrong with the page: its checksum, or words of payload that it cannot have.
    pub fn check<'a>(&self, raw: &'a mut RawPage, number: u64) -> Result<&'a Page, &'static str> {
        if u64::from_le(raw[0]) != self.checksum(raw, number) {
            return Err("the checksum of the page does not hold: changed, or not written here");
        }
        raw.iter_mut().for_each(|word| *word = u64::from_le(*word));
        let page = decode(raw);
        if page.header as u32 as usize > PAYLOAD_WORDS {
            return Err("the page claims more words than a page has");
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The twin: the same page word by word, from bytes.
    fn twin(bytes: &[u8]) -> Page {
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight"))).collect();
        let payload = words[2..].try_into().expect("the rest of a page");
        Page { checksum: words[0], header: words[1], payload }
    }

    fn words() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(any::<u64>(), PAGE_WORDS)
    }

    proptest! {
        #[test]
        fn decoding_is_what_the_twin_does(words in words()) {
            let mut raw: RawPage = words.try_into().expect("a page");
            let expected = twin(bytemuck::bytes_of(&raw));
            let page = decode(&mut raw);
            prop_assert_eq!(page, &expected);
            let mut encoded = Vec::new();
            // SAFETY: a page has no padding, so every byte of it is one that was set.
            unsafe { abomonation::encode(page, &mut encoded) }.expect("a vector takes everything");
            prop_assert_eq!(&encoded[..], bytemuck::bytes_of(&raw));
        }

        #[test]
        fn what_was_closed_is_passed_and_nothing_else(
            words in words(), used in 0..=PAYLOAD_WORDS, at in 0..PAGE_WORDS, bit in 0..64, number in 0..9u64,
        ) {
            let seal = Seal::new(7, 8);
            let mut raw: RawPage = words.clone().try_into().expect("a page");
            seal.close(&mut raw, number, 5, used);
            let page = seal.check(&mut raw.clone(), number).expect("whole").clone();
            prop_assert_eq!((page.section(), page.payload()), (5, &words[2..2 + used]));
            prop_assert!(page.payload[used..].iter().all(|&word| word == 0));
            for (other, place) in [(seal, number + 1), (Seal::new(8, 7), number), (Seal::new(7, 9), number)] {
                prop_assert!(other.check(&mut raw.clone(), place).is_err());
            }
            raw[at] ^= 1u64 << bit;
            prop_assert!(seal.check(&mut raw, number).is_err());
        }
    }

    #[test]
    fn a_page_cannot_claim_more_than_it_has() {
        let seal = Seal::new(1, 2);
        let mut raw = [0; PAGE_WORDS];
        raw[1] = (PAYLOAD_WORDS as u64 + 1).to_le();
        raw[0] = seal.checksum(&raw, 0).to_le();
        assert!(seal.check(&mut raw, 0).is_err());
        assert_eq!(decode(&mut raw).payload().len(), PAYLOAD_WORDS);
    }
}
