//! What a component falls into when contents go: a search from all neighbours of what went, in lock-step, so that the
//! work is in proportion to the smaller parts; and a second look before it is split, because stored links only show
//! that a component hangs together.

use crate::limits::sized;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::collection::tables::Tables;
use crate::collection::tables::components::neighbours;
use crate::components::Forest;
use crate::document::Doc;
use crate::error::Result;

/// What is needed to look again: whether a content is linked to any others, and to which.
pub trait Recollide {
    /// Those of the others that `content`, which is none of them, is linked to, with what they share.
    fn linked(&mut self, content: Doc, others: Others<'_>) -> Result<Vec<(Doc, u32)>>;
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

/// How a component is divided.
#[derive(Debug, Default)]
pub struct Parts {
    /// All parts but the one that was not searched to its end.
    pub split: Vec<Vec<Doc>>,
    /// Links found on looking again, that hold parts together.
    pub links: Vec<(Doc, Doc, u32)>,
}

/// Divides what is left of a component, of which no stored link leads out of the parts `exhausted`; what is in none of them
/// hangs together.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn parts(
    survivors: &HashSet<Doc>,
    mut exhausted: Vec<Vec<Doc>>,
    recollide: &mut dyn Recollide,
) -> Result<Parts> {
    // Where all parts are known, the largest is the rest.
    let reached: usize = exhausted.iter().map(Vec::len).sum();
    if reached == survivors.len() {
        let largest = (0..exhausted.len()).max_by_key(|part| exhausted[*part].len());
        largest.into_iter().for_each(|part| drop(exhausted.swap_remove(part)));
    }
    let rest = exhausted.len() as u32;
    let members = (0..).zip(&exhausted).flat_map(|(part, docs)| docs.iter().map(move |doc| (*doc, part)));
    let part_of: HashMap<Doc, u32> = members.collect();
    let mut forest = Forest::new(exhausted.len() + 1);
    let mut links = Vec::new();
    for (part, docs) in (0..).zip(&exhausted) {
        // Whatever is linked was in one component, so nobody else need be looked at.
        let is_other = |doc: Doc| survivors.contains(&doc) && part_of.get(&doc) != Some(&part);
        let mut few: Vec<u64> = Vec::new();
        if survivors.len() - docs.len() <= FEW {
            few.extend(survivors.iter().filter(|doc| is_other(**doc)).map(|doc| u64::from(*doc)));
            few.sort_unstable();
        }
        for doc in docs {
            // A part that hangs on the rest is settled, whatever else it is linked to.
            if forest.find(part) == forest.find(rest) {
                break;
            }
            let others = if few.is_empty() { Others::Many(&is_other) } else { Others::Few(&few) };
            for (other, shared) in recollide.linked(*doc, others)? {
                if forest.union(part, part_of.get(&other).copied().unwrap_or(rest)) {
                    links.push((*doc, other, shared));
                }
            }
        }
    }
    let whole = forest.find(rest);
    let mut split: BTreeMap<u32, Vec<Doc>> = BTreeMap::new();
    for (part, docs) in (0..).zip(exhausted) {
        let root = forest.find(part);
        if root != whole {
            split.entry(root).or_default().extend(docs);
        }
    }
    let mut split: Vec<Vec<Doc>> = split.into_values().collect();
    split.iter_mut().for_each(|part| part.sort_unstable());
    Ok(Parts { split, links })
}

/// Contents whose links are read at once in each turn of a search.
const TURN: usize = sized(64, 2);

/// Searches from all starts, the survivors that were linked to what went, in turn. What meets becomes one search; when at
/// most one is left, the others are parts.
///
/// # Errors
/// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
pub fn search(tables: &Tables, survivors: &HashSet<Doc>, starts: &[Doc]) -> Result<Vec<Vec<Doc>>> {
    let mut owner: HashMap<Doc, u32> = (0..).zip(starts).map(|(search, start)| (*start, search)).collect();
    let mut forest = Forest::new(starts.len());
    let mut fronts: Vec<Vec<Doc>> = starts.iter().map(|start| vec![*start]).collect();
    let mut reached: Vec<Vec<Doc>> = fronts.clone();
    let mut ended: Vec<Vec<Doc>> = Vec::new();
    let mut running: Vec<u32> = (0..starts.len() as u32).collect();
    while running.len() > 1 {
        for at in running.clone() {
            let search = forest.find(at) as usize;
            let from = fronts[search].len().saturating_sub(TURN);
            let turn = fronts[search].split_off(from);
            for (_, other) in neighbours(tables, &turn)?.into_iter().filter(|(_, o)| survivors.contains(o)) {
                let search = forest.find(at);
                match owner.get(&other).copied() {
                    None => {
                        owner.insert(other, search);
                        fronts[search as usize].push(other);
                        reached[search as usize].push(other);
                    }
                    Some(met) => meet(&mut forest, search, met, &mut fronts, &mut reached),
                }
            }
        }
        running.iter_mut().for_each(|search| *search = forest.find(*search));
        running.sort_unstable();
        running.dedup();
        running.retain(|search| {
            let goes_on = !fronts[*search as usize].is_empty();
            if !goes_on {
                ended.push(std::mem::take(&mut reached[*search as usize]));
            }
            goes_on
        });
    }
    Ok(ended)
}

/// Makes two searches one.
fn meet(forest: &mut Forest, a: u32, b: u32, fronts: &mut [Vec<Doc>], reached: &mut [Vec<Doc>]) {
    let (a, b) = (forest.find(a), forest.find(b));
    if forest.union(a, b) {
        let root = forest.find(a);
        let other = (a + b - root) as usize;
        for lists in [fronts, reached] {
            let moved = std::mem::take(&mut lists[other]);
            lists[root as usize].extend(moved);
        }
    }
}
