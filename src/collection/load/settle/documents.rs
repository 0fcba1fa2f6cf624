//! What becomes of each document.

use hashbrown::HashMap;

use super::{Delta, LoadNumbers, Settling};
use crate::collection::tables::Tables;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::newest_documents;
use crate::collection::tables::member::Member;
use crate::document::{Doc, NO_DOC, Position};
use crate::error::Result;
use crate::flow::{Change, ChangeKind, Loaded, RunParts};
use crate::limits::sized;
use crate::threads::in_threads;

/// Fewer changes than this are not worth a thread.
const FEW: usize = sized(4096, 2);

impl Settling<'_> {
    /// Works out what becomes of each document that the load speaks of. One that an earlier epoch has changed, and that is now what
    /// it was before the load, stands where it stood: in one epoch it would never have changed.
    pub(super) fn change_documents(&mut self, before: &Tables) -> Result<()> {
        let loaded = self.loaded;
        let firsts = loaded.copies.iter().filter(|copy| copy.first != NO_DOC);
        let first: HashMap<Doc, Doc> = firsts.map(|copy| (copy.doc, copy.first)).collect();
        let changed = |(_, change): &(usize, &Change)| change.kind != ChangeKind::Unchanged;
        let changes = loaded.changes.iter().enumerate().filter(changed);
        let mut order: Vec<(u128, usize)> = changes.map(|(at, change)| (change.id, at)).collect();
        order.sort_unstable();
        let ids: Vec<u128> = order.iter().map(|(id, _)| *id).collect();
        let stored = newest_documents(self.tables, &ids, false)?;
        let in_this_load =
            |id: &u128| stored.get(id).is_some_and(|old| old.document.loads.1 == self.numbers.load);
        let again: Vec<u128> = ids.into_iter().filter(in_this_load).collect();
        let originals = newest_documents(before, &again, false)?;
        let known = DocumentsBefore {
            loaded,
            numbers: self.numbers,
            first: &first,
            stored: &stored,
            originals: &originals,
        };
        let threads = loaded.run.context.topology.workers();
        let parts = order.chunks(order.len().div_ceil(threads).max(FEW));
        let changed = in_threads(parts, |part| known.changes(part))?;
        changed.into_iter().for_each(|changed| self.take_in(changed));
        Ok(())
    }

    /// Documents go that are there.
    pub(super) fn remove_all(&mut self, gone: &[u128]) -> Result<()> {
        let mut changes = DocumentChanges { load: self.numbers.load, ..DocumentChanges::default() };
        for (id, member) in newest_documents(self.tables, gone, true)? {
            changes.remove(id, Some(&member.document), member.name);
        }
        self.take_in(changes);
        Ok(())
    }

    fn take_in(&mut self, mut changes: DocumentChanges) {
        let Delta { documents, members, superseded, .. } = &mut self.delta;
        self.touched.extend(changes.members.iter().map(|((content, _), _)| *content));
        documents.append(&mut changes.documents);
        members.append(&mut changes.members);
        *superseded += changes.superseded;
    }
}

/// What is known of the documents that change.
struct DocumentsBefore<'a> {
    loaded: &'a Loaded,
    numbers: LoadNumbers,
    /// The first document of its text, of each copy.
    first: &'a HashMap<Doc, Doc>,
    /// Documents as they are stored, and those that this load has changed as they were before it.
    stored: &'a HashMap<u128, Member>,
    originals: &'a HashMap<u128, Member>,
}

