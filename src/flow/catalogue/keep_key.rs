//! What the keep policy compares of documents.

use std::cmp::Ordering;
use std::sync::LazyLock;

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

/// A value as a number and a string that order as it does, the number first: 0 for none, the greatest for a string; of a number that is
/// no double the string is what it is above one.
pub fn as_stored(value: &Option<Value>) -> (u64, &str) {
    match value {
        None => (0, ""),
        Some(Value::Number(floor, 0)) => (ordered(*floor), ""),
        Some(Value::Number(floor, above)) => (ordered(*floor), &ABOVE[usize::from(*above) % MOST_ABOVE]),
        Some(Value::Text(text)) => (u64::MAX, text),
    }
}

/// No integer of 64 bits is so much above a double.
const MOST_ABOVE: usize = 1 << 11;
/// What numbers are above a double, in digits that order as they do.
static ABOVE: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..MOST_ABOVE).map(|above| format!("{above:04}")).collect());

/// The value that [`as_stored`] gives these two for.
pub fn stored_value(key: u64, text: &str) -> Option<Value> {
    match key {
        0 => None,
        u64::MAX => Some(Value::Text(text.to_owned())),
        number => Some(Value::Number(number_of(number), text.parse().unwrap_or(0))),
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

/// Documents without the field come last, whichever way the others are ordered, and numbers stand before strings: what says "unknown" is
/// no greater than any number.
pub fn by_field(a: &Option<Value>, b: &Option<Value>, max: bool) -> Ordering {
    let ascending = match (a, b) {
        (None, None) => return Ordering::Equal,
        (None, Some(_)) => return Ordering::Greater,
        (Some(_), None) => return Ordering::Less,
        (Some(Value::Number(..)), Some(Value::Text(_))) => return Ordering::Less,
        (Some(Value::Text(_)), Some(Value::Number(..))) => return Ordering::Greater,
        (Some(Value::Number(x, above_x)), Some(Value::Number(y, above_y))) => {
            x.total_cmp(y).then(above_x.cmp(above_y))
        }
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
    fn integers_of_64_bits_order_as_they_are() {
        let powers = (0..64).flat_map(|bits| (-2i128..3).map(move |beside| (1 << bits) + beside));
        let mut numbers: Vec<i128> = powers.flat_map(|number| [number, -number]).collect();
        numbers.extend([i128::from(u64::MAX), i128::from(u64::MAX) - 1, i128::from(i64::MIN)]);
        numbers.retain(|number| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number));
        numbers.sort_unstable();
        numbers.dedup();
        let values: Vec<Option<Value>> = numbers.iter().map(|number| Some(Value::integer(*number))).collect();
        assert!(values.is_sorted_by(|a, b| by_field(a, b, false).is_lt()));
        assert!(values.is_sorted_by(|a, b| as_stored(a) < as_stored(b)));
        for (value, number) in values.iter().zip(numbers) {
            let (key, text) = as_stored(value);
            assert_eq!(&stored_value(key, text), value);
            let Some(Value::Number(floor, above)) = value else { panic!("{value:?}") };
            assert_eq!(crate::read::exact_integer(*floor, *above).unwrap_or(*floor as i128), number);
        }
    }

    #[test]
    fn numbers_then_strings_then_documents_without_the_field() {
        let number = |n| Some(Value::Number(n, 0));
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
