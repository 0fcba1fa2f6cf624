//! Records on their way to the workers that they belong to.

use timely::communication::Push;
use timely::container::DrainContainer;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;

use crate::flow::packed::container::{MOST_PACKED, PackedRecords, gathered};
use crate::limits::sized;

/// Records that are looked at before lists that are long enough go out.
const STEP: usize = sized(256, 3);
const _: () =
    assert!(STEP <= MOST_PACKED, "a list that was not long enough before a step can be packed after it");

/// Records with which a list goes out: as many as are gathered, and no more than can be packed with those of a step.
fn long_enough() -> usize {
    gathered().min(MOST_PACKED + 1 - STEP)
}

/// Makes the distributor of a channel, once it is known how many workers there are.
type MakesDistributor<T, F> = Box<dyn FnOnce(usize) -> ByWorker<T, F>>;

/// The pact that sends each record to the worker that `worker_of` names, below the number of workers. It does what `ExchangeCore` of timely does, which
/// asks after each record whether a list is long enough to go out.
pub fn by_worker<T: 'static, F: Fn(&T) -> usize + 'static>(
    worker_of: F,
) -> DistributorPact<MakesDistributor<T, F>> {
    DistributorPact(Box::new(|workers| ByWorker {
        worker_of,
        lists: (0..workers).map(|_| PackedRecords::default()).collect(),
    }))
}

/// Distributes records among workers.
pub struct ByWorker<T, F> {
    worker_of: F,
    /// What goes to each worker.
    lists: Vec<PackedRecords<T>>,
}

impl<T, F> ByWorker<T, F> {
    /// Sends lists of so many records or more.
    fn send<Time: Clone, P: Push<Message<Time, PackedRecords<T>>>>(
        &mut self,
        least: usize,
        time: &Time,
        pushers: &mut [P],
    ) {
        for (list, pusher) in self.lists.iter_mut().zip(pushers).filter(|(list, _)| list.len() >= least) {
            Message::push_at(list, time.clone(), pusher);
            // What comes back may have what went before.
            *list = PackedRecords::emptied(std::mem::take(list));
        }
    }
}

impl<T, F: Fn(&T) -> usize> Distributor<PackedRecords<T>> for ByWorker<T, F> {
    fn partition<Time: Clone, P: Push<Message<Time, PackedRecords<T>>>>(
        &mut self,
        container: &mut PackedRecords<T>,
        time: &Time,
        pushers: &mut [P],
    ) {
        let least = long_enough();
        let mut records = container.drain();
        while records.len() > 0 {
            for record in records.by_ref().take(STEP) {
                self.lists[(self.worker_of)(&record)].push(record, least + STEP);
            }
            self.send(least, time, pushers);
        }
    }

    fn flush<Time: Clone, P: Push<Message<Time, PackedRecords<T>>>>(
        &mut self,
        time: &Time,
        pushers: &mut [P],
    ) {
        self.send(1, time, pushers);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use timely::bytes::arc::BytesMut;
    use timely::dataflow::channels::ContainerBytes;

    use super::*;
    use crate::document::Doc;
    use crate::flow::packed::container::gather_for_all;

    /// What a channel was handed, a list for each message.
    #[derive(Default)]
    struct Messages(Vec<(u64, Vec<Doc>)>);

    impl Push<Message<u64, PackedRecords<Doc>>> for Messages {
        fn push(&mut self, message: &mut Option<Message<u64, PackedRecords<Doc>>>) {
            let Some(Message { time, data, .. }) = message else { return };
            // What is handed back is what went before.
            self.0.push((*time, data.clone().into_records()));
        }
    }

    proptest! {
        /// Each record comes to its worker once, in order; before the end only in long lists, and in none that is longer than it may be.
        #[test]
        fn records_come_to_their_workers(
            sizes in prop::collection::vec(0..4 * MOST_PACKED, 0..5), workers in 1..5usize,
            gathered_for in prop::sample::select(vec![2usize, 3, 64, 1000]),
        ) {
            // Each test has a thread of its own.
            gather_for_all(gathered_for);
            let mut distributor = by_worker(move |doc: &Doc| (*doc % 7) as usize % workers).0(workers);
            let mut channels: Vec<Messages> = (0..workers).map(|_| Messages::default()).collect();
            let mut next: Doc = 0;
            for size in sizes {
                let docs: Vec<Doc> = (next..).take(size).collect();
                next += size as Doc;
                let mut container = PackedRecords::from(docs);
                distributor.partition(&mut container, &5, &mut channels);
                prop_assert!(container.into_records().is_empty());
            }
            let early = channels.iter().flat_map(|messages| &messages.0);
            prop_assert!(early.map(|(_, docs)| docs.len()).all(|len| len >= long_enough()));
            distributor.flush(&5, &mut channels);
            for (worker, messages) in channels.iter().enumerate() {
                prop_assert!(messages.0.iter().all(|(time, _)| *time == 5));
                // Each can be packed, and unpacked where it arrives.
                for (_, docs) in &messages.0 {
                    let mut bytes = Vec::new();
                    PackedRecords::from(docs.clone()).into_bytes(&mut bytes);
                    let arrived = PackedRecords::<Doc>::from_bytes(BytesMut::from(bytes).freeze());
                    prop_assert_eq!(&arrived.into_records(), docs);
                }
                let docs: Vec<Doc> = messages.0.iter().flat_map(|(_, docs)| docs).copied().collect();
                let want: Vec<Doc> = (0..next).filter(|doc| (*doc % 7) as usize % workers == worker).collect();
                prop_assert_eq!(docs, want);
            }
        }
    }
}
