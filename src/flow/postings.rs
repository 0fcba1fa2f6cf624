//! Postings on their way to be collided: held in arrival order, divided into buckets of keys in place at the end,
//! spilled to disk bucket by bucket when they outgrow their share of the memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

use super::catalogue::Doc;
use crate::error::{Error, Result};

/// One key of one document. Sixteen bytes without padding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable, serde::Serialize, serde::Deserialize,
)]
#[repr(C)]
pub struct Posting {
    /// The key: a shingle or a feature.
    pub key: u64,
    /// Size of the set that the document's pairs are measured on.
    pub size: u32,
    /// The document.
    pub doc: Doc,
}

/// The postings of one worker.
pub struct Postings {
    bits: u32,
    /// One allocation, so large that the system maps it: growing moves no bytes, and what is cut off goes back.
    held: Vec<Posting>,
    most: usize,
    scratch: PathBuf,
    spill: Option<File>,
    spilled: u64,
    /// For each bucket its stretches in the spill file: first posting, and how many.
    stretches: Vec<Vec<(u64, usize)>>,
    /// Once divided: where each bucket starts in memory, and the end of the last one.
    starts: Option<Vec<usize>>,
}

impl Postings {
    /// An empty store of `1 << bits` buckets that holds at most `bytes` in memory; `scratch` is a folder for its
    /// spill file, which has no name and is gone when the process is, however that ends.
    pub fn new(bits: u32, bytes: u64, scratch: &Path) -> Postings {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<Posting>();
        Postings {
            bits,
            held: Vec::new(),
            most: most.max(1 << bits),
            scratch: scratch.to_path_buf(),
            spill: None,
            spilled: 0,
            stretches: vec![Vec::new(); 1 << bits],
            starts: None,
        }
    }

    /// Takes postings in.
    pub fn extend(&mut self, postings: &[Posting]) -> Result<()> {
        if self.held.len() + postings.len() > self.most && !self.held.is_empty() {
            self.spill()?;
        }
        self.held.extend_from_slice(postings);
        Ok(())
    }

    /// Moves all that is in memory to disk, a stretch for each bucket.
    fn spill(&mut self) -> Result<()> {
        let starts = divide(&mut self.held, self.bits);
        let file = match self.spill.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.scratch)
                .map_err(|e| Error::io(&self.scratch, "create a spill file in", e))?,
        };
        let bytes: &[u8] = bytemuck::cast_slice(&self.held);
        let offset = self.spilled * size_of::<Posting>() as u64;
        file.write_all_at(bytes, offset).map_err(|e| Error::io(&self.scratch, "write a spill file in", e))?;
        self.spill = Some(file);
        for (stretches, range) in self.stretches.iter_mut().zip(starts.windows(2)) {
            if range[0] < range[1] {
                stretches.push((self.spilled + range[0] as u64, range[1] - range[0]));
            }
        }
        self.spilled += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// Takes the last bucket that is left, in no particular order; `None` when all have been taken. What is given
    /// out is no longer held.
    pub fn take_last(&mut self) -> Result<Option<Vec<Posting>>> {
        let starts = match &mut self.starts {
            Some(starts) => starts,
            none => none.insert(divide(&mut self.held, self.bits)),
        };
        let Some(stretches) = self.stretches.pop() else { return Ok(None) };
        starts.pop();
        let start = starts.last().copied().unwrap_or(0);
        let mut postings = self.held.split_off(start);
        if self.held.len() * 8 < self.held.capacity() * 7 {
            self.held.shrink_to_fit();
        }
        for (first, count) in stretches {
            let start = postings.len();
            postings.resize(start + count, Posting::zeroed());
            let Some(file) = &self.spill else { break };
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut postings[start..]);
            file.read_exact_at(bytes, first * size_of::<Posting>() as u64)
                .map_err(|e| Error::io(&self.scratch, "read a spill file in", e))?;
        }
        Ok(Some(postings))
    }
}

/// Most bits divided by at once: more streams of writes than pages the processor keeps at hand are slow.
const AT_ONCE: u32 = 5;

/// Brings postings in the order of the high `bits` of their keys, in place. The start of each bucket, and the end of
/// the last.
fn divide(postings: &mut [Posting], bits: u32) -> Vec<usize> {
    let mut starts = Vec::with_capacity((1 << bits) + 1);
    divide_below(postings, 0, bits, 0, &mut starts);
    starts.push(postings.len());
    starts
}

/// Divides postings that agree in the `above` highest bits of their keys by the `bits` below those; `first` is the
/// place of the first of them.
fn divide_below(postings: &mut [Posting], above: u32, bits: u32, first: usize, starts: &mut Vec<usize>) {
    if bits == 0 {
        return starts.push(first);
    }
    let now = bits.min(AT_ONCE);
    let ends = permute(postings, above, now);
    let mut start = 0;
    for end in ends {
        divide_below(&mut postings[start..end], above + now, bits - now, first + start, starts);
        start = end;
    }
}

/// Permutes postings by some bits of their keys: each swap puts one where it belongs (McIlroy, Bostic and McIlroy,
/// "Engineering Radix Sort", 1993). The end of each bucket.
fn permute(postings: &mut [Posting], above: u32, bits: u32) -> Vec<usize> {
    let bucket = |posting: &Posting| (posting.key << above >> (64 - bits)) as usize;
    let mut ends = vec![0; 1 << bits];
    postings.iter().for_each(|posting| ends[bucket(posting)] += 1);
    let mut next = ends.clone();
    let mut sum = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = sum;
        sum += *end;
        *end = sum;
    }
    for here in 0..ends.len() {
        while next[here] < ends[here] {
            let mut carried = postings[next[here]];
            let mut home = bucket(&carried);
            while home != here {
                std::mem::swap(&mut carried, &mut postings[next[home]]);
                next[home] += 1;
                home = bucket(&carried);
            }
            postings[next[here]] = carried;
            next[here] += 1;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spilled_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let posting = |i: u64| Posting { key: i.wrapping_mul(0x9e37_79b9_7f4a_7c15), size: 1, doc: i as u32 };
        let all: Vec<Posting> = (0..5000).map(posting).collect();
        for (bytes, bits) in [(0, 4), (4000, 7), (1 << 20, 4), (1 << 20, 11)] {
            let mut postings = Postings::new(bits, bytes, folder.path());
            for part in all.chunks(300) {
                postings.extend(part).expect("taken in");
            }
            assert_eq!(postings.spill.is_some(), bytes < 1 << 20);
            let (mut back, mut bucket) = (Vec::new(), 1 << bits);
            while let Some(taken) = postings.take_last().expect("taken out") {
                bucket -= 1;
                assert!(taken.iter().all(|p| (p.key >> (64 - bits)) as usize == bucket));
                back.extend(taken);
            }
            assert_eq!(bucket, 0);
            back.sort_unstable_by_key(|p| p.doc);
            assert_eq!(back, all);
        }
    }
}
