//! A vector of terms with length and day in 184 bytes, and comparing two of them (Conrad, Guo and Schriber 2003,
//! section 7.3: 60 entries of three bytes, and two bytes each for date and length). Ours: 23 bits an entry, so that
//! length and day have 32 bits each.

use super::lengths_agree;

/// A packed vector: 184 bytes. Word 0 is the length, and above it the day as two's complement; from word 1 on, from the
/// low end, stand the number of entries in 6 bits and the entries in 23 bits each.
pub type PackedVector = [u64; 23];

/// The day of a document that has none.
const NO_DAY: i32 = i32::MIN;
/// Bits of an entry.
const BITS: usize = 23;
/// Entries are below this.
pub const MAX_ENTRY: u64 = 1 << BITS;
/// Where the first entry begins.
const START: usize = 64 + 6;

/// What two vectors must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorAgreement {
    /// Entries that both must have.
    pub shared: u32,
    /// Keys that both must have to be worth comparing, 1 to `shared`.
    pub meeting: u32,
    /// Days between them at most, of which either both have one or neither.
    pub days: u32,
    /// Percent by which either length may differ from the other.
    pub length_percent: u32,
}

/// A vector taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// Its entries, strictly ascending.
    pub entries: Vec<u64>,
    /// Length of the document, in tokens.
    pub length: u32,
    /// Its day, if it has one: days since any day that is the same for all.
    pub day: Option<i32>,
}

/// A vector of at most 60 entries below 2^23, strictly ascending, as one value. A day of `i32::MIN` counts as none.
///
/// # Panics
/// If there are more entries, or greater ones.
pub fn pack(entries: &[u64], length: u32, day: Option<i32>) -> PackedVector {
    assert!(entries.len() <= crate::limits::MAX_VECTOR, "a vector has at most 60 entries");
    assert!(entries.iter().all(|entry| *entry < MAX_ENTRY), "an entry has 23 bits");
    let mut packed = [0; 23];
    packed[0] = u64::from(length) | u64::from(day.unwrap_or(NO_DAY).cast_unsigned()) << 32;
    packed[1] = entries.len() as u64;
    for (entry, start) in entries.iter().zip((START..).step_by(BITS)) {
        packed[start / 64] |= entry << (start % 64);
        if start % 64 + BITS > 64 {
            packed[start / 64 + 1] |= entry >> (64 - start % 64);
        }
    }
    packed
}

/// What was packed.
pub fn unpack(packed: &PackedVector) -> Unpacked {
    let entries = (0..count(packed)).map(|at| entry(packed, at)).collect();
    Unpacked { entries, length: packed[0] as u32, day: day(packed) }
}

fn count(packed: &PackedVector) -> usize {
    // Bytes that are no vector may say up to 63.
    ((packed[1] & 63) as usize).min(crate::limits::MAX_VECTOR)
}

fn day(packed: &PackedVector) -> Option<i32> {
    Some(((packed[0] >> 32) as u32).cast_signed()).filter(|day| *day != NO_DAY)
}

/// The entry at a place, without looking whether there is one.
#[inline]
fn entry(packed: &PackedVector, at: usize) -> u64 {
    let start = START + at * BITS;
    let (word, bit) = (start / 64, start % 64);
    let low = packed[word] >> bit;
    let high = if bit + BITS > 64 { packed[word + 1] << (64 - bit) } else { 0 };
    (low | high) & ((1 << BITS) - 1)
}

/// How many entries two vectors share, if they agree: their days are within `needed.days` of each other, or
/// neither has one, their lengths agree ([`lengths_agree`]), and they share `needed.shared` entries or more. Entries are
/// compared from the rarest on, and no further than it takes to see that they will not do.
pub fn vectors_alike(a: &PackedVector, b: &PackedVector, needed: VectorAgreement) -> Option<u32> {
    let near = match (day(a), day(b)) {
        (Some(a), Some(b)) => a.abs_diff(b) <= needed.days,
        (a, b) => a == b,
    };
    if !near {
        return None;
    }
    if !lengths_agree(a[0] as u32, b[0] as u32, needed.length_percent) {
        return None;
    }
    shared_at_least(a, b, needed.shared as usize)
}

/// Entries that two vectors share, or `None` as soon as they cannot be `needed` any more.
fn shared_at_least(a: &PackedVector, b: &PackedVector, needed: usize) -> Option<u32> {
    let (in_a, in_b) = (count(a), count(b));
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while shared + (in_a - at_a).min(in_b - at_b) >= needed {
        if at_a == in_a || at_b == in_b {
            return Some(shared as u32);
        }
        let (x, y) = (entry(a, at_a), entry(b, at_b));
        shared += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_vector_takes_184_bytes() {
        assert_eq!(size_of::<PackedVector>(), 184);
        let greatest: Vec<u64> = ((1 << 23) - 60..1 << 23).collect();
        let packed = pack(&greatest, u32::MAX, Some(-1));
        assert_eq!(unpack(&packed), Unpacked { entries: greatest, length: u32::MAX, day: Some(-1) });
    }

    #[test]
    fn days_lengths_and_entries_decide() {
        let needed = VectorAgreement { shared: 50, meeting: 6, days: 42, length_percent: 20 };
        let of = |first: u64, length, day| pack(&(first..first + 60).collect::<Vec<_>>(), length, day);
        let base = of(0, 1000, Some(100));
        assert_eq!(vectors_alike(&base, &of(0, 1000, Some(100)), needed), Some(60));
        assert_eq!(vectors_alike(&base, &of(10, 1200, Some(142)), needed), Some(50));
        assert_eq!(vectors_alike(&base, &of(11, 1000, Some(100)), needed), None);
        assert_eq!(vectors_alike(&base, &of(0, 1201, Some(100)), needed), None);
        assert_eq!(vectors_alike(&base, &of(0, 1000, Some(143)), needed), None);
        assert_eq!(vectors_alike(&base, &of(0, 1000, Some(57)), needed), None);
        assert_eq!(vectors_alike(&base, &of(0, 1000, None), needed), None);
        assert_eq!(vectors_alike(&of(0, 1000, None), &of(0, 1000, None), needed), Some(60));
        let far = of(0, 1000, Some(i32::MAX));
        assert_eq!(vectors_alike(&far, &of(0, 1000, Some(i32::MIN + 1)), needed), None);
    }

    fn entries() -> impl Strategy<Value = BTreeSet<u64>> {
        prop::collection::btree_set(0u64..90, 0..=60)
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(entries in prop::collection::btree_set(0u64..1 << 23, 0..=60),
                                      length in any::<u32>(), day in any::<i32>(), dated in any::<bool>()) {
            let entries: Vec<u64> = entries.into_iter().collect();
            let day = dated.then_some(day).filter(|day| *day != i32::MIN);
            prop_assert_eq!(unpack(&pack(&entries, length, day)), Unpacked { entries, length, day });
        }

        #[test]
        fn the_slow_way_counts_the_same(a in entries(), b in entries(), needed in 0usize..62) {
            let packed = |set: &BTreeSet<u64>| pack(&set.iter().copied().collect::<Vec<_>>(), 1, None);
            let shared = a.intersection(&b).count();
            let slow = (shared >= needed).then_some(shared as u32);
            prop_assert_eq!(shared_at_least(&packed(&a), &packed(&b), needed), slow);
        }
    }
}
