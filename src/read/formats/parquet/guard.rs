//! The boundary to the crate that decodes.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

use parquet::errors::{ParquetError, Result};

use super::thrift::damaged;
use crate::error::Error;
use crate::read::windowed::carries;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught, and becomes the reason why rows are refused: then a hook for panics has nothing to tell.
pub fn refuses_panics() -> bool {
    GUARDED.get()
}

/// Does what may panic, which [`refuses_panics`] says meanwhile; what is wrong otherwise.
pub(in crate::read::formats) fn caught<T>(work: impl FnOnce() -> T) -> thread::Result<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done
}

/// Does what the crate for Parquet does with bytes that nobody has vouched for. It means to give an error for whatever is
/// wrong with them, and mostly does; where it indexes or asserts instead, that is an error of the file here, too. What it
/// worked on is given up afterwards, so no broken state is seen.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
        Err(damaged(format!("what is there makes no sense ({said})")))
    })
}

/// The error as reading gives it: what the system said, if that is all there is.
pub(super) fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => error.downcast().map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    }
}

/// The error that is no fault of the file at `path`, but of what is between; if it is a fault of the file, that.
pub(super) fn between(path: &Path, error: ParquetError) -> std::result::Result<Error, ParquetError> {
    let ParquetError::External(error) = error else { return Err(error) };
    match error.downcast::<io::Error>() {
        Ok(error) if carries(&error) => Ok(Error::io(path, "read", *error)),
        Ok(error) => Err(ParquetError::External(error)),
        Err(error) => Err(ParquetError::External(error)),
    }
}
