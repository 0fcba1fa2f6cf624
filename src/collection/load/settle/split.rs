//! What becomes of components of which contents go. The links of what went are read, and of what is left as many as a search
//! takes; no more of them are held than there are contents.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::components::contract;
use super::contents::Content;
use super::{MEMBER, Settling};
use crate::collection::load::parts::{Recollide, parts, search};
use crate::collection::tables::Tables;
use crate::collection::tables::components::{Members, components, each_link};
use crate::components::{Forest, Link, Touched};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::Contractor;
use crate::limits::sized;

/// Contents of several components that are looked at together.
const TOGETHER: usize = sized(1 << 16, 4);

/// Links of what is left of components that are held at least before those are left out that connect nothing.
const LINKS: usize = sized(1 << 16, 4);

/// A component of which contents go, and more than one stays.
struct Remainder<'a> {
    label: u32,
    gone: &'a [Doc],
    survivors: HashSet<Doc>,
}

/// What is left of several components, ascending, each content with the number of its component among them.
struct Survivors(Vec<(Doc, u32)>);

impl Survivors {
    fn of(remainders: &[Remainder<'_>]) -> Survivors {
        let mut all = Vec::with_capacity(remainders.iter().map(|remainder| remainder.survivors.len()).sum());
        for (at, remainder) in (0..).zip(remainders) {
            all.extend(remainder.survivors.iter().map(|doc| (*doc, at)));
        }
        all.sort_unstable();
        Survivors(all)
    }

    fn at(&self, content: Doc) -> Option<usize> {
        self.0.binary_search_by_key(&content, |(content, _)| *content).ok()
    }

    fn contents(&self) -> Vec<Doc> {
        self.0.iter().map(|(content, _)| *content).collect()
    }
}

/// How many of the next components are looked at together: those of few contents, or one.
fn together(components: &[(u32, Vec<Doc>)]) -> usize {
    let sizes = components.iter().scan(0, |sum, (_, members)| {
        *sum += members.len();
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= TOGETHER).count().max(1)
}

impl Settling<'_> {
    /// Splits the components whose contents go.
    pub(super) fn split(&mut self, recollide: &mut dyn Recollide) -> Result<()> {
        let mut gone: Members = BTreeMap::new();
        let goes = |content: &Content| content.before > 0 && content.after == 0;
        for (doc, content) in self.contents.rows().iter().filter(|(_, content)| goes(content)) {
            gone.entry(content.label.unwrap_or(u32::MAX)).or_default().push(*doc);
        }
        let members = components(self.tables, &gone.keys().copied().collect())?;
        self.hold(members.values().map(Vec::len).sum(), MEMBER)?;
        let components: Vec<(u32, Vec<Doc>)> = members.into_iter().collect();
        let mut rest = &components[..];
        while !rest.is_empty() {
            self.loaded.run.context.status.progress.check()?;
            let (some, behind) = rest.split_at(together(rest));
            rest = behind;
            self.split_some(some, &gone, recollide)?;
        }
        Ok(())
    }

    /// Splits some of them.
    fn split_some(
        &mut self,
        components: &[(u32, Vec<Doc>)],
        gone: &Members,
        recollide: &mut dyn Recollide,
    ) -> Result<()> {
        let mut remainders = Vec::new();
        for (label, members) in components {
            let gone = &gone[label][..];
            self.delta.components.extend(gone.iter().map(|doc| ((*label, *doc), false)));
            let survivors = members.iter().copied().filter(|doc| gone.binary_search(doc).is_err());
            let survivors: HashSet<Doc> = survivors.collect();
            // One content hangs together, whatever it was linked to.
            if survivors.len() > 1 {
                remainders.push(Remainder { label: *label, gone, survivors });
            }
        }
        match self.contractor {
            Some(contractor) => {
                let known = contracted(self.tables, contractor, &remainders)?;
                let mut known = known.into_iter();
                remainders.iter().try_for_each(|remainder| {
                    self.divide(remainder, known.next().unwrap_or_default(), recollide)
                })
            }
            None => {
                let progress = &self.loaded.run.context.status.progress;
                let starts = starts(self.tables, &remainders)?;
                remainders.iter().zip(starts).try_for_each(|(remainder, starts)| {
                    let ended = search(self.tables, &remainder.survivors, &starts, &|| progress.check())?;
                    self.divide(remainder, ended, recollide)
                })
            }
        }
    }

    /// Divides what is left of a component into the parts that no stored link leads out of, as far as nothing else holds them
    /// together.
    fn divide(
        &mut self,
        remainder: &Remainder<'_>,
        ended: Vec<Vec<Doc>>,
        recollide: &mut dyn Recollide,
    ) -> Result<()> {
        let parts = parts(&remainder.survivors, ended, (recollide, self.held))?;
        parts.links.iter().for_each(|(a, b, shared)| self.link(*a, *b, *shared));
        for part in parts.split {
            let fresh = self.fresh_label();
            for doc in part {
                self.delta.components.extend([((remainder.label, doc), false), ((fresh, doc), true)]);
                self.relabel(doc, fresh);
            }
        }
        Ok(())
    }
}

/// The survivors of each component, ascending, that were linked to what went.
fn starts(tables: &Tables, remainders: &[Remainder<'_>]) -> Result<Vec<Vec<Doc>>> {
    let survivors = Survivors::of(remainders);
    let mut gone: Vec<Doc> = remainders.iter().flat_map(|remainder| remainder.gone).copied().collect();
    gone.sort_unstable();
    let mut linked = vec![false; survivors.0.len()];
    each_link(tables, &gone, &mut |_, other| {
        if let Some(at) = survivors.at(other) {
            linked[at] = true;
        }
    })?;
    let mut starts = vec![Vec::new(); remainders.len()];
    for ((content, at), _) in survivors.0.iter().zip(linked).filter(|(_, linked)| *linked) {
        starts[*at as usize].push(*content);
    }
    Ok(starts)
}

/// What is left of each component, in the parts that stored links make of it, which all workers find.
fn contracted(
    tables: &Tables,
    contractor: &Contractor,
    remainders: &[Remainder<'_>],
) -> Result<Vec<Vec<Vec<Doc>>>> {
    let survivors = Survivors::of(remainders);
    let mut links: Vec<Link> = Vec::new();
    let most = LINKS.max(survivors.0.len());
    each_link(tables, &survivors.contents(), &mut |a, b| {
        // Each link is there both ways, those with contents that have gone, too.
        if a < b && survivors.at(b).is_some() {
            links.push((a, b));
            if links.len() >= 2 * most {
                leave_out_circles(&survivors, &mut links);
            }
        }
    })?;
    let changes = contract(contractor, Touched { insertions: links, ..Touched::default() })?;
    let labels: HashMap<Doc, Doc> = changes.iter().map(|row| (row.content, row.after)).collect();
    let mut parts: Vec<BTreeMap<Doc, Vec<Doc>>> = vec![BTreeMap::new(); remainders.len()];
    for (content, at) in survivors.0 {
        // The label of a part is its least content.
        let label = labels.get(&content).copied().unwrap_or(content);
        parts[at as usize].entry(label).or_default().push(content);
    }
    Ok(parts.into_iter().map(|parts| parts.into_values().collect()).collect())
}

/// Leaves out links between contents that others connect.
fn leave_out_circles(contents: &Survivors, links: &mut Vec<Link>) {
    let mut forest = Forest::new(contents.0.len());
    let number = |content| contents.at(content).map_or(0, |at| at as u32);
    links.retain(|(a, b)| forest.union(number(*a), number(*b)));
}
