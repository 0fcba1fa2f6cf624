//! Which stored contents any sets resemble: their keys probed, what they meet measured.

use std::sync::Arc;

use super::known::each_set;
use super::row::unpack;
use super::tables::{CONTENTS, POSTINGS, Tables};
use crate::config::{Config, Method};
use crate::error::Result;
use crate::flow::{Doc, Posting, spread};
use crate::progress::Progress;
use crate::simd::Simd;
use crate::similarity::{Accept, Measure};
use crate::sketch::{Rarity, Sketcher, rule};

/// Finds stored contents by sets, with what that takes.
pub struct Resembling {
    tables: Tables,
    config: Config,
    sketcher: Sketcher,
    rule: Option<Accept>,
}

/// A stored content that shares a key with a set: the content, the number of the set, the size of the content's set.
type Met = (Doc, u32, u32);

impl Resembling {
    /// What finds contents of these tables, given the frozen order of shingles.
    pub fn new(tables: &Tables, config: &Config, rarity: Arc<Rarity>) -> Resembling {
        let sketcher = Sketcher::new(config, rarity, Simd::Scalar);
        Resembling { tables: tables.clone(), config: config.clone(), sketcher, rule: rule(config) }
    }

    /// For each set the live contents that the rule links it to, ascending, with their measures: those whose own set it
    /// is are among them.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`] and [`crate::error::Error::Interrupted`].
    pub fn to(&mut self, sets: &[&[u64]], progress: &Progress) -> Result<Vec<Vec<(Doc, Measure)>>> {
        let mut linked = vec![Vec::new(); sets.len()];
        let Some(rule) = self.rule else { return Ok(linked) };
        progress.check()?;
        let met = self.meet(sets)?;
        let pairs = met.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let pairs =
            pairs.filter(|same| self.enough(rule, same.len(), sets[same[0].1 as usize].len(), same[0].2));
        let pairs: Vec<(Doc, usize)> = pairs.map(|same| (same[0].0, same[0].1 as usize)).collect();
        let of_content: Vec<&[(Doc, usize)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let contents: Vec<u64> = of_content.iter().map(|pairs| u64::from(pairs[0].0)).collect();
        each_set(&self.tables, &contents, &mut |at, set| {
            progress.check()?;
            for (content, number) in of_content[at] {
                let measure = rule.measure(sets[*number], set);
                linked[*number].extend(measure.map(|measure| (*content, measure)));
            }
            Ok(())
        })?;
        linked.iter_mut().for_each(|linked| linked.sort_unstable_by_key(|(content, _)| *content));
        Ok(linked)
    }

    /// What shares keys with the sets, an entry for each key, ascending.
    fn meet(&mut self, sets: &[&[u64]]) -> Result<Vec<Met>> {
        let (mut keys, mut of_set): (Vec<(u64, u32)>, _) = (Vec::new(), Vec::new());
        for (number, set) in (0..).zip(sets) {
            self.sketcher.keys_of(set, &mut of_set);
            keys.extend(of_set.iter().map(|key| (spread(*key), number)));
        }
        keys.sort_unstable();
        keys.dedup();
        let owners: Vec<&[(u64, u32)]> = keys.chunk_by(|a, b| a.0 == b.0).collect();
        let distinct: Vec<u64> = owners.iter().map(|owners| owners[0].0).collect();
        let mut met: Vec<Met> = Vec::new();
        live_postings(&self.tables, &distinct, &mut |at, posting| {
            met.extend(owners[at].iter().map(|(_, number)| (posting.doc, *number, posting.size)));
        })?;
        met.sort_unstable();
        Ok(met)
    }

    /// Whether a set and a content that share so many keys may be linked, and so are worth measuring.
    fn enough(&self, rule: Accept, shared: usize, left: usize, right: u32) -> bool {
        let left = left as u32;
        match self.config.method {
            Method::Exact => false,
            Method::Features => shared >= self.config.features.r,
            Method::Join => {
                // Of the one whose last key comes first in the order, all shared shingles that are keys of it are
                // keys of both; the rest of it can share no more than its length.
                let rest = |size: u32| u64::from(size) - self.config.threshold.prefix(size as usize) as u64;
                let most = shared as u64 + rest(left).max(rest(right));
                rule.needed(left, right).is_some_and(|needed| most >= needed)
            }
            Method::Shingles => rule.accepts(Measure { shared: shared as u32, left, right }),
        }
    }
}

/// The postings of live contents under ascending, distinct keys: `each` gets the number of the key.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
pub fn live_postings(tables: &Tables, keys: &[u64], each: &mut dyn FnMut(usize, Posting)) -> Result<()> {
    let inverted: Vec<u64> = keys.iter().rev().map(|key| !key).collect();
    let mut found: Vec<(Doc, usize, u32)> = Vec::new();
    for run in &tables.runs {
        let Some(rows) = run.rows(POSTINGS.kind) else { continue };
        rows.probe(1, &inverted, &mut |at, row| {
            let (size, content) = unpack(!row[1]);
            found.push((content, keys.len() - 1 - at, size));
            Ok(())
        })?;
    }
    found.sort_unstable();
    let mut contents: Vec<u64> = found.iter().map(|(content, ..)| u64::from(*content)).collect();
    contents.dedup();
    let mut live = vec![false; contents.len()];
    tables.newest(CONTENTS, &contents, &mut |at, _, row| {
        live[at] = row[1] > 0;
        Ok(())
    })?;
    let of_content = found.chunk_by(|a, b| a.0 == b.0).zip(live);
    for (content, at, size) in of_content.filter(|(_, live)| *live).flat_map(|(found, _)| found) {
        each(*at, Posting { key: keys[*at], size: *size, doc: *content });
    }
    Ok(())
}
