//! Clusters of documents that were in no cluster before a load: all of a first one. They are decided some at a time, and little is kept
//! of each document: its id, and its cluster. What is said about them is put in order at the end.

use std::collections::BTreeMap;

use crate::collection::tables::cluster_changes::{ChangeLine, ClusterId};
use crate::collection::tables::member::{Member, keep_order};
use crate::collection::tables::rows::{ClusterKey, StoredCluster};
use crate::config::Keep;
use crate::error::Result;

/// Where the id of a document stands among the bytes of all, and the place of its cluster.
#[derive(Clone, Copy, Debug)]
struct JoinedId {
    start: usize,
    len: u32,
    cluster: u32,
}

/// A cluster without its number.
#[derive(Debug)]
struct Fresh {
    at: ClusterKey,
    documents: u64,
    representative: u128,
    /// The ids of the representative, and of the first document in the order of ids.
    ids: [JoinedId; 2],
}

/// Clusters that have no number yet.
#[derive(Debug, Default)]
pub(in crate::collection) struct FreshClusters {
    clusters: Vec<Fresh>,
    joined: JoinedLines,
    /// Bytes of the ids of all representatives, which lines have once more.
    kept: usize,
}

impl FreshClusters {
    /// Takes a cluster: at least two documents.
    pub(in crate::collection) fn take(&mut self, at: ClusterKey, members: &[Member], keep: &Keep) {
        let cluster = self.clusters.len() as u32;
        let Some(representative) = members.iter().min_by(|a, b| keep_order(keep, a, b)) else { return };
        let mut first: Option<(&str, JoinedId)> = None;
        let mut kept = None;
        for member in members {
            let name = self.joined.push(&member.name, cluster);
            if first.is_none_or(|(other, _)| member.name.as_str() < other) {
                first = Some((&member.name, name));
            }
            if member.document.id == representative.document.id {
                kept = Some(name);
            }
        }
        if let (Some((_, first)), Some(kept)) = (first, kept) {
            self.kept += representative.name.len();
            let (documents, representative) = (members.len() as u64, representative.document.id);
            self.clusters.push(Fresh { at, documents, representative, ids: [kept, first] });
        }
    }

    /// How many there are.
    pub(in crate::collection) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Bytes that they take, and will take.
    pub(in crate::collection) fn bytes(&self) -> usize {
        self.clusters.len() * CLUSTER + self.kept + self.joined.bytes()
    }

    /// The first id of each, ascending.
    pub(in crate::collection) fn first_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.clusters.iter().map(|fresh| self.joined.name(fresh.ids[1])).collect();
        ids.sort_unstable();
        ids
    }

    /// Gives them the numbers that the others of a load leave, whose first ids are `others`, ascending. Adds their rows, and the lines
    /// that say that they were created.
    pub(in crate::collection) fn number(
        self,
        load: u32,
        others: &[&str],
        rows: &mut BTreeMap<ClusterKey, StoredCluster>,
        lines: &mut Vec<ChangeLine>,
    ) -> JoinedLines {
        let FreshClusters { clusters, mut joined, .. } = self;
        let mut order: Vec<usize> = (0..clusters.len()).collect();
        let first = |at: &usize| joined.name(clusters[*at].ids[1]);
        order.sort_unstable_by(|a, b| first(a).cmp(first(b)));
        let mut numbers = vec![ClusterId(0); clusters.len()];
        for (rank, at) in (1..).zip(order) {
            let before = others.partition_point(|other| *other < first(&at));
            numbers[at] = ClusterId::new(load, rank + before as u32);
        }
        for (fresh, cluster) in clusters.iter().zip(&numbers) {
            let Fresh { at, documents, representative, .. } = *fresh;
            rows.insert(at, StoredCluster { number: cluster.0, documents, representative });
            let representative = joined.name(fresh.ids[0]).to_owned();
            lines.push(ChangeLine::Created { cluster: *cluster, representative });
        }
        joined.numbers = numbers;
        joined.sort();
        joined
    }
}

/// Bytes of a cluster, with its row and its line, but for the representative's id.
const CLUSTER: usize = 320;

/// What is said about documents that join clusters, in a few bytes each.
#[derive(Debug, Default)]
pub(in crate::collection) struct JoinedLines {
    /// The bytes of all ids.
    bytes: String,
    joined: Vec<JoinedId>,
    /// The numbers of clusters, by place.
    numbers: Vec<ClusterId>,
}

impl JoinedLines {
    fn push(&mut self, name: &str, cluster: u32) -> JoinedId {
        let joined = JoinedId { start: self.bytes.len(), len: name.len() as u32, cluster };
        self.bytes.push_str(name);
        self.joined.push(joined);
        joined
    }

    fn name(&self, JoinedId { start, len, .. }: JoinedId) -> &str {
        &self.bytes[start..start + len as usize]
    }

    fn sort(&mut self) {
        let mut joined = std::mem::take(&mut self.joined);
        joined.sort_unstable_by(|a, b| self.name(*a).cmp(self.name(*b)));
        self.joined = joined;
    }

    /// With what lists have that grow.
    fn bytes(&self) -> usize {
        2 * (self.bytes.len() + self.joined.len() * size_of::<JoinedId>())
    }

    fn lines(&self) -> impl Iterator<Item = ChangeLine> {
        self.joined.iter().map(|joined| ChangeLine::Joined {
            id: self.name(*joined).to_owned(),
            cluster: self.numbers[joined.cluster as usize],
        })
    }
}

