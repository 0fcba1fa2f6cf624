//! The operator that finds equal canonical texts: one key, the digest, accepted on one shared.

use crate::limits::sized;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::operators::generic::operator::Operator;

use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::context::RunContext;
use crate::flow::memory::budget::Share;
use crate::flow::operators::bucket_feed::BucketFeed;
use crate::flow::packed::by_worker::by_worker;
use crate::flow::packed::container::PackedRecords;
use crate::flow::records::{Arrival, ExactDuplicate};
use crate::flow::results::gathered::Collector;
use crate::flow::stored::Stored;

/// Bytes of input whose arrivals make a bucket.
const BUCKET: u64 = sized(16 << 20, 1 << 10);

/// Names every document that is not the first of its text. Those that bring back a text that no document had any more are gathered.
pub fn exact_duplicates<'scope>(
    arrivals: Stream<'scope, u64, PackedRecords<Arrival>>,
    context: Arc<RunContext>,
    (stored, collector): (Option<Arc<dyn Stored>>, Arc<Collector>),
    worker: usize,
) -> Stream<'scope, u64, Vec<ExactDuplicate>> {
    let scope = arrivals.scope();
    let topology = context.topology;
    let by_digest = by_worker(move |arrival: &Arrival| topology.of_key(arrival.digest));
    arrivals.unary_frontier::<CapacityContainerBuilder<Vec<ExactDuplicate>>, _, _, _>(
        by_digest,
        "ExactDuplicates",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut feed = BucketFeed::new(&context, worker, (Share::Arrivals, BUCKET), cap, activator);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| {
                    data.for_each(|batch| feed.take_in(batch.records(&context.status)));
                });
                let Some((mut bucket, cap)) = feed.give_out(frontier.is_empty()) else { return };
                let contents = stored_contents(stored.as_deref(), &mut bucket).unwrap_or_else(|error| {
                    context.status.fail(error);
                    Vec::new()
                });
                collector.add_brought_back(&brought_back(&bucket, &contents));
                output.session(cap).give_iterator(copies(&bucket, &contents));
            }
        },
    )
}

/// Sorts arrivals by digest; for each distinct digest the stored content that has it, [`NO_DOC`] if none is left that had. Empty if
/// there is nothing stored.
fn stored_contents(stored: Option<&dyn Stored>, arrivals: &mut Vec<Arrival>) -> Result<Vec<Option<Doc>>> {
    let digest = |arrival: &Arrival| (arrival.digest, arrival.rest);
    let Some(stored) = stored else {
        arrivals.sort_unstable_by_key(digest);
        return Ok(Vec::new());
    };
    // Of one that a later record replaces two may tell: the worker that has read it does not know.
    let known = |arrival: &Arrival| (digest(arrival), arrival.doc as Doc);
    arrivals.sort_unstable_by_key(|arrival| (known(arrival), !arrival.is_superseded()));
    arrivals.dedup_by_key(|arrival| known(arrival));
    let distinct = arrivals.chunk_by(|a, b| digest(a) == digest(b));
    let digests: Vec<u64> = distinct.flat_map(|same| [same[0].digest, same[0].rest]).collect();
    let mut contents = vec![None; digests.len() / 2];
    stored.contents(&digests, &mut |at, content| contents[at] = Some(content))?;
    Ok(contents)
}

/// All but the first of each run of equal digests; all of it if the text is that of a stored content.
fn copies(arrivals: &[Arrival], contents: &[Option<Doc>]) -> impl Iterator<Item = ExactDuplicate> {
    let same = |a: &Arrival, b: &Arrival| (a.digest, a.rest) == (b.digest, b.rest);
    arrivals.chunk_by(same).enumerate().flat_map(move |(at, same)| {
        let stored = contents.get(at).copied().flatten().filter(|content| *content != NO_DOC);
        let first = stored.or_else(|| first_of(same));
        let copy = move |arrival: &Arrival| ExactDuplicate {
            doc: arrival.doc as Doc,
            first: first.filter(|_| !arrival.is_superseded()).unwrap_or(NO_DOC),
        };
        same.iter().map(copy).filter(|copy| copy.first != copy.doc)
    })
}

/// The first document of some of one text; none if none counts.
fn first_of(same: &[Arrival]) -> Option<Doc> {
    let counting = same.iter().filter(|arrival| !arrival.is_superseded());
    counting.min_by_key(|arrival| arrival.position).map(|arrival| arrival.doc as Doc)
}

