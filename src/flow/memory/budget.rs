//! How a bound of the memory is shared out among what a run holds. What outgrows its share goes to disk, or is done
//! without, or ends the run with a word about what it would take; the answer is the same.
//!
//! The shares hold at different times: postings, arrivals, first halves, rows and counts of members while the input is read; postings, groups and rows
//! while they collide, and hot keys from then on; groups (and their index, as large again), counters, candidates and rows while pairs are
//! counted; postings of members of hot groups, sets of these that were counted, keys that wait, and candidates when these collide again, hot keys being forgotten,
//! and then the same as the first time; sets, candidates, links and rows from then on; links, rows and what an epoch changes when a load is settled.
//! At no time do they come to more than the whole. What a load makes of clusters comes last and alone. A run that looks again at what falls apart as a load is settled
//! has what that has left of all shares. Outside of the shares
//! refused records take at most a quarter of the memory: no more than three quarters are shared out while the input is read. And a load takes at most a tenth of the memory to know unchanged documents, as much to know dead contents, as much to know what its earlier
//! epochs have brought, and 4 bytes for each stored content, of which pages without a content that was met are never touched. While members of hot groups collide again,
//! the counts of their shingles take up to 16 MiB in a process, and as much again where other processes send theirs; bits of shingles
//! take up to 6 MiB in a process, and as much for each worker. Where all contents collide so, by containment, both may take a
//! quarter of the share of groups, if that is more.

use crate::error::{Error, Result};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY};
use crate::system_memory::MAPPED;

/// The bound, and among how many workers it is shared.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    bytes: Option<u64>,
    /// What is held beside all shares: the windows of decoders.
    windows: u64,
    workers: u64,
}

/// What a run holds.
#[derive(Clone, Copy, Debug)]
pub enum Share {
    /// Postings, until they have collided.
    Postings,
    /// Digests, until equal texts are known.
    Arrivals,
    /// First halves of the ids of a load, and as much for those of digests.
    FirstHalves,
    /// Of each document what is looked up at any time: position, size, where name and signature begin.
    Rows,
    /// Lines, and ids as they stand in the records.
    Labels,
    /// Signatures of sets.
    Signatures,
    /// Digests of the texts a worker has met.
    Seen,
    /// Key groups.
    Groups,
    /// Counts, a place for each document.
    Counter,
    /// Under how many hot keys documents stand, a place for each.
    HotKeys,
    /// Postings of hot groups that may be counted all the same.
    HotPostings,
    /// Pairs that share enough keys.
    Candidates,
    /// How often members of sets are met, where some may be too common to be counted.
    Members,
    /// Sets of the documents that are measured.
    Sets,
    /// Sets that other processes send. By then nothing is read any more, and what was met is forgotten.
    Fetched,
    /// Links, as they come and as a graph.
    Links,
    /// What an epoch of a load changes, when the dataflow is done: rows and links are still held then.
    Settling,
    /// What a load makes of clusters, when nothing else is held.
    Publishing,
}

impl Share {
    fn percent(self) -> u64 {
        match self {
            Share::Postings => 30,
            Share::Arrivals | Share::Counter | Share::Candidates | Share::Members => 10,
            Share::Rows | Share::Groups => 20,
            Share::HotPostings => 1,
            Share::FirstHalves => 5,
            Share::Labels | Share::Seen | Share::Fetched | Share::HotKeys => 4,
            Share::Signatures => 7,
            Share::Sets => 20,
            Share::Links => 35,
            Share::Settling => 30,
            Share::Publishing => 90,
        }
    }
}

impl Budget {
    /// A budget of `bytes` for the whole process, or none.
    pub fn new(bytes: Option<u64>, workers: usize) -> Budget {
        Budget { bytes, windows: 0, workers: workers as u64 }
    }

    /// The same, with so many bytes less to share out, which decoders take.
    pub fn beside_windows(self, windows: u64) -> Budget {
        Budget { windows, ..self }
    }

    /// What every run needs, and this one beside its shares.
    fn base(&self) -> u64 {
        BASE_MEMORY + WORKER_MEMORY * self.workers + self.windows
    }

    /// Bytes the process may use.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Bytes of a share for all workers together. What every run needs is taken off first.
    pub fn whole(&self, share: Share) -> u64 {
        self.bytes.map_or(u64::MAX, |bytes| bytes.saturating_sub(self.base()) / 100 * share.percent())
    }

