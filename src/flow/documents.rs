//! The documents of a run: how they are called, where they stand, what workers take in, and their texts, read again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::document::{Doc, DocumentName, Position};
use crate::error::Result;
use crate::flow::catalogue::Catalogue;
use crate::flow::common_members::apart::CommonMembers;
use crate::flow::intake::unit_queue::UnitQueue;
use crate::flow::memory::sets::Sets;
use crate::flow::request::ProtectedSet;
use crate::flow::stored::ReplayedDocuments;
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::RunInputs;
use crate::read::{Compression, Day, Source, reread};
use crate::sketcher::Sketcher;

/// Documents read again between two looks at whether to stop.
const SLICE: usize = sized(1024, 5);

/// Rows read again at one go: between two goes, the pages of columns are decoded anew.
const OF_ROWS: usize = sized(64 << 10, 7);

/// Stored documents that a worker takes in at a time, at most.
const STRETCH: usize = sized(1024, 3);

/// What a worker takes in at a stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkItem {
    /// A unit of the inputs, by its number.
    Unit(usize),
    /// Some of the stored documents that are there in place of an input.
    Stored(u32, Range<usize>),
}

/// All that so many workers take in, in document order.
fn work_items(
    inputs: &RunInputs,
    replays: &BTreeMap<u32, Arc<dyn ReplayedDocuments>>,
    workers: usize,
) -> Vec<WorkItem> {
    let mut work = Vec::with_capacity(inputs.units.len());
    let mut units = inputs.units.iter().enumerate().peekable();
    for (file, replay) in replays {
        while let Some((at, _)) = units.next_if(|(_, unit)| unit.file < *file) {
            work.push(WorkItem::Unit(at));
        }
        let documents = replay.documents();
        let stretch = (documents / (workers * 8)).clamp(1, STRETCH);
        let starts = (0..documents).step_by(stretch);
        work.extend(starts.map(|from| WorkItem::Stored(*file, from..documents.min(from + stretch))));
    }
    work.extend(units.map(|(at, _)| WorkItem::Unit(at)));
    work
}

/// The documents of a run.
pub struct RunDocuments {
    /// A row for each document.
    pub catalogue: Catalogue,
    /// The inputs that they were read from; none where all documents were replayed.
    pub inputs: RunInputs,
    /// The stored documents that are taken in in place of inputs, by the number of the input.
    pub replays: BTreeMap<u32, Arc<dyn ReplayedDocuments>>,
    /// What workers take in one after the other.
    pub work: Vec<WorkItem>,
    /// The sets of protected documents.
    pub protected: Vec<ProtectedSet>,
    /// Members that no two sets share, as far as they are counted, once they are known.
    ignored: OnceLock<CommonMembers>,
}

impl RunDocuments {
    /// Documents that were read from inputs, or are taken in in place of some of them.
    pub fn new(
        catalogue: Catalogue,
        inputs: RunInputs,
        replays: BTreeMap<u32, Arc<dyn ReplayedDocuments>>,
        protected: Vec<ProtectedSet>,
        workers: usize,
    ) -> RunDocuments {
        let work = work_items(&inputs, &replays, workers);
        RunDocuments { catalogue, inputs, replays, work, protected, ignored: OnceLock::new() }
    }

    /// What a worker takes in next, whose last documents were those of file number `last`; `None` if nothing is left. What
    /// another worker has been given may be read together with it.
    ///
    /// # Errors
    /// Those of [`UnitQueue::take`].
    pub fn take(&self, queue: &UnitQueue, last: Option<u32>) -> Result<Option<WorkItem>> {
        let next = || queue.take().map(|at| self.work.get(at).cloned());
        let unit = |item: &Option<WorkItem>| match item {
            Some(WorkItem::Unit(at)) => Some(*at),
            _ => None,
        };
        let taken = self.inputs.take(next, unit)?;
        Ok(taken.or_else(|| self.inputs.unit_to_join(last).map(WorkItem::Unit)))
    }

    /// From now on these members are none that two sets share.
    pub fn ignore(&self, common: CommonMembers) {
        let first = self.ignored.set(common).is_ok();
        debug_assert!(first, "what is too common is found once");
    }

    /// The members that no two sets share, as far as they are counted.
    pub fn ignored(&self) -> Option<&CommonMembers> {
        self.ignored.get()
    }

