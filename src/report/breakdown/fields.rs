//! What is lost by the value of a field: a language, a month, or whatever records have.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::flow::Outcome;
use crate::observed::{FieldValue, MOST_VALUES, Observation, ValueColumn};
use crate::read::{FieldPath, written_month};

/// Most values that are told apart, and most months; the rest is one.
const VALUES: usize = 40;
const MONTHS: usize = 120;

/// What each value of a field loses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldLoss {
    /// The path of the field.
    pub field: String,
    /// Whether its values are dates, and months are told.
    pub by_month: bool,
    /// The values that lose most, in their order, or months like `2024-03` in order of time. None where there are too many
    /// values to be told apart.
    pub values: Vec<ValueLoss>,
    /// What all other values lose.
    pub others: Option<LossCount>,
    /// What documents lose whose value is no date, where months are told.
    pub no_date: Option<LossCount>,
    /// What documents without a value lose.
    pub missing: Option<LossCount>,
}

/// What a value of a field loses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueLoss {
    /// The value, or how it begins; or the month.
    pub value: String,
    /// What it loses.
    #[serde(flatten)]
    pub loss: LossCount,
}

/// Some documents, and how many of them are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LossCount {
    /// Those of them that are removed.
    pub removed: u64,
    /// The documents.
    pub documents: u64,
}

impl LossCount {
    fn add(&mut self, other: LossCount) {
        self.removed += other.removed;
        self.documents += other.documents;
    }
}

impl FieldLoss {
    /// Whether there are too many values to be told apart.
    pub fn has_too_many(&self) -> bool {
        self.values.is_empty() && self.others.is_some()
    }

    /// Whether any document has a value.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty() || self.others.is_some()
    }
}

/// What is lost by each field that was observed. One that was not asked for is left out if it says nothing.
pub(crate) fn field_losses(outcome: &Outcome) -> Vec<FieldLoss> {
    let Some(Observation { fields, asked }) = &outcome.run.context.observation else { return Vec::new() };
    let loss = |(at, field): (usize, &FieldPath)| {
        let (counts, months_only) = counts(outcome, at);
        loss_of(field.as_str(), counts, months_only)
    };
    let says = |loss: &FieldLoss| *asked || loss.has_values() && !loss.has_too_many();
    fields.iter().enumerate().map(loss).filter(says).collect()
}

/// What each value of a field loses, and whether only months are told apart.
fn counts(outcome: &Outcome, field: usize) -> (BTreeMap<FieldValue, LossCount>, bool) {
    let catalogue = &outcome.run.documents.catalogue;
    let mut columns = outcome.observed.iter().filter_map(|observed| observed.columns.get(field));
    let months_only = columns.any(ValueColumn::has_months_only);
    let key = |value: &FieldValue| if months_only { value.by_month() } else { value.clone() };
    let mut counts: BTreeMap<FieldValue, LossCount> = BTreeMap::new();
    let mut by_worker = BTreeMap::new();
    for observed in &outcome.observed {
        let Some(column) = observed.columns.get(field) else { continue };
        let worker = observed.worker as usize;
        by_worker.insert(worker, column);
        for (value, documents) in
            column.counts(catalogue.protected_rows(worker) as usize, catalogue.rows(worker))
        {
            counts.entry(key(value)).or_default().documents += documents;
        }
    }
    let mut removed: BTreeMap<&FieldValue, u64> = BTreeMap::new();
    for row in &outcome.findings.removed {
        let (worker, row) = catalogue.row_of(row.doc);
        if let Some(column) = by_worker.get(&worker) {
            *removed.entry(column.value(row)).or_default() += 1;
        }
    }
    removed.into_iter().for_each(|(value, count)| counts.entry(key(value)).or_default().removed += count);
    (counts, months_only)
}

