//! Clusters over time: which one goes on under its number, what is new, and what is said about it.

use std::cmp::Ordering;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::collection::tables::document::{Document, pack, unpack};
use crate::config::Keep;

/// A cluster's number: the load that made it, and its rank among those that load made, by lowest member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

impl ClusterId {
    /// The number of the cluster of this rank, from 1, of a load.
    pub fn new(load: u32, rank: u32) -> ClusterId {
        ClusterId(pack(load, rank))
    }
}

impl std::fmt::Display for ClusterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (load, rank) = unpack(self.0);
        write!(f, "{load}.{rank}")
    }
}

impl Serialize for ClusterId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClusterId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parts =
            text.split_once('.').and_then(|(load, rank)| Some((load.parse().ok()?, rank.parse().ok()?)));
        let wrong = || serde::de::Error::custom(format!("{text:?} is no cluster, expected LOAD.RANK"));
        parts.map(|(load, rank)| ClusterId::new(load, rank)).ok_or_else(wrong)
    }
}

/// One thing that happened to the clusters in a load. All lines of a commit turn the clusters before it into those after
/// it: `joined`, `left` and `moved` say what happened to every document whose cluster is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase", deny_unknown_fields)]
pub enum Line {
    /// A cluster that was not there before.
    Created {
        /// The cluster.
        cluster: ClusterId,
        /// Its representative.
        representative: String,
    },
    /// A document, in no cluster before, is in one.
    Joined {
        /// The document.
        id: String,
        /// The cluster.
        cluster: ClusterId,
    },
    /// A document is in another cluster than before.
    Moved {
        /// The document.
        id: String,
        /// The cluster before.
        from: ClusterId,
        /// The cluster now.
        to: ClusterId,
    },
    /// A document is in no cluster any more.
    Left {
        /// The document.
        id: String,
        /// The cluster before.
        cluster: ClusterId,
    },
    /// A cluster goes on in another one: all of it that is still in any.
    Merged {
        /// The cluster that is no more.
        from: ClusterId,
        /// The one with most of its documents.
        into: ClusterId,
    },
    /// Documents of a cluster that goes on are in another one now.
    Split {
        /// The cluster.
        from: ClusterId,
        /// The other one.
        into: ClusterId,
    },
    /// A cluster of which no two documents are together any more.
    Dissolved {
        /// The cluster.
        cluster: ClusterId,
    },
    /// A cluster is represented by another document.
    Representative {
        /// The cluster.
        cluster: ClusterId,
        /// The representative before.
        from: String,
        /// The one now.
        to: String,
    },
}

/// A document in a cluster, as far as clusters care.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its row.
    pub document: Document,
    /// Its id.
    pub name: String,
    /// The value it is compared by.
    pub value: String,
}

/// Orders members by the keep policy, the one to keep first; ties go to the load that first brought the id, then the id.
pub fn keep_order(keep: &Keep, a: &Member, b: &Member) -> Ordering {
    let position = (a.document.loads.0, &a.name).cmp(&(b.document.loads.0, &b.name));
    let policy = match keep {
        Keep::First => Ordering::Equal,
        Keep::Last => return position.reverse(),
        Keep::Longest => b.document.worth.cmp(&a.document.worth),
        Keep::Shortest => a.document.worth.cmp(&b.document.worth),
        Keep::Field { max, .. } => by_value(a, b, *max),
    };
    policy.then(position)
}

/// Documents without the value come last, whichever way the others are ordered; numbers stand before strings.
fn by_value(a: &Member, b: &Member, max: bool) -> Ordering {
    let rank = |member: &Member| match member.document.worth {
        0 => 2,
        u64::MAX => 1,
        _ => 0,
    };
    let ascending = (a.document.worth, &a.value).cmp(&(b.document.worth, &b.value));
    match rank(a).cmp(&rank(b)) {
        Ordering::Equal => {
            if max {
                ascending.reverse()
            } else {
                ascending
            }
        }
        _ if rank(a) == 2 || rank(b) == 2 || !max => rank(a).cmp(&rank(b)),
        other => other.reverse(),
    }
}

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
    /// The label of its component, and its place in it.
    pub at: (u32, u32),
    /// Its documents.
    pub members: Vec<Member>,
}

