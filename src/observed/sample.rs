//! The lines of documents: of all where their texts are few bytes, else of a part of them that the texts choose.
//!
//! Each document has a level, which follows from its text: half of them have none, a quarter the first, and so on. The lines of
//! those count that are at the lowest level at which the texts fit, whoever has read them and in which order.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::lines::{each_shared_line, line_identity};
use crate::document::Doc;

/// Most bytes of texts whose lines are counted.
const MOST_BYTES: u64 = 8 << 20;
/// Levels that there are.
const LEVELS: usize = 64;

/// How many bytes of texts each level has, of all workers of a process, and the lowest one that fits.
#[derive(Debug)]
pub struct SampleShare {
    /// Most bytes of texts that fit.
    most: u64,
    bytes: [AtomicU64; LEVELS],
    level: AtomicU32,
}

impl Default for SampleShare {
    fn default() -> SampleShare {
        SampleShare::of(MOST_BYTES)
    }
}

impl SampleShare {
    /// A share of so many bytes of texts.
    fn of(most: u64) -> SampleShare {
        let bytes = std::array::from_fn(|_| AtomicU64::new(0));
        SampleShare { most, bytes, level: AtomicU32::new(0) }
    }

    /// The lowest level that fits, as far as is known.
    fn level(&self) -> u32 {
        self.level.load(Relaxed)
    }

    /// Counts a document; whether it is at a level that fits.
    fn admits(&self, level: u32, bytes: u64) -> bool {
        // A text that never fits would leave no room for others.
        if level < self.level() || bytes > self.most {
            return false;
        }
        self.bytes[(level as usize).min(LEVELS - 1)].fetch_add(bytes, Relaxed);
        let from = |level: u32| -> u64 {
            self.bytes.get(level as usize..).unwrap_or_default().iter().map(|bytes| bytes.load(Relaxed)).sum()
        };
        let lowest = (self.level()..).find(|level| from(*level) <= self.most).unwrap_or_default();
        self.raise(lowest);
        level >= self.level()
    }

    /// Makes known that lower levels do not fit.
    fn raise(&self, level: u32) {
        self.level.fetch_max(level, Relaxed);
    }
}

/// A document whose lines are there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SampledDocument {
    level: u32,
    /// How many of the lines are its own: those behind the ones of the documents before it.
    lines: u32,
    bytes: u64,
}

/// A line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct DocumentLine {
    identity: u64,
    doc: Doc,
    bytes: u32,
}

/// The lines of some documents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LineSample {
    level: u32,
    documents: Vec<SampledDocument>,
    lines: Vec<DocumentLine>,
}

/// A line that several documents have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLine {
    /// What it is: see [`line_identity`].
    pub identity: u64,
    /// The documents, each once, ascending by their numbers.
    pub docs: Vec<Doc>,
    /// Bytes that it takes in all of them.
    pub bytes: u64,
}

impl LineSample {
    /// Takes in the lines of a document, if it is one of those that count.
    pub fn note(&mut self, doc: Doc, digest: u128, text: &str, share: &SampleShare) {
        let level = xxh3_64(&digest.to_le_bytes()).trailing_zeros();
        let bytes = text.len() as u64;
        if !share.admits(level, bytes) {
            return;
        }
        self.prune(share.level());
        let before = self.lines.len();
        each_shared_line(text, |line| {
            let bytes = u32::try_from(line.len()).unwrap_or(u32::MAX);
            self.lines.push(DocumentLine { identity: line_identity(line), doc, bytes });
        });
        let lines = (self.lines.len() - before) as u32;
        self.documents.push(SampledDocument { level, lines, bytes });
    }

    /// Forgets the documents below a level.
    fn prune(&mut self, level: u32) {
        if level <= self.level {
            return;
        }
        self.level = level;
        let mut left = self
            .documents
            .iter()
            .flat_map(|document| std::iter::repeat_n(document.level >= level, document.lines as usize));
        self.lines.retain(|_| left.next().unwrap_or_default());
        self.documents.retain(|document| document.level >= level);
    }

    /// Puts samples of one process together, which have the same share.
    pub fn merged(samples: impl IntoIterator<Item = LineSample>, share: &SampleShare) -> LineSample {
        let mut all = LineSample::default();
        for mut sample in samples {
            share.raise(sample.level);
            sample.prune(share.level());
            all.prune(share.level());
            all.append(sample);
        }
        all
    }

    /// Adds what another process has sampled, whose documents this share has not counted.
    pub(super) fn take_in(&mut self, other: LineSample, share: &SampleShare) {
        share.raise(other.level);
        for document in &other.documents {
            share.admits(document.level, document.bytes);
        }
        self.append(other);
        self.prune(share.level());
    }

    /// Adds documents, none of which is there.
    fn append(&mut self, other: LineSample) {
        // Below this level documents of one of the two are missing.
        let level = self.level.max(other.level);
        self.documents.extend(other.documents);
        self.lines.extend(other.lines);
        self.level = self.level.min(other.level);
        self.prune(level);
    }

    /// Divides the last documents from it, with about so many lines.
    pub(super) fn split_off(&mut self, lines: usize) -> LineSample {
        let (mut from, mut count) = (self.documents.len(), 0);
        while from > 0 && count < lines {
            from -= 1;
            count += self.documents[from].lines as usize;
        }
        let documents = self.documents.split_off(from);
        LineSample { level: self.level, documents, lines: self.lines.split_off(self.lines.len() - count) }
    }

