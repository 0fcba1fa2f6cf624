//! Stored documents, taken in in place of inputs: what comes behind the intake is the same for both.

use std::ops::Range;
use std::sync::Arc;

use crate::document::{Doc, NO_DOC, Position};
use crate::error::Result;
use crate::flow::intake::{Intake, KEPT, post};
use crate::flow::records::Arrival;
use crate::flow::stored::{Replayed, ReplayedDocuments, ReplayedSets};
use crate::metrics::Metric;
use crate::read::DocumentSink as _;

impl Intake {
    /// Takes in some stored documents, which are there in place of an input, calling `send` behind long ones.
    pub(super) fn replay(
        &mut self,
        replay: &dyn ReplayedDocuments,
        file: u32,
        some: Range<usize>,
        send: &mut impl FnMut(&mut Intake),
    ) -> Result<()> {
        let context = Arc::clone(&self.context);
        let (progress, metrics) = (&context.status.progress, context.status.progress.metrics());
        let (mut members, before) = (0, self.documents());
        let (mut sets, mut set) = (replay.sets(), Vec::new());
        for at in some {
            let document = replay.document(at);
            self.take_again(Position::new(file, at as u64), &document, &mut set, &mut *sets)?;
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
        Ok(())
    }

    /// Takes in a stored document.
    fn take_again(
        &mut self,
        position: Position,
        document: &Replayed<'_>,
        set: &mut Vec<u64>,
        sets: &mut dyn ReplayedSets,
    ) -> Result<()> {
        let is_protected = self.is_protected(position);
        let tally = &mut self.results.tally;
        match is_protected {
            true => tally.protected += 1,
            false => tally.text_bytes += u64::from(document.text_bytes),
        }
        if document.content == NO_DOC {
            self.protected_empty += u64::from(is_protected);
            tally.empty += u64::from(!is_protected);
            return Ok(());
        }
        let doc = self.next_doc()?;
        self.segment.push_stored(position, document)?;
        if let Some(salt) = document.salt {
            self.segment.salt_last(salt);
        }
        self.arrivals.push(Arrival::new(document.digest, doc, position.to_bits()));
        if self.has_keys && !self.has_seen(document.digest) {
            sets.set(position.offset() as usize, set)?;
            self.sketch_again(doc, document.salt.unwrap_or(0), set);
        }
        Ok(())
    }

    /// Sketches the last row's text by its set. Keys of different salts are different.
    fn sketch_again(&mut self, doc: Doc, salt: u64, set: &[u64]) {
        let size = if self.posts_keys {
            post(&mut self.postings, self.sketcher.keys_of(set), (doc, salt), self.posted_bits)
        } else {
            self.sketcher.posted_of(set)
        };
        self.segment.set_last_size(size);
        if self.signed {
            self.segment.sign_last(self.sketcher.own_words_of(set));
        }
    }
}
