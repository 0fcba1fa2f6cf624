//! Exchanging what workers have among each other, all of it at one go.

use std::sync::Arc;
use std::time::Duration;

use timely::ExchangeData;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::error::Result;
use crate::flow::context::RunContext;
use crate::flow::status::RunStatus;

/// How long an idle worker sleeps before it looks whether another one failed.
pub const PATIENCE: Duration = Duration::from_millis(20);

/// Works until the dataflow of `probe` is complete, or the run has failed.
pub fn wait(worker: &mut Worker, status: &RunStatus, probe: &ProbeHandle<u64>) {
    while !probe.done() && !status.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}

/// Sends values, slice by slice, to the workers that `route` numbers, and hands what is sent here to `take`. Every worker
/// of every process calls it at the same place; it returns when all of it is where it belongs, or the run has failed.
pub fn exchange_all<T: ExchangeData + Clone>(
    worker: &mut Worker,
    context: &Arc<RunContext>,
    slices: impl Iterator<Item = Result<Vec<T>>>,
    route: impl Fn(&T) -> u64 + 'static,
    mut take: impl FnMut(Vec<T>) -> Result<()> + 'static,
) {
    // Whoever knows that the run has failed may have left out dataflows that others have built. What it builds behind them
    // would have the channels of another one.
    if context.status.failed() {
        return;
    }
    let mut input = InputHandle::<u64, CapacityContainerBuilder<Vec<T>>>::new_with_builder();
    let probe = ProbeHandle::new();
    let taking = Arc::clone(context);
    worker.dataflow(|scope| {
        let sent = input.to_stream(scope);
        let taken = sent.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
            Exchange::new(route),
            "ExchangeAll",
            |_, _| {
                move |input, _output| {
                    input.for_each_time(|_, data| {
                        for batch in data.map(std::mem::take).filter(|_| !taking.status.failed()) {
                            take(batch).unwrap_or_else(|error| taking.status.fail(error));
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
            Err(error) => context.status.fail(error),
        }
        worker.step();
        if context.status.failed() {
            break;
        }
    }
    input.close();
    wait(worker, &context.status, &probe);
}

/// Waits until every worker of every process has come here, or the run has failed.
pub fn wait_for_all(worker: &mut Worker, context: &Arc<RunContext>) {
    exchange_all(worker, context, std::iter::empty(), |(): &()| 0, |_| Ok(()));
}
