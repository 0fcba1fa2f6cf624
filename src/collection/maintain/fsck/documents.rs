//! Documents, members, digests and texts, each held against contents.

use super::check::{Check, hashed};
use super::facts::Fact;
use crate::collection::HeapCursor;
use crate::collection::run::schema::{
    CONTENTS, DIGESTS, DOCUMENTS, MEMBERS, PARITIES, SCOPES, SIGNATURES, TEXTS,
};
use crate::collection::tables::document::Document;
use crate::collection::tables::rows::{
    StoredDigest, StoredMember, StoredScope, StoredSignature, StoredText, halves,
};
use crate::collection::tables::sets::SetCursor;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::id_digest;
use crate::sketch::sign;

impl Check<'_> {
    /// Documents are those of members, and contents count them.
    pub(super) fn documents(&mut self) -> Result<()> {
        let mut cursor = HeapCursor::default();
        self.each_row(DOCUMENTS, &mut |check, row, run| {
            let document = Document::of_row(row);
            if !document.live {
                return Ok(());
            }
            check.report.documents += 1;
            if id_digest(&document.names(run, &mut cursor)?.0) != document.id {
                check.wrong(DOCUMENTS, row, "its id has another digest");
            }
            let (first, load) = document.loads;
            if first == 0 || first > load || u64::from(load) > check.manifest.load {
                check.wrong(DOCUMENTS, row, "it comes from loads that cannot be");
            }
            check.origin(&document, row);
            if !document.has_content() {
                return Ok(());
            }
            match check.facts.get_mut(document.content.into()) {
                Some(fact) => {
                    fact.counted.0 += 1;
                    fact.members = fact.members.wrapping_add(hashed(&halves(document.id)));
                }
                None => check.wrong(DOCUMENTS, row, "its content is not live"),
            }
            Ok(())
        })?;
        self.each_row(MEMBERS, &mut |check, row, _| {
            let member = StoredMember::of_row(row);
            if !member.is {
                return Ok(());
            }
            match check.facts.get_mut(member.content) {
                Some(fact) => {
                    fact.counted.1 += 1;
                    fact.members = fact.members.wrapping_sub(hashed(&halves(member.id)));
                }
                None => check.wrong(MEMBERS, row, "its content is not live"),
            }
            Ok(())
        })?;
        for content in self.facts.which(|fact, _| fact.members != 0) {
            self.wrong_content(MEMBERS, content, "they are not the documents that have this content");
        }
        let counts = |fact: &Fact| fact.counted == (fact.documents, fact.documents);
        for content in self.facts.which(|fact, _| !counts(fact)) {
            self.wrong_content(CONTENTS, content, "it has another number of documents");
        }
        Ok(())
    }

    /// Every live content has one text, a set in order, and the digest that names it.
    pub(super) fn texts(&mut self) -> Result<()> {
        self.each_row(DIGESTS, &mut |check, row, _| {
            let stored = StoredDigest::of_row(row);
            if !stored.is_live() {
                return Ok(());
            }
            match check.facts.get_mut(stored.content) {
                None => check.wrong(DIGESTS, row, "its content is not live"),
                Some(fact) => {
                    fact.digest = stored.digest;
                    if std::mem::replace(&mut fact.has_digest, true) {
                        check.wrong(DIGESTS, row, "its content has another digest too");
                    }
                }
            }
            Ok(())
        })?;
        self.scopes()?;
        let rule = self.manifest.config.rule();
        let (mut set, mut cursor) = (Vec::new(), SetCursor::default());
        self.each_row(TEXTS, &mut |check, row, run| {
            let text = StoredText::of_row(row);
            if text.content >= u64::from(check.manifest.next_content) {
                check.wrong(TEXTS, row, "a content that is yet to come");
            }
            let Some(fact) = check.facts.get_mut(text.content) else { return Ok(()) };
            fact.has_text = true;
            let named = fact.has_digest && fact.digest == text.digest;
            if !named {
                check.wrong(TEXTS, row, "its digest names another content, or none");
            }
            cursor.read(run, &text, &mut set)?;
            if !rule.map_or(set.is_empty(), |rule| rule.is_sketch(&set)) {
                check.wrong(TEXTS, row, "its set is not in order");
                return Ok(());
            }
            check.expect_postings(text.content as Doc, &set);
            check.expect_signature(text.content as Doc, &set);
            Ok(())
        })?;
        for content in self.facts.which(|fact, _| !fact.has_text) {
            self.wrong_content(TEXTS, content, "a live content has no text");
        }
        Ok(())
    }

    /// Every live content has a scope, where not all documents are compared.
    fn scopes(&mut self) -> Result<()> {
        let is_within = !self.manifest.config.input.within_field.is_empty();
        self.each_row(SCOPES, &mut |check, row, _| {
            let scope = StoredScope::of_row(row);
            if !is_within {
                check.wrong(SCOPES, row, "all documents are compared");
            } else if let Some(fact) = check.facts.get_mut(scope.content) {
                fact.salt = Some(scope.salt);
            }
            Ok(())
        })?;
        for content in self.facts.which(|fact, _| is_within && fact.salt.is_none()) {
            self.wrong_content(SCOPES, content, "a live content has no scope");
        }
        Ok(())
    }

    /// Adds what the signature of a content should be.
    fn expect_signature(&mut self, content: Doc, set: &[u64]) {
        let Some(rule) = self.manifest.config.signed() else { return };
        let Some(fact) = self.facts.get_mut(content.into()) else { return };
        let mut signature = Vec::new();
        sign(rule.own_words(set), &mut signature);
        fact.signature = fact.signature.wrapping_add(hashed(&signature));
    }

    /// Takes off what the signatures are.
    pub(super) fn signatures(&mut self) -> Result<()> {
        let (mut words, mut cursor) = (Vec::new(), HeapCursor::default());
        self.each_row(SIGNATURES, &mut |check, row, run| {
            let stored = StoredSignature::of_row(row);
            let Some(fact) = check.facts.get_mut(stored.content) else { return Ok(()) };
            let heap = run.heap(PARITIES);
            let heap = heap.ok_or_else(|| Error::damaged(run.path(), 0, "signatures without their words"))?;
            words.clear();
            cursor.read(heap, stored.start, stored.words as usize, &mut words)?;
            fact.signature = fact.signature.wrapping_sub(hashed(&words));
            Ok(())
        })?;
        for content in self.facts.which(|fact, _| fact.signature != 0) {
            self.wrong_content(SIGNATURES, content, "it is not that of its set");
        }
        Ok(())
    }
}
