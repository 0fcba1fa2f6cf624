//! A document with its names, and the order in which documents of a cluster are kept.

use std::cmp::Ordering;

use crate::collection::tables::document::Document;
use crate::config::{Criterion, Keep};

/// A document in a cluster, as far as clusters care.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its row.
    pub document: Document,
    /// Its id.
    pub name: String,
    /// The value it is compared by.
    pub value: String,
}

/// Orders members by the keep policy, the one to keep first; ties go to the load that first brought the id, then the id.
pub fn keep_order(keep: &Keep, a: &Member, b: &Member) -> Ordering {
    decided(keep, a, b).1
}

/// The same, and the criterion of the policy that says so; `None` where all of them find the two equal.
pub fn decided<'a>(keep: &'a Keep, a: &Member, b: &Member) -> (Option<&'a Criterion>, Ordering) {
    let position = (a.document.loads.0, &a.name).cmp(&(b.document.loads.0, &b.name));
    let lengths = || a.document.text_bytes.cmp(&b.document.text_bytes);
    keep.decide(position, lengths, |max| by_value(a, b, max))
}

/// What [`crate::flow::by_field`] says of the values. Documents without one come last, whichever way the others are ordered; numbers
/// stand before strings.
fn by_value(a: &Member, b: &Member, max: bool) -> Ordering {
    let rank = |member: &Member| match member.document.worth {
        0 => 2,
        u64::MAX => 1,
        _ => 0,
    };
    let ascending = (a.document.worth, &a.value).cmp(&(b.document.worth, &b.value));
    rank(a).cmp(&rank(b)).then(if max { ascending.reverse() } else { ascending })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::{by_field, stored_value};

    /// A value as it is stored.
    fn value() -> impl Strategy<Value = (u64, &'static str)> {
        let number = prop::sample::select(vec![1 << 62, 1 << 63 | 1, 1 << 63 | 9, u64::MAX - 1]);
        prop_oneof![
            Just((0, "")),
            (number, prop::sample::select(vec!["", "0003", "0020"])),
            prop::sample::select(vec!["", "a", "b"]).prop_map(|text| (u64::MAX, text)),
        ]
    }

    proptest! {
        #[test]
        fn stored_values_are_ordered_as_those_of_records(a in value(), b in value(), max in any::<bool>()) {
            let member = |(worth, value): (u64, &str)| Member {
                document: Document { worth, ..Document::gone(0) },
                name: String::new(),
                value: value.to_owned(),
            };
            let twin = by_field(&stored_value(a.0, a.1), &stored_value(b.0, b.1), max);
            prop_assert_eq!(by_value(&member(a), &member(b), max), twin);
        }
    }
}
