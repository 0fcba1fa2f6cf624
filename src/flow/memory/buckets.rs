//! Numbered things on their way to meet those of the same key: held in arrival order, divided into buckets of keys in
//! place at the end, spilled to disk bucket by bucket when they outgrow their share of the memory.

use std::path::Path;

use crate::error::Result;
use crate::flow::distributed::topology::KeyRange;
use crate::flow::memory::budget::mapped;
use crate::flow::memory::spill::SpillFile;
use crate::flow::records::Keyed;

/// What one worker has collected, such as its postings.
pub struct Buckets<T> {
    bits: u32,
    keys: KeyRange,
    /// One allocation, so large that the system maps it: growing moves no bytes, and what is cut off goes back.
    held: Vec<T>,
    most: usize,
    spill: SpillFile,
    /// For each bucket its stretches in the spill: first byte, and how many values.
    stretches: Vec<Vec<(u64, usize)>>,
    /// Once it is given out: where each part of what is in memory starts, and by how many bits it has been divided.
    parts: Option<Vec<(usize, u32)>>,
}

impl<T: Keyed> Buckets<T> {
    /// An empty store of `1 << bits` buckets of these keys that holds at most `bytes` in memory; its spill file stands in
    /// `scratch`.
    pub fn new(bits: u32, keys: KeyRange, bytes: u64, scratch: &Path) -> Buckets<T> {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
        Buckets {
            bits,
            keys,
            held: mapped(most),
            most: most.max(1 << bits),
            spill: SpillFile::new(scratch),
            stretches: vec![Vec::new(); 1 << bits],
            parts: None,
        }
    }

    /// Takes values in.
    pub fn extend(&mut self, values: &[T]) -> Result<()> {
        if self.held.len() + values.len() > self.most && !self.held.is_empty() {
            self.spill()?;
        }
        self.held.extend_from_slice(values);
        Ok(())
    }

    /// Moves all that is in memory to disk, a stretch for each bucket.
    fn spill(&mut self) -> Result<()> {
        let starts = divide(&mut self.held, self.keys, self.bits);
        let first = self.spill.append(&self.held)?;
        for (stretches, range) in self.stretches.iter_mut().zip(starts.windows(2)) {
            if range[0] < range[1] {
                stretches.push((first + (range[0] * size_of::<T>()) as u64, range[1] - range[0]));
            }
        }
        self.held.clear();
        Ok(())
    }

    /// Whether all buckets have been taken.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Takes the last bucket that is left, in no particular order; `None` when all have been taken. What is given
    /// out is no longer held. Once it is `stopped`, what it takes is of no use.
    pub fn take_last(&mut self, stopped: &dyn Fn() -> bool) -> Result<Option<Vec<T>>> {
        let Some(stretches) = self.stretches.pop() else { return Ok(None) };
        let start = self.divide_last(stopped);
        let mut values = self.held.split_off(start);
        if self.held.len() * 8 < self.held.capacity() * 7 {
            self.held.shrink_to_fit();
        }
        for (first, count) in stretches {
            let start = values.len();
            values.resize(start + count, T::zeroed());
            self.spill.read(first, &mut values[start..])?;
        }
        Ok(Some(values))
    }

    /// Divides the last part of what is in memory, and the last part of that, until it is one bucket; where that starts.
    fn divide_last(&mut self, stopped: &dyn Fn() -> bool) -> usize {
        let parts = self.parts.get_or_insert_with(|| vec![(0, 0)]);
        while let Some((start, above)) = parts.pop() {
            if above == self.bits || stopped() {
                return start;
            }
            let now = (self.bits - above).min(AT_ONCE);
            let ends = permute(&mut self.held[start..], (self.keys, above), now, stopped);
            let starts = std::iter::once(0).chain(ends);
            parts.extend(starts.take(1 << now).map(|part| (start + part, above + now)));
        }
        0
    }
}

