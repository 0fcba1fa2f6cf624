//! Why documents of a finished run are together, or are not: what is said of those of a collection.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::compare::keep_order;
use super::{FinishedQuestions, cluster_of};
use crate::collection::{Alone, Apart, ClusterNumber, Explanation, Place, Step, Together};
use crate::config::Clustering;
use crate::error::{Error, Result};
use crate::output::{FinishedCluster, FinishedDocument, FinishedMember, PlaceInFile};
use crate::similarity::Measure;

/// Documents of clusters whose texts are all held, so that all pairs of two clusters can be compared.
const HELD: usize = 1000;
/// Steps of a chain whose texts are compared.
const COMPARED: usize = 10;

/// What an answer takes: documents that were found, and the clusters that they may be in.
struct Material {
    documents: Vec<FinishedDocument>,
    clusters: BTreeMap<u64, FinishedCluster>,
}

impl Material {
    /// A member of a cluster, if it was found.
    fn member(&self, member: &FinishedMember) -> Option<&FinishedDocument> {
        self.documents.iter().find(|document| match &member.place {
            Some(place) => document.place == *place,
            None => *document.name() == *member.name,
        })
    }

    /// All members of a cluster that were found.
    fn members(&self, cluster: &FinishedCluster) -> Vec<&FinishedDocument> {
        let places: BTreeSet<&PlaceInFile> =
            cluster.members().filter_map(|member| member.place.as_ref()).collect();
        // Tables have the letters of names alone, and not whether they are numbers.
        let unplaced = cluster.members().filter(|member| member.place.is_none());
        let names: BTreeSet<&str> = unplaced.map(|member| member.name.as_str()).collect();
        let is_in = |document: &&FinishedDocument| {
            places.contains(&document.place) || !names.is_empty() && names.contains(document.name().as_str())
        };
        self.documents.iter().filter(is_in).collect()
    }
}