    /// Refuses what takes more than one worker's part of a share and cannot go to disk. `expected` is what it will
    /// come to when all is done, as far as can be told.
    ///
    /// # Errors
    /// [`Error::Limit`], with the memory that would do.
    pub fn allow(&self, share: Share, bytes: u64, expected: u64, what: &str) -> Result<()> {
        if bytes > self.part(share) {
            return self.refuse(share, expected.max(bytes).saturating_mul(self.workers), what);
        }
        Ok(())
    }

    /// Whether a worker's part of a share will be exceeded that holds `bytes` by now, and is expected to hold `expected` in the end: once an
    /// eighth of it is taken, if that is a quarter more than it.
    pub fn will_exceed(&self, share: Share, bytes: u64, expected: u64) -> bool {
        let part = self.part(share);
        bytes > part / 8 && expected / 5 > part / 4
    }

    /// Refuses what takes more than a share of all workers together and cannot go to disk.
    ///
    /// # Errors
    /// [`Error::Limit`], with the memory that would do.
    pub fn allow_whole(&self, share: Share, bytes: u64, what: &str) -> Result<()> {
        if bytes > self.whole(share) { self.refuse(share, bytes, what) } else { Ok(()) }
    }

    fn refuse(&self, share: Share, bytes: u64, what: &str) -> Result<()> {
        let Some(limit) = self.bytes else { return Ok(()) };
        // A little more than what it came to: with more memory other lists are longer.
        let needed = self.base() + bytes.saturating_mul(105) / share.percent();
        Err(Error::Limit(format!(
            "{what} do not fit in the memory allowed, {} MiB: allow about {} MiB with --memory, or split the input",
            limit >> 20,
            (needed >> 20) + 1
        )))
    }

    /// One worker's part of a share, in bytes.
    pub fn part(&self, share: Share) -> u64 {
        self.whole(share) / self.workers
    }
}

/// An empty list that will hold at most `most` values. Where that is little, because the memory is bounded, it gets a
/// mapping of its own, larger than it needs; what is never touched takes no memory.
///
/// Lists of some megabytes that grow and go leave holes behind: once the system's allocator (glibc) has seen a
/// mapping of up to 32 MiB go, it puts what is as large between everything else. Of a run bounded to 64 MiB those
/// holes were 44 MiB.
pub fn mapped<T>(most: usize) -> Vec<T> {
    let bytes = most.saturating_mul(size_of::<T>());
    if bytes > LITTLE { Vec::new() } else { Vec::with_capacity(most.max(MAPPED / size_of::<T>())) }
}

/// Bytes beyond which a list has mappings of its own as it grows.
const LITTLE: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_come_to_more_than_the_whole() {
        use Share::{
            Arrivals, Candidates, Counter, Fetched, FirstHalves, Groups, HotKeys, HotPostings, Labels, Links,
            Members, Postings, Rows, Seen, Sets, Settling, Signatures,
        };
        let rows = [Rows, Labels, Signatures];
        let times: [&[Share]; 9] = [
            &[Seen, Postings, Arrivals, FirstHalves, FirstHalves, Members],
            &[Seen, Postings, Groups, Members, HotKeys, HotPostings],
            &[Seen, Candidates, Members],
            &[Groups, Groups, Counter, Candidates, HotKeys],
            &[Fetched, Candidates, Candidates, HotKeys],
            &[Sets, Postings, Candidates, Fetched],
            &[Postings, Groups, Candidates],
            &[Sets, Fetched, Candidates, Links],
            &[Links, Settling],
        ];
        for at_once in times {
            let sum: u64 = at_once.iter().chain(&rows).map(|share| share.percent()).sum();
            assert!(sum <= 100, "{at_once:?}: {sum}");
        }
        assert_eq!(Budget::new(None, 3).part(Sets), u64::MAX / 3);
        let budget = Budget::new(Some(BASE_MEMORY + 2 * WORKER_MEMORY + 1000), 2);
        assert_eq!((budget.whole(Sets), budget.part(Sets)), (200, 100));
        assert_eq!(Budget::new(Some(1), 2).whole(Sets), 0);
    }

    #[test]
    fn what_will_be_clearly_more_than_there_is_room_for_is_foreseen() {
        let budget = Budget::new(Some(BASE_MEMORY + WORKER_MEMORY + 4000), 1);
        assert_eq!(budget.part(Share::Sets), 800);
        for (bytes, expected, exceeds) in [(100, 9000, false), (101, 1005, true), (101, 1004, false)] {
            assert_eq!(budget.will_exceed(Share::Sets, bytes, expected), exceeds, "{bytes} of {expected}");
        }
        assert!(!Budget::new(None, 1).will_exceed(Share::Sets, 1 << 40, 1 << 50));
    }
}