    /// Whether there is no document in it.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Documents, and bytes of their texts.
    pub fn size(&self) -> (u64, u64) {
        (self.documents.len() as u64, self.documents.iter().map(|document| document.bytes).sum())
    }

    /// Bytes that it takes.
    pub fn held(&self) -> u64 {
        (self.lines.len() * size_of::<DocumentLine>() + self.documents.len() * size_of::<SampledDocument>())
            as u64
    }

    /// The lines that most documents have, two or more: at most so many, the most first; of equally many the longer one.
    pub fn most_shared(mut self, most: usize) -> Vec<SharedLine> {
        self.lines.sort_unstable();
        let mut best: Vec<SharedLine> = Vec::new();
        for same in self.lines.chunk_by(|a, b| a.identity == b.identity) {
            let docs = || same.chunk_by(|a, b| a.doc == b.doc).map(|lines| lines[0].doc);
            let documents = docs().count();
            if documents < 2 {
                continue;
            }
            let bytes = same.iter().map(|line| u64::from(line.bytes)).sum();
            let rank = (std::cmp::Reverse((documents, bytes)), same[0].identity);
            let place = best.partition_point(|other| {
                (std::cmp::Reverse((other.docs.len(), other.bytes)), other.identity) < rank
            });
            if place < most {
                best.truncate(most - 1);
                best.insert(place, SharedLine { identity: same[0].identity, docs: docs().collect(), bytes });
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Bytes of texts that fit.
    const MOST: u64 = 1 << 20;

    fn text(n: u64) -> String {
        let shared = [
            "All rights reserved by the authors",
            "Accept all cookies of this site",
            "Read the next page of it",
        ];
        let lines = (0..3).filter(|at| n.is_multiple_of(at + 2)).map(|at| shared[at as usize]);
        let own = format!("The text of number {n} has so many words of its own");
        lines.chain([&*own]).map(|line| format!("{line}\n")).collect()
    }

    fn digest(text: &str) -> u128 {
        u128::from(xxh3_64(text.as_bytes()))
    }

    /// Samples as so many workers make them.
    fn sampled(texts: &[String], workers: usize) -> LineSample {
        let (share, mut samples) = (SampleShare::of(MOST), vec![LineSample::default(); workers]);
        for (doc, text) in texts.iter().enumerate() {
            samples[doc % workers].note(doc as Doc, digest(text), text, &share);
        }
        LineSample::merged(samples, &share)
    }

    #[test]
    fn lines_are_counted_in_documents() {
        let texts: Vec<String> = (0..100).map(|n| text(n) + &text(n)).collect();
        let found = sampled(&texts, 3).most_shared(10);
        let docs = |by: u32| (0..100).filter(|n| n % by == 0).collect::<Vec<Doc>>();
        let expected = [2, 3, 4].map(docs).to_vec();
        assert_eq!(found.iter().map(|line| line.docs.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(found[0].bytes, 2 * 50 * "All rights reserved by the authors".len() as u64);
        assert_eq!(sampled(&texts, 1).most_shared(1), found[..1]);
    }

    #[test]
    fn of_many_texts_the_same_part_counts_whoever_reads_them() {
        let filling = "so many words of no use to anyone ".repeat((MOST / 34 / 40) as usize);
        let texts: Vec<String> = (0..200).map(|n| format!("{}{n} {filling}\n", text(n))).collect();
        let alone = sampled(&texts, 1);
        let (documents, bytes) = alone.size();
        assert!(bytes <= MOST && (5..100).contains(&documents), "{documents} of {bytes} bytes");
        let shared = alone.clone().most_shared(20);
        for workers in [2, 7] {
            assert_eq!(sampled(&texts, workers).size(), alone.size());
            assert_eq!(sampled(&texts, workers).most_shared(20), shared);
        }
        // Two processes, of which the first takes in pieces of what the other has.
        let (first, second) = (SampleShare::of(MOST), SampleShare::of(MOST));
        let (mut own, mut other) = (LineSample::default(), LineSample::default());
        for (doc, text) in texts.iter().enumerate() {
            let (sample, share) = if doc % 3 == 0 { (&mut own, &first) } else { (&mut other, &second) };
            sample.note(doc as Doc, digest(text), text, share);
        }
        while !other.is_empty() {
            let piece = other.split_off(5);
            own.take_in(piece, &first);
        }
        let together = LineSample::merged([own], &first);
        assert_eq!((together.size(), together.most_shared(20)), (alone.size(), shared));
    }

    #[test]
    fn the_most_shared_lines_are_those_of_a_plain_count() {
        let texts: Vec<String> = (0..60).map(|n| text(n) + &text(n / 2)).collect();
        let mut plain: BTreeMap<u64, BTreeSet<Doc>> = BTreeMap::new();
        for (doc, text) in (0..).zip(&texts) {
            each_shared_line(text, |line| {
                plain.entry(line_identity(line)).or_default().insert(doc);
            });
        }
        plain.retain(|_, docs| docs.len() > 1);
        let found = sampled(&texts, 2).most_shared(usize::MAX);
        assert!(found.is_sorted_by_key(|line| std::cmp::Reverse(line.docs.len())));
        let found: BTreeMap<u64, BTreeSet<Doc>> =
            found.into_iter().map(|line| (line.identity, line.docs.into_iter().collect())).collect();
        assert_eq!(found, plain);
    }
}