/// What a field loses: by month if most of its values are dates.
fn loss_of(field: &str, counts: BTreeMap<FieldValue, LossCount>, months_only: bool) -> FieldLoss {
    let valued = |(value, _): &(&FieldValue, _)| !matches!(value, FieldValue::Missing);
    let documents: u64 = counts.iter().filter(valued).map(|(_, count)| count.documents).sum();
    let mut months: BTreeMap<FieldValue, LossCount> = BTreeMap::new();
    counts.iter().for_each(|(value, count)| months.entry(value.by_month()).or_default().add(*count));
    let dated = months.iter().filter(|(value, _)| matches!(value, FieldValue::Month(_)));
    let by_month = dated.map(|(_, count)| count.documents).sum::<u64>() * 2 > documents;
    let too_many = !by_month
        && (months_only
            || counts.keys().filter(|value| **value != FieldValue::Missing).count() > MOST_VALUES);
    let mut loss = FieldLoss {
        field: field.to_owned(),
        by_month,
        values: Vec::new(),
        others: None,
        no_date: None,
        missing: None,
    };
    let mut values = Vec::new();
    for (value, count) in if by_month { months } else { counts } {
        match value {
            FieldValue::Missing => loss.missing = Some(count),
            FieldValue::NoDate if by_month => loss.no_date = Some(count),
            _ if too_many => loss.others.get_or_insert_default().add(count),
            FieldValue::Month(month) => values.push((written_month(month), count)),
            FieldValue::Text(text) => values.push((text.into(), count)),
            FieldValue::NoDate => {}
        }
    }
    let (values, others) = most(values, if by_month { MONTHS } else { VALUES });
    loss.values = values;
    loss.others = loss.others.or(others);
    loss
}

/// The values that lose most if there are too many, in the order that they have, and what the others lose together.
fn most(all: Vec<(String, LossCount)>, shown: usize) -> (Vec<ValueLoss>, Option<LossCount>) {
    let mut others = None::<LossCount>;
    let mut losses: Vec<(usize, LossCount)> = all.iter().map(|(_, loss)| *loss).enumerate().collect();
    if losses.len() > shown {
        losses.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let rest = losses.split_off(shown - 1);
        rest.into_iter().for_each(|(_, loss)| others.get_or_insert_default().add(loss));
    }
    let mut chosen = vec![false; all.len()];
    losses.into_iter().for_each(|(at, _)| chosen[at] = true);
    let told = all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    (told.map(|((value, loss), _)| ValueLoss { value, loss }).collect(), others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(removed: u64, documents: u64) -> LossCount {
        LossCount { removed, documents }
    }

    fn told(values: &[(&str, u64, u64)]) -> FieldLoss {
        let key = |value: &str| match value {
            "" => FieldValue::Missing,
            value => FieldValue::Text(value.into()),
        };
        let counts = values.iter().map(|(value, removed, all)| (key(value), loss(*removed, *all))).collect();
        loss_of("f", counts, false)
    }

    fn names(loss: &FieldLoss) -> Vec<&str> {
        loss.values.iter().map(|value| &*value.value).collect()
    }

    #[test]
    fn dates_are_told_by_month_if_most_are_dates() {
        let by_month = told(&[
            ("2024-03-10", 1, 4),
            ("March 1, 2024", 2, 2),
            ("2023-12", 0, 1),
            ("soon", 1, 5),
            ("", 3, 9),
        ]);
        assert!(by_month.by_month);
        assert_eq!(names(&by_month), ["2023-12", "2024-03"]);
        assert_eq!(by_month.values[1].loss, loss(3, 6));
        assert_eq!((by_month.no_date, by_month.missing), (Some(loss(1, 5)), Some(loss(3, 9))));
        let by_value = told(&[("2024-03-10", 1, 4), ("soon", 1, 4), ("", 3, 9)]);
        assert!(!by_value.by_month && by_value.no_date.is_none());
        assert_eq!(names(&by_value), ["2024-03-10", "soon"]);
        assert_eq!(names(&told(&[("1999", 0, 1), ("2001", 1, 1)])), ["1999", "2001"]);
    }

    #[test]
    fn the_values_that_lose_most_are_told() {
        let all: Vec<(String, u64)> = (0..100).map(|n| (format!("v{n:02}"), n)).collect();
        let all: Vec<(&str, u64, u64)> = all.iter().map(|(name, n)| (&**name, *n, 200)).collect();
        let some = told(&all);
        assert_eq!(some.values.len(), VALUES - 1);
        assert_eq!((names(&some)[0], names(&some)[VALUES - 2]), ("v61", "v99"));
        assert_eq!(some.others, Some(loss((0..61).sum(), 61 * 200)));
        assert!(told(&all[..VALUES]).others.is_none());
    }

    #[test]
    fn too_many_values_are_not_told_apart() {
        let counts = [
            (FieldValue::Missing, loss(0, 1)),
            (FieldValue::Month(3), loss(1, 2)),
            (FieldValue::NoDate, loss(1, 9)),
        ];
        let some = loss_of("f", counts.into_iter().collect(), true);
        assert!(some.has_too_many() && some.has_values());
        assert_eq!((some.others, some.missing), (Some(loss(2, 11)), Some(loss(0, 1))));
        assert!(!told(&[("", 0, 3)]).has_values());
    }
}
