//! Components, the links that hold them together, and their clusters.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::super::clusters::{Member, keep_order};
use super::super::row::{unpack, wide};
use super::super::settle::{components, stored_documents};
use super::super::tables::{CLUSTERS, COMPONENTS, LINKS, MEMBERS};
use super::{Check, hashed};
use crate::error::Result;
use crate::flow::{Doc, Forest};

/// Documents of clusters that are looked at together, unless one alone has more.
const BATCH: u64 = 4096;

/// A cluster as its row has it: number, documents, representative.
type Row = (u64, u64, u128);

impl Check<'_> {
    /// Every live content is in the component of its label and in no other, and links hold each component together.
    pub(super) fn components(&mut self) -> Result<()> {
        self.each_row(COMPONENTS, &mut |check, row, _| {
            if row[2] == 0 {
                return Ok(());
            }
            match check.facts.get_mut(&(row[1] as Doc)) {
                None => check.wrong(COMPONENTS, row, "its content is not live"),
                Some(fact) if u64::from(fact.label) != row[0] => {
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
            let (a, b) = (row[0] as Doc, row[1] as Doc);
            if row[0].max(row[1]) >= u64::from(check.manifest.next_content) || a == b {
                check.wrong(LINKS, row, "a link that cannot be");
                return Ok(());
            }
            let (Some(left), Some(right)) = (check.facts.get(&a), check.facts.get(&b)) else { return Ok(()) };
            forest.union(left.number, right.number);
            if left.label != right.label {
                check.wrong(LINKS, row, "its ends are in two components");
            }
            for (content, sum) in [(a, hashed(&row[1..])), (b, hashed(&[row[0], row[2]]).wrapping_neg())] {
                let fact = check.facts.entry(content).or_default();
                fact.links = fact.links.wrapping_add(sum);
            }
            Ok(())
        })?;
        Ok(forest)
    }

    /// Every component of two documents or more has a cluster, which counts them and is represented by the best.
    pub(super) fn clusters(&mut self) -> Result<()> {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for content in self.contents() {
            let fact = &self.facts[&content];
            *sizes.entry(fact.label).or_default() += u64::from(fact.documents);
        }
        let mut numbers: HashSet<u64> = HashSet::new();
        let (mut batch, mut documents): (BTreeMap<u32, Row>, u64) = Default::default();
        self.each_row(CLUSTERS, &mut |check, row, _| {
            if row[2] == 0 {
                return Ok(());
            }
            check.report.clusters += 1;
            let label = row[0] as u32;
            if sizes.remove(&label) != Some(row[2]) || row[2] < 2 {
                check.wrong(CLUSTERS, row, "its component has another number of documents");
            }
            let load = u64::from(unpack(row[1]).0);
            if !numbers.insert(row[1]) || load == 0 || load > check.manifest.load {
                check.wrong(CLUSTERS, row, "it has a number that cannot be");
            }
            batch.insert(label, (row[1], row[2], wide(row[3], row[4])));
            documents += row[2];
            if documents >= BATCH {
                documents = 0;
                check.represented(&std::mem::take(&mut batch))?;
            }
            Ok(())
        })?;
        self.represented(&batch)?;
        for (label, _) in sizes.into_iter().filter(|(_, documents)| *documents > 1) {
            self.find(CLUSTERS.name, "a component of several documents has none", format!("{label:016x}"));
        }
        Ok(())
    }

    /// Whether each cluster is represented by the best of its documents.
    fn represented(&mut self, clusters: &BTreeMap<u32, Row>) -> Result<()> {
        let of_label = components(&self.tables, &clusters.keys().copied().collect::<BTreeSet<u32>>())?;
        let contents = of_label.iter().flat_map(|(label, all)| all.iter().map(|c| (u64::from(*c), *label)));
        let contents: BTreeMap<u64, u32> = contents.collect();
        let keys: Vec<u64> = contents.keys().copied().collect();
        let mut members: BTreeMap<u32, Vec<u128>> = BTreeMap::new();
        self.tables.beginning(MEMBERS, 1, &keys, &mut |at, row| {
            if row[3] == 1 {
                members.entry(contents[&keys[at]]).or_default().push(wide(row[1], row[2]));
            }
            Ok(())
        })?;
        let ids: BTreeSet<u128> = members.values().flatten().copied().collect();
        let documents = stored_documents(&self.tables, &ids.into_iter().collect::<Vec<_>>(), true)?;
        let keep = &self.manifest.config.cluster.keep;
        for (label, (_, _, representative)) in clusters {
            let of_cluster = members.get(label).into_iter().flatten().filter_map(|id| documents.get(id));
            let best = of_cluster.min_by(|a: &&Member, b: &&Member| keep_order(keep, a, b));
            if best.map(|member| member.document.id) != Some(*representative) {
                let key = format!("{label:016x}");
                self.find(CLUSTERS.name, "it is not represented by the best of its documents", key);
            }
        }
        Ok(())
    }
}
