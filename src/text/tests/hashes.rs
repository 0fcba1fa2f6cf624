//! The hash of tokens: fixed, without structure, and its masks equal at every level.

use std::collections::HashSet;

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::text::hash::{SHORT, hash_window};
use crate::text::masks::{self, BLOCK, Masks};
use crate::text::token_hash;

#[test]
fn hashes_never_change() {
    let fixed = [
        ("", 0x59AA_637C_1A69_0ABF),
        ("a", 0x29EE_2B79_FEDF_8E4F),
        ("don't", 0x1E8A_DCA2_265A_BBC6),
        ("0123456789abcdef", 0x66A4_3807_0D19_EFEE),
        ("0123456789abcdefg", 0xB993_9D91_A0E9_A201),
    ];
    for (token, hash) in fixed {
        assert_eq!(token_hash(token.as_bytes()), hash, "{token}: {:#018X}", token_hash(token.as_bytes()));
    }
}

#[test]
fn millions_of_tokens_do_not_collide() {
    let mut hashes: Vec<u64> = Vec::new();
    for i in 0..1_000_000u32 {
        hashes.push(token_hash(i.to_string().as_bytes()));
        hashes.push(token_hash(format!("{i:07}").as_bytes()));
        hashes.push(token_hash(format!("section{i}").as_bytes()));
        hashes.push(token_hash(format!("{i:x}abcdefghij").as_bytes()));
    }
    hashes.sort_unstable();
    hashes.dedup();
    // The numbers of seven digits are none: the first two lists do not meet.
    assert_eq!(hashes.len(), 4_000_000);
}

#[test]
fn half_of_each_hash_tells_tokens_apart_as_chance_would() {
    // 2^16 tokens in 2^32 places: half a collision is expected.
    for shift in [0, 16, 32] {
        let halves: HashSet<u32> =
            (0..65_536).map(|i: u32| (token_hash(format!("w{i}").as_bytes()) >> shift) as u32).collect();
        assert!(65_536 - halves.len() < 8, "{shift}: {}", halves.len());
    }
}

#[test]
fn zero_bytes_and_lengths_tell_tokens_apart() {
    let mut seen = HashSet::new();
    for length in 0..=40 {
        assert!(seen.insert(token_hash(&vec![0; length])), "{length} zeros");
    }
    for length in 1..=40 {
        for at in 0..length {
            let mut token = vec![0; length];
            token[at] = length as u8;
            assert!(seen.insert(token_hash(&token)), "{length} {at}");
        }
    }
}

#[test]
fn sums_of_hashes_do_not_collide_by_structure() {
    // h(x1) + h(y2) = h(x2) + h(y1) would hold of a linear hash.
    let hash = |a: u8, b: u8| token_hash(&[a, b]);
    for a in b'a'..=b'y' {
        for b in b'0'..=b'8' {
            let left = hash(a, b).wrapping_add(hash(a + 1, b + 1));
            assert_ne!(left, hash(a, b + 1).wrapping_add(hash(a + 1, b)));
        }
    }
}

#[test]
fn every_bit_of_a_token_moves_every_bit_of_its_hash() {
    for length in [1usize, 2, 3, 5, 8, 9, 12, 16, 20] {
        for bit in 0..length * 8 {
            let mut flips = [0u32; 64];
            for i in 0..1024u64 {
                let mut token: Vec<u8> =
                    (0..length as u64).map(|j| (xxh3_64_with_seed(&i.to_le_bytes(), j)) as u8).collect();
                let before = token_hash(&token);
                token[bit / 8] ^= 1 << (bit % 8);
                let changed = before ^ token_hash(&token);
                for (at, flips) in flips.iter_mut().enumerate() {
                    *flips += (changed >> at & 1) as u32;
                }
            }
            // Tokens of one byte are few, so that their samples repeat.
            let range = if length == 1 { 300..=724 } else { 400..=624 };
            assert!(flips.iter().all(|flips| range.contains(flips)), "{length} bytes, bit {bit}: {flips:?}");
        }
    }
}

/// What the masks mean, byte by byte.
fn obvious(block: &[u8; BLOCK]) -> Masks {
    let bits = |is: fn(&u8) -> bool| block.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(is(byte)));
    Masks {
        word: bits(u8::is_ascii_alphanumeric),
        apostrophe: bits(|&byte| byte == b'\''),
        high: bits(|byte| !byte.is_ascii()),
    }
}

#[expect(unsafe_code, reason = "calls each level's code directly, where the machine has it")]
fn check_masks(block: &[u8; BLOCK]) {
    let expected = obvious(block);
    assert_eq!(masks::scalar(block), expected);
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 is there.
            assert_eq!(unsafe { masks::avx2(block) }, expected);
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            // SAFETY: AVX-512 F and BW are there.
            assert_eq!(unsafe { masks::avx512(block) }, expected);
        }
    }
}

#[test]
fn masks_of_every_byte() {
    for byte in 0..=255 {
        check_masks(&[byte; BLOCK]);
        check_masks(&std::array::from_fn(|i| if i % 3 == 0 { byte } else { byte.wrapping_add(i as u8) }));
    }
}

proptest! {
    #[test]
    fn masks_of_any_block(block in prop::array::uniform32(any::<[u8; 2]>())) {
        check_masks(block.as_flattened().try_into().expect("64 bytes"));
    }

    #[test]
    fn a_window_hashes_like_the_token_alone(window in any::<[u8; SHORT]>(), length in 0..=SHORT) {
        prop_assert_eq!(hash_window(&window, length, 0), token_hash(&window[..length]));
    }
}
