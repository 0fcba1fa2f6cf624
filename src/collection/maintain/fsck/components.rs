//! Components, the links that hold them together, and their clusters.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::check::{Check, hashed};
use super::facts::Fact;
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
            match check.facts.get_mut(stored.content) {
                None => check.wrong(COMPONENTS, row, "its content is not live"),
                Some(fact) if u64::from(fact.label) != stored.component => {
                    check.wrong(COMPONENTS, row, "its content has another label");
                }
                Some(fact) => fact.has_component = true,
            }
            Ok(())
        })?;
        let mut forest = self.links()?;
        for content in self.facts.which(|fact, _| !fact.has_component) {
            self.wrong_content(COMPONENTS, content, "a live content is in no component");
        }
        for content in self.facts.which(|fact, _| fact.links != 0) {
            self.wrong_content(LINKS, content, "they are not the same from the other end");
        }
        let mut roots: HashMap<u32, u32> = HashMap::new();
        let rooted = (0..).zip(self.facts.iter()).map(|(number, of)| (forest.find(number), of));
        let apart = rooted.filter(|(root, (_, fact))| roots.entry(fact.label).or_insert(*root) != root);
        let apart: Vec<Doc> = apart.map(|(_, (content, _))| content).collect();
        for content in apart {
            self.wrong_content(LINKS, content, "none hold it and its component together");
        }
        Ok(())
    }

    /// Joins live contents by their links.
    fn links(&mut self) -> Result<Forest> {
        let mut forest = Forest::new(self.facts.len());
        self.each_row(LINKS, &mut |check, row, _| {
            let link = StoredLink::of_row(row);
            let is_behind = link.content.max(link.other) >= u64::from(check.manifest.next_content);
            if is_behind || link.content == link.other {
                check.wrong(LINKS, row, "a link that cannot be");
                return Ok(());
            }
            let numbers = (check.facts.number(link.content), check.facts.number(link.other));
            let (Some(left), Some(right)) = numbers else { return Ok(()) };
            forest.union(left as u32, right as u32);
            let sums = [
                (link.content, hashed(&[link.other, link.shared])),
                (link.other, hashed(&[link.content, link.shared]).wrapping_neg()),
            ];
            let [left, right] = sums.map(|(content, sum)| {
                let fact = check.facts.get_mut(content)?;
                fact.links = fact.links.wrapping_add(sum);
                Some(fact.label)
            });
            if left != right {
                check.wrong(LINKS, row, "its ends are in two components");
            }
            Ok(())
        })?;
        Ok(forest)
    }

    /// A transitive cluster is all of its component, at place 0. Others are parts of it, of which that with the least
    /// content is at place 0, each other one at the place of its own least content.
    fn places(&mut self, places: &[(ClusterKey, Doc)]) {
        let transitive = self.manifest.config.cluster.clustering == Clustering::Transitive;
        let mut wrong = Vec::new();
        for component in places.chunk_by(|a, b| a.0.component == b.0.component) {
            let first = component.iter().map(|(_, content)| *content).min();
            for cluster in component.chunk_by(|a, b| a.0 == b.0) {
                // Of one place they ascend.
                let (at, least) = cluster[0];
                let right = if transitive || Some(least) == first { 0 } else { least };
                let is_wrong = at.place != right;
                wrong.extend(cluster.iter().filter(|_| is_wrong).map(|(_, content)| *content));
            }
        }
        wrong.sort_unstable();
        for content in wrong {
            self.wrong_content(CONTENTS, content, "its cluster is at a place where it cannot be");
        }
    }

    /// Every place of two documents or more has a cluster, which counts them and is represented by the best. Where that was
    /// guaranteed, all others resemble it. Whether components would be divided the same way again is not looked into: that takes
    /// all of their links.
    pub(super) fn clusters(&mut self) -> Result<()> {
        let at = |fact: &Fact| ClusterKey { component: fact.label, place: fact.place };
        let places = self.facts.iter().map(|(content, fact)| (at(fact), content));
        let mut places: Vec<(ClusterKey, Doc)> = places.collect();
        places.sort_unstable();
        self.places(&places);
        let documents =
            |content: Doc| self.facts.get(content.into()).map_or(0, |fact| u64::from(fact.documents));
        let clusters = places.chunk_by(|a, b| a.0 == b.0);
        let sizes =
            clusters.map(|of| (of[0].0, of.iter().map(|(_, content)| documents(*content)).sum::<u64>()));
        // A document alone has no cluster.
        let mut sizes: BTreeMap<ClusterKey, u64> = sizes.filter(|(_, documents)| *documents > 1).collect();
        drop(places);
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
        for ClusterKey { component: label, place } in sizes.into_keys() {
            let key = format!("{label:016x} {place:016x}");
            self.find(CLUSTERS.name, "contents of several documents have none", key);
        }
        Ok(())
    }

    /// Whether each cluster is represented by the best of its documents.
    fn represented(&mut self, clusters: &BTreeMap<ClusterKey, StoredCluster>) -> Result<()> {
        let members = components(&self.tables, &clusters.keys().map(|at| at.component).collect())?;
        let place = |doc: Doc| self.facts.get(doc.into()).map(|fact| fact.place);
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
            let place = |doc: &Doc| self.facts.get(u64::from(*doc)).map_or(0, |fact| fact.place);
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