/// What becomes of the clusters that a load touched.
#[derive(Debug, Default)]
pub struct Fate {
    /// The numbers of the clusters after the load.
    pub numbers: Vec<ClusterId>,
    /// For each of them the place of its representative among its members.
    pub representatives: Vec<usize>,
    /// What is said about it, in order.
    pub lines: Vec<Line>,
}

/// Gives numbers to clusters: those that share most documents first, then the lower number, then the lower first member.
/// `name` turns digests of ids into ids.
pub fn fate(
    load: u32,
    keep: &Keep,
    before: &[Before<'_>],
    after: &[After],
    name: &dyn Fn(u128) -> String,
) -> Fate {
    let old = before.iter().enumerate().flat_map(|(at, b)| b.documents.iter().map(move |id| (*id, at)));
    let old: HashMap<u128, usize> = old.collect();
    let shared = shared(&old, after);
    let (numbers, heirs) = numbers(load, before, after, &shared);
    let best = |cluster: &After| {
        let members = 0..cluster.members.len();
        members.min_by(|a, b| keep_order(keep, &cluster.members[*a], &cluster.members[*b])).unwrap_or(0)
    };
    let representatives: Vec<usize> = after.iter().map(best).collect();
    let mut fate = Fate { numbers, representatives, lines: Vec::new() };
    fate.say(before, after, &heirs, name);
    fate.say_of_documents(before, after, &old, name);
    fate.say_of_unions(before, &shared, &heirs);
    fate.lines.sort_unstable();
    fate
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

/// The number of each cluster after, and for each before the cluster that goes on under its number.
fn numbers(
    load: u32,
    before: &[Before<'_>],
    after: &[After],
    shared: &[(usize, usize, usize)],
) -> (Vec<ClusterId>, Vec<Option<usize>>) {
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
    for (rank, new) in (1..).zip(fresh) {
        numbers[new] = Some(ClusterId::new(load, rank));
    }
    (numbers.into_iter().map(|number| number.unwrap_or(ClusterId(0))).collect(), heirs)
}

impl Fate {
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
                    self.lines.push(Line::Created { cluster: number, representative });
                }
                Some(old) if old != member.document.id => {
                    let (from, to) = (name(old), member.name.clone());
                    self.lines.push(Line::Representative { cluster: number, from, to });
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
        let mut still: HashMap<u128, ()> = HashMap::new();
        for (number, cluster) in self.numbers.iter().zip(after) {
            for member in &cluster.members {
                let id = member.name.clone();
                still.insert(member.document.id, ());
                match old.get(&member.document.id).map(|at| before[*at].id) {
                    None => self.lines.push(Line::Joined { id, cluster: *number }),
                    Some(from) if from != *number => self.lines.push(Line::Moved { id, from, to: *number }),
                    Some(_) => {}
                }
            }
        }
        for cluster in before {
            for id in cluster.documents.iter().filter(|id| !still.contains_key(*id)) {
                self.lines.push(Line::Left { id: name(*id), cluster: cluster.id });
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
            let into = shared.iter().filter(|(of, ..)| *of == old);
            match heir {
                None => {
                    match into.max_by_key(|(_, new, count)| (*count, std::cmp::Reverse(self.numbers[*new]))) {
                        None => self.lines.push(Line::Dissolved { cluster: from }),
                        Some((_, new, _)) => self.lines.push(Line::Merged { from, into: self.numbers[*new] }),
                    }
                }
                Some(heir) => {
                    let others = into.filter(|(_, new, _)| new != heir).map(|(_, new, _)| self.numbers[*new]);
                    self.lines.extend(others.map(|into| Line::Split { from, into }));
                }
            }
        }
    }
}