impl FinishedQuestions<'_> {
    /// Explains one document, or two: each by its id, or by `FILE:LINE` as lists have them. All inputs are read once.
    ///
    /// # Errors
    /// [`Error::Config`] if a document is not there, if several have its id, or if both are the same one;
    /// [`Error::NotAnOutput`] of lists; [`Error::Interrupted`] and [`Error::Io`].
    pub fn explain(&self, first: &str, second: Option<&str>) -> Result<Explanation> {
        let asked: BTreeSet<String> =
            [Some(first), second].into_iter().flatten().map(str::to_owned).collect();
        let mut asked = asked;
        let mut found = self.found(&asked)?;
        if self.run().record.keep_per_cluster > 1 {
            // What is kept beside others stands in lists by its name alone.
            for one in [Some(first), second].into_iter().flatten() {
                let document = self.chosen(one, &found.documents)?;
                asked.extend(cluster_of(&found.clusters, document).is_none().then(|| document.name().into()));
            }
            if asked.len() > usize::from(second.is_some()) + 1 {
                found = self.found(&asked)?;
            }
        }
        let a = self.chosen(first, &found.documents)?;
        let Some(second) = second else {
            return self.one(a, &found).map(|alone| Explanation::Document(Box::new(alone)));
        };
        let b = self.chosen(second, &found.documents)?;
        if a.place == b.place {
            return Err(Error::config(format!(
                "{first:?} and {second:?} are one document; name two, or one"
            )));
        }
        self.two(a, b, &found)
    }

    /// Whether clusters are held together by their representatives.
    fn guarantee(&self) -> bool {
        self.run().config.cluster.clustering == Clustering::Guarantee
    }

    /// Reads all that is needed about documents.
    fn found(&self, asked: &BTreeSet<String>) -> Result<Material> {
        let clusters = self.clusters_of(asked)?;
        let asked_places: BTreeSet<PlaceInFile> =
            asked.iter().filter_map(|asked| self.run().place(asked)).collect();
        let is_asked = |member: &FinishedMember| {
            asked.contains(member.name.as_str())
                || member.place.as_ref().is_some_and(|place| asked_places.contains(place))
        };
        let mut ids = asked.clone();
        let at_hand = asked_places.iter().filter(|place| place.at.is_at_hand());
        let mut places: BTreeMap<PlaceInFile, bool> = at_hand.map(|place| (place.clone(), true)).collect();
        let count: usize = clusters.values().map(|cluster| cluster.others.len() + 1).sum();
        let held = !self.guarantee() && count <= HELD;
        for cluster in clusters.values() {
            let mut on_the_way: BTreeSet<&PlaceInFile> = cluster.representative.place.iter().collect();
            if !self.guarantee() {
                let chains = cluster.others.iter().filter(|member| is_asked(member));
                let chains = chains.flat_map(|member| way(cluster, member));
                on_the_way.extend(chains.filter_map(|member| member.place.as_ref()));
            }
            for member in cluster.members() {
                match &member.place {
                    Some(place) if !place.at.is_at_hand() => {}
                    Some(place) => {
                        let text = held || on_the_way.contains(place);
                        *places.entry(place.clone()).or_default() |= text;
                    }
                    // Without a place it is one that is kept, and few are.
                    None => match self.run().place(&member.name) {
                        Some(place) => drop(places.insert(place, true)),
                        None => drop(ids.insert(member.name.to_string())),
                    },
                }
            }
        }
        let mut documents = self.find.find(&ids, &places, self.progress)?;
        documents.extend(self.listed(&clusters, &documents));
        Ok(Material { documents, clusters })
    }

    /// The documents of clusters that are not at hand, as the lists have them.
    fn listed(
        &self,
        clusters: &BTreeMap<u64, FinishedCluster>,
        found: &[FinishedDocument],
    ) -> Vec<FinishedDocument> {
        let found: BTreeSet<&PlaceInFile> = found.iter().map(|document| &document.place).collect();
        let members = clusters.values().flat_map(FinishedCluster::members);
        let placed = members.filter_map(|member| Some((member, member.place.as_ref()?)));
        let lost = placed.filter(|(_, place)| !found.contains(place));
        lost.map(|(member, place)| self.run().listed(member, place)).collect()
    }

    fn one(&self, document: &FinishedDocument, found: &Material) -> Result<Alone> {
        let cluster = cluster_of(&found.clusters, document);
        let mut alone = Alone {
            document: place(document, cluster),
            representative: None,
            stays: None,
            chain: Vec::new(),
            same_text: Vec::new(),
            links: Vec::new(),
        };
        let Some(cluster) = cluster else { return Ok(alone) };
        let members = found.members(cluster);
        let same = members.iter().filter(|other| {
            other.place != document.place && document.digest.is_some() && other.digest == document.digest
        });
        alone.same_text = same.map(|other| other.name()).collect();
        alone.same_text.sort_unstable();
        let representative = found.member(&cluster.representative);
        let listed = || cluster.representative.name.clone();
        alone.representative = Some(representative.map_or_else(listed, FinishedDocument::name));
        match representative {
            Some(representative) if representative.place == document.place => {
                let keep = &self.run().config.cluster.keep;
                let others = members.iter().filter(|other| other.place != document.place);
                let next = others.min_by(|a, b| keep_order(keep, a, b));
                alone.stays = next.and_then(|next| self.preference(document, next));
            }
            Some(representative) => {
                alone.chain = self.between(document, representative, (cluster, found))?;
                alone.stays = self.preference(document, representative);
            }
            None => {}
        }
        Ok(alone)
    }

    fn two(&self, a: &FinishedDocument, b: &FinishedDocument, found: &Material) -> Result<Explanation> {
        let [of_a, of_b] = [a, b].map(|document| cluster_of(&found.clusters, document));
        let (first, second) = (place(a, of_a), place(b, of_b));
        if let Some(cluster) = of_a.filter(|of_a| of_b.is_some_and(|of_b| of_b.number == of_a.number)) {
            let chain = self.between(a, b, (cluster, found))?;
            let ends =
                (chain.len() > 1).then(|| self.compare((a, b), true, &mut self.sketcher())).transpose()?;
            let stays = self.preference(a, b);
            return Ok(Explanation::Together(Box::new(Together { first, second, stays, chain, ends })));
        }
        let mut apart = Apart {
            first,
            second,
            ends: None,
            representatives: Vec::new(),
            best: None,
            compared: 0,
            all_pairs: true,
            capped: false,
        };
        if !(a.place.at.is_at_hand() && b.place.at.is_at_hand()) {
            apart.ends = Some(self.compare((a, b), false, &mut self.sketcher())?);
            apart.all_pairs = false;
        } else if a.digest.is_some() && b.digest.is_some() {
            self.fell_short((a, b), (of_a, of_b), found, &mut apart)?;
        }
        Ok(Explanation::Apart(Box::new(apart)))
    }

    /// How far two documents are from being together.
    fn fell_short(
        &self,
        (a, b): (&FinishedDocument, &FinishedDocument),
        (of_a, of_b): (Option<&FinishedCluster>, Option<&FinishedCluster>),
        found: &Material,
        apart: &mut Apart,
    ) -> Result<()> {
        let sketcher = &mut self.sketcher();
        let ends = self.compare((a, b), true, sketcher)?;
        if ends.kept_apart.is_some() {
            // No pair of the two clusters is compared.
            apart.ends = Some(ends);
            return Ok(());
        }
        let is_linked = |step: &Step| step.measures.is_some_and(|measures| measures.linked);
        if self.guarantee() && self.run().config.rule().is_some() {
            let side = |document, cluster: Option<&FinishedCluster>| {
                let leader = cluster.and_then(|cluster| found.member(&cluster.representative));
                // A copy of the representative has nothing else to say.
                let leader = leader.filter(|leader: &&FinishedDocument| {
                    let document: &FinishedDocument = document;
                    leader.digest != document.digest
                });
                std::iter::once(document).chain(leader).collect::<Vec<_>>()
            };
            let (left, right) = (side(a, of_a), side(b, of_b));
            let pairs = left.iter().flat_map(|x| right.iter().map(move |y| (*x, *y)));
            for pair in pairs.skip(1) {
                apart.representatives.push(self.compare(pair, true, sketcher)?);
            }
            apart.all_pairs = false;
        } else if let Some(rule) = self.run().config.rule() {
            let whole = |cluster: Option<&FinishedCluster>| {
                let held =
                    |cluster| found.members(cluster).iter().filter(|member| member.text.is_some()).count();
                cluster.is_none_or(|cluster| cluster.size as usize == held(cluster))
            };
            apart.all_pairs = whole(of_a) && whole(of_b);
            let (left, right) = (texts_of(a, of_a, found), texts_of(b, of_b, found));
            let sets: [Vec<Vec<u64>>; 2] = [&left, &right].map(|side| {
                let set = |document: &&FinishedDocument| {
                    sketcher.read(document.text.as_deref().unwrap_or_default(), document.day);
                    sketcher.words().to_vec()
                };
                side.iter().map(set).collect()
            });
            let mut best: Option<(Measure, (&FinishedDocument, &FinishedDocument))> = None;
            for (x, one) in left.iter().zip(&sets[0]) {
                self.progress.check()?;
                for (y, other) in right.iter().zip(&sets[1]) {
                    let measure = rule.full(one, other);
                    let order = best.map_or(Ordering::Less, |(known, _)| rule.closer(measure, known));
                    let is_ends = (x.position, y.position) == (a.position, b.position);
                    if measure.shared > 0 && (order.is_lt() || order.is_eq() && is_ends) {
                        best = Some((measure, (x, y)));
                    }
                    apart.compared += 1;
                }
            }
            if let Some((_, pair)) = best {
                let is_ends = (pair.0.position, pair.1.position) == (a.position, b.position);
                let step = if is_ends { ends.clone() } else { self.compare(pair, true, sketcher)? };
                apart.capped = self.run().capped && is_linked(&step);
                apart.best = Some(step);
            }
        }
        apart.ends = Some(ends);
        Ok(())
    }

    /// What holds two documents of one cluster together.
    fn between(
        &self,
        a: &FinishedDocument,
        b: &FinishedDocument,
        (cluster, found): (&FinishedCluster, &Material),
    ) -> Result<Vec<Step>> {
        let sketcher = &mut self.sketcher();
        let leader = found.member(&cluster.representative);
        let is_end = |leader: &FinishedDocument| {
            let is_same = |end: &FinishedDocument| {
                end.place == leader.place || end.digest.is_some() && end.digest == leader.digest
            };
            is_same(a) || is_same(b)
        };
        let same = a.digest.is_some() && a.digest == b.digest;
        let mut nodes = vec![a];
        if !same && self.guarantee() {
            nodes.extend(leader.filter(|leader| !is_end(leader)));
        } else if !same {
            nodes.extend(self.on_the_way(a, b, (cluster, found)));
        }
        nodes.push(b);
        let steps = nodes.windows(2).enumerate();
        let steps = steps.map(|(number, pair)| {
            let mut step = self.compare((pair[0], pair[1]), number < COMPARED, sketcher)?;
            if let Some(row) = listed_pair(cluster, pair[0], pair[1]).filter(|_| step.measures.is_none()) {
                step.listed = row.scores;
                step.same_text |= row.reason.as_deref() == Some("exact");
            }
            Ok(step)
        });
        steps.collect()
    }

    /// The documents between two of a cluster of links, on their ways to its representative.
    fn on_the_way<'d>(
        &self,
        a: &FinishedDocument,
        b: &FinishedDocument,
        (cluster, found): (&'d FinishedCluster, &'d Material),
    ) -> Vec<&'d FinishedDocument> {
        let way_of = |document: &FinishedDocument| -> Vec<&'d FinishedDocument> {
            let member = cluster.members().find(|member| match &member.place {
                Some(place) => *place == document.place,
                None => *member.name == *document.name(),
            });
            let way = member.map(|member| way(cluster, member)).unwrap_or_default();
            way.into_iter().filter_map(|member| found.member(member)).collect()
        };
        let (mut left, mut right) = (way_of(a), way_of(b));
        let mut meet = None;
        while let (Some(one), Some(other)) = (left.last(), right.last()) {
            if one.place != other.place {
                break;
            }
            meet = left.pop();
            right.pop();
        }
        right.reverse();
        let all = left.into_iter().chain(meet).chain(right);
        all.filter(|node| node.place != a.place && node.place != b.place).collect()
    }
}

