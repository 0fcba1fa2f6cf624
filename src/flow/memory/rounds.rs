//! Key groups that a worker has received, given out again in rounds: each round has the groups of some of the worker's
//! documents. Without a bound of the memory there is one round of all; with one, groups beyond it wait on disk.

use std::ops::Range;
use std::path::Path;

use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::memory::budget::mapped;
use crate::flow::memory::document_bits::ones;
use crate::flow::memory::spill::SpillFile;
use crate::flow::records::KeyGroups;
use crate::limits::sized;

/// The places of some of a worker's documents in groups.
#[derive(Default)]
pub struct Index {
    /// The rows of those documents.
    pub rows: Range<usize>,
    docs: Vec<Doc>,
    /// Where the places of each row end; those of the next one start there.
    ends: Vec<u32>,
    places: Vec<GroupPlace>,
}

/// Where a document stands in a group. Most groups are of two: then the partner itself stands here, and the group,
/// which lies anywhere in memory, need not be looked at.
#[derive(Clone, Copy, Default)]
struct GroupPlace {
    /// First partner: its place among the members, or the partner itself if there is only one.
    first: u32,
    /// Number of partners, at least one.
    partners: u32,
}

/// A document with partners in a group: its row, the place of the first partner, and how many there are.
type Lead = (u32, u32, u32);

impl Index {
    /// Lists for each row where it stands; `leads` are gone through twice.
    fn build(
        &mut self,
        rows: Range<usize>,
        leads: impl Iterator<Item = Lead> + Clone,
        docs: &[Doc],
    ) -> Result<()> {
        let first_row = rows.start;
        // At first the places of each row, then where they start; as they are filled in, where they end.
        let mut ends: Vec<u32> = mapped(rows.len());
        ends.resize(rows.len(), 0);
        let mut placed = 0u64;
        leads.clone().for_each(|(row, ..)| {
            ends[row as usize - first_row] += 1;
            placed += 1;
        });
        if u32::try_from(placed).is_err() {
            return Err(Error::Limit("more shared keys than a worker can count; use more workers".into()));
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        self.places = mapped(placed as usize);
        self.places.resize(placed as usize, GroupPlace::default());
        for (row, first, partners) in leads {
            let next = &mut ends[row as usize - first_row];
            let first = if partners == 1 { docs[first as usize] } else { first };
            self.places[*next as usize] = GroupPlace { first, partners };
            *next += 1;
        }
        (self.rows, self.ends) = (rows, ends);
        Ok(())
    }

    /// Looks at the groups of a row that comes next. They lie anywhere in memory: asked for at once, they are there when they
    /// are counted.
    pub fn touch(&self, row: usize) {
        if row < self.rows.end {
            let firsts = self.partners(row).map(|partners| partners.first().copied().unwrap_or(0));
            std::hint::black_box(firsts.fold(0, |all, first| all ^ first));
        }
    }

    /// The documents that a row is to be paired with, a slice for each group.
    pub fn partners(&self, row: usize) -> impl Iterator<Item = &[Doc]> {
        let row = row - self.rows.start;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let places = &self.places[start as usize..self.ends[row] as usize];
        places.iter().map(|place| match place.partners {
            1 => std::slice::from_ref(&place.first),
            count => &self.docs[place.first as usize..][..count as usize],
        })
    }
}

/// Parts that rows are divided into once groups have to be spilled: a bit each of a word.
const PARTS: usize = 64;

/// Numbers with which the list of a part goes to disk: at least and at most.
const LONG: (usize, usize) = sized((1 << 10, 16 << 10), (3, 9));

/// The groups of one worker.
pub struct Rounds {
    held: KeyGroups,
    /// Members that may be held.
    most: usize,
    spill: SpillFile,
    /// For each part its stretches in the spill: first byte, and how many numbers.
    stretches: Vec<Vec<(u64, usize)>>,
    /// Rows of this worker, and of one part.
    rows: (usize, usize),
    base: Doc,
    worker: usize,
    workers: usize,
    /// The part after the one whose rounds these are.
    next: usize,
    tiles: Vec<Tile>,
}

/// A round of groups that were spilled: some rows of a part, and a share of their partners.
struct Tile {
    part: usize,
    rows: Range<usize>,
    /// Of `of` shares the one of partners whose number leaves `share` when divided by `of`.
    share: u32,
    of: u32,
}

impl Rounds {
    /// No groups yet, for a worker with this many rows, whose documents' numbers begin at `base`, a multiple of the workers; at most
    /// `bytes` of them will be held, give or take one batch.
    pub fn new(
        rows: usize,
        base: Doc,
        (worker, workers): (usize, usize),
        bytes: u64,
        scratch: &Path,
    ) -> Rounds {
        debug_assert!((base as usize).is_multiple_of(workers), "document {base} is not of the first worker");
        // Places of members are numbers of 32 bits, whatever the memory.
        let most = usize::try_from(bytes / 8).unwrap_or(usize::MAX).min(1 << 31);
        Rounds {
            held: KeyGroups { docs: mapped(most), following: mapped(most), ..KeyGroups::default() },
            most,
            spill: SpillFile::new(scratch),
            stretches: vec![Vec::new(); PARTS],
            rows: (rows, rows.div_ceil(PARTS).max(1)),
            base,
            worker,
            workers,
            next: 0,
            tiles: Vec::new(),
        }
    }

