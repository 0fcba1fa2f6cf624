//! What the process that reads PDFs may take, as the system keeps it.

use std::io;

/// Limits memory and time of this process, which has answered so many questions and gets the next one. It writes no files, and
/// leaves no image of its memory when it fails.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub(super) fn limit_process(answered: u64) -> io::Result<()> {
    use crate::limits::MAX_PDF_SECONDS;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = |resource, most: u64| {
        let maximum = getrlimit(resource).maximum;
        let current = Some(most.min(maximum.unwrap_or(u64::MAX)));
        setrlimit(resource, Rlimit { current, maximum }).map_err(io::Error::from)
    };
    // For when nobody is left who would end it earlier: all questions had a part of that.
    limit(Resource::Cpu, (answered + 1) * 4 * MAX_PDF_SECONDS)?;
    if answered == 0 {
        limit(Resource::Core, 0)?;
        limit(Resource::Fsize, 0)?;
        #[cfg(target_os = "linux")]
        {
            let taken = crate::system_memory::address_space();
            let taken = taken.ok_or_else(|| io::Error::other("nothing says how large this process is"))?;
            limit(Resource::As, taken.saturating_add(crate::limits::MAX_PDF_MEMORY))?;
        }
    }
    Ok(())
}

/// Limits nothing: other systems have no such limits.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn limit_process(_: u64) -> io::Result<()> {
    Ok(())
}
