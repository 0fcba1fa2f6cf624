//! New components of one content that has one document: most of what a load brings. They are in no cluster, so nothing has to be worked
//! out about them.

use std::ops::Range;

use crate::collection::run::schema::COMPONENTS;
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::rows::{StoredComponent, StoredContent};
use crate::error::Result;
use crate::progress::Progress;

/// Rows between two looks at whether to stop.
const STEP: usize = 1 << 16;

/// The numbers that a load has given.
#[derive(Clone, Debug)]
pub struct NewNumbers {
    /// The first content.
    pub first_content: u64,
    /// The labels of components.
    pub labels: Range<u64>,
}

/// The new components of a load that are of one content.
pub struct SingletonComponents {
    numbers: NewNumbers,
    /// Their labels, above the first one of the load: a bit each.
    labels: Bits,
}

impl SingletonComponents {
    /// Those of a load. `new` has all rows that it wrote: where other processes keep some, a label with one row here may have more there.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub fn of(new: &Tables, numbers: NewNumbers, progress: &Progress) -> Result<SingletonComponents> {
        let mut rows = new.scan_between(COMPONENTS, &[numbers.labels.start], None);
        let mut read = 0usize;
        let next = || {
            read += 1;
            if read.is_multiple_of(STEP) {
                progress.check()?;
            }
            Ok(rows.next_row()?.map(StoredComponent::of_row))
        };
        SingletonComponents::of_rows(numbers, next)
    }

    /// Those of ascending rows. One that says that a content has left counts, too: then more is worked out than need be.
    fn of_rows(
        numbers: NewNumbers,
        mut next: impl FnMut() -> Result<Option<StoredComponent>>,
    ) -> Result<SingletonComponents> {
        let first = numbers.labels.start;
        let mut labels = Bits::below(numbers.labels.end.saturating_sub(first));
        // The label of the last row, and whether it is the only one of that label, and of a content that is there.
        let mut last: Option<(u64, bool)> = None;
        while let Some(row) = next()? {
            match last.replace((row.component, row.is)) {
                Some((label, _)) if label == row.component => last = Some((label, false)),
                Some((label, true)) => drop(labels.add(label - first)),
                _ => {}
            }
        }
        if let Some((label, true)) = last {
            labels.add(label - first);
        }
        Ok(SingletonComponents { numbers, labels })
    }

    /// Whether a content is new.
    pub fn is_new(&self, content: u64) -> bool {
        content >= self.numbers.first_content
    }

    /// Whether a content, by its newest row, is new, has one document, and is alone in its component.
    pub fn is_alone(&self, content: &StoredContent) -> bool {
        let label = u64::from(content.at.component).checked_sub(self.numbers.labels.start);
        self.is_new(content.content)
            && content.documents == 1
            && label.is_some_and(|label| self.labels.has(label))
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.labels.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::tables::rows::ClusterKey;

    #[test]
    fn only_what_is_new_and_has_nobody_beside_it_is_alone() {
        let rows = [(10, 100, true), (11, 101, true), (11, 102, true), (12, 103, false), (13, 5, true)];
        let rows = [&rows[..], &[(14, 104, false), (14, 105, true), (15, 106, true)]].concat();
        let mut rows = rows.into_iter();
        let next =
            || Ok(rows.next().map(|(component, content, is)| StoredComponent { component, content, is }));
        let numbers = NewNumbers { first_content: 100, labels: 10..16 };
        let found = SingletonComponents::of_rows(numbers, next).expect("nothing fails");
        let is_alone = |content: u64, component: u32, documents: u32| {
            found.is_alone(&StoredContent { content, documents, at: ClusterKey { component, place: 0 } })
        };
        assert!(is_alone(100, 10, 1) && is_alone(106, 15, 1));
        // It has another document; others are beside it; it has left; somebody has left it.
        assert!(!is_alone(100, 10, 2) && !is_alone(101, 11, 1) && !is_alone(102, 11, 1));
        assert!(!is_alone(103, 12, 1) && !is_alone(105, 14, 1));
        // An old content under a new label, and a new one under an old label.
        assert!(!is_alone(5, 13, 1) && !is_alone(100, 9, 1));
        assert!(found.is_new(100) && !found.is_new(99));
    }

    #[test]
    fn a_load_without_components_has_none() {
        let numbers = NewNumbers { first_content: 0, labels: 7..7 };
        let found = SingletonComponents::of_rows(numbers, || Ok(None)).expect("nothing fails");
        let at = ClusterKey { component: 7, place: 0 };
        assert!(!found.is_alone(&StoredContent { content: 0, documents: 1, at }));
    }
}
