//! Room for long records: how much of them the memory allows, and whose turn it is to have one.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[cfg(feature = "pdf")]
use super::process_room::{ProcessRoom, ProcessTurn, memory_for_one};
use crate::error::Result;
use crate::limits::{BASE_MEMORY, BEYOND_MEMORY, BYTES_OF_WORD, FREE_WORDS, WORKER_MEMORY};
use crate::progress::Progress;

/// Part of the memory beyond what every run needs that records may take: what the shares of a run leave while it reads.
const PART: u64 = 4;
/// Part of that which is for records of which every worker may have one at a time.
const FREE: u64 = 8;
/// Part of the memory beyond what every run needs that what is written again may take: of the shares of a run those of its documents
/// and their ids are still held then, and what was found.
const REWRITTEN: u64 = 2;

/// What a worker takes that writes a table of records: a row group, what it is encoded to, and what is read for it.
#[cfg(feature = "parquet")]
const TABLE: u64 = 28 << 20;
/// Bytes that a column of a header takes, and how many times the header: its names, a row under it, and where these end; and all that
/// again where rows are written in another form.
const OF_COLUMN: (u64, u64) = (32, 3);

/// MiB beyond which no more is advised: no cost is known that exactly.
const MOST_ADVISED: u64 = 1 << 40;

/// How often a worker that awaits its turn looks whether the run is to stop: another one may take seconds over a record.
const LOOK: Duration = Duration::from_millis(100);

/// What a record costs while it is read and sketched.
#[derive(Clone, Copy, Debug)]
pub struct RecordCost {
    /// Bytes for each token of its text.
    pub token: u64,
    /// Bytes of a text to a token, of texts that are neither.
    pub bytes_of_token: u64,
}

impl RecordCost {
    /// Bytes that a record of so many bytes costs: its line, its text, and what is made of the tokens.
    fn of(self, bytes: u64) -> u64 {
        bytes.saturating_mul(2).saturating_add(bytes.saturating_mul(self.token) / self.bytes_of_token)
    }
}

/// How long records may be where the memory is bounded. Records that are longer than what each worker has room for are
/// read by one worker at a time. The default is no bound.
#[derive(Clone, Debug, Default)]
pub struct RecordRoom(Option<Arc<Bound>>);

#[derive(Debug)]
struct Bound {
    /// Bytes of memory without the windows of decoders.
    memory: u64,
    windows: u64,
    workers: u64,
    cost: RecordCost,
    /// Longest record that every worker may have at a time.
    free: usize,
    /// Longest record at all.
    most: usize,
    /// Bytes that every worker may take at a time for what it writes again, and bytes that one may take by turns.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "columns alone are written again"))]
    rewritten: (u64, u64),
    taken: Mutex<bool>,
    given_back: Condvar,
    #[cfg(feature = "pdf")]
    processes: Arc<ProcessRoom>,
    progress: Arc<Progress>,
}

/// The right to have a long record, given back when it is dropped.
#[derive(Debug)]
pub(in crate::read) struct Turn(Arc<Bound>);

impl RecordRoom {
    /// The room within so many bytes of memory, of which windows of decoders take some, with so many workers, for records that
    /// cost so much. Whoever waits stops with `progress`.
    pub fn new(
        memory: Option<u64>,
        windows: u64,
        workers: usize,
        cost: RecordCost,
        progress: &Arc<Progress>,
    ) -> RecordRoom {
        let workers = workers as u64;
        RecordRoom(memory.map(|memory| {
            #[cfg(feature = "pdf")]
            let processes = ProcessRoom::new(memory, workers);
            let memory = memory.saturating_sub(windows);
            let each = for_each(memory, workers);
            let (free, most) = (longest(each, cost), longest(for_one(memory, workers), cost));
            let rewritten = (each, for_one_rewritten(memory, workers));
            Arc::new(Bound {
                memory,
                windows,
                workers,
                cost,
                free,
                most,
                rewritten,
                taken: Mutex::new(false),
                given_back: Condvar::new(),
                #[cfg(feature = "pdf")]
                processes,
                progress: Arc::clone(progress),
            })
        }))
    }

    /// Longest record that there is room for, in bytes.
    pub(in crate::read) fn most(&self) -> usize {
        self.0.as_ref().map_or(usize::MAX, |bound| bound.most)
    }

    /// Longest record that every worker may have at a time, in bytes.
    pub(in crate::read) fn free(&self) -> usize {
        self.0.as_ref().map_or(usize::MAX, |bound| bound.free)
    }

