//! What becomes of newcomers: each worker writes it of those that it has read, since nothing older is replaced by them (see
//! [`SettledByLeader`]).

use crate::collection::load::settle::LoadNumbers;
use crate::collection::load::settle::documents::brought_document;
use crate::collection::load::settle::documents_by_id::DocumentsById;
use crate::collection::run::schema::{COMPONENTS, CONTENTS, DIGESTS, LABELS, MEMBERS};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::rows::{
    ClusterKey, StoredComponent, StoredContent, StoredDigest, StoredMember,
};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{RunDocuments, RunParts, Share, id_digest};

#[cfg(doc)]
use crate::flow::SettledByLeader;

/// Bytes of id and value that a record of a load is charged with beside what else is held of a newcomer.
const LABEL: u64 = 48;

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
    worker: usize,
    /// In the order they were read.
    found: Vec<Newcomer>,
    /// Bytes of their ids, and of the values that the keep policy compares.
    label_bytes: u64,
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
        let settled = run.settled_by_leader();
        let mut copies = run.take_own_copies(worker).into_iter().peekable();
        let (mut found, mut label_bytes) = (Vec::new(), 0);
        run.documents.catalogue.each_name(worker, |doc, (_, name)| {
            if settled.has_document(doc) {
                return Ok(());
            }
            while copies.next_if(|copy| copy.doc < doc).is_some() {}
            let content = copies.peek().filter(|copy| copy.doc == doc).map_or(doc, |copy| copy.first);
            let id = id_digest(name.as_deref().unwrap_or_default());
            let value = run.documents.catalogue.keep_key(doc).1;
            label_bytes += (name.as_deref().map_or(0, str::len) + value.len()) as u64;
            found.push(Newcomer { id, doc, content });
            Ok(())
        })?;
        Ok(Newcomers { run, worker, found, label_bytes })
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
        self,
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
        run.table(
            MEMBERS,
            self.members()
                .map(|(content, id)| StoredMember { content: content.into(), id, is: true }.to_row()),
        )?;
        self.write_documents(run, numbers, mentioned)
    }

    /// The contents with the ids of their documents, ascending.
    fn members(&self) -> impl Iterator<Item = (Doc, u128)> {
        let copies = self.found.iter().filter(|newcomer| newcomer.content != newcomer.doc);
        let mut copies: Vec<(Doc, u128)> = copies.map(|copy| (copy.content, copy.id)).collect();
        copies.sort_unstable();
        let mut copies = copies.into_iter().peekable();
        // These come in the order of their contents.
        let mut firsts = self.firsts().map(|first| (first.content, first.id)).peekable();
        std::iter::from_fn(move || {
            let first = firsts.next_if(|first| copies.peek().is_none_or(|copy| first < copy));
            first.or_else(|| copies.next())
        })
    }

    /// Writes the documents.
    fn write_documents(&self, run: &mut RunWriter, numbers: LoadNumbers, mentioned: bool) -> Result<()> {
        let RunDocuments { catalogue, inputs, .. } = &*self.run.documents;
        let labels = self.run.context.memory.budget.part(Share::Labels);
        let most = labels.saturating_add(LABEL * self.found.len() as u64);
        let mut documents = DocumentsById::new(self.found.len(), self.label_bytes, most);
        run.heap(LABELS)?;
        while documents.begin() {
            let mut found = self.found.iter().peekable();
            catalogue.each_name(self.worker, |doc, (line, name)| {
                let newcomer = found.next_if(|newcomer| newcomer.doc == doc);
                let Some(newcomer) = newcomer.filter(|newcomer| documents.wants(newcomer.id)) else {
                    return Ok(());
                };
                let name = name.as_deref().unwrap_or_default();
                let line = inputs.line_at(catalogue.position(doc), line);
                let ids = (newcomer.id, doc, newcomer.content);
                let (document, value) = brought_document(self.run, numbers, ids, (name.len(), line));
                documents.push(document, name, value);
                Ok(())
            })?;
            documents.write_labels(run)?;
        }
        documents.write(run, mentioned.then_some(numbers.load))
    }
}
