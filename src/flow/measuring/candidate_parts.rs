//! Candidates of a process by the part that they are measured in: some in memory, the rest on disk.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::error::Result;
use crate::flow::memory::lots::Lots;
use crate::flow::records::Candidate;
use crate::flow::status::lock;

/// The candidates of a process by the part that they are measured in.
pub struct CandidateParts {
    /// How many each part has.
    counts: Vec<AtomicU64>,
    /// Those that were given, once all are counted.
    given: OnceLock<Mutex<Lots<Candidate>>>,
    bytes: u64,
    scratch: PathBuf,
    /// The part that is measured next.
    next: AtomicUsize,
}

impl CandidateParts {
    /// No candidates yet; at most `bytes` of them will be held, give or take one batch.
    pub fn new(many: usize, bytes: u64, scratch: &Path) -> CandidateParts {
        let counts = std::iter::repeat_with(AtomicU64::default).take(many).collect();
        let (given, scratch) = (OnceLock::new(), scratch.to_path_buf());
        CandidateParts { counts, given, bytes, scratch, next: AtomicUsize::new(0) }
    }

    fn given(&self) -> MutexGuard<'_, Lots<Candidate>> {
        let sizes = self.counts.iter().map(|count| count.load(Ordering::Relaxed) as usize);
        lock(self.given.get_or_init(|| Mutex::new(Lots::new(sizes, self.bytes, &self.scratch))))
    }

    /// Counts candidates that will be given to a part.
    pub fn count(&self, part: usize, some: &[Candidate]) {
        self.counts[part].fetch_add(some.len() as u64, Ordering::Relaxed);
    }

    /// Gives candidates to a part, when those of all parts were counted.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn give(&self, part: usize, some: &[Candidate]) -> Result<()> {
        self.given().give(part, some)
    }

    /// How many candidates the largest parts have, so many of them.
    pub fn largest(&self, parts: usize) -> u64 {
        let mut counts: Vec<u64> = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        counts.sort_unstable_by_key(|count| Reverse(*count));
        counts.iter().take(parts).sum()
    }

    /// The candidates of the next part, for whoever asks first; none after the last.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn take(&self) -> Result<Option<Vec<Candidate>>> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        (part < self.counts.len()).then(|| self.given().take(part)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::records::Pair;

    proptest! {
        #[test]
        fn each_part_has_what_it_was_given(given in prop::collection::vec((0usize..4, 0usize..9), 0..30), bytes in 0u64..600) {
            let folder = tempfile::tempdir().expect("a folder");
            let parts = CandidateParts::new(4, bytes, folder.path());
            let mut want = vec![Vec::new(); 4];
            let mut next = 0;
            let mut all = Vec::new();
            for (part, count) in given {
                let some: Vec<Candidate> =
                    (next..).take(count).map(|doc| Candidate { pair: Pair::new(doc, doc + 1), shared: 1 }).collect();
                next += count as u32;
                parts.count(part, &some);
                want[part].extend(some.iter().copied());
                all.push((part, some));
            }
            all.iter().for_each(|(part, some)| parts.give(*part, some).expect("given"));
            let mut counts: Vec<usize> = want.iter().map(Vec::len).collect();
            counts.sort_unstable();
            prop_assert_eq!(parts.largest(1) as usize, counts[3]);
            prop_assert_eq!(parts.largest(2) as usize, counts[2] + counts[3]);
            for want in want {
                let got = parts.take().expect("read").expect("a part");
                prop_assert_eq!(got, want);
            }
            prop_assert!(parts.take().expect("read").is_none());
        }
    }
}