    /// Takes in what another worker found.
    pub fn take_in(&mut self, groups: &KeyGroups) -> Result<()> {
        if self.held.docs.len() + groups.docs.len() > self.most && !self.held.docs.is_empty() {
            self.spill()?;
        }
        // Two large allocations: growing them moves no bytes, and all of their memory goes back when they are dropped.
        self.held.docs.extend_from_slice(&groups.docs);
        self.held.following.extend_from_slice(&groups.following);
        Ok(())
    }

    /// The index of the next round; `None` after the last. A pair is met in one round only, as often there as it
    /// shares a key.
    pub fn next_round(&mut self) -> Result<Option<Index>> {
        // The first batch may be more than fits.
        if self.spill.bytes() == 0 && self.held.docs.len() <= self.most {
            let first = std::mem::replace(&mut self.next, PARTS) == 0;
            return first.then(|| self.all()).transpose();
        }
        if self.next == 0 {
            self.spill()?;
            self.held = KeyGroups::default();
        }
        while self.tiles.is_empty() && self.next < PARTS {
            self.tiles = self.tiles(self.next);
            self.next += 1;
        }
        self.tiles.pop().map(|tile| self.read(tile)).transpose()
    }

    /// What is held, as one round.
    fn all(&mut self) -> Result<Index> {
        let KeyGroups { docs, following, .. } = std::mem::take(&mut self.held);
        let leading = (1..).zip(docs.iter().zip(&following)).filter(|(_, (_, following))| **following > 0);
        let leads = leading
            .filter_map(|(behind, (doc, following))| Some((self.row(*doc)? as u32, behind, *following)));
        let mut index = Index::default();
        index.build(0..self.rows.0, leads, &docs)?;
        Ok(Index { docs, ..index })
    }

    /// The row of a document whose owner is this worker.
    fn row(&self, doc: Doc) -> Option<usize> {
        // Division of 32 bits takes half the time of 64.
        let (above, workers) = (doc.checked_sub(self.base)?, self.workers as u32);
        (above % workers == self.worker as u32).then(|| (above / workers) as usize)
    }

