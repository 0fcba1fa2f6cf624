//! The clusters of a commit by how little a document of them has in common with what stands for them. No table knows that: all
//! sets of clusters are read once, and collections for which that would take long are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use hashbrown::HashMap;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::browse::clusters::{ClusterIndex, IndexedCluster};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::clusters::places_of;
use crate::collection::tables::components::components;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::rows::ClusterKey;
use crate::collection::tables::sets::each_set;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::printable::counted;
use crate::progress::Progress;
use crate::similarity::{AcceptanceRule, ReportedScores};

/// Most documents of clusters that are measured.
const DOCUMENTS: u64 = 200_000;
/// Most words of sets that are read: two gigabytes.
const WORDS: usize = 1 << 28;
/// Clusters that are measured together.
const BATCH: usize = sized(1024, 3);

/// A cluster, and the least that a document of it has in common with its representative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LooseCluster {
    cluster: ClusterId,
    /// None of one text alone.
    least: Option<ReportedScores>,
}

impl LooseCluster {
    fn mark(&self) -> LooseMark {
        let common = self.least.and_then(|least| least.in_common());
        LooseMark { common: common.map_or(i64::MAX, ordered), cluster: self.cluster }
    }
}

/// A number that orders as a figure does.
fn ordered(figure: f64) -> i64 {
    let bits = figure.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The last cluster of a page. It tells where the next page begins, also in a later commit that has not that cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LooseMark {
    common: i64,
    cluster: ClusterId,
}

impl fmt::Display for LooseMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.common, self.cluster)
    }
}

