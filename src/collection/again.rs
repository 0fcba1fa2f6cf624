//! Colliding a stored content again: which others is it linked to?

use std::sync::Arc;

use super::known::{Known, read_set};
use super::parts::Recollide;
use crate::error::Result;
use crate::flow::{Doc, Loaded, Stored, spread};
use crate::progress::Progress;
use crate::simd::Simd;
use crate::similarity::Accept;
use crate::sketch::{Sketcher, rule};

/// Looks again at contents that seem to have come apart.
pub(super) struct Again<'a> {
    known: &'a Known,
    sketcher: Sketcher,
    rule: Option<Accept>,
    progress: &'a Progress,
    set: Vec<u64>,
    other: Vec<u64>,
    keys: Vec<u64>,
}

impl<'a> Again<'a> {
    /// Looks among the contents of `known`, with what `loaded` was found with.
    pub(super) fn new(known: &'a Known, loaded: &'a Loaded) -> Again<'a> {
        let config = &loaded.shared.config;
        let sketcher = Sketcher::new(config, Arc::clone(loaded.shared.rarity()), Simd::Scalar);
        let (set, other, keys) = (Vec::new(), Vec::new(), Vec::new());
        let progress = &*loaded.shared.progress;
        Again { known, sketcher, rule: rule(config), progress, set, other, keys }
    }
}

impl Recollide for Again<'_> {
    fn linked(&mut self, content: Doc) -> Result<Vec<(Doc, u32)>> {
        let Some(rule) = self.rule else { return Ok(Vec::new()) };
        self.progress.check()?;
        read_set(self.known.tables(), content, &mut self.set)?;
        self.sketcher.keys_of(&self.set, &mut self.keys);
        self.keys.iter_mut().for_each(|key| *key = spread(*key));
        self.keys.sort_unstable();
        self.keys.dedup();
        let mut met: Vec<Doc> = Vec::new();
        self.known.postings(&self.keys, &mut |_, posting| met.push(posting.doc))?;
        met.sort_unstable();
        met.dedup();
        let mut linked = Vec::new();
        for other in met.into_iter().filter(|other| *other != content) {
            read_set(self.known.tables(), other, &mut self.other)?;
            if let Some(measure) = rule.measure(&self.set, &self.other) {
                linked.push((other, measure.shared));
            }
        }
        Ok(linked)
    }
}