    /// Bytes of memory that one worker may take for what is written again: what has no room is refused.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn rewritten(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |bound| bound.rewritten.1)
    }

    /// Bytes of memory that every worker may take at a time for what is written again.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn rewritten_by_each(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |bound| bound.rewritten.0)
    }

    /// Whether only one worker at a time may take so many bytes for what is written again.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn is_long_rewritten(&self, bytes: u64) -> bool {
        bytes > self.rewritten_by_each()
    }

    /// Why something that takes so many bytes is not written again, and what to do.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn refusal_to_rewrite(&self, what: &str, cost: u64) -> String {
        let Some(bound) = &self.0 else { return what.to_owned() };
        let advised = needed(cost, |memory| for_one_rewritten(memory, bound.workers));
        format!(
            "{what}, and takes about {} MiB to be written again, which do not fit in the memory allowed, {} MiB: allow about \
             {} MiB with --memory",
            (cost >> 20) + 1,
            (bound.memory + bound.windows) >> 20,
            advised + bound.windows.div_ceil(1 << 20),
        )
    }

    /// How many of so many workers may write a table of records at a time, of which each holds a row group and what it is encoded to.
    #[cfg(feature = "parquet")]
    pub fn writers_of_tables(&self, workers: usize) -> usize {
        let room = |bound: &Arc<Bound>| bound.memory.saturating_sub(BASE_MEMORY) / TABLE;
        self.0.as_ref().map_or(workers, |bound| (room(bound) as usize).clamp(1, workers.max(1)))
    }

    /// Why a header of so many columns and bytes has no room, if every worker is to have its names.
    pub(in crate::read) fn refuses_header(&self, columns: usize, bytes: usize) -> Option<String> {
        let bound = self.0.as_ref()?;
        let cost = columns as u64 * OF_COLUMN.0 + bytes as u64 * OF_COLUMN.1;
        let advised =
            || needed(cost, |memory| for_header(memory, bound.workers)) + bound.windows.div_ceil(1 << 20);
        (cost > for_header(bound.memory, bound.workers)).then(|| {
            format!(
                "the header has {columns} columns, which take {} MiB of each worker and do not fit in the memory allowed, {} MiB: \
                 allow about {} MiB with --memory",
                (cost >> 20) + 1,
                (bound.memory + bound.windows) >> 20,
                advised()
            )
        })
    }

    /// Waits until one more process that reads for this one has room; `None` where none ever has.
    #[cfg(feature = "pdf")]
    pub(in crate::read) fn process_turn(&self) -> Option<ProcessTurn> {
        self.0.as_ref().map_or(Some(ProcessTurn::FREE), |bound| bound.processes.turn())
    }

    /// MiB of memory that have room for one such process.
    #[cfg(feature = "pdf")]
    pub(in crate::read) fn memory_for_process(&self) -> u64 {
        self.0.as_ref().map_or(0, |bound| memory_for_one(bound.workers))
    }

    /// Whether a record of so many bytes, or more, is read by one worker at a time.
    pub fn is_long(&self, bytes: usize) -> bool {
        self.0.as_ref().is_some_and(|bound| bytes > bound.free)
    }

    /// Waits until no other worker has a long record; `None` where nothing is bounded.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`] once the run was asked to stop.
    pub(in crate::read) fn turn(&self) -> Result<Option<Turn>> {
        let Some(bound) = &self.0 else { return Ok(None) };
        let mut taken = bound.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            bound.progress.check()?;
            taken = bound.given_back.wait_timeout(taken, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        Ok(Some(Turn(Arc::clone(bound))))
    }

    /// Why a record of so many bytes does not fit, and what to do.
    pub(in crate::read) fn refusal(&self, bytes: u64) -> String {
        self.0.as_ref().map_or_else(String::new, |bound| bound.refusal(bytes, bound.cost.of(bytes)))
    }

    /// That what costs as much as a record of so many bytes does not fit, and what to do.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn advice(&self, bytes: u64) -> String {
        self.0.as_ref().map_or_else(String::new, |bound| bound.advice(bound.cost.of(bytes)))
    }

    /// Why a long record does not fit, if it does not: it has so many bytes, of which `text` are its text, and so many tokens.
    pub fn refuses(&self, bytes: usize, text: usize, tokens: usize) -> Option<String> {
        let bound = self.0.as_ref().filter(|bound| bytes.max(text) > bound.free)?;
        let (bytes, tokens) = (bytes as u64, tokens as u64);
        let cost = bytes + text as u64 + tokens * bound.cost.token;
        (cost > for_one(bound.memory, bound.workers)).then(|| bound.refusal(bytes, cost))
    }
}

impl Bound {
    fn refusal(&self, bytes: u64, cost: u64) -> String {
        format!("has {bytes} bytes and takes about {} MiB, which {}", (cost >> 20) + 1, self.advice(cost))
    }

    fn advice(&self, cost: u64) -> String {
        format!(
            "do not fit in what one record may take of the memory allowed, {} MiB: allow about {} MiB with --memory",
            (self.memory + self.windows) >> 20,
            needed(cost, |memory| for_one(memory, self.workers)) + self.windows.div_ceil(1 << 20),
        )
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.given_back.notify_one();
    }
}

