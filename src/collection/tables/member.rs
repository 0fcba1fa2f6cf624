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

/// Documents without the value come last, whichever way the others are ordered; numbers stand before strings.
fn by_value(a: &Member, b: &Member, max: bool) -> Ordering {
    let rank = |member: &Member| match member.document.worth {
        0 => 2,
        u64::MAX => 1,
        _ => 0,
    };
    let ascending = (a.document.worth, &a.value).cmp(&(b.document.worth, &b.value));
    match rank(a).cmp(&rank(b)) {
        Ordering::Equal => {
            if max {
                ascending.reverse()
            } else {
                ascending
            }
        }
        _ if rank(a) == 2 || rank(b) == 2 || !max => rank(a).cmp(&rank(b)),
        other => other.reverse(),
    }
}
