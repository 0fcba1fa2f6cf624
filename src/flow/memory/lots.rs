//! Values dealt to numbered lots, of which it is known how many each gets: in memory as far as they may be, the rest on disk.

use std::path::Path;

use bytemuck::Pod;

use crate::error::Result;
use crate::flow::memory::spill::{SLICE, SpillFile};

/// Values of plain bits, dealt to lots.
pub struct Lots<T> {
    lots: Vec<Lot<T>>,
    /// How many values are in memory, and how many may be.
    len: usize,
    most: usize,
    /// Each lot has its place in the file.
    spill: SpillFile,
}

/// A lot: the values that were given first are on disk.
struct Lot<T> {
    /// Its place in the file, in values.
    start: usize,
    /// How many it gets.
    size: usize,
    written: usize,
    held: Vec<T>,
}

impl<T: Pod> Lots<T> {
    /// Empty lots that get so many values each; at most about `bytes` of them will be in memory.
    pub fn new(sizes: impl IntoIterator<Item = usize>, bytes: u64, scratch: &Path) -> Lots<T> {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
        let mut all = 0;
        let lot = |size| {
            all += size;
            Lot { start: all - size, size, written: 0, held: Vec::new() }
        };
        let lots = sizes.into_iter().map(lot).collect();
        // Lists that grow take up to twice what they hold; where all stay in memory none grows.
        let most = if all <= most { most } else { most / 2 };
        Lots { lots, len: 0, most, spill: SpillFile::new(scratch) }
    }

    /// Adds a batch to a lot.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file.
    pub fn give(&mut self, lot: usize, batch: &[T]) -> Result<()> {
        if self.len + batch.len() > self.most {
            for lot in self.lots.iter_mut().filter(|lot| !lot.held.is_empty()) {
                self.spill.write(((lot.start + lot.written) * size_of::<T>()) as u64, &lot.held)?;
                lot.written += lot.held.len();
                lot.held = Vec::new();
            }
            self.len = 0;
        }
        let all_stay = self.lots.last().is_none_or(|last| last.start + last.size <= self.most);
        let lot = &mut self.lots[lot];
        debug_assert!(
            lot.written + lot.held.len() + batch.len() <= lot.size,
            "no lot gets more than was said"
        );
        if all_stay && lot.held.is_empty() {
            lot.held.reserve_exact(lot.size);
        }
        lot.held.extend_from_slice(batch);
        self.len += batch.len();
        Ok(())
    }

    /// How many values a lot was given.
    pub fn len(&self, lot: usize) -> usize {
        self.lots[lot].written + self.lots[lot].held.len()
    }

    /// Goes through the values of a lot, some at a time.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file, and those of `each`.
    pub fn each_slice(&self, lot: usize, mut each: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        let Lot { start, written, held, .. } = &self.lots[lot];
        let mut buffer = Vec::new();
        for from in (0..*written).step_by(SLICE) {
            buffer.resize(SLICE.min(written - from), T::zeroed());
            self.spill.read(((start + from) * size_of::<T>()) as u64, &mut buffer)?;
            each(&buffer)?;
        }
        if held.is_empty() { Ok(()) } else { each(held) }
    }

    /// The values of a lot, which is empty then.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file.
    pub fn take(&mut self, lot: usize) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(self.len(lot));
        self.each_slice(lot, |some| {
            all.extend_from_slice(some);
            Ok(())
        })?;
        let lot = &mut self.lots[lot];
        self.len -= lot.held.len();
        (lot.held, lot.written) = (Vec::new(), 0);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_lot_has_what_it_was_given(given in prop::collection::vec((0usize..4, 0usize..90), 0..30), bytes in 0u64..2000) {
            let folder = tempfile::tempdir().expect("a folder");
            let size = |lot| given.iter().filter(|(of, _)| *of == lot).map(|(_, count)| count).sum::<usize>();
            let mut lots: Lots<u32> = Lots::new((0..4).map(size), bytes, folder.path());
            let (mut want, mut next) = (vec![Vec::new(); 4], 0);
            for (lot, count) in &given {
                let some: Vec<u32> = (next..).take(*count).collect();
                next += *count as u32;
                lots.give(*lot, &some).expect("given");
                want[*lot].extend(some);
                prop_assert!(lots.len <= lots.most.max(*count));
            }
            for (lot, want) in want.into_iter().enumerate() {
                prop_assert_eq!(lots.len(lot), want.len());
                prop_assert_eq!(lots.take(lot).expect("read"), want);
                prop_assert_eq!((lots.len(lot), lots.take(lot).expect("read")), (0, Vec::new()));
            }
            prop_assert_eq!(lots.len, 0);
        }
    }
}
