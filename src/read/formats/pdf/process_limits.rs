//! What the process that reads PDFs may take, as the system keeps it.

use std::io;

/// Limits this process for good: what memory it takes beyond what it has now, no files that it writes, and no image of its memory
/// when it fails.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub(super) fn limit_process() -> io::Result<()> {
    use rustix::process::Resource;

    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    #[cfg(target_os = "linux")]
    {
        let taken = crate::system_memory::address_space();
        let taken = taken.ok_or_else(|| io::Error::other("nothing says how large this process is"))?;
        limit(Resource::As, taken.saturating_add(crate::limits::MAX_PDF_MEMORY))?;
    }
    Ok(())
}

/// Ends this process when it has computed for so many seconds from now on. How long that takes on the clock hangs on what else the
/// machine does, and whether a PDF is read should not.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub(super) fn limit_time(seconds: u64) -> io::Result<()> {
    use rustix::process::Resource;
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::ProcessCPUTime);
    let begun = u64::try_from(now.tv_sec).unwrap_or_default() + 1;
    limit(Resource::Cpu, begun.saturating_add(seconds))
}

#[cfg(unix)]
fn limit(resource: rustix::process::Resource, most: u64) -> io::Result<()> {
    use rustix::process::{Rlimit, getrlimit, setrlimit};

    let maximum = getrlimit(resource).maximum;
    let current = Some(most.min(maximum.unwrap_or(u64::MAX)));
    setrlimit(resource, Rlimit { current, maximum }).map_err(io::Error::from)
}

/// Limits nothing: other systems have no such limits.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn limit_process() -> io::Result<()> {
    Ok(())
}

/// Limits nothing: whoever asks waits no longer than it waits anywhere.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn limit_time(_: u64) -> io::Result<()> {
    Ok(())
}
