//! Key groups on their way out: what each worker is sent of the groups of a bucket.

use std::ops::Range;

use crate::document::Doc;
use crate::flow::distributed::topology::Topology;
use crate::flow::records::{KeyGroups, Posting};
use crate::limits::sized;

/// A posting, as far as groups know it.
pub trait Grouped {
    /// The document.
    fn doc(&self) -> Doc;

    /// The size of its set.
    fn size(&self) -> u32;
}

impl Grouped for Posting {
    fn doc(&self) -> Doc {
        self.doc
    }

    fn size(&self) -> u32 {
        self.size
    }
}

/// Documents of groups that are gathered for all workers of several processes: each message wakes three threads.
const GATHERED: usize = sized(64 << 10, 40);

/// Groups addressed to the workers that own a member with partners.
pub struct AddressedGroups {
    /// What goes to each worker.
    sent: Vec<KeyGroups>,
    /// The workers of this process.
    local: Range<usize>,
    /// The group that is addressed, and for each worker the last one that was addressed to it.
    turn: u64,
    turns: Vec<u64>,
    /// So many documents go out at once, if more may come.
    least: usize,
}

impl AddressedGroups {
    /// Nothing yet.
    pub fn new(topology: Topology) -> AddressedGroups {
        AddressedGroups {
            sent: vec![KeyGroups::default(); topology.all()],
            local: topology.local_workers(),
            turn: 0,
            turns: vec![0; topology.all()],
            least: if topology.processes() > 1 { (GATHERED / topology.all()).max(1) } else { 1 },
        }
    }

    /// Addresses a new posting and the stored ones that it is to be paired with to the owner of the new one. Pairs of
    /// stored contents are known, so it is never they that lead.
    pub fn send_alone<'a, T: Grouped + 'a>(
        &mut self,
        posting: &T,
        stored: impl Iterator<Item = &'a T> + Clone,
    ) {
        let owner = self.owner(posting.doc());
        let groups = &mut self.sent[owner];
        let before = groups.docs.len();
        groups.docs.push(posting.doc());
        groups.docs.extend(stored.clone().map(Grouped::doc));
        let partners = groups.docs.len() - before - 1;
        if partners == 0 {
            groups.docs.truncate(before);
            return;
        }
        if !self.local.contains(&owner) {
            groups.stored_sizes.extend(stored.map(|other| (other.doc(), other.size())));
        }
        groups.following.push(partners as u32);
        groups.following.resize(before + 1 + partners, 0);
    }

    /// Addresses a group to every worker that owns a member with partners behind it, as many as `following` says: from the first such
    /// member on.
    pub fn send<T: Grouped>(&mut self, group: &[T], following: &[u32]) {
        self.turn += 1;
        for (at, posting) in group.iter().enumerate().filter(|(at, _)| following[*at] > 0) {
            let owner = self.owner(posting.doc());
            if std::mem::replace(&mut self.turns[owner], self.turn) != self.turn {
                let groups = &mut self.sent[owner];
                groups.docs.extend(group[at..].iter().map(Grouped::doc));
                groups.following.extend_from_slice(&following[at..]);
            }
        }
    }

    /// The worker of a document. Division of 32 bits takes half the time of 64.
    fn owner(&self, doc: Doc) -> usize {
        (doc % self.sent.len() as u32) as usize
    }

    /// Addresses new postings, of which each is to be paired with as many of what stands behind it as `following` says: first the
    /// other new ones, then the stored ones, which lead nobody. These stand there once for all.
    pub fn send_together<T: Grouped>(&mut self, new: &[T], stored: &[T], following: &[u32]) {
        self.turn += 1;
        for posting in new {
            let owner = self.owner(posting.doc());
            if std::mem::replace(&mut self.turns[owner], self.turn) == self.turn {
                continue;
            }
            let groups = &mut self.sent[owner];
            groups.docs.extend(new.iter().chain(stored).map(Grouped::doc));
            groups.following.extend_from_slice(following);
            groups.following.resize(groups.docs.len(), 0);
            if !self.local.contains(&owner) {
                groups.stored_sizes.extend(stored.iter().map(|other| (other.doc(), other.size())));
            }
        }
    }

    /// Has the owner of a document know of a hot key that it shows.
    pub fn mark_hot(&mut self, doc: Doc) {
        let owner = self.owner(doc);
        self.sent[owner].hot.push(doc);
    }

    /// What goes out now: if more may come, only what is long enough.
    pub fn take(&mut self, is_last: bool) -> impl Iterator<Item = KeyGroups> + '_ {
        let least = if is_last { 1 } else { self.least };
        let is_ready = move |groups: &KeyGroups| groups.docs.len() + groups.hot.len() >= least;
        let filled = self.sent.iter_mut().zip(0..).filter(move |(groups, _)| is_ready(groups));
        filled.map(|(groups, owner)| KeyGroups { owner, ..std::mem::take(groups) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker is sent a group from its first member with partners on, so that all pairs of its members are there.
    #[test]
    fn a_group_is_sent_from_the_first_member_of_each_worker_on() {
        let group: Vec<Posting> = [4, 7, 2, 5, 6].map(|doc| Posting { key: 1, size: 9, doc }).into();
        let mut addressed = AddressedGroups::new(Topology::alone(3));
        addressed.send(&group, &[3, 2, 2, 0, 0]);
        let sent: Vec<(u32, Vec<Doc>, Vec<u32>)> =
            addressed.take(true).map(|groups| (groups.owner, groups.docs, groups.following)).collect();
        // Worker 1 leads with 4 and 7, worker 2 with 2; of worker 0 nobody has a partner behind it.
        assert_eq!(sent, [(1, vec![4, 7, 2, 5, 6], vec![3, 2, 2, 0, 0]), (2, vec![2, 5, 6], vec![2, 0, 0])]);
    }

    /// What one worker of several processes sends in parts is what one that is alone sends at once.
    #[test]
    fn groups_wait_until_they_are_long_and_none_stays() {
        let posting = |key: u64, doc: Doc| Posting { key, size: 10, doc };
        let groups: Vec<Vec<Posting>> = (0..2 * GATHERED as u64)
            .map(|key| (0..3).map(|at| posting(key, (key % 5) as Doc + 7 * at)).collect())
            .collect();
        let mut gathering = AddressedGroups::new(Topology::new(1, 2, 2));
        let mut at_once = AddressedGroups::new(Topology::alone(4));
        let (mut sent, mut want) = (vec![KeyGroups::default(); 4], vec![KeyGroups::default(); 4]);
        let (mut early, mut parts) = (0, 0);
        for (at, group) in groups.iter().enumerate() {
            let is_last = at + 1 == groups.len();
            for (addressed, all) in [(&mut gathering, &mut sent), (&mut at_once, &mut want)] {
                addressed.send(group, &[2, 1, 0]);
                addressed.mark_hot(group[0].doc);
                let is_gathering = addressed.least > 1;
                for part in addressed.take(is_last) {
                    if is_gathering {
                        parts += 1;
                        early += usize::from(!is_last);
                    }
                    let whole = &mut all[part.owner as usize];
                    whole.docs.extend(part.docs);
                    whole.following.extend(part.following);
                    whole.hot.extend(part.hot);
                }
            }
        }
        assert!(early > 0 && parts < groups.len(), "{early} of {parts} early");
        for (sent, want) in sent.iter().zip(&want) {
            assert_eq!((&sent.docs, &sent.following, &sent.hot), (&want.docs, &want.following, &want.hot));
        }
    }
}
