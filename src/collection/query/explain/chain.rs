//! Chains of stored links: what holds two documents together.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::{COMPARED, Explaining, Step};
use crate::collection::query::measures::Measures;
use crate::collection::tables::components::{components, neighbours};
use crate::collection::tables::lookup::members;
use crate::collection::tables::member::Member;
use crate::collection::tables::sets::missing;
use crate::document::Doc;
use crate::error::Result;
use crate::similarity::Measure;

impl Explaining<'_> {
    /// The shortest chain of stored links from one document to another of its component. Of chains as short the one is
    /// chosen that names lesser ids, looked at from its end. The texts of its first steps are compared.
    pub(super) fn chain(&mut self, from: &Member, to: &Member) -> Result<Vec<Step>> {
        let (start, end) = (from.document.content, to.document.content);
        if start == end {
            return Ok(vec![self.compare(from, to)?]);
        }
        let label = self.at.get(&start).map_or(u32::MAX, |at| at.component);
        let component = components(&self.tables, &BTreeSet::from([label]))?;
        let component: BTreeSet<Doc> = component.into_values().flatten().collect();
        let depths = self.depths(start, end, &component)?;
        let mut path = vec![to.clone()];
        let mut at = end;
        while at != start {
            self.progress.check()?;
            let depth = depths[&at];
            let before = neighbours(&self.tables, &[at])?.into_iter().map(|(_, other)| other);
            let before: Vec<Doc> =
                before.filter(|other| depths.get(other).is_some_and(|of| of + 1 == depth)).collect();
            let named = members(&self.tables, before.iter().copied())?;
            let firsts = named.into_values().filter_map(|members| members.into_iter().next());
            let least = firsts.min_by(|a, b| a.name.cmp(&b.name));
            let least = least.ok_or_else(|| missing(&self.tables, at))?;
            at = least.document.content;
            path.push(if at == start { from.clone() } else { least });
        }
        path.reverse();
        let pairs: Vec<(Doc, Doc)> =
            path.windows(2).map(|pair| (pair[0].document.content, pair[1].document.content)).collect();
        let measures = self.link_measures(&pairs)?;
        let mut steps = Vec::new();
        for (number, (pair, measures)) in path.windows(2).zip(measures).enumerate() {
            let [first, second] = [0, 1].map(|end| pair[end].name.clone().into());
            let mut step = Step {
                first,
                second,
                same_text: false,
                measures,
                kept_apart: None,
                listed: None,
                relation: None,
                texts: None,
            };
            if number < COMPARED {
                self.compare_texts(&pair[0], &pair[1], &mut step)?;
            }
            steps.push(step);
        }
        Ok(steps)
    }

    /// How many links each content is away from `start`, up to the distance of `end`.
    fn depths(&self, start: Doc, end: Doc, component: &BTreeSet<Doc>) -> Result<HashMap<Doc, u32>> {
        let mut depths = HashMap::from([(start, 0)]);
        let mut front = vec![start];
        for depth in 1.. {
            self.progress.check()?;
            let mut next = Vec::new();
            for (_, other) in neighbours(&self.tables, &front)? {
                if component.contains(&other) && !depths.contains_key(&other) {
                    depths.insert(other, depth);
                    next.push(other);
                }
            }
            if depths.contains_key(&end) {
                break;
            }
            if next.is_empty() {
                // Links hold each component together: one of them is gone.
                return Err(missing(&self.tables, end));
            }
            front = next;
        }
        Ok(depths)
    }

    /// What the sets of linked contents share: the count that a link has leaves out keys under which there was a hot group.
    fn link_measures(&self, pairs: &[(Doc, Doc)]) -> Result<Vec<Option<Measures>>> {
        pairs
            .iter()
            .map(|(a, b)| {
                self.progress.check()?;
                self.measure_sets(*a, *b)
            })
            .collect()
    }

    /// The stored links of a content, as those of the document `id`: the closest first.
    pub(super) fn links(&self, content: Doc, id: &str) -> Result<Vec<Step>> {
        let mut links = neighbours(&self.tables, &[content])?;
        let mut named = members(&self.tables, links.iter().map(|(_, other)| *other))?;
        links.retain(|(_, other)| named.contains_key(other));
        let measures = self.link_measures(&links)?;
        let step = |((_, other), measures): ((Doc, Doc), Option<Measures>)| {
            let second = named.remove(&other)?.into_iter().next()?.name;
            Some(Step {
                first: id.to_owned().into(),
                second: second.into(),
                same_text: false,
                measures,
                kept_apart: None,
                listed: None,
                relation: None,
                texts: None,
            })
        };
        let mut steps: Vec<Step> = links.into_iter().zip(measures).filter_map(step).collect();
        let measure = |step: &Step| {
            let (shared, first, second) =
                step.measures.map_or((0, 0, 0), |m| (m.shared, m.only_first, m.only_second));
            Measure { shared, left: shared + first, right: shared + second }
        };
        if let Some(rule) = self.rule {
            steps.sort_by(|a, b| rule.closer(measure(a), measure(b)).then_with(|| a.second.cmp(&b.second)));
        }
        Ok(steps)
    }
}
