//! Postings of live contents, held against those that their sets give.

use super::check::{Check, hashed};
use crate::collection::run::schema::POSTINGS;
use crate::collection::tables::frozen::frozen;
use crate::collection::tables::postings::{PostingForm, size_and_content};
use crate::collection::tables::rows::columns;
use crate::document::Doc;
use crate::error::Result;
use crate::simd::Simd;
use crate::sketch::spread;
use crate::sketcher::Sketcher;

impl Check<'_> {
    /// What gives the keys of sets.
    pub(super) fn prepare_keys(&mut self) -> Result<()> {
        let frozen_tables = frozen(&self.tables)?.unwrap_or_default();
        self.sketcher = Some(Sketcher::new(&self.manifest.config, &frozen_tables, Simd::Scalar));
        Ok(())
    }

    /// Adds what the postings of a content should be.
    pub(super) fn expect_postings(&mut self, content: Doc, set: &[u64]) {
        let (Some(sketcher), Some(fact)) = (&mut self.sketcher, self.facts.get(content.into())) else {
            return;
        };
        let (keys, size) = sketcher.keys_of(set);
        let form = PostingForm::of(&self.manifest.config);
        self.keys.clear();
        self.keys.extend(keys.iter().map(|key| form.key_of(spread(*key) ^ fact.salt.unwrap_or(0))));
        self.keys.sort_unstable();
        self.keys.dedup();
        let keys = self.keys.iter().map(|key| hashed(&[*key, u64::from(size)]));
        if let Some(sum) = self.facts.postings_mut(content.into()) {
            *sum = keys.fold(*sum, u64::wrapping_add);
        }
    }

    /// Takes off what they are.
    pub(super) fn postings(&mut self) -> Result<()> {
        self.each_row(POSTINGS, &mut |check, row, _| {
            let [key, _] = columns(row);
            let (size, content) = size_and_content(row);
            if content >= check.manifest.next_content {
                check.wrong(POSTINGS, row, "a content that is yet to come");
            }
            if let Some(sum) = check.facts.postings_mut(content.into()) {
                *sum = sum.wrapping_sub(hashed(&[key, u64::from(size)]));
            } else if !check.dead.has(u64::from(content)) {
                check.wrong(POSTINGS, row, "a content that is neither live nor dead");
            }
            Ok(())
        })?;
        for content in self.facts.which(|_, postings| postings != 0) {
            self.wrong_content(POSTINGS, content, "they are not those that its set gives");
        }
        Ok(())
    }
}