/// The first documents of texts that stored contents had which no document has any more.
fn brought_back(arrivals: &[Arrival], contents: &[Option<Doc>]) -> Vec<Doc> {
    let same = |a: &Arrival, b: &Arrival| (a.digest, a.rest) == (b.digest, b.rest);
    let of_gone = arrivals.chunk_by(same).zip(contents).filter(|(_, stored)| **stored == Some(NO_DOC));
    of_gone.filter_map(|(same, _)| first_of(same)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Result;
    use crate::flow::records::Posting;
    use crate::flow::stored::LoadKeeper;

    /// A collection that has one content of a digest, and one that no document has any more.
    #[derive(Debug)]
    struct TwoContents;

    impl Stored for TwoContents {
        fn contents(&self, digests: &[u64], each: &mut dyn FnMut(usize, Doc)) -> Result<()> {
            for (at, [high, _]) in digests.as_chunks::<2>().0.iter().enumerate() {
                match high {
                    0 => each(at, 5),
                    1 => each(at, NO_DOC),
                    _ => {}
                }
            }
            Ok(())
        }
        fn next(&self) -> Doc {
            8
        }
        fn keeps_records(&self) -> bool {
            false
        }
        fn is_unchanged(&self, _: u128, _: u128) -> Result<bool> {
            Ok(false)
        }
        fn perhaps_ids(&self, _: &[u64], _: &[bool], _: &mut dyn FnMut(usize)) -> Result<()> {
            Ok(())
        }
        fn perhaps_digests(&self, _: &[u64], _: &[bool], _: &mut dyn FnMut(usize)) -> Result<()> {
            Ok(())
        }
        fn known_ids(&self, _: &[u64], _: &mut dyn FnMut(usize)) -> Result<()> {
            Ok(())
        }
        fn notes_mentioned(&self) -> bool {
            false
        }
        fn postings(&self, _: &[u64], _: &mut Vec<Posting>) -> Result<()> {
            Ok(())
        }
        fn set(&self, _: Doc, _: &mut Vec<u64>) -> Result<()> {
            Ok(())
        }
        fn sets(&self, _: &[Doc], _: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
            Ok(())
        }
        fn salts(&self, _: &[Doc]) -> Result<Vec<u64>> {
            Ok(Vec::new())
        }
        fn signatures(&self, _: &[Doc], _: &mut dyn FnMut(Doc, &[u64])) -> Result<()> {
            Ok(())
        }
        fn keeper(&self, _: usize) -> Result<Box<dyn LoadKeeper>> {
            Err(crate::error::Error::Worker("none".into()))
        }
    }

    proptest! {
        /// A load asks for whole arrivals of those alone whose halves others have, and a superseded document is told of twice, or once
        /// only: the findings are those of all arrivals, each of which says itself that it is superseded.
        #[test]
        fn what_is_in_question_decides_alone(
            texts in prop::collection::vec((0u64..6, any::<bool>()), 0..20),
        ) {
            let all: Vec<Arrival> = (8..).zip(&texts).map(|(doc, (digest, superseded))| {
                let digest = u128::from(*digest) << 64;
                match superseded {
                    true => Arrival::superseded(digest, doc, u64::from(100 - doc)),
                    false => Arrival::new(digest, doc, u64::from(100 - doc)),
                }
            }).collect();
            let found = |mut arrivals: Vec<Arrival>| {
                let contents = stored_contents(Some(&TwoContents), &mut arrivals).expect("found");
                let mut copies: Vec<_> = copies(&arrivals, &contents).map(|copy| (copy.doc, copy.first)).collect();
                copies.sort_unstable();
                let mut back = brought_back(&arrivals, &contents);
                back.sort_unstable();
                (copies, back)
            };
            let is_shared = |arrival: &&Arrival| {
                arrival.digest < 2 || all.iter().filter(|other| other.digest == arrival.digest).count() > 1
            };
            let plain = all.iter().filter(is_shared).map(|arrival| Arrival { doc: arrival.doc & u64::from(u32::MAX), ..*arrival });
            let superseded = all.iter().filter(|arrival| arrival.is_superseded()).copied();
            prop_assert_eq!(found(plain.chain(superseded).collect()), found(all.clone()));
        }
    }
}
