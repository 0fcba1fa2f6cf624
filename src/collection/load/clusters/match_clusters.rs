//! Clusters over time: which one goes on under its number, what is new, and what is said about it.

use hashbrown::{HashMap, HashSet};

use crate::collection::tables::cluster_changes::{ChangeLine, ClusterId};
use crate::collection::tables::member::{Member, keep_order};
use crate::collection::tables::rows::ClusterKey;
use crate::config::Keep;

/// A cluster before a load.
#[derive(Debug)]
pub struct Before<'a> {
    /// Its number.
    pub id: ClusterId,
    /// Digest of its representative's id.
    pub representative: u128,
    /// Digests of its documents' ids.
    pub documents: &'a [u128],
}

/// A cluster after a load: at least two documents, ascending by id.
#[derive(Debug)]
pub struct After {
    /// Where it is.
    pub at: ClusterKey,
    /// Its documents.
    pub members: Vec<Member>,
}

impl After {
    /// Documents in a place that nobody asks for.
    pub fn of(members: Vec<Member>) -> After {
        After { at: ClusterKey { component: 0, place: 0 }, members }
    }
}

/// What becomes of the clusters that a load touched.
#[derive(Debug, Default)]
pub struct ClusterMatching {
    /// The numbers of the clusters after the load.
    pub numbers: Vec<ClusterId>,
    /// For each of them the place of its representative among its members.
    pub representatives: Vec<usize>,
    /// Which of them have new numbers, ascending by their first members.
    pub fresh: Vec<usize>,
    /// What is said about it, in order.
    pub lines: Vec<ChangeLine>,
}

/// Gives numbers to clusters: those that share most documents first, then the lower number, then the lower first member.
/// `name` turns digests of ids into ids. New numbers leave out those of clusters whose first members are `others`, ascending.
pub fn match_clusters(
    (load, keep): (u32, &Keep),
    before: &[Before<'_>],
    after: &[After],
    others: &[&str],
    name: &dyn Fn(u128) -> String,
) -> ClusterMatching {
    let old = before.iter().enumerate().flat_map(|(at, b)| b.documents.iter().map(move |id| (*id, at)));
    let old: HashMap<u128, usize> = old.collect();
    let shared = shared(&old, after);
    let (numbers, heirs, fresh) = numbers(load, before, after, &shared, others);
    let best = |cluster: &After| {
        let members = 0..cluster.members.len();
        members.min_by(|a, b| keep_order(keep, &cluster.members[*a], &cluster.members[*b])).unwrap_or(0)
    };
    let representatives: Vec<usize> = after.iter().map(best).collect();
    let mut matching = ClusterMatching { numbers, representatives, fresh, lines: Vec::new() };
    matching.say(before, after, &heirs, name);
    matching.say_of_documents(before, after, &old, name);
    matching.say_of_unions(before, &shared, &heirs);
    matching.lines.sort_unstable();
    matching
}

/// What is said where clusters have their numbers already: those that the clusters of an earlier commit had.
pub fn tell_restored(
    before: &[Before<'_>],
    after: &[After],
    numbers: Vec<ClusterId>,
    representatives: Vec<usize>,
    name: &dyn Fn(u128) -> String,
) -> Vec<ChangeLine> {
    let old = before.iter().enumerate().flat_map(|(at, b)| b.documents.iter().map(move |id| (*id, at)));
    let old: HashMap<u128, usize> = old.collect();
    let shared = shared(&old, after);
    let places: HashMap<u64, usize> = numbers.iter().enumerate().map(|(at, number)| (number.0, at)).collect();
    let heirs: Vec<Option<usize>> = before.iter().map(|old| places.get(&old.id.0).copied()).collect();
    let mut matching = ClusterMatching { numbers, representatives, fresh: Vec::new(), lines: Vec::new() };
    matching.say(before, after, &heirs, name);
    matching.say_of_documents(before, after, &old, name);
    matching.say_of_unions(before, &shared, &heirs);
    matching.lines
}

/// How many documents each cluster before shares with each after, those that share any.
fn shared(old: &HashMap<u128, usize>, after: &[After]) -> Vec<(usize, usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (new, cluster) in after.iter().enumerate() {
        let ids = cluster.members.iter().filter_map(|member| old.get(&member.document.id));
        pairs.extend(ids.map(|old| (*old, new)));
    }
    pairs.sort_unstable();
    pairs.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len())).collect()
}

