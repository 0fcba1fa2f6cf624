//! Documents that are stored, taken in in place of inputs: what comes behind the intake is the same for both.

use std::fmt::Debug;

use super::Shared;
use super::catalogue::Doc;
use super::collide::Posting;
use super::dedup_exact::{Arrival, NO_DOC};
use super::intake::{Intake, spread};
use super::recall::Sets;
use crate::document::Position;
use crate::error::Result;
use crate::metrics::Metric;

/// Stored documents, numbered from 0 in document order.
pub trait Replay: Debug + Send + Sync {
    /// How many there are.
    fn documents(&self) -> usize;

    /// Bytes of the sets of all of them, eight a member: a measure of the work.
    fn bytes(&self) -> u64;

    /// Document number `at`, below [`Replay::documents`].
    fn document(&self, at: usize) -> Replayed<'_>;

    /// The stored set of the content of a document, which replaces what is in `set`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    fn set(&self, content: Doc, set: &mut Vec<u64>) -> Result<()>;

    /// The file of document number `at`, as people are shown it, and its line, counted from 1.
    fn place(&self, at: usize) -> (String, u64);
}

/// A stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed<'a> {
    /// Its id.
    pub id: &'a str,
    /// The number of its canonical text, the same for equal texts and no others; [`NO_DOC`] for one without a token.
    pub content: Doc,
    /// Members of its set.
    pub size: u32,
    /// Bytes of its text.
    pub text_bytes: u32,
    /// What the keep policy of the run compares, as [`super::Catalogue::worth`] gives it.
    pub worth: u64,
    /// The string that `worth` stands for, if it is one.
    pub value: &'a str,
}

/// Documents that a worker takes at a time.
const STRETCH: usize = 1024;

impl Intake {
    /// Takes in stored documents until none is left, calling `send` once a stretch.
    pub fn replay(
        &mut self,
        shared: &Shared,
        replay: &dyn Replay,
        mut send: impl FnMut(&mut Intake),
    ) -> Result<()> {
        let (documents, mut set) = (replay.documents(), Vec::new());
        let stretch = (documents / (shared.crew.all() * 8)).clamp(1, STRETCH);
        loop {
            let from = shared.take_unit()?.saturating_mul(stretch);
            if from >= documents || shared.failed() {
                return Ok(());
            }
            let (mut members, before) = (0, self.documents());
            for at in from..documents.min(from + stretch) {
                let document = replay.document(at);
                self.take_again(replay, at, &document, &mut set)?;
                members += u64::from(document.size);
            }
            shared.progress.advance(members * 8);
            shared.progress.metrics().add(Metric::Units, 1);
            shared.progress.metrics().add(Metric::ReadBytes, members * 8);
            shared.progress.add_documents(self.documents() - before);
            send(self);
            self.allow_rows(shared)?;
            shared.progress.check()?;
        }
    }

    /// Takes in a stored document.
    fn take_again(
        &mut self,
        replay: &dyn Replay,
        at: usize,
        document: &Replayed<'_>,
        set: &mut Vec<u64>,
    ) -> Result<()> {
        self.text_bytes += u64::from(document.text_bytes);
        if document.content == NO_DOC {
            self.empty += 1;
            return Ok(());
        }
        let doc = self.next_doc()?;
        let position = Position::new(0, at as u64);
        self.segment.push_stored(position, document.id, document.worth, document.value)?;
        // A content is one text and no other: its number does for a digest, once it is spread over the workers.
        let number = u64::from(document.content);
        let digest = u128::from(spread(number)) << 64 | u128::from(number);
        self.arrivals.push(Arrival::new(digest, doc, position.to_bits()));
        if !self.exact && !self.met(digest) {
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

/// Fetches the sets of `docs` again.
pub fn recall_stored(shared: &Shared, replay: &dyn Replay, docs: &[Doc], sets: &mut Sets) -> Result<()> {
    let mut set = Vec::new();
    for some in docs.chunks(STRETCH) {
        shared.progress.check()?;
        for doc in some {
            let at = shared.catalogue.position(*doc).offset() as usize;
            replay.set(replay.document(at).content, &mut set)?;
            sets.insert(*doc, &set)?;
        }
        shared.progress.advance(some.len() as u64);
    }
    Ok(())
}
