//! Stored documents, taken in in place of inputs: what comes behind the intake is the same for both.

use std::sync::Arc;

use crate::document::{Doc, NO_DOC, Position};
use crate::error::Result;
use crate::flow::intake::unit_queue::UnitQueue;
use crate::flow::intake::{Intake, KEPT};
use crate::flow::records::{Arrival, Posting, spread};
use crate::flow::stored::{Replayed, ReplayedDocuments};
use crate::metrics::Metric;
use crate::read::DocumentSink as _;

/// Documents that a worker takes at a time.
const STRETCH: usize = 1024;

impl Intake {
    /// Takes in stored documents until none is left, calling `send` once a stretch.
    pub fn replay(
        &mut self,
        replay: &dyn ReplayedDocuments,
        queue: &UnitQueue,
        mut send: impl FnMut(&mut Intake),
    ) -> Result<()> {
        let context = Arc::clone(&self.context);
        let (progress, metrics) = (&context.status.progress, context.status.progress.metrics());
        let (documents, mut set) = (replay.documents(), Vec::new());
        let stretch = (documents / (self.workers * 8)).clamp(1, STRETCH);
        loop {
            let from = queue.take()?.saturating_mul(stretch);
            if from >= documents || context.status.failed() {
                return Ok(());
            }
            let (mut members, before) = (0, self.documents());
            for at in from..documents.min(from + stretch) {
                let document = replay.document(at);
                self.take_again(replay, at, &document, &mut set)?;
                members += u64::from(document.size);
                if set.len() > KEPT {
                    // Nothing of a long one is kept.
                    set = Vec::new();
                    self.sketcher.rest();
                    send(self);
                    self.postings.shrink_to(KEPT);
                }
            }
            progress.advance(members * 8);
            metrics.add(Metric::Units, 1);
            metrics.add(Metric::ReadBytes, members * 8);
            progress.add_documents(self.documents() - before);
            send(self);
            self.allow_rows()?;
            progress.check()?;
        }
    }

    /// Takes in a stored document.
    fn take_again(
        &mut self,
        replay: &dyn ReplayedDocuments,
        at: usize,
        document: &Replayed<'_>,
        set: &mut Vec<u64>,
    ) -> Result<()> {
        self.results.tally.text_bytes += u64::from(document.text_bytes);
        if document.content == NO_DOC {
            self.results.tally.empty += 1;
            return Ok(());
        }
        let doc = self.next_doc()?;
        let position = Position::new(0, at as u64);
        self.segment.push_stored(position, document)?;
        // A content is one text and no other: its number does for a digest, once it is spread over the workers.
        let number = u64::from(document.content);
        let digest = u128::from(spread(number)) << 64 | u128::from(number);
        self.arrivals.push(Arrival::new(digest, doc, position.to_bits()));
        if self.has_keys && !self.has_seen(digest) {
            replay.set(document.content, set)?;
            self.sketch_again(doc, set);
        }
        Ok(())
    }

    /// Sketches the last row's text by its set.
    fn sketch_again(&mut self, doc: Doc, set: &[u64]) {
        let (keys, size) = self.sketcher.keys_of(set);
        self.postings.extend(keys.iter().map(|key| Posting { key: spread(*key), size, doc }));
        self.segment.set_last_size(size);
        if self.signed {
            self.segment.sign_last(self.sketcher.own_words_of(set));
        }
    }
}
