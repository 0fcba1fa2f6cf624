//! Two documents of the inputs held against each other, by the rule of the run.

use std::cmp::Ordering;

use super::FinishedQuestions;
use crate::collection::{
    Compared, Comparison, KeptApart, Measures, PROTECTED_CRITERION, Preference, ProtectedSide, Step,
    word_diff, word_relation,
};
use crate::config::{Criterion, Keep};
use crate::error::Result;
use crate::output::{Decided, FinishedDocument};
use crate::printable::printable;
use crate::read::Value;
use crate::sketcher::Sketcher;

impl FinishedQuestions<'_> {
    /// What sketches of documents are made with.
    pub(super) fn sketcher(&self) -> Sketcher {
        Sketcher::new(&self.run().config, self.find.tables, self.find.simd)
    }

    /// Compares two documents, and their texts if `words` says so. Of one that is not at hand nothing is measured.
    pub(super) fn compare(
        &self,
        (a, b): (&FinishedDocument, &FinishedDocument),
        words: bool,
        sketcher: &mut Sketcher,
    ) -> Result<Step> {
        self.progress.check()?;
        let texts = a.text.as_deref().zip(b.text.as_deref());
        let same_text = a.digest.is_some() && a.digest == b.digest;
        let mut step = Step {
            first: a.name(),
            second: b.name(),
            same_text,
            measures: self.measures((a, b), sketcher),
            kept_apart: kept_apart(a, b),
            listed: None,
            relation: None,
            texts: None,
        };
        if step.kept_apart.is_some() {
            step.measures.iter_mut().for_each(|measures| measures.linked = false);
        }
        if let Some((lost, why)) =
            [a, b].into_iter().find_map(|document| Some((document, document.place.at.gone()?)))
        {
            step.texts = Some(Comparison::Missing {
                why: format!("the text of {}: {why}", printable(&lost.name().to_string())),
            });
        }
        if let Some((first, second)) = texts.filter(|_| words) {
            step.relation = Some(word_relation(first, second, self.run().config.text.fold));
            step.texts = Some(Comparison::Words(word_diff(first, second)));
        }
        Ok(step)
    }

    /// What the sketches of two documents share; none where the method makes none.
    pub(super) fn measures(
        &self,
        (a, b): (&FinishedDocument, &FinishedDocument),
        sketcher: &mut Sketcher,
    ) -> Option<Measures> {
        let rule = self.run().config.rule()?;
        let (first, second) = a.text.as_deref().zip(b.text.as_deref())?;
        sketcher.read(first, a.day);
        let left = sketcher.words().to_vec();
        if a.digest.is_some() && a.digest == b.digest {
            return Some(Measures::same(rule.size(&left)));
        }
        sketcher.read(second, b.day);
        let right = sketcher.words();
        Some(match (rule.of_protected(), a.set.is_some(), b.set.is_some()) {
            (Some(_), true, false) => Measures::of_protected(&left, right, ProtectedSide::First, rule),
            (Some(_), false, true) => Measures::of_protected(&left, right, ProtectedSide::Second, rule),
            _ => Measures::of_sketches(&left, right, rule),
        })
    }

    /// Which of two documents is kept before the other, and why; none if that hangs on what is not known of one of them.
    pub(super) fn preference(&self, a: &FinishedDocument, b: &FinishedDocument) -> Option<Preference> {
        let keep = &self.run().config.cluster.keep;
        let (decided, order) = a.decided(b, keep);
        if !(a.place.at.is_at_hand() && b.place.at.is_at_hand()) && decided != Decided::Protected {
            return None;
        }
        let [kept, before] = if order.is_le() { [a, b] } else { [b, a] };
        let criterion = match decided {
            Decided::Protected => Some(PROTECTED_CRITERION.to_owned()),
            Decided::Preferred => Some("--prefer".to_owned()),
            Decided::Policy(criterion) => criterion.map(Criterion::to_string),
        };
        Some(Preference {
            kept: kept.name(),
            before: before.name(),
            keep: keep.to_string(),
            criterion,
            compared: [kept, before].map(|document| self.compared(decided, document)),
        })
    }

    /// What was compared of a document.
    fn compared(&self, decided: Decided<'_>, document: &FinishedDocument) -> Compared {
        match decided {
            Decided::Protected => document.set.clone().map_or(Compared::Missing, Compared::Text),
            Decided::Preferred => {
                // A stream has no place among the inputs that are found again.
                let mut named = self.run().record.prefer.iter().filter(|name| *name != "-");
                named.nth(document.preference as usize).cloned().map_or(Compared::Missing, Compared::Text)
            }
            Decided::Policy(Some(Criterion::Longest | Criterion::Shortest)) => {
                Compared::Bytes(document.text_bytes)
            }
            Decided::Policy(Some(Criterion::Field { .. })) => match &document.value {
                Some(Value::Number(floor, above)) => Compared::number(*floor, *above),
                Some(Value::Text(text)) => Compared::Text(text.clone()),
                None => Compared::Missing,
            },
            Decided::Policy(Some(Criterion::First | Criterion::Last) | None) => {
                Compared::Place { file: document.place.file.clone(), line: document.place.line }
            }
        }
    }
}

/// Why two documents are never compared, if that is known.
fn kept_apart(a: &FinishedDocument, b: &FinishedDocument) -> Option<KeptApart> {
    let is_known = a.place.at.is_at_hand() && b.place.at.is_at_hand();
    match (a.set.is_some() && b.set.is_some(), is_known && a.within != b.within) {
        (true, _) => Some(KeptApart::Protected),
        (false, true) => Some(KeptApart::Within),
        (false, false) => None,
    }
}

/// Orders two documents as the run does, the one to keep first.
pub(super) fn keep_order(keep: &Keep, a: &FinishedDocument, b: &FinishedDocument) -> Ordering {
    a.decided(b, keep).1
}