    /// Moves all that is held to disk: each part of the rows gets the groups that its rows have partners in. One pass over the groups,
    /// with a list for each part that goes out when it is long.
    fn spill(&mut self) -> Result<()> {
        let KeyGroups { docs, following, .. } = std::mem::take(&mut self.held);
        let long = (self.most / PARTS).clamp(LONG.0, LONG.1);
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); PARTS];
        let mut from = 0;
        while from < docs.len() {
            let (range, parts) = self.group(from, &docs, &following);
            from = range.end;
            for part in ones(std::iter::once(parts)) {
                let list = &mut lists[part as usize];
                list.push(range.len() as u32);
                list.extend_from_slice(&docs[range.clone()]);
                list.extend_from_slice(&following[range.clone()]);
                if list.len() >= long {
                    self.stretches[part as usize].push((self.spill.append(list)?, list.len()));
                    list.clear();
                    // A large group leaves room that no other needs.
                    list.shrink_to(2 * long);
                }
            }
        }
        for (list, stretches) in lists.iter().zip(&mut self.stretches).filter(|(list, _)| !list.is_empty()) {
            stretches.push((self.spill.append(list)?, list.len()));
        }
        self.held = KeyGroups { docs, following, ..KeyGroups::default() };
        self.held.docs.clear();
        self.held.following.clear();
        Ok(())
    }

    /// The group that begins at a member, or what is as good as one: no member pairs with one behind its end. A bit for each part that
    /// has rows with partners in it.
    fn group(&self, from: usize, docs: &[Doc], following: &[u32]) -> (Range<usize>, u64) {
        let (mut at, mut end, mut parts) = (from, from + 1, 0);
        while at < end {
            end = end.max(at + 1 + following[at] as usize);
            if following[at] > 0
                && let Some(row) = self.row(docs[at])
            {
                parts |= 1 << (row / self.rows.1);
            }
            at += 1;
        }
        (from..end, parts)
    }

    /// The rounds of a part: one, unless it has more groups than may be held. Then its rows are divided, and the
    /// partners, so that each round has about as many of both as fit.
    fn tiles(&self, part: usize) -> Vec<Tile> {
        let rows = part * self.rows.1..((part + 1) * self.rows.1).min(self.rows.0);
        let numbers: usize = self.stretches[part].iter().map(|(_, count)| count).sum();
        // A few rows may have very many partners: these are divided however few rows there are.
        let of = (numbers / 2).div_ceil(self.most.max(1)).max(1);
        let step = rows.len().div_ceil(of).max(1);
        let ranges = rows.clone().step_by(step).map(|from| from..(from + step).min(rows.end));
        let tile = |rows: Range<usize>, share: usize| Tile { part, rows, share: share as u32, of: of as u32 };
        ranges
            .flat_map(|rows| (0..of).map(move |share| (rows.clone(), share)))
            .map(|(r, s)| tile(r, s))
            .collect()
    }

    /// Reads a round back.
    fn read(&self, tile: Tile) -> Result<Index> {
        let (mut docs, mut leads): (Vec<Doc>, Vec<Lead>) = (mapped(self.most), mapped(self.most));
        let (mut numbers, mut before) = (mapped(self.most * 3), Vec::new());
        for (start, count) in &self.stretches[tile.part] {
            numbers.clear();
            numbers.resize(*count, 0);
            self.spill.read(*start, &mut numbers)?;
            let mut rest = numbers.as_slice();
            while let [members, behind @ ..] = rest {
                let (group, behind) = behind.split_at(*members as usize);
                let (following, behind) = behind.split_at(*members as usize);
                rest = behind;
                self.lay_out(&tile, group, following, (&mut docs, &mut leads, &mut before));
            }
        }
        if u32::try_from(docs.len()).is_err() {
            return Err(Error::Limit("more shared keys than a worker can count; use more workers".into()));
        }
        let mut index = Index::default();
        index.build(tile.rows, leads.iter().copied(), &docs)?;
        Ok(Index { docs, ..index })
    }

    /// Adds to a round what it needs of a group: partners of its share, and rows of its range that have any.
    fn lay_out(
        &self,
        tile: &Tile,
        group: &[Doc],
        following: &[u32],
        (docs, leads, before): (&mut Vec<Doc>, &mut Vec<Lead>, &mut Vec<u32>),
    ) {
        // Of the members before each one, and before the end, those that are laid out.
        before.clear();
        before.push(docs.len() as u32);
        for doc in group {
            if doc % tile.of == tile.share {
                docs.push(*doc);
            }
            before.push(docs.len() as u32);
        }
        for (at, (doc, following)) in group.iter().zip(following).enumerate() {
            let Some(row) = self.row(*doc).filter(|row| tile.rows.contains(row)) else { continue };
            let (first, end) = (before[at + 1], before[at + 1 + *following as usize]);
            if first < end {
                leads.push((row as u32, first, end - first));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One new document beside a large stored family: its partners are divided among rounds, though there is one row.
    #[test]
    fn no_round_holds_all_partners_of_a_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let (stored, most) = (10_000, 100);
        let mut rounds = Rounds::new(1, stored, (0, 1), 8 * most as u64, folder.path());
        let docs: Vec<Doc> = std::iter::once(stored).chain(0..stored).collect();
        let mut following = vec![0; docs.len()];
        following[0] = stored;
        rounds.take_in(&KeyGroups { docs, following, ..KeyGroups::default() }).expect("taken in");
        let mut met = Vec::new();
        while let Some(index) = rounds.next_round().expect("read") {
            assert!(index.docs.len() <= 2 * most, "{} at once", index.docs.len());
            met.extend(index.docs.iter().copied().filter(|doc| *doc < stored));
        }
        met.sort_unstable();
        assert_eq!(met, (0..stored).collect::<Vec<Doc>>());
    }
}