/// Most bits divided by at once: more streams of writes than pages the processor keeps at hand are slow.
const AT_ONCE: u32 = 5;

/// Brings values into the order of the high `bits` of their keys within a range, in place. The start of each bucket, and
/// the end of the last.
fn divide<T: Keyed>(values: &mut [T], keys: KeyRange, bits: u32) -> Vec<usize> {
    let mut starts = Vec::with_capacity((1 << bits) + 1);
    divide_below(values, (keys, 0), bits, 0, &mut starts);
    starts.push(values.len());
    starts
}

/// Divides values that agree in the `above` highest bits of their keys by the `bits` below those; `first` is the
/// place of the first of them.
fn divide_below<T: Keyed>(
    values: &mut [T],
    (keys, above): (KeyRange, u32),
    bits: u32,
    first: usize,
    starts: &mut Vec<usize>,
) {
    if bits == 0 {
        return starts.push(first);
    }
    let now = bits.min(AT_ONCE);
    let ends = permute(values, (keys, above), now, &|| false);
    let mut start = 0;
    for end in ends {
        divide_below(&mut values[start..end], (keys, above + now), bits - now, first + start, starts);
        start = end;
    }
}

/// Permutes values by some bits of their keys: each swap puts one where it belongs (McIlroy, Bostic and McIlroy,
/// "Engineering Radix Sort", 1993). The end of each bucket. Once it is `stopped`, values stand anywhere.
fn permute<T: Keyed>(
    values: &mut [T],
    (keys, above): (KeyRange, u32),
    bits: u32,
    stopped: &dyn Fn() -> bool,
) -> Vec<usize> {
    let bucket = |value: &T| (keys.of(value) << above >> (64 - bits)) as usize;
    let mut ends = vec![0; 1 << bits];
    values.iter().for_each(|value| ends[bucket(value)] += 1);
    let mut next = ends.clone();
    let mut sum = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = sum;
        sum += *end;
        *end = sum;
    }
    for here in 0..ends.len() {
        if stopped() {
            break;
        }
        while next[here] < ends[here] {
            let mut carried = values[next[here]];
            let mut place = bucket(&carried);
            while place != here {
                // `mem::swap` is a call of its own for some types.
                let there = &mut values[next[place]];
                (carried, *there) = (*there, carried);
                next[place] += 1;
                place = bucket(&carried);
            }
            values[next[here]] = carried;
            next[here] += 1;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::records::Posting;

    #[test]
    fn what_is_spilled_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let posting = |i: u64| Posting { key: i.wrapping_mul(0x9e37_79b9_7f4a_7c15), size: 1, doc: i as u32 };
        let all: Vec<Posting> = (0..5000).map(posting).collect();
        let whole = KeyRange { first: 0, zeros: 0 };
        let third = KeyRange { first: u64::MAX / 3 + 1, zeros: 1 };
        for (bytes, bits, keys) in
            [(0, 4, whole), (4000, 7, third), (1 << 20, 4, third), (1 << 20, 11, whole), (0, 4, third)]
        {
            let all: Vec<Posting> =
                all.iter().copied().filter(|p| keys == whole || p.key / third.first == 1).collect();
            let mut postings = Buckets::new(bits, keys, bytes, folder.path());
            for part in all.chunks(300) {
                postings.extend(part).expect("taken in");
            }
            assert_eq!(postings.spill.bytes() > 0, bytes < 1 << 20);
            let (mut back, mut bucket) = (Vec::new(), 1 << bits);
            while let Some(taken) = postings.take_last(&|| false).expect("taken out") {
                bucket -= 1;
                assert!(taken.iter().all(|p| (keys.of(p) >> (64 - bits)) as usize == bucket));
                back.extend(taken);
            }
            assert_eq!(bucket, 0);
            back.sort_unstable_by_key(|p| p.doc);
            assert_eq!(back, all);
        }
    }
}
