//! Values dealt to numbered lots: in memory as far as they may be, the rest on disk.

use std::path::Path;

use bytemuck::Pod;

use crate::error::Result;
use crate::flow::memory::spill::{SLICE, SpillFile};

/// Values of plain bits, dealt to lots.
pub struct Lots<T> {
    held: Vec<Vec<T>>,
    /// How many are in memory, and how many may be.
    len: usize,
    most: usize,
    spill: SpillFile,
    /// For each lot its stretches in the spill: first byte, and how many values.
    stretches: Vec<Vec<(u64, usize)>>,
}

impl<T: Pod> Lots<T> {
    /// Empty lots; at most `bytes` of their values will be in memory, give or take one batch.
    pub fn new(many: usize, bytes: u64, scratch: &Path) -> Lots<T> {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
        let (held, stretches) = (vec![Vec::new(); many], vec![Vec::new(); many]);
        Lots { held, len: 0, most, spill: SpillFile::new(scratch), stretches }
    }

    /// Adds a batch to a lot.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file.
    pub fn give(&mut self, lot: usize, batch: &[T]) -> Result<()> {
        if self.len + batch.len() > self.most {
            for (held, stretches) in self.held.iter_mut().zip(&mut self.stretches) {
                if !held.is_empty() {
                    stretches.push((self.spill.append(held)?, held.len()));
                    *held = Vec::new();
                }
            }
            self.len = 0;
        }
        self.held[lot].extend_from_slice(batch);
        self.len += batch.len();
        Ok(())
    }

    /// How many values a lot has.
    pub fn len(&self, lot: usize) -> usize {
        self.stretches[lot].iter().map(|(_, count)| count).sum::<usize>() + self.held[lot].len()
    }

    /// Goes through the values of a lot, some at a time.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of the spill file, and those of `each`.
    pub fn each_slice(&self, lot: usize, mut each: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        for (start, count) in &self.stretches[lot] {
            for from in (0..*count).step_by(SLICE) {
                buffer.resize(SLICE.min(count - from), T::zeroed());
                self.spill.read(start + (from * size_of::<T>()) as u64, &mut buffer)?;
                each(&buffer)?;
            }
        }
        if self.held[lot].is_empty() { Ok(()) } else { each(&self.held[lot]) }
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
        self.len -= self.held[lot].len();
        (self.held[lot], self.stretches[lot]) = Default::default();
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
            let mut lots: Lots<u32> = Lots::new(4, bytes, folder.path());
            let (mut want, mut next) = (vec![Vec::new(); 4], 0);
            for (lot, count) in given {
                let some: Vec<u32> = (next..).take(count).collect();
                next += count as u32;
                lots.give(lot, &some).expect("given");
                want[lot].extend(some);
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
