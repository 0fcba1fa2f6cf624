//! Texts of a collection's documents, read again from the records that the collection keeps or from the files that were loaded;
//! and pairs of them, related word by word.

use std::collections::BTreeMap;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::recompute::replay::{Origin, Replay};
use crate::collection::tables::records::records_in_order;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::{Outcome, Reason, Related};
use crate::read::{Fields, Source, record_text, reread};

/// Takes the text of a document.
type Each<'a> = dyn FnMut(Doc, &str) -> Result<()> + 'a;

/// What it takes to read texts.
struct Reading<'a> {
    snapshot: &'a Snapshot,
    outcome: &'a Outcome,
    replay: &'a Replay,
    fields: Fields,
    /// The files, each as it was loaded, unless records are kept.
    files: BTreeMap<u32, Source>,
}

impl Snapshot {
    /// How the texts of all pairs of an outcome of [`Snapshot::recompute_with_origins`] relate.
    ///
    /// # Errors
    /// [`Error::Input`] if a text cannot be had any more, with what to do; [`Error::Changed`] if a file changes meanwhile;
    /// [`Error::Io`], [`Error::Damaged`] and [`Error::Interrupted`].
    pub fn related(&self, outcome: &Outcome, replay: &Replay) -> Result<Related> {
        let pairs = outcome.findings.pairs.as_deref().unwrap_or_default();
        let near = pairs.iter().filter(|(.., reason)| *reason != Reason::Exact);
        let reading = Reading::new((self, outcome, replay), near.flat_map(|(a, b, ..)| [*a, *b]))?;
        Related::new(&outcome.run.sets, &[], pairs, &|docs, each| reading.texts(docs, each))
    }

    /// Hands the texts of some documents of such an outcome to `each`, in any order, each once.
    ///
    /// # Errors
    /// Those of [`Snapshot::related`], and of `each`.
    pub fn each_text(
        &self,
        (outcome, replay): (&Outcome, &Replay),
        docs: &[Doc],
        each: &mut dyn FnMut(Doc, &str) -> Result<()>,
    ) -> Result<()> {
        Reading::new((self, outcome, replay), docs.iter().copied())?.texts(docs, each)
    }
}

impl<'a> Reading<'a> {
    /// Opens what the texts of `docs` stand in.
    fn new(
        (snapshot, outcome, replay): (&'a Snapshot, &'a Outcome, &'a Replay),
        docs: impl Iterator<Item = Doc>,
    ) -> Result<Reading<'a>> {
        let fields = Fields::of(&snapshot.manifest().config.input)?;
        let mut reading = Reading { snapshot, outcome, replay, fields, files: BTreeMap::new() };
        if !snapshot.manifest().store_text {
            for doc in docs {
                reading.open(reading.origin(doc).file)?;
            }
        }
        Ok(reading)
    }

    fn origin(&self, doc: Doc) -> Origin {
        self.replay.origin(self.outcome.run.documents.catalogue.position(doc).offset() as usize)
    }

    /// Opens a file, unless it is open. All of it is held against what was loaded.
    fn open(&mut self, file: u32) -> Result<()> {
        if !self.files.contains_key(&file) {
            let entry = &self.replay.sources()[&file];
            self.files.insert(file, entry.open_or_advise(&self.outcome.run.context.status.progress)?);
        }
        Ok(())
    }

    fn texts(&self, docs: &[Doc], each: &mut Each<'_>) -> Result<()> {
        let mut docs: Vec<(Origin, Doc)> = docs.iter().map(|doc| (self.origin(*doc), *doc)).collect();
        if self.files.is_empty() {
            docs.sort_unstable_by_key(|(origin, _)| origin.version);
            return self.stored(&docs, each);
        }
        docs.sort_unstable();
        for docs in docs.chunk_by(|(a, _), (b, _)| a.file == b.file) {
            let file = docs[0].0.file;
            let offsets: Vec<u64> = docs.iter().map(|(origin, _)| origin.offset).collect();
            reread(&self.files[&file], file, &offsets, &self.fields, &mut |at, text, _| {
                self.step()?;
                each(docs[at].1, text)
            })?;
        }
        Ok(())
    }

    /// Texts of records that are kept, ascending by version.
    fn stored(&self, docs: &[(Origin, Doc)], each: &mut Each<'_>) -> Result<()> {
        let mut versions = docs.iter().map(|(origin, _)| u64::from(origin.version));
        let mut found = 0;
        records_in_order(&self.snapshot.tables(), &mut versions, &mut |at, raw| {
            self.step()?;
            found += 1;
            let text = self.text_of(&docs[at].0, &raw)?;
            each(docs[at].1, &text)
        })?;
        if found < docs.len() {
            return Err(self.damaged("records that should be kept are in no run"));
        }
        Ok(())
    }

    fn text_of(&self, origin: &Origin, raw: &[u8]) -> Result<String> {
        let format = self.replay.sources()[&origin.file].format;
        record_text(format, raw, &self.fields)
            .map(|(text, _)| text)
            .map_err(|refusal| self.damaged(&format!("a record that is none: {refusal}")))
    }

    fn damaged(&self, what: &str) -> Error {
        let path = self.snapshot.runs().last().map_or_else(Default::default, |run| run.path().to_path_buf());
        Error::damaged(&path, 0, what.to_owned())
    }

    fn step(&self) -> Result<()> {
        self.outcome.run.context.status.progress.advance(1);
        self.outcome.run.context.status.progress.check()
    }
}