/// The number of each cluster after, for each before the cluster that goes on under its number, and the clusters whose numbers are new.
fn numbers(
    load: u32,
    before: &[Before<'_>],
    after: &[After],
    shared: &[(usize, usize, usize)],
    others: &[&str],
) -> (Vec<ClusterId>, Vec<Option<usize>>, Vec<usize>) {
    let mut by_share = shared.to_vec();
    let lowest = |new: usize| &after[new].members[0].name;
    by_share.sort_unstable_by(|a, b| {
        b.2.cmp(&a.2).then(before[a.0].id.cmp(&before[b.0].id)).then_with(|| lowest(a.1).cmp(lowest(b.1)))
    });
    let mut heirs: Vec<Option<usize>> = vec![None; before.len()];
    let mut numbers: Vec<Option<ClusterId>> = vec![None; after.len()];
    for (old, new, _) in by_share {
        if heirs[old].is_none() && numbers[new].is_none() {
            (heirs[old], numbers[new]) = (Some(new), Some(before[old].id));
        }
    }
    let mut fresh: Vec<usize> = (0..after.len()).filter(|new| numbers[*new].is_none()).collect();
    fresh.sort_unstable_by_key(|new| lowest(*new));
    for (rank, new) in (1..).zip(&fresh) {
        let first = lowest(*new).as_str();
        let left_out = others.partition_point(|other| *other < first) as u32;
        numbers[*new] = Some(ClusterId::new(load, rank + left_out));
    }
    (numbers.into_iter().map(|number| number.unwrap_or(ClusterId(0))).collect(), heirs, fresh)
}

impl ClusterMatching {
    /// What is created, dissolved, or represented by another document.
    fn say(
        &mut self,
        before: &[Before<'_>],
        after: &[After],
        heirs: &[Option<usize>],
        name: &dyn Fn(u128) -> String,
    ) {
        let mut old_of: Vec<Option<usize>> = vec![None; after.len()];
        heirs.iter().enumerate().for_each(|(old, heir)| {
            heir.iter().for_each(|heir| old_of[*heir] = Some(old));
        });
        for (new, cluster) in after.iter().enumerate() {
            let member = &cluster.members[self.representatives[new]];
            let number = self.numbers[new];
            match old_of[new].map(|old| before[old].representative) {
                None => {
                    let representative = member.name.clone();
                    self.lines.push(ChangeLine::Created { cluster: number, representative });
                }
                Some(old) if old != member.document.id => {
                    let (from, to) = (name(old), member.name.clone());
                    self.lines.push(ChangeLine::Representative { cluster: number, from, to });
                }
                Some(_) => {}
            }
        }
    }

    /// What happened to documents.
    fn say_of_documents(
        &mut self,
        before: &[Before<'_>],
        after: &[After],
        old: &HashMap<u128, usize>,
        name: &dyn Fn(u128) -> String,
    ) {
        let mut still: HashSet<u128> = HashSet::new();
        for (number, cluster) in self.numbers.iter().zip(after) {
            for member in &cluster.members {
                let id = member.name.clone();
                still.insert(member.document.id);
                match old.get(&member.document.id).map(|at| before[*at].id) {
                    None => self.lines.push(ChangeLine::Joined { id, cluster: *number }),
                    Some(from) if from != *number => {
                        self.lines.push(ChangeLine::Moved { id, from, to: *number });
                    }
                    Some(_) => {}
                }
            }
        }
        for cluster in before {
            for id in cluster.documents.iter().filter(|id| !still.contains(*id)) {
                self.lines.push(ChangeLine::Left { id: name(*id), cluster: cluster.id });
            }
        }
    }

    /// What became of whole clusters.
    fn say_of_unions(
        &mut self,
        before: &[Before<'_>],
        shared: &[(usize, usize, usize)],
        heirs: &[Option<usize>],
    ) {
        for (old, heir) in heirs.iter().enumerate() {
            let from = before[old].id;
            let (first, end) =
                (shared.partition_point(|(of, ..)| *of < old), shared.partition_point(|(of, ..)| *of <= old));
            let into = shared[first..end].iter();
            match heir {
                None => {
                    match into.max_by_key(|(_, new, count)| (*count, std::cmp::Reverse(self.numbers[*new]))) {
                        None => self.lines.push(ChangeLine::Dissolved { cluster: from }),
                        Some((_, new, _)) => {
                            self.lines.push(ChangeLine::Merged { from, into: self.numbers[*new] });
                        }
                    }
                }
                Some(heir) => {
                    let others = into.filter(|(_, new, _)| new != heir).map(|(_, new, _)| self.numbers[*new]);
                    self.lines.extend(others.map(|into| ChangeLine::Split { from, into }));
                }
            }
        }
    }
}
