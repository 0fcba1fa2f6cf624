//! The workers of a run: which of them are this process's, who is home to what, and whose a key is.

use std::ops::Range;

use super::buckets::Keys;
use super::catalogue::Doc;

/// The workers of a run, counted over all of its processes: those of process 0 come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    /// This process's number.
    process: usize,
    /// Processes.
    processes: usize,
    /// Workers of each process.
    workers: usize,
}

impl Crew {
    /// Process number `process` of `processes`, with so many workers each.
    pub fn new(process: usize, processes: usize, workers: usize) -> Crew {
        Crew { process, processes, workers }
    }

    /// The workers of a process that works alone.
    pub fn alone(workers: usize) -> Crew {
        Crew { process: 0, processes: 1, workers }
    }

    /// Workers of all processes.
    pub fn all(self) -> usize {
        self.processes * self.workers
    }

    /// Workers of this process.
    pub fn workers(self) -> usize {
        self.workers
    }

    /// The numbers of this process's workers.
    pub fn own(self) -> Range<usize> {
        self.process * self.workers..(self.process + 1) * self.workers
    }

    /// This process's number.
    pub fn process(self) -> usize {
        self.process
    }

    /// Processes.
    pub fn processes(self) -> usize {
        self.processes
    }

    /// The processes that are not this one.
    pub fn others(self) -> impl Iterator<Item = usize> {
        (0..self.processes).filter(move |process| *process != self.process)
    }

    /// The first worker of a process: it takes in what is for the whole process.
    pub fn first_of(self, process: usize) -> usize {
        process * self.workers
    }

    /// Whether a document was read by this process.
    pub fn is_own(self, doc: Doc) -> bool {
        self.own().contains(&self.home(doc))
    }

    /// Which of the workers of a process takes in the set of a document that another process has read.
    pub fn taker(self, doc: Doc) -> usize {
        doc as usize % self.workers
    }

    /// The worker that read a document.
    pub fn home(self, doc: Doc) -> usize {
        doc as usize % self.all()
    }

    /// The worker that a key belongs to. Each has a range of them: what is stored is sorted by such keys, so that no two
    /// workers read the same page of it.
    pub fn of_key(self, key: u64) -> usize {
        ((u128::from(key) * self.all() as u128) >> 64) as usize
    }

    /// The keys of a worker.
    pub fn keys(self, worker: usize) -> Keys {
        let first = ((worker as u128) << 64).div_ceil(self.all() as u128) as u64;
        Keys { first, zeros: self.all().ilog2() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shared_out_in_ranges_that_leave_none_out() {
        for workers in [1, 2, 3, 5, 8, 255, 256] {
            let crew = Crew::alone(workers);
            assert_eq!((crew.all(), crew.own()), (workers, 0..workers));
            for worker in 0..workers {
                let Keys { first, zeros } = crew.keys(worker);
                assert_eq!(crew.of_key(first), worker);
                assert_eq!(crew.of_key(first.wrapping_sub(1)), (worker + workers - 1) % workers);
                let last = crew.keys((worker + 1) % workers).first.wrapping_sub(1);
                assert!(last.wrapping_sub(first) <= u64::MAX >> zeros);
            }
            assert_eq!(crew.of_key(u64::MAX), workers - 1);
        }
    }

    #[test]
    fn a_document_number_names_its_home() {
        let crew = Crew::new(2, 3, 4);
        assert_eq!((crew.all(), crew.own(), crew.home(35)), (12, 8..12, 11));
        assert!(crew.is_own(35) && crew.is_own(20) && !crew.is_own(36));
        assert_eq!((crew.others().collect::<Vec<_>>(), crew.first_of(1)), (vec![0, 1], 4));
    }
}
