//! New texts that are like no other and have one document: most of what a load brings. Nothing is said of them but that they are there.

use crate::collection::run::schema::COMPONENTS;
use crate::collection::tables::Tables;
use crate::collection::tables::bits::Bits;
use crate::collection::tables::rows::{StoredComponent, StoredContent};
use crate::error::Result;
use crate::progress::Progress;

/// Rows between two looks at whether to stop.
const STEP: usize = 1 << 16;

/// Where the numbers that a load gives begin.
#[derive(Clone, Copy, Debug)]
pub struct FirstNumbers {
    /// The first content.
    pub content: u64,
    /// The first label of a component.
    pub label: u64,
}

/// The new components of a load that are of one content.
pub struct AloneContents {
    first: FirstNumbers,
    /// By their labels above the first one.
    labels: Bits,
}

impl AloneContents {
    /// Those of the runs of a load, which have all rows that it has written, and gives no label from `next` on. The room for their labels
    /// is a bit each.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub fn of(new: &Tables, first: FirstNumbers, next: u64, progress: &Progress) -> Result<AloneContents> {
        let labels = Bits::below(next.saturating_sub(first.label));
        let mut alone = AloneContents { first, labels };
        // Rows of a component stand together.
        let (mut rows, mut last) = (new.scan_between(COMPONENTS, &[first.label], None), None);
        let mut read = 0usize;
        while let Some(row) = rows.next_row()? {
            let row = StoredComponent::of_row(row);
            match last.replace((row.component, row.is)) {
                Some((label, _)) if label == row.component => last = Some((label, false)),
                Some((label, true)) => alone.add(label),
                _ => {}
            }
            read += 1;
            if read.is_multiple_of(STEP) {
                progress.check()?;
            }
        }
        if let Some((label, true)) = last {
            alone.add(label);
        }
        Ok(alone)
    }

    fn add(&mut self, label: u64) {
        self.labels.add(label - self.first.label);
    }

    /// Whether a content is new.
    pub fn is_new(&self, content: u64) -> bool {
        content >= self.first.content
    }

    /// Whether a content, by its newest row, is one of them.
    pub fn has(&self, content: &StoredContent) -> bool {
        let label = u64::from(content.at.component).checked_sub(self.first.label);
        self.is_new(content.content)
            && content.documents == 1
            && label.is_some_and(|label| self.labels.has(label))
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.labels.bytes()
    }
}