impl DocumentsBefore<'_> {
    /// What becomes of the documents of these changes: those at these places, with the digests of their ids.
    fn changes(&self, places: &[(u128, usize)]) -> Result<DocumentChanges> {
        let mut changes = DocumentChanges { load: self.numbers.load, ..DocumentChanges::default() };
        changes.documents.reserve(places.len());
        for (id, at) in places {
            let change = &self.loaded.changes[*at];
            let Some(doc) = change.doc else { continue };
            let old = self.stored.get(id).map(|member| &member.document);
            let old = old.filter(|old| old.live || old.loads.1 == self.numbers.load);
            let (line, name) = self.loaded.run.documents.line_and_id(doc)?;
            let name = name.map(String::from).unwrap_or_default();
            let content = match change.kind {
                ChangeKind::Delete => {
                    changes.remove(*id, old, name);
                    continue;
                }
                ChangeKind::Text(_) => self.first.get(&doc).copied().unwrap_or(doc),
                ChangeKind::Empty | ChangeKind::Unchanged => NO_DOC,
            };
            let run = &self.loaded.run;
            let (mut document, value) =
                brought_document(run, self.numbers, (*id, doc, content), (name.len(), line));
            document.loads.0 = old.map_or(self.numbers.load, |old| old.loads.0);
            // Back to what it was before the load, it never was away.
            let original = self.originals.get(id).map(|member| &member.document);
            let again = |original: &&Document| original.live && original.fingerprint == document.fingerprint;
            if let Some(original) = original.filter(again) {
                document.loads = original.loads;
                (document.position, document.line) = (original.position, original.line);
            }
            changes.put(old, document, name, value.to_owned());
        }
        Ok(changes)
    }
}

/// A document with its content as a load brings it, if its id is new, and the value that the keep policy compares. Its id has so
/// many bytes, and its record is on this line.
pub(in crate::collection::load) fn brought_document(
    run: &RunParts,
    numbers: LoadNumbers,
    (id, doc, content): (u128, Doc, Doc),
    (bytes, line): (usize, u64),
) -> (Document, &str) {
    let catalogue = &run.documents.catalogue;
    let (worth, value) = catalogue.keep_key(doc);
    let position = catalogue.position(doc);
    let position = Position::new(position.file() + numbers.first_file, position.offset());
    let document = Document {
        id,
        content,
        live: true,
        loads: (numbers.load, numbers.load),
        position: position.to_bits(),
        fingerprint: catalogue.brought(doc).fingerprint,
        label: 0,
        lengths: (bytes as u32, value.len() as u32),
        worth,
        version: doc,
        line: u32::try_from(line).unwrap_or(u32::MAX),
        text_bytes: u64::from(catalogue.text_bytes(doc)),
    };
    (document, value)
}

/// What becomes of some documents, and of their contents by that.
#[derive(Debug, Default)]
struct DocumentChanges {
    /// The load.
    load: u32,
    documents: Vec<(Document, String, String)>,
    members: Vec<((Doc, u128), bool)>,
    superseded: u64,
}

impl DocumentChanges {
    /// A document is this one now. `old` is what it was.
    fn put(&mut self, old: Option<&Document>, document: Document, name: String, value: String) {
        self.supersede(old);
        let (id, content) = (document.id, document.content);
        if old.is_none_or(|old| old.content != content) {
            old.into_iter().for_each(|old| self.count(old.content, id, false));
            self.count(content, id, true);
        }
        self.documents.push((document, name, value));
    }

    /// A document goes. One that is not there leaves a row all the same: from it the load knows what it did not find.
    fn remove(&mut self, id: u128, old: Option<&Document>, name: String) {
        let lengths = (name.len() as u32, 0);
        let loads = (old.map_or(self.load, |old| old.loads.0), self.load);
        let gone = Document { loads, lengths, ..Document::gone(id) };
        self.supersede(old);
        old.into_iter().for_each(|old| self.count(old.content, id, false));
        self.documents.push((gone, name, String::new()));
    }

    /// Counts a document that the load brought in an earlier epoch.
    fn supersede(&mut self, old: Option<&Document>) {
        self.superseded += u64::from(old.is_some_and(|old| old.loads.1 == self.load));
    }

    /// Counts a document into or out of a content.
    fn count(&mut self, content: Doc, id: u128, comes: bool) {
        if content != NO_DOC {
            self.members.push(((content, id), comes));
        }
    }
}
