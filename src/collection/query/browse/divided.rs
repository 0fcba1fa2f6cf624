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
use crate::document::Doc;
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
}

/// Documents that hang together at a threshold, or one that is alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterPart {
    /// Its documents.
    pub size: u64,
    /// The one that would stand for them.
    pub representative: String,
    /// All of them, ascending by id.
    pub members: Vec<String>,
}

/// Whether a collection's clusters at a higher threshold are parts of its own that are told from their members alone. Where
/// documents are linked to representatives, those of other clusters matter too.
fn falls_apart(config: &Config) -> bool {
    config.has_threshold() && config.cluster.clustering == Clustering::Transitive
}

impl Snapshot {
    /// The threshold of the collection, if the cluster can be taken apart at higher ones.
    pub fn lowest_threshold(&self, cluster: &IndexedCluster) -> Option<Threshold> {
        let config = &self.manifest().config;
        (falls_apart(config) && cluster.size <= DOCUMENTS).then_some(config.threshold)
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
        let Some(rule) = config.rule().filter(|_| falls_apart(&config)) else {
            return Err(Error::config("only clusters that are all that links connect are taken apart"));
        };
        let too_large = || {
            let size = cluster.size;
            let what = format!("a cluster of {size} documents is too large to be taken apart here");
            Error::config(format!("{what}; ask alike recluster --threshold {threshold}"))
        };
        if cluster.size > DOCUMENTS {
            return Err(too_large());
        }
        let tables = self.tables();
        let members: Vec<Member> = stored_members(&tables, cluster, progress)?.into_values().collect();
        let mut contents: Vec<Doc> = members.iter().map(|member| member.document.content).collect();
        contents.sort_unstable();
        contents.dedup();
        let wanted: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
        let mut sets: Vec<Vec<u64>> = vec![Vec::new(); contents.len()];
        let mut room = WORDS / contents.len().max(1);
        each_set(&tables, &wanted, &mut |at, set| {
            room = room.checked_sub(set.len()).ok_or_else(too_large)?;
            sets[at] = set.to_vec();
            Ok(())
        })?;
        let mut forest = linked(&sets, rule, progress)?;
        let mut parts: BTreeMap<u32, Vec<&Member>> = BTreeMap::new();
        for member in &members {
            let at = contents.partition_point(|content| *content < member.document.content);
            parts.entry(forest.find(at as u32)).or_default().push(member);
        }
        let part = |members: Vec<&Member>| {
            let first = members.iter().min_by(|a, b| keep_order(&config.cluster.keep, a, b));
            let representative = first.map(|member| member.name.clone()).unwrap_or_default();
            let mut names: Vec<String> = members.into_iter().map(|member| member.name.clone()).collect();
            names.sort_unstable();
            ClusterPart { size: names.len() as u64, representative, members: names }
        };
        let mut parts: Vec<ClusterPart> = parts.into_values().map(part).collect();
        parts.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.representative.cmp(&b.representative)));
        Ok(DividedCluster { threshold, parts })
    }
}

/// Which sets links connect. A pair that is connected already is not measured.
fn linked(sets: &[Vec<u64>], rule: AcceptanceRule, progress: &Progress) -> Result<Forest> {
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
    Ok(forest)
}