impl FromStr for LooseMark {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<LooseMark, String> {
        let parts = text.split_once(':').and_then(|(common, cluster)| {
            Some(LooseMark { common: common.parse().ok()?, cluster: cluster.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is no mark of a page by looseness"))
    }
}

/// All clusters of a commit, the loosest first.
#[derive(Debug, Default)]
pub struct LoosenessIndex(Vec<LooseCluster>);

impl LoosenessIndex {
    /// Measures all documents of clusters with their representatives.
    ///
    /// # Errors
    /// [`Error::Config`] if there are too many, or the method measures nothing; [`Error::Io`], [`Error::Damaged`] and
    /// [`Error::Interrupted`].
    pub fn new(snapshot: &Snapshot, index: &ClusterIndex, progress: &Progress) -> Result<LoosenessIndex> {
        let Some(rule) = snapshot.manifest().config.rule() else {
            return Err(Error::config("the collection's method links equal texts only: no cluster is loose"));
        };
        let mut clusters: Vec<&IndexedCluster> = index.all().iter().collect();
        let documents = clusters.iter().map(|cluster| cluster.size).sum();
        if documents > DOCUMENTS {
            return Err(too_much(&counted(documents, "document"), &counted(DOCUMENTS, "document")));
        }
        clusters.sort_unstable_by_key(|cluster| cluster.at);
        let mut measuring = ClusterMeasuring { tables: snapshot.tables(), rule, room: WORDS };
        let mut found = Vec::with_capacity(clusters.len());
        let mut rest = &clusters[..];
        while !rest.is_empty() {
            progress.check()?;
            let mut end = BATCH.min(rest.len());
            // Clusters of one component are looked up together.
            while end < rest.len() && rest[end].at.component == rest[end - 1].at.component {
                end += 1;
            }
            measuring.measure(&rest[..end], &mut found)?;
            rest = &rest[end..];
        }
        found.sort_unstable_by_key(LooseCluster::mark);
        Ok(LoosenessIndex(found))
    }

    /// The next clusters behind `after`, at most `limit`, of those of `index` with `least` documents or more, each with the
    /// least that a document of it has in common with its representative; and the mark of the last one if there are others
    /// behind it.
    pub fn page(
        &self,
        index: &ClusterIndex,
        least: u64,
        after: Option<LooseMark>,
        limit: usize,
    ) -> (Vec<(IndexedCluster, Option<ReportedScores>)>, Option<LooseMark>) {
        let start = after.map_or(0, |after| self.0.partition_point(|known| known.mark() <= after));
        let known = self.0[start..].iter().filter_map(|known| Some((known, *index.get(known.cluster)?)));
        let mut rest = known.filter(|(_, cluster)| cluster.size >= least);
        let page: Vec<(&LooseCluster, IndexedCluster)> = rest.by_ref().take(limit).collect();
        let next = page.last().map(|(last, _)| last.mark()).filter(|_| rest.next().is_some());
        (page.into_iter().map(|(known, cluster)| (cluster, known.least)).collect(), next)
    }
}

fn too_much(there: &str, most: &str) -> Error {
    let what =
        format!("clusters are put in order of looseness if they have {most} at most, and these have {there}");
    Error::config(format!("{what}; alike report COLLECTION --out FILE shows the loosest of any number"))
}

/// What measuring takes.
struct ClusterMeasuring {
    tables: Tables,
    rule: AcceptanceRule,
    /// Words that may still be read.
    room: usize,
}

impl ClusterMeasuring {
    /// Measures clusters, all of each component that has any of them.
    fn measure(&mut self, clusters: &[&IndexedCluster], found: &mut Vec<LooseCluster>) -> Result<()> {
        let at: BTreeMap<ClusterKey, usize> =
            clusters.iter().enumerate().map(|(number, cluster)| (cluster.at, number)).collect();
        let labels: BTreeSet<u32> = at.keys().map(|at| at.component).collect();
        let components = components(&self.tables, &labels)?;
        let mut contents: Vec<Doc> = components.values().flatten().copied().collect();
        contents.sort_unstable();
        contents.dedup();
        let places = places_of(&self.tables, &contents)?;
        let leaders = self.leaders(clusters)?;
        let mut sets: HashMap<Doc, Vec<u64>> = HashMap::new();
        let own: BTreeSet<u64> = leaders.iter().flatten().map(|leader| u64::from(*leader)).collect();
        let own: Vec<u64> = own.into_iter().collect();
        self.each(&own, &mut |content, set| drop(sets.insert(content, set.to_vec())))?;
        // Each content with the number of its cluster. A content that two components have is damage, which fsck names.
        let mut others: BTreeMap<u64, usize> = BTreeMap::new();
        for (component, contents) in &components {
            for content in contents {
                let place =
                    places.get(content).map(|place| ClusterKey { component: *component, place: *place });
                let number = place.and_then(|place| at.get(&place));
                let number = number.filter(|number| leaders[**number] != Some(*content));
                others.extend(number.map(|number| (u64::from(*content), *number)));
            }
        }
        let wanted: Vec<u64> = others.keys().copied().collect();
        let rule = self.rule;
        let mut least: Vec<Option<ReportedScores>> = vec![None; clusters.len()];
        self.each(&wanted, &mut |content, set| {
            let number = others[&u64::from(content)];
            let Some(leader) = leaders[number].and_then(|leader| sets.get(&leader)) else { return };
            let shown = rule.last().reported(rule.full(set, leader));
            let looser = |known: &ReportedScores| shown.in_common() < known.in_common();
            if least[number].as_ref().is_none_or(looser) {
                least[number] = Some(shown);
            }
        })?;
        let measured = clusters.iter().zip(least);
        found.extend(measured.map(|(cluster, least)| LooseCluster { cluster: cluster.cluster, least }));
        Ok(())
    }

    /// The contents of the documents that stand for clusters.
    fn leaders(&self, clusters: &[&IndexedCluster]) -> Result<Vec<Option<Doc>>> {
        let mut ids: Vec<u128> = clusters.iter().map(|cluster| cluster.representative).collect();
        ids.sort_unstable();
        ids.dedup();
        let documents = stored_documents(&self.tables, &ids)?;
        let content = |cluster: &&IndexedCluster| {
            documents.get(&cluster.representative).map(|member| member.document.content)
        };
        Ok(clusters.iter().map(content).collect())
    }

    /// Reads the sets of ascending contents.
    fn each(&mut self, contents: &[u64], see: &mut dyn FnMut(Doc, &[u64])) -> Result<()> {
        let room = &mut self.room;
        each_set(&self.tables, contents, &mut |at, set| {
            let words = |words: usize| counted(words as u64, "word");
            let left = room.checked_sub(set.len());
            *room = left.ok_or_else(|| too_much("more", &format!("sets of {}", words(WORDS))))?;
            see(contents[at] as Doc, set);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_order_as_figures_do() {
        let figures =
            [f64::NEG_INFINITY, -64.0, -3.0, -0.0, 0.0, 1e-300, 0.5, 0.8, 1.0, 300.0, f64::INFINITY];
        let numbers = figures.map(ordered);
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        let mark = LooseMark { common: ordered(-3.0), cluster: ClusterId::new(2, 7) };
        assert_eq!(mark.to_string().parse(), Ok(mark));
        for wrong in ["", "3", "x:2.7", "3:x", "3:2.7:1"] {
            assert!(wrong.parse::<LooseMark>().is_err(), "{wrong}");
        }
    }
}