/// What a commit says about clusters.
#[derive(Debug, Default)]
pub(in crate::collection) struct ChangeLines {
    /// Ascending.
    lines: Vec<ChangeLine>,
    joined: JoinedLines,
}

impl From<Vec<ChangeLine>> for ChangeLines {
    fn from(lines: Vec<ChangeLine>) -> Self {
        ChangeLines::new(lines, JoinedLines::default())
    }
}

impl ChangeLines {
    /// These lines, in any order, and the others.
    pub(in crate::collection) fn new(mut lines: Vec<ChangeLine>, joined: JoinedLines) -> ChangeLines {
        lines.sort_unstable();
        ChangeLines { lines, joined }
    }

    /// How many there are.
    pub(in crate::collection) fn len(&self) -> usize {
        self.lines.len() + self.joined.joined.len()
    }

    /// Hands them on, ascending.
    ///
    /// # Errors
    /// What `each` gives.
    pub(in crate::collection) fn each(&self, mut each: impl FnMut(&ChangeLine) -> Result<()>) -> Result<()> {
        let mut rest = self.lines.iter().peekable();
        for joined in self.joined.lines() {
            while let Some(line) = rest.next_if(|line| **line < joined) {
                each(line)?;
            }
            each(&joined)?;
        }
        rest.try_for_each(each)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::collection::load::clusters::match_clusters::{After, Before, ClusterMatching, match_clusters};
    use crate::collection::tables::document::Document;

    /// The document of a number.
    fn member(number: u128, bytes: u64) -> Member {
        let document = Document { live: true, worth: bytes, ..Document::gone(number) };
        // Names in another order than digests, none the beginning of all others.
        Member { document, name: format!("n{}", number * 7 % 101), value: String::new() }
    }

    fn name(number: u128) -> String {
        member(number, 0).name
    }

    type Told = (BTreeMap<ClusterKey, StoredCluster>, Vec<ChangeLine>);

    /// Clusters as they are matched all at once.
    fn at_once(keep: &Keep, before: &[Before<'_>], after: &[After]) -> Told {
        let ClusterMatching { numbers, representatives, lines, .. } =
            match_clusters((3, keep), before, after, &[], &name);
        let rows = after.iter().zip(numbers).zip(representatives).map(|((cluster, number), best)| {
            let (documents, representative) =
                (cluster.members.len() as u64, cluster.members[best].document.id);
            (cluster.at, StoredCluster { number: number.0, documents, representative })
        });
        (rows.collect(), lines)
    }

    /// Clusters of which those that share nothing with old ones are taken by themselves.
    fn apart(keep: &Keep, before: &[Before<'_>], after: Vec<After>) -> Told {
        let is_old =
            |member: &Member| before.iter().any(|before| before.documents.contains(&member.document.id));
        let (others, fresh): (Vec<After>, Vec<After>) =
            after.into_iter().partition(|after| after.members.iter().any(is_old));
        let mut taken = FreshClusters::default();
        for After { at, members } in fresh {
            // In no order.
            let members: Vec<Member> = members.into_iter().rev().collect();
            taken.take(at, &members, keep);
        }
        let matching = match_clusters((3, keep), before, &others, &taken.first_ids(), &name);
        let own: Vec<&str> = matching.fresh.iter().map(|at| others[*at].members[0].name.as_str()).collect();
        let rows = others.iter().zip(&matching.numbers).zip(&matching.representatives);
        let mut rows: BTreeMap<ClusterKey, StoredCluster> = rows
            .map(|((cluster, number), best)| {
                let (documents, representative) =
                    (cluster.members.len() as u64, cluster.members[*best].document.id);
                (cluster.at, StoredCluster { number: number.0, documents, representative })
            })
            .collect();
        let mut lines = matching.lines;
        let joined = taken.number(3, &own, &mut rows, &mut lines);
        let (all, mut told) = (ChangeLines::new(lines, joined), Vec::new());
        all.each(|line| {
            told.push(line.clone());
            Ok(())
        })
        .expect("told");
        assert_eq!(told.len(), all.len());
        (rows, told)
    }

    proptest! {
        #[test]
        fn clusters_taken_apart_are_those_matched_at_once(
            was in prop::collection::vec(0u8..7, 40), is in prop::collection::vec(0u8..9, 40),
            worth in prop::collection::vec(0u64..3, 40), longest in any::<bool>(),
        ) {
            let keep: Keep = if longest { "longest" } else { "first" }.parse().expect("a policy");
            // Those of the last numbers are in no cluster.
            let of = |all: &[u8], cluster: u8| {
                let members = (1u128..).zip(all).filter(move |(_, of)| **of == cluster).map(|(id, _)| id);
                members.collect::<Vec<u128>>()
            };
            let old: Vec<Vec<u128>> = (0..3).map(|at| of(&was, at)).filter(|ids| ids.len() > 1).collect();
            let before: Vec<Before<'_>> = (1..).zip(&old)
                .map(|(rank, documents)| Before { id: ClusterId::new(1, rank), representative: documents[0], documents })
                .collect();
            let after = || -> Vec<After> {
                let clusters = (0..8u8).map(|at| (at, of(&is, at))).filter(|(_, ids)| ids.len() > 1);
                let cluster = |(at, ids): (u8, Vec<u128>)| {
                    let mut members: Vec<Member> =
                        ids.into_iter().map(|id| member(id, worth[id as usize - 1])).collect();
                    members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                    After { at: ClusterKey { component: at.into(), place: 0 }, members }
                };
                clusters.map(cluster).collect()
            };
            prop_assert_eq!(apart(&keep, &before, after()), at_once(&keep, &before, &after()));
        }
    }
}
