//! The operator in which documents with a key in common meet: postings in, key groups out.
//!
//! Morally: `for each key, for each two documents a, b with that key whose set sizes allow the rule: emit (a, b)`.
//! What is emitted is the group, to the owner of each of its members; `count` reads the pairs off it.

mod addressed;
mod contained;
mod grouping;
mod hot_postings;
mod indexed;
mod order;
mod posting_feed;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::operator::Operator;

use crate::error::Result;
use crate::flow::document_sets::DocumentSets;
use crate::flow::intake::keepers::Keepers;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{is_set, set};
use crate::flow::operators::bucket_feed::BucketFeed;
use crate::flow::operators::collide::addressed::AddressedGroups;
use crate::flow::operators::collide::contained::ContainedGrouping;
use crate::flow::operators::collide::grouping::KeyGrouping;
use crate::flow::operators::collide::indexed::IndexedGrouping;
use crate::flow::operators::collide::order::{KeyOrder, Singletons};
use crate::flow::operators::collide::posting_feed::{BUCKET, PostingFeed};
use crate::flow::packed::by_worker::by_worker;
use crate::flow::packed::container::PackedRecords;
use crate::flow::records::{ExactDuplicate, KeyGroups, Posting};
use crate::flow::results::gathered::Collided;
use crate::flow::stored::Stored;
use crate::similarity::AcceptanceRule;

pub use indexed::{IndexedPosting, IndexedSet};

/// Collides postings of the first documents of all texts: `copies` names the others, and when it is complete the sizes of all are
/// known. `outcome` is complete when the output's frontier is empty.
pub fn collide<'scope>(
    postings: Stream<'scope, u64, PackedRecords<Posting>>,
    copies: Stream<'scope, u64, Vec<ExactDuplicate>>,
    sets: Arc<DocumentSets>,
    keepers: Arc<Keepers>,
    worker: usize,
    outcome: Rc<RefCell<Collided>>,
) -> Stream<'scope, u64, Vec<KeyGroups>> {
    let scope = postings.scope();
    let topology = sets.context.topology;
    let by_key = by_worker(move |posting: &Posting| topology.of_key(posting.key));
    postings.binary_frontier::<_, CapacityContainerBuilder<Vec<KeyGroups>>, _, _, _, _>(
        copies,
        by_key,
        Pipeline,
        "Collide",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let context = Arc::clone(&sets.context);
            let mut feed = PostingFeed::new(&sets, worker, cap, activator);
            let mut grouping = KeyGrouping::of(&sets);
            let mut contained = (context.rule.and_then(AcceptanceRule::all_of_larger))
                .map(|_| ContainedGrouping::new(AddressedGroups::new(topology)));
            move |(input, frontier), (copies, copies_frontier), output| {
                input.for_each_time(|_, data| {
                    data.for_each(|batch| feed.take_in(batch.records(&sets.context.status)));
                });
                let mut outcome = outcome.borrow_mut();
                copies.for_each_time(|_, data| {
                    data.for_each(|batch| {
                        batch.drain(..).for_each(|copy| set(&mut outcome.copied, copy.doc));
                    });
                });
                let complete = frontier.is_empty() && copies_frontier.is_empty();
                let given = feed.give_out(complete, &|doc| is_set(&outcome.copied, doc));
                let Some((count, mut postings, cap)) = given else { return };
                let cap = cap.clone();
                outcome.postings += count;
                sets.note_hot_keys();
                let stored = match sets.stored() {
                    None => match &contained {
                        Some(_) => protected_beside(&sets, &mut postings),
                        None => Vec::new(),
                    },
                    Some(stored) => {
                        let keys = match &contained {
                            Some(_) => ContainedGrouping::keys(&postings),
                            None => distinct_keys(&postings),
                        };
                        let kept = keepers.keep(worker, |keeper| keeper.postings(&postings));
                        kept.and_then(|()| stored_beside(&sets, stored, &keys)).unwrap_or_else(|error| {
                            context.status.fail(error);
                            Vec::new()
                        })
                    }
                };
                let addressed = match &mut contained {
                    Some(contained) => {
                        contained.form(&postings, &stored, &mut outcome);
                        &mut contained.addressed
                    }
                    None => {
                        let catalogue = &sets.documents.catalogue;
                        let perhaps = catalogue.perhaps_protected();
                        let is_protected =
                            |doc| doc < perhaps.start || doc < perhaps.end && catalogue.is_protected(doc);
                        match sets.stored().is_none() && catalogue.has_protected() {
                            true => grouping.form_beside(&postings, &is_protected, &mut outcome),
                            false => grouping.form(&postings, &stored, &mut outcome),
                        }
                        if feed.is_last() {
                            grouping.settle(&is_protected, &mut outcome);
                        }
                        &mut grouping.addressed
                    }
                };
                output.session(&cap).give_iterator(addressed.take(feed.is_last()));
            }
        },
    )
}

