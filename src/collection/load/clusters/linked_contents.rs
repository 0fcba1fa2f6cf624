//! Which contents have links.

use crate::collection::run::schema::LINKS;
use crate::collection::tables::Tables;
use crate::collection::tables::rows::StoredLink;
use crate::error::Result;

/// The contents of which some runs have links, asked for in ascending order.
pub struct LinkedContents<Next> {
    next: Next,
    /// The content of the link that was read last, and whether no more follow.
    last: Option<u64>,
    ended: bool,
}

/// Those that do not come before the content `first`.
pub fn linked_contents(
    tables: &Tables,
    first: u64,
) -> LinkedContents<impl FnMut() -> Result<Option<u64>> + use<>> {
    let mut rows = tables.scan_between(LINKS, &[first], None);
    let next = move || Ok(rows.next_row()?.map(|row| StoredLink::of_row(row).content));
    LinkedContents { next, last: None, ended: false }
}

impl<Next: FnMut() -> Result<Option<u64>>> LinkedContents<Next> {
    /// Whether a content has a link. It does not come before the one that was asked for last.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn has(&mut self, content: u64) -> Result<bool> {
        while !self.ended && self.last.is_none_or(|last| last < content) {
            self.last = (self.next)()?;
            self.ended = self.last.is_none();
        }
        Ok(self.last == Some(content))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn contents_that_are_asked_for_in_order_are_found(
            mut links in prop::collection::vec(0..40u64, 0..60), asked in prop::collection::btree_set(0..45u64, 0..45),
        ) {
            links.sort_unstable();
            let truth: BTreeSet<u64> = links.iter().copied().collect();
            let mut links = links.into_iter();
            let mut linked = LinkedContents { next: || Ok(links.next()), last: None, ended: false };
            for content in asked {
                prop_assert_eq!(linked.has(content).expect("nothing fails"), truth.contains(&content));
            }
        }
    }
}
