//! What becomes of newcomers: each worker writes it of those that it has read, since nothing older is replaced by them (see
//! [`SettledByLeader`]).

use crate::collection::load::settle::LoadNumbers;
use crate::collection::load::settle::documents::brought_document;
use crate::collection::run::schema::{COMPONENTS, CONTENTS, DIGESTS, DOCUMENTS, LABELS, MEMBERS, SEEN};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::words_of;
use crate::collection::tables::rows::{
    ClusterKey, SeenId, StoredComponent, StoredContent, StoredDigest, StoredMember,
};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{RunParts, id_digest};

#[cfg(doc)]
use crate::flow::SettledByLeader;

/// A newcomer.
#[derive(Clone, Copy, Debug)]
struct Newcomer {
    /// Digest of its id.
    id: u128,
    doc: Doc,
    /// The first document of its text.
    content: Doc,
}

/// The newcomers that one worker has read.
pub(in crate::collection) struct Newcomers<'a> {
    run: &'a RunParts,
    /// In the order they were read.
    found: Vec<Newcomer>,
}

/// How many newcomers a worker has read.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(in crate::collection) struct NewcomerCounts {
    /// Documents.
    pub documents: u64,
    /// Those that are the first of their text.
    pub contents: u64,
    /// Those whose contents have no other document and no link.
    pub alone: u32,
}

impl<'a> Newcomers<'a> {
    /// Those that a worker of this process has read; once only.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn of(run: &'a RunParts, worker: usize) -> Result<Newcomers<'a>> {
        let (catalogue, settled) = (&run.documents.catalogue, run.settled_by_leader());
        let mut copies = run.take_own_copies(worker).into_iter().peekable();
        let mut found = Vec::new();
        for doc in catalogue.docs_of(worker).filter(|doc| !settled.has_document(*doc)) {
            while copies.next_if(|copy| copy.doc < doc).is_some() {}
            let content = copies.peek().filter(|copy| copy.doc == doc).map_or(doc, |copy| copy.first);
            let name = catalogue.label(doc)?;
            let id = id_digest(name.as_deref().unwrap_or_default());
            found.push(Newcomer { id, doc, content });
        }
        Ok(Newcomers { run, found })
    }

    /// How many they are.
    pub fn counts(&self) -> NewcomerCounts {
        NewcomerCounts {
            documents: self.found.len() as u64,
            contents: self.firsts().count() as u64,
            alone: self.alone().count() as u32,
        }
    }

    /// Those that are the first of their text.
    fn firsts(&self) -> impl Iterator<Item = &Newcomer> {
        self.found.iter().filter(|newcomer| newcomer.content == newcomer.doc)
    }

    /// Those whose contents have no other document and no link.
    fn alone(&self) -> impl Iterator<Item = &Newcomer> {
        let settled = self.run.settled_by_leader();
        self.firsts().filter(|newcomer| !settled.has_content(newcomer.doc))
    }

    /// Writes their rows. Components of contents that are alone have labels from `first_label` on. `mentioned` says whether it is
    /// noted that the load mentions their ids.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub fn write(
        mut self,
        run: &mut RunWriter,
        (numbers, first_label, mentioned): (LoadNumbers, u32, bool),
    ) -> Result<()> {
        if self.found.is_empty() {
            return Ok(());
        }
        let labelled = || (first_label..).zip(self.alone().map(|newcomer| newcomer.doc));
        let contents = labelled().map(|(component, doc)| {
            let at = ClusterKey { component, place: 0 };
            StoredContent { content: doc.into(), documents: 1, at }.to_row()
        });
        run.table(CONTENTS, contents)?;
        let components = labelled().map(|(label, doc)| {
            StoredComponent { component: label.into(), content: doc.into(), is: true }.to_row()
        });
        run.table(COMPONENTS, components)?;
        let catalogue = &self.run.documents.catalogue;
        let mut digests: Vec<(u128, Doc)> =
            self.firsts().map(|first| (catalogue.brought(first.doc).digest, first.doc)).collect();
        digests.sort_unstable();
        let digests = digests.into_iter();
        run.table(
            DIGESTS,
            digests.map(|(digest, doc)| StoredDigest { digest, content: doc.into() }.to_row()),
        )?;
        self.found.sort_unstable_by_key(|newcomer| (newcomer.content, newcomer.id));
        let members = self.found.iter().map(|&Newcomer { id, content, .. }| {
            StoredMember { content: content.into(), id, is: true }.to_row()
        });
        run.table(MEMBERS, members)?;
        self.found.sort_unstable_by_key(|newcomer| newcomer.id);
        self.write_documents(run, numbers)?;
        if mentioned {
            let seen = |newcomer: &Newcomer| SeenId { id: newcomer.id, load: numbers.load.into() }.to_row();
            run.table(SEEN, self.found.iter().map(seen))?;
        }
        Ok(())
    }

    /// Writes the documents, which are in the order of their ids.
    fn write_documents(&self, run: &mut RunWriter, numbers: LoadNumbers) -> Result<()> {
        let documents = &self.run.documents;
        run.heap(LABELS)?;
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        for newcomer in &self.found {
            let name = documents.catalogue.label(newcomer.doc)?;
            let (_, value) = documents.catalogue.keep_key(newcomer.doc);
            bytes.clear();
            bytes.extend_from_slice(name.as_deref().unwrap_or_default().as_bytes());
            bytes.extend_from_slice(value.as_bytes());
            words.clear();
            words.extend(words_of(&bytes));
            run.push(&words)?;
        }
        run.rows(DOCUMENTS.kind, DOCUMENTS.shape)?;
        let mut label = 0;
        for Newcomer { id, doc, content } in &self.found {
            let (line, name) = documents.line_and_id(*doc)?;
            let bytes = name.as_deref().unwrap_or_default().len();
            let (mut document, _) = brought_document(self.run, numbers, (*id, *doc, *content), (bytes, line));
            document.label = label;
            label += (document.lengths.0 as u64 + document.lengths.1 as u64).div_ceil(8);
            run.push(&document.to_row())?;
        }
        Ok(())
    }
}
