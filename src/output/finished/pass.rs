//! All records of inputs, read once with several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;
use crate::progress::Progress;
use crate::read::{DocumentSink, RunInputs};
use crate::threads::in_threads;

/// What a thread of a pass does.
pub trait PassSink: DocumentSink + Send {
    /// Whether it reads a unit, which is the next one.
    fn takes(&mut self, unit: usize) -> bool;

    /// What went wrong since it was asked last.
    ///
    /// # Errors
    /// That.
    fn check(&mut self) -> Result<()>;
}

/// Has units read by so many threads until all are, and gives what each thread has found. `sink` makes that of a number.
///
/// # Errors
/// [`crate::error::Error::Interrupted`], those of reading, of `sink` and of [`PassSink::check`].
pub fn read_all<S: PassSink>(
    inputs: &RunInputs,
    threads: usize,
    sink: &(impl Fn(usize) -> Result<S> + Sync),
    progress: &Progress,
) -> Result<Vec<S>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let read = |number: usize| -> Result<S> {
        let (mut sink, mut earlier) = (sink(number)?, None);
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= inputs.units.len() {
                return Ok(sink);
            }
            if !sink.takes(at) {
                continue;
            }
            let step = &mut |sink: &mut S| {
                progress.check()?;
                sink.check()?;
                Ok(!failed.load(Ordering::Relaxed))
            };
            if !inputs.read_unit(at, &mut earlier, &mut sink, progress, step)? {
                return Ok(sink);
            }
        }
    };
    let read = |number| read(number).inspect_err(|_| failed.store(true, Ordering::Relaxed));
    let read = in_threads(0..threads.max(1), read);
    progress.check()?;
    read
}
