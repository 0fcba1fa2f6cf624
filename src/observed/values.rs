//! The values that documents have in a field: each value once, and a number of it for each document.

use std::mem;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::read::{day, month_of};

/// Most different values of a field. Where there are more, only the months of those that are dates are told apart.
pub const MOST_VALUES: usize = 10_000;
/// Most characters of a value: those that begin alike with so many are one.
const MOST_CHARACTERS: usize = 120;

/// What a document has in a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FieldValue {
    /// Nothing that is a string with anything in it, or a number.
    Missing,
    /// A date of this month: months since January 1970.
    Month(i32),
    /// A value that is no date, where only months are told apart.
    NoDate,
    /// A value, as far as it is held.
    Text(Box<str>),
}

impl FieldValue {
    /// The month of a value that is a date.
    fn month(text: &str) -> Option<FieldValue> {
        let text = text.trim();
        // A year is no month, and would be taken for the first one.
        let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        day(text).filter(|_| !is_year).map(|day| FieldValue::Month(month_of(day)))
    }

    /// The same where only months are told apart.
    pub fn by_month(&self) -> FieldValue {
        match self {
            FieldValue::Text(text) => FieldValue::month(text).unwrap_or(FieldValue::NoDate),
            other => other.clone(),
        }
    }
}

/// The values of a field, of the documents of a worker.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ValueColumn {
    /// Each value once; one that a document does not have is not there.
    values: Vec<FieldValue>,
    /// By row: one more than the place of the value; 0 for none. Rows behind the last value are not there.
    codes: Vec<u32>,
    /// Whether there are too many values, so that only months are told apart.
    months_only: bool,
    #[serde(skip)]
    places: HashMap<Box<str>, u32>,
    /// Places of months, and of what is no date.
    #[serde(skip)]
    others: HashMap<FieldValue, u32>,
}

