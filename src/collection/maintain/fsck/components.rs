//! Components, the links that hold them together, and their clusters.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::check::{Check, Fact, hashed};
use crate::collection::run::schema::{CLUSTERS, COMPONENTS, CONTENTS, LINKS};
use crate::collection::tables::clusters::documents_of;
use crate::collection::tables::components::components;
use crate::collection::tables::document::unpack;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::member::{Member, keep_order};
use crate::collection::tables::rows::{ClusterKey, StoredCluster, StoredComponent, StoredLink};
use crate::collection::tables::sets::each_set;
use crate::components::Forest;
use crate::config::Clustering;
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::limits::sized;

/// Documents of clusters that are looked at together, unless one alone has more.
const BATCH: u64 = sized(4096, 3);

impl Check<'_> {
    /// Every live content is in the component of its label and in no other, and links hold each component together.
    pub(super) fn components(&mut self) -> Result<()> {
        self.each_row(COMPONENTS, &mut |check, row, _| {
            let stored = StoredComponent::of_row(row);
            if !stored.is {
                return Ok(());
            }
            match check.facts.get_mut(&(stored.content as Doc)) {
                None => check.wrong(COMPONENTS, row, "its content is not live"),
                Some(fact) if u64::from(fact.label) != stored.component => {
                    check.wrong(COMPONENTS, row, "its content has another label");
                }
                Some(fact) => fact.component = true,
            }
            Ok(())
        })?;
        let mut forest = self.links()?;
        let mut roots: HashMap<u32, u32> = HashMap::new();
        for content in self.contents() {
            let fact = &self.facts[&content];
            let (component, links, label) = (fact.component, fact.links, fact.label);
            let root = forest.find(fact.number);
            if !component {
                self.wrong_content(COMPONENTS, content, "a live content is in no component");
            }
            if links != 0 {
                self.wrong_content(LINKS, content, "they are not the same from the other end");
            }
            if *roots.entry(label).or_insert(root) != root {
                self.wrong_content(LINKS, content, "none hold it and its component together");
            }
        }
        Ok(())
    }

    /// Joins live contents by their links.
    fn links(&mut self) -> Result<Forest> {
        let mut forest = Forest::new(self.facts.len());
        self.each_row(LINKS, &mut |check, row, _| {
            let link = StoredLink::of_row(row);
            let (a, b) = (link.content as Doc, link.other as Doc);
            if link.content.max(link.other) >= u64::from(check.manifest.next_content) || a == b {
                check.wrong(LINKS, row, "a link that cannot be");
                return Ok(());
            }
            let (Some(left), Some(right)) = (check.facts.get(&a), check.facts.get(&b)) else { return Ok(()) };
            forest.union(left.number, right.number);
            if left.label != right.label {
                check.wrong(LINKS, row, "its ends are in two components");
            }
            let sums = [
                (a, hashed(&[link.other, link.shared])),
                (b, hashed(&[link.content, link.shared]).wrapping_neg()),
            ];
            for (content, sum) in sums {
                let fact = check.facts.entry(content).or_default();
                fact.links = fact.links.wrapping_add(sum);
            }
            Ok(())
        })?;
        Ok(forest)
    }

    /// A transitive cluster is all of its component, at place 0. Others are parts of it, of which that with the least
    /// content is at place 0, each other one at the place of its own least content.
    fn places(&mut self) {
        let transitive = self.manifest.config.cluster.clustering == Clustering::Transitive;
        let mut firsts: HashMap<u32, Doc> = HashMap::new();
        let mut leasts: HashMap<ClusterKey, Doc> = HashMap::new();
        for content in self.contents() {
            let Fact { label, place, .. } = self.facts[&content];
            let first = *firsts.entry(label).or_insert(content);
            let least = *leasts.entry(ClusterKey { component: label, place }).or_insert(content);
            let right = if transitive || least == first { 0 } else { least };
            if place != right {
                self.wrong_content(CONTENTS, content, "its cluster is at a place where it cannot be");
            }
        }
    }

    /// Every place of two documents or more has a cluster, which counts them and is represented by the best. Where that was
    /// guaranteed, all others resemble it. Whether components would be divided the same way again is not looked into: that takes
    /// all of their links.
    pub(super) fn clusters(&mut self) -> Result<()> {
        self.places();
        let mut sizes: BTreeMap<ClusterKey, u64> = BTreeMap::new();
        for content in self.contents() {
            let fact = &self.facts[&content];
            *sizes.entry(ClusterKey { component: fact.label, place: fact.place }).or_default() +=
                u64::from(fact.documents);
        }
        let mut numbers: HashSet<u64> = HashSet::new();
        let (mut batch, mut documents): (BTreeMap<ClusterKey, StoredCluster>, u64) = Default::default();
        self.each_row(CLUSTERS, &mut |check, row, _| {
            let (at, cluster) = StoredCluster::of_row(row);
            if cluster.documents == 0 {
                return Ok(());
            }
            check.report.clusters += 1;
            if sizes.remove(&at) != Some(cluster.documents) || cluster.documents < 2 {
                check.wrong(CLUSTERS, row, "its contents have another number of documents");
            }
            let load = u64::from(unpack(cluster.number).0);
            if !numbers.insert(cluster.number) || load == 0 || load > check.manifest.load {
                check.wrong(CLUSTERS, row, "it has a number that cannot be");
            }
            if documents >= BATCH
                && batch.last_key_value().is_some_and(|(last, _)| last.component != at.component)
            {
                documents = 0;
                check.represented(&std::mem::take(&mut batch))?;
            }
            documents += cluster.documents;
            batch.insert(at, cluster);
            Ok(())
        })?;
        self.represented(&batch)?;
        for (ClusterKey { component: label, place }, _) in
            sizes.into_iter().filter(|(_, documents)| *documents > 1)
        {
            let key = format!("{label:016x} {place:016x}");
            self.find(CLUSTERS.name, "contents of several documents have none", key);
        }
        Ok(())
    }

    /// Whether each cluster is represented by the best of its documents.
    fn represented(&mut self, clusters: &BTreeMap<ClusterKey, StoredCluster>) -> Result<()> {
        let members = components(&self.tables, &clusters.keys().map(|at| at.component).collect())?;
        let place = |doc: Doc| self.facts.get(&doc).map(|fact| fact.place);
        let members = documents_of(&self.tables, &members, place)?;
        let mut ids: Vec<u128> =
            clusters.keys().filter_map(|at| members.get(at)).flatten().copied().collect();
        ids.sort_unstable();
        // Where tables contradict each other, a document is in two clusters.
        ids.dedup();
        let documents = stored_documents(&self.tables, &ids)?;
        let keep = &self.manifest.config.cluster.keep;
        for (at, cluster) in clusters {
            let of_cluster = members.get(at).into_iter().flatten().filter_map(|id| documents.get(id));
            let best = of_cluster.min_by(|a: &&Member, b: &&Member| keep_order(keep, a, b));
            if best.map(|member| member.document.id) != Some(cluster.representative) {
                let key = format!("{:016x} {:016x}", at.component, at.place);
                self.find(CLUSTERS.name, "it is not represented by the best of its documents", key);
            }
        }
        if self.manifest.config.cluster.clustering == Clustering::Guarantee {
            let leader =
                |row: &StoredCluster| documents.get(&row.representative).map(|of| of.document.content);
            let leaders = clusters.iter().filter_map(|(at, row)| Some((*at, leader(row)?)));
            self.guaranteed(&leaders.filter(|(_, leader)| *leader != NO_DOC).collect())?;
        }
        Ok(())
    }

    /// Whether each content of a cluster resembles that of its representative.
    fn guaranteed(&mut self, leaders: &BTreeMap<ClusterKey, Doc>) -> Result<()> {
        let Some(rule) = self.manifest.config.rule() else { return Ok(()) };
        let tables = self.tables.clone();
        let mut of_leaders: BTreeMap<u64, Vec<u64>> =
            leaders.values().map(|leader| (u64::from(*leader), Vec::new())).collect();
        let keys: Vec<u64> = of_leaders.keys().copied().collect();
        each_set(&tables, &keys, &mut |at, set| {
            of_leaders.insert(keys[at], set.to_vec());
            Ok(())
        })?;
        let mut contents: BTreeMap<u64, u64> = BTreeMap::new();
        for (label, of_label) in components(&tables, &leaders.keys().map(|at| at.component).collect())? {
            let place = |doc: &Doc| self.facts.get(doc).map_or(0, |fact| fact.place);
            let led = of_label.iter().filter_map(|doc| {
                let leader = leaders.get(&ClusterKey { component: label, place: place(doc) })?;
                (leader != doc).then_some((u64::from(*doc), u64::from(*leader)))
            });
            contents.extend(led);
        }
        let keys: Vec<u64> = contents.keys().copied().collect();
        each_set(&tables, &keys, &mut |at, set| {
            if rule.measure(set, &of_leaders[&contents[&keys[at]]]).is_none() {
                let what = "it does not resemble the representative of its cluster";
                self.wrong_content(CONTENTS, keys[at] as Doc, what);
            }
            Ok(())
        })
    }
}
