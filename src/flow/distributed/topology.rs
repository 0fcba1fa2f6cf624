//! The workers of a run: which of them are this process's, which of them owns a document, and which a key.

use std::ops::Range;

use crate::document::Doc;
use crate::flow::records::Keyed;
use crate::peers::Peers;

/// The keys that a worker has: those of one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The least of them.
    pub first: u64,
    /// High bits that are zero in all of them once the least is taken away.
    pub zeros: u32,
}

impl KeyRange {
    /// The bits of a key that differ in this range, from the highest one on.
    pub fn of<T: Keyed>(self, value: &T) -> u64 {
        value.key().wrapping_sub(self.first) << self.zeros
    }
}

/// The workers of a run, counted over all of its processes: those of process 0 come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// This process's number.
    process: usize,
    /// Processes.
    processes: usize,
    /// Workers of each process.
    workers: usize,
}

impl Topology {
    /// Process number `process` of `processes`, with so many workers each.
    pub fn new(process: usize, processes: usize, workers: usize) -> Topology {
        Topology { process, processes, workers }
    }

    /// The workers of a process that works alone.
    pub fn alone(workers: usize) -> Topology {
        Topology { process: 0, processes: 1, workers }
    }

    /// The workers of this process and of its peers, if it has any, with so many workers each.
    pub fn of(peers: Option<&Peers>, workers: usize) -> Topology {
        match peers.map(Peers::mesh) {
            Some(mesh) => Topology::new(mesh.process(), mesh.processes(), workers),
            None => Topology::alone(workers),
        }
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
    pub fn local_workers(self) -> Range<usize> {
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

    /// Workers whose rows this process holds: its own, and in process 0 all.
    pub fn workers_held(self) -> usize {
        if self.process == 0 { self.all() } else { self.workers }
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
    pub fn is_local(self, doc: Doc) -> bool {
        self.local_workers().contains(&self.owner_of(doc))
    }

    /// Which of the workers of a process takes in the set of a document that another process has read.
    pub fn receiver_of(self, doc: Doc) -> usize {
        doc as usize % self.workers
    }

    /// The worker that read a document.
    pub fn owner_of(self, doc: Doc) -> usize {
        doc as usize % self.all()
    }

    /// The worker that a key belongs to. Each has a range of them: what is stored is sorted by such keys, so that no two
    /// workers read the same page of it.
    pub fn of_key(self, key: u64) -> usize {
        ((u128::from(key) * self.all() as u128) >> 64) as usize
    }

    /// The keys of a worker.
    pub fn keys(self, worker: usize) -> KeyRange {
        let first = ((worker as u128) << 64).div_ceil(self.all() as u128) as u64;
        KeyRange { first, zeros: self.all().ilog2() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shared_out_in_ranges_that_leave_none_out() {
        for workers in [1, 2, 3, 5, 8, 255, 256] {
            let topology = Topology::alone(workers);
            assert_eq!((topology.all(), topology.local_workers()), (workers, 0..workers));
            for worker in 0..workers {
                let KeyRange { first, zeros } = topology.keys(worker);
                assert_eq!(topology.of_key(first), worker);
                assert_eq!(topology.of_key(first.wrapping_sub(1)), (worker + workers - 1) % workers);
                let last = topology.keys((worker + 1) % workers).first.wrapping_sub(1);
                assert!(last.wrapping_sub(first) <= u64::MAX >> zeros);
            }
            assert_eq!(topology.of_key(u64::MAX), workers - 1);
        }
    }

    #[test]
    fn a_document_number_names_its_owner() {
        let topology = Topology::new(2, 3, 4);
        assert_eq!((topology.all(), topology.local_workers(), topology.owner_of(35)), (12, 8..12, 11));
        assert!(topology.is_local(35) && topology.is_local(20) && !topology.is_local(36));
        assert_eq!((topology.others().collect::<Vec<_>>(), topology.first_of(1)), (vec![0, 1], 4));
    }
}
