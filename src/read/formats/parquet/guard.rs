//! The boundary to the crate that decodes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::Result;

use super::thrift::damaged;

/// Does what the crate for Parquet does with bytes that nobody has vouched for. It means to give an error for whatever is
/// wrong with them, and mostly does; where it indexes or asserts instead, that is an error of the file here, too. What it
/// worked on is given up afterwards, so no broken state is seen.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
        Err(damaged(format!("what is there makes no sense ({said})")))
    })
}