    /// The document's id, or `FILE:LINE` if its record has none.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn name(&self, doc: Doc) -> Result<DocumentName<'static>> {
        Ok(match self.catalogue.label(doc)? {
            Some(label) => label.into_owned(),
            None => format!("{}:{}", self.file(doc), self.line(doc)?).into(),
        })
    }

    /// How many of the inputs are protected: the first ones.
    pub fn protected_sources(&self) -> usize {
        ProtectedSet::sources_of(&self.protected)
    }

    /// The inputs that are not protected.
    pub fn own_sources(&self) -> &[Source] {
        &self.inputs.sources[self.protected_sources()..]
    }

    /// How many documents with a token each protected set has; asked once all rows are known.
    pub fn protected_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.protected.len()];
        let docs = self.catalogue.docs_in_order();
        for set in docs.map_while(|doc| self.protected_set(doc)) {
            counts[set] += 1;
        }
        counts
    }

    /// The protected set that a document belongs to, by its place among them; `None` if it is not protected.
    pub fn protected_set(&self, doc: Doc) -> Option<usize> {
        if !self.catalogue.is_protected(doc) {
            return None;
        }
        self.protected_set_of(self.catalogue.position(doc))
    }

    /// The protected set that a place belongs to.
    pub fn protected_set_of(&self, position: Position) -> Option<usize> {
        let mut end = 0;
        self.protected.iter().position(|set| {
            end += set.sources;
            (position.file() as usize) < end
        })
    }

    /// Whether all documents are stored ones, which were not read from inputs.
    pub fn are_replayed(&self) -> bool {
        self.inputs.sources.is_empty()
    }

    /// Whether a document is a stored one, which was not read from an input.
    pub fn is_stored(&self, doc: Doc) -> bool {
        self.replays.contains_key(&self.catalogue.position(doc).file())
    }

    /// Path of the document's file, as the user named it.
    pub fn file(&self, doc: Doc) -> String {
        let position = self.catalogue.position(doc);
        match self.replays.get(&position.file()) {
            Some(replay) => replay.place(position.offset() as usize).0,
            None => self.inputs.sources[position.file() as usize].shown.clone(),
        }
    }

    /// The document's line in its file, counted from 1.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn line(&self, doc: Doc) -> Result<u64> {
        let position = self.catalogue.position(doc);
        Ok(match self.replays.get(&position.file()) {
            Some(replay) => replay.place(position.offset() as usize).1,
            None => self.inputs.line_at(position, self.catalogue.line(doc)?),
        })
    }

    /// The line of a record that was read, in its file, counted from 1, and its id, if it has one.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn line_and_id(&self, doc: Doc) -> Result<(u64, Option<DocumentName<'_>>)> {
        let (line, id) = self.catalogue.name(doc)?;
        Ok((self.inputs.line_at(self.catalogue.position(doc), line), id))
    }

    /// Derives the sets of `docs` (in document order, none twice) from their texts and hands them on; those of
    /// stored documents are stored already. What is too common to be counted is nothing that two of them share.
    ///
    /// # Errors
    /// Those of [`RunDocuments::each_whole_set`].
    pub fn each_set(
        &self,
        docs: &[Doc],
        sketcher: &mut Sketcher,
        progress: &Progress,
        each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let Some(common) = self.ignored() else { return self.each_whole_set(docs, sketcher, progress, each) };
        let mut apart = Vec::new();
        self.each_whole_set(docs, sketcher, progress, &mut |doc, set| {
            if !common.may_be_of(doc) {
                return each(doc, set);
            }
            common.set_apart(doc, set, &mut apart);
            each(doc, &apart)
        })
    }

    /// Derives the sets of documents like [`RunDocuments::each_set`], with whatever is in many of them.
    ///
    /// # Errors
    /// Those of [`RunDocuments::each_text`]; of a collection, those of reading stored sets and [`crate::error::Error::Interrupted`].
    pub fn each_whole_set(
        &self,
        docs: &[Doc],
        sketcher: &mut Sketcher,
        progress: &Progress,
        each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let file = |doc: &Doc| self.catalogue.position(*doc).file();
        let replay = |doc: &Doc| self.replays.get(&file(doc));
        // All texts at one go, but for stored documents between them.
        for some in docs.chunk_by(|a, b| file(a) == file(b) || replay(a).is_none() && replay(b).is_none()) {
            if let Some(replay) = replay(&some[0]) {
                self.each_stored(&**replay, some, progress, each)?;
                continue;
            }
            self.each_text(some, progress, &mut |doc, text, day| {
                sketcher.read(text, day);
                each(doc, sketcher.words())?;
                if self.inputs.fields.room.is_long(text.len()) {
                    sketcher.rest();
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Derives the sets of documents like [`RunDocuments::each_set`] and stores them.
    ///
    /// # Errors
    /// Those of [`RunDocuments::each_set`]; [`crate::error::Error::Io`] if a set cannot be written to a spill file.
    pub fn recall(
        &self,
        docs: &[Doc],
        sketcher: &mut Sketcher,
        progress: &Progress,
        sets: &mut Sets,
    ) -> Result<()> {
        self.each_set(docs, sketcher, progress, &mut |doc, set| sets.insert(doc, set))
    }

    fn each_stored(
        &self,
        replay: &dyn ReplayedDocuments,
        docs: &[Doc],
        progress: &Progress,
        each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let (mut sets, mut set) = (replay.sets(), Vec::new());
        for some in docs.chunks(SLICE) {
            progress.check()?;
            for doc in some {
                let at = self.catalogue.position(*doc).offset() as usize;
                sets.set(at, &mut set)?;
                each(*doc, &set)?;
            }
            progress.advance(some.len() as u64);
        }
        Ok(())
    }

    /// Reads the texts of `docs` (ascending by position, none twice) again.
    ///
    /// # Errors
    /// Those of [`reread`] and of `each`; [`crate::error::Error::Interrupted`] once the run was asked to stop.
    pub fn each_text(
        &self,
        docs: &[Doc],
        progress: &Progress,
        each: &mut dyn FnMut(Doc, &str, Day) -> Result<()>,
    ) -> Result<()> {
        let file = |doc: &Doc| self.catalogue.position(*doc).file();
        for same_file in docs.chunk_by(|a, b| file(a) == file(b)) {
            let number = file(&same_file[0]);
            let source = &self.inputs.sources[number as usize];
            let slice = match source.compression {
                Compression::None if source.is_of_rows() => OF_ROWS,
                Compression::None => SLICE,
                // It can only be read from its start: once, then.
                _ => same_file.len(),
            };
            for some in same_file.chunks(slice) {
                let offsets: Vec<u64> =
                    some.iter().map(|doc| self.catalogue.position(*doc).offset()).collect();
                reread(source, number, &offsets, &self.inputs.fields, &mut |index, text, day| {
                    if index % SLICE == 0 {
                        progress.check()?;
                    }
                    each(some[index], text, day)
                })?;
                progress.advance(some.len() as u64);
            }
        }
        Ok(())
    }
}