/// The distinct texts of the cluster of a document, as far as they are held; its own text alone if it is in none.
fn texts_of<'d>(
    document: &'d FinishedDocument,
    cluster: Option<&FinishedCluster>,
    found: &'d Material,
) -> Vec<&'d FinishedDocument> {
    let mut all = cluster.map_or_else(Vec::new, |cluster| found.members(cluster));
    let mut seen = BTreeSet::from([document.digest]);
    all.retain(|member| {
        member.text.is_some() && (member.position == document.position || seen.insert(member.digest))
    });
    if all.is_empty() { vec![document] } else { all }
}

/// The row of the lists about two documents of a cluster, one of which is its representative.
fn listed_pair<'c>(
    cluster: &'c FinishedCluster,
    a: &FinishedDocument,
    b: &FinishedDocument,
) -> Option<&'c FinishedMember> {
    let is_kept =
        |document: &FinishedDocument| cluster.representative.place.as_ref() == Some(&document.place);
    let other = match (is_kept(a), is_kept(b)) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    cluster.others.iter().find(|member| member.place.as_ref() == Some(&other.place))
}

/// A member of a cluster and those that hold it to the representative, up to that one.
fn way<'c>(cluster: &'c FinishedCluster, member: &'c FinishedMember) -> Vec<&'c FinishedMember> {
    let mut way = vec![member];
    let mut at = member;
    while let Some(parent) = &at.parent {
        let Some(next) = cluster.members().find(|member| member.name == *parent) else { break };
        // Where ids repeat a way may seem to turn back.
        if way.len() > cluster.others.len() {
            break;
        }
        way.push(next);
        at = next;
    }
    if *at != cluster.representative {
        way.push(&cluster.representative);
    }
    way
}

/// A document and where it is.
fn place(document: &FinishedDocument, cluster: Option<&FinishedCluster>) -> Place {
    Place {
        id: document.name(),
        cluster: cluster.map(|cluster| ClusterNumber::Listed(cluster.number)),
        file: document.place.file.clone(),
        line: document.place.line,
        text_bytes: document.place.at.is_at_hand().then_some(document.text_bytes),
        // What is in a cluster has tokens.
        has_tokens: document.digest.is_some() || !document.place.at.is_at_hand(),
        against: document.set.clone(),
    }
}