/// Collides postings of members of hot groups again, by keys that come first in another order. `outcome` is complete when
/// the output's frontier is empty.
pub fn collide_indexed<'scope>(
    postings: Stream<'scope, u64, PackedRecords<IndexedPosting>>,
    sets: Arc<DocumentSets>,
    worker: usize,
    outcome: Rc<RefCell<Collided>>,
) -> Stream<'scope, u64, Vec<KeyGroups>> {
    let (scope, topology) = (postings.scope(), sets.context.topology);
    let by_key = by_worker(move |posting: &IndexedPosting| topology.of_key(posting.key));
    postings.unary_frontier::<CapacityContainerBuilder<Vec<KeyGroups>>, _, _, _>(
        by_key,
        "CollideIndexed",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let context = Arc::clone(&sets.context);
            let mut feed = BucketFeed::new(&context, worker, (Share::Postings, BUCKET), cap, activator);
            let base = sets.documents.catalogue.base();
            let (mut grouping, mut order) = (IndexedGrouping::of(&context), KeyOrder::default());
            let mut singletons = Singletons::default();
            move |(input, frontier), output| {
                input.for_each_time(|_, data| {
                    data.for_each(|batch| feed.take_in(batch.records(&sets.context.status)));
                });
                let Some((mut postings, cap)) = feed.give_out(frontier.is_empty()) else { return };
                let cap = cap.clone();
                singletons.drop_from(&mut postings, |_| false);
                order.sort(&mut postings);
                let stored = postings.iter().filter(|posting| posting.doc < base);
                sets.record_stored_sizes(stored.map(|posting| (posting.doc, posting.size)));
                let catalogue = &sets.documents.catalogue;
                let is_new = |doc| doc >= base && !catalogue.is_protected(doc);
                grouping.form(&postings, is_new, &mut outcome.borrow_mut());
                output.session(&cap).give_iterator(grouping.addressed.take(feed.is_last()));
            }
        },
    )
}

/// Takes the postings of protected documents out of sorted ones, and returns those under keys that others have, too. They meet
/// new documents as stored contents do: never each other.
fn protected_beside(sets: &DocumentSets, postings: &mut Vec<Posting>) -> Vec<Posting> {
    let catalogue = &sets.documents.catalogue;
    if !catalogue.has_protected() {
        return Vec::new();
    }
    let mut protected = Vec::new();
    postings.retain(|posting| {
        let taken = catalogue.is_protected(posting.doc);
        if taken {
            protected.push(*posting);
        }
        !taken
    });
    let mut keys = postings.iter().map(|posting| posting.key).peekable();
    protected.retain(|posting| {
        while keys.next_if(|key| *key < posting.key).is_some() {}
        keys.peek() == Some(&posting.key)
    });
    protected
}

/// The keys of sorted postings, each once.
fn distinct_keys(postings: &[Posting]) -> Vec<u64> {
    let mut keys: Vec<u64> = postings.iter().map(|posting| posting.key).collect();
    keys.dedup();
    keys
}

/// The stored postings under ascending keys, sorted. The sizes of their contents are remembered.
fn stored_beside(sets: &DocumentSets, stored: &dyn Stored, keys: &[u64]) -> Result<Vec<Posting>> {
    let mut found = Vec::new();
    stored.postings(keys, &mut found)?;
    sets.record_stored_sizes(found.iter().map(|posting| (posting.doc, posting.size)));
    Ok(found)
}
