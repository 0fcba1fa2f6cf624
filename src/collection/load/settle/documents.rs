//! What becomes of each document.

use hashbrown::HashMap;

use super::Settling;
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::newest_documents;
use crate::document::{Doc, NO_DOC, Position};
use crate::error::Result;
use crate::flow::{Change, ChangeKind, id_digest};

impl Settling<'_> {
    /// Works out what becomes of each document that the load speaks of. One that an earlier epoch has changed, and that is now what
    /// it was `before` the load, stands where it stood: in one epoch it would never have changed.
    pub(super) fn change_documents(&mut self, before: &Tables) -> Result<()> {
        let firsts = self.loaded.copies.iter().filter(|copy| copy.first != NO_DOC);
        let first: HashMap<Doc, Doc> = firsts.map(|copy| (copy.doc, copy.first)).collect();
        let changed = |change: &&Change| change.kind != ChangeKind::Unchanged;
        let mut changes: Vec<&Change> = self.loaded.changes.iter().filter(changed).collect();
        changes.sort_unstable_by_key(|change| change.id);
        let ids: Vec<u128> = changes.iter().map(|change| change.id).collect();
        let stored = newest_documents(self.tables, &ids, false)?;
        let in_this_load =
            |id: &u128| stored.get(id).is_some_and(|old| old.document.loads.1 == self.terms.load);
        let again: Vec<u128> = ids.iter().copied().filter(in_this_load).collect();
        let originals = newest_documents(before, &again, false)?;
        for change in changes {
            let Some(doc) = change.doc else { continue };
            let old = stored.get(&change.id).map(|member| &member.document);
            let old = old.filter(|old| old.live || old.loads.1 == self.terms.load);
            let name = self.loaded.run.documents.catalogue.label(doc)?.map(String::from).unwrap_or_default();
            let content = match change.kind {
                ChangeKind::Delete => {
                    self.remove(change.id, old, name);
                    continue;
                }
                ChangeKind::Text(_) => first.get(&doc).copied().unwrap_or(doc),
                ChangeKind::Empty | ChangeKind::Unchanged => NO_DOC,
            };
            let original = originals.get(&change.id).map(|member| &member.document);
            let original =
                original.filter(|original| original.live && original.fingerprint == change.fingerprint);
            self.put((old, original), content, name, doc, change.fingerprint)?;
        }
        Ok(())
    }

    /// A document has this content now. `old` is what it was, and whether that is gone since an earlier epoch of the load:
    /// then it never was away. `original` is what it was before the load, if it is that again.
    fn put(
        &mut self,
        (old, original): (Option<&Document>, Option<&Document>),
        content: Doc,
        name: String,
        doc: Doc,
        fingerprint: u128,
    ) -> Result<()> {
        let catalogue = &self.loaded.run.documents.catalogue;
        let (worth, value) = catalogue.keep_key(doc);
        let value = value.to_owned();
        let position = catalogue.position(doc);
        let position = Position::new(position.file() + self.terms.first_file, position.offset()).to_bits();
        let id = id_digest(&name);
        let loads = (old.map_or(self.terms.load, |old| old.loads.0), self.terms.load);
        let loads = original.map_or(loads, |original| original.loads);
        let line = u32::try_from(self.loaded.run.documents.line(doc)?).unwrap_or(u32::MAX);
        let lengths = (name.len() as u32, value.len() as u32);
        let document = Document {
            id,
            content,
            live: true,
            loads,
            position: original.map_or(position, |original| original.position),
            fingerprint,
            label: 0,
            lengths,
            worth,
            version: doc,
            line: original.map_or(line, |original| original.line),
            text_bytes: u64::from(catalogue.text_bytes(doc)),
        };
        self.supersede(old);
        if old.is_none_or(|old| old.content != content) {
            old.into_iter().for_each(|old| self.count(old.content, id, false));
            self.count(content, id, true);
        }
        self.delta.documents.push((document, name, value));
        Ok(())
    }

    /// A document goes. One that is not there leaves a row all the same: from it the load knows what it did not find.
    fn remove(&mut self, id: u128, old: Option<&Document>, name: String) {
        let lengths = (name.len() as u32, 0);
        let loads = (old.map_or(self.terms.load, |old| old.loads.0), self.terms.load);
        let gone = Document { loads, lengths, ..Document::gone(id) };
        self.supersede(old);
        old.into_iter().for_each(|old| self.count(old.content, id, false));
        self.delta.documents.push((gone, name, String::new()));
    }

    /// Documents go that are there.
    pub(super) fn remove_all(&mut self, gone: &[u128]) -> Result<()> {
        for (id, member) in newest_documents(self.tables, gone, true)? {
            self.remove(id, Some(&member.document), member.name);
        }
        Ok(())
    }

    /// Counts a document that the load brought in an earlier epoch.
    fn supersede(&mut self, old: Option<&Document>) {
        self.delta.superseded += u64::from(old.is_some_and(|old| old.loads.1 == self.terms.load));
    }

    /// Counts a document into or out of a content.
    fn count(&mut self, content: Doc, id: u128, comes: bool) {
        if content != NO_DOC {
            self.delta.members.push(((content, id), comes));
            self.contents.entry(content).or_default();
        }
    }
}
