//! What tells of two documents, before their sets are looked at, whether they may be linked: sizes, signatures, and how many keys they
//! share.

use std::sync::Arc;

use crate::document::Doc;
use crate::flow::catalogue::CatalogueRow;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::second_collision::spared::HotKeys;
use crate::similarity::AcceptanceRule;
use crate::sketch::may_differ_by;

/// Which keys of two documents were counted as shared.
pub enum Prefixes {
    /// All that either shows, but hot keys: under how many of these documents stand.
    Equal(Arc<HotKeys>),
    /// Those of the indexing prefix of the smaller one, which may be the fewest there must be: a bit for each such document.
    Indexed(Arc<DocumentBits>),
}

/// A document by the size of its set and the signature of it, which is empty where there is none.
#[derive(Clone, Copy)]
pub struct Outline<'a> {
    /// The document.
    pub doc: Doc,
    /// Members of its set.
    pub size: u32,
    /// Their signature.
    pub signature: &'a [u64],
}

impl DocumentSets {
    /// The outline of a document. Signatures of stored ones are looked up when all candidates are known.
    pub fn outline(&self, doc: Doc) -> Outline<'_> {
        if self.is_stored(doc) {
            return self.outline_with(doc, &[]);
        }
        let row = self.documents.catalogue.row(doc);
        Outline { doc, size: row.size(), signature: row.signature() }
    }

    /// The outline of a document whose signature was found elsewhere.
    pub fn outline_with<'a>(&self, doc: Doc, signature: &'a [u64]) -> Outline<'a> {
        Outline { doc, size: self.size(doc), signature }
    }

    /// Whether a document and another one share enough keys to be measured, or to be accepted where keys are all there is. Two protected
    /// documents are never compared.
    pub fn enough(&self, own: Outline<'_>, other: Doc, shared: u32, prefixes: &Prefixes) -> bool {
        let catalogue = &self.documents.catalogue;
        if catalogue.is_protected(own.doc) && catalogue.is_protected(other) {
            return false;
        }
        // Millions of pairs come here, and most are told apart by sizes: each is looked up once, and the signature only then.
        let row = (!self.is_stored(other)).then(|| catalogue.row(other));
        let size = row.map_or_else(|| self.size(other), CatalogueRow::size);
        let is_enough = |rule| self.share_enough(rule, (own.doc, own.size), (other, size), shared, prefixes);
        if !self.context.rule.is_some_and(is_enough) {
            return false;
        }
        !self.context.has_signatures() || {
            let signature = row.map_or(&[][..], CatalogueRow::signature);
            self.may_be_alike(own, Outline { doc: other, size, signature })
        }
    }

    fn share_enough(
        &self,
        rule: AcceptanceRule,
        (a, left): (Doc, u32),
        (b, right): (Doc, u32),
        shared: u32,
        prefixes: &Prefixes,
    ) -> bool {
        let by_fewest = |doc: Doc| match prefixes {
            Prefixes::Equal(_) => false,
            Prefixes::Indexed(by_fewest) => by_fewest.contains(doc),
        };
        if let Some((protected, _)) = self.protected_first(a, b) {
            let (of_protected, of_new) = if protected == a { (left, right) } else { (right, left) };
            return rule.is_enough_of_protected(shared, of_protected, of_new, by_fewest(protected));
        }
        match prefixes {
            // Under hot keys nobody was counted.
            Prefixes::Equal(hot_keys) => rule.is_enough(shared + hot_keys.shared(a, b), left, right),
            Prefixes::Indexed(_) => {
                // Either may be the smaller one of two of one size.
                let by_fewest = left <= right && by_fewest(a) || right <= left && by_fewest(b);
                rule.is_enough_indexed(shared, left, right, by_fewest)
            }
        }
    }

    /// Whether sizes or signatures tell that two documents are not accepted, as far as both are known in this process.
    pub fn are_unlike(&self, a: Doc, b: Doc) -> bool {
        if !self.context.has_signatures() {
            return false;
        }
        let (a, b) = (self.outline(a), self.outline(b));
        !a.signature.is_empty() && !b.signature.is_empty() && !self.may_be_alike(a, b)
    }

    /// Whether the signatures of two documents, as far as there are any, leave room for as many shared members as the rule
    /// wants.
    pub fn may_be_alike(&self, a: Outline<'_>, b: Outline<'_>) -> bool {
        self.needed_if_alike(a, b).is_some()
    }

    /// How many members two documents must share to be accepted, if their signatures leave room for as many.
    pub fn needed_if_alike(&self, a: Outline<'_>, b: Outline<'_>) -> Option<u64> {
        let needed = self.needed_of((a.doc, a.size), (b.doc, b.size))?;
        let most = u64::from(a.size) + u64::from(b.size) - 2 * needed;
        may_differ_by(self.context.simd, most, a.signature, b.signature).then_some(needed)
    }

    /// How many members two documents must share to be accepted; `None` if no number is enough.
    fn needed_of(&self, (a, left): (Doc, u32), (b, right): (Doc, u32)) -> Option<u64> {
        let rule = self.context.rule?;
        match self.protected_first(a, b) {
            Some((protected, _)) if protected == a => rule.needed_of_protected(left, right),
            Some(_) => rule.needed_of_protected(right, left),
            None => rule.own().needed(left, right),
        }
    }
}
