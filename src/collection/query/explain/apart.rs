//! Documents that are not together: the closest pair that fell short.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Apart, Explaining, Place, Step};
use crate::collection::tables::components::components;
use crate::collection::tables::lookup::members;
use crate::collection::tables::member::Member;
use crate::collection::tables::sets::each_set;
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::similarity::{AcceptanceRule, Measure};

/// Pairs of texts that are all compared; where there are more, only those of either end are.
const ALL_PAIRS: u64 = 100_000;

/// The closest pairs so far, all as close.
struct Best {
    rule: AcceptanceRule,
    measure: Option<Measure>,
    pairs: Vec<(Doc, Doc)>,
    compared: u64,
}

impl Best {
    fn offer(&mut self, pair: (Doc, Doc), measure: Measure) {
        self.compared += 1;
        if measure.shared == 0 {
            return;
        }
        match self.measure.map_or(Ordering::Less, |best| self.rule.closer(measure, best)) {
            Ordering::Less => (self.measure, self.pairs) = (Some(measure), vec![pair]),
            Ordering::Equal => self.pairs.push(pair),
            Ordering::Greater => {}
        }
    }
}

/// Whether the tests link two documents.
fn is_linked(step: &Step) -> bool {
    step.measures.as_ref().is_some_and(|measures| measures.linked)
}

impl Explaining<'_> {
    /// Explains two documents of different clusters, or without any.
    pub(super) fn apart(&mut self, a: &Member, b: &Member, first: Place, second: Place) -> Result<Apart> {
        let (representatives, all_pairs) = (Vec::new(), true);
        let (ends, best, compared, capped) = (None, None, 0, false);
        let mut apart = Apart { first, second, ends, representatives, best, compared, all_pairs, capped };
        if a.document.content == NO_DOC || b.document.content == NO_DOC {
            return Ok(apart);
        }
        let ends = self.compare(a, b)?;
        if ends.kept_apart.is_some() {
            // No pair of the two clusters is compared.
            apart.ends = Some(ends);
            return Ok(apart);
        }
        if self.guarantee && self.rule.is_some() {
            (apart.representatives, apart.all_pairs) = (self.across(a, b)?, false);
            let component = |member: &Member| self.at.get(&member.document.content).map(|at| at.component);
            let met = component(a).is_some() && component(a) == component(b);
            let linked = is_linked(&ends) || apart.representatives.iter().any(is_linked);
            apart.capped = self.capped && !met && linked;
        } else if let Some(rule) = self.rule {
            let (left, right) = (self.component(a.document.content)?, self.component(b.document.content)?);
            apart.all_pairs = left.len() as u64 * right.len() as u64 <= ALL_PAIRS;
            let mut best = Best { rule, measure: None, pairs: Vec::new(), compared: 0 };
            if apart.all_pairs {
                self.cross(&left, &right, &mut best)?;
            } else {
                self.cross(&[a.document.content], &right, &mut best)?;
                // The pair of both ends was among those.
                let others: Vec<Doc> =
                    left.into_iter().filter(|content| *content != a.document.content).collect();
                self.cross(&others, &[b.document.content], &mut best)?;
            }
            apart.compared = best.compared;
            if let Some((first, second)) = self.least(&best.pairs, a, b)? {
                let is_ends = (&first.name, &second.name) == (&a.name, &b.name);
                let best = if is_ends { ends.clone() } else { self.compare(&first, &second)? };
                // Without a cap all that is linked is together.
                apart.capped = self.capped && is_linked(&best);
                apart.best = Some(best);
            }
        }
        apart.ends = Some(ends);
        Ok(apart)
    }

    /// Two documents and what stands for them, all on one side compared with all on the other, but for the two themselves.
    fn across(&mut self, a: &Member, b: &Member) -> Result<Vec<Step>> {
        let (mut sides, mut steps) = ([vec![a.clone()], vec![b.clone()]], Vec::new());
        for side in &mut sides {
            let content = side[0].document.content;
            // A copy of the representative has nothing else to say.
            let leader = self.representative(content)?;
            side.extend(leader.filter(|leader| leader.document.content != content));
        }
        let [left, right] = sides;
        for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (x, y))).skip(1) {
            steps.push(self.compare(x, y)?);
        }
        Ok(steps)
    }

    /// The contents of the component of a content, ascending.
    fn component(&self, content: Doc) -> Result<Vec<Doc>> {
        let label = self.at.get(&content).map_or(u32::MAX, |at| at.component);
        let members = components(&self.tables, &BTreeSet::from([label]))?;
        let members: BTreeSet<Doc> = members.into_values().flatten().chain([content]).collect();
        Ok(members.into_iter().collect())
    }

    /// Measures all pairs of two lists of contents. The sets of the shorter one are held.
    fn cross(&self, left: &[Doc], right: &[Doc], best: &mut Best) -> Result<()> {
        let words = |contents: &[Doc]| contents.iter().map(|content| u64::from(*content)).collect::<Vec<_>>();
        let turned = left.len() > right.len();
        let (few, many) = if turned { (right, left) } else { (left, right) };
        let mut held: Vec<(Doc, Vec<u64>)> = Vec::new();
        each_set(&self.tables, &words(few), &mut |at, set| {
            held.push((few[at], set.to_vec()));
            Ok(())
        })?;
        each_set(&self.tables, &words(many), &mut |at, set| {
            self.progress.check()?;
            for (content, own) in &held {
                match turned {
                    true => best.offer((many[at], *content), best.rule.full(set, own)),
                    false => best.offer((*content, many[at]), best.rule.full(own, set)),
                }
            }
            Ok(())
        })
    }

    /// The pair of documents with the least ids, of pairs of contents; the two asked for before all others.
    fn least(&self, pairs: &[(Doc, Doc)], a: &Member, b: &Member) -> Result<Option<(Member, Member)>> {
        if pairs.contains(&(a.document.content, b.document.content)) {
            return Ok(Some((a.clone(), b.clone())));
        }
        let named = members(&self.tables, pairs.iter().flat_map(|(a, b)| [*a, *b]))?;
        let first = |content: &Doc| named.get(content).and_then(|members| members.first());
        let named = pairs.iter().filter_map(|(a, b)| Some((first(a)?, first(b)?)));
        let least = named.min_by(|x, y| (&x.0.name, &x.1.name).cmp(&(&y.0.name, &y.1.name)));
        Ok(least.map(|(a, b)| (a.clone(), b.clone())))
    }
}
