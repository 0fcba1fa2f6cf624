//! A document with its names, and the order in which documents of a cluster are kept.

use std::cmp::Ordering;

use crate::collection::tables::document::Document;
use crate::config::{Criterion, Keep};
use crate::flow::{by_field, stored_value};

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

/// Orders members by the value of a field, as all other documents are.
fn by_value(a: &Member, b: &Member, max: bool) -> Ordering {
    let value = |member: &Member| stored_value(member.document.worth, &member.value);
    by_field(&value(a), &value(b), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_before_strings_and_strings_before_nothing_either_way() {
        let member = |(worth, value): (u64, &str)| Member {
            document: Document { worth, ..Document::gone(0) },
            name: format!("{worth} {value}"),
            value: value.to_owned(),
        };
        let mut members =
            [(0, ""), (u64::MAX, "a"), (1 << 63 | 7, ""), (u64::MAX, "b"), (1 << 63 | 9, "")].map(member);
        for (max, order) in [(false, [7, 9, 0xa, 0xb, 0]), (true, [9, 7, 0xb, 0xa, 0])] {
            members.sort_by(|a, b| by_value(a, b, max));
            let found = members.each_ref().map(|member| match member.document.worth {
                u64::MAX => u64::from_str_radix(&member.value, 16).expect("a digit"),
                worth => worth & !(1 << 63),
            });
            assert_eq!(found, order, "{max}");
        }
    }
}
