//! Room for processes that read for this one: how many the memory allows at a time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::limits::{BASE_MEMORY, MAX_PDF_MEMORY, PDF_PROCESS_MEMORY, WORKER_MEMORY};

/// Bytes that a process takes at most.
const EACH: u64 = MAX_PDF_MEMORY + PDF_PROCESS_MEMORY;
/// Part of the memory beyond what every run needs that all of them may take.
const PART: u64 = 4;
/// Part of it that one may take, where the others leave no room.
const ONE: u64 = 2;

/// How many processes the memory has room for, with so many workers: one for each at the most.
pub(super) fn processes(memory: u64, workers: u64) -> u64 {
    let free = memory.saturating_sub(BASE_MEMORY + WORKER_MEMORY * workers);
    let one = u64::from(free / ONE >= EACH);
    (free / PART / EACH).clamp(one, workers.max(1))
}

/// Bytes that so many processes take.
pub(super) fn memory_of(processes: u64) -> u64 {
    processes * EACH
}

/// MiB of memory that have room for one.
pub(super) fn memory_for_one(workers: u64) -> u64 {
    (BASE_MEMORY + WORKER_MEMORY * workers + ONE * EACH).div_ceil(1 << 20)
}

/// The processes that may be at work at a time.
#[derive(Debug)]
pub(super) struct ProcessRoom {
    most: u64,
    running: Mutex<u64>,
    given_back: Condvar,
}

/// The right to have a process at work, given back when it is dropped.
#[derive(Debug)]
pub(in crate::read) struct ProcessTurn(Option<Arc<ProcessRoom>>);

impl ProcessTurn {
    /// One of any number.
    pub(super) const FREE: ProcessTurn = ProcessTurn(None);
}

impl ProcessRoom {
    /// The room within the memory, with so many workers.
    pub(super) fn new(memory: u64, workers: u64) -> Arc<ProcessRoom> {
        let (running, given_back) = Default::default();
        Arc::new(ProcessRoom { most: processes(memory, workers), running, given_back })
    }

    /// Waits until another process may be at work; `None` where none ever may. Each is at work for a while only.
    pub(super) fn turn(self: &Arc<ProcessRoom>) -> Option<ProcessTurn> {
        if self.most == 0 {
            return None;
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while *running >= self.most {
            running = self.given_back.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        *running += 1;
        Some(ProcessTurn(Some(Arc::clone(self))))
    }
}

impl Drop for ProcessTurn {
    fn drop(&mut self) {
        if let Some(room) = &self.0 {
            *room.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            room.given_back.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn processes_take_a_quarter_of_the_memory_or_one_takes_half() {
        assert_eq!(processes(256 << 20, 2), 0);
        for workers in [1, 2, 64] {
            let one = memory_for_one(workers) << 20;
            assert_eq!([processes(one - (1 << 20), workers), processes(one, workers)], [0, 1]);
        }
        assert_eq!([processes(2 << 30, 4), processes(4 << 30, 4), processes(64 << 30, 4)], [1, 3, 4]);
        assert_eq!(processes(u64::MAX, 0), 1);
    }

    #[test]
    fn as_many_have_a_turn_as_there_is_room_for() {
        let room = ProcessRoom::new(4 << 30, 4);
        let (now, met) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let turn = room.turn().expect("there is room");
                        met.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        assert!((1..=3).contains(&met.load(Ordering::SeqCst)));
        assert!(ProcessRoom::new(1 << 20, 1).turn().is_none());
    }
}
