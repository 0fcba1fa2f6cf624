//! What a cluster falls into at a higher threshold: all its texts measured with each other, exactly as a run measures them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::browse::clusters::IndexedCluster;
use crate::collection::query::browse::members::stored_members;
use crate::collection::recompute::overrides::{QueryOverrides, overridden};
use crate::collection::tables::member::{Member, keep_order};
use crate::collection::tables::sets::each_set;
use crate::components::Forest;
use crate::config::{Clustering, Config};
use crate::document::{Doc, DocumentName};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::similarity::AcceptanceRule;
use crate::threshold::Threshold;

/// Most documents of a cluster that is taken apart.
const DOCUMENTS: u64 = 300;
/// Most words of sets that are gone through for all pairs: half a second's work or so.
const WORDS: usize = 1 << 28;

/// A cluster at a higher threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DividedCluster {
    /// The threshold.
    pub threshold: Threshold,
    /// What it falls into: the largest part first, of equals the one whose representative has the lesser id.
    pub parts: Vec<ClusterPart>,
    /// Whether documents of other clusters might take some of these, and are not looked at.
    #[serde(skip)]
    pub alone: bool,
}

/// Documents that hang together at a threshold, or one that is alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterPart {
    /// Its documents.
    pub size: u64,
    /// The one that would stand for them.
    pub representative: DocumentName<'static>,
    /// All of them, ascending by id.
    pub members: Vec<DocumentName<'static>>,
}

/// Whether clusters of a configuration can be taken apart. Where all that links connect is one, parts at a higher threshold are those that
/// all documents would have there. Where documents are linked to representatives, those of other clusters would matter too: then the
/// documents of a cluster are taken by themselves.
pub fn falls_apart(config: &Config) -> bool {
    config.has_threshold() && config.rule().is_some()
}

/// Documents of a cluster that are taken apart.
pub struct WholeCluster {
    /// The sets of distinct texts, in the order in which their documents are kept.
    pub sets: Vec<Vec<u64>>,
    /// Each document, in that order: which text it has, and its name.
    pub documents: Vec<(usize, DocumentName<'static>)>,
}

impl WholeCluster {
    /// Whether so many documents of a cluster are few enough.
    pub fn is_small(documents: u64) -> bool {
        documents <= DOCUMENTS
    }

    /// Words that each of so many sets may have.
    pub fn room(sets: usize) -> usize {
        WORDS / sets.max(1)
    }

    /// What these documents fall into by the rule and the clustering of a configuration.
    ///
    /// # Errors
    /// [`Error::Config`] if it has no rule; [`Error::Interrupted`].
    pub fn divided(self, config: &Config, progress: &Progress) -> Result<DividedCluster> {
        let Some(rule) = config.rule().filter(|_| falls_apart(config)) else {
            return Err(Error::config("clusters of a method without a threshold are not taken apart"));
        };
        let alone = config.cluster.clustering == Clustering::Guarantee;
        let first = match config.cluster.clustering {
            Clustering::Transitive => connected(&self.sets, rule, progress)?,
            Clustering::Guarantee => represented(&self.sets, rule, progress)?,
        };
        let mut parts: BTreeMap<usize, Vec<DocumentName>> = BTreeMap::new();
        for (text, name) in self.documents {
            parts.entry(first[text]).or_default().push(name);
        }
        let part = |mut members: Vec<DocumentName<'static>>| {
            let representative = members[0].clone();
            members.sort_unstable();
            ClusterPart { size: members.len() as u64, representative, members }
        };
        let mut parts: Vec<ClusterPart> = parts.into_values().map(part).collect();
        parts.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.representative.cmp(&b.representative)));
        Ok(DividedCluster { threshold: config.threshold, parts, alone })
    }
}

/// For each set one that stands for all that links connect it with. A pair that is connected already is not measured.
fn connected(sets: &[Vec<u64>], rule: AcceptanceRule, progress: &Progress) -> Result<Vec<usize>> {
    let mut forest = Forest::new(sets.len());
    for (at, set) in sets.iter().enumerate() {
        progress.check()?;
        for (other, earlier) in sets[..at].iter().enumerate() {
            let (at, other) = (at as u32, other as u32);
            if forest.find(at) != forest.find(other) && rule.measure(earlier, set).is_some() {
                forest.union(at, other);
            }
        }
    }
    Ok((0..sets.len() as u32).map(|at| forest.find(at) as usize).collect())
}

/// For each set, in the order in which their documents are kept, the first representative that it is linked to, or itself.
fn represented(sets: &[Vec<u64>], rule: AcceptanceRule, progress: &Progress) -> Result<Vec<usize>> {
    let mut first: Vec<usize> = Vec::with_capacity(sets.len());
    for (at, set) in sets.iter().enumerate() {
        progress.check()?;
        let linked = |other: &usize| first[*other] == *other && rule.measure(&sets[*other], set).is_some();
        let leader = (0..at).find(linked);
        first.push(leader.unwrap_or(at));
    }
    Ok(first)
}

/// What is said of a cluster that is too large to be taken apart at a threshold.
fn too_large(size: u64, threshold: Threshold) -> Error {
    let what = format!("a cluster of {size} documents is too large to be taken apart here");
    Error::config(format!("{what}; ask alike recluster --threshold {threshold}"))
}

impl Snapshot {
    /// The threshold of the collection, if the cluster can be taken apart at higher ones.
    pub fn lowest_threshold(&self, cluster: &IndexedCluster) -> Option<Threshold> {
        let config = &self.manifest().config;
        (falls_apart(config) && WholeCluster::is_small(cluster.size)).then_some(config.threshold)
    }

    /// What a cluster falls into at a threshold.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no threshold, if it is below that of the collection, or if the cluster is too large;
    /// [`Error::Io`], [`Error::Damaged`] and [`Error::Interrupted`].
    pub fn divided(
        &self,
        cluster: &IndexedCluster,
        threshold: Threshold,
        progress: &Progress,
    ) -> Result<DividedCluster> {
        let overrides = QueryOverrides { threshold: Some(threshold), ..QueryOverrides::default() };
        let config = overridden(&self.manifest().config, &overrides)?;
        if !WholeCluster::is_small(cluster.size) {
            return Err(too_large(cluster.size, threshold));
        }
        let tables = self.tables();
        let mut members: Vec<Member> = stored_members(&tables, cluster, progress)?.into_values().collect();
        members.sort_by(|a, b| keep_order(&config.cluster.keep, a, b));
        let mut places: BTreeMap<Doc, usize> = BTreeMap::new();
        for member in &members {
            let next = places.len();
            places.entry(member.document.content).or_insert(next);
        }
        let wanted: Vec<(u64, usize)> =
            places.iter().map(|(content, place)| (u64::from(*content), *place)).collect();
        let contents: Vec<u64> = wanted.iter().map(|(content, _)| *content).collect();
        let mut sets: Vec<Vec<u64>> = vec![Vec::new(); contents.len()];
        let mut room = WholeCluster::room(contents.len());
        each_set(&tables, &contents, &mut |at, set| {
            room = room.checked_sub(set.len()).ok_or_else(|| too_large(cluster.size, threshold))?;
            sets[wanted[at].1] = set.to_vec();
            Ok(())
        })?;
        let document = |member: Member| (places[&member.document.content], member.name.into());
        WholeCluster { sets, documents: members.into_iter().map(document).collect() }
            .divided(&config, progress)
    }
}