/// Most words of the text of a record that may have so many bytes: so what one costs does not depend on how short its words are.
pub(in crate::read) fn most_words(max_record_bytes: usize) -> usize {
    (max_record_bytes / BYTES_OF_WORD).max(FREE_WORDS)
}

/// What is left of the memory when what every run needs is taken off.
fn rest(memory: u64, workers: u64) -> u64 {
    memory.saturating_sub(BASE_MEMORY + WORKER_MEMORY * workers)
}

/// Bytes that every worker may take at a time.
fn for_each(memory: u64, workers: u64) -> u64 {
    WORKER_MEMORY + rest(memory, workers) / PART / FREE / workers
}

/// Bytes that every worker may take for the names of columns.
fn for_header(memory: u64, workers: u64) -> u64 {
    WORKER_MEMORY + rest(memory, workers) / PART / workers
}

/// Bytes that the one long record may cost.
fn for_one(memory: u64, workers: u64) -> u64 {
    let part = rest(memory, workers) / PART;
    WORKER_MEMORY + part - part / FREE + BEYOND_MEMORY.max(memory / 20)
}

/// Bytes that what one worker writes again may take.
fn for_one_rewritten(memory: u64, workers: u64) -> u64 {
    let part = rest(memory, workers) / REWRITTEN;
    WORKER_MEMORY + part - part / FREE + BEYOND_MEMORY.max(memory / 20)
}

/// The longest record of that cost.
fn longest(bytes: u64, cost: RecordCost) -> usize {
    let length = u128::from(bytes) * u128::from(cost.bytes_of_token)
        / u128::from(2 * cost.bytes_of_token + cost.token);
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// MiB of memory in which so much may be taken, where `allowed` tells of some memory what may be.
fn needed(cost: u64, allowed: impl Fn(u64) -> u64) -> u64 {
    let (mut less, mut enough) = (0, 1);
    while enough < MOST_ADVISED && allowed(enough << 20) <= cost {
        (less, enough) = (enough, 2 * enough);
    }
    while less + 1 < enough {
        let middle = less.midpoint(enough);
        match allowed(middle << 20) > cost {
            true => enough = middle,
            false => less = middle,
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::error::Error;

    const COST: RecordCost = RecordCost { token: 20, bytes_of_token: 6 };

    proptest! {
        #[test]
        fn what_is_advised_is_enough_and_not_much_more(bytes in 0u64..1 << 32, workers in 1usize..40) {
            let cost = COST.of(bytes);
            let advised = needed(cost, |memory| for_one(memory, workers as u64));
            let room = |memory: u64| RecordRoom::new(Some(memory << 20), 0, workers, COST, &Arc::default());
            prop_assert!(room(advised).most() as u64 >= bytes);
            prop_assert!(advised == 1 || for_one((advised - 1) << 20, workers as u64) <= cost);
            prop_assert!(room(advised).is_long(usize::MAX) && room(advised).most() > 0);
            let rewritten = |memory: u64| for_one_rewritten(memory << 20, workers as u64);
            let advised = needed(cost, |memory| for_one_rewritten(memory, workers as u64));
            prop_assert!(rewritten(advised) > cost && (advised == 1 || rewritten(advised - 1) <= cost));
        }
    }

    #[test]
    fn one_worker_at_a_time_has_a_turn() {
        let room = RecordRoom::new(Some(64 << 20), 0, 4, COST, &Arc::default());
        let (now, met) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let turn = room.turn().expect("nobody stops");
                        met.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        assert_eq!(met.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn whoever_awaits_a_turn_stops() {
        let progress: Arc<Progress> = Arc::default();
        let room = RecordRoom::new(Some(64 << 20), 0, 2, COST, &progress);
        let turn = room.turn().expect("nobody stops");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| room.turn().map(drop));
            progress.stop();
            assert!(matches!(waiting.join().expect("a thread"), Err(Error::Interrupted)));
        });
        // Who does not have to wait does not: the run is told elsewhere.
        drop(turn);
        assert!(room.turn().expect("free").is_some());
    }

    #[test]
    fn without_a_bound_nothing_is_long() {
        let room = RecordRoom::default();
        assert!(
            !room.is_long(usize::MAX)
                && room.turn().expect("nobody stops").is_none()
                && room.most() == usize::MAX
        );
        assert_eq!(room.refuses(usize::MAX, 0, usize::MAX), None);
    }

    #[test]
    fn texts_of_many_tokens_are_refused_with_what_they_take() {
        let room = RecordRoom::new(Some(64 << 20), 0, 1, COST, &Arc::default());
        assert_eq!(room.refuses(6 << 20, 6 << 20, 1 << 20), None);
        let why = room.refuses(6 << 20, 6 << 20, 3 << 20).expect("refused");
        assert!(why.starts_with("has 6291456 bytes"), "{why}");
    }
}
