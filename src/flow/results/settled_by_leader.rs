//! Which documents of a load process 0 settles. All others are *newcomers*: of these each process writes itself what it has read.
//!
//! A newcomer is the last record of an id that no row of the collection tells of, and its text is none that a row tells of. So
//! nothing older is replaced by it, and what is written of it needs no older row. What becomes of its content is known where it
//! was read, too, if the content has no other document and is linked to nothing.

use crate::document::{Doc, NO_DOC};
use crate::flow::memory::document_bits::{is_set, set};
use crate::flow::results::gathered::Gathered;
use crate::flow::results::hot_groups::HotGroup;
use crate::limits::sized;

/// Documents of a load, a bit each, counted from its first one on.
#[derive(Debug, Default)]
pub struct SettledByLeader {
    base: Doc,
    /// Those that are no newcomers.
    documents: Vec<u64>,
    /// Those whose contents have other documents, or are linked to others, or may be.
    contents: Vec<u64>,
}

/// A piece of it, on its way to another process.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum SettledPiece {
    /// Bits of documents from a word on.
    Documents(u32, Vec<u64>),
    /// Bits of contents from a word on.
    Contents(u32, Vec<u64>),
}

/// Words of a piece.
const PIECE: usize = sized(8 << 10, 2);

impl SettledByLeader {
    /// What follows from what all workers have found; documents are numbered from `base` on, and all below `limit`.
    pub fn of(gathered: &Gathered, base: Doc, limit: usize) -> SettledByLeader {
        let words = limit.saturating_sub(base as usize).div_ceil(64);
        let mut settled = SettledByLeader { base, documents: vec![0; words], contents: vec![0; words] };
        let changed = gathered.changes.iter().filter_map(|change| change.doc);
        changed.chain(gathered.superseded_docs.iter().copied()).for_each(|doc| settled.add_document(doc));
        gathered.brought_back.iter().for_each(|doc| settled.add_document(*doc));
        for copy in &gathered.copies {
            if copy.first < base {
                settled.add_document(copy.doc);
            } else if copy.first != NO_DOC {
                settled.add_content(copy.first);
            }
        }
        let linked = gathered.links.iter().flat_map(|link| <[Doc; 2]>::from(link.pair.docs()));
        let hot = gathered.hot_groups.iter().flat_map(HotGroup::docs).copied();
        linked.chain(hot).for_each(|doc| settled.add_content(doc));
        // The content of what is no newcomer is touched by it.
        for word in 0..settled.documents.len() {
            settled.contents[word] |= settled.documents[word];
        }
        settled
    }

    fn add_document(&mut self, doc: Doc) {
        set(&mut self.documents, doc - self.base);
    }

    fn add_content(&mut self, doc: Doc) {
        if let Some(row) = doc.checked_sub(self.base).filter(|_| doc != NO_DOC) {
            set(&mut self.contents, row);
        }
    }

    /// Whether a document of the load is no newcomer.
    pub fn has_document(&self, doc: Doc) -> bool {
        is_set(&self.documents, doc - self.base)
    }

    /// Whether process 0 settles what becomes of the content that a document of the load is the first of.
    pub fn has_content(&self, doc: Doc) -> bool {
        is_set(&self.contents, doc - self.base)
    }

    /// All of it, in pieces.
    pub fn pieces(&self) -> Vec<SettledPiece> {
        let from = |at: usize| (at * PIECE) as u32;
        let documents = self.documents.chunks(PIECE).enumerate();
        let contents = self.contents.chunks(PIECE).enumerate();
        documents
            .map(|(at, words)| SettledPiece::Documents(from(at), words.to_vec()))
            .chain(contents.map(|(at, words)| SettledPiece::Contents(from(at), words.to_vec())))
            .collect()
    }

    /// Takes in a piece, of documents from `base` on.
    pub fn take(&mut self, base: Doc, piece: SettledPiece) {
        self.base = base;
        let (bits, from, words) = match piece {
            SettledPiece::Documents(from, words) => (&mut self.documents, from as usize, words),
            SettledPiece::Contents(from, words) => (&mut self.contents, from as usize, words),
        };
        let end = from + words.len();
        bits.resize(bits.len().max(end), 0);
        bits[from..end].copy_from_slice(&words);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::records::{Candidate, Change, ChangeKind, ExactDuplicate, Pair};

    const BASE: Doc = 8;
    const LIMIT: Doc = 300;

    /// What some workers have found: documents of changes, superseded ones, ones with a text from before; copies; links.
    fn gathered(
        (changed, superseded, back): (Vec<Doc>, Vec<Doc>, Vec<Doc>),
        copies: &[(Doc, Option<Doc>)],
        links: &[(Doc, Doc)],
    ) -> Gathered {
        let change =
            |doc| Change { id: u128::from(doc), position: 0, doc: Some(doc), kind: ChangeKind::Empty };
        let copy =
            |(doc, first): &(Doc, Option<Doc>)| ExactDuplicate { doc: *doc, first: first.unwrap_or(NO_DOC) };
        let link = |(a, b): &(Doc, Doc)| Candidate { pair: Pair::new(*a, *b), shared: 1 };
        let mut gathered = Gathered::default();
        gathered.changes = changed.into_iter().map(change).collect();
        (gathered.superseded_docs, gathered.brought_back) = (superseded, back);
        gathered.copies = copies.iter().map(copy).collect();
        gathered.links = links.iter().map(link).collect();
        gathered
    }

    proptest! {
        /// Beside the obvious: whoever is named anywhere. In pieces it comes to the same.
        #[test]
        fn newcomers_are_what_nothing_speaks_of(
            some in (prop::collection::vec(BASE..LIMIT, 0..9), prop::collection::vec(BASE..LIMIT, 0..9), prop::collection::vec(BASE..LIMIT, 0..9)),
            copies in prop::collection::vec((BASE..LIMIT, prop::option::of(0..LIMIT)), 0..20),
            links in prop::collection::vec((0..LIMIT, BASE..LIMIT), 0..20),
        ) {
            let links: Vec<_> = links.into_iter().filter(|(a, b)| a != b).collect();
            let gathered = gathered(some.clone(), &copies, &links);
            let settled = SettledByLeader::of(&gathered, BASE, LIMIT as usize);
            let mut told = SettledByLeader::default();
            settled.pieces().into_iter().rev().for_each(|piece| told.take(BASE, piece));
            for doc in BASE..LIMIT {
                let known = [&some.0, &some.1, &some.2].iter().any(|docs| docs.contains(&doc))
                    || copies.iter().any(|(copy, first)| *copy == doc && first.is_some_and(|first| first < BASE));
                let touched = known
                    || copies.iter().any(|(_, first)| *first == Some(doc))
                    || links.iter().any(|(a, b)| *a == doc || *b == doc);
                for settled in [&settled, &told] {
                    prop_assert_eq!(settled.has_document(doc), known);
                    prop_assert_eq!(settled.has_content(doc), touched);
                }
            }
        }
    }
}
