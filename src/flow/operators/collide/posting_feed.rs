//! Postings bucket by bucket, rid of those that meet nobody. Where keys only propose pairs they are held without the low bits of
//! their keys: half the bytes, and one in thousands meets another by mistake.

use std::sync::Arc;

use timely::dataflow::operators::Capability;
use timely::scheduling::Activator;

use crate::document::Doc;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::operators::bucket_feed::BucketFeed;
use crate::flow::operators::collide::order::{KeyOrder, Singletons};
use crate::flow::records::{CutPosting, Keyed, Posting};
use crate::limits::sized;

/// Bytes of input whose postings make a bucket: they fit the second-level cache when they are sorted.
pub const BUCKET: u64 = sized(128 << 10, 1 << 10);

/// The postings of one worker.
pub struct PostingFeed {
    held: HeldPostings,
    sets: Arc<DocumentSets>,
    singletons: Singletons,
    order: KeyOrder<Posting>,
    cut_order: KeyOrder<CutPosting>,
    cut: Vec<CutPosting>,
}

enum HeldPostings {
    Whole(BucketFeed<Posting>),
    Cut(BucketFeed<CutPosting>),
}

impl PostingFeed {
    /// An empty feed of an operator with this capability and activator.
    pub fn new(
        sets: &Arc<DocumentSets>,
        worker: usize,
        cap: Capability<u64>,
        activator: Activator,
    ) -> PostingFeed {
        let share = (Share::Postings, BUCKET);
        let held = match are_cut(sets) {
            false => HeldPostings::Whole(BucketFeed::new(&sets.context, worker, share, cap, activator)),
            true => HeldPostings::Cut(BucketFeed::new(&sets.context, worker, share, cap, activator)),
        };
        PostingFeed {
            held,
            sets: Arc::clone(sets),
            singletons: Singletons::default(),
            order: KeyOrder::default(),
            cut_order: KeyOrder::default(),
            cut: Vec::new(),
        }
    }

    /// Takes a batch in; the run fails if it cannot.
    pub fn take_in(&mut self, batch: &mut Vec<Posting>) {
        match &mut self.held {
            HeldPostings::Whole(feed) => feed.take_in(batch),
            HeldPostings::Cut(feed) => {
                self.cut.extend(batch.drain(..).map(|posting| CutPosting::of(&posting)));
                feed.take_in(&mut self.cut);
            }
        }
    }

    /// Whether the last bucket was given out.
    pub fn is_last(&self) -> bool {
        match &self.held {
            HeldPostings::Whole(feed) => feed.is_last(),
            HeldPostings::Cut(feed) => feed.is_last(),
        }
    }

    /// The postings of one more bucket, sorted, once the input is complete: how many there are without those of copies, the
    /// others, and what to send by. Those that meet nobody are missing, unless there are stored ones that they may meet.
    pub fn give_out(
        &mut self,
        complete: bool,
        is_copy: &impl Fn(Doc) -> bool,
    ) -> Option<(u64, Vec<Posting>, &Capability<u64>)> {
        let PostingFeed { held, sets, singletons, order, cut_order, .. } = self;
        match held {
            HeldPostings::Whole(feed) => {
                let (mut postings, cap) = feed.give_out(complete)?;
                let is_copy = |posting: &Posting| is_copy(posting.doc);
                let count = postings.iter().filter(|posting| !is_copy(posting)).count() as u64;
                match sets.stored() {
                    None => singletons.drop_from(&mut postings, is_copy),
                    Some(_) => postings.retain(|posting| !is_copy(posting)),
                }
                order.sort(&mut postings);
                Some((count, postings, cap))
            }
            HeldPostings::Cut(feed) => {
                let (mut postings, cap) = feed.give_out(complete)?;
                let is_copy = |posting: &CutPosting| is_copy(posting.doc);
                let count = postings.iter().filter(|posting| !is_copy(posting)).count() as u64;
                singletons.drop_from(&mut postings, is_copy);
                // Sizes are looked up for those alone that meet somebody, after the shorter values are sorted.
                cut_order.sort(&mut postings);
                let mut whole = Vec::with_capacity(postings.len());
                for group in postings.chunk_by(|a, b| a.key() == b.key()).filter(|group| group.len() > 1) {
                    let start = whole.len();
                    whole.extend(group.iter().map(|posting| posting.with_size(sets.size(posting.doc))));
                    whole[start..].sort_unstable_by_key(|posting| (posting.size, posting.doc));
                }
                Some((count, whole, cap))
            }
        }
    }
}

fn are_cut(sets: &DocumentSets) -> bool {
    sets.stored().is_none() && sets.context.cuts_keys()
}
