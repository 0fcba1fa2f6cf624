//! Exchanging what workers have among each other, all of it at one go.

use timely::ExchangeData;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use std::sync::Arc;

use super::Shared;
use super::work::wait;
use crate::error::Result;

/// Sends values, slice by slice, to the workers that `route` numbers, and hands what is sent here to `take`. Every worker
/// of every process calls it at the same place; it returns when all of it is where it belongs, or the run has failed.
pub fn trade<T: ExchangeData + Clone>(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    slices: impl Iterator<Item = Result<Vec<T>>>,
    route: impl Fn(&T) -> u64 + 'static,
    mut take: impl FnMut(Vec<T>) -> Result<()> + 'static,
) {
    let mut input = InputHandle::<u64, CapacityContainerBuilder<Vec<T>>>::new_with_builder();
    let probe = ProbeHandle::new();
    let taking = Arc::clone(shared);
    worker.dataflow(|scope| {
        let sent = input.to_stream(scope);
        let taken = sent.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
            Exchange::new(route),
            "Trade",
            |_, _| {
                move |input, _output| {
                    input.for_each_time(|_, data| {
                        for batch in data.map(std::mem::take).filter(|_| !taking.failed()) {
                            take(batch).unwrap_or_else(|error| taking.fail(error));
                        }
                    });
                }
            },
        );
        taken.probe_with(&probe);
    });
    for slice in slices {
        match slice {
            Ok(mut slice) => input.send_batch(&mut slice),
            Err(error) => shared.fail(error),
        }
        worker.step();
        if shared.failed() {
            break;
        }
    }
    input.close();
    wait(worker, shared, &probe);
}
