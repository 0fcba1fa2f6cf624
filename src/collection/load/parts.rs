//! What a component falls into when contents go: a search from all neighbours of what went, in lock-step, so that the
//! work is in proportion to the smaller parts; and a second look before it is split, because stored links only show
//! that a component hangs together.

use crate::limits::sized;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::collection::tables::Tables;
use crate::collection::tables::components::each_link;
use crate::components::Forest;
use crate::document::Doc;
use crate::error::Result;

/// What is needed to look again: whether contents are linked to any others, and to which.
pub trait Recollide {
    /// Those of the others that `content`, which is none of them, is linked to, with what they share.
    fn linked(&mut self, content: Doc, others: Others<'_>) -> Result<Vec<(Doc, u32)>>;

    /// How many stored postings were read to find [`Others::Many`], all in all.
    fn met(&self) -> u64;

    /// Pairs of these ascending contents that are linked, as many as it takes to hold together whatever of them hangs together;
    /// `None` if that takes more memory than there is, of which `held` bytes are taken by what a load changes.
    fn all(&mut self, contents: &[Doc], held: u64) -> Result<Option<Vec<(Doc, Doc)>>>;
}

/// Live contents that a content may be linked to.
pub enum Others<'a> {
    /// A few, ascending.
    Few(&'a [u64]),
    /// Those of which this is true.
    Many(&'a dyn Fn(Doc) -> bool),
}

/// Contents that are looked at one by one rather than found by keys: a set is read in as long as the postings of a few of
/// its keys.
const FEW: usize = sized(32, 2);

/// Postings that are read for each content of a component, and in any case, before all of it is collided at once. What one
/// content shares with all others all of them mostly share: a template whose pages are alike only by it. Asking for one after the
/// other would then take the square of their number.
const PATIENCE: (u64, u64) = sized((64, 1 << 16), (1, 8));

/// How a component is divided.
#[derive(Debug, Default)]
pub struct Parts {
    /// All parts but the one that was not searched to its end.
    pub split: Vec<Vec<Doc>>,
    /// Links found on looking again, that hold parts together.
    pub links: Vec<(Doc, Doc, u32)>,
}

/// Divides what is left of a component, of which no stored link leads out of the parts `exhausted`; what is in none of them
/// hangs together. `held` bytes are taken by what the load changes.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
pub fn parts(
    survivors: &HashSet<Doc>,
    mut exhausted: Vec<Vec<Doc>>,
    (recollide, held): (&mut dyn Recollide, u64),
) -> Result<Parts> {
    // Where all parts are known, the largest is the rest.
    let reached: usize = exhausted.iter().map(Vec::len).sum();
    if reached == survivors.len() {
        let largest = (0..exhausted.len()).max_by_key(|part| exhausted[*part].len());
        largest.into_iter().for_each(|part| drop(exhausted.swap_remove(part)));
    }
    let mut joined = RejoinedParts::new(&exhausted);
    let patience = PATIENCE.1.max(PATIENCE.0 * survivors.len() as u64);
    if !joined.one_by_one(survivors, &exhausted, (recollide, patience))? {
        let mut contents: Vec<Doc> = survivors.iter().copied().collect();
        contents.sort_unstable();
        match recollide.all(&contents, held)? {
            Some(linked) => joined.at_once(linked, recollide)?,
            // It takes long then, but no more memory.
            None => drop(joined.one_by_one(survivors, &exhausted, (recollide, u64::MAX))?),
        }
    }
    Ok(joined.into_parts(exhausted))
}

/// Parts of a component that are joined again.
struct RejoinedParts {
    /// The parts of contents: what is in none of them is the rest, which has the number behind theirs.
    part_of: HashMap<Doc, u32>,
    rest: u32,
    forest: Forest,
    links: Vec<(Doc, Doc, u32)>,
}

impl RejoinedParts {
    fn new(exhausted: &[Vec<Doc>]) -> RejoinedParts {
        let members = (0..).zip(exhausted).flat_map(|(part, docs)| docs.iter().map(move |doc| (*doc, part)));
        let (part_of, rest) = (members.collect(), exhausted.len() as u32);
        RejoinedParts { part_of, rest, forest: Forest::new(exhausted.len() + 1), links: Vec::new() }
    }

    fn part(&self, content: Doc) -> u32 {
        self.part_of.get(&content).copied().unwrap_or(self.rest)
    }

    fn are_joined(&mut self, a: u32, b: u32) -> bool {
        self.forest.find(a) == self.forest.find(b)
    }

    /// Notes that two contents are linked.
    fn link(&mut self, a: Doc, b: Doc, shared: u32) {
        if self.forest.union(self.part(a), self.part(b)) {
            self.links.push((a, b, shared));
        }
    }

    /// Looks at one content after the other, until that has taken more than `patience`; whether all were looked at.
    fn one_by_one(
        &mut self,
        survivors: &HashSet<Doc>,
        exhausted: &[Vec<Doc>],
        (recollide, patience): (&mut dyn Recollide, u64),
    ) -> Result<bool> {
        let before = recollide.met();
        for (part, docs) in (0..).zip(exhausted) {
            let few = self.few_others(survivors, (part, docs.len()));
            for doc in docs {
                // A part that hangs on the rest is settled, whatever else it is linked to.
                if self.are_joined(part, self.rest) {
                    break;
                }
                if recollide.met() - before > patience {
                    return Ok(false);
                }
                // Whatever is linked was in one component, so nobody else need be looked at.
                let part_of = &self.part_of;
                let is_other = |doc: Doc| survivors.contains(&doc) && part_of.get(&doc) != Some(&part);
                let others = if few.is_empty() { Others::Many(&is_other) } else { Others::Few(&few) };
                for (other, shared) in recollide.linked(*doc, others)? {
                    self.link(*doc, other, shared);
                }
            }
        }
        Ok(true)
    }

    /// What is not in a part of so many contents, ascending, if that is little.
    fn few_others(&self, survivors: &HashSet<Doc>, (part, len): (u32, usize)) -> Vec<u64> {
        if survivors.len() - len > FEW {
            return Vec::new();
        }
        let others = survivors.iter().filter(|doc| self.part_of.get(*doc) != Some(&part));
        let mut few: Vec<u64> = others.map(|doc| u64::from(*doc)).collect();
        few.sort_unstable();
        few
    }

    /// Joins what these pairs link, which together hold all together that hangs together.
    fn at_once(&mut self, linked: Vec<(Doc, Doc)>, recollide: &mut dyn Recollide) -> Result<()> {
        for (a, b) in linked {
            if self.are_joined(self.part(a), self.part(b)) {
                continue;
            }
            for (other, shared) in recollide.linked(a, Others::Few(&[u64::from(b)]))? {
                self.link(a, other, shared);
            }
        }
        Ok(())
    }

    /// What is left in parts, without the one that hangs on the rest.
    fn into_parts(mut self, exhausted: Vec<Vec<Doc>>) -> Parts {
        let mut split: BTreeMap<u32, Vec<Doc>> = BTreeMap::new();
        for (part, docs) in (0..).zip(exhausted) {
            if !self.are_joined(part, self.rest) {
                split.entry(self.forest.find(part)).or_default().extend(docs);
            }
        }
        let mut split: Vec<Vec<Doc>> = split.into_values().collect();
        split.iter_mut().for_each(|part| part.sort_unstable());
        Parts { split, links: self.links }
    }
}

/// Contents whose links are read at once in each turn of a search.
const TURN: usize = sized(64, 2);

/// Searches from all starts, the survivors that were linked to what went, in turn. What meets becomes one search; when at
/// most one is left, the others are parts.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`], and what `go_on` gives.
pub fn search(
    tables: &Tables,
    survivors: &HashSet<Doc>,
    starts: &[Doc],
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Vec<Vec<Doc>>> {
    let mut searches = Searches::new(starts);
    let mut ended: Vec<Vec<Doc>> = Vec::new();
    let mut running: Vec<u32> = (0..starts.len() as u32).collect();
    while running.len() > 1 {
        let mut turn: Vec<Doc> = Vec::new();
        for at in &running {
            let search = searches.forest.find(*at) as usize;
            let from = searches.fronts[search].len().saturating_sub(TURN);
            turn.extend(searches.fronts[search].drain(from..));
            if turn.len() >= TURN {
                go_on()?;
                searches.read(tables, survivors, std::mem::take(&mut turn))?;
                // What all have met by now is one, and nothing more need be read of it.
                if searches.left <= 1 {
                    break;
                }
            }
        }
        searches.read(tables, survivors, turn)?;
        running.iter_mut().for_each(|search| *search = searches.forest.find(*search));
        running.sort_unstable();
        running.dedup();
        running.retain(|search| {
            let goes_on = !searches.fronts[*search as usize].is_empty();
            if !goes_on {
                searches.left -= 1;
                ended.push(std::mem::take(&mut searches.reached[*search as usize]));
            }
            goes_on
        });
    }
    Ok(ended)
}

/// Searches that meet.
struct Searches {
    /// The search that has reached a content first, and which searches are one by now.
    owner: HashMap<Doc, u32>,
    forest: Forest,
    /// What each has reached, and what of it was not followed yet.
    reached: Vec<Vec<Doc>>,
    fronts: Vec<Vec<Doc>>,
    /// How many have neither ended nor met another one.
    left: usize,
}

impl Searches {
    fn new(starts: &[Doc]) -> Searches {
        let owner = (0..).zip(starts).map(|(search, start)| (*start, search)).collect();
        let fronts: Vec<Vec<Doc>> = starts.iter().map(|start| vec![*start]).collect();
        let (forest, reached) = (Forest::new(starts.len()), fronts.clone());
        Searches { owner, forest, reached, fronts, left: starts.len() }
    }

    /// Follows the links of some contents, each for the search that has reached it.
    fn read(&mut self, tables: &Tables, survivors: &HashSet<Doc>, mut turn: Vec<Doc>) -> Result<()> {
        turn.sort_unstable();
        each_link(tables, &turn, &mut |content, other| {
            let Some(owner) = self.owner.get(&content) else { return };
            let search = self.forest.find(*owner);
            match self.owner.get(&other).copied() {
                None if survivors.contains(&other) => {
                    self.owner.insert(other, search);
                    self.fronts[search as usize].push(other);
                    self.reached[search as usize].push(other);
                }
                None => {}
                Some(met) => self.meet(search, met),
            }
        })
    }

    /// Makes two searches one.
    fn meet(&mut self, a: u32, b: u32) {
        let (a, b) = (self.forest.find(a), self.forest.find(b));
        if self.forest.union(a, b) {
            self.left -= 1;
            let root = self.forest.find(a);
            let other = (a + b - root) as usize;
            for lists in [&mut self.fronts, &mut self.reached] {
                let mut moved = std::mem::take(&mut lists[other]);
                let into = &mut lists[root as usize];
                // The longer list takes in the shorter one: of many that meet each would else move all before it.
                if into.len() < moved.len() {
                    std::mem::swap(into, &mut moved);
                }
                into.append(&mut moved);
            }
        }
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