impl ValueColumn {
    /// Notes what the document of a row has; rows come in their order, and those that are passed over have nothing.
    pub fn note(&mut self, row: usize, value: Option<&str>) {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return };
        let value = beginning(value);
        let code = match self.places.get(value) {
            Some(place) => *place,
            None => self.place_of(value),
        };
        self.codes.resize(row, 0);
        self.codes.push(code);
    }

    /// The code of a value that was not met, or whose months alone are told apart.
    fn place_of(&mut self, value: &str) -> u32 {
        if !self.months_only && self.values.len() >= MOST_VALUES {
            self.fold_to_months();
        }
        self.code_of(match self.months_only {
            true => FieldValue::month(value).unwrap_or(FieldValue::NoDate),
            false => FieldValue::Text(value.into()),
        })
    }

    fn code_of(&mut self, value: FieldValue) -> u32 {
        let next = self.values.len() as u32 + 1;
        let code = match &value {
            FieldValue::Text(text) => *self.places.entry(text.clone()).or_insert(next),
            other => *self.others.entry(other.clone()).or_insert(next),
        };
        if code == next {
            self.values.push(value);
        }
        code
    }

    /// Forgets all values but the months of dates.
    fn fold_to_months(&mut self) {
        self.months_only = true;
        self.places = HashMap::new();
        let values = mem::take(&mut self.values);
        let codes: Vec<u32> = values.iter().map(|value| self.code_of(value.by_month())).collect();
        let filled = self.codes.iter_mut().filter(|code| **code > 0);
        filled.for_each(|code| *code = codes[*code as usize - 1]);
    }

    /// Whether only months are told apart.
    pub fn has_months_only(&self) -> bool {
        self.months_only
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> &FieldValue {
        let code = self.codes.get(row).copied().unwrap_or_default() as usize;
        code.checked_sub(1).map_or(&FieldValue::Missing, |place| &self.values[place])
    }

    /// How many of so many rows from `first` on have each value.
    pub fn counts(&self, first: usize, rows: usize) -> Vec<(&FieldValue, u64)> {
        let mut counts = vec![0u64; self.values.len() + 1];
        let codes = self.codes.get(first..).unwrap_or_default();
        codes.iter().for_each(|code| counts[*code as usize] += 1);
        counts[0] += rows.saturating_sub(first + codes.len()) as u64;
        let values = std::iter::once(&FieldValue::Missing).chain(&self.values);
        values.zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    /// Rows that it has.
    pub(super) fn rows(&self) -> usize {
        self.codes.len()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (self.codes.len() * size_of::<u32>()) as u64
    }

    /// Divides the rest of it from the rows below `rows`; the values are in the first part.
    pub(super) fn split_off(&mut self, rows: usize) -> ValueColumn {
        let codes = self.codes.split_off(rows.min(self.codes.len()));
        ValueColumn { codes, months_only: self.months_only, ..ValueColumn::default() }
    }

    /// Adds what was divided from it.
    pub(super) fn append(&mut self, rest: ValueColumn) {
        self.values.extend(rest.values);
        self.codes.extend(rest.codes);
        self.months_only |= rest.months_only;
    }
}

/// A value as far as it is held.
fn beginning(value: &str) -> &str {
    if value.len() <= MOST_CHARACTERS {
        return value;
    }
    value.char_indices().nth(MOST_CHARACTERS).map_or(value, |(end, _)| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[Option<&str>]) -> ValueColumn {
        let mut column = ValueColumn::default();
        values.iter().enumerate().for_each(|(row, value)| column.note(row, *value));
        column
    }

    fn text(text: &str) -> FieldValue {
        FieldValue::Text(text.into())
    }

    #[test]
    fn values_come_back_row_by_row() {
        let values = [Some("de"), None, Some("fr"), Some(""), Some("de"), None];
        let column = column(&values);
        for (row, value) in values.iter().enumerate() {
            let value = value.filter(|value| !value.is_empty()).map_or(FieldValue::Missing, text);
            assert_eq!(*column.value(row), value, "{row}");
        }
        assert_eq!(*column.value(99), FieldValue::Missing);
        let counts = column.counts(0, 6);
        assert_eq!(counts, [(&FieldValue::Missing, 3), (&text("de"), 2), (&text("fr"), 1)]);
        assert_eq!(column.counts(2, 6), [(&FieldValue::Missing, 2), (&text("de"), 1), (&text("fr"), 1)]);
        assert_eq!(column.counts(7, 7), []);
    }

    #[test]
    fn of_too_many_values_the_months_are_left() {
        let days: Vec<String> = (0..MOST_VALUES + 40)
            .map(|n| {
                format!(
                    "20{:02}-{:02}-{:02}T00:{:02}:{:02}Z",
                    n % 30,
                    n % 12 + 1,
                    n % 28 + 1,
                    n / 60 % 60,
                    n % 60
                )
            })
            .collect();
        let mut values: Vec<Option<&str>> = days.iter().map(|day| Some(&**day)).collect();
        values.insert(3, None);
        values.insert(5, Some("soon"));
        let column = column(&values);
        assert!(column.has_months_only());
        for (row, value) in values.iter().enumerate() {
            let month = value.map_or(FieldValue::Missing, |value| text(value).by_month());
            assert_eq!(*column.value(row), month, "{row}");
        }
        assert_eq!(*column.value(5), FieldValue::NoDate);
        assert_eq!(column.counts(0, values.len()).iter().map(|(_, n)| n).sum::<u64>(), values.len() as u64);
    }

    #[test]
    fn months_are_those_of_dates_and_years_are_none() {
        for (value, month) in [
            ("2024-03-10", FieldValue::Month(650)),
            ("1710070200", FieldValue::Month(650)),
            ("Sun, 10 Mar 2024 12:30:00 GMT", FieldValue::Month(650)),
            ("2024", FieldValue::NoDate),
            ("yesterday", FieldValue::NoDate),
        ] {
            assert_eq!(text(value).by_month(), month, "{value}");
        }
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let long = "\u{e9}".repeat(1000);
        let column = column(&[Some(&long)]);
        assert_eq!(*column.value(0), text(&"\u{e9}".repeat(MOST_CHARACTERS)));
    }

    #[test]
    fn what_was_divided_is_put_together_again() {
        let values: Vec<Option<&str>> = (0..100).map(|n| ["a", "b", "c"].get(n % 5).copied()).collect();
        let whole = column(&values);
        let mut first = whole.clone();
        let mut second = first.split_off(30);
        let third = second.split_off(1000);
        first.append(second);
        first.append(third);
        assert!((0..100).all(|row| first.value(row) == whole.value(row)));
    }
}
