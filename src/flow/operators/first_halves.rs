//! The operators of a load that find what is in question by the first halves of ids and digests: most of them nobody else has, and
//! then nobody has to know the rest.
//!
//! ```text
//! first halves --(by half)--> held -> documents in question --(to who has read them)--> whole changes, and whole arrivals
//! ```

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::operators::Concat;
use timely::dataflow::operators::generic::operator::Operator;

use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::catalogue::Catalogue;
use crate::flow::context::RunContext;
use crate::flow::memory::budget::Share;
use crate::flow::operators::bucket_feed::BucketFeed;
use crate::flow::operators::last_write_wins::last_write_wins;
use crate::flow::packed::by_worker::by_worker;
use crate::flow::packed::container::{Packable, PackedRecords};
use crate::flow::records::{Arrival, Change, ChangeKind, FirstHalf, id_digest};
use crate::flow::run::RunParts;
use crate::flow::stored::Stored;
use crate::limits::sized;

/// Bytes of input whose first halves make a bucket.
const BUCKET: u64 = sized(16 << 20, 1 << 10);

/// What the workers of a load tell each other of what they read.
pub struct Halves<'scope> {
    /// The changes that are no texts, whole.
    pub changes: Stream<'scope, u64, PackedRecords<Change>>,
    /// First halves of the ids of all changes.
    pub ids: Stream<'scope, u64, PackedRecords<FirstHalf>>,
    /// First halves of the digests of texts.
    pub digests: Stream<'scope, u64, PackedRecords<FirstHalf>>,
}

/// What gets numbers of halves.
type EachHalf<'a> = &'a mut dyn FnMut(usize);

/// Which of ascending halves stored rows may have, as far as they are open: all numbers of these are handed on.
type Perhaps = fn(&dyn Stored, &[u64], &[bool], EachHalf<'_>) -> Result<()>;

/// The texts of which another may be equal, and those that a later record replaces, which come as superseded ones. The changes that
/// count are gathered, but for new texts under new ids.
pub fn arrivals_in_question<'scope>(
    halves: Halves<'scope>,
    run: &RunParts,
    stored: &Arc<dyn Stored>,
    worker: usize,
) -> Stream<'scope, u64, PackedRecords<Arrival>> {
    let (context, documents) = (&run.context, &run.documents);
    let of = |halves, perhaps: Perhaps| {
        in_question(halves, Arc::clone(context), (Arc::clone(stored), perhaps), worker)
    };
    let ids = of(halves.ids, |stored, halves, open, each| stored.perhaps_ids(halves, open, each));
    let digests = of(halves.digests, |stored, halves, open, each| stored.perhaps_digests(halves, open, each));
    let catalogue = Arc::clone(documents);
    let texts = answered(ids, Arc::clone(context), move |doc| change_of(&catalogue.catalogue, doc));
    let changes = halves.changes.concat(texts);
    let superseded =
        last_write_wins(changes, Arc::clone(context), Arc::clone(stored), Arc::clone(&run.collector));
    let catalogue = Arc::clone(documents);
    let arrivals =
        answered(digests, Arc::clone(context), move |doc| Ok(arrival_of(&catalogue.catalogue, doc)));
    arrivals.concat(superseded)
}

/// The change that the record of a text is.
fn change_of(catalogue: &Catalogue, doc: Doc) -> Result<Change> {
    let label = catalogue.label(doc)?;
    let id = id_digest(label.as_deref().unwrap_or_default());
    let kind = ChangeKind::Text(catalogue.brought(doc).digest);
    Ok(Change { id, position: catalogue.position(doc).to_bits(), doc: Some(doc), kind })
}

/// The arrival of a text, as far as is known where it was read.
fn arrival_of(catalogue: &Catalogue, doc: Doc) -> Arrival {
    Arrival::new(catalogue.brought(doc).digest, doc, catalogue.position(doc).to_bits())
}

