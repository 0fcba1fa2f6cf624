//! Postings on their way to be collided: bucketed by the high bits of the key as they arrive, spilled to disk
//! when they outgrow their share of the memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

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
    shift: u32,
    buckets: Vec<Vec<Posting>>,
    held: usize,
    most: usize,
    spill: Option<Spill>,
    spilled: Vec<Vec<(u64, u64)>>,
}

/// An unnamed file in the run's scratch folder: it is gone when the process is, however that ends.
struct Spill {
    file: File,
    end: u64,
}

impl Postings {
    /// An empty store of `1 << bits` buckets that holds at most `bytes` in memory.
    pub fn new(bits: u32, bytes: u64) -> Postings {
        let count = 1usize << bits;
        Postings {
            shift: 64 - bits,
            buckets: vec![Vec::new(); count],
            held: 0,
            most: (bytes as usize / size_of::<Posting>()).max(count),
            spill: None,
            spilled: vec![Vec::new(); count],
        }
    }

    /// Buckets, each a range of keys.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Takes postings in. `scratch` is a folder for the spill file.
    pub fn extend(&mut self, postings: &[Posting], scratch: &std::path::Path) -> Result<()> {
        for posting in postings {
            self.buckets[(posting.key >> self.shift) as usize].push(*posting);
        }
        self.held += postings.len();
        if self.held > self.most { self.spill(scratch) } else { Ok(()) }
    }

    /// Moves all that is in memory to disk, a stretch for each bucket.
    fn spill(&mut self, scratch: &std::path::Path) -> Result<()> {
        if self.spill.is_none() {
            let file = tempfile::tempfile_in(scratch)
                .map_err(|e| Error::io(scratch, "create a spill file in", e))?;
            self.spill = Some(Spill { file, end: 0 });
        }
        let Some(spill) = &mut self.spill else { return Ok(()) };
        for (bucket, stretches) in self.buckets.iter_mut().zip(&mut self.spilled) {
            let bytes: &[u8] = bytemuck::cast_slice(bucket);
            spill
                .file
                .write_all_at(bytes, spill.end)
                .map_err(|e| Error::io(scratch, "write a spill file in", e))?;
            if !bucket.is_empty() {
                stretches.push((spill.end, bucket.len() as u64));
            }
            spill.end += bytes.len() as u64;
            *bucket = Vec::new();
        }
        self.held = 0;
        Ok(())
    }

    /// Takes a bucket out, what was spilled of it included, in no particular order.
    pub fn take(&mut self, bucket: usize, scratch: &std::path::Path) -> Result<Vec<Posting>> {
        let mut postings = std::mem::take(&mut self.buckets[bucket]);
        for (offset, count) in std::mem::take(&mut self.spilled[bucket]) {
            let start = postings.len();
            postings.resize(start + count as usize, Posting::zeroed());
            let Some(spill) = &self.spill else { break };
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut postings[start..]);
            spill
                .file
                .read_exact_at(bytes, offset)
                .map_err(|e| Error::io(scratch, "read a spill file in", e))?;
        }
        Ok(postings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spilled_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let all: Vec<Posting> = (0..5000u64)
            .map(|i| Posting { key: i.wrapping_mul(0x9e37_79b9_7f4a_7c15), size: 1, doc: i as u32 })
            .collect();
        for bytes in [0, 4000, 1 << 20] {
            let mut postings = Postings::new(4, bytes);
            for part in all.chunks(300) {
                postings.extend(part, folder.path()).expect("taken in");
            }
            assert_eq!(postings.spill.is_some(), bytes < 1 << 20);
            let mut back = Vec::new();
            for bucket in 0..postings.buckets() {
                let taken = postings.take(bucket, folder.path()).expect("taken out");
                assert!(taken.iter().all(|p| (p.key >> 60) as usize == bucket));
                back.extend(taken);
            }
            back.sort_unstable_by_key(|p| p.doc);
            assert_eq!(back, all);
        }
    }
}
