//! Bytes of runs that other processes have, fetched ahead of whoever reads on: a question costs as much as many pages do,
//! and lookups come back to the page that they have just left.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, PoisonError};

use crate::limits::{MAX_STRETCH_BYTES, MAX_STRETCHES, sized};

/// A reader that leaves out so many bytes still reads on.
const NEAR: u64 = sized(16 << 10, 1 << 10);

/// Bytes of a file. A file of one name never changes.
#[derive(Debug)]
struct Stretch {
    name: String,
    start: u64,
    bytes: Vec<u8>,
}

impl Stretch {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn get(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(length)?)
    }
}

/// The stretches of all files that were read last, the latest at the end.
#[derive(Debug, Default)]
pub(super) struct Stretches(Mutex<VecDeque<Stretch>>);

impl Stretches {
    /// Fills `bytes` from `offset` on, in a file of which `end` bytes may be fetched ahead. What is not at hand `fetch` gets: more each time for who
    /// reads on, and no more than that for who does not.
    pub(super) fn read(
        &self,
        (name, end): (&str, u64),
        offset: u64,
        bytes: &mut [u8],
        fetch: impl Fn(u64, usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let Some(ahead) = self.find(name, offset, bytes) else { return Ok(()) };
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let ahead = ahead.min(left).max(bytes.len());
        let fetched = match fetch(offset, ahead) {
            // A file that was cut off may still have what is asked for.
            Err(e) if e.kind() == ErrorKind::UnexpectedEof && ahead > bytes.len() => {
                fetch(offset, bytes.len())?
            }
            fetched => fetched?,
        };
        bytes.copy_from_slice(&fetched[..bytes.len()]);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= MAX_STRETCHES {
            all.pop_front();
        }
        all.push_back(Stretch { name: name.to_owned(), start: offset, bytes: fetched });
        Ok(())
    }

    /// Fills `bytes` if they are at hand; else how many are worth fetching.
    fn find(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Option<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |stretch: &Stretch| stretch.name == name;
        if let Some(at) = all.iter().rposition(|s| own(s) && s.get(offset, bytes.len()).is_some()) {
            let stretch = all.remove(at)?;
            bytes.copy_from_slice(stretch.get(offset, bytes.len())?);
            all.push_back(stretch);
            return None;
        }
        let goes_on = |s: &Stretch| (s.start..=s.end() + NEAR).contains(&offset);
        let before = all.iter().rposition(|s| own(s) && goes_on(s)).and_then(|at| all.remove(at));
        let twice = before.map_or(0, |stretch| 2 * stretch.bytes.len());
        Some(twice.min(MAX_STRETCH_BYTES).max(bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::sketch::finish;

    const PAGE: usize = MAX_STRETCH_BYTES / 16;

    /// A file, and how often it was asked for how many bytes.
    struct File {
        bytes: Vec<u8>,
        asked: Cell<(usize, usize)>,
    }

    impl File {
        /// No two files have the same bytes anywhere, and no two places of one.
        fn new(pages: usize, seed: u64) -> File {
            let byte = |at: usize| (finish(at as u64 ^ seed << 32) >> 56) as u8;
            File { bytes: (0..pages * PAGE).map(byte).collect(), asked: Cell::default() }
        }

        fn read(&self, stretches: &Stretches, name: &str, offset: usize, length: usize) -> io::Result<()> {
            let fetch = |offset: u64, length: usize| {
                let (times, bytes) = self.asked.get();
                self.asked.set((times + 1, bytes + length));
                let found = self.bytes.get(offset as usize..offset as usize + length);
                found.map(<[u8]>::to_vec).ok_or_else(|| ErrorKind::UnexpectedEof.into())
            };
            let mut bytes = vec![0; length];
            stretches.read((name, 1 << 20), offset as u64, &mut bytes, fetch)?;
            assert!(bytes == self.bytes[offset..offset + length], "{length} bytes at {offset}");
            let all = stretches.0.lock().expect("whole");
            let longest = all.iter().map(|stretch| stretch.bytes.len()).max();
            assert!(all.len() <= MAX_STRETCHES && longest <= Some(MAX_STRETCH_BYTES));
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_what_the_file_has(
            reads in prop::collection::vec((0..3usize, 0..250usize, 1..6usize, 0..3usize), 1..200),
        ) {
            let (stretches, files) = (Stretches::default(), [1, 2, 3].map(|seed| File::new(256, seed)));
            for (name, page, pages, more) in reads {
                let (offset, length) = (page * PAGE + 100 * more, pages * PAGE - 60 * more);
                files[name].read(&stretches, ["a", "b", "c"][name], offset, length).expect("read");
            }
        }
    }

    #[test]
    #[cfg_attr(alike_tiny, ignore = "counts questions for stretches of 64 KiB")]
    fn who_reads_on_asks_seldom_and_who_does_not_gets_no_more_than_that() {
        let (stretches, file) = (Stretches::default(), File::new(256, 1));
        for page in 0..128 {
            // Two that read on in one file, each page twice.
            for at in [page, page, 128 + page, 128 + page] {
                file.read(&stretches, "a", at * PAGE, PAGE).expect("read");
            }
        }
        let (times, bytes) = file.asked.replace((0, 0));
        assert!(times < 40 && bytes < 300 * PAGE, "{times} times, {bytes} bytes");
        (0..50).for_each(|at| file.read(&stretches, "b", at * 37 % 251 * PAGE, PAGE).expect("read"));
        assert!(file.asked.get().1 < 75 * PAGE, "{:?}", file.asked);
    }

    #[test]
    fn nothing_is_fetched_ahead_from_behind_the_end() {
        let stretches = Stretches::default();
        for page in 0..100 {
            // Readers of one file, each of a part of its own.
            let end = (page / 10 + 1) * 10 * PAGE;
            let fetch = |offset: u64, length: usize| {
                assert!(offset as usize + length <= end, "{length} bytes at {offset}, behind {end}");
                Ok(vec![1; length])
            };
            let mut bytes = vec![0; PAGE];
            stretches.read(("a", end as u64), (page * PAGE) as u64, &mut bytes, fetch).expect("read");
        }
    }

    #[test]
    fn a_file_that_was_cut_off_has_what_it_has() {
        let (stretches, file) = (Stretches::default(), File::new(20, 1));
        (0..20).for_each(|page| file.read(&stretches, "a", page * PAGE, PAGE).expect("read"));
        let error = file.read(&stretches, "a", 20 * PAGE, PAGE).expect_err("cut off");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }
}