/// The documents whose halves others have, too, or perhaps a stored row.
fn in_question<'scope>(
    halves: Stream<'scope, u64, PackedRecords<FirstHalf>>,
    context: Arc<RunContext>,
    (stored, perhaps): (Arc<dyn Stored>, Perhaps),
    worker: usize,
) -> Stream<'scope, u64, PackedRecords<Doc>> {
    let (scope, topology) = (halves.scope(), context.topology);
    let by_half = by_worker(move |half: &FirstHalf| topology.of_key(half.half()));
    halves.unary_frontier::<CapacityContainerBuilder<PackedRecords<Doc>>, _, _, _>(
        by_half,
        "InQuestion",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut feed = BucketFeed::new(&context, worker, (Share::FirstHalves, BUCKET), cap, activator);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| {
                    data.for_each(|batch| feed.take_in(batch.records(&context.status)));
                });
                let Some((mut bucket, cap)) = feed.give_out(frontier.is_empty()) else { return };
                let mut docs =
                    shared_or_stored(&mut bucket, |halves, open, each| perhaps(&*stored, halves, open, each))
                        .unwrap_or_else(|error| {
                            context.status.fail(error);
                            Vec::new()
                        });
                // Ascending numbers are asked in fewer bytes, and answered in the order of their rows.
                docs.sort_unstable();
                output.session(cap).give_iterator(docs.into_iter());
            }
        },
    )
}

/// The documents of a bucket whose halves others have, or perhaps a stored row.
fn shared_or_stored(
    bucket: &mut [FirstHalf],
    perhaps: impl Fn(&[u64], &[bool], EachHalf<'_>) -> Result<()>,
) -> Result<Vec<Doc>> {
    bucket.sort_unstable_by_key(FirstHalf::half);
    let groups = || bucket.chunk_by(|a, b| a.half() == b.half());
    let halves: Vec<u64> = groups().map(|group| group[0].half()).collect();
    let mut asked: Vec<bool> = groups().map(|group| group.len() > 1).collect();
    // Of most records of a load that brings little new there is nobody to be asked.
    let open: Vec<bool> = groups().map(|group| group.len() == 1 && group[0].doc != NO_DOC).collect();
    perhaps(&halves, &open, &mut |at| asked[at] = true)?;
    let in_question = groups().zip(asked).filter(|(_, asked)| *asked).flat_map(|(group, _)| group);
    Ok(in_question.map(|half| half.doc).filter(|doc| *doc != NO_DOC).collect())
}

/// What those know of documents who have read them.
fn answered<'scope, T: Packable>(
    asked: Stream<'scope, u64, PackedRecords<Doc>>,
    context: Arc<RunContext>,
    find: impl Fn(Doc) -> Result<T> + 'static,
) -> Stream<'scope, u64, PackedRecords<T>> {
    let topology = context.topology;
    let to_reader = by_worker(move |doc: &Doc| topology.owner_of(*doc));
    asked.unary::<CapacityContainerBuilder<PackedRecords<T>>, _, _, _>(to_reader, "Answered", |_, _| {
        move |input, output| {
            input.for_each_time(|time, data| {
                let mut session = output.session(&time);
                for batch in data.filter(|_| !context.status.failed()) {
                    for doc in batch.records(&context.status).drain(..) {
                        match find(doc) {
                            Ok(found) => session.give(found),
                            Err(error) => context.status.fail(error),
                        }
                    }
                }
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The obvious twin looks for another one of each.
        #[test]
        fn what_others_or_stored_rows_may_have_is_in_question(
            halves in prop::collection::vec(0u64..30, 0..40),
            without in prop::collection::vec(0u64..30, 0..5),
            stored in prop::collection::btree_set(0u64..30, 0..6),
        ) {
            let docs = (0..).zip(&halves).map(|(doc, half)| FirstHalf::new(*half, doc));
            let mut bucket: Vec<FirstHalf> = docs.chain(without.iter().map(|half| FirstHalf::new(*half, NO_DOC))).collect();
            let all: Vec<u64> = bucket.iter().map(FirstHalf::half).collect();
            let perhaps = |halves: &[u64], open: &[bool], each: &mut dyn FnMut(usize)| {
                assert!(halves.is_sorted_by(|a, b| a < b));
                let of = halves.iter().zip(open).enumerate();
                of.filter(|(_, (half, open))| **open && stored.contains(half)).for_each(|(at, _)| each(at));
                Ok(())
            };
            let found: BTreeSet<Doc> = shared_or_stored(&mut bucket, perhaps).expect("found").into_iter().collect();
            let truth = (0..).zip(&halves).filter(|(_, half)| {
                stored.contains(half) || all.iter().filter(|other| other == half).count() > 1
            });
            prop_assert_eq!(found, truth.map(|(doc, _)| doc).collect::<BTreeSet<Doc>>());
        }
    }
}
