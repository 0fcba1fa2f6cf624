//! What the keep policy compares of documents.

use std::cmp::Ordering;

use crate::config::Keep;
use crate::read::Value;

/// What the keep policy compares of a field, a row each; lengths of texts are elsewhere.
#[derive(Debug)]
pub struct KeepKeys(pub Option<Vec<Option<Value>>>);

impl KeepKeys {
    /// No rows yet, for a keep policy.
    pub fn new(keep: &Keep) -> KeepKeys {
        KeepKeys(keep.field().map(|_| Vec::new()))
    }

    /// Bytes of memory that each row takes here.
    pub fn bytes_each(&self) -> u64 {
        self.0.as_ref().map_or(0, |_| size_of::<Option<Value>>() as u64)
    }

    /// Adds a row, whose value is asked for only if it is compared.
    pub fn push(&mut self, value: impl FnOnce() -> Option<Value>) {
        if let Some(values) = &mut self.0 {
            values.push(value());
        }
    }
}

/// A value as a number that orders as it does, and the string beside it if it is one: 0 for none, the greatest for a
/// string.
pub fn as_stored(value: &Option<Value>) -> (u64, &str) {
    match value {
        None => (0, ""),
        Some(Value::Number(number)) => (ordered(*number), ""),
        Some(Value::Text(text)) => (u64::MAX, text),
    }
}

/// The value that [`as_stored`] gives these two for.
pub fn stored_value(key: u64, text: &str) -> Option<Value> {
    match key {
        0 => None,
        u64::MAX => Some(Value::Text(text.to_owned())),
        number => Some(Value::Number(number_of(number))),
    }
}

/// A number that orders like a finite one, neither 0 nor the greatest.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number that [`ordered`] made `order` of.
fn number_of(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 { order & !(1 << 63) } else { !order })
}

/// Documents without the field come last, whichever way the others are ordered; numbers stand before strings.
pub fn by_field(a: &Option<Value>, b: &Option<Value>, max: bool) -> Ordering {
    let ascending = match (a, b) {
        (None, None) => return Ordering::Equal,
        (None, Some(_)) => return Ordering::Greater,
        (Some(_), None) => return Ordering::Less,
        (Some(Value::Number(_)), Some(Value::Text(_))) => return Ordering::Less,
        (Some(Value::Text(_)), Some(Value::Number(_))) => return Ordering::Greater,
        (Some(Value::Number(x)), Some(Value::Number(y))) => x.total_cmp(y),
        (Some(Value::Text(x)), Some(Value::Text(y))) => x.cmp(y),
    };
    if max { ascending.reverse() } else { ascending }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_numbers_are_those_of_the_numbers_and_turn_back_into_them() {
        let numbers =
            [f64::MIN, -1e300, -2.5, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 1.0, 9.5, f64::MAX];
        let orders = numbers.map(ordered);
        assert!(
            orders.is_sorted_by(|a, b| a < b) && orders.iter().all(|order| (1..u64::MAX).contains(order))
        );
        for (number, order) in numbers.into_iter().zip(orders) {
            assert_eq!(number_of(order).to_bits(), number.to_bits());
        }
    }

    #[test]
    fn numbers_then_strings_then_documents_without_the_field() {
        let number = |n| Some(Value::Number(n));
        let text = |t: &str| Some(Value::Text(t.to_owned()));
        let sorted = |max| {
            let mut values =
                [text("b"), None, number(10.0), text("a"), number(-1.0), number(9.0), text("10")];
            values.sort_by(|a, b| by_field(a, b, max));
            values
        };
        let ascending = [number(-1.0), number(9.0), number(10.0), text("10"), text("a"), text("b"), None];
        assert_eq!(sorted(false), ascending);
        let descending = [number(10.0), number(9.0), number(-1.0), text("b"), text("a"), text("10"), None];
        assert_eq!(sorted(true), descending);
        assert!(by_field(&None, &None, true).is_eq() && by_field(&number(1.0), &number(1.0), true).is_eq());
    }
}
