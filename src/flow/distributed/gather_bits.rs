//! Bits that workers set together, brought to all processes.

use std::sync::Arc;

use timely::worker::Worker;

use crate::flow::context::RunContext;
use crate::flow::distributed::exchange_all::exchange_all;
use crate::flow::memory::document_bits::{DocumentBits, ones};
use crate::flow::memory::spill::SLICE;
use crate::flow::records::Wanted;

/// Sets in `all` of each process the bits that any worker has among its `own`. Returns when all are set.
pub fn gather_bits(worker: &mut Worker, context: &Arc<RunContext>, all: &Arc<DocumentBits>, own: &[u64]) {
    let topology = context.topology;
    ones(own.iter().copied()).for_each(|bit| all.insert(bit));
    let slices = topology.others().flat_map(|process| {
        let to = topology.first_of(process) as u32;
        own.chunks(SLICE)
            .zip((0..).step_by(64 * SLICE))
            .map(move |(words, first)| Ok(ones(words.iter().copied()).map(|bit| (first + bit, to)).collect()))
    });
    let taken = Arc::clone(all);
    exchange_all(
        worker,
        context,
        slices,
        |(_, to): &Wanted| u64::from(*to),
        move |bits| {
            bits.iter().for_each(|(bit, _)| taken.insert(*bit));
            Ok(())
        },
    );
}
