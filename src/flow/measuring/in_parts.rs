//! Candidates measured part by part, where memory is too short for what is known of all of them, or for their sets. A part is whole
//! components of candidates. Workers take one part after the other, and measure it in document order.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use timely::worker::Worker;

use crate::error::Result;
use crate::flow::distributed::exchange_all::wait_for_all;
use crate::flow::measuring::in_order::measure_in_order;
use crate::flow::measuring_rounds::{connect, each_round, may_be_read_by_parts};
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::memory::spill::{Pile, SpillFile};
use crate::flow::records::{Candidate, Pair};
use crate::flow::run::RunParts;
use crate::flow::shared::shared;
use crate::flow::status::lock;
use crate::limits::sized;

/// Most parts: a byte numbers them, and each reads its texts anew.
const MOST: u64 = sized(200, 5);
/// Bytes that a candidate takes while its part is measured: itself twice, and a number among the partners of a document.
const CANDIDATE: u64 = 2 * size_of::<Candidate>() as u64 + size_of::<u32>() as u64;

/// The candidates of a process by the part that they are measured in.
pub struct CandidateParts {
    /// How many each part has.
    counts: Vec<AtomicU64>,
    given: Mutex<Given>,
    /// The part that is measured next.
    next: AtomicUsize,
}

/// Candidates that were given: some in memory, the rest on disk.
struct Given {
    held: Vec<Vec<Candidate>>,
    /// How many are in memory, and how many may be.
    len: usize,
    most: usize,
    spill: SpillFile,
    /// For each part its stretches in the spill: first byte, and how many candidates.
    stretches: Vec<Vec<(u64, usize)>>,
}

impl Given {
    fn extend(&mut self, part: usize, some: &[Candidate]) -> Result<()> {
        if self.len + some.len() > self.most {
            for (held, stretches) in self.held.iter_mut().zip(&mut self.stretches) {
                if !held.is_empty() {
                    stretches.push((self.spill.append(held)?, held.len()));
                    *held = Vec::new();
                }
            }
            self.len = 0;
        }
        self.held[part].extend_from_slice(some);
        self.len += some.len();
        Ok(())
    }

    fn take(&mut self, part: usize) -> Result<Vec<Candidate>> {
        let mut all = std::mem::take(&mut self.held[part]);
        let none = Candidate { pair: Pair::new(0, 1), shared: 0 };
        for (start, count) in std::mem::take(&mut self.stretches[part]) {
            let held = all.len();
            all.resize(held + count, none);
            self.spill.read(start, &mut all[held..])?;
        }
        Ok(all)
    }
}

impl CandidateParts {
    /// No candidates yet; at most `bytes` of them will be held, give or take one batch.
    fn new(many: usize, bytes: u64, scratch: &Path) -> CandidateParts {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<Candidate>();
        let (held, stretches) = (vec![Vec::new(); many], vec![Vec::new(); many]);
        let given = Mutex::new(Given { held, len: 0, most, spill: SpillFile::new(scratch), stretches });
        let counts = std::iter::repeat_with(AtomicU64::default).take(many).collect();
        CandidateParts { counts, given, next: AtomicUsize::new(0) }
    }

    fn count(&self, part: usize, some: &[Candidate]) {
        self.counts[part].fetch_add(some.len() as u64, Ordering::Relaxed);
    }

    /// The candidates of the largest part.
    fn largest(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    /// The candidates of the next part, for whoever asks first.
    fn take(&self) -> Result<Option<Vec<Candidate>>> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        (part < self.counts.len()).then(|| lock(&self.given).take(part)).transpose()
    }
}

/// Measures the candidates of a process that works alone, and hands in the links; false if that cannot be done, or if all sets may be
/// held at once. Documents `in_hot_groups` may be linked beside these. Every worker calls it at the same place.
///
/// # Errors
/// Those of reading texts again and of spill files.
pub fn measure_in_parts(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    in_hot_groups: &DocumentBits,
) -> Result<bool> {
    if !may_be_read_by_parts(run) {
        return Ok(false);
    }
    let connected = connect(worker, run, &candidates.borrow())?;
    let Some((connected, _)) = connected else { return Ok(false) };
    let (context, workers) = (&run.context, run.context.topology.workers() as u64);
    let (memory, progress) = (&context.memory, &context.status.progress);
    let division = connected.parts(&run.documents.catalogue, context.sets_at_once() / workers, MOST);
    if !division.are_even(workers) {
        return Ok(false);
    }
    let bytes = memory.budget.whole(Share::Candidates);
    let parts = shared(&run.parts, || CandidateParts::new(division.many, bytes, &memory.scratch));
    let part = |candidate: &Candidate| connected.round(division, candidate);
    each_round(&candidates.borrow(), progress, part, |at, some| {
        parts.count(at, some);
        Ok(())
    })?;
    wait_for_all(worker, context);
    // Documents may be few and have many. Sets of other processes are none.
    if parts.largest().saturating_mul(CANDIDATE) > memory.budget.part(Share::Fetched) {
        return Ok(false);
    }
    let own = candidates.replace(memory.pile(Share::Candidates));
    each_round(&own, progress, part, |at, some| lock(&parts.given).extend(at, some))?;
    drop(own);
    wait_for_all(worker, context);
    drop(connected);
    while !context.status.failed()
        && let Some(candidates) = parts.take()?
    {
        measure_in_order(run, &candidates, in_hot_groups)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_part_has_what_it_was_given(given in prop::collection::vec((0usize..4, 0usize..9), 0..30), bytes in 0u64..600) {
            let folder = tempfile::tempdir().expect("a folder");
            let parts = CandidateParts::new(4, bytes, folder.path());
            let mut want = vec![Vec::new(); 4];
            let mut next = 0;
            for (part, count) in given {
                let some: Vec<Candidate> =
                    (next..).take(count).map(|doc| Candidate { pair: Pair::new(doc, doc + 1), shared: 1 }).collect();
                next += count as u32;
                parts.count(part, &some);
                lock(&parts.given).extend(part, &some).expect("given");
                want[part].extend(some);
            }
            prop_assert_eq!(parts.largest() as usize, want.iter().map(Vec::len).max().unwrap_or(0));
            for mut want in want {
                let mut got = parts.take().expect("read").expect("a part");
                // Those on disk come last.
                got.sort_unstable_by_key(|candidate| candidate.pair.docs());
                want.sort_unstable_by_key(|candidate| candidate.pair.docs());
                prop_assert_eq!(got, want);
            }
            prop_assert!(parts.take().expect("read").is_none());
        }
    }
}
